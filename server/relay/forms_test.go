package relay

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// boats returns a workspace with the built-in definitions of MAVLink, over UDP or TCP.
func boats(t *testing.T, carrier string) *workspace.Workspace {
	t.Helper()
	fsys, _ := library.Dialect("mavlink")
	files := map[string]string{}
	for _, name := range []string{"base.xml", "boat.xml", "protocol.envelope"} {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = strings.Replace(string(text), "carrier udp", "carrier "+carrier, 1)
	}
	return opened(t, "mavlink", files)
}

// sumOK reports whether the checksum of a frame is right, which is computed bit by bit with the byte of its definition.
func sumOK(frame []byte, tail int, extra byte) bool {
	end := len(frame) - tail - 2
	crc := uint16(0xFFFF)
	for _, b := range append(bytes.Clone(frame[1:end]), extra) {
		for i := range 8 {
			bit := (crc ^ uint16(b>>i)) & 1
			if crc >>= 1; bit == 1 {
				crc ^= 0x8408
			}
		}
	}
	return frame[end] == byte(crc) && frame[end+1] == byte(crc>>8)
}

// frameOf returns a message of values as a frame.
func frameOf(t *testing.T, s *workspace.Snapshot, name, values string) []byte {
	t.Helper()
	m, err := s.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	data, _, problems, err := s.EncodeValue(m, nil, []byte(values))
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return bytes.Clone(data)
}

// Frames of all forms pass as they are; those that are replaced or injected have their lengths, their checksums, and no zeros at the end.
func TestForms(t *testing.T) {
	for _, carrier := range []string{"udp", "tcp"} {
		ws := boats(t, carrier)
		snap := ws.Now()
		extra := func(name string) byte { m, _ := snap.Find(name); return m.Extra[0] }
		p, _ := snap.Protocol()
		rw := p.Rewriter(snap.Env(), 0)
		var sent, shown, notes []string
		replace := map[string]string{}
		r := &transport.Relay{Out: func(s transport.Segment) {
			if len(s.Bytes) > 0 {
				sent = append(sent, hex.EncodeToString(s.Bytes))
			}
		}, Goes: func(uint64, []byte) {}}
		r.Emit = func(f *transport.Frame) {
			reading := workspace.NewReading(snap)
			reading.Take(f)
			if rec := reading.Record(); rec != nil && rec.Status() == codec.OK && rec.Unexplained() == 0 {
				shown = append(shown, reading.Message().Name+string(value.AppendJSON(nil, rec)))
			}
			notes = append(notes, f.Note)
		}
		r.Decide = func(_ uint64, f *transport.Frame) transport.Decision {
			m := snap.FrameMessage(f)
			if m == nil || replace[m.Name] == "" {
				return transport.Decision{}
			}
			with, err := (&Outgoing{Message: m.Name, Value: json.RawMessage(replace[m.Name])}).Make(snap, f.Dir, f)
			if err != nil {
				t.Fatal(err)
			}
			return transport.Decision{Action: transport.Replace, With: with}
		}
		rw.Operate(true, time.Time{}, r)
		feed := func(frame []byte) { rw.Feed(transport.Segment{Dir: schema.ToServer, Bytes: frame, Start: true}, r) }

		beat := frameOf(t, snap, "BEAT", `{"header":{"sequence":9,"system":4},"craft":"CRAFT_BOAT","uptime":7}`)
		old := frameOf(t, snap, "PLACE", `{"header":{"magic":"fe","sequence":10,"system":5},"time":1,"speed":[0,0,0]}`)
		signed := frameOf(t, snap, "SAY", `{"header":{"incompatible":1,"sequence":11},"text":"hi","tail":{"link":1,"signature":"010203040506"}}`)
		for _, c := range []struct {
			frame      []byte
			name       string
			size, tail int
		}{{beat, "BEAT", 5 + 12, 0}, {old, "PLACE", 20 + 8, 0}, {signed, "SAY", 3 + 12 + 13, 13}} {
			if len(c.frame) != c.size || !sumOK(c.frame, c.tail, extra(c.name)) {
				t.Errorf("%s is encoded as %x", c.name, c.frame)
			}
			sent, shown, notes = nil, nil, nil
			if feed(c.frame); !slices.Equal(sent, []string{hex.EncodeToString(c.frame)}) || len(shown) != 1 || !strings.HasPrefix(shown[0], c.name) || !slices.Equal(notes, []string{""}) {
				t.Errorf("%s %s: sent %s, shown %s, notes %q", carrier, c.name, sent, shown, notes)
			}
		}
		if strings.Contains(shown[0], "depth") {
			t.Error("an extension in version 1")
		}

		// Changed: the forms and what is not stated stay.
		replace = map[string]string{"BEAT": `{"craft":"CRAFT_KITE","uptime":300,"version":3}`, "PLACE": `{"time":77,"speed":[1,2,3]}`}
		sent = nil
		feed(beat)
		feed(old)
		if len(sent) != 2 {
			t.Fatal(sent)
		}
		for i, c := range []struct {
			name, begins string
			size         int
		}{{"BEAT", "fd0700000904", 7 + 12}, {"PLACE", "fe140a05", 20 + 8}} {
			data, _ := hex.DecodeString(sent[i])
			if len(data) != c.size || !strings.HasPrefix(sent[i], c.begins) || !sumOK(data, 0, extra(c.name)) {
				t.Errorf("%s %s was replaced by %s", carrier, c.name, sent[i])
			}
		}

		// Injected: as the last message in that direction, or in the form that the value states.
		for _, c := range []struct {
			values, begins string
			size           int
		}{
			{`{"text":"x"}`, "fd020000", 2 + 12},
			{`{"header":{"magic":"fe","sequence":200},"text":"x"}`, "fe29c8", 41 + 8},
			{`{}`, "fd010000", 1 + 12},
		} {
			out, err := (&Outgoing{Message: "SAY", Value: json.RawMessage(c.values)}).Make(snap, schema.ToServer, nil)
			if err != nil {
				t.Fatal(err)
			}
			sent = nil
			if err := rw.Send(schema.ToServer, out, time.Time{}, r); err != nil || len(sent) != 1 {
				t.Fatal(err, sent)
			}
			data, _ := hex.DecodeString(sent[0])
			if len(data) != c.size || !strings.HasPrefix(sent[0], c.begins) || !sumOK(data, 0, extra("SAY")) {
				t.Errorf("%s was sent as %s", c.values, sent[0])
			}
		}
		if err := rw.Send(schema.ToServer, transport.Outgoing{Bytes: []byte{1, 2, 3}}, time.Time{}, r); err == nil {
			t.Error("bytes of no form were sent")
		}

		// A wrong checksum is a note, as is a start of no form.
		replace = nil
		wrong := bytes.Clone(beat)
		wrong[len(wrong)-1] ^= 1
		sent, notes = nil, nil
		if feed(wrong); !strings.Contains(strings.Join(notes, "\n"), "the checksum crc is 0x") || !slices.Equal(sent, []string{hex.EncodeToString(wrong)}) {
			t.Errorf("a wrong checksum: %q, sent %s", notes, sent)
		}
		notes = nil
		feed(append([]byte{0x55, 0xAA}, beat...))
		for range 3 {
			feed(beat)
		}
		rw.Flush(time.Time{}, r)
		if !strings.Contains(strings.Join(notes, "\n"), "the envelope has no form with these first bytes") {
			t.Errorf("other bytes: %q", notes)
		}
	}
}
