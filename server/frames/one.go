package frames

import (
	"encoding/hex"
	"slices"

	"wirebench/codec/transport"
	"wirebench/server/live"
	"wirebench/server/workspace"
)

// maxFrameShown is the maximum number of bytes of a frame sent to a page. For longer frames, which maps and other files have, the list
// shows the length, and exports have all bytes.
const maxFrameShown = 1 << 20

// Frame is one frame, up to maxFrameShown.
type Frame struct {
	Origin
	Hex string `json:"hex"`
	Row Row    `json:"row"`
}

// Origin tells what a frame is and where it comes from.
type Origin struct {
	N     int    `json:"n" doc:"number in the capture, from 1"`
	Dir   string `json:"dir" ts:"'c2s' | 's2c' | ''"`
	Group string `json:"group"`
	Name  string `json:"name"` // of its definition in the library; "" if it has none
	Conn  string `json:"conn"`
	frameSource
	Offer *frameOffer `json:"offer,omitempty"` // for a frame without a definition
	About *About      `json:"about,omitempty"` // for a frame that is not a message

	Alternate bool `json:"alternate,omitempty"` // the frame has the alternative header of the dialect
	Stream    bool `json:"stream,omitempty"`    // the frame is a part of a byte stream, not a datagram
	Ciphered  bool `json:"ciphered,omitempty"`  // its packets may have to be deciphered to show its bytes in them
}

// Definition returns the proposed name for the definition of a frame, "" if it has one.
func (o *Origin) Definition() string {
	if o.Offer == nil {
		return ""
	}
	return o.Offer.Name + o.Offer.First
}

// frameSource lists the places in packets that a frame was assembled from.
type frameSource struct {
	Sources []frameRun `json:"sources"` // in the order of the bytes
}

type frameRun struct {
	Packet uint32 `json:"packet"`
	Off    uint32 `json:"off"` // in the payload of the packet, bytes
	Len    uint32 `json:"len"`
}

// Frame returns a frame of the capture, whether or not it is in the list.
func (l *List) Frame(n int) (*Frame, error) {
	t, err := Take(l.Source, n)
	if err != nil {
		return nil, err
	}
	m := RowMaker{Snap: l.snap}
	return &Frame{t.Origin(l.snap), hex.EncodeToString(t.Bytes()), m.row(n-1, t.entry, &t.frame)}, nil
}

// Taken is a frame apart from its capture, which may forget it.
type Taken struct {
	entry               live.Entry
	frame               transport.Frame
	conn                live.Conn
	deciphered, running bool
}

// Take returns a frame by its number.
func Take(src Source, n int) (*Taken, error) {
	log := src.Log()
	e, data, ok := log.Get(n - 1)
	if !ok {
		return nil, missing("frame %d is not in memory", n)
	}
	t := &Taken{entry: e, running: src.Running()}
	log.Frame(n-1, e, slices.Clone(data), &t.frame)
	t.conn = log.Conns()[e.Conn]
	t.deciphered = src.Ciphered(t.conn.Name)
	return t, nil
}

// Bytes returns the bytes of the frame, up to maxFrameShown.
func (t *Taken) Bytes() []byte { return t.frame.Bytes[:min(len(t.frame.Bytes), maxFrameShown)] }

// Size returns the number of bytes in memory.
func (t *Taken) Size() int { return len(t.frame.Bytes) }

// Kind returns the kind of the frame.
func (t *Taken) Kind() transport.Kind { return t.frame.Kind }

// Origin describes the frame as some definitions explain it.
func (t *Taken) Origin(snap *workspace.Snapshot) Origin {
	f := &t.frame
	out := Origin{
		N: int(f.N), Dir: f.Dir.String(), Group: groupOf(snap, f, t.conn), Conn: t.conn.Name, About: about(f, t.conn), Alternate: snap.HasAlternate(f), Stream: f.Offset >= 0,
	}
	if p, ok := snap.Protocol(); ok { // TLS may encrypt any protocol, but not in running traffic
		out.Ciphered = (t.deciphered || p.Ciphers && t.running) && f.Kind != transport.Opaque && !slices.Contains(f.Via, "handshake")
	}
	if msg := snap.FrameMessage(f); msg != nil {
		out.Name = snap.NameOf(msg)
	}
	m := RowMaker{Snap: snap}
	out.Offer = m.offer(f)
	out.Sources = []frameRun{}
	for _, s := range f.From {
		out.Sources = append(out.Sources, frameRun{s.Packet, s.Off, s.Len})
	}
	return out
}
