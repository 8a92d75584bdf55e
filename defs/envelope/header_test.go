package envelope_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/envelope"
	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/tera"
)

// headed parses an envelope of one state and returns its header to the server.
func headed(t *testing.T, text string) *envelope.Header {
	t.Helper()
	e, diags := envelope.Parse(source.New("e", text))
	if diags.HasErrors() {
		t.Fatal(diags.Render())
	}
	return e.States[0].Header[0]
}

const (
	pingDef  = `"ping": ["container", [{"name": "v", "type": "lu32"}]]`
	textDef  = `"ping": ["container", [{"name": "v", "type": ["pstring", {"rest": true}]}]]`
	namesDef = `"ping": ["container", [{"name": "header", "type": "u8"}, {"name": "tail", "type": "u8"}]]`
	packet   = `"packet": ["container", [{"name": "name", "type": ["mapper", {"type": "CODE", "mappings": {"37": "ping"}}]},
		{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"ping": "ping"}}]}]]`
)

// message returns the only message of a ProtoDef file with a code of a type.
func message(t *testing.T, def, code string) *schema.Message {
	t.Helper()
	text := `{"types": {}, "toServer": {"types": {` + def + `, ` + strings.ReplaceAll(packet, "CODE", code) + `}}}`
	s, diags := protodef.Parse([]*source.File{source.New("m.json", text)}, schema.Options{})
	if len(diags) > 0 || len(s.Messages) != 1 {
		t.Fatal(diags.Render())
	}
	return s.Messages[0]
}

