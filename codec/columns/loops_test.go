package columns

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// TestColumnLoops compares the quick loops of columns with the safe ones, on random fields at random places.
func TestColumnLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	widths := []uint32{8, 16, 32, 64, 3, 24, 61}
	field := func(size uint32, bits uint32) fillIn {
		off := uint32(r.IntN(int(size*8 - bits + 1)))
		if r.IntN(4) > 0 {
			off &^= 7
		}
		it := codec.Item{Off: off, Bits: bits, Order: schema.Little, Peek: codec.NewPeek(off, bits, schema.Little, size*8)}
		if off%8 == 0 && bits%8 == 0 && r.IntN(4) == 0 {
			it.Order = schema.Big
			it.Peek = codec.NewPeek(off, bits, schema.Big, size*8)
		}
		return newFillIn(&it, &codec.Block{Bits: size * 8})
	}
	for range 20_000 {
		size := uint32(8 + r.IntN(30))
		rows := make([]Span, r.IntN(9))
		data := make([]byte, int(size)+r.IntN(200))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		for i := range rows {
			rows[i] = Span{uint32(r.IntN(len(data) - int(size) + 1)), size}
		}
		width := widths[r.IntN(4)]
		var four [4]fillIn
		var quick, safe [4][]uint64
		for i := range quick {
			quick[i], safe[i] = make([]uint64, len(rows)), make([]uint64, len(rows))
		}
		for i := range four { // of one width, as numbers has it
			for four[i].how < load8 {
				four[i] = field(size, width)
			}
			fillRowsSafe(safe[i], data, rows, &four[i])
		}
		fillFour(&quick, data, rows, &four)
		sameLoops(t, quick[:], safe[:])
		fillTwo(quick[0], quick[1], data, rows, &four[0], &four[1])
		sameLoops(t, quick[:], safe[:])

		any := field(size, widths[r.IntN(len(widths))])
		fillRows(quick[0], data, rows, &any)
		fillRowsSafe(safe[0], data, rows, &any)
		for i, row := range rows {
			if want := codec.LoadBits(data[row.Off:][:size], any.off, any.bits, any.order); safe[0][i] != want {
				t.Fatalf("%+v: %x, want %x", any, safe[0][i], want)
			}
		}
		sameLoops(t, quick[:], safe[:])

		parts, n := make([]located, r.IntN(5)), uint32(0)
		for i := range parts {
			parts[i].Units = uint32(r.IntN(min(11, len(data)/int(size)+1)))
			parts[i].Off = uint32(r.IntN(len(data) - int(parts[i].Units*size) + 1))
			n += parts[i].Units
		}
		a, b := make([]uint64, n), make([]uint64, n)
		fillElems(a, data, parts, size, &any)
		fillElemsSafe(b, data, parts, size, &any)
		sameLoops(t, [][]uint64{a}, [][]uint64{b})
	}
}

func sameLoops(t *testing.T, quick, safe [][]uint64) {
	t.Helper()
	for i := range safe {
		if !slices.Equal(quick[i], safe[i]) {
			t.Fatalf("column %d:\n got %x\nwant %x", i, quick[i], safe[i])
		}
	}
}

// TestColumnHeads compares the quick validation of messages with the safe one.
func TestColumnHeads(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 7))
	for range 20_000 {
		data := make([]byte, r.IntN(400))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		rows := make([]Span, r.IntN(9))
		for i := range rows {
			rows[i] = Span{uint32(r.IntN(len(data) + 5)), uint32(r.IntN(40))}
			if r.IntN(20) == 0 {
				rows[i] = Span{r.Uint32(), r.Uint32()}
			}
			if at := rows[i].Off; uint64(at)+2 <= uint64(len(data)) && r.IntN(8) > 0 {
				binary.LittleEndian.PutUint16(data[at:], uint16(r.IntN(int(min(rows[i].Len, 1000))+2)))
			}
		}
		head := uint32(2 + r.IntN(6))
		quick, safe := make([]uint32, len(rows)), make([]uint32, len(rows))
		n, want := heads16(quick, data, rows, head), heads16Safe(safe, data, rows, head)
		if n != want || !slices.Equal(quick[:n], safe[:n]) {
			t.Fatalf("%+v in %x: got %d %v, want %d %v", rows, data, n, quick, want, safe)
		}
	}
	long := make([]byte, 40_000) // a run is limited by the bytes of its messages
	binary.LittleEndian.PutUint16(long, uint16(maxRunBytes/2))
	rows := []Span{{0, 40_000}, {0, 40_000}, {0, 40_000}}
	if n, want := heads16(make([]uint32, 3), long, rows, 2), heads16Safe(make([]uint32, 3), long, rows, 2); n != 2 || want != 2 {
		t.Errorf("%d and %d messages in a run, want 2", n, want)
	}
}

