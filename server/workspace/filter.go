package workspace

import (
	"time"

	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/codec/transport"
)

// FrameFilter judges the frames of a capture by the definitions of a snapshot. It is for one goroutine.
type FrameFilter struct {
	*filter.Filter
	snap *Snapshot
	rec  codec.Record
	last time.Time
}

// Filter compiles a filter. With mistakes it matches nothing.
func (s *Snapshot) Filter(text string) (*FrameFilter, []filter.Mistake) {
	f, mistakes := filter.Compile(text, filter.Env{Schema: s.Schema, Program: s.Program})
	return &FrameFilter{Filter: f, snap: s}, mistakes
}

// Where is what a capture knows of a frame beside the frame.
type Where struct {
	N       uint64
	Conn    string
	Session int
	Proto   string
}

// Fits judges the next frame of a capture: all of them have to be shown to it, in their order.
func (f *FrameFilter) Fits(w Where, x *transport.Frame) bool {
	frame := filter.Frame{
		N: w.N, At: x.At, Conn: w.Conn, Session: w.Session, Proto: w.Proto, Dir: x.Dir, Kind: x.Kind, Code: x.Key.Code, HasCode: x.HasKey,
		Group: x.Key.Group, Bytes: x.Bytes, Depth: len(x.Via), Note: x.Note, Resumed: x.Resumed,
	}
	if !f.last.IsZero() {
		frame.Delta = x.At.Sub(f.last)
	}
	f.last = x.At
	if f.Everything() {
		return true
	}
	frame.Message = f.snap.FrameMessage(x)
	switch f.Index(&frame) {
	case filter.Yes:
		return true
	case filter.No:
		return false
	}
	if frame.Message == nil {
		return f.Match(&frame, nil)
	}
	p, err := f.snap.Program(frame.Message)
	if err != nil {
		return f.Match(&frame, nil)
	}
	f.rec.Session = codec.Session{}
	p.Decode(&f.rec, x.Bytes)
	frame.Status = f.rec.Status()
	return f.Match(&frame, &f.rec)
}
