package codec_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/codec/value"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tera"
)

// failer is a test, drawn or not.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// columnTable knows the columns of a program as paths: what a leaf's path is made of.
type columnTable struct {
	c *columns.Set
	p *codec.Program
}

// lists are the lists around a field, from the outside.
func (x columnTable) lists(field uint16) (out []uint16) {
	for f := x.p.Fields[field].Parent; f >= 0; f = x.p.Fields[f].Parent {
		if _, ok := x.p.Fields[f].Schema.Type.(*schema.List); ok {
			out = append([]uint16{uint16(f)}, out...)
		}
	}
	return out
}

// listSize is the number of elements that a list has in a row.
func listSize(c *columns.Set, list uint16, row int) int {
	first := c.First(list)
	if row+1 >= len(first) {
		return 0
	}
	return int(first[row+1] - first[row])
}

// rows calls do with every row of a field in a message, and the indexes of the elements it is in, from the outside.
func (x columnTable) rows(field uint16, message int, do func(row int, index []int)) {
	lists := x.lists(field)
	var walk func(level, row int, index []int)
	walk = func(level, row int, index []int) {
		if level == len(lists) {
			do(row, index)
			return
		}
		first := x.c.First(lists[level])
		from := int(first[row])
		for e := from; e < int(first[row+1]); e++ {
			walk(level+1, e, append(index[:len(index):len(index)], e-from))
		}
	}
	walk(0, message, nil)
}

// path is that of a field in elements: "a[0].b[2].c".
func (x columnTable) path(field uint16, index []int) string {
	var chain []uint16
	for f := int(field); f >= 0; f = x.p.Fields[f].Parent {
		chain = append(chain, uint16(f))
	}
	var out strings.Builder
	for _, f := range slices.Backward(chain) {
		info := &x.p.Fields[f]
		if info.InList {
			fmt.Fprintf(&out, "[%d]", index[0])
			index = index[1:]
		}
		if info.Name != "" { // the value of a bare element has none
			if out.Len() > 0 {
				out.WriteByte('.')
			}
			out.WriteString(info.Name)
		}
	}
	return out.String()
}

// cell is a value in a message: where it is said to be, its bits, and its place.
type cell struct {
	field uint16
	path  string
}

type held struct {
	raw      uint64
	off, len uint32 // of texts and bytes: bytes from the start of the message
}

func (x columnTable) unit(field uint16) uint32 {
	if t, ok := x.p.Fields[field].Schema.Type.(*schema.Text); ok {
		return uint32(t.Charset.Unit())
	}
	return 1
}

// fixedBytes is how many bytes a text of fixed size has before its first zero.
func fixedBytes(b []byte, t *schema.Text) uint32 {
	if t.Min != nil && t.Min.Uint == uint64(t.N) {
		return uint32(len(b)) // all of it counts
	}
	u := t.Charset.Unit()
	for i := 0; i+u <= len(b); i += u {
		if !slices.ContainsFunc(b[i:i+u], func(x byte) bool { return x != 0 }) {
			return uint32(i)
		}
	}
	return uint32(len(b))
}

// fromLeaves is what Decode and AppendLeaves say of a message.
func (x columnTable) fromLeaves(r *codec.Record) map[cell]held {
	out := map[cell]held{}
	nested := inCalls(r)
	for _, l := range r.AppendLeaves(nil) {
		if l.Role != codec.RoleValue || l.Field == codec.NoField || nested[l.Node] || isAbsent(r, l) {
			continue
		}
		at := cell{l.Field, string(r.AppendPath(nil, l.Field, int32(l.Node), l.Elem))}
		switch t := x.p.Fields[l.Field].Schema.Type.(type) {
		case *schema.Number, *schema.Bitfield:
			out[at] = held{raw: l.Raw}
		case *schema.Text:
			if t.Size == schema.Fixed {
				out[at] = held{off: l.Off / 8, len: fixedBytes(r.Data[l.Off/8:l.Range().End()/8], t)}
			} else {
				out[at] = held{off: l.Off / 8, len: uint32(l.Raw) * x.unit(l.Field)}
			}
		case *schema.Blob:
			out[at] = held{off: l.Off / 8, len: l.Len / 8}
		}
	}
	return out
}

// fromColumns is what the columns say of a message.
func (x columnTable) fromColumns(t failer, message int, at columns.Span) map[cell]held {
	out := map[cell]held{}
	for i := range x.p.Fields {
		field := uint16(i)
		numbers, spans := x.c.Numbers(field), x.c.Spans(field)
		if numbers == nil && spans == nil {
			continue
		}
		x.rows(field, message, func(row int, index []int) {
			if got := x.c.Message(field, row); got != message {
				t.Fatalf("row %d of field %d is in message %d, want %d", row, field, got, message)
			}
			if !x.c.Has(field, row) {
				return
			}
			where := cell{field, x.path(field, index)}
			if numbers != nil {
				out[where] = held{raw: numbers[row]}
				return
			}
			s := spans[row]
			if s.Off < at.Off || s.Off+s.Len > at.Off+at.Len {
				t.Fatalf("%s is at %+v, outside of its message at %+v", where.path, s, at)
			}
			out[where] = held{off: s.Off - at.Off, len: s.Len}
		})
	}
	return out
}

