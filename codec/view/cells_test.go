package view

import (
	"fmt"
	"strings"
	"testing"
)

func row(path string, depth int, bits int64, variable bool) LayoutRow {
	r := LayoutRow{Path: path, Depth: depth, Type: "t", Role: "value", Offset: "0", MinBits: bits, MaxBits: &bits, Family: FamilyInt}
	if variable {
		r.MaxBits = nil
	}
	return r
}

// drawn is a diagram as text: NAME:COLUMNS, and captions in parentheses. No cell may cross the end of a row.
func drawn(t *testing.T, rows ...LayoutRow) string {
	t.Helper()
	col := 0
	var seen []string
	for _, p := range (&LayoutInfo{Rows: rows}).Cells() {
		if p.Width == 0 {
			seen, col = append(seen, "("+p.Caption+")"), 0
			continue
		}
		if p.Width < 0 || col+p.Width > Columns {
			t.Errorf("cell %s of %d columns at column %d", p.Top, p.Width, col)
		}
		name := p.Top
		for _, b := range p.Bits {
			name += "/" + b
		}
		seen = append(seen, fmt.Sprintf("%s:%d", name, p.Width))
		col = (col + p.Width) % Columns
	}
	return strings.Join(seen, " ")
}

func TestCells(t *testing.T) {
	noted := row("b", 0, 8, false)
	noted.Note = "in messages of 5 bytes"
	for _, test := range []struct {
		name string
		rows []LayoutRow
		want string
	}{
		{"over the end of a row", []LayoutRow{row("a", 0, 16, false), row("b", 0, 8*20, false)}, "a:2 b:14 … b:6"},
		{"of whole rows", []LayoutRow{row("a", 0, 8*32, false)}, "a:16 … a:16"},
		{"a long one is cut in the middle", []LayoutRow{row("a", 0, 32, false), row("b", 0, 8*500, false)}, "a:4 b:12 … 480 bytes:16 … b:8"},
		{"bits share a cell", []LayoutRow{row("a", 0, 3, false), row("b", 0, 5, false), row("c", 0, 8, false)}, "/a/b:1 c:1"},
		{"bits that end nowhere", []LayoutRow{row("a", 0, 3, false)}, "/a:1"},
		{"elements have rows of their own", []LayoutRow{row("n", 0, 16, false), row("l", 0, 0, true), row("l[].x", 1, 32, false), row("z", 0, 16, false)}, "n:2 l …:14 (l · at 0 · each element, 4 bytes) x:4 next element …:12 (then, at 0) z:2"},
		{"bare elements are named after their list", []LayoutRow{row("l", 0, 0, true), row("l[]", 1, 32, false)}, "(l · at 0 · each element, 4 bytes) l[]:4 next element …:12"},
		{"the elements of a list of fixed size", []LayoutRow{row("n", 0, 16, false), row("l", 0, 64, false), row("l[]", 1, 16, false), row("z", 0, 8, false)}, "n:2 l[0]:2 l[1]:2 l[2]:2 l[3]:2 z:1"},
		{"and of one of structs", []LayoutRow{row("l", 0, 48, false), row("l[].x", 1, 16, false), row("l[].y", 1, 8, false)}, "l[0].x:2 l[0].y:1 l[1].x:2 l[1].y:1"},
		{"many elements are one cell", []LayoutRow{row("l", 0, 8*20, false), row("l[]", 1, 8, false), row("z", 0, 8, false)}, "l:16 … l:4 z:1"},
		{"many structs have rows of their own", []LayoutRow{row("l", 0, 8*40, false), row("l[].x", 1, 8, false), row("l[].y", 1, 8, false)}, "(l · at 0 · each element, 2 bytes) x:1 y:1 next element …:14"},
		{"names inside structs are whole", []LayoutRow{row("pos.x", 0, 32, false), row("l", 0, 0, true), row("l[].pos.x", 1, 32, false)}, "pos.x:4 l …:12 (l · at 0 · each element, 4 bytes) pos.x:4 next element …:12"},
		{"a text", []LayoutRow{row("n", 0, 8*15, false), row("s", 0, 16, true)}, "n:15 (s · at 0) s:16"},
		{"a condition", []LayoutRow{row("a", 0, 8, false), noted}, "a:1 (in messages of 5 bytes) b:1"},
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
		layout LayoutInfo
		want   string
	}{
		{LayoutInfo{MinSize: 1, MaxSize: size(1)}, "1 byte"},
		{LayoutInfo{Rows: []LayoutRow{row("n", 0, 96, false), row("l", 0, 0, true), row("l[].x", 1, 64, false), row("s", 0, 16, true)}}, "12 bytes + 8 × l + s"},
		{LayoutInfo{Rows: []LayoutRow{row("n", 0, 96, false), row("l", 0, 0, true), row("l[].s", 1, 16, true)}}, "12 bytes + l"},
		{LayoutInfo{MinSize: 3, Rows: []LayoutRow{{Path: "a", Note: "if more follows"}}}, "3 bytes or more"},
		{LayoutInfo{MinSize: 3, MaxSize: size(9), Rows: []LayoutRow{{Path: "a", Note: "if more follows"}}}, "3 to 9 bytes"},
	} {
		if got := test.layout.Summary(); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}
