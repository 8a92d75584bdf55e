package tera

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/defs/corpora"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

func TestParseMap(t *testing.T) {
	f := source.New("protocol.1.map", "\ufeff# all forms\nA 1\r\nB = 2\nC=3\nD\t4 # four\nE =5\nF= 6\n\nG 0\nA 7\nH 65535\nI 1")
	got, diags := ParseMap(f)
	want := map[string]uint32{"A": 7, "B": 2, "C": 3, "D": 4, "E": 5, "F": 6, "G": 0, "H": 65535, "I": 1}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// A is repeated. Its first code is free again, so that I may use it.
	if len(diags) != 1 || diags[0].Code != codeMapNameTwice {
		t.Error(diags.Render())
	}
}

func TestSetCode(t *testing.T) {
	for _, c := range []struct {
		about, text string
		name        string
		code        uint32
		take        bool
		want, other string
	}{
		{about: "empty", name: "A", code: 5, want: "A 5\n"},
		{about: "sorted by name", text: "A 9\nC 3\nE 7\n", name: "D", code: 5, want: "A 9\nC 3\nD 5\nE 7\n"},
		{about: "sorted by name, first", text: "B 9\nC 3\n", name: "A", code: 5, want: "A 5\nB 9\nC 3\n"},
		{about: "sorted by code", text: "Z = 1\nB = 6\nC = 8\n", name: "D", code: 5, want: "Z = 1\nD = 5\nB = 6\nC = 8\n"},
		{about: "in no order", text: "B 9\nA 3\nC 1\n# end\n", name: "AA", code: 5, want: "B 9\nA 3\nC 1\nAA 5\n# end\n"},
		{about: "no last line break", text: "A 1\nB 2", name: "C", code: 5, want: "A 1\nB 2\nC 5"},
		{about: "CRLF and a byte order mark", text: "\ufeffB\t1\r\nC\t2\r\n", name: "A", code: 5, want: "\ufeffA\t5\r\nB\t1\r\nC\t2\r\n"},
		{about: "CRLF without the last", text: "A 1\r\nB 2", name: "C", code: 5, want: "A 1\r\nB 2\r\nC 5"},
		{about: "known name, with a comment", text: "# a\n A = 1 # one\r\nB 2\n", name: "A", code: 77, want: "# a\n A = 77 # one\r\nB 2\n"},
		{about: "repeated name", text: "A 1\nB 2\nA 3\n", name: "A", code: 4, want: "A 1\nB 2\nA 4\n"},
		{about: "malformed code", text: "A x\nB 2\n", name: "A", code: 4, want: "A 4\nB 2\n"},
		{about: "unchanged", text: "A 4\nB 2\n", name: "A", code: 4, want: "A 4\nB 2\n"},
		{about: "taken", text: "A 4\nB 2\n", name: "C", code: 2, want: "A 4\nB 2\n", other: "B"},
		{about: "taken from another", text: "A 4\nB 2\nD 8\n", name: "C", code: 2, take: true, want: "A 4\nC 2\nD 8\n"},
	} {
		got, other := SetCodes(source.New("protocol.1.map", c.text), []schema.GivenCode{{Name: c.name, Code: c.code}}, c.take)
		if got != c.want || other.Name != c.other {
			t.Errorf("%s: got %q, %q", c.about, got, other.Name)
		}
		if codes, _ := ParseMap(source.New("protocol.1.map", got)); c.other == "" && codes[c.name] != c.code {
			t.Errorf("%s: read back as %d", c.about, codes[c.name])
		}
	}
}

func TestSetCodes(t *testing.T) {
	type list = []schema.GivenCode
	for _, c := range []struct {
		about, text string
		given       list
		take        bool
		want, other string
	}{
		{"exchanged", "A 1\nB 2 # two\n", list{{Name: "A", Code: 2}, {Name: "B", Code: 1}}, false, "A 2\nB 1 # two\n", ""},
		{"moved by one", "A 1\nB 2\nC 3\n", list{{Name: "A", Code: 2}, {Name: "B", Code: 3}, {Name: "C", Code: 4}}, false, "A 2\nB 3\nC 4\n", ""},
		{"new names in order", "A 1\nM 5\n", list{{Name: "Z", Code: 9}, {Name: "C", Code: 3}, {Name: "B", Code: 2}}, false, "A 1\nB 2\nC 3\nM 5\nZ 9\n", ""},
		{"new names in an empty file", "", list{{Name: "Z", Code: 9}, {Name: "C", Code: 3}}, false, "Z 9\nC 3\n", ""},
		{"the last one applies", "", list{{Name: "A", Code: 9}, {Name: "A", Code: 3}}, false, "A 3\n", ""},
		{"one code for two", "", list{{Name: "A", Code: 9}, {Name: "B", Code: 9}}, false, "", "A"},
		{"one code for two, taken", "", list{{Name: "A", Code: 9}, {Name: "B", Code: 9}}, true, "B 9\n", ""},
		{"of a third", "A 1\nC 3\n", list{{Name: "A", Code: 2}, {Name: "B", Code: 3}}, false, "A 1\nC 3\n", "C"},
		{"of a third, taken", "A 1\nC 3\n", list{{Name: "A", Code: 2}, {Name: "B", Code: 3}}, true, "A 2\nB 3\n", ""},
		{"repeated lines", "A 1\nA 2\nB 3\n", list{{Name: "A", Code: 3}, {Name: "B", Code: 1}}, false, "A 1\nA 3\nB 1\n", ""},
	} {
		got, other := SetCodes(source.New("protocol.1.map", c.text), c.given, c.take)
		if got != c.want || other.Name != c.other {
			t.Errorf("%s: got %q, %q", c.about, got, other.Name)
		}
	}
}