// A definition is behind the header of the envelope, whatever form its own code has, and what is read is written back.
func TestHeaders(t *testing.T) {
	chat, diags := tera.Parse([]*source.File{source.New("C_CHAT.1.def", "string message\nint32 x\n")}, schema.Options{Codes: map[string]uint32{"C_CHAT": 0x25}})
	if len(diags) > 0 {
		t.Fatal(diags.Render())
	}
	for _, c := range []struct {
		name, envelope string
		m              *schema.Message
		hex, json      string // json "" if the definition itself is the message
	}{
		{"the definition has the code there", "frame length u16 le\ncode u8", message(t, pingDef, "u8"), "2501000000", ""},
		{"another form", "frame length u16 le\ncode u16 be", message(t, pingDef, "u8"), "002501000000", `{"v":1}`},
		{"another order", "frame length u16 le\ncode u16 be", message(t, pingDef, "lu16"), "002501000000", `{"v":1}`},
		{"a number of variable size", "frame length u16 le\ncode varint", message(t, pingDef, "u8"), "2501000000", `{"v":1}`},
		{"at a place", "frame length u16 le including all at 2\ncode u8 at 1", message(t, pingDef, "u8"), "ff2501000000", `{"header":{"byte0":255},"v":1}`},
		{"at a place, of variable size", "frame length u16 le\ncode varint at 3", message(t, pingDef, "varint"), "0102032501000000", `{"header":{"bytes0":"010203"},"v":1}`},
		{"a length that is kept", "frame length u16 le including all at 2 keep\ncode u8 at 1", message(t, pingDef, "u8"), "ff25080001000000", `{"header":{"byte0":255,"length":8},"v":1}`},
		{
			"fields", "frame length u24 be including all at 2 keep\ncode u8 at 1\nfield magic hex fe at 0\nfield flags u16 be at 5 = 3\nfield key bytes 2 at 8",
			message(t, pingDef, "u8"), "fe2500000e000300aabb01000000", `{"header":{"magic":"fe","length":14,"flags":3,"byte7":0,"key":"aabb"},"v":1}`,
		},
		{
			"a tail behind what extends to the end", "frame delimiter 0a\ncode u8\nfield end hex a5 at -1\nfield n u16 le at -4",
			message(t, textDef, "u8"), "2568690700bba5", `{"v":"hi","tail":{"n":7,"byte_2":187,"end":"a5"}}`,
		},
		{"checksums", "frame delimiter 0a\ncode u8 at 1\nchecksum a sum8 at 0 over 1 to -2\nchecksum b crc16 le at -2", message(t, textDef, "u8"), "f6256869cdad", `{"header":{"a":246},"v":"hi","tail":{"b":44493}}`},
		{"fields of the same names", "frame delimiter 0a\ncode u8\nfield a u8 at 1\nfield b u8 at -1", message(t, namesDef, "u8"), "2501020304", `{"header_":{"a":1},"header":2,"tail":3,"tail_":{"b":4}}`},
		{"a language with a header of its own", "frame length u24 be\ncode u8", chat.Messages[0], "2507000500000061000000", `{"message":"a","x":5}`},
		{"which the envelope keeps", "frame length u16 le including all keep\ncode u16 le at 2", chat.Messages[0], "0e00250" + "00a000500000061000000", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := headed(t, c.envelope)
			m := h.Of(c.m)
			if c.json == "" {
				if m != c.m {
					t.Error("the definition has a header")
				}
				return
			}
			if m.AlternateOf != c.m || h.Of(m) != m {
				t.Fatal("the message is not behind the header, or twice")
			}
			p, err := codec.Compile(m)
			if err != nil {
				t.Fatal(err)
			}
			data, err := hex.DecodeString(c.hex)
			if err != nil {
				t.Fatal(err)
			}
			var rec, built, out codec.Record
			p.Decode(&rec, data)
			text := string(value.AppendJSON(nil, &rec))
			if rec.Status() != codec.OK || rec.Used != len(data) || rec.Code != 0x25 || !rec.HasCode() || rec.Unexplained() != 0 || text != c.json {
				t.Fatalf("%s, %d of %d bytes, code %d: %s", rec.Status(), rec.Used, len(data), rec.Code, text)
			}
			if wrong := h.Wrong(data, nil); wrong != nil {
				t.Error(h.Why(wrong, data, nil))
			}
			if err := value.ParseJSON(&built, p, []byte(text)); err != nil {
				t.Fatal(err)
			}
			built.Code = rec.Code
			if err := p.Encode(&out, &built); err != nil || hex.EncodeToString(out.Data) != c.hex {
				t.Errorf("encoded %x %v", out.Data, err)
			}
			sealed := append([]byte{}, data...)
			for _, part := range h.Parts() {
				if at := part.At; part.Computed {
					if at < 0 {
						at += len(sealed)
					}
					clear(sealed[at : at+part.Size])
				}
			}
			if p.StoreCheck(sealed, codec.Session{}); hex.EncodeToString(sealed) != c.hex { // as after values were hidden
				t.Errorf("sealed %x", sealed)
			}
			for n := range data { // cut off
				p.Decode(&rec, data[:n])
				value.AppendJSON(nil, &rec)
				if rec.Used > n || rec.Status() == codec.OK && n+4 < len(data) && !strings.Contains(c.name, "tail") && !strings.Contains(c.name, "checksums") {
					t.Errorf("%d bytes: %s, %d used", n, rec.Status(), rec.Used)
				}
				h.Seal(append([]byte{}, data[:n]...), nil)
				if f := h.Wrong(data[:n], nil); f != nil {
					h.Why(f, data[:n], nil)
				}
			}
		})
	}
}

// Each checksum and constant that is wrong is named with both values.
func TestWrong(t *testing.T) {
	h := headed(t, "frame delimiter 0a\ncode u8 at 1\nfield magic u8 at 0 = 255\nchecksum sum sum16 be at -2 over 1 to end")
	data := []byte{255, 0x25, 7, 0, 0}
	if h.Seal(data, nil); hex.EncodeToString(data) != "ff2507002c" || h.Wrong(data, nil) != nil {
		t.Fatalf("%x", data)
	}
	for _, c := range []struct{ hex, why string }{
		{"fe2507002c", "magic is fe, not ff"},
		{"ff2507002d", "the checksum sum is 0x002d; that of the bytes is 0x002c"},
		{"ff2508002c", "the checksum sum is 0x002c; that of the bytes is 0x002d"},
		{"ff", ""},
		{"", ""},
	} {
		data, _ := hex.DecodeString(c.hex)
		why := ""
		if f := h.Wrong(data, nil); f != nil {
			why = h.Why(f, data, nil)
		}
		if why != c.why {
			t.Errorf("%s: %q, want %q", c.hex, why, c.why)
		}
	}
}
