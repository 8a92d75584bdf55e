package tera

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

func TestParseMapCorpus(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(corpusDir, "*.map"))
	if len(paths) == 0 {
		t.Skip("the public maps are not here")
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		codes, diags := ParseMap(source.New(filepath.Base(path), string(text)))
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

func TestDeprecatedStatus(t *testing.T) {
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
		want           Status
	}{
		{"OLD", 1, 11399, Current},
		{"OLD", 1, 11400, ReadOnly},
		{"OLD", 1, 0, ReadOnly}, // the newest patch
		{"OLD", 2, 11400, Outdated},
		{"OLD", 3, 11400, Current}, // not listed
		{"NEW", 1, 9999, Outdated},
		{"NEW", 1, 10000, Current},
		{"BOTH", 1, 8999, ReadOnly},
		{"BOTH", 1, 9000, Current},
		{"BOTH", 1, 10099, Current},
		{"BOTH", 1, 10100, ReadOnly},
		{"NEVER", 1, 9000, Outdated},
		{"OTHER", 1, 9000, Current},
	} {
		if got := d.Status(c.name, c.version, c.patch); got != c.want {
			t.Errorf("%s.%d at %s: %d, want %d", c.name, c.version, FormatPatch(c.patch), got, c.want)
		}
	}
}

func TestDeprecatedCorpus(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(corpusDir, "deprecated.json"))
	if err != nil {
		t.Skip("the public deprecated.json is not here")
	}
	d, diags := ParseDeprecated(source.New("deprecated.json", string(text)))
	if len(diags) != 0 || len(d) != 8 || d.Status("S_LOGIN", 14, 11400) != ReadOnly {
		t.Errorf("%d entries; %s", len(d), diags.Render())
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
