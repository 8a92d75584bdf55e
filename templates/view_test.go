package templates

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wirebench/codec/view"
	"wirebench/defs/diag"
)

func TestDump(t *testing.T) {
	m := &Message{Data: []byte("AB CDEFGHIJKLMNOPQ\x00")}
	if got, want := dump(m), "0000  41 42 20 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f  AB·CDEFGHIJKLMNO\n0010  50 51 00                                         PQ·\n"; got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	m.Data = make([]byte, 2*pageBytes+1)
	for first, want := range map[int]string{0: "0000 256", pageBytes: "1000 256", 2 * pageBytes: "2000 1", 2*pageBytes + 1: "0000 256"} {
		m.FirstByte = first
		if got := dump(m); fmt.Sprint(got[:4], " ", strings.Count(got, "\n")) != want {
			t.Errorf("from %d on: %s, %d rows", first, got[:4], strings.Count(got, "\n"))
		}
	}
}

func TestJSONText(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                          `{}`,
		`{"a":[1,2],"b":{"c":"x,y"}}`: `{"a": [1, 2], "b": {"c": "x,y"}}`,
		`"\ud800"`:                    `"\ud800"`,
		`18446744073709551615`:        `18446744073709551615`,
		`no json`:                     `no json`,
		`["` + strings.Repeat("x", 80) + `",{"a":"\"]"}]`: "[\n  \"" + strings.Repeat("x", 80) + "\",\n  {\"a\": \"\\\"]\"}\n]",
		`{"a":[` + strings.Repeat("1,", 40) + `1]}`:       "{\n  \"a\": [\n    1" + strings.Repeat(",\n    1", 40) + "\n  ]\n}",
	} {
		if got := JSONText([]byte(in)); got != want {
			t.Errorf("%s is written\n%s\nwant\n%s", in, got, want)
		}
	}
}

// Page texts do not name games; names of games come from definitions.
func TestNoGameIsNamed(t *testing.T) {
	names := regexp.MustCompile(`(?i)\b(?:tera|muta|subspace)\b`)
	for _, pattern := range []string{"*.templ", "*.go", "../web/src/*/*.*", "../web/src/*/*/*.*"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/copy/") {
				continue // names of forms, such as of copied bytes, are allowed
			}
			if found := names.Find(text); found != nil {
				t.Errorf("%s names %s", name, found)
			}
		}
	}
}

// evilGroups has an item in a group of each kind.
func evilGroups(evil string) []Group {
	items := []Item{{Name: evil, Code: evil, State: "error", File: evil, Versions: []ItemVersion{{Href: evil}, {Href: evil}}}}
	return []Group{{Title: evil, Items: items}, {Title: evil, Items: items, Envelopes: true}, {Title: evil, Items: items, Undefined: true}}
}

// Values of a message are escaped.
func TestMarkupIsEscaped(t *testing.T) {
	evil := `<img src=x onerror=alert(1)>"'`
	value, _ := json.Marshal(evil)
	problem := []view.ProblemInfo{{Severity: "error", Code: evil, Message: evil, Path: evil}}
	w := Workbench{
		Frame: Frame{Title: evil, Workspace: "one", Projects: []Project{{evil, evil}}}, Message: evil, Notice: evil,
		Rail: Rail{
			Filter: evil, Groups: evilGroups(evil), State: evil, Earlier: evil, Later: evil, EnvelopeFrom: evil, Maps: []string{evil, evil}, MapName: evil, Options: []Option{{Name: evil, Title: evil, Doc: evil, Value: evil}, {Name: evil, Choices: []string{evil}}}, Notes: []string{evil}, NoteCount: 1,
		},
		Samples:    Samples{Rows: []SampleRow{{Message: evil, About: evil, Other: true}}, CanKeep: true},
		Form:       FormState{From: evil, Base: evil, Edits: map[string]string{evil: evil}},
		Done:       evil,
		Definition: Definition{File: evil, Text: evil, New: evil, Stored: true, Conflict: &Conflict{Lines: []ChangedLine{{"disk", 1, evil}}}, Diagnostics: []diag.Info{{Severity: "error", Message: evil, Help: evil, Line: 1}}},
		Layout:     &view.LayoutInfo{Message: evil, Rows: []view.LayoutRow{{Path: evil, Type: evil, Role: "value", Offset: evil, Note: evil, Doc: evil, MinBits: 8}}},
		Input:      Input{Text: evil, Verdict: evil, Why: evil, Notes: []string{evil}, Error: evil},
		Messages:   []MessageRow{{Dir: evil, Time: evil, Name: evil, Status: evil}},
		Shown: &Message{Data: []byte("<i>"), Linked: true, Other: evil, Result: view.Result{
			Message: evil, Status: "ok", Value: value, Problems: problem,
			Fields: []view.FieldValue{{Path: evil, Type: evil, Role: "value", Text: evil, BitLength: 24}},
		}},
		Values: Values{Offered: true, Text: evil, Code: evil, CodeHint: evil, Encoded: evil, Problems: problem},
	}
	var b strings.Builder
	if err := WorkbenchPage(w).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if err := Docs(w.Frame, []Route{{Method: evil, Path: evil, Summary: evil, Example: evil, Request: []RouteField{{Name: evil, Type: evil, Doc: evil}}}}).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<img src=x") || !strings.Contains(b.String(), "&lt;img src=x") {
		t.Error("markup of a message is markup of the page")
	}
}

// What is said of changes counts each byte once, and by what has happened to it.
func TestChangedText(t *testing.T) {
	for _, test := range []struct{ was, is, want string }{
		{"abcdef", "abcdef", "0 bytes changed"},
		{"abcdef", "aXcdef", "1 byte changed"},
		{"abcdefghij", "aXcdefghYYij", "1 byte changed, 2 inserted"},
		{"abcdef", "abef", "2 bytes removed"},
		{"abcdefgh", "Xbcdegh", "1 byte changed, 1 removed"},
		{"", "ab", "2 bytes inserted"},
	} {
		if got := changedText(&Message{Was: []byte(test.was), Data: []byte(test.is)}); got != test.want {
			t.Errorf("%q to %q: %s, want %s", test.was, test.is, got, test.want)
		}
	}
}
