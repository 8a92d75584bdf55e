package envelope

import (
	"testing"

	"wirebench/defs/source"
)

// A size is added behind the others of its direction, before that of other codes.
func TestAddSize(t *testing.T) {
	for _, c := range []struct {
		text string
		way  int
		want string // "": refused
	}{
		{"frame codes u8\n  1 = 4\n  2 = 9 # two\ncode u8\n", 0, "frame codes u8\n  1 = 4\n  2 = 9 # two\n  7 = 12\ncode u8\n"},
		{"frame codes u8\n\t1 = 4\n\n\t# others\n\tother = length u8 at 1\ncode u8", 1, "frame codes u8\n\t1 = 4\n\t7 = 12\n\n\t# others\n\tother = length u8 at 1\ncode u8"},
		{"frame codes u8\ncode u8\n", 0, "frame codes u8\n  7 = 12\ncode u8\n"},
		{"frame to-server codes u8\n  1 = 4\nframe to-client length u8\ncode u8\n", 0, "frame to-server codes u8\n  1 = 4\n  7 = 12\nframe to-client length u8\ncode u8\n"},
		{"frame to-server codes u8\n  1 = 4\nframe to-client length u8\ncode u8\n", 1, ""},
		{"frame to-server codes u8\n  1 = 4\nframe to-client codes u8\n  1 = 5\ncode u8\n", 1, "frame to-server codes u8\n  1 = 4\nframe to-client codes u8\n  1 = 5\n  7 = 12\ncode u8\n"},
		{"frame codes u8\n  1 = 4\n  0x07 = 5\ncode u8\n", 0, ""},
		{"frame codes u8\n  1 = 4\ncode u8\nx y z\n", 0, ""},
		{"frame length u8\ncode u8\n", 0, ""},
		{"code u8\nstate a\n  frame codes u8\n    1 = 4\n  X -> b\nstate b\n  frame codes u8\n    1 = 4\n", 0, ""},
		{"code u8\nstate a\n  frame codes u8\n    1 = 4\n  X -> b\nstate b\n  frame length u8\n", 0, "code u8\nstate a\n  frame codes u8\n    1 = 4\n    7 = 12\n  X -> b\nstate b\n  frame length u8\n"},
	} {
		got, ok := AddSize(source.New("protocol.envelope", c.text), c.way, 7, 12)
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%q becomes %q, %v, want %q", c.text, got, ok, c.want)
		}
	}
}
