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
	b := x.block(24)
	if b == nil {
		return
	}
	x.constant(b, 0, "\xca\xfe")
	kind := x.integer(b, 16, number{bits: 4}, uint64(m.Kind), "kind")
	small := x.integer(b, 20, number{bits: 12, signed: true}, uint64(m.Small), "small")
	ratio := x.raw(b, 32, number{bits: 32, big: true}, uint64(math.Float32bits(m.Ratio)), "ratio")
	half := x.float(b, 64, number{bits: 16}, float64(m.Half), 1, "half")
	angle := x.raw(b, 80, number{bits: 16}, x.units(m.Angle*(65536/(2*math.Pi)), number{bits: 16}, true, false, "angle"), "angle")
	deep := x.raw(b, 96, number{bits: 8}, bit(m.Deep), "deep")
	x.fixedText(&m.Fixed, latin1, b[13:17], false, 0, "fixed")
	flags := flag(x.bitsOf(uint64(m.Flags.Value), 4, 3, uint64(m.Flags.Count), "count"), 0x300, m.On)
	flags = x.raw(b, 136, number{bits: 16}, flags, "flags")
	n := x.count(b, 152, number{bits: 8}, latin1.units(m.Name), 0, 200, false, "name")
	w := x.count(b, 160, number{bits: 8}, utf16LE.units(m.Wide), 0, 200, false, "wide")
	inner := x.size(b, 176, number{bits: 16, big: true}, "inner")
	size := x.integer(nil, 0, number{bits: 64, form: zigzag, signed: true}, uint64(m.Size), "size")
	if !x.writing {
		m.Kind, m.Small, m.Ratio, m.Half = uint8(kind), int16(small), math.Float32frombits(uint32(ratio)), float32(half)
		m.Angle, m.Deep, m.Size = float64(angle)*(2*math.Pi/65536), deep != 0, int64(size)
		m.Flags.Value, m.Flags.Count, m.On = uint16(flags), uint16(flags>>4&7), flags&0x300 == 0x300
	}
	x.text(&m.Name, latin1, int(n), 0, "name")
	x.text(&m.Wide, utf16LE, int(w), 0, "wide")
	x.text(&m.Line, utf8Text, -2, 0, "line")
	data := x.count(nil, 0, number{bits: 32, form: vlq, signed: true}, unless(len(m.Data), m.Data != nil), 0, 1<<20, true, "data")
	if int64(data) != -1 {
		x.blob(&m.Data, int(data), "data")
	}
	for i := 0; ended(x, &m.Words, i, 0xff, "words"); i++ {
		from := len(x.b)
		x.text(&m.Words[i], utf8Text, -2, '\n', "word")
		x.begin(from, 0xff, "words")
	}
	trees := x.count(nil, 0, number{bits: 32, form: leb}, len(m.Trees), 0, 1<<20, false, "trees")
	for i := range list(x, &m.Trees, int(trees), 24, "trees") {
		m.Trees[i].wireTree(x)
	}
	for i, more := 0, true; more && next(x, &m.Chain, i, -2, "chain"); i++ {
		link := x.integer(nil, 0, number{bits: 8, form: sleb}, uint64(m.Chain[i]), "link")
		if !x.writing {
			m.Chain[i] = uint8(link)
		}
		more = x.whole(i, len(m.Chain), link != 0, "chain")
	}
	x.within(inner, number{bits: 16, big: true}, m.Inner != nil, 0, "inner", func() { value(x, &m.Inner).wireTree(x) })
	switch kind {
	case 1:
		size := x.size(nil, 0, number{bits: 32, form: leb}, "packed")
		x.within(size, number{bits: 32, form: leb}, m.Packed != nil, 0, "packed", func() {
			pack(x, packedZlib, func() { value(x, &m.Packed).wireTree(x) })
		})
	case 2:
		x.align(8)
		pack(x, packedGzip, func() { value(x, &m.Packed).wireTree(x) })
	case 3:
		pack(x, packedDeflate, func() { value(x, &m.Packed).wireTree(x) })
	}
	x.leave()
}