// TestChained compares both forms of the reading of a chain.
func TestChained(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 8))
	right := 0
	for range 20_000 {
		each, count, at := 4+r.IntN(20), 1+r.IntN(12), uint32(r.IntN(500))
		next := r.IntN(each - 1)
		data := make([]byte, each*count)
		for i := range count {
			binary.LittleEndian.PutUint16(data[i*each+next:], uint16(int(at)+(i+1)*each))
		}
		if r.IntN(2) == 0 {
			data[r.IntN(len(data))]++
		}
		got, want := chained(data, at, each, next), chainedSafe(data, at, each, next)
		if got != want {
			t.Fatalf("%x at %d, elements of %d, next at %d: %v, want %v", data, at, each, next, got, want)
		}
		if got {
			right++
		}
	}
	if right < 5000 || right > 19_000 {
		t.Errorf("%d chains of 20000 were right", right)
	}
}

// TestQuickLoopsRefuse holds that the loops without checks look before they read.
func TestQuickLoopsRefuse(t *testing.T) {
	f := fillIn{how: load32, at: 2}
	one, out := []Span{{1, 6}}, make([]uint64, 4)
	short := make([]byte, 6) // one byte less than is read
	for name, do := range map[string]func(){
		"rows":      func() { fillRows(out[:1], short, one, &f) },
		"far":       func() { fillRows(out[:1], short, []Span{{1 << 31, 6}}, &f) },
		"two":       func() { fillTwo(out[:1], out[1:2], short, one, &fillIn{how: load8}, &f) },
		"four":      func() { fillFour(&[4][]uint64{out, out, out, out}, short, one, &[4]fillIn{f, f, f, f}) },
		"elements":  func() { fillElems(out, short, []located{{1, 1}}, 6, &f) },
		"room":      func() { fillElems(out[:1], make([]byte, 90), []located{{0, 2}}, 6, &f) },
		"no column": func() { fillRows(nil, make([]byte, 90), one, &f) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: filled", name)
				}
			}()
			do()
		}()
	}
}

// TestFullColumns holds that columns take no more than they have room for, and go on after Reset.
func TestFullColumns(t *testing.T) {
	num := &schema.Number{Kind: schema.Unsigned, Bits: 16}
	f := &schema.Field{Name: "x", Type: num}
	p, err := codec.Compile(&schema.Message{Name: "M", Body: &schema.Struct{Fields: []*schema.Field{f}, Wire: []schema.Item{{Kind: schema.Value, Field: f}}}})
	if err != nil {
		t.Fatal(err)
	}
	var c Set
	c.SelectAll(p)
	c.most = 700
	messages := make([]Span, 2000)
	for i := range messages {
		messages[i].Len = 2
	}
	data := []byte{1, 2}
	for done, rounds := 0, 0; done < len(messages); rounds++ {
		n := c.Append(p, data, messages[done:])
		if n == 0 || n >= 700+maxRun || c.N != n || len(c.Numbers(0)) != n {
			t.Fatalf("%d messages, %d in columns, after %d", n, c.N, done)
		}
		if k := c.Append(p, data, messages[done:]); k != 0 && done+n < len(messages) {
			t.Fatalf("%d more messages in full columns", k)
		}
		done += n
		c.Reset()
		if rounds > 10 {
			t.Fatal("no end")
		}
	}
}
