package templates

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirebench/codec/view"
	"wirebench/defs/diag"
)

func row(path string, depth int, bits int64, variable bool) view.LayoutRow {
	r := view.LayoutRow{Path: path, Depth: depth, Type: "t", Role: "value", Offset: "0", MinBits: bits, MaxBits: &bits, Family: view.FamilyInt}
	if variable {
		r.MaxBits = nil
	}
	return r
}

// drawn is a diagram as text: NAME:COLUMNS, and captions in parentheses. No cell may cross the end of a row.
func drawn(t *testing.T, rows ...view.LayoutRow) string {
	t.Helper()
	col := 0
	var seen []string
	for _, p := range Diagram(&view.LayoutInfo{Rows: rows}) {
		if p.Width == 0 {
			seen, col = append(seen, "("+p.Caption+")"), 0
			continue
		}
		if p.Width < 0 || col+p.Width > columns {
			t.Errorf("cell %s of %d columns at column %d", p.Top, p.Width, col)
		}
		name := p.Top
		for _, b := range p.Bits {
			name += "/" + b
		}
		seen = append(seen, fmt.Sprintf("%s:%d", name, p.Width))
		col = (col + p.Width) % columns
	}
	return strings.Join(seen, " ")
}

func TestDiagram(t *testing.T) {
	noted := row("b", 0, 8, false)
	noted.Note = "in messages of 5 bytes"
	for _, test := range []struct {
		name string
		rows []view.LayoutRow
		want string
	}{
		{"over the end of a row", []view.LayoutRow{row("a", 0, 16, false), row("b", 0, 8*20, false)}, "a:2 b:14 … b:6"},
		{"of whole rows", []view.LayoutRow{row("a", 0, 8*32, false)}, "a:16 … a:16"},
		{"a long one is cut in the middle", []view.LayoutRow{row("a", 0, 32, false), row("b", 0, 8*500, false)}, "a:4 b:12 … 480 bytes:16 … b:8"},
		{"bits share a cell", []view.LayoutRow{row("a", 0, 3, false), row("b", 0, 5, false), row("c", 0, 8, false)}, "/a/b:1 c:1"},
		{"bits that end nowhere", []view.LayoutRow{row("a", 0, 3, false)}, "/a:1"},
		{"elements have rows of their own", []view.LayoutRow{row("n", 0, 16, false), row("l", 0, 0, true), row("l[].x", 1, 32, false), row("z", 0, 16, false)}, "n:2 l …:14 (l · at 0 · each element, 4 bytes) x:4 next element …:12 (then, at 0) z:2"},
		{"bare elements are named after their list", []view.LayoutRow{row("l", 0, 0, true), row("l[]", 1, 32, false)}, "(l · at 0 · each element, 4 bytes) l[]:4 next element …:12"},
		{"the elements of a list of fixed size", []view.LayoutRow{row("n", 0, 16, false), row("l", 0, 64, false), row("l[]", 1, 16, false), row("z", 0, 8, false)}, "n:2 l[0]:2 l[1]:2 l[2]:2 l[3]:2 z:1"},
		{"and of one of structs", []view.LayoutRow{row("l", 0, 48, false), row("l[].x", 1, 16, false), row("l[].y", 1, 8, false)}, "l[0].x:2 l[0].y:1 l[1].x:2 l[1].y:1"},
		{"many elements are one cell", []view.LayoutRow{row("l", 0, 8*20, false), row("l[]", 1, 8, false), row("z", 0, 8, false)}, "l:16 … l:4 z:1"},
		{"many structs have rows of their own", []view.LayoutRow{row("l", 0, 8*40, false), row("l[].x", 1, 8, false), row("l[].y", 1, 8, false)}, "(l · at 0 · each element, 2 bytes) x:1 y:1 next element …:14"},
		{"names inside structs are whole", []view.LayoutRow{row("pos.x", 0, 32, false), row("l", 0, 0, true), row("l[].pos.x", 1, 32, false)}, "pos.x:4 l …:12 (l · at 0 · each element, 4 bytes) pos.x:4 next element …:12"},
		{"a text", []view.LayoutRow{row("n", 0, 8*15, false), row("s", 0, 16, true)}, "n:15 (s · at 0) s:16"},
		{"a condition", []view.LayoutRow{row("a", 0, 8, false), noted}, "a:1 (in messages of 5 bytes) b:1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := drawn(t, test.rows...); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestLayoutSummary(t *testing.T) {
	size := func(n int64) *int64 { return &n }
	for _, test := range []struct {
		layout view.LayoutInfo
		want   string
	}{
		{view.LayoutInfo{MinSize: 1, MaxSize: size(1)}, "1 byte"},
		{view.LayoutInfo{Rows: []view.LayoutRow{row("n", 0, 96, false), row("l", 0, 0, true), row("l[].x", 1, 64, false), row("s", 0, 16, true)}}, "12 bytes + 8 × l + s"},
		{view.LayoutInfo{Rows: []view.LayoutRow{row("n", 0, 96, false), row("l", 0, 0, true), row("l[].s", 1, 16, true)}}, "12 bytes + l"},
		{view.LayoutInfo{MinSize: 3, Rows: []view.LayoutRow{{Path: "a", Note: "if more follows"}}}, "3 bytes or more"},
		{view.LayoutInfo{MinSize: 3, MaxSize: size(9), Rows: []view.LayoutRow{{Path: "a", Note: "if more follows"}}}, "3 to 9 bytes"},
	} {
		if got := layoutSummary(&test.layout); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

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
	for _, pattern := range []string{"*.templ", "*.go", "../web/src/*.*", "../web/src/*/*.*"} {
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

// Values of a message are escaped.
func TestMarkupIsEscaped(t *testing.T) {
	evil := `<img src=x onerror=alert(1)>"'`
	value, _ := json.Marshal(evil)
	problem := []view.ProblemInfo{{Severity: "error", Code: evil, Message: evil, Path: evil}}
	w := Workbench{
		Frame: Frame{Title: evil, Workspace: "one", Projects: []Project{{evil, evil}}}, Message: evil, Notice: evil,
		Rail: Rail{
			Filter: evil, Groups: []Group{{evil, []Item{{Name: evil, Code: evil, State: "error", Versions: []ItemVersion{{Href: evil, State: evil}, {Href: evil}}}}}},
			Undefined: []Undefined{{evil, evil, evil}}, UndefinedCount: 1, Maps: []string{evil, evil}, MapName: evil, Options: []Option{{Name: evil, Title: evil, Doc: evil, Value: evil}, {Name: evil, Choices: []string{evil}}}, Notes: []string{evil}, NoteCount: 1,
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

func TestChanges(t *testing.T) {
	for _, test := range []struct {
		was, is string
		want    [][2]int
	}{
		{"abcdef", "abcdef", nil},
		{"abcdef", "aXcdYZ", [][2]int{{1, 2}, {4, 6}}},
		{"abcdef", "abXXcdef", [][2]int{{2, 4}}},
		{"abcdefghij", "aXcdefghYYij", [][2]int{{1, 2}, {8, 10}}},
		{"abcdef", "abef", [][2]int{{2, 2}}},
		{"aaa", "aaaa", [][2]int{{3, 4}}},
		{"", "ab", [][2]int{{0, 2}}},
	} {
		if got := Changes([]byte(test.was), []byte(test.is)); !cmp.Equal(got, test.want) {
			t.Errorf("%q to %q: %v, want %v", test.was, test.is, got, test.want)
		}
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
