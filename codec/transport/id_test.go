package transport

import (
	"encoding/json"
	"testing"

	"wirebench/defs/schema"
)

func TestFrameID(t *testing.T) {
	for _, id := range []FrameID{{Packet: 1}, {Packet: 17, Off: 3, Nth: 2}, {Packet: 1<<32 - 1, Off: 1<<32 - 1, Nth: 1<<32 - 1}, {Nth: 3}} {
		back, err := ParseFrameID(id.String())
		if err != nil || back != id || id.Shown() != (id.Packet > 0) {
			t.Errorf("%v came back as %v, %v", id, back, err)
		}
	}
	if got := (FrameID{Packet: 17, Off: 3}).String(); got != "17:3:0" {
		t.Error(got)
	}
	for _, wrong := range []string{"", "1", "1:2", "1:2:3:4", "1:2:x", "-1:0:0", "4294967296:0:0", "0:0:0", "0:1:1", "1 :0:0", "+1:0:0"} {
		if id, err := ParseFrameID(wrong); err == nil {
			t.Errorf("%q is read as %v", wrong, id)
		}
	}
	text, err := json.Marshal(map[FrameID]string{{Packet: 2, Off: 1}: "boss"})
	var back map[FrameID]string
	if err != nil || string(text) != `{"2:1:0":"boss"}` || json.Unmarshal(text, &back) != nil || back[FrameID{Packet: 2, Off: 1}] != "boss" {
		t.Errorf("%s, %v", text, err)
	}
	if (FrameID{Nth: 9}).Compare(FrameID{Packet: 1}) >= 0 || (FrameID{Packet: 1, Off: 2}).Compare(FrameID{Packet: 1, Off: 1}) <= 0 {
		t.Error("wrong order")
	}
}

// TestIdentifier: frames that begin at one place are counted, even with frames of other connections and directions between them.
func TestIdentifier(t *testing.T) {
	a, b := &Conn{}, &Conn{ID: 1}
	at := func(packet, off uint32) []Source { return []Source{{Packet: packet, Off: off, Len: 1}} }
	var d Identifier
	for i, c := range []struct {
		f    Frame
		want string
	}{
		{Frame{Conn: a, From: at(1, 0)}, "1:0:0"},
		{Frame{Conn: a, From: at(1, 4)}, "1:4:0"},
		{Frame{Conn: b, From: at(2, 0)}, "2:0:0"},
		{Frame{Conn: a, From: at(1, 4)}, "1:4:1"},
		{Frame{Conn: a}, "0:0:1"}, // injected
		{Frame{Conn: a, Dir: schema.ToClient, From: at(2, 9)}, "2:9:0"},
		{Frame{Conn: a, From: at(1, 4)}, "1:4:2"},
		{Frame{Conn: a, From: at(3, 4)}, "3:4:0"},
		{Frame{Conn: b, Offset: 7}, "0:0:2"},                       // dropped
		{Frame{Conn: b, From: []Source{{Packet: 4}, {}}}, "0:0:3"}, // end not captured
	} {
		if d.Identify(c.f.Conn.ID, &c.f); c.f.ID.String() != c.want {
			t.Errorf("frame %d is %v, want %s", i, c.f.ID, c.want)
		}
	}
	d = Identifier{Raw: true}
	f := Frame{Offset: 40}
	if d.Identify(0, &f); f.ID.String() != "1:40:0" {
		t.Error(f.ID)
	}
	f = Frame{Offset: 5<<32 + 40} // beyond what 32 bits hold
	if d.Identify(0, &f); f.ID.String() != "6:40:0" {
		t.Error(f.ID)
	}
}
