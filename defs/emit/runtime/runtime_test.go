package runtime

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// tree has each kind of value, and contains itself.
type tree struct {
	Kind   uint8
	Small  int16
	Ratio  float32
	Half   float32
	Angle  float64
	Deep   bool
	Size   int64
	Name   string
	Wide   string
	Line   string
	Fixed  string
	Data   Hex
	Flags  struct{ Value, Count uint16 }
	On     bool
	Words  []string
	Trees  []tree
	Chain  []uint8
	Inner  *tree
	Packed *tree
}

func (m *tree) wire(x *coder) { m.wireTree(x) }

func (m *tree) wireTree(x *coder) {
	if !x.enter("tree") {
		return
	}
	if !x.block(24) {
		return
	}
	x.constant(24, 0, "\xca\xfe")
	kind := integer(x, &m.Kind, 24, 16, number{bits: 4}, "kind")
	integer(x, &m.Small, 24, 20, number{bits: 12, signed: true}, "small")
	float(x, &m.Ratio, 24, 32, number{bits: 32, big: true}, 1, "ratio")
	float(x, &m.Half, 24, 64, number{bits: 16}, 1, "half")
	x.scaled(&m.Angle, 24, 80, number{bits: 16}, 2*math.Pi/65536, true, false, "angle")
	x.boolean(&m.Deep, 24, 96, number{bits: 8}, "deep")
	x.fixedText(&m.Fixed, latin1, 24, 13, 4, false, 0, "fixed")
	b := uint64(0)
	if x.writing {
		b = uint64(m.Flags.Value)
		bitsOf(x, &b, 4, 3, &m.Flags.Count, "count")
		flag(x, &b, 0x300, &m.On)
	}
	b = x.raw(24, 136, number{bits: 16}, b, "flags")
	if !x.writing {
		m.Flags.Value = uint16(b)
		bitsOf(x, &b, 4, 3, &m.Flags.Count, "count")
		flag(x, &b, 0x300, &m.On)
	}
	n := x.count(24, 152, number{bits: 8}, latin1.units(m.Name), 0, 200, false, "name")
	w := x.count(24, 160, number{bits: 8}, utf16LE.units(m.Wide), 0, 200, false, "wide")
	inner := x.size(24, 176, number{bits: 16, big: true}, "inner")
	integer(x, &m.Size, 0, 0, number{bits: 64, form: zigzag}, "size")
	x.text(&m.Name, latin1, int(n), 0, "name")
	x.text(&m.Wide, utf16LE, int(w), 0, "wide")
	x.text(&m.Line, utf8Text, -2, 0, "line")
	data := x.count(0, 0, number{bits: 32, form: vlq, signed: true}, null(len(m.Data), m.Data != nil), 0, 1<<20, true, "data")
	if int64(data) != -1 {
		x.blob(&m.Data, int(data), "data")
	}
	for i := 0; ended(x, &m.Words, i, 0xff, "words"); i++ {
		from := len(x.b)
		x.text(&m.Words[i], utf8Text, -2, '\n', "word")
		x.begin(from, 0xff, "words")
	}
	trees := x.count(0, 0, number{bits: 32, form: leb}, len(m.Trees), 0, 1<<20, false, "trees")
	for i := 0; next(x, &m.Trees, i, int(trees), "trees"); i++ {
		m.Trees[i].wireTree(x)
	}
	for i, more := 0, true; more && next(x, &m.Chain, i, -2, "chain"); i++ {
		more = integer(x, &m.Chain[i], 0, 0, number{bits: 8, form: sleb}, "link") != 0
		more = x.whole(i, len(m.Chain), more, "chain")
	}
	x.within(inner, number{bits: 16, big: true}, unpacked, m.Inner != nil, 0, "inner", func() { value(x, &m.Inner).wireTree(x) })
	switch kind {
	case 1:
		size := x.size(0, 0, number{bits: 32, form: leb}, "packed")
		x.within(size, number{bits: 32, form: leb}, packedZlib, m.Packed != nil, 0, "packed", func() { value(x, &m.Packed).wireTree(x) })
	case 2:
		x.align(8)
		x.pack(packedGzip, func() { value(x, &m.Packed).wireTree(x) })
	case 3:
		x.pack(packedDeflate, func() { value(x, &m.Packed).wireTree(x) })
	}
	x.leave()
}

