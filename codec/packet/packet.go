package packet

import (
	"fmt"
	"time"
)

// LinkType says what a packet starts with: a number of the registry at tcpdump.org/linktypes.html.
type LinkType uint32

// Packet is a captured packet.
type Packet struct {
	N         uint32    // in the file, from 1, as Wireshark counts
	At        time.Time // UTC; zero where the file does not tell
	Interface int       // index in Reader.Interfaces of the section
	Link      LinkType
	Data      []byte // as much as was kept of it; valid until the next call of Next
	Orig      uint32 // bytes that it had on the wire
	Comment   string // several are parted by newlines
	Flow      Flow
	Pos       int64 // of Data in the (unpacked) file
}

// Flow is the direction of a packet at the interface that caught it.
type Flow uint8

// Torn says where a capture file stops being readable. What stands before it was read.
type Torn struct {
	Pos     int64  // bytes from the start of the (unpacked) file
	Packets uint32 // that were read
	Why     string
}

func (t *Torn) Error() string {
	return fmt.Sprintf("after packet %d, at byte %d: %s", t.Packets, t.Pos, t.Why)
}

// The flows. The numbers are those of pcapng (epb_flags, bits 0 and 1).
const (
	NoFlow   Flow = iota
	Inbound       // came in at the interface
	Outbound      // went out
)