// wired is a message.
type wired interface{ wire(x *coder) }

func read(data []byte, m wired) (n int, err error) {
	x := reading(data, 0)
	m.wire(&x)
	return x.wasRead()
}

func write(dst []byte, m wired) ([]byte, error) {
	x := writing(dst)
	m.wire(&x)
	return x.wrote(dst)
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
	x.known(number{bits: 14, form: leb}, 9, "code")
	b := x.block(2)
	if b == nil {
		return
	}
	if x.writing {
		copy(b, m.Key[:])
	} else {
		copy(m.Key[:], b)
	}
	if !x.part(&m.Parts, 1) {
		return
	}
	if b = x.block(1); b == nil {
		return
	}
	n := x.integer(b, 0, number{bits: 8}, uint64(m.N), "n")
	if !x.writing {
		m.N = uint8(n)
	}
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

// frame has a header, contents at offsets, chains whose elements alternate, and elements of one size.
type frame struct {
	Text   string
	Points [][2]uint8
	One    []uint8
	Other  []string
}

func (m *frame) wire(x *coder) {
	b := x.block(17)
	if b == nil {
		return
	}
	var text, points, one, other, n1, n2 uint64
	if x.writing {
		b[2] = 7
		text, points, one, other = uint64(8*x.pos+24), uint64(len(m.Points)), uint64(8*x.pos+56), uint64(8*x.pos+88)
		n1, n2 = uint64(len(m.One)), uint64(len(m.Other))
		store(b, 40, 16, false, points)
		store(b, 72, 16, false, n1)
		store(b, 104, 16, true, n2)
	} else {
		text, points, one, other = load(b, 24, 16, false), load(b, 40, 16, false), load(b, 56, 16, false), load(b, 88, 16, false)
		n1, n2 = load(b, 72, 16, false), load(b, 104, 16, true)
	}
	x.counted(points, 0, 9, "points")
	x.need(points, 0, 2)
	if !x.sized() {
		return
	}
	for i, b := 0, elems(x, &m.Points, int(points), 2, "points"); len(b) > 0; i, b = i+1, b[2:] {
		if x.writing {
			copy(b, m.Points[i][:])
		} else {
			copy(m.Points[i][:], b)
		}
	}
	if back := x.seek(text, 16, false, text == 0, "text"); back >= 0 {
		x.text(&m.Text, utf8Text, -2, 0, "text")
		x.back(back)
	}
	here, next := place{0, 16, false}, place{16, 16, false}
	c1, c2 := x.chain(one, place{24, 16, false}, n1, here, next, "one"), x.chain(other, place{56, 16, false}, n2, place{}, next, "other")
	for i, more := 0, true; more; i++ {
		more = false
		if link(x, &m.One, &c1, i) {
			b := x.block(5)
			if b == nil {
				return
			}
			if x.writing {
				b[4] = m.One[i]
			} else {
				m.One[i] = b[4]
			}
			x.linked(&c1)
			more = true
		}
		if link(x, &m.Other, &c2, i) {
			x.block(4)
			x.text(&m.Other[i], utf8Text, -2, 0, "other")
			x.linked(&c2)
			more = true
		}
	}
}

func (m *frame) read(data []byte) (n int, err error) {
	x := reading(data, 3)
	if !x.frame(0, 16, false) || !x.code(16, 8, false, 7) || !x.measure(17) {
		return 0, x.err
	}
	m.wire(&x)
	return x.wasRead()
}

func (m *frame) write(dst []byte) ([]byte, error) {
	x := writing(dst)
	m.wire(&x)
	x.length(0, 16, false)
	return x.wrote(dst)
}

// TestFrame writes and reads messages with offsets, and with each byte changed.
func TestFrame(t *testing.T) {
	for _, want := range []frame{{}, {Text: "text", Points: [][2]uint8{{1, 2}, {3, 4}}, One: []uint8{5, 6, 7}, Other: []string{"a", ""}}} {
		data, err := want.write([]byte("before"))
		data = data[len("before"):]
		var got frame
		n, err2 := got.read(append(bytes.Clone(data), 1, 2, 3))
		if err != nil || err2 != nil || n != len(data) || len(want.One) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%x: %d, %v, %v\ngot  %+v\nwant %+v", data, n, err, err2, got, want)
		}
		for i := range data {
			if _, err := new(frame).read(data[:i]); !errors.Is(err, Incomplete) {
				t.Errorf("%d of %d bytes: %v", i, len(data), err)
			}
			for v := range 256 {
				other := bytes.Clone(data)
				other[i] = byte(v)
				new(frame).read(other) // must not panic
			}
		}
	}
	big := frame{Text: strings.Repeat("long", 1<<14), One: []uint8{1}}
	if out, err := big.write(nil); err == nil {
		t.Errorf("%d bytes are written", len(out))
	}
}

