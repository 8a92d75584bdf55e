package main

import (
	"bufio"
	"io"
	"testing"
	"testing/fstest"
	"time"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/defs/benchtest"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// TestFramesAllocations: listing a frame allocates nothing once the memory of the lister has grown, in each form.
func TestFramesAllocations(t *testing.T) {
	if benchtest.Raced {
		t.Skip("the race detector allocates")
	}
	lib, err := workspace.ReadFS(fstest.MapFS{
		"S_MANY.1.def":   {Data: []byte("uint64 id\nfloat x\nbool alive\narray list\n- int32 a\nstring name\nbytes rest\n")},
		"protocol.1.map": {Data: []byte("S_MANY 4097\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	snap, err := workspace.Build(lib, workspace.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := snap.Find("S_MANY")
	if err != nil {
		t.Fatal(err)
	}
	p, err := snap.Program(m)
	if err != nil {
		t.Fatal(err)
	}
	var in, out codec.Record
	if err := value.ParseJSON(&in, p, []byte(`{"id":"72057594037927937","x":1.2,"alive":true,"list":[{"a":1},{"a":2}],"name":"La\u00e9\n","rest":"ff10101010101010"}`)); err != nil {
		t.Fatal(err)
	}
	if in.Code = m.Key.Code; p.Encode(&out, &in) != nil {
		t.Fatal("not encoded")
	}
	many := string(out.Message())
	frame := func(kind transport.Kind, code uint32, bytes string) *transport.Frame {
		f := &transport.Frame{Kind: kind, Dir: schema.ToClient, At: time.Unix(1795000000, 5000), Bytes: []byte(bytes), N: 7, Conn: &transport.Conn{}}
		f.Key, f.HasKey = schema.Key{Dir: f.Dir, Code: code}, kind == transport.Message
		return f
	}
	frames := map[string]*transport.Frame{
		"message": frame(transport.Message, 4097, many), "cut": frame(transport.Message, 4097, many[:30]),
		"unknown": frame(transport.Message, 4098, "\x08\x00\x02\x10\x00abc"), "opaque": frame(transport.Opaque, 0, "\x80\x81"),
	}
	for form, f := range map[string]*frameLister{"text": {}, "JSON": {json: true}, "values": {json: true, want: workspace.Want{Value: true}}} {
		for what, x := range frames {
			if what == "cut" && form != "JSON" {
				continue // its problem is a text
			}
			f.begin(snap)
			f.out = bufio.NewWriter(io.Discard)
			f.filter, _ = snap.Filter("")
			if n := testing.AllocsPerRun(20, func() { f.frame(x) }); n != 0 {
				t.Errorf("%s of %s allocates %v times: %s", form, what, n, f.text)
			}
		}
	}
}
