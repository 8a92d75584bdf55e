package edit

import (
	"fmt"
	"testing"

	"wirebench/defs/source"
)

func TestLines(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a\nb\n", "0\na\nB\n2\n"},
		{"a\nb", "0\na\nB\n2"}, // still without a line break at the end
		{"a\r\nb\n", "0\r\na\r\nB\n2\r\n"},
		{"a\r\nb\r\n", "0\r\na\r\nB\r\n2\r\n"},
	} {
		l := NewLines(source.New("f", c.text))
		l.Insert(0, "0")
		l.Insert(9, "2")
		l.Replace(1, "B")
		if got := l.Text(); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	l := NewLines(source.New("f", ""))
	l.Insert(0, "one")
	if got := l.Text(); got != "one\n" {
		t.Errorf("%q", got)
	}
}

func TestShift(t *testing.T) {
	for _, c := range []struct {
		gap    string
		longer int
		want   string
	}{{"   # x", 1, "  # x"}, {"   # x", 5, " # x"}, {"   # x", -2, "     # x"}, {" # x", -2, " # x"}, {"", 3, ""}} {
		if got := Shift(c.gap, c.longer); got != c.want {
			t.Errorf("%q %d: %q, want %q", c.gap, c.longer, got, c.want)
		}
	}
}

// A line with an error is as it was, or empty if it is new, and no other line moves.
func TestMend(t *testing.T) {
	const good = "# doc\nuint32 a\nuint16 b\nstring c"
	for _, c := range []struct {
		text string
		bad  []int
		want string
	}{
		{"# doc\nuint32 a\nuin16 b\nstring c", []int{3}, "# doc\nuint32 a\nuint16 b\nstring c [{3 true}]"},
		{"# doc\nuint32 a\nin\nuint16 b\nstring c", []int{3}, "# doc\nuint32 a\n\nuint16 b\nstring c [{3 false}]"},
		{"# doc\nuint32 a\nin\nuin16 b\nstring c", []int{3, 4}, "# doc\nuint32 a\n\nuint16 b\nstring c [{3 false} {4 true}]"},
		{"# doc\nbyte z\nuint32 a\nuint16 b\nstr c", []int{5}, "# doc\nbyte z\nuint32 a\nuint16 b\nstring c [{5 true}]"},
		{"# doc\nuint32 a\nstrng c", []int{3}, "# doc\nuint32 a\nstring c [{3 true}]"},
		{"# doc\nuint32 a", []int{3}, "false"},
		{"in32 x", []int{1}, " [{1 false}]"},
	} {
		mended, holes, ok := Mend(c.text, good, c.bad)
		got := fmt.Sprint(mended, " ", holes)
		if !ok {
			got = "false"
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	if mended, _, _ := Mend("x\nbyte b", "", []int{1}); mended != "\nbyte b" {
		t.Errorf("%q", mended)
	}
}
