package capture

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// tape is a transport that keeps what it is fed and emits each segment as a message.
type tape struct {
	conn  Conn
	dirs  [3]taped
	log   []string
	flush int
}

type taped struct {
	bytes []byte // a lost byte is a zero
	marks []mark // of bytes, sorted
	lost  int64
	start bool
	ends  int
}

type mark struct {
	off    int64 // in the stream
	packet uint32
	at     time.Time
}

func (t *tape) Feed(seg transport.Segment, emit func(*transport.Frame)) {
	d := &t.dirs[seg.Dir]
	what := fmt.Sprintf("%v %q", seg.Dir, seg.Bytes)
	if len(seg.Bytes) > 40 {
		what = fmt.Sprintf("%v %d bytes", seg.Dir, len(seg.Bytes))
	}
	if seg.Lost != 0 {
		what = fmt.Sprintf("%v lost %d", seg.Dir, seg.Lost)
	}
	if seg.Start {
		what += " start"
		if len(d.marks) > 0 {
			what += " AGAIN"
		}
		d.start = true
	}
	if seg.End {
		what += " end"
		d.ends++
	}
	t.log = append(t.log, fmt.Sprintf("%d: %s", seg.Packet, what))
	d.marks = append(d.marks, mark{int64(len(d.bytes)), seg.Packet, seg.At})
	if seg.Lost > 0 {
		d.lost += seg.Lost
		if seg.Lost < 1<<24 {
			d.bytes = append(d.bytes, make([]byte, seg.Lost)...)
		}
	}
	d.bytes = append(d.bytes, seg.Bytes...)
	emit(&transport.Frame{Kind: transport.Message, Dir: seg.Dir, At: seg.At, Bytes: seg.Bytes})
}

func (t *tape) Flush(time.Time, func(*transport.Frame)) { t.flush++ }

// markAt is the segment that a byte of the stream came with.
func (d *taped) markAt(off int64) mark {
	found := mark{off: -1}
	for _, m := range d.marks {
		if m.off > off {
			break
		}
		found = m
	}
	return found
}

// play reads a capture with tapes.
func play(t testing.TB, file []byte, ports ...uint16) ([]*tape, Summary) {
	t.Helper()
	var tapes []*tape
	n := uint32(0)
	sum, err := Read(bytes.NewReader(file), Options{Ports: ports, New: func(c Conn) transport.Transport {
		tapes = append(tapes, &tape{conn: c})
		return tapes[len(tapes)-1]
	}}, func(f Frame) {
		if n++; f.N != n || f.Conn == nil {
			t.Errorf("frame %d has the number %d", n, f.N)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range tapes {
		if p.flush != 1 {
			t.Errorf("%s was flushed %d times", p.conn.Name(), p.flush)
		}
	}
	if sum.Frames != n {
		t.Errorf("the summary counts %d frames, there were %d", sum.Frames, n)
	}
	return tapes, sum
}

var day = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// script makes a capture of one TCP connection. A line is: the sender (c or s), flags (S, F, R, A), sequence number, acknowledgement or -,
// and the data: "c - 100 - hello".
func script(t testing.TB, text string) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := NewWriter(&file, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Interface(Interface{Link: LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	s := NewSynthetic(w, 0, conversation(TCP))
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		var who, flags, ack, data string
		var seq uint32
		if _, err := fmt.Sscan(line, &who, &flags, &seq, &ack, &data); err != nil && data != "" || who == "" {
			t.Fatalf("line %q: %v", line, err)
		}
		dir, bits := schema.ToServer, uint8(0)
		if who == "s" {
			dir = schema.ToClient
		}
		for _, f := range flags {
			bits |= map[rune]uint8{'S': flagSYN, 'F': flagFIN, 'R': flagRST}[f]
		}
		s.seq[dir] = seq
		if ack != "-" {
			bits |= flagACK
			if _, err := fmt.Sscan(ack, &s.seq[3-dir]); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.write(dir, day.Add(time.Duration(i)*time.Second), bits, []byte(data), ""); err != nil {
			t.Fatal(err)
		}
	}
	return file.Bytes()
}

func conversation(p Proto) Conn {
	return Conn{Proto: p, Client: netip.MustParseAddrPort("10.0.0.1:40001"), Server: netip.MustParseAddrPort("10.0.0.2:5000")}
}

// TestReadSessions: a client that uses its port again is another session, however few packets the first one had.
func TestReadSessions(t *testing.T) {
	var file bytes.Buffer
	w, err := NewWriter(&file, "test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Interface(Interface{Link: LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	at := day
	for session := range 3 {
		c := conversation(TCP)
		c.Session = session
		s := NewSynthetic(w, 0, c)
		for _, err := range []error{s.Open(at), s.Data(schema.ToServer, at, []byte{byte(session), 1}, ""), s.Data(schema.ToClient, at, []byte{byte(session), 2}, "")} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	var got []string
	sum, err := Read(&file, Options{New: newSink}, func(f Frame) {
		if len(f.Bytes) > 0 {
			got = append(got, fmt.Sprintf("%d:%x", f.Conn.Session, f.Bytes))
		}
	})
	want := []string{"0:0001", "0:0002", "1:0101", "1:0102", "2:0201", "2:0202"}
	if err != nil || len(sum.Conns) != 3 || !slices.Equal(got, want) {
		t.Errorf("%v in %d connections, want %v (%v)", got, len(sum.Conns), want, err)
	}
}

func TestLeftOut(t *testing.T) {
	sum := Summary{Packets: 9, Unserved: 2, NotIP: 1}
	want := []string{"2 packets of connections that are not of this protocol", "1 packet without IP"}
	if got := sum.LeftOut(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := (&Summary{Packets: 9, Frames: 9}).LeftOut(); got != nil {
		t.Errorf("of a capture that has all its frames: %q", got)
	}
}
