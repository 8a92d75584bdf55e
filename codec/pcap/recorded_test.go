package pcap

import (
	"bytes"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// recordedSample returns a file with packets and recorded frames; the sources of the frames number packets from first.
func recordedSample(t testing.TB, first uint32) ([]byte, []transport.Frame) {
	t.Helper()
	at := time.Date(2026, 11, 20, 10, 0, 0, 5, time.UTC)
	conn := transport.Conn{Proto: transport.TCP, Client: netip.MustParseAddrPort("10.0.0.2:4000"), Server: netip.MustParseAddrPort("[2001:db8::1]:7801"), Session: 3}
	frames := []transport.Frame{
		{Dir: schema.ToServer, At: at, HasKey: true, Key: schema.Key{Dir: schema.ToServer, Group: "clmsg", Code: 7}, Bytes: []byte("one"), From: []transport.Source{{Packet: first + 3, Off: 1, Len: 3}, {Packet: first + 4, Len: 2}}, Note: "dropped"},
		{Kind: transport.Control, Dir: schema.ToClient, Key: schema.Key{Dir: schema.ToClient}, Name: "pong", Via: []string{"cluster:1", "stream"}, Offset: transport.Unknown, Resumed: true, Bytes: []byte{}},
		{Kind: transport.Problem, Dir: schema.ToServer, At: at.Add(time.Hour), Key: schema.Key{Dir: schema.ToServer, Code: 1<<32 - 1}, Offset: 1 << 40, Length: transport.Unknown, Bytes: bytes.Repeat([]byte("x"), 70_000)},
	}
	var out bytes.Buffer
	w, err := NewWriter(&out, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Interface(Interface{Link: packet.LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	s := NewSynthetic(w, 0, conn)
	for _, err := range []error{w.RecordFrames("so"), s.Open(at), s.Data(schema.ToServer, at, []byte("-one"), ""), w.RecordConn(9, conn)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range frames {
		if err := w.RecordFrame(9, &frames[i], transport.Marks(i), first); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Data(schema.ToClient, at, []byte("more"), ""); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), frames
}

// Recorded frames are read with Options.Recorded; without it the file is a capture of packets.
func TestRecordedFrames(t *testing.T) {
	data, want := recordedSample(t, 100)
	var got []transport.Frame
	var ids []string
	asked := ""
	sum, err := Read(bytes.NewReader(data), packet.Options{Recorded: func(cut string) bool { asked = cut; return true }}, func(f *transport.Frame) {
		if f.Conn.Name() != "10.0.0.2:4000-[2001:db8::1]:7801" || f.Conn.Session != 3 || f.Conn.Proto != transport.TCP || f.Marks != transport.Marks(len(got)) || int(f.N) != len(got)+1 {
			t.Errorf("%+v %v %d", f.Conn, f.Marks, f.N)
		}
		ids = append(ids, f.ID.String())
		x := *f
		x.N, x.Conn, x.Marks, x.ID = 0, nil, 0, transport.FrameID{}
		x.Bytes = append([]byte{}, f.Bytes...)
		x.Via, x.From = append([]string(nil), f.Via...), append([]transport.Source(nil), f.From...)
		for i := range x.From {
			x.From[i].Packet += 99
		}
		got = append(got, x)
	})
	if err != nil || asked != "so" || sum.Packets != 5 || sum.Frames != 3 || len(sum.Conns) != 1 || sum.Torn != nil || sum.Malformed > 0 {
		t.Errorf("%v %q %+v", err, asked, sum)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
	if want := "[4:1:0 0:0:1 0:0:2]"; fmt.Sprint(ids) != want {
		t.Errorf("identities %v, want %s", ids, want)
	}
	for name, opts := range map[string]packet.Options{"refused": {Recorded: func(string) bool { return false }}, "not asked for": {}} {
		sum, err := Read(bytes.NewReader(data), opts, func(*transport.Frame) { t.Error("a frame") })
		if err != nil || sum.Packets != 5 || len(sum.Conns) != 1 || sum.Conns[0].ToServer != 4 || sum.Torn != nil {
			t.Errorf("%s: %v %+v", name, err, sum)
		}
	}
	// Packets of earlier files are not sources in this one.
	data, _ = recordedSample(t, 1)
	first := true
	_, _ = Read(bytes.NewReader(data), packet.Options{Recorded: func(string) bool { return true }, Limit: 1}, func(f *transport.Frame) {
		if !first || len(f.From) != 2 || f.From[0].Packet != 4 {
			t.Errorf("%+v", f.From)
		}
		first = false
	})
	// Another section has its own recorded frames, or none.
	plain := framesFile(t)
	twice := 0
	sum, err = Read(bytes.NewReader(append(bytes.Clone(data), plain...)), packet.Options{Recorded: func(string) bool { return true }}, func(*transport.Frame) { twice++ })
	if err != nil || twice != 3 || len(sum.Conns) != 2 {
		t.Errorf("%v %d %+v", err, twice, sum.Conns)
	}
}

// framesFile returns a file of packets only.
func framesFile(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, "test")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Interface(Interface{Link: packet.LinkEthernet})
	s := NewSynthetic(w, 0, transport.Conn{Proto: transport.UDP})
	if err := s.Data(schema.ToServer, time.Unix(1, 0), []byte("x"), ""); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// For any blocks, reading ends, with at most one frame per block.
func FuzzRecorded(f *testing.F) {
	data, _ := recordedSample(f, 1)
	f.Add([]byte("\x01S\x02so"), []byte("\x01C\x00\x01\x00\x00\x00"), []byte("\x01F\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("\x01F"+strings.Repeat("\xff", 30)), []byte("\x01F\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), []byte{})
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		all := bytes.NewBuffer(bytes.Clone(data))
		w := &Writer{w: all}
		for _, body := range [][]byte{a, b, c} {
			w.begin(blockRecorded)
			w.buf = append(w.buf, body...)
			if err := w.endRecord(); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		sum, err := Read(bytes.NewReader(all.Bytes()), packet.Options{Recorded: func(string) bool { return true }}, func(x *transport.Frame) {
			n++
			_ = x.Kind.String() + x.Dir.String() + x.Conn.Name()
		})
		if err != nil || sum.Torn != nil || n > 6 {
			t.Errorf("%v %d %+v", err, n, sum)
		}
	})
}
