package workspace

import (
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

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
		{"1600 0900 0800 5000 4100420043004400450000000700", "C_NAME.1 (20 of 22: 1 text, 1 offset or count)"},
		{"0400 0900", ""},
		{"", ""},
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(c.hex, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		fits, complete := s.Fits(data, Request{}, 5)
		if !complete {
			t.Errorf("%s: not all definitions were tried", c.hex)
		}
		for _, f := range fits {
			part := ""
			if f.Explained < len(data) {
				part = fmt.Sprintf("%d of %d: ", f.Explained, len(data))
			}
			got = append(got, fmt.Sprintf("%s (%s%s)", f.Name, part, f.Evidence))
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

// Pages that show the same message by the same text search once, even at once, and a search that took too long is not kept.
func TestOtherSettingIsSearchedOnce(t *testing.T) {
	d, err := built(t, fitFiles()).Open("C_SKILL.1", "")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	found := otherSetting{"patch", "73", true}
	ask := func(message byte) otherSetting {
		s := d.searches.of([]byte{message}, codec.Session{}, func() otherSetting {
			n++
			return found
		})
		got := s.found()
		if !got.complete {
			d.searches.forget(s)
		}
		return got
	}
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() { ask(1) })
	}
	all.Wait()
	if ask(1) != found || n != 1 {
		t.Errorf("%d searches", n)
	}
	for i := range 2 * maxSearches {
		ask(byte(2 + i))
	}
	if len(d.searches.list) != maxSearches {
		t.Errorf("%d messages are kept", len(d.searches.list))
	}
	found.complete = false
	if ask(100); len(d.searches.list) != maxSearches-1 {
		t.Errorf("a search that took too long is kept")
	}
	data := []byte{14, 0, 4, 0, 10, 0, 7, 0, 0, 0, 65, 0, 0, 0}
	d.OtherSetting(data, codec.Session{})
	if again := testing.AllocsPerRun(5, func() { d.OtherSetting(data, codec.Session{}) }); again > 5 {
		t.Errorf("a known message costs %v allocations", again)
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

// A definition whose meaning changes at thousands of patches costs a bounded time for each message.
func TestOtherSettingIsBounded(t *testing.T) {
	var text strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&text, "uint32 field%d ^%d.%02d\n", i, i/100, i%100)
	}
	s := built(t, fstest.MapFS{"C_MANY.1.def": {Data: []byte(text.String())}, "protocol.1.map": {Data: []byte("C_MANY 1\n")}})
	d, err := s.Open("C_MANY.1", "")
	if err != nil {
		t.Fatal(err)
	}
	from := time.Now()
	if option, value := d.OtherSetting([]byte{4, 0, 1, 0, 0}, codec.Session{}); option != "" {
		t.Errorf("%s %s", option, value)
	}
	if took := time.Since(from); took > 100*maxFitTime { // without a bound it is minutes
		t.Errorf("it took %v", took)
	}
}