// packed are frames in one piece of memory, not in their order, with other bytes between them and behind the last.
func packed(frames [][]byte) (data []byte, messages []columns.Span) {
	messages = make([]columns.Span, len(frames))
	for i := range frames {
		k := len(frames) - 1 - i
		data = append(data, []byte{0xa5, 0xff, 0, 0x5a}[:i%5%4]...)
		messages[k] = columns.Span{Off: uint32(len(data)), Len: uint32(len(frames[k]))}
		data = append(data, frames[k]...)
	}
	return append(data, bytes.Repeat([]byte{0xff}, len(frames)%9)...), messages
}

// sameColumns checks that the columns of some messages say what Decode, AppendLeaves and Cursors say of each.
func sameColumns(t failer, p *codec.Program, c *columns.Set, frames [][]byte, messages []columns.Span) {
	t.Helper()
	if c.N != len(frames) || len(c.Status) != len(frames) {
		t.Fatalf("%d rows, %d statuses of %d messages", c.N, len(c.Status), len(frames))
	}
	x := columnTable{c, p}
	var rec codec.Record
	end := uint32(0)
	for i, f := range frames {
		p.Decode(&rec, f)
		at := messages[i]
		if p.Packed() { // a copy, with decompressed contents
			at = columns.Span{Off: end, Len: uint32(len(rec.Data))}
			end += at.Len
		}
		if c.Status[i] != rec.Status() {
			t.Fatalf("message %d, %x: %v, want %v", i, f, c.Status[i], rec.Status())
		}
		got, want := x.fromColumns(t, i, at), x.fromLeaves(&rec)
		for at, w := range want {
			if g, ok := got[at]; !ok || g != w {
				t.Fatalf("message %d, %x: field %d, %s: got %+v (%v), want %+v", i, f, at.field, at.path, g, ok, w)
			}
		}
		for at, g := range got {
			if _, ok := want[at]; !ok && (g.raw != 0 || g.len != 0) { // contents without bytes have no leaf
				t.Fatalf("message %d, %x: field %d, %s: got %+v, which no leaf has", i, f, at.field, at.path, g)
			}
		}
		for k := range p.Fields {
			x.sameAsCursor(t, i, uint16(k), &rec)
		}
	}
}

// sameAsCursor compares the values of a field in a message one by one with those that a Cursor finds: numbers of elements, texts and
// bytes.
func (x columnTable) sameAsCursor(t failer, message int, field uint16, rec *codec.Record) {
	t.Helper()
	isList, isSpan := x.c.First(field) != nil, x.c.Spans(field) != nil
	site, ok := x.p.Site(field)
	if !ok || !isList && !isSpan {
		return
	}
	var cur codec.Cursor
	var got, want []byte
	cur.Start(rec, site)
	x.rows(field, message, func(row int, index []int) {
		if !x.c.Has(field, row) {
			return
		}
		if !cur.Next() {
			t.Fatalf("message %d, %x: %s is in the columns alone", message, rec.Data, x.path(field, index))
		}
		if isList {
			if n := listSize(x.c, field, row); n != int(cur.Raw) {
				t.Fatalf("message %d, %x: list %s has %d elements, want %d", message, rec.Data, x.path(field, index), n, cur.Raw)
			}
			return
		}
		b, ok := x.c.Bytes(field, row)
		var isText bool
		if got, isText = x.c.AppendText(got[:0], field, row); isText {
			want = cur.AppendText(want[:0])
		}
		if !ok || !bytes.Equal(b, cur.Bytes()) || !bytes.Equal(got, want) {
			t.Fatalf("message %d, %x: %s is %x, as text %q, want %x, %q", message, rec.Data, x.path(field, index), b, got, cur.Bytes(), want)
		}
	})
	if cur.Next() {
		t.Fatalf("message %d, %x: a value of field %d is not in the columns", message, rec.Data, field)
	}
}

// checkColumns fills columns with messages in several ways.
func checkColumns(t failer, p *codec.Program, frames [][]byte) {
	t.Helper()
	var c, some columns.Set
	data, messages := packed(frames)
	if n := c.Append(p, data, messages); n != len(frames) {
		t.Fatalf("%d of %d messages", n, len(frames))
	}
	sameColumns(t, p, &c, frames, messages)
	c.Reset()
	for i := range messages { // one by one, in memory that held other values
		c.Append(p, data, messages[i:i+1])
	}
	sameColumns(t, p, &c, frames, messages)
	for i := range p.Fields { // each field alone
		field := uint16(i)
		some.Select(p, field)
		some.Append(p, data, messages)
		if !slices.Equal(some.Numbers(field), c.Numbers(field)) || !slices.Equal(some.Spans(field), c.Spans(field)) ||
			!slices.Equal(some.First(field), c.First(field)) || !slices.Equal(some.Status, c.Status) || some.Rows(field) != c.Rows(field) {
			t.Fatalf("field %d alone is not what it is among all", i)
		}
		for row := range c.Rows(field) {
			if some.Has(field, row) != c.Has(field, row) {
				t.Fatalf("field %d alone, row %d: there %v, among all %v", i, row, some.Has(field, row), c.Has(field, row))
			}
		}
	}
}

