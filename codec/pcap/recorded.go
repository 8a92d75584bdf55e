package pcap

import (
	"encoding/binary"
	"net/netip"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// A proxy that changes messages has two conversations: one with the client and one with the server. The packets of its recording hold the
// bytes that were sent. They do not show which messages were dropped, who made a message, or which acknowledgements were the proxy's own. So
// the recording also stores the frames, as shown live, each in a custom block among the packets that other programs skip. With
// Options.Recorded they are read instead of the packets.
//
// The body of a block is a version, a kind, and fields: numbers as in package binary (Uvarint, Varint), texts and bytes preceded by their
// length. Blocks of other versions, and invalid ones, are skipped.
const (
	blockRecorded   = 0x80574652 // one of the types reserved for local use
	recordedVersion = 1
	recordsStart    = 'S' // the frames of the section are recorded; followed by the cut
	recordsConn     = 'C'
	recordsFrame    = 'F'
)

// maxRecorded is the maximum number of recorded bytes of a frame.
const maxRecorded = MaxPacket - 1<<20

// Bits of a recorded frame.
const (
	recordedKey = 1 << iota
	recordedTime
	recordedResumed
)

// RecordFrames declares that the following frames are recorded. cut identifies the rules by which they were cut, for Options.Recorded.
func (w *Writer) RecordFrames(cut string) error {
	w.record(recordsStart)
	w.bytes(cut)
	return w.endRecord()
}

// RecordConn records a connection, which frames name by its id.
func (w *Writer) RecordConn(id uint32, c transport.Conn) error {
	w.record(recordsConn)
	w.uint(uint64(id))
	w.uint(uint64(c.Proto))
	w.uint(uint64(max(c.Session, 0)))
	for _, end := range []netip.AddrPort{c.Client, c.Server} {
		text, _ := end.MarshalText() // it never fails
		w.bytes(string(text))
	}
	return w.endRecord()
}

// RecordFrame records a frame of a connection passed to RecordConn. first is the number that its sources use for the first packet of the
// file. Of a frame longer than 15 MiB only the start is recorded.
func (w *Writer) RecordFrame(conn uint32, f *transport.Frame, marks transport.Marks, first uint32) error {
	w.record(recordsFrame)
	w.uint(uint64(conn))
	bits := uint64(0)
	for i, set := range []bool{f.HasKey, !f.At.IsZero(), f.Resumed} {
		if set {
			bits |= 1 << i
		}
	}
	for _, v := range []uint64{bits, uint64(f.Kind), uint64(f.Dir), uint64(marks), uint64(f.Key.Code)} {
		w.uint(v)
	}
	at := int64(0)
	if !f.At.IsZero() {
		at = f.At.UnixNano()
	}
	for _, v := range []int64{at, f.Offset, f.Length} {
		w.buf = binary.AppendVarint(w.buf, v)
	}
	w.bytes(f.Key.Group)
	w.bytes(f.Name)
	w.bytes(f.Note)
	w.uint(uint64(len(f.Via)))
	for _, text := range f.Via {
		w.bytes(text)
	}
	from := f.From
	for _, s := range from {
		if s.Packet < first { // it is in an earlier file
			from = nil
			break
		}
	}
	w.uint(uint64(len(from)))
	for _, s := range from {
		for _, v := range []uint32{s.Packet - first + 1, s.Off, s.Len} {
			w.uint(uint64(v))
		}
	}
	w.bytes(string(f.Bytes[:min(len(f.Bytes), maxRecorded)]))
	return w.endRecord()
}

func (w *Writer) record(what byte) {
	w.begin(blockRecorded)
	w.buf = append(w.buf, recordedVersion, what)
}

func (w *Writer) endRecord() error {
	w.pad()
	return w.end(false)
}

func (w *Writer) uint(v uint64) { w.buf = binary.AppendUvarint(w.buf, v) }

func (w *Writer) bytes(s string) {
	w.uint(uint64(len(s)))
	w.buf = append(w.buf, s...)
}

// recordedFrames reads recorded frames.
type recordedFrames struct {
	a      *packet.Assembler
	wanted func(cut string) bool // Options.Recorded
	on     bool                  // they replace the packets of the section
	conns  map[uint32]*packet.Ready
	frame  transport.Frame
}

// record takes the body of a block, and nil at the start of a section.
func (r *recordedFrames) record(body []byte) {
	if body == nil {
		r.on = false
	}
	if len(body) < 2 || body[0] != recordedVersion {
		return
	}
	in := fields{rest: body[2:]}
	switch {
	case body[1] == recordsStart:
		if cut := in.text(); !in.wrong {
			r.on, r.conns = r.wanted(cut), map[uint32]*packet.Ready{}
		}
	case body[1] == recordsConn && r.on:
		r.takeConn(&in)
	case body[1] == recordsFrame && r.on:
		r.takeFrame(&in)
	}
}

func (r *recordedFrames) takeConn(in *fields) {
	id, proto, session, client, server := in.uint(), in.uint(), in.uint(), in.text(), in.text()
	if in.wrong || id > 1<<32-1 || session > 1<<31-1 {
		r.a.Malformed(1)
		return
	}
	c := transport.Conn{Proto: transport.UDP, Session: int(session)}
	if proto == uint64(transport.TCP) {
		c.Proto = transport.TCP
	}
	c.Client, _ = netip.ParseAddrPort(client)
	c.Server, _ = netip.ParseAddrPort(server)
	if ready := r.a.Ready(c); ready != nil {
		r.conns[uint32(id)] = ready
	}
}

func (r *recordedFrames) takeFrame(in *fields) {
	c := r.conns[uint32(in.uint())]
	bits, kind, dir, marks, code := in.uint(), in.uint(), in.uint(), in.uint(), in.uint()
	at, offset, length := in.int(), in.int(), in.int()
	f := &r.frame
	*f = transport.Frame{
		Kind: transport.Kind(kind), Dir: schema.Dir(dir), HasKey: bits&recordedKey != 0, Resumed: bits&recordedResumed != 0, Offset: offset, Length: length,
		Via: f.Via[:0], From: f.From[:0],
	}
	if bits&recordedTime != 0 {
		f.At = time.Unix(0, at).UTC()
	}
	f.Key = schema.Key{Dir: f.Dir, Group: in.text(), Code: uint32(code)}
	f.Name, f.Note = in.text(), in.text()
	for n := in.uint(); n > 0 && !in.wrong; n-- {
		f.Via = append(f.Via, in.text())
	}
	for n := in.uint(); n > 0 && !in.wrong; n-- {
		f.From = append(f.From, transport.Source{Packet: uint32(in.uint()), Off: uint32(in.uint()), Len: uint32(in.uint())})
	}
	f.Bytes = in.bytes()
	if in.wrong || kind > uint64(transport.Problem) || dir > uint64(schema.ToClient) || c == nil {
		r.a.Malformed(1)
		return
	}
	c.Count(f.Dir, len(f.Bytes))
	c.Emit(f, transport.Marks(marks))
}

// fields reads the fields of a record. After an error all fields are zero.
type fields struct {
	rest  []byte
	wrong bool
}

func (r *fields) uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.rest, r.wrong = nil, true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *fields) int() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.rest, r.wrong = nil, true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *fields) bytes() []byte {
	n := r.uint()
	if r.wrong || n > uint64(len(r.rest)) {
		r.rest, r.wrong = nil, true
		return nil
	}
	out := r.rest[:n:n]
	r.rest = r.rest[n:]
	return out
}

func (r *fields) text() string { return string(r.bytes()) }
