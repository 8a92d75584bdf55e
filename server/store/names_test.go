package store

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCheckName(t *testing.T) {
	for _, test := range []struct{ about, name, want string }{
		{"a file in the folder", "C_CHAT.1.def", ""},
		{"no ending", "readme", ""},
		{"seven folders deep", "1/2/3/4/5/6/7/a.def", ""},
		{"letters of other scripts", "привет/日本.def", ""},
		{"a space inside", "my notes.txt", ""},
		{"an element of 200 bytes", strings.Repeat("a", 200), ""},
		{"a name that starts like a device", "console.def", ""},
		{"a port of two digits", "com10.def", ""},

		{"no name", "", "the name is empty"},
		{"the folder itself", ".", "not a path below"},
		{"the folder above", "../a.def", "not a path below"},
		{"above and down again", "a/../../b.def", "not a path below"},
		{"an absolute path", "/etc/passwd", "not a path below"},
		{"two slashes", "a//b", "not a path below"},
		{"a slash at the end", "a/", "not a path below"},
		{"a hidden file", ".gitignore", "start with a dot"},
		{"a hidden folder", ".git/config", "start with a dot"},
		{"packages of others", "a/node_modules/b.def", "are not read"},
		{"an element of 201 bytes", strings.Repeat("a", 201), "201 bytes between slashes"},
		{"a name of 501 bytes", strings.Repeat("abcd/", 100) + "a", "501 bytes"},
		{"eight folders deep", "1/2/3/4/5/6/7/8/a.def", "folders deep"},
		{"not UTF-8", "a\xff.def", "not UTF-8"},
		{"a zero byte", "a\x00.def", "U+0000 is not printable"},
		{"an end of line", "a\n.def", "U+000A is not printable"},
		{"a turn of the direction of writing", "a\u202efed.exe", "U+202E is not printable"},
		{"a backslash", `a\b.def`, `character \ is not allowed`},
		{"a drive", "c:a.def", "character : is not allowed"},
		{"a star", "*.def", "character * is not allowed"},
		{"a question mark", "a?.def", "character ? is not allowed"},
		{"a quote", `a".def`, `character " is not allowed`},
		{"less than", "a<b", "character < is not allowed"},
		{"more than", "a>b", "character > is not allowed"},
		{"a bar", "a|b", "character | is not allowed"},
		{"a dot at the end", "a.", "dot or a space"},
		{"a space at the end of a folder", "a /b", "dot or a space"},
		{"a device", "nul", "device"},
		{"a device with an ending", "sub/Con.1.def", "device"},
		{"a device with a space", "aux .def", "device"},
		{"a port", "lpt1.def", "device"},
		{"a port of a raised digit", "COM².def", "device"},
	} {
		t.Run(test.about, func(t *testing.T) {
			err := CheckName(test.name)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var wrong *NameError
			if !errors.As(err, &wrong) || wrong.Name != test.name || !strings.Contains(wrong.Reason, test.want) {
				t.Errorf("CheckName(%q) = %v, want %q", test.name, err, test.want)
			}
		})
	}
}

func TestFoldIsEqualFold(t *testing.T) {
	letters := rapid.SampledFrom([]rune("aAkK\u212a\u00e9\u00c9sS\u017f\u01c4\u01c5\u01c6\u03c3\u03c2\u03a3i\u0130x/"))
	names := rapid.StringOfN(letters, 0, 4, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := names.Draw(t, "a"), names.Draw(t, "b")
		if got, want := fold(a) == fold(b), strings.EqualFold(a, b); got != want {
			t.Errorf("fold(%q) == fold(%q) is %v, strings.EqualFold says %v", a, b, got, want)
		}
	})
}