func leaf(name string) tree {
	return tree{Name: name, Data: Hex{}, Words: []string{}, Trees: []tree{}, Chain: []uint8{0}}
}

func example() tree {
	out := leaf("Größe")
	out.Kind, out.Small, out.Ratio, out.Half, out.Angle, out.Deep = 1, -2048, 1.5, -0.25, math.Pi, true
	out.Size, out.Wide, out.Line, out.Fixed, out.Data = math.MinInt64, "a😀", "line", "ab", nil
	out.Flags.Value, out.Flags.Count, out.On = 0x8350, 5, true
	out.Words, out.Chain = []string{"one", "", "three"}, []uint8{1, 200, 0}
	one, two, three := leaf("x"), leaf("inner"), leaf(strings.Repeat("packed", 20))
	one.Kind, three.Kind = 2, 3
	more := leaf("y")
	one.Packed, three.Packed = &more, &more
	out.Trees, out.Inner, out.Packed = []tree{two}, &one, &three
	return out
}

// TestTree writes and reads all kinds of values.
func TestTree(t *testing.T) {
	want := example()
	data, err := write([]byte("before"), &want)
	if err != nil || !bytes.HasPrefix(data, []byte("before")) {
		t.Fatal(err)
	}
	data = data[len("before"):]
	var got tree
	n, err := read(data, &got)
	if err != nil || n != len(data) {
		t.Fatalf("%d of %d bytes, %v", n, len(data), err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for i := range data {
		if _, err := read(data[:i], &tree{}); !errors.Is(err, Incomplete) {
			t.Errorf("%d of %d bytes: %v", i, len(data), err)
		}
	}
}

// TestRefused checks values that cannot be written.
func TestRefused(t *testing.T) {
	for name, change := range map[string]func(m *tree){
		"kind":     func(m *tree) { m.Kind = 16 },
		"small":    func(m *tree) { m.Small = 2048 },
		"fixed":    func(m *tree) { m.Fixed = "abcde" },
		"angle":    func(m *tree) { m.Angle = math.NaN() },
		"count":    func(m *tree) { m.Flags.Count = 8 },
		"name":     func(m *tree) { m.Name = "€" },
		"too long": func(m *tree) { m.Name = strings.Repeat("a", 201) },
		"line":     func(m *tree) { m.Line = "a\x00b" },
		"words":    func(m *tree) { m.Words = []string{"\xff"} },
		"chain":    func(m *tree) { m.Chain = []uint8{1} },
		"nested": func(m *tree) {
			for range maxDepth {
				x := *m
				m.Trees = []tree{x}
			}
		},
	} {
		m := leaf("")
		change(&m)
		if out, err := write([]byte{7}, &m); err == nil || len(out) != 1 {
			t.Errorf("%s: wrote %x, %v", name, out, err)
		}
	}
}

// TestHalf compares floats of 16 bits with known ones.
func TestHalf(t *testing.T) {
	for raw, want := range map[uint64]float64{0: 0, 1: 1.0 / (1 << 24), 0x3ff: 1023.0 / (1 << 24), 0x400: 1.0 / (1 << 14), 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x7c00: math.Inf(1)} {
		if got := fromHalf(raw); got != want || toHalf(want) != raw {
			t.Errorf("%#x is %v, want %v, which is %#x", raw, got, want, toHalf(want))
		}
	}
	for raw := range uint64(1 << 16) {
		if f := fromHalf(raw); f == f && toHalf(f) != raw {
			t.Fatalf("%#x is %v, which is %#x", raw, f, toHalf(f))
		}
	}
}

func TestArithmetic(t *testing.T) {
	for _, c := range [][4]int64{{7, 2, 3, 1}, {-7, 2, -4, 1}, {7, -2, -4, -1}, {7, 0, 0, 0}, {math.MinInt64, -1, math.MinInt64, 0}} {
		if q, m := divide(c[0], c[1]), modulo(c[0], c[1]); q != c[2] || m != c[3] {
			t.Errorf("%d and %d: %d, %d", c[0], c[1], q, m)
		}
	}
	if when(literal(2), truth(true), 5) != 1 || when(0, 1, 5) != 5 {
		t.Error("the condition is wrong")
	}
}

// TestJSON checks the types of bytes.
func TestJSON(t *testing.T) {
	type pair struct {
		B Hex
		L Uint8s
	}
	text, err := json.Marshal(pair{Hex{1, 255}, Uint8s{1, 255}})
	var again pair
	if err != nil || string(text) != `{"B":"01ff","L":[1,255]}` || json.Unmarshal(text, &again) != nil || again.B[1] != 255 || again.L[1] != 255 {
		t.Errorf("%s %v %v", text, again, err)
	}
}

// TestBits compares integers of all widths and places, in both orders, with one that a bit at a time gives.
func TestBits(t *testing.T) {
	b := []byte{0x12, 0x9a, 0xc3, 0x5f, 0xe1, 0x07, 0xb8, 0x64, 0x3d, 0xf0}
	for off := range 16 {
		for width := 1; width <= 64; width++ {
			little, big := uint64(0), uint64(0)
			for i := range width {
				at := off + i
				little |= uint64(b[at/8]>>(at%8)&1) << i
				big = big<<1 | uint64(b[at/8]>>(7-at%8)&1)
			}
			for _, order := range []bool{false, true} {
				want := little
				if order {
					want = big
				}
				out := make([]byte, len(b))
				if store(out, off, width, order, want); load(b, off, width, order) != want || load(out, off, width, order) != want {
					t.Fatalf("%d bits at %d: %#x, want %#x", width, off, load(b, off, width, order), want)
				}
			}
		}
	}
}

// FuzzTree reads any bytes: it never panics, makes no more than the bytes allow, and writes again what it read.
func FuzzTree(f *testing.F) {
	m := example()
	data, _ := write(nil, &m)
	f.Add(data)
	f.Add(bytes.Repeat([]byte{0xca, 0xfe, 0}, 40))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m, again tree
		n, err := read(data, &m)
		if err != nil {
			return
		}
		out, err := write(nil, &m)
		if err != nil {
			return // such as a word that begins with the end of the list
		}
		if k, err := read(out, &again); err != nil || k != len(out) {
			t.Fatalf("%x was read, %d bytes, and written as %x: %d, %v", data, n, out, k, err)
		}
	})
}