// damaged are a message, and what is left of it when it is cut off or changed.
func damaged(r *rand.Rand, data []byte) [][]byte {
	out := [][]byte{data, data}
	if len(data) == 0 {
		return out
	}
	for range 4 {
		out = append(out, data[:r.IntN(len(data))])
		changed := bytes.Clone(data)
		for range 1 + r.IntN(3) {
			changed[r.IntN(len(data))] = byte(r.Uint32())
		}
		cut := bytes.Clone(data[:r.IntN(len(data))])
		if len(cut) >= 2 {
			sized(cut) // the frame's length agrees
		}
		out = append(out, changed, cut, data)
	}
	return out
}

// TestColumnsOfShapes compares columns of the benchmarks' messages, which are the quick ones.
func TestColumnsOfShapes(t *testing.T) {
	for _, s := range shapes(t) {
		if s.name == "X" {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 8))
			p := s.programs[codeOf(s.messages[0])]
			frames := slices.Clone(s.messages[:300])
			for _, f := range s.messages[300:320] {
				frames = append(frames, damaged(r, f)...)
			}
			frames = append(frames, s.messages[320:]...)
			checkColumns(t, p, frames[:min(len(frames), 1200)])
		})
	}
}

// TestColumnsOfPrograms does it for messages of all families, right and wrong.
func TestColumnsOfPrograms(t *testing.T) {
	for i, p := range fuzzPrograms() {
		t.Run(fmt.Sprintf("%d_%s", i, p.Message.Name), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(i), 9))
			var frames [][]byte
			for _, e := range value.Examples(p, 6, uint64(i), 4660) {
				frames = append(frames, damaged(r, e.Data)...)
			}
			for range 20 {
				random := make([]byte, r.IntN(60))
				for k := range random {
					random[k] = byte(r.Uint32() >> (r.Uint32() % 20))
				}
				if len(random) > 2 {
					sized(random)
				}
				frames = append(frames, random)
			}
			checkColumns(t, p, frames)
		})
	}
}

// TestColumnsOfAnyDefinition does it for definitions and messages that are drawn.
func TestColumnsOfAnyDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d definition
		draw := d.fieldsAt(t, 0)
		s, ds := tera.Parse([]*source.File{source.New("C_ANY.1.def", d.text.String())}, schema.Options{})
		if ds.HasErrors() {
			t.Fatalf("%s\n%s", d.text.String(), ds.Render())
		}
		p, err := codec.Compile(s.Messages[0])
		if err != nil {
			t.Fatal(err)
		}
		var in, out codec.Record
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var frames [][]byte
		for range rapid.IntRange(1, 3).Draw(t, "messages") {
			if err := value.ParseJSON(&in, p, []byte(draw(t))); err != nil {
				t.Fatal(err)
			}
			if err := p.Encode(&out, &in); err != nil {
				t.Fatal(err)
			}
			frames = append(frames, damaged(r, bytes.Clone(out.Data))...)
		}
		checkColumns(t, p, frames)
	})
}

// TestCorporaColumnsOfVectors does it for real messages of TERA.
func TestCorporaColumnsOfVectors(t *testing.T) { corpora.Run(t, testColumnsOfVectors) }

func testColumnsOfVectors(t *testing.T, c *corpora.Corpus) {
	byDef := map[*codec.Program][][]byte{}
	vectors(t, c, func(_ int, v vector, p *codec.Program) {
		data, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatal(err)
		}
		byDef[p] = append(byDef[p], data)
	})
	r := rand.New(rand.NewPCG(3, 4))
	for p, messages := range byDef {
		var frames [][]byte
		for i, data := range messages {
			frames = append(frames, data, data[:r.IntN(len(data)+1)])
			if i%4 == 0 && len(data) < 4000 {
				frames = append(frames, damaged(r, data)...)
			}
		}
		checkColumns(t, p, frames)
	}
}

// FuzzColumns reads a message, what is left of it when it is cut, and the message again.
func FuzzColumns(f *testing.F) {
	seeds(f, func(which byte, data []byte) { f.Add(which, data, uint16(len(data)/2)) })
	f.Fuzz(func(t *testing.T, which byte, data []byte, cut uint16) {
		programs := fuzzPrograms()
		p := programs[int(which)%len(programs)]
		checkColumns(t, p, [][]byte{data, data[:min(int(cut), len(data))], data, data[min(int(cut), len(data)):]})
	})
}
