// Package transport defines how the bytes of a connection become frames. A transport cuts streams, orders packets, joins fragments and
// deciphers. Each protocol has a transport in a package below this one. Transports do no I/O, have no clock and know no definitions.
package transport

import (
	"slices"
	"time"

	"wirebench/defs/schema"
)

// Segment is a piece of the traffic of one connection in one direction: the next bytes of a stream, or one datagram.
type Segment struct {
	Dir    schema.Dir // ToServer or ToClient
	At     time.Time
	Packet uint32 // number in the capture, from 1; 0 = none
	Off    uint32 // offset of Bytes in the packet's payload
	Bytes  []byte // may be reused after Feed has returned
	Lost   int64  // stream, instead of Bytes: number of missing bytes, or Unknown; Packet and Off locate the byte after the gap. Datagram: bytes missing at its end
	Start  bool   // stream: first segment of the direction, with nothing missing before it
	End    bool   // stream: the direction ends after this segment
}

// Unknown stands for an unknown offset or number of lost bytes.
const Unknown = -1

// Kind is the kind of a Frame.
type Kind uint8

// The kinds of frames.
const (
	Message Kind = iota // an application message: in order, complete, deciphered
	Control             // transport signalling: handshake, ack, sync, ping
	Opaque              // encrypted with an unknown key
	Problem             // a gap or malformed bytes; Note has the reason
	Packet              // an event of the packets of a connection, such as a reset, which Note says; without bytes, only where it is wanted
)

// String returns the kind as the command line and the API write it.
func (k Kind) String() string {
	return [...]string{"message", "control", "opaque", "problem", "packet"}[k]
}

// Source is a range of a captured packet's payload that contributed to a frame.
type Source struct {
	Packet   uint32 // number in the capture, from 1
	Off, Len uint32 // bytes of the payload, as it was captured
}

// Frame is one frame of a conversation, from a transport or from a log. The frame and everything it refers to, except Conn, are valid only
// during the call of emit; callers that retain it must copy it.
type Frame struct {
	N       uint32  // number in the capture or log, from 1, in delivery order; 0 before delivery
	Conn    *Conn   // set with N
	Marks   Marks   // changes by a proxy, as stated by a log or a recording
	ID      FrameID // identity in notes, marks, links and answers; set with N
	Kind    Kind
	Dir     schema.Dir
	At      time.Time // time of the packet that completed the frame in order
	Key     schema.Key
	HasKey  bool     // Key.Code is known, so the definition can be looked up
	Name    string   // name of the definition in Key.Group, where messages have no code: "pong"; else ""
	Bytes   []byte   // deciphered, with the message's own header; of a Problem the malformed bytes, if any
	From    []Source // in byte order; of a gap the place after it, with Len 0
	Via     []string // enclosing packets, outermost first: "cluster:1", "reliable:3", "chunk", "stream"; or the name of the message's alternative header
	Offset  int64    // of the first byte in the byte stream of the direction, from 0; Unknown for datagrams
	Length  int64    // of a gap: number of missing bytes, or Unknown
	Resumed bool     // first frame found after a problem
	Begins  bool     // first frame of another session between the same ends, where the transport detects sessions
	Note    string   // error or irregularity, for people; "" if none
}

// In reports whether Via has a name.
func (f *Frame) In(name string) bool { return slices.Contains(f.Via, name) }

// MarkHeader in Via, at its end, marks messages with the header of an envelope.
const MarkHeader = "header"

// Around returns the packets around the message: Via without MarkHeader.
func (f *Frame) Around() []string {
	if n := len(f.Via); n > 0 && f.Via[n-1] == MarkHeader {
		return f.Via[:n-1]
	}
	return f.Via
}

// Blank returns the frame of a datagram without bytes, which no transport reads: it has no message, and is listed all the same.
func Blank(seg Segment) *Frame {
	f := &Frame{Kind: Control, Dir: seg.Dir, At: seg.At, Offset: Unknown, Note: "a datagram without bytes"}
	if seg.Packet != 0 {
		f.From = []Source{{Packet: seg.Packet, Off: seg.Off}}
	}
	return f
}

// Clear is a deciphered range of a captured packet's payload, at the same place and of the same length. It is valid only during the
// callback.
type Clear struct {
	Dir    schema.Dir
	Packet uint32 // number in the capture, from 1
	Off    uint32 // of Bytes in the packet's payload
	Bytes  []byte
}

// Transport turns the traffic of one connection into frames. A Transport serves one connection and one goroutine at a time. It never
// blocks or panics, and its memory is bounded for any input.
type Transport interface {
	// Feed takes the next segment of either direction and emits the frames that it completes.
	Feed(seg Segment, emit func(*Frame))
	// Flush reports the end of the input, or a long pause: it emits incomplete messages as problems.
	Flush(at time.Time, emit func(*Frame))
}

// Waiter is a Transport that may keep bytes until it can decide what they are. Their frames, emitted later, have the times at which the
// bytes arrived.
type Waiter interface {
	Transport
	Waits() bool // reports whether it keeps such bytes
}

// Measure returns the size of the message at the start of data, from its definition; transports of protocols without lengths use it.
// If n > 0 it is the size in bytes. If n == 0, at least need bytes are required. If why is not nil, no message starts with these bytes,
// whatever follows.
type Measure func(dir schema.Dir, data []byte) (n, need int, key schema.Key, why Reason)

// Reason formats the reason why bytes are not a message. It is called only when the reason is shown, as most never are. It is valid
// until the next call of the Measure that returned it, and only while the bytes are unchanged.
type Reason func() string
