// Package packettest provides helpers for tests of captures: transports that record their input, bytes and their forms.
package packettest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Sink is a transport that emits each segment as one frame.
type Sink struct{ frame transport.Frame }

func (s *Sink) Feed(seg transport.Segment, emit func(*transport.Frame)) {
	s.frame.Dir, s.frame.At, s.frame.Bytes = seg.Dir, seg.At, seg.Bytes
	emit(&s.frame)
}

func (s *Sink) Flush(time.Time, func(*transport.Frame)) {}

// NewSink makes a Sink.
func NewSink(transport.Conn) transport.Transport { return &Sink{} }

// Tape is a transport that records its input and emits each segment as a message.
type Tape struct {
	Conn    transport.Conn
	Dirs    [3]taped
	Log     []string
	Flushes int
}

type taped struct {
	Bytes []byte // a lost byte is a zero
	Marks []mark // of bytes, sorted
	Lost  int64
	Start bool
	ends  int
}

type mark struct {
	Off    int64 // in the stream
	Packet uint32
	At     time.Time
}

func (t *Tape) Feed(seg transport.Segment, emit func(*transport.Frame)) {
	d := &t.Dirs[seg.Dir]
	what := fmt.Sprintf("%v %q", seg.Dir, seg.Bytes)
	if len(seg.Bytes) > 40 {
		what = fmt.Sprintf("%v %d bytes", seg.Dir, len(seg.Bytes))
	}
	if seg.Lost != 0 {
		what = fmt.Sprintf("%v lost %d", seg.Dir, seg.Lost)
	}
	if seg.Start {
		what += " start"
		if len(d.Marks) > 0 {
			what += " AGAIN"
		}
		d.Start = true
	}
	if seg.End {
		what += " end"
		d.ends++
	}
	t.Log = append(t.Log, fmt.Sprintf("%d: %s", seg.Packet, what))
	d.Marks = append(d.Marks, mark{int64(len(d.Bytes)), seg.Packet, seg.At})
	if seg.Lost > 0 {
		d.Lost += seg.Lost
		if seg.Lost < 1<<24 {
			d.Bytes = append(d.Bytes, make([]byte, seg.Lost)...)
		}
	}
	d.Bytes = append(d.Bytes, seg.Bytes...)
	emit(&transport.Frame{Kind: transport.Message, Dir: seg.Dir, At: seg.At, Bytes: seg.Bytes})
}

func (t *Tape) Flush(time.Time, func(*transport.Frame)) { t.Flushes++ }

// MarkAt returns the mark of the segment that carried the byte of the stream at off.
func (d *taped) MarkAt(off int64) mark {
	found := mark{Off: -1}
	for _, m := range d.Marks {
		if m.Off > off {
			break
		}
		found = m
	}
	return found
}

// Day is the time of the packets of tests.
var Day = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// Conversation returns a connection for tests.
func Conversation(p transport.Proto) transport.Conn {
	return transport.Conn{Proto: p, Client: netip.MustParseAddrPort("10.0.0.1:40001"), Server: netip.MustParseAddrPort("10.0.0.2:5000")}
}

// Unhex decodes hex digits; spaces are ignored.
func Unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Gzipped compresses b.
func Gzipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

// Samples returns bytes to render: random ones, text that looks like parts of dumps, and long repeats.
func Samples() [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	var out [][]byte
	traps := "0123456789abcdefABCDEF  ||**>><<\n\\\"'`:,-+{}[]()"
	for _, n := range []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 95, 200, 300} {
		random, trap := make([]byte, n), make([]byte, n)
		for i := range n {
			random[i], trap[i] = byte(r.Uint32()), traps[r.IntN(len(traps))]
		}
		repeat := bytes.Repeat([]byte("ab cd ef|01 23 *"), n/16+1)[:n]
		out = append(out, random, trap, repeat, bytes.Repeat([]byte{0x41}, n), bytes.Repeat([]byte("61 62 63 64 "), n/12+1)[:n])
	}
	return out
}

// WireMessage returns a message with length and code.
func WireMessage(code uint16, payload string) string {
	b := binary.LittleEndian.AppendUint16(nil, uint16(4+len(payload)))
	return string(binary.LittleEndian.AppendUint16(b, code)) + payload
}

// TruthDir parses a direction of the corpora.
func TruthDir(s string) schema.Dir {
	if s == "s2c" {
		return schema.ToClient
	}
	return schema.ToServer
}
