package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCompat(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"old/C_A.1.def": "uint32 a\nstring name\n", "new/C_A.1.def": "uint32 a\nstring name\nuint32 more\n",
		"old/C_B.1.def": "uint32 a\nuint16 b\n", "new/C_B.1.def": "uint32 a\nuint16 n\nuint16 b\n",
		"old/C_C.1.def": "byte x\n", "new/C_C.1.def": "byte y # renamed\n",
		"old/C_D.1.def": "byte x\n", "new/C_E.1.def": "byte x\n",
		"old/C_F.1.def": "byte x\n", "new/C_F.1.def": "int16 x\n",
		"old/C_G.1.def": "byte x\nbyte z\n", "new/C_G.1.def": "byte x\n",
		"bad/C_A.1.def": "byt x\n",
		"coded/a.map":   "C_C 5\n", "coded/C_C.1.def": "byte x\n", "other/a.map": "C_C 6\n", "other/C_C.1.def": "byte x\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{at("old"), at("new")}, 1, `C_A.1 extended at 10: more is new
C_B.1 broken at 8: b moves +2
C_C.1 same
C_D.1 broken: the message is gone
C_E.1 extended: a new message
C_F.1 broken at 4: x was byte (1), is int16 (2)
C_G.1 broken at 5: z is gone
`},
		{[]string{at("old/C_C.1.def"), at("new/C_C.1.def")}, 0, "C_C.1 same\n"},
		{[]string{at("old/C_D.1.def"), at("new/C_E.1.def")}, 0, "C_E.1 same\n"},
		{[]string{"--json", at("old/C_B.1.def"), at("new/C_B.1.def")}, 1, `{"message":"C_B.1","compat":"broken","offset":"8","why":"b moves +2"}` + "\n"},
		{[]string{at("coded"), at("other")}, 1, "C_C.1 broken: the code was 5, is 6\n"},
		{[]string{at("old"), at("bad")}, 2, ""},
		{[]string{at("old")}, 2, ""},
		{[]string{at("old"), at("nothing")}, 2, ""},
	} {
		out, said, status := cli(t, "", append([]string{"compat"}, c.args...)...)
		if status != c.status || out != c.want {
			t.Errorf("%q: %d\n%s%s", c.args, status, out, said)
		}
	}
}
