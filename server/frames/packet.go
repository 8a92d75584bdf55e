package frames

import (
	"context"
	"fmt"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Further queries of a list: the frames that share a packet, and a name for a message without a definition.

// Bounds of the search for the frames of a packet, which are close together.
const (
	maxPacketFrames = 200
	packetReach     = 5000 // frames on either side
)

// PacketQuery selects the frames that packet N carried, among those around a frame.
type PacketQuery struct {
	N    uint32 `json:"n"`
	Near int    `json:"near"`
}

// Packet lists the frames that a packet carried.
type Packet struct {
	N      uint32        `json:"n"`
	Frames []packetFrame `json:"frames"` // in order
	More   bool          `json:"more,omitempty"`
}

type packetFrame struct {
	N    int    `json:"n"`
	Name string `json:"name,omitempty"`
	Code uint32 `json:"code,omitempty"`
	Kind string `json:"kind"`
}

// Packet lists the frames, filtered or not, that a packet carried.
func (l *List) Packet(ctx context.Context, a PacketQuery) (*Packet, error) {
	log := l.log
	if a.Near <= log.Base() || a.Near > log.Len() {
		return nil, missing("frame %d does not exist", a.Near)
	}
	out := &Packet{N: a.N, Frames: []packetFrame{}}
	m := RowMaker{Snap: l.snap}
	var f transport.Frame
	var from []transport.Source
	for i := max(a.Near-1-packetReach, log.Base()); i < min(a.Near+packetReach, log.Len()); i++ {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e, data, ok := log.Get(i)
		from = log.AppendFrom(from[:0], e)
		if !ok || !cameIn(from, a.N) {
			continue
		}
		if len(out.Frames) == maxPacketFrames {
			out.More = true
			break
		}
		log.Frame(i, e, data, &f)
		one := packetFrame{N: i + 1, Code: f.Key.Code, Kind: f.Kind.String()}
		if msg := l.snap.FrameMessage(&f); msg != nil {
			one.Name = msg.Name
		} else {
			one.Name = m.nameOf(&f)
		}
		out.Frames = append(out.Frames, one)
	}
	return out, nil
}

func cameIn(from []transport.Source, packet uint32) bool {
	for _, s := range from {
		if s.Packet == packet {
			return true
		}
	}
	return false
}

// frameOffer proposes the start of a definition for a frame without one.
type frameOffer struct {
	Name  string `json:"name"`            // of the message, without a version
	Map   string `json:"map,omitempty"`   // the code map that can get a name for the code
	Code  uint32 `json:"code"`            // code of the message
	Known bool   `json:"known,omitempty"` // the map has a name for the code
	First string `json:"first,omitempty"` // suffix of the name: a version, if the dialect has versions
}

// offer proposes a name, nil if there is nothing to define.
func (m *RowMaker) offer(f *transport.Frame) *frameOffer {
	if f.Kind != transport.Message || !f.HasKey || m.Snap.FrameMessage(f) != nil {
		return nil
	}
	o := &frameOffer{Code: f.Key.Code}
	if !m.Snap.Dialect.Versions {
		o.Name = fmt.Sprintf("unknown_%02x", f.Key.Code)
		return o
	}
	o.First = ".1"
	if o.Name = m.nameOf(f); o.Name != "" {
		o.Known = true
		return o
	}
	o.Name = fmt.Sprintf("%sUNKNOWN_%04X", sidePrefix(f.Dir), f.Key.Code)
	o.Map = m.Snap.MapForCodes()
	return o
}

// sidePrefix returns the prefix of the names of messages from one side.
func sidePrefix(d schema.Dir) string {
	if d == schema.ToClient {
		return "S_"
	}
	return "C_"
}

// codeName is a code with its direction.
type codeName struct {
	code uint32
	side string
}

// nameOf returns the name in the code map for a frame without a definition, "" if there is none. Of several names it returns the first.
func (m *RowMaker) nameOf(f *transport.Frame) string {
	if !f.HasKey || !m.Snap.Dialect.Versions {
		return ""
	}
	if m.names == nil {
		m.names = make(map[codeName]string, len(m.Snap.Options.Codes))
		for name, code := range m.Snap.Options.Codes {
			k := codeName{code, name[:min(2, len(name))]}
			if old, ok := m.names[k]; !ok || name < old {
				m.names[k] = name
			}
		}
	}
	return m.names[codeName{f.Key.Code, sidePrefix(f.Dir)}]
}
