package workspace

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"wirebench/codec"
)

func fitFiles() fstest.MapFS {
	return fstest.MapFS{
		"protocol.1.map": {Data: []byte("C_NAME 1\nC_LIST 2\nC_ID 3\nC_SKILL 4\n")},
		"C_NAME.1.def":   {Data: []byte("string name\nuint16 port\n")},
		"C_LIST.1.def":   {Data: []byte("array members\n- uint32 id\n- string name\n\nuint16 flags\n")},
		"C_ID.1.def":     {Data: []byte("uint64 id\nbool first\nint16 x\nint32 y\n")},
		"C_PLAIN.1.def":  {Data: []byte("uint32 a\nuint32 b\n")},
		"C_SKILL.1.def":  {Data: []byte("string name\nskillid skill\nuint32 time ^80\n")},
	}
}

// Definitions that explain a message are found with their evidence; one with plain numbers only explains any bytes of its size.
func TestFits(t *testing.T) {
	s := built(t, fitFiles())
	for _, c := range []struct{ hex, want string }{
		{"0c00 0900 0800 5000 41000000", "C_NAME.1 (1 text, 1 offset or count)"},
		{"0c00 0900 0900 5000 41000000", ""},
		{"1300 0900 0100000000000080 01 0200 03000000", "C_ID.1 (1 bool)"},
		{"1300 0900 0100000000000080 07 0200 03000000", ""},
		{"0a00 0900 0000 0000 0500", "C_LIST.1 (2 offsets and counts)"},
		{"0c00 0900 00000000 01000000", ""},
		{"0400 0900", ""},
		{"", ""},
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(c.hex, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range s.Fits(data, Request{}, 5) {
			got = append(got, fmt.Sprintf("%s (%s)", f.Name, f.Evidence))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", c.hex, got, c.want)
		}
	}
}

// Settings with which a definition explains a message are found: a skillid has four bytes before patch 74, and a field begins at patch 80.
func TestOtherSetting(t *testing.T) {
	s := built(t, fitFiles())
	d, err := s.Open("C_SKILL.1", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ hex, want string }{
		{"0e00 0400 0a00 07000000 41000000", "patch 73"},
		{"1200 0400 0e00 0700000000000000 41000000", "patch 74"},
		{"1600 0400 1200 0700000000000000 09000000 41000000", "patch 80"}, // the current value, which callers would not look for
		{"0f00 0400 0a00 07000000 41000000 00", " "},
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(c.hex, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if option, value := d.OtherSetting(data, codec.Session{}); option+" "+value != c.want {
			t.Errorf("%s: %q, want %q", c.hex, option+" "+value, c.want)
		}
	}
}

func BenchmarkFits(b *testing.B) {
	s := publicLibrary(b)
	data, err := hex.DecodeString("0c0009000800500041000000")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s.Fits(data, Request{}, 8)
	}
}
