package tera

import (
	"slices"
	"testing"

	"wirebench/defs/corpora"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// decisions are the expected codes of the diagnostics for each text that the public parsers were tried with ("compile" rows of the edge
// cases), none for a valid text.
var decisions = map[string][]string{
	"array<bytes>":                {}, // dialect P
	"array<object>":               {codeBadElement},
	"array<foo>":                  {codeUnknownType},
	"interleaved string":          {codeInterleavedString},
	"interleaved not consecutive": {codeInterleavedApart},
	"duplicate array":             {codeDuplicateName},
	"duplicate string":            {codeDuplicateName},
	"duplicate scalar":            {codeRepeatedField}, // a warning: one value that is sent twice
	"a.b vs a_b":                  {},                  // paths have dots, so there is no conflict
	"re-opened object":            {},
	"field under scalar":          {codeNestedInValue},
	"first line nested":           {codeNestedFirst},
	"depth jump":                  {codeDepthJump}, // a warning: one level, as in the toolbox
	"ref in object unresolved":    {codeRefInObject},
	"unknown type":                {codeUnknownType},
	"@include":                    {codeMissingInclude}, // there is no such file in the set
	"version suffix":              {},                   // dialect P
	"default value":               {codeUnusedDefault},  // dialect P: a warning
	"spaces in subtype":           {},
	"spaces in flags":             {codeInterleavedAlone}, // a warning: there is no other interleaved array
	"two flags":                   {codeInterleavedAlone, codeUnknownFlag},
	"fixed array":                 {}, // dialect P: five bytes in place
	"nested subtype":              {}, // dialect P
	"three words":                 {codeMalformedLine},
	"one word":                    {codeMalformedLine},
	"dash forms":                  {},
	"BOM/CRLF/tab/comment":        {},
	"hash inside name":            {},
	"odd key":                     {codeBadName},
	"reserved word key":           {},
	"object with subtype ignored": {codeIgnoredSubtype},
	"empty array":                 {},
	"empty object":                {},
	"ref without field":           {codeRefWithoutField},
	"upper-case type":             {codeUnknownType},
}

func TestCorporaEdgeCases(t *testing.T) { corpora.Run(t, testEdgeCases) }

func testEdgeCases(t *testing.T, c *corpora.Corpus) {
	seen := 0
	for _, row := range corpora.Rows[struct {
		Case, Op string
		Text     string `json:"def_text"`
	}](t, c, "tera/edge-cases.jsonl") {
		f := source.New("S_TEST.1.def", row.Text)
		s, diags := Parse([]*source.File{f}, schema.Options{})
		if row.Op != "compile" {
			// Definitions that messages were tried with are valid, except for the one about a missing ref.
			if diags.HasErrors() != (row.Case == "one explicit ref disables implicit ones: other string becomes a bare ref") {
				t.Errorf("%s: %s", row.Case, diags.Render())
			}
			continue
		}
		seen++
		want, ok := decisions[row.Case]
		if !ok {
			t.Errorf("no decision on %q: %q", row.Case, row.Text)
			continue
		}
		got := make([]string, 0, len(diags))
		for _, d := range diags {
			got = append(got, d.Code)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v\n%s", row.Case, got, want, diags.Render())
		}
		if s.Messages[0].Broken != diags.HasErrors() {
			t.Errorf("%s: Broken is %v", row.Case, s.Messages[0].Broken)
		}
		formatChecked(t, f.Name, row.Text)
	}
	if seen != len(decisions) {
		t.Errorf("%d cases, want %d", seen, len(decisions))
	}
}
