package workspace_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/fstest"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/benchtest"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// The written line equals the JSON of the description, and writing does not allocate once the buffers have grown.
func TestFrameWriter(t *testing.T) {
	s := build(t, fstest.MapFS{
		"S_NPC.1.def": text("uint64 gameId\nvec3 loc\nbool odd\nstring name\n"), "C_SAY.1.def": text("string message\n"), "protocol.1.map": text("S_NPC 5\nC_SAY 6\n"),
	}, workspace.Settings{})
	at := time.Date(2026, 11, 20, 10, 0, 5, 0, time.UTC)
	say := []byte("\x0c\x00\x06\x00\x06\x00<\x00\x28\x20\x00\x00")
	frames := []*transport.Frame{
		{Dir: schema.ToServer, Key: schema.Key{Dir: schema.ToServer, Code: 6}, HasKey: true, At: at, Bytes: say, From: []transport.Source{{Packet: 3}, {Packet: 4}, {Packet: 3}, {Packet: 1}}},
		{Dir: schema.ToServer, Key: schema.Key{Dir: schema.ToServer, Code: 6}, HasKey: true, At: at.Add(1234 * time.Microsecond), Bytes: say[:7]},
		{Dir: schema.ToClient, Key: schema.Key{Dir: schema.ToClient, Code: 5}, HasKey: true, At: at.Add(time.Second + 1), Bytes: append(append([]byte("\x1c\x00\x05\x00\x1a\x00"), make([]byte, 20)...), 9, 0, 'x'), Resumed: true},
		{Dir: schema.ToClient, Key: schema.Key{Dir: schema.ToClient, Code: 9}, HasKey: true, Via: []string{"a", "<b\u2028\"\xff>"}, Note: "odd\n\x7f"},
		{Kind: transport.Message, Name: "C_SAY", Dir: schema.ToServer, Bytes: say},
		{Kind: transport.Message, Name: "what?", Dir: schema.ToServer, Bytes: say},
		{Kind: transport.Problem, Offset: 7, Length: 9, Note: "gap"},
		{Kind: transport.Problem, Offset: -1, Note: "gap"},
		{Kind: transport.Opaque, Bytes: []byte{1}},
		{Dir: schema.ToServer, Key: schema.Key{Dir: schema.ToServer, Code: 6}, HasKey: true, Via: []string{"integrity"}, Bytes: say},
		{Dir: schema.ToServer, Key: schema.Key{Dir: schema.ToServer, Code: 6}, HasKey: true, Bytes: append([]byte("\x0e\x00"), append(say[2:len(say):len(say)], 1, 2)...)}, // two bytes left over
	}
	in := []workspace.Listed{{Conn: "a:1-b:2"}, {Conn: "ö", Session: 2, ID: transport.FrameID{Packet: 3, Nth: 1}}}
	for i, x := range frames {
		if x.N = 1; i%2 == 1 {
			x.N, x.Marks = 70000, transport.Fake|transport.Silenced
		}
	}
	for _, want := range []workspace.Want{{}, {Value: true}, {Fields: true}, {Value: true, Fields: true}} {
		w, r := workspace.NewFrameWriter(want), workspace.NewReading(s)
		var line []byte
		for i, x := range frames {
			r.Take(x)
			listed := in[i%len(in)]
			var out bytes.Buffer
			e := json.NewEncoder(&out)
			e.SetEscapeHTML(false)
			if err := e.Encode(r.Describe(want, listed)); err != nil {
				t.Fatal(err)
			}
			if line = w.Append(line[:0], r, listed); out.String() != string(line) {
				t.Errorf("frame %d\ngot  %swant %s", i, line, &out)
			}
			if left := bytes.Contains(line, []byte(`"status":"ok","leftover":2,`)); left != (i == len(frames)-1) {
				t.Errorf("frame %d: bytes left over: %t\n%s", i, left, line)
			}
		}
		if want.Fields {
			continue
		}
		if n := testing.AllocsPerRun(100, func() {
			r.Take(frames[0])
			line = w.Append(line[:0], r, in[0])
		}); n != 0 {
			t.Errorf("%+v: %v allocations a frame", want, n)
		}
	}
}

// A filter, a list and a description of the same frame decode it once.
func TestReadingIsShared(t *testing.T) {
	s := build(t, fstest.MapFS{"C_SAY.1.def": text("string message\n"), "protocol.1.map": text("C_SAY 6\n")}, workspace.Settings{})
	f, mistakes := s.Filter(`.message contains "a"`)
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	x := &transport.Frame{Dir: schema.ToServer, Key: schema.Key{Dir: schema.ToServer, Code: 6}, HasKey: true, Bytes: []byte("\x0a\x00\x06\x00\x06\x00a\x00\x00\x00")}
	r := workspace.NewReading(s)
	r.Take(x)
	if !f.FitsReading(workspace.Where{}, r) {
		t.Fatal("does not fit")
	}
	first := r.Record()
	nodes := &first.Nodes[0]
	nodes.Raw = 77 // a second Decode would overwrite it
	if r.Describe(workspace.Want{Value: true}, workspace.Listed{}); r.Record().Nodes[0].Raw != 77 {
		t.Error("decoded twice")
	}
	if n := testing.AllocsPerRun(100, func() { f.Fits(workspace.Where{}, x) }); n != 0 && !benchtest.Raced {
		t.Errorf("%v allocations to filter a frame", n)
	}
}
