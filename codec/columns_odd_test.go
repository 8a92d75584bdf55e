package codec_test

import (
	"encoding/binary"
	"testing"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/defs/schema"
)

// TestColumnsOfOddMessages reads messages that are nearly simple: what the quick run leaves out must be judged by Decode.
func TestColumnsOfOddMessages(t *testing.T) {
	text := field("s", &schema.Text{Charset: schema.Latin1, Extent: schema.Extent{Size: schema.Counted}})
	flag := field("b", &schema.Number{Bits: 8, Max: &schema.Limit{Uint: 1}})
	x := field("x", unsigned(8))

	small := record(text)
	small.Wire = append(append(header(), schema.Item{Kind: schema.Count, Field: text, Bits: 8}), values(text)...)
	wide := field("w", unsigned(32))
	checked := record(wide, flag)
	checked.Wire = append(header(), values(wide, flag)...)
	checkedText := record(flag, text)
	checkedText.Wire = append(append(header(), schema.Item{Kind: schema.Count, Field: text, Bits: 32}), values(flag, text)...)
	twice := record(x)
	twice.Wire = append(append(header(), values(x)...), values(x)...)

	elem := &schema.Struct{Fields: []*schema.Field{x}, Wire: append([]schema.Item{{Kind: schema.Here, Bits: 16}, {Kind: schema.Next, Bits: 16}}, values(x)...)}
	linked := field("l", &schema.List{Elem: elem, Linked: true, Extent: schema.Extent{Size: schema.Counted}})
	bare := record(linked) // without a header: place 0 is inside the message
	bare.Wire = append([]schema.Item{{Kind: schema.Count, Field: linked, Bits: 16}, {Kind: schema.Offset, Field: linked, Bits: 16}, {Kind: schema.Pad, Bits: 32}}, values(linked)...)

	for name, c := range map[string]struct {
		body   *schema.Struct
		frames [][]byte
	}{
		"shorter than a load": {small, [][]byte{{7, 0, 1, 0, 2, 'a', 'b'}, {6, 0, 1, 0, 2, 'a'}, {5, 0, 1, 0, 0}, {8, 0, 1, 0, 3, 'a', 'b', 'c'}}},
		"checked":             {checked, [][]byte{{9, 0, 1, 0, 7, 7, 7, 7, 1}, {9, 0, 1, 0, 7, 7, 7, 7, 2}, {9, 0, 1, 0, 7, 7, 7, 7, 0}}},
		"checked, and a text": {checkedText, [][]byte{{10, 0, 1, 0, 1, 0, 0, 0, 1, 'a'}, {10, 0, 1, 0, 1, 0, 0, 0, 2, 'a'}, {10, 0, 1, 0, 1, 0, 0, 0, 0, 'a'}, {10, 0, 1, 0, 2, 0, 0, 0, 0, 'a'}}},
		"twice":               {twice, [][]byte{{6, 0, 1, 0, 1, 2}, {5, 0, 1, 0, 1}, {6, 0, 1, 0, 3, 4}}},
		"from the start":      {bare, [][]byte{{1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 0, 8, 0, 0, 0, 0, 0, 8, 0, 0, 0, 5}, {1, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 5}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := program(t, message("m", c.body))
			for i := range c.frames { // at the end of the data
				var cols columns.Set
				one := c.frames[i : i+1]
				span := []columns.Span{{Len: uint32(len(one[0]))}}
				cols.Append(p, one[0], span)
				sameColumns(t, p, &cols, one, span)
			}
			checkColumns(t, p, c.frames)
		})
	}
}

// TestColumnsOfSharedElements reads a message whose many lists are the same elements: more than Decode takes.
func TestColumnsOfSharedElements(t *testing.T) {
	const lists, size = 40, 60_000
	var fields []*schema.Field
	var wire []schema.Item
	for range lists {
		x := field("x", unsigned(64))
		elem := &schema.Struct{Fields: []*schema.Field{x}, Wire: append([]schema.Item{{Kind: schema.Here, Bits: 16}, {Kind: schema.Next, Bits: 16}}, values(x)...)}
		f := field("l", &schema.List{Elem: elem, Linked: true, Extent: schema.Extent{Size: schema.Counted}})
		f.Name += string(rune('A' + len(fields)))
		fields = append(fields, f)
		wire = append(wire, schema.Item{Kind: schema.Count, Field: f, Bits: 16}, schema.Item{Kind: schema.Offset, Field: f, Bits: 16})
	}
	body := record(fields...)
	body.Wire = append(append(header(), wire...), values(fields...)...)
	p := program(t, message("m", body))
	const first, each = 4 + 4*lists, 12
	for _, used := range []int{20, lists} {
		data := sized(make([]byte, size))
		n := (size - first) / each
		for i := range n {
			at := first + i*each
			binary.LittleEndian.PutUint16(data[at:], uint16(at))
			binary.LittleEndian.PutUint16(data[at+2:], uint16(at+each))
			data[at+4] = byte(i)
		}
		for i := range used {
			binary.LittleEndian.PutUint16(data[4+4*i:], uint16(n))
			binary.LittleEndian.PutUint16(data[6+4*i:], first)
		}
		var c columns.Set
		var rec codec.Record
		c.Append(p, data, []columns.Span{{Len: size}})
		p.Decode(&rec, data)
		if c.Status[0] != rec.Status() || (rec.Status() == codec.OK) != (used == 20) {
			t.Errorf("%d lists: %v, want %v", used, c.Status[0], rec.Status())
		}
		if got := c.Rows(2*20 - 1); got != n {
			t.Errorf("%d lists: %d elements in the 20th, want %d", used, got, n)
		}
	}
}
