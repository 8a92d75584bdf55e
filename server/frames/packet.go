package frames

import (
	"context"
	"fmt"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// What a list of frames says beside its rows: which frames share a packet, and how one that nothing defines could be called.

// Bounds of the search for frames of a packet: they stand close together, as packets come one after another.
const (
	maxPacketFrames = 200
	packetReach     = 5000 // frames on either side
)

// PacketQuery asks which frames came in packet N, of those around a frame.
type PacketQuery struct {
	N    uint32 `json:"n"`
	Near int    `json:"near"`
}

// Packet has the frames that came in a packet.
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

// Packet lists the frames, filtered or not, that came in a packet.
func (l *List) Packet(ctx context.Context, a PacketQuery) (*Packet, error) {
	log := l.log
	if a.Near <= log.Base() || a.Near > log.Len() {
		return nil, missing("there is no frame %d", a.Near)
	}
	out := &Packet{N: a.N, Frames: []packetFrame{}}
	m := RowMaker{Snap: l.snap}
	var f transport.Frame
	for i := max(a.Near-1-packetReach, log.Base()); i < min(a.Near+packetReach, log.Len()); i++ {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e, data, ok := log.Get(i)
		if !ok || !cameIn(log.Extra(e).From, a.N) {
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

// frameOffer is how a definition of a frame could begin that has none.
type frameOffer struct {
	Name  string `json:"name"`            // of the message, without a version
	Map   string `json:"map,omitempty"`   // the code map that does not name its code yet
	Code  uint32 `json:"code"`            // what that would say
	Known bool   `json:"known,omitempty"` // the map names it already
	First string `json:"first,omitempty"` // what is put behind the name: a version, where the dialect has them
}

// offer proposes a name; nil where there is nothing to define.
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
	o.Map = m.Snap.CodeMap
	return o
}

// sidePrefix is what names of the client's and the server's messages begin with.
func sidePrefix(d schema.Dir) string {
	if d == schema.ToClient {
		return "S_"
	}
	return "C_"
}

// codeName is a code of one side.
type codeName struct {
	code uint32
	side string
}

// nameOf is what the code map calls a frame that nothing defines, "" if it says nothing. Of several names the first counts.
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
