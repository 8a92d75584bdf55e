package transport

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FrameID is the identity of a frame within its capture: the packet and the offset of its first byte, and which of the frames that begin there it
// is. Notes, marks, links and answers name frames by it, since a frame's number changes when definitions, keys or a framing cut the capture
// otherwise; a number is only shown.
//
// It is written PACKET:OFFSET:NTH, as in 17:0:0. A frame that no packet shows, because a proxy injected it or never sent it, has packet 0 and offset
// 0, and Nth counts these frames from 1: 0:0:3 is the third of them. The zero FrameID is no frame's.
//
// Whoever delivers frames sets Frame.ID, by an Identifier. Messages of a text or log, which has no packets, count as one each, and a raw
// file as one packet.
type FrameID struct {
	Packet uint32 // number in the capture, from 1; 0 if no packet shows the frame
	Off    uint32 // of the first byte in the packet's payload
	Nth    uint32 // of frames that begin there, from 0; of those without a packet, from 1
}

// Shown reports whether a packet shows the frame.
func (id FrameID) Shown() bool { return id.Packet > 0 }

// Compare orders frames by where they begin; those that no packet shows come first.
func (id FrameID) Compare(other FrameID) int {
	return cmp.Or(cmp.Compare(id.Packet, other.Packet), cmp.Compare(id.Off, other.Off), cmp.Compare(id.Nth, other.Nth))
}

// String is PACKET:OFFSET:NTH.
func (id FrameID) String() string {
	b, _ := id.AppendText(make([]byte, 0, 3*11))
	return string(b)
}

// AppendText appends what String returns. It has no errors.
func (id FrameID) AppendText(b []byte) ([]byte, error) {
	b = append(strconv.AppendUint(b, uint64(id.Packet), 10), ':')
	b = append(strconv.AppendUint(b, uint64(id.Off), 10), ':')
	return strconv.AppendUint(b, uint64(id.Nth), 10), nil
}

// MarshalText is String.
func (id FrameID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// ParseFrameID reads what String writes.
func ParseFrameID(text string) (id FrameID, err error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return FrameID{}, fmt.Errorf("not a frame's identity: %.40q (want PACKET:OFFSET:NTH)", text)
	}
	for i, to := range []*uint32{&id.Packet, &id.Off, &id.Nth} {
		v, err := strconv.ParseUint(parts[i], 10, 32)
		if err != nil {
			return FrameID{}, fmt.Errorf("not a frame's identity: %.40q (want three numbers below 2^32)", text)
		}
		*to = uint32(v)
	}
	if id.Packet == 0 && (id.Off != 0 || id.Nth == 0) {
		return FrameID{}, fmt.Errorf("not a frame's identity: %.40q (without a packet it is 0:0:NTH, from 1)", text)
	}
	return id, nil
}

// UnmarshalText is ParseFrameID.
func (id *FrameID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseFrameID(string(text))
	return err
}

// Identifier sets the identities of the frames of one capture. They are the same each time that the capture is read so, as frames that begin at
// one place are of one connection and come one after the other there. It is for one goroutine; its zero value is ready.
type Identifier struct {
	Raw bool // the capture is a raw file: frames begin at their Offset in it, and it is packet 1

	last  []FrameID // by connection
	alone uint32    // frames that no packet shows
}

// Identify sets f.ID. conn numbers the connections of the capture. The frames of a connection must come in the order of delivery.
func (d *Identifier) Identify(conn int, f *Frame) {
	switch {
	case len(f.From) > 0 && !slices.ContainsFunc(f.From, func(s Source) bool { return s.Packet == 0 }): // 0 is a packet that was not captured
		f.ID = FrameID{Packet: f.From[0].Packet, Off: f.From[0].Off}
	case len(f.From) == 0 && d.Raw && f.Offset >= 0:
		f.ID = FrameID{Packet: 1, Off: uint32(f.Offset)}
	default:
		d.alone++
		f.ID = FrameID{Nth: d.alone}
		return
	}
	for len(d.last) <= conn {
		d.last = append(d.last, FrameID{})
	}
	if last := d.last[conn]; last.Packet == f.ID.Packet && last.Off == f.ID.Off {
		f.ID.Nth = last.Nth + 1
	}
	d.last[conn] = f.ID
}
