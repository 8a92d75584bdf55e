package capture

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/packettest"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// talk writes a capture in which each text is a segment or datagram of its own; "<" marks those of the server.
func talk(t testing.TB, proto transport.Proto, texts ...string) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := pcap.NewWriter(&file, "test", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Interface(pcap.Interface{Link: packet.LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	s := pcap.NewSynthetic(w, 0, packettest.Conversation(proto))
	if err := s.Open(packettest.Day); err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		dir := schema.ToServer
		if rest, ok := strings.CutPrefix(text, "<"); ok {
			dir, text = schema.ToClient, rest
		}
		if err := s.Data(dir, packettest.Day.Add(time.Duration(i)*time.Second), []byte(text), ""); err != nil {
			t.Fatal(err)
		}
	}
	return file.Bytes()
}

// A framing splits the connections of a capture, not the bytes of its file; messages may span packets.
func TestFramedConnections(t *testing.T) {
	for _, c := range []struct {
		framing string
		proto   transport.Proto
		texts   []string
		want    string // direction, offset, packets behind @, "!" before problems
	}{
		{"prefixed:1", transport.TCP, []string{"\x02ab\x01", "c\x00", "<\x01x\x02y", "<z"}, `c2s 1 "ab" @4; c2s 4 "c" @5; c2s 6 "" @5; s2c 1 "x" @6; s2c 3 "yz" @6,7`},
		{"prefixed:2be+self+keep", transport.TCP, []string{"\x00\x03a\x00", "\x02\x00\x05"}, "c2s 0 \"\\x00\\x03a\" @4; c2s 3 \"\\x00\\x02\" @4,5; !c2s 5 \"\\x00\\x05\" @5"},
		{"prefixed:1+self", transport.TCP, []string{"\x02a\x00", "bcd"}, `c2s 1 "a" @4; !c2s 2 "\x00bcd" @4,5`},
		{"delimited:0d0a", transport.TCP, []string{"one\r", "\ntwo\r\n\r\nth", "ree"}, `c2s 0 "one" @4; c2s 5 "two" @5; c2s 12 "three" @5,6`},
		{"fixed:2", transport.TCP, []string{"abc", "<de", "fg"}, `c2s 0 "ab" @4; s2c 0 "de" @5; c2s 2 "cf" @4,6; !c2s 4 "g" @6`},
		{"whole", transport.TCP, []string{"ab", "cd"}, `c2s 0 "abcd" @4,5`},
		{"prefixed:1", transport.UDP, []string{"\x01a\x02bc", "<\x03de"}, `c2s -1 "a" @1; c2s -1 "bc" @1; !s2c -1 "\x03de" @2`},
		{"prefixed:1", transport.UDP, []string{"", "\x01a", "<", ""}, `c2s -1 "" @1 a datagram without bytes; c2s -1 "a" @2; s2c -1 "" @3 a datagram without bytes; c2s -1 "" @4 a datagram without bytes`},
		{"whole+s2c", transport.UDP, []string{"ab", "cd"}, `s2c -1 "ab" @1; s2c -1 "cd" @2`},
	} {
		f, err := ParseFraming(c.framing)
		if err != nil {
			t.Fatal(err)
		}
		file := talk(t, c.proto, c.texts...)
		for _, packed := range []bool{false, true} {
			if packed {
				file = packettest.Gzipped(file)
			}
			var got []string
			sum, _, err := ReadAny(bytes.NewReader(file), Options{Framing: &f}, func(f *transport.Frame) {
				var from []string
				for _, s := range f.From {
					from = append(from, fmt.Sprint(s.Packet))
				}
				text := fmt.Sprintf("%v %d %q @%s", f.Dir, f.Offset, f.Bytes, strings.Join(from, ","))
				switch f.Kind {
				case transport.Problem:
					text = "!" + text
				case transport.Control:
					text += " " + f.Note
				}
				got = append(got, text)
			})
			if err != nil || sum.Packets == 0 || strings.Join(got, "; ") != c.want {
				t.Errorf("%s, %v: %v\ngot  %s\nwant %s", c.framing, c.proto, err, strings.Join(got, "; "), c.want)
			}
		}
	}
}

// A gap ends a message; the first one after it is marked. However segments are cut, the messages are the same.
func TestFramedGapsAndCuts(t *testing.T) {
	f, _ := ParseFraming("prefixed:1")
	play := func(segments ...transport.Segment) (got []string) {
		x := newFramed(f, transport.TCP, maxFramed, nil, new(int))
		emit := func(f *transport.Frame) {
			got = append(got, fmt.Sprintf("%v %d %q %d %t", f.Kind, f.Offset, f.Bytes, f.Length, f.Resumed))
		}
		for i, s := range segments {
			s.Dir, s.Packet, s.Start = schema.ToServer, uint32(i+1), i == 0
			x.Feed(s, emit)
		}
		x.Flush(time.Time{}, emit)
		return got
	}
	got := play(transport.Segment{Bytes: []byte("\x01a\x05bc")}, transport.Segment{Lost: 3}, transport.Segment{Bytes: []byte("\x01d")})
	want := []string{`message 1 "a" 0 false`, `problem 2 "\x05bc" 0 false`, `problem 5 "" 3 false`, `message 9 "d" 0 true`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	all := "\x03abc\x00\x01d\x02ef"
	whole := play(transport.Segment{Bytes: []byte(all)})
	for i := range all {
		for k := range i {
			if got := play(transport.Segment{Bytes: []byte(all[:k])}, transport.Segment{Bytes: []byte(all[k:i])}, transport.Segment{Bytes: []byte(all[i:])}); !slices.Equal(got, whole) {
				t.Errorf("cut at %d and %d: %q, want %q", k, i, got, whole)
			}
		}
	}
}

// Many streams without the end of a message are bounded together; no bytes are lost, and the held bytes are counted to the end.
func TestFramedBound(t *testing.T) {
	held, most, total := 0, 0, 0
	emit := func(f *transport.Frame) { total += len(f.Bytes) }
	var all []transport.Transport
	part := make([]byte, 1<<20)
	for range 100 {
		all = append(all, newFramed(*framing(t, "whole"), transport.TCP, maxFramed, nil, &held))
	}
	for range 2 {
		for _, x := range all {
			x.Feed(transport.Segment{Dir: schema.ToServer, Bytes: part}, emit)
			most = max(most, held)
		}
	}
	for _, x := range all {
		x.Flush(time.Time{}, emit)
	}
	if most < maxFramedInAll || most > maxFramedInAll+len(part) || held != 0 || total != 200<<20 {
		t.Errorf("%d bytes at most, %d at the end, %d in all", most, held, total)
	}
}
