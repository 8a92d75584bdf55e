package packet

import (
	"fmt"
	"time"
)

// LinkType identifies the link-layer header of a packet: a number of the registry at tcpdump.org/linktypes.html.
type LinkType uint32

// Packet is a captured packet.
type Packet struct {
	N         uint32    // number in the file, from 1, as in Wireshark
	At        time.Time // UTC; zero if the file has no time
	Interface int       // index in Reader.Interfaces of the section
	Link      LinkType
	Data      []byte   // the captured bytes; valid until the next call of Next
	Orig      uint32   // length on the wire in bytes
	Comment   string   // several are separated by newlines
	Told      []string // data of an export of Wirebench about the frames of the packet
	Flow      Flow
	Pos       int64 // of Data in the (unpacked) file
}

// Flow is the direction of a packet relative to the interface that captured it.
type Flow uint8

// Torn is the error at the position where a capture file stops being readable. The packets before it were read.
type Torn struct {
	Pos     int64  // bytes from the start of the (unpacked) file
	Packets uint32 // that were read before it
	Why     string
}

func (t *Torn) Error() string {
	return fmt.Sprintf("after packet %d, at byte %d: %s", t.Packets, t.Pos, t.Why)
}

// The flows. The numbers are those of pcapng (epb_flags, bits 0 and 1).
const (
	NoFlow   Flow = iota
	Inbound       // received by the interface
	Outbound      // sent by the interface
)
