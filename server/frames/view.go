package frames

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// Bounds of the work between two checks of the clock and the context.
const (
	viewStep  = 1 << 15              // maximum number of frames
	viewStart = 1 << 10              // initial number of frames, before the speed of the filter is known
	viewTime  = 5 * time.Millisecond // intended duration
	lookEvery = 1 << 6               // frames of a scan
)

// ViewSpec selects the frames of a capture to list.
type ViewSpec struct {
	Filter string
	Chips  []string // further filters; all must match
}

// key returns a key of the spec.
func (v ViewSpec) key() string { return v.Filter + "\x00" + strings.Join(v.Chips, "\x00") }

// View holds the frames of a log that match filters. It is computed in steps, see Advance, and grows with the log. It is safe for
// concurrent use.
type View struct {
	Log      *live.Log
	Snapshot *workspace.Snapshot
	spec     ViewSpec
	filters  []*workspace.FrameFilter // all must match; empty lists every frame
	Mistakes []ViewMistake            // with mistakes the view is empty, except that invalid chips are ignored
	notes    *listNotes

	step   sync.Mutex // held while frames are tested
	stride int        // frames tested at once; guarded by step

	mu      sync.RWMutex
	fits    []uint32 // indexes of matching frames, ascending; unused without filters
	gone    int      // number of matching frames before fits, dropped after a rolling log discarded them
	scanned int
}

// ViewMistake is a mistake in a filter.
type ViewMistake struct {
	In      string `json:"in"` // "filter", "chip", "highlight", "color", "column" or "sort"
	Index   int    `json:"index,omitempty"`
	Start   int    `json:"start"` // UTF-16 code units, as browsers count
	End     int    `json:"end"`
	Message string `json:"message"`
	Help    string `json:"help,omitempty"`
}

// mistakesIn converts mistakes for a browser.
func mistakesIn(in string, index int, text string, list []filter.Mistake) []ViewMistake {
	var out []ViewMistake
	for _, m := range list {
		out = append(out, ViewMistake{in, index, utf16Index(text, m.Start), utf16Index(text, m.End), m.Message, m.Help})
	}
	return out
}