func TestRenameInMap(t *testing.T) {
	const old = "\ufeffC_A = 1 # C_A\r\nC_AB 2\r\n# C_A 3\r\nC_A 4"
	const want = "\ufeffC_NEW = 1 # C_A\r\nC_AB 2\r\n# C_A 3\r\nC_NEW 4"
	f := source.New("protocol.map", old)
	got := RenameInMap(f, "C_A", "C_NEW")
	if strings.TrimPrefix(got, "\ufeff") != strings.TrimPrefix(want, "\ufeff") {
		t.Errorf("%q", got)
	}
	if back := RenameInMap(source.New("protocol.map", got), "C_NEW", "C_A"); back != old {
		t.Errorf("back: %q", back)
	}
}

func TestCorporaParseMap(t *testing.T) { corpora.Run(t, testParseMapCorpus) }

func testParseMapCorpus(t *testing.T, c *corpora.Corpus) {
	for _, path := range c.Glob(t, "tera/toolbox/*.map") {
		codes, diags := ParseMap(source.New(filepath.Base(path), c.Text(t, path)))
		if len(diags) != 0 {
			t.Errorf("%s: %s", path, diags.Render())
		}
		if codes["C_CHECK_VERSION"] != 19900 || codes["S_CHECK_VERSION"] != 19901 {
			t.Errorf("%s: C_CHECK_VERSION is %d", path, codes["C_CHECK_VERSION"])
		}
		if kind, _, ok := ParseMapName(path); !ok || kind != OpcodeMap {
			t.Errorf("%s is not recognized by its name", path)
		}
	}
}

func TestParseMapName(t *testing.T) {
	for _, c := range []struct {
		name string
		kind MapKind
		n    int
		ok   bool
	}{
		{"maps/protocol.387396.map", OpcodeMap, 387396, true},
		{"sysmsg.98.map", SysmsgMap, 98, true},
		{"protocol.map", 0, 0, false},
		{"protocol.x.map", 0, 0, false},
		{"other.1.map", 0, 0, false},
		{"protocol.1.txt", 0, 0, false},
	} {
		kind, n, ok := ParseMapName(c.name)
		if ok != c.ok || ok && (kind != c.kind || n != c.n) {
			t.Errorf("%s: %v %d %v", c.name, kind, n, ok)
		}
	}
}

func TestDeprecation(t *testing.T) {
	d, diags := ParseDeprecated(source.New("deprecated.json", `{
		"OLD":   {"1": {"max": 113, "readable": true}, "2": {"max": 113}},
		"NEW":   {"1": {"min": 100}},
		"BOTH":  {"1": {"min": 90, "max": 100, "readable": true}},
		"NEVER": {"1": {}}
	}`))
	if len(diags) != 0 {
		t.Fatal(diags.Render())
	}
	for _, c := range []struct {
		name           string
		version, patch int
		want           string
		unreadable     bool
	}{
		{"OLD", 1, 11399, "", false},
		{"OLD", 1, 11402, "OLD.1 is for patches up to 113 (deprecated.json): at patch 114.02 it can be decoded, but not encoded", false},
		{"OLD", 1, 0, "", false}, // the patch is unknown
		{"OLD", 2, 11400, "OLD.2 is for patches up to 113 (deprecated.json): at patch 114 it can be neither encoded nor decoded", true},
		{"OLD", 3, 11400, "", false}, // not listed
		{"NEW", 1, 9999, "NEW.1 is for patch 100 and later (deprecated.json): at patch 99.99 it can be neither encoded nor decoded", true},
		{"NEW", 1, 10000, "", false},
		{"BOTH", 1, 8999, "BOTH.1 is for patches 90 to 100 (deprecated.json): at patch 89.99 it can be decoded, but not encoded", false},
		{"BOTH", 1, 9000, "", false},
		{"BOTH", 1, 10099, "", false},
		{"BOTH", 1, 10100, "BOTH.1 is for patches 90 to 100 (deprecated.json): at patch 101 it can be decoded, but not encoded", false},
		{"NEVER", 1, 9000, "NEVER.1 is deprecated for all patches (deprecated.json): at patch 90 it can be neither encoded nor decoded", true},
		{"OTHER", 1, 9000, "", false},
	} {
		o := options{patch: c.patch, validity: d}
		if got, unreadable := o.deprecation(FileName{Name: c.name, Version: c.version}); got != c.want || unreadable != c.unreadable {
			t.Errorf("%s.%d at %s: %q, %v", c.name, c.version, FormatPatch(c.patch), got, unreadable)
		}
	}
}

