package tera

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
)

// maxDeprecatedBytes limits the size of deprecated.json, which has a line or two for each of a few dozen definitions.
const maxDeprecatedBytes = 1 << 20

// Deprecated is the contents of deprecated.json: the patches of definitions that are not valid for all of them, by name and version.
type Deprecated map[string]map[int]PatchRange

// PatchRange is the patches that a definition is valid for.
type PatchRange struct {
	Min      *int `json:"min"`      // first major patch, nil = no bound
	Max      *int `json:"max"`      // last major patch, nil = no bound
	Readable bool `json:"readable"` // at other patches messages can be decoded, but not encoded
}

// Status is the validity of a definition at a patch.
type Status uint8

// The states of a definition.
const (
	Current  Status = iota
	ReadOnly        // deprecated: messages can be decoded but should not be encoded
	Outdated        // deprecated, and wrong for decoding too
)

// Status returns the status of a version of a message at a patch (major × 100 + minor, 0 = newest).
//
// It is deprecated if the major patch is below min or above max, or if neither is given. The code of tera-toolbox requires both conditions
// if both are given, which no patch can satisfy; that is considered a mistake.
func (d Deprecated) Status(name string, version, patch int) Status {
	r, ok := d[name][version]
	if !ok {
		return Current
	}
	major := patch / 100
	if patch == 0 {
		major = newest
	}
	out := r.Min == nil && r.Max == nil || r.Min != nil && major < *r.Min || r.Max != nil && major > *r.Max
	switch {
	case !out:
		return Current
	case r.Readable:
		return ReadOnly
	}
	return Outdated
}

// ParseDeprecated parses deprecated.json: {NAME: {VERSION: {"min": n, "max": n, "readable": bool}}}. Entries whose version is not a
// number are skipped; a file in another form is an error, and the result is empty.
func ParseDeprecated(f *source.File) (Deprecated, diag.List) {
	var diags diag.List
	whole := source.Span{File: f, End: len(f.Text)}
	if len(f.Text) > maxDeprecatedBytes {
		diags.Add(badDeprecated(whole.Sub(0, 0), "the file is too long"))
		return Deprecated{}, diags
	}
	var raw map[string]map[string]PatchRange
	if err := json.Unmarshal([]byte(strings.TrimPrefix(f.Text, "\ufeff")), &raw); err != nil {
		at := jsonOffset(err) + len(f.Text) - len(strings.TrimPrefix(f.Text, "\ufeff"))
		at = min(max(at-1, 0), len(f.Text))
		diags.Add(badDeprecated(whole.Sub(at, min(at+1, len(f.Text))), jsonReason(err)))
		return Deprecated{}, diags
	}
	out := make(Deprecated, len(raw))
	var wrong []string
	for name, versions := range raw {
		out[name] = make(map[int]PatchRange, len(versions))
		for text, r := range versions {
			if version, ok := number(text); ok {
				out[name][version] = r
			} else {
				wrong = append(wrong, text)
			}
		}
	}
	slices.Sort(wrong)
	for _, text := range wrong[:min(len(wrong), maxMistakes)] {
		diags.Add(badDeprecated(findQuoted(f, text), "the version is not a number"))
	}
	diags.Sort()
	return out, diags
}

// jsonOffset returns the number of bytes read before the error.
func jsonOffset(err error) int {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return int(kind.Offset)
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return int(syntax.Offset)
	}
	return 0
}

// jsonReason describes the error in terms of JSON.
func jsonReason(err error) string {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return "unexpected " + kind.Value
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// findQuoted returns the position of a key, or the start of the file if the key is written with escapes.
func findQuoted(f *source.File, key string) source.Span {
	at := strings.Index(f.Text, `"`+key+`"`)
	if at < 0 {
		return source.Span{File: f}
	}
	return source.Span{File: f, Start: at, End: at + len(key) + 2}
}
