package tera

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// maxDeprecatedBytes limits the size of deprecated.json, which has a line or two for each of a few dozen definitions.
const maxDeprecatedBytes = 1 << 20

// deprecatedName is the name of the file with the patches of definitions that are not valid for all of them.
const deprecatedName = "deprecated.json"

// deprecation returns why the messages of a definition must not be encoded, and whether they cannot be decoded either; "" if the definition
// is valid for the patch, or the patch is unknown.
//
// It is deprecated if the major patch is below min or above max, or if neither is given. The code of tera-toolbox requires both conditions
// if both are given, which no patch can satisfy; that is considered a mistake.
func (o *options) deprecation(name FileName) (why string, unreadable bool) {
	r, ok := o.validity[name.Name][name.Version]
	major := o.patch / 100
	if !ok || o.patch == 0 || (r.Min != nil || r.Max != nil) && (r.Min == nil || major >= *r.Min) && (r.Max == nil || major <= *r.Max) {
		return "", false
	}
	able := "it can be decoded, but not encoded"
	if !r.Readable {
		able = "it can be neither encoded nor decoded"
	}
	return fmt.Sprintf("%s.%d is %s (%s): at patch %s %s", name.Name, name.Version, validFor(r), deprecatedName, FormatPatch(o.patch), able), !r.Readable
}

// validFor describes the patches of a definition.
func validFor(r schema.Validity) string {
	switch {
	case r.Min != nil && r.Max != nil:
		return fmt.Sprintf("for patches %d to %d", *r.Min, *r.Max)
	case r.Min != nil:
		return fmt.Sprintf("for patch %d and later", *r.Min)
	case r.Max != nil:
		return fmt.Sprintf("for patches up to %d", *r.Max)
	}
	return "deprecated for all patches"
}

// ParseDeprecated parses deprecated.json: {NAME: {VERSION: {"min": n, "max": n, "readable": bool}}}. Entries whose version is not a
// number are skipped; a file in another form is an error.
func ParseDeprecated(f *source.File) (map[string]map[int]schema.Validity, diag.List) {
	var diags diag.List
	whole := source.Span{File: f, End: len(f.Text)}
	if len(f.Text) > maxDeprecatedBytes {
		diags.Add(badDeprecated(whole.Sub(0, 0), "the file is too long"))
		return nil, diags
	}
	var raw map[string]map[string]schema.Validity
	if err := json.Unmarshal([]byte(strings.TrimPrefix(f.Text, "\ufeff")), &raw); err != nil {
		at := jsonOffset(err) + len(f.Text) - len(strings.TrimPrefix(f.Text, "\ufeff"))
		at = min(max(at-1, 0), len(f.Text))
		diags.Add(badDeprecated(whole.Sub(at, min(at+1, len(f.Text))), jsonReason(err)))
		return nil, diags
	}
	out := make(map[string]map[int]schema.Validity, len(raw))
	var wrong []string
	for name, versions := range raw {
		out[name] = make(map[int]schema.Validity, len(versions))
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

// RenameDeprecated returns the text with another name for a message; the text is returned as it is if the name is written with escapes.
func RenameDeprecated(f *source.File, from, to string) string {
	key := regexp.MustCompile(`"` + regexp.QuoteMeta(from) + `"(\s*:)`)
	return key.ReplaceAllString(f.Text, `"`+to+`"$1`)
}

// IsDeprecated reports whether a file of this name is deprecated.json.
func IsDeprecated(name string) bool { return baseName(name) == deprecatedName }
