package server

import (
	"encoding/json"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/server/live"
)

// What is no message is described by its transport.
func TestAbout(t *testing.T) {
	conn := live.Conn{Name: "10.0.0.2:4000-10.0.0.1:7801", Session: 1}
	many := make([]transport.Source, 0, 100)
	for i := range 50 {
		many = append(many, transport.Source{Packet: uint32(i + 1), Len: 1}, transport.Source{Packet: uint32(i + 1), Off: 1, Len: 1})
	}
	for _, c := range []struct {
		name, what string
		frame      transport.Frame
		has        []string
	}{
		{"key", "Key exchange", transport.Frame{Kind: transport.Control, Via: []string{"handshake"}, Note: "first key of the client", Bytes: make([]byte, 128)}, []string{"Note: first key of the client", "Inside: handshake", "bytes 0 to 127", "Connection: 10.0.0.2:4000-10.0.0.1:7801, session 1"}},
		{"ack", "Control", transport.Frame{Kind: transport.Control, Offset: transport.Unknown, From: []transport.Source{{Packet: 7}}}, []string{"From: packet 7"}},
		{"opaque", "Enciphered bytes", transport.Frame{Kind: transport.Opaque, From: many}, []string{"the key is not known", "11, 12 and 38 more"}},
		{"gap", "Gap", transport.Frame{Kind: transport.Problem, Length: 1, Note: "bytes are missing", Offset: 12}, []string{"Reason: bytes are missing", "Missing: 1 byte", "bytes 12"}},
		{"unknown gap", "Gap", transport.Frame{Kind: transport.Problem, Length: transport.Unknown}, []string{"nobody knows"}},
		{"problem", "Problem", transport.Frame{Kind: transport.Problem, Note: "no"}, []string{"Reason: no"}},
	} {
		a := about(&c.frame, conn)
		var all strings.Builder
		for _, f := range a.Facts {
			all.WriteString(f[0] + ": " + f[1] + "\n")
		}
		if a.What != c.what {
			t.Errorf("%s is %q", c.name, a.What)
		}
		for _, h := range c.has {
			if !strings.Contains(all.String(), h) {
				t.Errorf("%s lacks %q: %s", c.name, h, all.String())
			}
		}
	}
	if about(&transport.Frame{}, conn) != nil {
		t.Error("a message is described")
	}
	for name, port := range map[string]uint16{conn.Name: 7801, "[::1]:5-[::2]:6": 6, "": 0, "a-b": 0} {
		if got := serverPort(name); got != port {
			t.Errorf("port of %q: %d", name, got)
		}
	}
}

func TestWithReason(t *testing.T) {
	found := []codec.ProblemInfo{{Code: "range", Message: `"level" is outside its legal range`}}
	if got := withReason(found, `heroes: "level" is outside its legal range`); len(got) != 1 {
		t.Errorf("it is said twice: %+v", got)
	}
	if got := withReason(found, "the stream ends inside a message"); len(got) != 2 || got[0].Message != "the stream ends inside a message" {
		t.Errorf("%+v", got)
	}
}

// A problem of a stream without lengths is read by the group of its direction, so that its tree can be shown.
func TestListOfFramesProblem(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": "group: clmsg\n\npacket: say\n   __group = clmsg\n   kind    = uint8 [1, 3]\n   size    = uint8\n"})
	// Each message: id, kind, size. The second one has kind 9.
	c := openList(t, s, []byte("00000000  01 01 05 01 09 05 01 02  05 01 01 05 01 02 05 01   ........ ........\n00000010  01 05 01 02 05 01 01 05   ........\n"))
	c.view(1, "")
	var got frameAnswer
	text := c.ask("frame", "frame", `,"n":2`)
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Row.Kind != "problem" || got.Group != "clmsg" || got.About == nil || got.About.What != "Problem" {
		t.Errorf("%.800s", text)
	}
}