// utf16Index returns the number of UTF-16 code units before a byte of a text.
func utf16Index(text string, at int) (n int) {
	for i, r := range text {
		if i >= at {
			break
		}
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

// Views caches the most recently used views of a log.
type Views struct {
	mu    sync.Mutex
	views []*View // most recent first
}

// maxViews is the number of cached views of a log; each takes four bytes per matching frame.
const maxViews = 6

// Get returns a cached view, or begins a new one.
func (c *Views) Get(log *live.Log, snap *workspace.Snapshot, spec ViewSpec, notes store.Notes) *View {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, v := range c.views {
		if v.Snapshot == snap && v.spec.key() == spec.key() && (!v.AsksNotes() || v.notes.Same(notes)) {
			c.views = slices.Insert(slices.Delete(c.views, i, i+1), 0, v)
			return v
		}
	}
	v := NewView(log, snap, spec, notes)
	c.views = slices.Insert(c.views, 0, v)
	clear(c.views[min(len(c.views), maxViews):])
	c.views = c.views[:min(len(c.views), maxViews)]
	return v
}

// NewView returns a view for which no frame has been tested yet.
func NewView(log *live.Log, snap *workspace.Snapshot, spec ViewSpec, notes store.Notes) *View {
	v := &View{Log: log, Snapshot: snap, spec: spec, notes: newListNotes(notes), stride: viewStart}
	for i, text := range append([]string{spec.Filter}, spec.Chips...) {
		f, mistakes := snap.Filter(text)
		switch {
		case len(mistakes) > 0 && i == 0:
			v.Mistakes = append(v.Mistakes, mistakesIn("filter", 0, text, mistakes)...)
		case len(mistakes) > 0:
			v.Mistakes = append(v.Mistakes, mistakesIn("chip", i-1, text, mistakes)...)
		case !f.Everything():
			v.filters = append(v.filters, f)
		}
	}
	return v
}

// wrong reports whether the main filter is invalid.
func (v *View) wrong() bool { return len(v.Mistakes) > 0 && v.Mistakes[0].In == "filter" }

// Rewritten returns the expanded form of an abbreviated filter.
func (v *View) Rewritten() string {
	if len(v.filters) == 0 || v.wrong() || strings.TrimSpace(v.spec.Filter) == "" {
		return ""
	}
	return v.filters[0].Rewritten()
}

// AsksNotes reports whether the view depends on notes, so that it is invalid after a change of notes.
func (v *View) AsksNotes() bool {
	return strings.Contains(v.spec.key(), "mark") || strings.Contains(v.spec.key(), "note") || strings.Contains(v.spec.key(), "info")
}

// State returns the number of matching frames and the number of frames tested.
func (v *View) State() (fit, scanned int) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if len(v.filters) == 0 && !v.wrong() {
		return v.scanned, v.scanned
	}
	return v.gone + len(v.fits), v.scanned
}

// Advance tests frames of the log until all are tested or the time is over. It reports whether all are.
func (v *View) Advance(ctx context.Context, enough time.Duration) bool {
	v.step.Lock()
	defer v.step.Unlock()
	until := time.Now().Add(enough)
	for {
		have := v.Log.Len()
		if len(v.filters) == 0 || v.wrong() {
			v.mu.Lock()
			v.scanned = have
			v.mu.Unlock()
			return true
		}
		if v.scanned >= have { // changed only under step
			return true
		}
		if ctx.Err() != nil || time.Now().After(until) {
			return false
		}
		begun := time.Now()
		if !v.judge(ctx, v.scanned, min(have, v.scanned+max(v.stride, 1))) {
			return false
		}
		switch took := time.Since(begun); {
		case took > 2*viewTime:
			v.stride = max(v.stride/2, 1)
		case took < viewTime:
			v.stride = min(v.stride*2, viewStep)
		}
	}
}

// judge tests the next frames, in parallel on all processors. If the context is done it returns false, and no frame is added.
func (v *View) judge(ctx context.Context, from, to int) bool {
	parts := max(min(runtime.GOMAXPROCS(0), (to-from)/lookEvery), 1)
	found := make([][]uint32, parts)
	work := make([]func(), parts)
	for k := range parts {
		a, b := from+(to-from)*k/parts, from+(to-from)*(k+1)/parts
		filters := make([]*workspace.FrameFilter, len(v.filters))
		for i, f := range v.filters {
			if filters[i] = f; k > 0 {
				filters[i] = f.Again()
			}
			filters[i].Until(ctx)
		}
		work[k] = func() { found[k] = v.fitting(ctx, filters, a, b) }
	}
	supervise.Together(work...)
	if ctx.Err() != nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, f := range found {
		v.fits = append(v.fits, f...)
	}
	v.scanned = to
	v.forget()
	return true
}

// Until makes the filters that Has uses stop when a context is done.
func (v *View) Until(ctx context.Context) {
	for _, f := range v.filters {
		f.Until(ctx)
	}
}

// TooCostly returns a mistake if filters exceeded the time limit for some frames; ok is false if they did not.
func (v *View) TooCostly() (m ViewMistake, ok bool) {
	n := int64(0)
	for _, f := range v.filters {
		n += f.Unjudged()
	}
	text := v.spec.Filter
	return ViewMistake{
		In: "filter", End: utf16Index(text, len(text)), Message: fmt.Sprintf("%d frames exceeded the time limit of this filter, and are not listed", n),
	}, n > 0
}

// forget drops discarded frames when they are the majority: traffic may run for days, and the view must not grow all the time.
func (v *View) forget() {
	base := v.Log.Base()
	old := sort.Search(len(v.fits), func(i int) bool { return int(v.fits[i]) >= base })
	if old > viewStep && old > len(v.fits)/2 {
		v.fits = slices.Clone(v.fits[old:])
		v.gone += old
	}
}

// fitting returns the matching frames of a range of indexes.
func (v *View) fitting(ctx context.Context, filters []*workspace.FrameFilter, from, to int) (out []uint32) {
	var frame transport.Frame
	conns := v.Log.ConnReader()
	read := workspace.NewReading(v.Snapshot)
	types := newByType[bool](v.Log, v.Snapshot) // whether the filters can match frames of the type
	can := func(e live.Entry, data []byte) bool {
		if known := types.of(e, data); known != nil {
			return *known
		}
		v.Log.Frame(0, e, data, &frame)
		message := v.Snapshot.FrameMessage(&frame)
		yes := !slices.ContainsFunc(filters, func(f *workspace.FrameFilter) bool { return !f.CanMatch(message) })
		types.put(e, data, &yes)
		return yes
	}
	before, _, _ := v.Log.Get(from - 1)
	next := from
	whole := strings.Contains(v.spec.key(), "from")
	v.Log.Each(from, to, func(i int, e live.Entry, data []byte) bool {
		if i%lookEvery == 0 && ctx.Err() != nil {
			return false
		}
		if i != next { // the log has discarded the frame before
			before = live.Entry{}
		}
		next = i + 1
		if can(e, data) {
			if whole || e.Flags&(live.Named|live.Wrapped|live.Noted) != 0 {
				v.Log.Frame(i, e, data, &frame)
			} else {
				v.Log.PlainFrame(i, e, data, &frame)
			}
			read.Take(&frame)
			if passes(filters, v.whereAfter(i, e, before, conns.Of(e)), read) {
				out = append(out, uint32(i))
			}
		}
		before = e
		return true
	})
	return out
}

// passes reports whether a frame matches all filters.
func passes(filters []*workspace.FrameFilter, where workspace.Where, read *workspace.Reading) bool {
	for _, fits := range filters {
		if !fits.FitsReading(where, read) {
			return false
		}
	}
	return true
}

// Has reports whether the frame of a reading matches. It is for one goroutine.
func (v *View) Has(i int, e live.Entry, conn *live.Conn, read *workspace.Reading) bool {
	return !v.wrong() && passes(v.filters, v.where(i, e, conn), read)
}

// where returns the position of a frame in the capture, for filters.
func (v *View) where(i int, e live.Entry, conn *live.Conn) workspace.Where {
	before, _, _ := v.Log.Get(i - 1)
	return v.whereAfter(i, e, before, conn)
}

// whereAfter is where for a frame after another one; the zero Entry means none.
func (v *View) whereAfter(i int, e, before live.Entry, conn *live.Conn) workspace.Where {
	n := uint64(i + 1)
	w := workspace.Where{Where: filter.Where{Conn: conn.Name, Session: conn.Session, Stream: conn.Stream, Proto: conn.Proto, Start: v.Log.Began(), Note: v.notes.Frames[n]}}
	if k := sort.Search(len(v.notes.Markers), func(k int) bool { return v.notes.Markers[k].N > n }); k > 0 {
		w.Marker = v.notes.Markers[k-1].Text
	}
	if v.notes.marked[n] {
		w.Mark = "marked"
	}
	if w.Before = before.Time(); w.Before.IsZero() {
		w.Before = e.Time()
	}
	return w
}

// listed returns the indexes of the frames at some positions of the list, fewer at its end. The log may have discarded them; -1 stands for
// a frame whose index has been dropped.
func (v *View) listed(from, count int) []int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	var out []int
	for pos := max(from, 0); len(out) < count; pos++ {
		i, ok := v.at(pos)
		if !ok {
			break
		}
		out = append(out, i)
	}
	return out
}

