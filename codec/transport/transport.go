// Package transport is what turns the bytes of a connection into frames: it cuts streams, puts packets in order, joins what was split
// and deciphers. Each protocol's transport is a package below this one. None of them does I/O, has a clock, or knows definitions.
package transport

import (
	"slices"
	"time"

	"wirebench/defs/schema"
)

// Segment is a piece of what one connection carried in one direction: the bytes of a stream in their order, or one datagram.
type Segment struct {
	Dir    schema.Dir // ToServer or ToClient
	At     time.Time
	Packet uint32 // number in the capture, from 1; 0 = none
	Off    uint32 // of Bytes in the packet's payload, where a part of it is left out
	Bytes  []byte // may be reused after Feed has returned
	Lost   int64  // instead of Bytes: so many bytes of the stream are missing here, Unknown if nobody knows how many; Packet and Off are of the byte behind. Of a datagram: of its end, behind Bytes
	Start  bool   // of a stream: the first segment of the direction, and nothing before it is missing
	End    bool   // of a stream: no more will come in this direction; with Bytes, after them
}

// Unknown is a number of lost bytes, or an offset, that nobody knows.
const Unknown = -1

// Kind says what a Frame is.
type Kind uint8

// The kinds of frames.
const (
	Message Kind = iota // a message of the game: in order, whole, deciphered
	Control             // what the protocol says for itself: handshake, ack, sync, ping
	Opaque              // enciphered, and the key is not known
	Problem             // a gap, or bytes that cannot be right; Note says what
)

// String is the kind as the command line and the API write it.
func (k Kind) String() string { return [...]string{"message", "control", "opaque", "problem"}[k] }

// Source is a run of bytes of a captured packet's payload that a frame was made of.
type Source struct {
	Packet   uint32 // number in the capture, from 1
	Off, Len uint32 // bytes of the payload, as it was captured
}

// Frame is one frame of a conversation: what a transport found, or a log told. It and all that it refers to, except Conn, are valid only
// during the call of emit; callers that retain it must copy it.
type Frame struct {
	N       uint32  // its number in the capture or log, from 1, in the order of delivery; 0 before it is delivered
	Conn    *Conn   // set with N
	Marks   Marks   // what a proxy did to it, as a log or a recording tells
	ID      FrameID // its name in notes, marks, links and answers; set with N
	Kind    Kind
	Dir     schema.Dir
	At      time.Time // of the packet with which it was whole and in its turn
	Key     schema.Key
	HasKey  bool     // Key.Code is known: the definition can be looked up
	Name    string   // of the definition in Key.Group, where messages have no code: "pong"; else ""
	Bytes   []byte   // deciphered, with the message's own header; of a Problem the bytes that are wrong, if there are any
	From    []Source // in the order of the bytes; of a gap the place behind it, with Len 0
	Via     []string // what it was wrapped in, the outermost first: "cluster:1", "reliable:3", "chunk", "stream"
	Offset  int64    // of its first byte in the byte stream of its direction: 0 is the first byte of the connection; Unknown of datagrams
	Length  int64    // of a Problem that is a gap: how many bytes are missing, Unknown if nobody knows
	Resumed bool     // found again after a problem
	Begins  bool     // the first frame of another session between the same two ends, where the transport itself sees where one begins
	Note    string   // what is wrong or odd, for people; "" if nothing is
}

// ViaLong is in Frame.Via of a message that has the longer one of two headers that its protocol knows.
const ViaLong = "integrity"

// Long reports whether the message has the longer header.
func (f *Frame) Long() bool { return slices.Contains(f.Via, ViaLong) }

// Clear is a run of a captured packet's payload, deciphered: it has the same place and length there. It is valid until who is told of it
// has returned.
type Clear struct {
	Dir    schema.Dir
	Packet uint32 // number in the capture, from 1
	Off    uint32 // of Bytes in the packet's payload
	Bytes  []byte
}

// Transport turns what one connection carries into frames. One connection has one Transport, used by one goroutine at a time. It never
// blocks and never panics; what it keeps is bounded, whatever comes.
type Transport interface {
	// Feed takes the next segment in either direction and emits what became known by it.
	Feed(seg Segment, emit func(*Frame))
	// Flush says that nothing more comes, or nothing for long: it emits what is incomplete as problems.
	Flush(at time.Time, emit func(*Frame))
}

// Measure says how many bytes the message at the start of data takes. n > 0 is its size, n == 0 is "more bytes are needed" with need the
// least number of bytes in all. why != nil says that no message starts so, whatever bytes follow.
//
// It is how a transport whose messages have no length asks the definitions.
type Measure func(dir schema.Dir, data []byte) (n, need int, key schema.Key, why Reason)

// Reason words why bytes are no message, when it is shown: most reasons never are. It is valid until the next call of the Measure that
// returned it, while the bytes stay as they are.
type Reason func() string
