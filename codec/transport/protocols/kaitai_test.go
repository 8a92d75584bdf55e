package protocols_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/fstest"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// TestFormats reads streams whose messages are formats of Kaitai Struct: a code map says which format a code means, and an envelope where the code is.
// Without codes all messages have the definition that the envelope names.
func TestFormats(t *testing.T) {
	const place, name = "meta: {id: place, endian: be}\nseq:\n- {id: x, type: s2}\n- {id: y, type: s2}\n", "meta: {id: name, encoding: UTF-8}\nseq:\n- {id: text, type: strz}\n"
	for _, c := range []struct {
		title, codes, envelope, bytes string
		want                          []string
	}{
		{"codes", "place = 1\nname = 7\n", "frame length u8\ncode u8 at 1\nfield flags u8 at 0\n", "\x06\x09\x01\x00\x05\xff\xfe\x05\x00\x07Bo\x00\x02\x00\x03", []string{"place 5", "name Bo", "? 3"}},
		{"one format", "", "frame length u8\ncode none place\n", "\x04\x00\x05\xff\xfe\x04\x00\x06\x00\x00", []string{"place 5", "place 6"}},
	} {
		t.Run(c.title, func(t *testing.T) {
			files := fstest.MapFS{"place.ksy": {Data: []byte(place)}, "name.ksy": {Data: []byte(name)}, "protocol.envelope": {Data: []byte(c.envelope)}}
			if c.codes != "" {
				files["opcodes.map"] = &fstest.MapFile{Data: []byte(c.codes)}
			}
			lib, err := workspace.ReadFS(files)
			if err != nil {
				t.Fatal(err)
			}
			snap, err := workspace.Build(lib, workspace.Settings{Dialect: "kaitai"})
			if err != nil {
				t.Fatal(err)
			}
			p, ok := snap.Protocol()
			if !ok {
				t.Fatal("no protocol")
			}
			env := snap.Env()
			p = p.With(env)
			var rec codec.Record
			var got []string
			read := func(f *transport.Frame) {
				m := snap.FrameMessage(f)
				if m == nil {
					got = append(got, fmt.Sprintf("? %d", f.Key.Code))
					return
				}
				prog, err := snap.Program(m)
				if err != nil {
					t.Fatal(err)
				}
				prog.Decode(&rec, f.Bytes)
				if rec.Status() != codec.OK {
					t.Errorf("%x: %s", f.Bytes, rec.Problems[0].Message(&rec))
				}
				var v struct {
					X    int
					Text string
				}
				if err := json.Unmarshal(value.AppendJSON(nil, &rec), &v); err != nil {
					t.Fatal(err)
				}
				if m.Name == "place" {
					v.Text = strconv.Itoa(v.X)
				}
				got = append(got, m.Name+" "+v.Text)
			}
			tr := p.New(env.For("", 0), 7801)
			tr.Feed(transport.Segment{Dir: schema.ToServer, Bytes: []byte(c.bytes), Start: true}, read)
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
