package source_test

import (
	"testing"

	"wirebench/defs/source"
)

func TestLinesAndPositions(t *testing.T) {
	f := source.New("f", "ä\r\nbc\n\nd")
	if f.NumLines() != 4 {
		t.Fatalf("%d lines", f.NumLines())
	}
	for n, want := range map[int]string{1: "ä", 2: "bc", 3: "", 4: "d"} {
		if got := f.Line(n).Text(); got != want {
			t.Errorf("line %d is %q, want %q", n, got, want)
		}
	}
	for off, want := range map[int]source.Position{-5: {1, 1}, 0: {1, 1}, 2: {1, 2}, 4: {2, 1}, 6: {2, 3}, 7: {3, 1}, 8: {4, 1}, 9: {4, 2}, 99: {4, 2}} {
		if got := f.Position(off); got != want {
			t.Errorf("offset %d is %v, want %v", off, got, want)
		}
	}
	if s := f.Line(2).Sub(1, 2); s.Text() != "c" || s.Pos() != (source.Position{Line: 2, Column: 2}) {
		t.Errorf("%q at %v", s.Text(), s.Pos())
	}
	if !(source.Span{}).IsZero() || (source.Span{}).Text() != "" || f.Line(3).IsZero() {
		t.Error("IsZero or Text of a span is wrong")
	}
}

func TestEmptyFileHasOneLine(t *testing.T) {
	if f := source.New("f", ""); f.NumLines() != 1 || f.Line(1).Text() != "" || f.Position(0) != (source.Position{Line: 1, Column: 1}) {
		t.Errorf("%d lines", f.NumLines())
	}
}
