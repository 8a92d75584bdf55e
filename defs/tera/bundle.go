package tera

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// maxLeft bounds the parts of a bundle that are listed one by one.
const maxLeft = 200

var (
	bundleStart = regexp.MustCompile(`^\x{feff}?\s*\{\s*"(maps|protocol|deprecated)"\s*:\s*\{`)
	bundlePart  = regexp.MustCompile(`"maps"\s*:\s*\{\s*"\d+"\s*:\s*\{|"[^"\n]+\.\d+(\.\w+)?\.(def|js)"\s*:\s*"`)
)

// IsBundle reports whether a file is a bundle: named *.json, with codes by build, or texts by names of definitions.
func IsBundle(name string, data []byte) bool {
	return strings.EqualFold(path.Ext(name), ".json") && !IsDeprecated(name) && bundleStart.Match(data) && bundlePart.Match(data)
}

// ReadBundle takes a file data.json of tera-toolbox apart, which has a whole library:
//
//	{"maps": {BUILD: {NAME: CODE}}, "protocol": {FILE NAME: base64 of the text}, "deprecated": {...}}
//
// It has at most the given number of files. The error says why it cannot be read.
func ReadBundle(data []byte, most int) (*schema.Bundle, error) {
	r := bundleReader{most: most, versions: map[FileName]string{}, builds: map[string]bool{}}
	err := members(bytes.TrimPrefix(data, []byte("\ufeff")), func(name string, again bool, value json.RawMessage) error {
		switch {
		case again:
			r.leave(name, "the bundle has it twice; the first one is used")
		case name == "protocol" && value[0] == '{':
			return members(value, r.definition)
		case name == "maps" && value[0] == '{':
			return members(value, r.codes)
		case name == "deprecated" && value[0] == '{':
			return r.validity(value)
		case name == "protocol" || name == "maps" || name == "deprecated":
			r.leave(name, "not an object")
		default:
			r.leave(name, "not a part of bundles that is known")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if r.more > 0 {
		r.Left = append(r.Left, schema.Left{Name: "...", Reason: fmt.Sprintf("%d more parts are left out", r.more)})
	}
	return &r.Bundle, nil
}

type bundleReader struct {
	schema.Bundle
	most     int
	more     int                 // parts left out that are not listed
	versions map[FileName]string // names of the definitions so far
	builds   map[string]bool
}

func (r *bundleReader) leave(name, reason string) {
	if len(r.Left) == maxLeft {
		r.more++
		return
	}
	r.Left = append(r.Left, schema.Left{Name: text.Cut(name), Reason: reason})
}

func (r *bundleReader) add(name, text string) error {
	if len(r.Files) >= r.most {
		return fmt.Errorf("%w: more than %d", schema.ErrBundle, r.most)
	}
	r.Files = append(r.Files, source.New(name, text))
	return nil
}

// definition adds a definition.
func (r *bundleReader) definition(name string, _ bool, value json.RawMessage) error {
	parsed, ok := ParseFileName(name)
	switch {
	case strings.HasSuffix(name, ".js"):
		r.leave(name, "a program, which cannot be read; write it as a definition")
		return nil
	case !ok || baseName(name) != name || strings.Contains(name, `\`):
		r.leave(name, "not the name of a definition, such as S_LOGIN.14.def")
		return nil
	case r.versions[parsed] != "":
		r.leave(name, "the bundle has this version as "+r.versions[parsed]+", too, which is used")
		return nil
	}
	var coded string
	if value[0] != '"' || json.Unmarshal(value, &coded) != nil {
		r.leave(name, "its text is not a string")
		return nil
	}
	decoded, err := base64.StdEncoding.DecodeString(coded)
	if err != nil {
		decoded, err = base64.RawStdEncoding.DecodeString(coded)
	}
	if err != nil {
		r.leave(name, "its text is not base64")
		return nil
	}
	r.versions[parsed] = name
	return r.add(name, string(decoded))
}

// codes adds the code map of a build.
func (r *bundleReader) codes(build string, _ bool, value json.RawMessage) error {
	n, ok := number(build)
	plain := strconv.Itoa(n)
	switch {
	case !ok:
		r.leave("maps: "+build, "not the number of a build")
		return nil
	case r.builds[plain]:
		r.leave("maps: "+build, "the bundle has this build twice; the first one is used")
		return nil
	case value[0] != '{':
		r.leave("maps: "+build, "not an object of codes by name")
		return nil
	}
	r.builds[plain] = true
	file := MapOfBuild(plain)
	type entry struct {
		name string
		code uint64
	}
	var all []entry
	err := members(value, func(name string, again bool, code json.RawMessage) error {
		n, err := strconv.ParseUint(strings.Trim(string(code), `"`), 10, 16)
		switch {
		case again:
			r.leave(file+": "+name, "it has a code already, which is used")
		case !oneWord(name) || name == "" || strings.ContainsAny(name, "#="):
			r.leave(file+": "+name, "not the name of a message")
		case err != nil:
			r.leave(file+": "+name, "its code "+text.Cut(string(code))+" is not a number from 0 to 65535")
		default:
			all = append(all, entry{name, n})
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.name, b.name)) })
	var b strings.Builder
	for _, e := range all {
		fmt.Fprintf(&b, "%s %d\n", e.name, e.code)
	}
	return r.add(file, b.String())
}

// validity adds deprecated.json, unless it would be empty.
func (r *bundleReader) validity(value json.RawMessage) error {
	var b bytes.Buffer
	if err := json.Indent(&b, value, "", "  "); err != nil {
		return err
	}
	if b.Len() == len("{}") {
		return nil
	}
	return r.add(deprecatedName, b.String()+"\n")
}

// members calls f for each member of an object, in order; again says that an earlier one has the name.
func members(data []byte, f func(name string, again bool, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return cmp.Or(err, errors.New("not a JSON object"))
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		if err := f(name, seen[name], value); err != nil {
			return err
		}
		seen[name] = true
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if len(bytes.TrimSpace(data[d.InputOffset():])) > 0 {
		return errors.New("text after the end of the JSON object")
	}
	return nil
}