// Rows returns the indexes of the retained frames at some positions of the list.
func (v *View) Rows(from, count int) []uint32 {
	out, base := []uint32{}, v.Log.Base()
	for _, i := range v.listed(from, count) {
		if i >= base {
			out = append(out, uint32(i))
		}
	}
	return out
}

// at returns the index of the frame at a position, as listed does, and whether the position exists. The caller holds mu.
func (v *View) at(pos int) (index int, ok bool) {
	switch {
	case pos < 0:
		return -1, false
	case len(v.filters) == 0 && !v.wrong():
		return pos, pos < v.scanned
	case pos < v.gone:
		return -1, true
	case pos-v.gone < len(v.fits):
		return int(v.fits[pos-v.gone]), true
	}
	return -1, false
}

// index returns the index of the frame at a position, -1 if there is none or if its index has been dropped.
func (v *View) index(pos int) int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	i, ok := v.at(pos)
	if !ok {
		return -1
	}
	return i
}

// position returns the position of the first frame with at least the given index, among those whose index is retained.
func (v *View) position(index int) int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if len(v.filters) == 0 && !v.wrong() {
		return min(max(index, 0), v.scanned)
	}
	return v.gone + sort.Search(len(v.fits), func(i int) bool { return int(v.fits[i]) >= index })
}

// Each calls f with the frames of the list from a position on, forward or backward, until f returns false or the context is done. It skips
// discarded frames.
func (v *View) Each(ctx context.Context, from int, back bool, f func(pos, index int, e live.Entry, data []byte) bool) error {
	by := 1
	if back {
		by = -1
	}
	for k, pos := 0, from; ; k, pos = k+1, pos+by {
		if k%lookEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		v.mu.RLock()
		i, ok := v.at(pos)
		v.mu.RUnlock()
		if !ok {
			return nil
		}
		e, data, kept := v.Log.Get(i)
		switch {
		case !kept && v.Log.Err() != nil:
			return v.Log.Err()
		case !kept && back: // all previous ones have been dropped, too
			return nil
		case !kept:
			pos = v.position(v.Log.Base()) - 1
		case !f(pos, i, e, data):
			return nil
		}
	}
}