// TestChains reads elements in any order, but none twice, and none outside.
func TestChains(t *testing.T) {
	data, _ := (&frame{One: []uint8{5, 6, 7}}).write(nil)
	if len(data) != 18+3*5 {
		t.Fatalf("%x", data)
	}
	for nexts, ok := range map[[4]byte]bool{ // of the list and of its elements
		{18, 23, 28, 0}: true, {28, 0, 18, 23}: true, {23, 0, 28, 18}: true, {23, 28, 18, 0}: true, {28, 28, 0, 18}: false,
		{18, 23, 0, 0}: false, {18, 23, 200, 0}: false, {2, 23, 28, 0}: false, {18, 23, 18, 0}: false, {18, 18, 0, 0}: false, {18, 28, 0, 23}: true,
	} {
		data[7], data[20], data[25], data[30] = nexts[0], nexts[1], nexts[2], nexts[3]
		if _, err := new(frame).read(data); (err == nil) != ok {
			t.Errorf("%v: %v", nexts, err)
		}
	}
}

// TestExpressions has the functions of expressions at their edges.
func TestExpressions(t *testing.T) {
	for i, c := range []struct{ got, want any }{
		{sliceBytes("abcd", 1, 3), "bc"},
		{sliceBytes("abcd", -1, 9), "abcd"},
		{sliceBytes("abcd", 3, 1), ""},
		{sliceText("aébc", 1, 3), "éb"},
		{sliceText("aébc", -1, 9), "aébc"},
		{sliceText("aébc", 3, 1), ""},
		{sliceText("", 0, 1), ""},
		{reverseBytes("abc"), "cba"},
		{reverseBytes(""), ""},
		{reverseText("aéb"), "béa"},
		{reverseText("a\xffb"), "b\xffa"},
		{characters("a\xe9", latin1), "aé"},
		{textLength("aé"), int64(2)},
		{textInt("-12", 10), int64(-12)},
		{textInt("ff", 16), int64(255)},
		{textInt("x", 10), int64(0)},
		{textInt("1", 99), int64(0)},
		{floatModulo(5.5, 2), 1.5},
		{floatModulo(-5.5, 2), 0.5},
		{floatModulo(5.5, -2), -0.5},
		{floatModulo(4, -2), 0.0},
		{floatInt(2.9), int64(2)},
		{floatInt(-2.9), int64(-2)},
		{floatInt(1e300), int64(math.MaxInt64)},
		{floatInt(-1e300), int64(math.MinInt64)},
		{floatInt(math.NaN()), int64(0)},
		{unless(3, true), 3},
		{unless(3, false) < 0, true},
		{(&coder{}).unsure(true), false},
		{(&coder{writing: true}).unsure(true), true},
		{(&coder{}).unsure(true), false},
		{(&coder{writing: true}).unsure(true), true},
		{(&coder{writing: true}).unsure(false), false},
	} {
		if c.got != c.want {
			t.Errorf("%d: %#v, want %#v", i, c.got, c.want)
		}
	}
}
