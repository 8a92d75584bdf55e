package codec_test

import (
	"testing"

	"wirebench/codec"
	"wirebench/codec/packettest"
	"wirebench/codec/value"
	"wirebench/defs/schema"
)

// Messages of the SubSpace protocol: constants, bit fields, optional ends, contents to the end of the datagram.

func message(name string, body *schema.Struct) *schema.Message {
	return &schema.Message{Name: name, Version: 1, Body: body}
}

func constant(b ...byte) []schema.Item { return []schema.Item{{Kind: schema.Const, Bytes: b}} }

func cluster() *schema.Message {
	payload := field("payload", &schema.Blob{Nested: true, Extent: schema.Extent{Size: schema.Counted}})
	elem := &schema.Struct{Fields: []*schema.Field{payload}, Wire: append([]schema.Item{{Kind: schema.Count, Field: payload, Bits: 8}}, values(payload)...)}
	packets := field("packets", &schema.List{Elem: elem, Extent: schema.Extent{Size: schema.ToEnd}})
	return message("cluster", &schema.Struct{Fields: []*schema.Field{packets}, Wire: append(constant(0, 0x0e), values(packets)...)})
}

func TestCluster(t *testing.T) {
	p := program(t, cluster())
	check(t, p, "000e", `{"packets":[]}`)
	check(t, p, "000e 03 010203 00 01 ff", `{"packets":[{"payload":"010203"},{"payload":""},{"payload":"ff"}]}`)
	const want = `0: 16 const
2: 0..-1 value packets
element + 0: 8 count packets[].payload
element + 1: 0..-1 value packets[].payload
`
	if got := layoutText(p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, c := range []struct {
		message string
		want    codec.Status
	}{
		{"00", codec.Incomplete},
		{"000d", codec.Illegal},
		{"000e 05 01", codec.Incomplete},
		{"000e 01 01 02", codec.Incomplete},
	} {
		checkStatus(t, p, c.message, c.want)
	}
}

// position is the client's position packet: 22 bytes, or 32 with the state of the ship. The weapon is split into bit fields, the least
// significant first.
func position() *schema.Message {
	group := func(name string, fields ...*schema.Field) *schema.Field {
		return field(name, &schema.Group{Struct: record(fields...)})
	}
	head := []*schema.Field{
		field("rotation", integer(8)), field("time", unsigned(32)), field("xspeed", integer(16)), field("y", integer(16)),
		field("checksum", unsigned(8)), field("status", unsigned(8)), field("x", integer(16)), field("yspeed", integer(16)),
		field("bounty", unsigned(16)), field("energy", integer(16)),
		group("weapon", field("type", unsigned(5)), field("level", unsigned(2)), field("bouncing", &schema.Number{Bits: 1, Kind: schema.Bool}),
			field("shrap_level", unsigned(2)), field("shrap", unsigned(5)), field("alternate", &schema.Number{Bits: 1, Kind: schema.Bool})),
	}
	items := []*schema.Field{
		field("shields", unsigned(1)), field("super", unsigned(1)), field("bursts", unsigned(4)), field("repels", unsigned(4)),
		field("thors", unsigned(4)), field("bricks", unsigned(4)), field("decoys", unsigned(4)), field("rockets", unsigned(4)), field("portals", unsigned(4)),
	}
	extra := record(field("energy", unsigned(16)), field("ping", unsigned(16)), field("timer", unsigned(16)))
	extra.Fields = append(extra.Fields, items...)
	extra.Wire = append(append(extra.Wire, values(items...)...), schema.Item{Kind: schema.Pad, Bits: 2})
	tail := field("extra", &schema.Group{Struct: extra})
	s := &schema.Struct{Fields: append(head, tail), Wire: append(append(constant(3), values(head...)...), values(tail)...), Optional: 1}
	return message("position", s)
}

func TestOptionalEnd(t *testing.T) {
	p := program(t, position())
	const (
		short = "03 f6 10270000 0100 ffff aa 20 0002 feff 6400 d007 4315"
		start = `{"rotation":-10,"time":10000,"xspeed":1,"y":-1,"checksum":170,"status":32,"x":512,"yspeed":-2,"bounty":100,"energy":2000,` +
			`"weapon":{"type":3,"level":2,"bouncing":false,"shrap_level":1,"shrap":5,"alternate":false}`
	)
	check(t, p, short, start+"}")
	check(t, p, short+"d007 0a00 ffff 05000004", start+
		`,"extra":{"energy":2000,"ping":10,"timer":65535,"shields":1,"super":0,"bursts":1,"repels":0,"thors":0,"bricks":0,"decoys":0,"rockets":0,"portals":1}}`)
	checkStatus(t, p, short+"d007 0a", codec.Incomplete)
	const want = `22: 16 value extra.energy (if present)
24: 16 value extra.ping (if present)
26: 16 value extra.timer (if present)
28: 1 value extra.shields (if present)
28 bytes 1 bits: 1 value extra.super (if present)
`
	got := layoutText(p)
	if !containsLines(got, want) || !containsLines(got, "20: 5 value weapon.type\n20 bytes 5 bits: 2 value weapon.level\n20 bytes 7 bits: 1 value weapon.bouncing\n21: 2 value weapon.shrap_level\n") {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
	if least, most := p.Size(); least != 22 || most != 32 {
		t.Errorf("size %d to %d", least, most)
	}
}

func containsLines(text, lines string) bool {
	for i := 0; i+len(lines) <= len(text); i++ {
		if text[i:i+len(lines)] == lines && (i == 0 || text[i-1] == '\n') {
			return true
		}
	}
	return false
}

// optionals has several optional trailing fields, including bit fields.
func optionals() *schema.Message {
	fields := []*schema.Field{field("a", unsigned(8)), field("b", unsigned(16)), field("lo", unsigned(4)), field("hi", unsigned(4)), field("c", unsigned(8))}
	return message("m", &schema.Struct{Fields: fields, Wire: values(fields...), Optional: 4})
}

func TestOptionalFields(t *testing.T) {
	p := program(t, optionals())
	check(t, p, "01", `{"a":1}`)
	check(t, p, "01 0200", `{"a":1,"b":2}`)
	check(t, p, "01 0200 43", `{"a":1,"b":2,"lo":3,"hi":4}`)
	check(t, p, "01 0200 43 05", `{"a":1,"b":2,"lo":3,"hi":4,"c":5}`)
	checkStatus(t, p, "01 02", codec.Incomplete)
	var in, out codec.Record
	for text, want := range map[string]string{ // the fields before a present field are present too
		`{}`: "00", `{"c":5}`: "0000000005", `{"hi":1}`: "00000010", `{"a":1,"b":null}`: "01",
	} {
		if err := value.ParseJSON(&in, p, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := p.Encode(&out, &in); err != nil || string(out.Data) != string(packettest.Unhex(t, want)) {
			t.Errorf("%s: %v, %x, want %s", text, err, out.Data, want)
		}
	}
}

// TestOnlyAtTheEnd has elements with optional ends, or that extend to the end of the message: only the last one may.
func TestOnlyAtTheEnd(t *testing.T) {
	a, b := field("a", unsigned(8)), field("b", unsigned(8))
	elem := &schema.Struct{Fields: []*schema.Field{a, b}, Wire: values(a, b), Optional: 1}
	p := program(t, message("m", record(field("list", &schema.List{Elem: elem, Extent: schema.Extent{Size: schema.ToEnd}}))))
	check(t, p, "01 02 03", `{"list":[{"a":1,"b":2},{"a":3}]}`)
	refused(t, p, `{"list":[{"a":1},{"a":2,"b":3}]}`, "list[].b extends to the end of the message, or is missing because the message ends before it; 2 bytes follow")
	rest := field("rest", &schema.Blob{Extent: schema.Extent{Size: schema.ToEnd}})
	p = program(t, message("m", record(field("list", &schema.List{Elem: record(a, rest), Extent: schema.Extent{Size: schema.ToEnd}}))))
	check(t, p, "01 0203", `{"list":[{"a":1,"rest":"0203"}]}`)
	refused(t, p, `{"list":[{"a":1,"rest":"02"},{"a":2}]}`, "list[].rest extends to the end")
}

func TestFixedText(t *testing.T) {
	name := field("name", fixedText(20))
	p := program(t, message("m", record(field("ship", integer(8)), name, field("pid", integer(16)))))
	check(t, p, "08 4a6f686e00000000000000000000000000000000 0100", `{"ship":8,"name":"John","pid":1}`)
	check(t, p, "ff 6162636465666768696a6b6c6d6e6f7071727374 ffff", `{"ship":-1,"name":"abcdefghijklmnopqrst","pid":-1}`)
	refused(t, p, `{"name":"abcdefghijklmnopqrstu"}`, "name: 21 code units where 20 fit")
	var rec, out codec.Record
	odd := packettest.Unhex(t, "00 4a00ff0000000000000000000000000000000000 0000")
	p.Decode(&rec, odd)
	if w := rec.AppendWarnings(nil); len(w) != 1 || w[0].Code != codec.BytesAfterEnd {
		t.Errorf("warnings %v", w)
	}
	if err := p.Encode(&out, &rec); err != nil || string(out.Data) != string(odd) {
		t.Errorf("an unchanged message is kept: %v, %x", err, out.Data)
	}
	// One character that is always present, even if it is NUL.
	p = program(t, message("m", record(field("key", &schema.Text{Charset: schema.Latin1, Extent: schema.Extent{Size: schema.Fixed, N: 1, Min: &schema.Limit{Uint: 1}}}))))
	check(t, p, "77", `{"key":"w"}`)
	check(t, p, "00", `{"key":"\u0000"}`)
	refused(t, p, `{"key":""}`, "key: 0 characters where 1 are needed")
	var in codec.Record
	if err := value.ParseJSON(&in, p, []byte(`{}`)); err != nil {
		t.Error(err)
	}
}

func byLength() *schema.Message {
	name, crc, size := field("name", fixedText(4)), field("crc", unsigned(32)), field("size", unsigned(32))
	more := field("more", &schema.Blob{Extent: schema.Extent{Size: schema.ToEnd}})
	s := &schema.Struct{Fields: []*schema.Field{name}, Wire: append(constant(0x29), values(name)...), Variants: []schema.Variant{
		{MinLen: 9, MaxLen: 9, Body: record(crc)},
		{MinLen: 13, MaxLen: 13, Body: record(crc, size)},
		{MinLen: 20, Body: record(more)},
	}}
	return message("m", s)
}

func TestVariantsByLength(t *testing.T) {
	p := program(t, byLength())
	check(t, p, "29 61626364 01000000", `{"name":"abcd","crc":1}`)
	check(t, p, "29 61626364 01000000 02000000", `{"name":"abcd","crc":1,"size":2}`)
	check(t, p, "29 61626364 000102030405060708090a0b0c0d0e", `{"name":"abcd","more":"000102030405060708090a0b0c0d0e"}`)
	var rec codec.Record
	p.Decode(&rec, packettest.Unhex(t, "29 61626364 0102"))
	if w := rec.AppendWarnings(nil); rec.Status() != codec.OK || len(w) != 2 || w[0].Code != codec.SkippedByChoice || w[1].Code != codec.LeftOver || w[1].Range != (codec.Range{Off: 40, Len: 16}) {
		t.Errorf("no alternative: %v, %s", rec.Status(), problems(&rec))
	}
	refused(t, p, `{"more":"00"}`, "no alternative")
	refused(t, p, `{"size":1,"more":"00"}`, "size")
	refused(t, p, `{"other":1}`, "other: no field has this name")
	const want = `5: 32 value crc (in messages of 9 bytes)
5: 32 value crc (in messages of 13 bytes)
9: 32 value size (in messages of 13 bytes)
5: 0..-1 value more (in messages of 20 bytes or more)
`
	if got := layoutText(p); !containsLines(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
}

func byValue() *schema.Message {
	kind := field("kind", unsigned(8))
	name := field("name", &schema.Text{Charset: schema.Latin1, Extent: schema.Extent{Size: schema.Terminated}})
	points := field("points", integer(32))
	s := record(kind, field("pid", unsigned(16)))
	s.Variants = []schema.Variant{
		{Field: kind, Value: 1, Body: record(name)},
		{Field: kind, Value: 2, Body: record(points)},
	}
	return message("m", s)
}

func TestVariantsByValue(t *testing.T) {
	m := byValue()
	p := program(t, m)
	check(t, p, "01 0500 616200", `{"kind":1,"pid":5,"name":"ab"}`)
	check(t, p, "02 0500 ffffffff", `{"kind":2,"pid":5,"points":-1}`)
	check(t, p, "03 0500", `{"kind":3,"pid":5}`)
	checkStatus(t, p, "01 0500 6162", codec.Incomplete)
	checkStatus(t, p, "02 0500 ffff", codec.Incomplete)
	refused(t, p, `{"kind":2,"name":"a"}`, "name")
	const want = `3: 8..-1 value name (if kind is 1)
3: 32 value points (if kind is 2)
`
	if got := layoutText(p); !containsLines(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
	}
	// The same in the elements of a list.
	p = program(t, message("m", record(field("list", &schema.List{Elem: m.Body, Extent: schema.Extent{Size: schema.ToEnd}}))))
	check(t, p, "01 0500 616200 02 0600 01000000 07 0000", `{"list":[{"kind":1,"pid":5,"name":"ab"},{"kind":2,"pid":6,"points":1},{"kind":7,"pid":0}]}`)
}

// numbers has numbers of every width and both orders, and texts of fixed size.
func numbers() *schema.Message {
	return message("m", record(field("a", big(16)), field("b", big(64)), field("c", &schema.Number{Bits: 32, Kind: schema.Float, Order: schema.Big}),
		field("d", unsigned(3)), field("e", integer(7)), field("f", unsigned(54)), field("g", integer(24)), field("h", big(48)),
		field("i", fixedText(5)), field("j", &schema.Text{Charset: schema.UTF8, Extent: schema.Extent{Size: schema.Fixed, N: 6}}),
		field("k", &schema.Blob{Extent: schema.Extent{Size: schema.Fixed, N: 3}}), field("l", float(64)),
		field("m", &schema.Number{Bits: 16, Scale: 0.25}), field("n", &schema.Text{Extent: schema.Extent{Size: schema.Fixed, N: 3}})))
}

func TestBigEndian(t *testing.T) {
	s := record(field("port", big(16)), field("ip", bareList(unsigned(8), schema.Extent{Size: schema.Fixed, N: 4})), field("n", &schema.Number{Bits: 32, Kind: schema.Signed, Order: schema.Big}),
		field("f", &schema.Number{Bits: 64, Kind: schema.Float, Order: schema.Big}), field("odd", big(24)))
	p := program(t, message("m", s))
	check(t, p, "1388 7f000001 fffffffe 3ff8000000000000 010203", `{"port":5000,"ip":[127,0,0,1],"n":-2,"f":1.5,"odd":66051}`)
	name := field("name", &schema.Text{Charset: schema.UTF8, Extent: schema.Extent{Size: schema.Counted}})
	p = program(t, message("m", &schema.Struct{Fields: []*schema.Field{name}, Wire: append([]schema.Item{{Kind: schema.Count, Field: name, Bits: 16, Order: schema.Big}}, values(name)...)}))
	check(t, p, "0003 c3a961", `{"name":"éa"}`)
}

// arenas has a list to the end of the message whose elements have zero-terminated texts.
func arenas() *schema.Message {
	text := &schema.Text{Charset: schema.Latin1, Extent: schema.Extent{Size: schema.Terminated}}
	arenas := field("arenas", &schema.List{Elem: record(field("name", text), field("count", integer(16))), Extent: schema.Extent{Size: schema.ToEnd}})
	return message("m", &schema.Struct{Fields: []*schema.Field{arenas}, Wire: append(constant(0x2f), values(arenas)...)})
}

func TestListsToTheEnd(t *testing.T) {
	p := program(t, arenas())
	check(t, p, "2f 6100 0100 00 ffff", `{"arenas":[{"name":"a","count":1},{"name":"","count":-1}]}`)
	text := &schema.Text{Charset: schema.Latin1, Extent: schema.Extent{Size: schema.Terminated}}
	lines := field("lines", bareList(text, schema.Extent{Size: schema.ToEnd}))
	p = program(t, message("m", record(lines)))
	check(t, p, "6100 626300 00", `{"lines":["a","bc",""]}`)
	brick := field("bricks", &schema.List{Elem: record(field("x", integer(16)), field("y", integer(16))), Extent: schema.Extent{Size: schema.ToEnd}})
	p = program(t, message("m", record(brick)))
	check(t, p, "01000200 03000400", `{"bricks":[{"x":1,"y":2},{"x":3,"y":4}]}`)
	checkStatus(t, p, "01000200 0300", codec.Incomplete)
}
