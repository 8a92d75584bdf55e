package transport

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

// FrameID identifies a frame within its capture by the packet and offset of its first byte, and its index among the frames that begin
// there. Notes, marks, links and answers refer to frames by it, since frame numbers change when definitions, keys or the framing change;
// numbers are for display only.
//
// Its text form is PACKET:OFFSET:NTH, as in 17:0:0. A frame without a packet, because a proxy injected it or dropped it, has packet 0 and
// offset 0, and Nth numbers these frames from 1: 0:0:3 is the third of them. The zero FrameID identifies no frame.
//
// The code that delivers frames sets Frame.ID with an Identifier. In texts and logs, which have no packets, each message counts as a
// packet; a raw file counts as one packet.
type FrameID struct {
	Packet uint32 // number in the capture, from 1; 0 if no packet shows the frame
	Off    uint32 // of the first byte in the packet's payload
	Nth    uint32 // index among the frames that begin there, from 0; without a packet, from 1
}

// Shown reports whether a packet contains the frame.
func (id FrameID) Shown() bool { return id.Packet > 0 }

// Compare orders frames by position; frames without a packet sort first.
func (id FrameID) Compare(other FrameID) int {
	return cmp.Or(cmp.Compare(id.Packet, other.Packet), cmp.Compare(id.Off, other.Off), cmp.Compare(id.Nth, other.Nth))
}

// String returns PACKET:OFFSET:NTH.
func (id FrameID) String() string {
	b, _ := id.AppendText(make([]byte, 0, 3*11))
	return string(b)
}

// AppendText appends the result of String. The error is always nil.
func (id FrameID) AppendText(b []byte) ([]byte, error) {
	b = append(strconv.AppendUint(b, uint64(id.Packet), 10), ':')
	b = append(strconv.AppendUint(b, uint64(id.Off), 10), ':')
	return strconv.AppendUint(b, uint64(id.Nth), 10), nil
}

// MarshalText returns the result of String.
func (id FrameID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// ParseFrameID parses the format written by String.
func ParseFrameID(text string) (id FrameID, err error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return FrameID{}, fmt.Errorf("not a frame ID: %.40q (want PACKET:OFFSET:NTH)", text)
	}
	for i, to := range []*uint32{&id.Packet, &id.Off, &id.Nth} {
		v, err := strconv.ParseUint(parts[i], 10, 32)
		if err != nil {
			return FrameID{}, fmt.Errorf("not a frame ID: %.40q (want three numbers below 2^32)", text)
		}
		*to = uint32(v)
	}
	if id.Packet == 0 && (id.Off != 0 || id.Nth == 0) {
		return FrameID{}, fmt.Errorf("not a frame ID: %.40q (without a packet it is 0:0:NTH, from 1)", text)
	}
	return id, nil
}

// UnmarshalText sets id to the result of ParseFrameID.
func (id *FrameID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseFrameID(string(text))
	return err
}

// Identifier assigns the identities of the frames of one capture. Reading the capture again with the same settings yields the same
// identities, because frames that begin at one place belong to one direction of a connection and are delivered consecutively in it. An Identifier serves one
// goroutine; its zero value is ready to use.
type Identifier struct {
	Raw bool // the capture is a raw file: frames begin at their Offset in packet 1, or from 4 GiB on, in one packet for each

	last  []FrameID // by connection and direction
	alone uint32    // number of frames without a packet so far
}

// RawPacket returns the packet of an offset in a raw file: 1 for the first 4 GiB, 2 for the next.
func RawPacket(offset int64) uint32 { return 1 + uint32(offset>>32) }

// Identify sets f.ID. conn numbers the connections of the capture. The frames of a connection must be passed in delivery order.
func (d *Identifier) Identify(conn int, f *Frame) {
	id := &f.ID // written field by field, and read so: what is copied at once waits for all of it
	switch {
	case len(f.From) > 0 && !slices.ContainsFunc(f.From, func(s Source) bool { return s.Packet == 0 }): // packet 0 was not captured
		id.Packet, id.Off, id.Nth = f.From[0].Packet, f.From[0].Off, 0
	case len(f.From) == 0 && d.Raw && f.Offset >= 0:
		id.Packet, id.Off, id.Nth = RawPacket(f.Offset), uint32(f.Offset), 0
	default:
		d.alone++
		*id = FrameID{Nth: d.alone}
		return
	}
	i := 3*conn + int(min(f.Dir, schema.ToClient))
	if f.Kind == Packet {
		i = 3 * conn // the frames of its direction go on as if it were not there
	}
	for len(d.last) <= i {
		d.last = append(d.last, FrameID{})
	}
	last := &d.last[i]
	if last.Packet == id.Packet && last.Off == id.Off {
		id.Nth = last.Nth + 1
	}
	last.Packet, last.Off, last.Nth = id.Packet, id.Off, id.Nth
}
