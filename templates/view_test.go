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
	for _, p := range diagram(&view.LayoutInfo{Rows: rows}) {
		if p.Width == 0 {
			seen, col = append(seen, "("+p.Caption+")"), 0
			continue
		}
		if p.Width < 0 || col+p.Width > columns {
			t.Errorf("cell %s of %d columns at column %d", p.Top, p.Width, col)
		}
		name := p.Top
		for _, b := range p.Bits {
			name += "/" + b.Name
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
		{"over the end of a row", []view.LayoutRow{row("a", 0, 16, false), row("b", 0, 8*20, false)}, "a:2 b:14 …:6"},
		{"of whole rows", []view.LayoutRow{row("a", 0, 8*32, false)}, "a:16 …:16"},
		{"a long one is cut in the middle", []view.LayoutRow{row("a", 0, 32, false), row("b", 0, 8*500, false)}, "a:4 b:12 … 480 bytes:16 …:8"},
		{"bits share a cell", []view.LayoutRow{row("a", 0, 3, false), row("b", 0, 5, false), row("c", 0, 8, false)}, "/a/b:1 c:1"},
		{"bits that end nowhere", []view.LayoutRow{row("a", 0, 3, false)}, "/a:1"},
		{"elements have rows of their own", []view.LayoutRow{row("n", 0, 16, false), row("l", 0, 0, true), row("l[].x", 1, 32, false), row("z", 0, 16, false)}, "n:2 l …:14 (l · at 0 · each element, 4 bytes) x:4 next element …:12 (then, at 0) z:2"},
		{"bare elements are named after their list", []view.LayoutRow{row("l", 0, 0, true), row("l[]", 1, 32, false)}, "(l · at 0 · each element, 4 bytes) l[]:4 next element …:12"},
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

func TestTreeRows(t *testing.T) {
	field := func(path, role string, off, bits uint32) view.FieldValue {
		return view.FieldValue{Path: path, Role: role, Type: "t", BitOffset: off, BitLength: bits, Text: "v", Line: 1}
	}
	m := &Message{
		Types: map[string]string{"l": "array", "l[].push": "object"}, Linked: true,
		Result: view.Result{
			Fields: []view.FieldValue{
				field("length", "length", 0, 16), field("l", "count", 16, 16), field("o.s", "offset", 32, 16), field("l[0]", "here", 48, 16),
				field("l[0].push.x", "value", 64, 8), field("l[0].push.y", "value", 72, 8), field("l[0].n", "offset", 80, 16), field("l[1].push.x", "value", 96, 3),
				field("b[0]", "value", 104, 3),
				{Role: "gap", BitOffset: 107, BitLength: 5},
				field("b[1]", "value", 112, 8),
				{Role: "gap", BitOffset: 120, BitLength: 8},
				field("o.s", "value", 128, 16),
			},
			Problems: []view.ProblemInfo{{Severity: "warning", BitOffset: 64, BitLength: 8}, {Severity: "error", BitOffset: 64, BitLength: 8}},
		},
	}
	var got []string
	for _, r := range treeRows(m) {
		got = append(got, strings.TrimRight(fmt.Sprintf("%s%s|%s|%s|%s|%s|%s", strings.Repeat("  ", r.Depth), r.Name, r.Type, r.Value, r.Range(), r.Line, r.Bad), "|"))
	}
	want := []string{
		"[length]|t|v|0:16|1", "[l count]|t|v|16:16|1", "[o.s offset]|t|v|32:16|1",
		"l|array|2 elements|48:51", "  [0]|||48:48", "    [here]|t|v|48:16|1", "    push|object||64:16", "      x|t|v|64:8|1|err", "      y|t|v|72:8|1",
		"    [n offset]|t|v|80:16|1", "  [1]|||96:3", "    push|object||96:3", "      x|t|v|96:3|1",
		"b||2 elements|104:16", "  [0]|t|v|104:3|1", "  unexplained||no definition explains these bytes|107:5", "  [1]|t|v|112:8|1", "unexplained||no definition explains these bytes|120:8", "o|||128:16", "  s|t|v|128:16|1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Definitions may have arbitrary names: odd names only make odd rows.
func TestTreeRowsOfOddPaths(t *testing.T) {
	for _, path := range []string{"", ".", "[", "]", "a[", "a]", "[0", "[0]", "a[0", "a[0]]", "a..b", "a[0][1]", "[0].a"} {
		for _, role := range []string{"value", "count", path} {
			treeRows(&Message{Result: view.Result{Fields: []view.FieldValue{{Path: path, Role: role, BitLength: 8}, {Path: "x." + path, Role: role, BitOffset: 8, BitLength: 8}}}})
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
		Frame: Frame{Title: evil, Workspace: "one", Workspaces: []Link{{evil, evil}}}, Message: evil, Notice: evil,
		Rail: Rail{
			Filter: evil, Groups: []Group{{evil, []Item{{Name: evil, Code: evil, State: "error", Versions: []ItemVersion{{Href: evil, State: evil}, {Href: evil}}}}}},
			Undefined: []Undefined{{evil, evil, evil}}, UndefinedCount: 1, Maps: []string{evil, evil}, MapName: evil, Options: []Option{{Name: evil, Title: evil, Doc: evil, Value: evil}, {Name: evil, Choices: []string{evil}}}, Notes: []string{evil}, NoteCount: 1,
		},
		Samples:    Samples{Rows: []SampleRow{{Message: evil, About: evil, Other: true}}, CanKeep: true},
		Form:       FormState{From: evil, Base: evil, Edits: map[string]string{evil: evil}, Opened: map[string]bool{evil: true}},
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

// Of a long list the first run of elements is drawn; other runs are a row each until expanded.
func TestLongLists(t *testing.T) {
	var fields []view.FieldValue
	for i := range 250 {
		fields = append(fields, view.FieldValue{Path: fmt.Sprintf("l[%d].x", i), Role: "value", BitOffset: uint32(i) * 8, BitLength: 8})
	}
	fields = append(fields, view.FieldValue{Path: "z", Role: "value", BitOffset: 2000, BitLength: 8})
	names := func(opened ...string) string {
		m := &Message{Result: view.Result{Fields: fields}, Opened: map[string]bool{}}
		for _, o := range opened {
			m.Opened[o] = true
		}
		var out []string
		for _, r := range visibleRows(m) {
			if r.Run != "" || r.Depth == 0 {
				out = append(out, fmt.Sprintf("%s@%s+%s", r.Name, r.Offset(), r.Size()))
			}
		}
		return fmt.Sprintf("%d rows: %s", len(visibleRows(m)), strings.Join(out, " "))
	}
	const runs = "l@0x00+250 [0] … [19]@0x00+20 [20] … [119]@0x14+100 [120] … [219]@0x78+100 [220] … [249]@0xdc+30 z@0xfa+1"
	for _, test := range []struct {
		opened []string
		want   string
	}{
		{nil, "46 rows: " + runs},
		{[]string{"l#20"}, "246 rows: " + runs},
		{[]string{"l#0"}, "6 rows: " + runs},
		{[]string{"l#0", "l#220", "nothing"}, "66 rows: " + runs},
	} {
		if got := names(test.opened...); got != test.want {
			t.Errorf("%v: got %s, want %s", test.opened, got, test.want)
		}
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
		{"abcdef", "abef", [][2]int{{2, 2}}},
		{"aaa", "aaaa", [][2]int{{3, 4}}},
		{"", "ab", [][2]int{{0, 2}}},
	} {
		if got := Changes([]byte(test.was), []byte(test.is)); !cmp.Equal(got, test.want) {
			t.Errorf("%q to %q: %v, want %v", test.was, test.is, got, test.want)
		}
	}
}