// page has the parts of a message that a tree lacks.
type page struct {
	Parts int
	Key   [2]byte
	N     uint8
	Text  string
	Lines []string
}

func (m *page) wire(x *coder) {
	if !x.block(3) {
		return
	}
	x.known(3, 0, number{bits: 8}, 9, "code")
	x.fixed(m.Key[:], 3, 1)
	if !x.part(&m.Parts, 1) || !x.block(1) {
		return
	}
	integer(x, &m.N, 1, 0, number{bits: 8}, "n")
	x.check(m.N <= 100, "n")
	x.text(&m.Text, utf8Text, x.amount(uint64(m.N)-2, "text"), 0, "text")
	for i := 0; next(x, &m.Lines, i, -1, "lines"); i++ {
		from := x.pos
		x.text(&m.Lines[i], utf8Text, -2, 0, "line")
		if !x.moved(from) {
			break
		}
	}
}

// TestPage writes and reads messages with optional parts, computed sizes and contents to the end.
func TestPage(t *testing.T) {
	for text, ok := range map[string]bool{
		"\x09ab": true, "\x09ab\x04hi": true, "\x09ab\x02one\x00two\x00": true, "\x09a": false, "\x08ab": false, "\x09ab\x01": false, "\x09ab\x65": false, "\x09ab\x04h": false, "\x09ab\x02one": false,
	} {
		var m page
		n, err := read([]byte(text), &m)
		if (err == nil) != ok || ok && n != len(text) {
			t.Errorf("%q: %d, %v", text, n, err)
		}
		if out, err := write(nil, &m); ok && (err != nil || string(out) != text) {
			t.Errorf("%q is written as %q, %v", text, out, err)
		}
	}
}
