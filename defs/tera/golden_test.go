package tera

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wirebench/defs/defstest"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"

	"golang.org/x/tools/txtar"
)

// goldens are the sections with the results of TestGolden.
var goldens = []string{"schema", "diagnostics", "formatted"}

// TestGolden parses the files of each case: definitions as one set, with the maps and deprecated.json. The section "formatted" has
// only definitions that Format changes. Settings: patch, platform, integrity, truncate, skill.
func TestGolden(t *testing.T) {
	defstest.Run(t, "testdata/*.txtar", goldens, func(t *testing.T, c *defstest.Case) map[string]string {
		o := schema.Options{Values: map[string]string{
			"platform": c.Settings["platform"], "integrity": c.Settings["integrity"], "patch": c.Settings["patch"],
		}}
		if c.Settings["truncate"] == "true" {
			o.Values["angle"] = "truncate"
		}
		if bits, _ := strconv.Atoi(c.Settings["skill"]); bits > 0 {
			o.Values["skillid"] = strconv.Itoa(bits / 8)
		}
		var files []*source.File
		var diags diag.List
		var formatted strings.Builder
		for _, in := range c.Files {
			f := source.New(in.Name, in.Text)
			switch {
			case strings.HasSuffix(in.Name, ".map"):
				codes, d := ParseMap(f)
				o.Codes, diags = codes, append(diags, d...)
			case strings.HasSuffix(in.Name, ".json"):
				validity, d := ParseDeprecated(f)
				o.Validity, diags = validity, append(diags, d...)
			default:
				files = append(files, f)
				if text := formatChecked(t, in.Name, in.Text); text != in.Text {
					formatted.WriteString(text)
				}
			}
		}
		s, d := Parse(files, o)
		diags = append(diags, d...)
		return map[string]string{"schema": s.String(), "diagnostics": diags.Render(), "formatted": formatted.String()}
	})
}

// TestEveryCodeHasACase checks that each diagnostic code of messages.go occurs in the cases of TestGolden.
func TestEveryCodeHasACase(t *testing.T) {
	words, err := os.ReadFile("messages.go")
	if err != nil {
		t.Fatal(err)
	}
	var cases strings.Builder
	names, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range names {
		if !strings.HasSuffix(entry.Name(), ".txtar") {
			continue
		}
		data, err := os.ReadFile("testdata/" + entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		cases.Write(data)
	}
	// These two require files of many thousand lines: see TestLimits.
	large := map[string]bool{text.CodeTooManyLines: true, text.CodeTooManyMistakes: true}
	found := 0
	for _, m := range regexp.MustCompile(`(?m)^\tcode\w+\s+= "([a-z-]+)"$`).FindAllStringSubmatch(string(words), -1) {
		found++
		if !large[m[1]] && !strings.Contains(cases.String(), "["+m[1]+"]\n") {
			t.Errorf("no case in testdata has %q", m[1])
		}
	}
	if found < 40 {
		t.Errorf("found only %d codes in messages.go", found)
	}
}

// TestFixesRepair applies every fix of the cases, one at a time, and checks that the line no longer has the error and is not malformed.
func TestFixesRepair(t *testing.T) {
	offered := map[string]bool{}
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var files []*source.File
		for _, f := range archive.Files {
			if strings.HasSuffix(f.Name, ".def") {
				files = append(files, source.New(f.Name, string(f.Data)))
			}
		}
		_, diags := Parse(files, schema.Options{})
		for _, d := range diags {
			if d.Fix == nil {
				continue
			}
			offered[d.Code] = true
			at := d.Fix.Span
			fixed := source.New(at.File.Name, at.File.Text[:at.Start]+d.Fix.Text+at.File.Text[at.End:])
			rest := slices.Clone(files)
			rest[slices.Index(rest, at.File)] = fixed
			_, after := Parse(rest, schema.Options{})
			line := d.Span.Pos().Line
			for _, other := range after.Of(fixed) {
				if other.Span.Pos().Line == line && (other.Code == d.Code || other.Code == codeMalformedLine) {
					t.Errorf("%s: the fix of %v leads to %v", path, d, other)
				}
			}
		}
	}
	for _, code := range []string{codeUnknownType, codeMalformedLine, codeBadName, codeDepthJump, codeMissingInclude, codeRefWithoutField} {
		if !offered[code] {
			t.Errorf("no case offers a fix for %s", code)
		}
	}
}
