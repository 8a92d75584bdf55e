package relay

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

const headedDefs = `{"types": {}, "toServer": {"types": {
	"ping": ["container", [{"name": "v", "type": "lu32"}]],
	"packet": ["container", [
		{"name": "name", "type": ["mapper", {"type": "u8", "mappings": {"37": "ping"}}]},
		{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"ping": "ping"}}]}]]}}}`

// A message that is made of values has the header of the envelope: its constants and checksums, its length, and what is not stated as the
// message before it.
func TestSendBehindHeader(t *testing.T) {
	for _, c := range []struct{ name, envelope, before, value, message, want, dialect, definition string }{
		{"unknown bytes are those before", "frame length u16 le including all at 2\ncode u8 at 1", "ff25080001020304", `{"v":7}`, "ff2507000000", "ff25080007000000", "", ""},
		{"nothing came before", "frame length u16 le including all at 2\ncode u8 at 1", "", `{"v":7}`, "002507000000", "0025080007000000", "", ""},
		{"stated", "frame length u16 le including all at 2\ncode u8 at 1", "ff25080001020304", `{"v":7,"header":{"byte0":238}}`, "ee2507000000", "ee25080007000000", "", ""},
		{
			"constants, lengths and checksums", "frame length u16 le including all at 2 keep\ncode u8 at 1\nfield magic hex fe at 0\nfield n u8 at 4\nchecksum s sum8 at -1", "",
			`{"v":7}`, "fe250a0000" + "07000000" + "34", "fe250a00000700000034", "", "",
		},
		{
			"of which one is given", "frame length u16 le including all at 2 keep\ncode u8 at 1\nfield magic hex fe at 0\nfield n u8 at 4\nchecksum s sum8 at -1", "fe250a0003070000" + "0037",
			`{"v":7,"tail":{"s":99}}`, "fe250a0003" + "07000000" + "37", "fe250a00030700000037", "", "",
		},
		{"the definition has the code there", "frame length u16 le\ncode u8", "", `{"v":7}`, "2507000000", "05002507000000", "", ""},
		{
			"MUTA with a length of three bytes and a checksum", "frame length u24 be including all at 1 keep\ncode u8\nchecksum crc crc32 le at -4", "",
			`{"text":"hi"}`, "0100000c020068692ec23b5f", "0100000c020068692ec23b5f", "muta", "group: clmsg\n\npacket: say\n   __group = clmsg\n   text    = char {1, 300}\n",
		},
		{"TERA behind another header", "frame length u24 be\ncode u8 at 1\nfield kind u8 at 0 = 9", "", `{"v":7}`, "092507000000", "000006092507000000", "tera", "uint32 v\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, name := map[string]string{"p.json": headedDefs, "protocol.envelope": c.envelope}, "ping"
			switch c.dialect {
			case "muta":
				files, name = map[string]string{"game.def": c.definition, "protocol.envelope": c.envelope}, "say"
			case "tera":
				files, name = map[string]string{"C_PING.1.def": c.definition, "protocol.map": "C_PING 37\n", "protocol.envelope": c.envelope}, "C_PING"
			}
			ws := opened(t, cmp.Or(c.dialect, "protodef"), files)
			b := Outgoing{Message: name, Value: json.RawMessage(c.value)}
			out, err := b.Make(ws.Now(), schema.ToServer, nil)
			if err != nil {
				t.Fatal(err)
			}
			p, _ := ws.Now().Protocol()
			rw := p.Rewriter(ws.Now().Env(), 0)
			var sent []byte
			var last []byte
			r := &transport.Relay{
				Out:  func(s transport.Segment) { sent = append(sent, s.Bytes...) },
				Goes: func(_ uint64, m []byte) { last = append([]byte{}, m...) },
				Emit: func(*transport.Frame) {},
			}
			before, err := hex.DecodeString(c.before)
			if err != nil {
				t.Fatal(err)
			}
			rw.Feed(transport.Segment{Dir: schema.ToServer, Bytes: before, Start: true}, r)
			rw.Operate(true, time.Time{}, r)
			sent = nil
			if err := rw.Send(schema.ToServer, out, time.Time{}, r); err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(sent); got != c.want || hex.EncodeToString(last) != c.message {
				t.Errorf("sent %s, a message %x; want %s, %s", got, last, c.want, c.message)
			}

			// In the list it has its definition, behind the header; so has what nobody could decode.
			for _, data := range [][]byte{last, last[:len(last)-1]} {
				f := transport.Frame{Kind: transport.Message, Dir: schema.ToServer, Bytes: data}
				identify(ws.Now(), transport.Conn{}, &f)
				if m := ws.Now().FrameMessage(&f); m == nil || m.Name != name || f.In(transport.MarkHeader) != (c.name != "the definition has the code there") {
					t.Errorf("%x is %v %v via %v", data, m, f.Key, f.Via)
				}
			}

			// A replacement states as little.
			other, err := b.Make(ws.Now(), schema.ToServer, &transport.Frame{Via: []string{transport.MarkHeader}})
			if err != nil || !bytes.Equal(other.Bytes, out.Bytes) || !slices.Equal(other.Open, out.Open) {
				t.Errorf("as a replacement %x %v, %v; want %x %v", other.Bytes, other.Open, err, out.Bytes, out.Open)
			}
		})
	}
}