// TestDeprecatedDefinitions checks the messages of deprecated definitions and their diagnostics.
func TestDeprecatedDefinitions(t *testing.T) {
	d, _ := ParseDeprecated(source.New("deprecated.json", `{"S_A": {"1": {"max": 113, "readable": true}, "2": {"max": 113}}}`))
	files := []*source.File{source.New("S_A.1.def", "int32 a\n"), source.New("S_A.2.def", "int32 a\n"), source.New("S_A.3.def", "int32 a\n")}
	for patch, want := range map[string]string{
		"":    "1 warning 2 warning",
		"113": "",
		"114": "1 warning read-only 2 warning read-only unreadable",
	} {
		s, ds := Parse(files, schema.Options{Values: map[string]string{"patch": patch}, Validity: d, Codes: map[string]uint32{"S_A": 7}})
		schema.Link(s)
		var got []string
		for _, m := range s.Messages {
			for _, x := range ds {
				if x.Span.File == m.Span.File && x.Code == "deprecated" {
					got = append(got, fmt.Sprint(m.Version), x.Severity.String())
				}
			}
			if m.ReadOnly != "" {
				got = append(got, "read-only")
			}
			if m.Unreadable {
				got = append(got, "unreadable")
			}
		}
		if strings.Join(got, " ") != want || ds.HasErrors() {
			t.Errorf("patch %q: %v, want %s\n%s", patch, got, want, ds.Render())
		}
		if m := s.Lookup(schema.Key{Dir: schema.ToClient, Code: 7}); m == nil || m.Version != 3 {
			t.Errorf("patch %q: the code means %v", patch, m)
		}
	}
	only, _ := Parse(files[1:2], schema.Options{Values: map[string]string{"patch": "114"}, Validity: d, Codes: map[string]uint32{"S_A": 7}})
	schema.Link(only)
	if m := only.Lookup(schema.Key{Dir: schema.ToClient, Code: 7}); m != nil {
		t.Errorf("the code means %s.%d, which cannot be decoded", m.Name, m.Version)
	}
}

func TestCorporaDeprecated(t *testing.T) { corpora.Run(t, testDeprecatedCorpus) }

func testDeprecatedCorpus(t *testing.T, c *corpora.Corpus) {
	version, entries := 14, 8
	if c.Own {
		version, entries = 1, 1
	}
	d, diags := ParseDeprecated(source.New("deprecated.json", c.Text(t, "tera/toolbox/deprecated.json")))
	o := options{patch: 11400, validity: d}
	if why, unreadable := o.deprecation(FileName{Name: "S_LOGIN", Version: version}); len(diags) != 0 || len(d) != entries || why == "" || unreadable {
		t.Errorf("%d entries; %q %v; %s", len(d), why, unreadable, diags.Render())
	}
}

// TestMapsAreBounded parses files that consist of errors.
func TestMapsAreBounded(t *testing.T) {
	_, diags := ParseMap(source.New("protocol.1.map", strings.Repeat("A\n", maxMapLines+1)))
	if len(diags) > maxMistakes+2 || diags[0].Code != text.CodeTooManyLines || diags[len(diags)-1].Code != text.CodeTooManyMistakes {
		t.Errorf("%d diagnostics", len(diags))
	}
	var b strings.Builder
	for i := range 50000 {
		fmt.Fprintf(&b, `,"\u00%02x%d":{}`, 0x61+i%26, i)
	}
	d, diags := ParseDeprecated(source.New("deprecated.json", `{"A":{"x":{}`+b.String()+`}}`))
	if len(diags) == 0 || len(diags) > maxMistakes || len(d["A"]) != 0 {
		t.Errorf("%d diagnostics", len(diags))
	}
	d, diags = ParseDeprecated(source.New("deprecated.json", strings.Repeat(" ", maxDeprecatedBytes)+"{}"))
	if len(diags) != 1 || len(d) != 0 {
		t.Error("a file of a megabyte is accepted")
	}
	if _, diags = ParseDeprecated(source.New("deprecated.json", "")); len(diags) != 1 {
		t.Error("an empty file is accepted as JSON")
	}
}
