package filter_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/defs/benchtest"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// The verdict by the bytes of a frame alone equals the verdict with its record, also for truncated and invalid messages.
func TestFixedNumbers(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	w := newWorld(
		t, "tera", schema.Options{Codes: map[string]uint32{"S_PLAIN": 1, "S_TAIL": 2, "S_NONE": 3}},
		source.New("S_PLAIN.1.def", "int32 a\nuint16 b\nfloat f\nbool c\n"),
		source.New("S_TAIL.1.def", "array list\n- int32 x\nint32 a\nstring s\nuint16 b\n"),
		source.New("S_NONE.1.def", "uint16 b\n"),
	)
	rng := rand.New(rand.NewPCG(1, 2))
	decided := 0
	for _, text := range []string{".a > 5", ".a in {3}", ".b != 7", "!(.b == 7)", ".a < 100 && .b > 3", ".f > 1.5 or .c", "S_TAIL.b == 7", "not .a == 3 || .list.x == 3"} {
		f, mistakes := filter.Compile(text, w.env)
		if len(mistakes) > 0 {
			t.Fatal(text, mistakes)
		}
		for range 20_000 {
			data := make([]byte, rng.IntN(40))
			for i := range data {
				data[i] = byte(rng.Uint32N(9))
			}
			if len(data) >= 4 && rng.IntN(8) > 0 {
				binary.LittleEndian.PutUint16(data, uint16(len(data)))
				binary.LittleEndian.PutUint16(data[2:], uint16(1+rng.IntN(3)))
			}
			m := w.schema.Messages[rng.IntN(len(w.schema.Messages))]
			p, err := w.program(m)
			if err != nil {
				t.Fatal(err)
			}
			x := filter.Frame{Frame: &transport.Frame{Kind: transport.Message, Bytes: data, HasKey: true, Key: schema.Key{Code: m.Key.Code}}, Message: m}
			short := f.Index(&x)
			var rec codec.Record
			p.Decode(&rec, data)
			x.Status = rec.Status()
			if long := f.Match(&x, &rec); short != filter.NeedsRecord && (short == filter.Yes) != long {
				t.Fatalf("%s of %s % x: %v without its record, %v with it", text, m.Name, data, short, long)
			}
			if short != filter.NeedsRecord && m.Name != "S_NONE" {
				decided++
			}
		}
	}
	if decided < 50_000 {
		t.Errorf("only %d frames are decided by their bytes", decided)
	}
}

// Of fields with one name the plain name is the last; a number selects another one.
func TestRepeatedNames(t *testing.T) {
	w := newWorld(
		t, "tera", schema.Options{Codes: map[string]uint32{"S_TWICE": 1}},
		source.New("S_TWICE.1.def", "int32 a\nint16 b\nint32 a\narray list\n- int16 a\n- int16 a\n"),
	)
	x := w.frame(t, "S_TWICE", 1, `{"a#1":1,"b":2,"a":3,"list":[{"a#1":4,"a":5}]}`)
	for text, want := range map[string]bool{
		".a == 3": true, ".a == 1": false, ".a#1 == 1": true, "S_TWICE.a#1 in {1, 2}": true, ".list[0].a#1 == 4": true, ".list.a == 5": true,
	} {
		f, mistakes := filter.Compile(text, w.env)
		if len(mistakes) > 0 {
			t.Errorf("%s: %v", text, mistakes)
		} else if got := f.Match(x, w.record(t, x)); got != want {
			t.Errorf("%s is %v", text, got)
		}
	}
	for _, text := range []string{".a#3 == 1", ".b#1 == 2", ".a# == 1"} {
		if _, mistakes := filter.Compile(text, w.env); len(mistakes) == 0 {
			t.Errorf("%s is a filter", text)
		}
	}
}

// A definition that reads contents in the fixed part of a message does not fit.
func TestStateOfSharedBytes(t *testing.T) {
	w := newWorld(
		t, "tera", schema.Options{Codes: map[string]uint32{"S_TEXT": 1}},
		source.New("S_TEXT.1.def", "int32 a\nint32 b\nstring s\narray l\n"),
	)
	clean, mismatch := compiled(t, w, "state == clean"), compiled(t, w, "state == mismatch")
	x := w.frame(t, "S_TEXT", 1, `{"a":1,"b":76,"s":"L"}`)
	for _, c := range []struct {
		at, to byte // of the offset to change
		fits   bool
	}{{4, x.Bytes[4], true}, {4, 14, false}, {8, 0xff, false}} {
		was := x.Bytes[c.at]
		x.Bytes[c.at] = c.to
		rec := w.record(t, x)
		if rec.Status() != codec.OK || clean.Match(x, rec) != c.fits || mismatch.Match(x, rec) == c.fits {
			t.Errorf("offset %d: clean is %v, mismatch is %v", c.to, clean.Match(x, rec), mismatch.Match(x, rec))
		}
		x.Bytes[c.at] = was
	}
}

func compiled(t *testing.T, w *world, text string) *filter.Filter {
	t.Helper()
	f, mistakes := filter.Compile(text, w.env)
	if len(mistakes) > 0 {
		t.Fatalf("%s: %v", text, mistakes)
	}
	return f
}

// An array of texts is a group: an index selects a field of it.
func TestArraysOfContents(t *testing.T) {
	w := newWorld(
		t, "tera", schema.Options{Codes: map[string]uint32{"S_WORDS": 1}},
		source.New("S_WORDS.1.def", "string[3] a\narray l\n- bytes[2][2] b\n"),
	)
	x := w.frame(t, "S_WORDS", 1, `{"a":["x","y","z"],"l":[{"b":[["01","02"],["03","04"]]}]}`)
	for text, want := range map[string]bool{
		`.a[0] == "x"`: true, `.a[2] == "x"`: false, `.a[*] == "z"`: true, `S_WORDS.l[0].b[1][0] == x"03"`: true, `.l.b[*][1] == x"04"`: true, `.l[*].b[0][*] == x"04"`: false, ".a": true,
	} {
		if got := compiled(t, w, text).Match(x, w.record(t, x)); got != want {
			t.Errorf("%s is %v", text, got)
		}
	}
	for _, text := range []string{`.a == "x"`, `.a[3] == "x"`, `.l.b[0] == x"01"`} {
		if _, mistakes := filter.Compile(text, w.env); len(mistakes) == 0 {
			t.Errorf("%s is a filter", text)
		}
	}
}
