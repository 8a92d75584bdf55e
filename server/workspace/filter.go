package workspace

import (
	"context"
	"path"
	"strings"
	"time"

	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
)

// FrameFilter tests the frames of a capture by the definitions of a snapshot. It is for one goroutine; Again returns one for another.
type FrameFilter struct {
	*filter.Filter
	read  Reading // used by Fits
	frame filter.Frame
	last  time.Time
	first time.Time // of the first frame tested
	done  <-chan struct{}
}

// Filter compiles a filter. A filter with mistakes matches nothing.
func (s *Snapshot) Filter(text string) (*FrameFilter, []filter.Mistake) {
	f, mistakes := filter.Compile(text, s.FilterEnv())
	return &FrameFilter{Filter: f, read: Reading{snap: s}}, mistakes
}

// FilterEnv returns the environment of filters for the definitions of a snapshot. The client build is the number in the name of the code
// map in use, as in protocol.376012.map.
func (s *Snapshot) FilterEnv() filter.Env {
	env := filter.Env{Schema: s.withHeaders(), Headers: s.headersOnly(), Program: s.Program, Layers: protocols.LayersOf(s.Dialect.Name)}
	if s.Envelope == nil && s.Dialect.Alternate != nil {
		env.Alternate = s.Alternate
	}
	if build := buildOf(s.CodeMap); build != "" {
		env.Values = map[string]string{"build": build}
	}
	return env
}

// buildOf returns the number in the name of a code map, "" if it has none.
func buildOf(codeMap string) string {
	name, ok := strings.CutSuffix(path.Base(codeMap), ".map")
	_, number, dotted := strings.Cut(name, ".")
	if !ok || !dotted || number == "" || len(number) > 18 || strings.Trim(number, "0123456789") != "" {
		return ""
	}
	if number = strings.TrimLeft(number, "0"); number == "" {
		return "0" // filters do not take leading zeros
	}
	return number
}

// Again returns the same filter for another goroutine.
func (f *FrameFilter) Again() *FrameFilter {
	return &FrameFilter{Filter: f.Filter, read: Reading{snap: f.read.snap}}
}

// Until makes the filter stop when a context is done, also within a frame; after that no frame matches. It returns the filter.
func (f *FrameFilter) Until(ctx context.Context) *FrameFilter {
	f.done = ctx.Done()
	return f
}

// Where describes the position of a frame in a capture.
type Where struct {
	filter.Where
	Before time.Time // time of the previous frame; zero means the last frame tested
}

// Fits reports whether a frame matches. Unless Where.Before and Where.Start are set, Fits must be called for all frames in order.
func (f *FrameFilter) Fits(w Where, x *transport.Frame) bool {
	f.read.Take(x)
	return f.FitsReading(w, &f.read)
}

// FitsReading is Fits for a reading shared with other users, which must be of the filter's snapshot.
func (f *FrameFilter) FitsReading(w Where, r *Reading) bool {
	x := r.frame
	before := w.Before
	if before.IsZero() {
		before = f.last
	}
	f.last = x.At
	if f.first.IsZero() {
		f.first = x.At
	}
	if f.Everything() {
		return true
	}
	frame := &f.frame
	*frame = filter.Frame{Frame: x, Where: w.Where, Message: r.Message(), Done: f.done}
	if r.def.header != nil {
		frame.Header = r.def.header.Message
	}
	if frame.Start.IsZero() {
		frame.Start = f.first
	}
	if !before.IsZero() {
		frame.Delta = x.At.Sub(before)
	}
	switch f.Index(frame) {
	case filter.Yes:
		return true
	case filter.No:
		return false
	}
	rec := r.Shown()
	if rec != nil && frame.Message != nil {
		frame.Status = rec.Status()
	}
	return f.Match(frame, rec)
}
