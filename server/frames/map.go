package frames

import (
	"context"
	"slices"
	"sync"
	"time"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/server/live"
	"wirebench/server/workspace"
)

// Bounds of the overview of a list.
const (
	maxMapBuckets = 4000
	mapSlice      = 80 * time.Millisecond // time for reading frames per query
	mapStep       = 1 << 10               // frames between two checks of the clock
	maxOverview   = 1 << 26               // rows that are cached, one byte each
)

// Map is an overview of the list: it holds counts of rows for consecutive parts of equal size. A list with fewer rows than the requested
// number of parts has one part per row.
type Map struct {
	Order   int   `json:"order" doc:"increases with each change of the order of the list"`
	Total   int   `json:"total" doc:"rows"`
	Known   int   `json:"known" doc:"rows examined so far; of the others only marks and notes are counted"`
	Done    bool  `json:"done" doc:"all rows have been examined"`
	Bad     []int `json:"bad" doc:"rows that do not conform to their definition, and problems of the transport"`
	Unknown []int `json:"unknown" doc:"rows without a definition"`
	Hit     []int `json:"hit" doc:"rows that match the highlight"`
	Marked  []int `json:"marked"`
	Noted   []int `json:"noted"`
	Hue     []int `json:"hue" doc:"most frequent color of colored rows, 0 if none is colored"`
	Hued    []int `json:"hued" doc:"rows of that color"`
}

// Bits that the overview caches for a row; the lower ones are its hue.
const (
	rowHue     = 0x0f
	rowBad     = 0x10
	rowUnknown = 0x20
	rowHit     = 0x40
)

// overview caches the properties of rows for Map. It is computed step by step, in the order of the view.
type overview struct {
	mu    sync.Mutex
	start int    // position in the view of the first cached row
	rows  []byte // from start on
	types *byType[overType]
	rec   codec.Record
	maker RowMaker
	hit   *workspace.FrameFilter
	rules []colorRule
}

// overType holds the properties common to all rows of a type.
type overType struct {
	program *codec.Program
	look    byte
	hits    bool       // the highlight can match
	rules   []overRule // rules that can match, up to the first that always does
	judges  bool       // hits or rules must be evaluated for each row
}

type overRule struct {
	colorRule
	always bool
}

// Map returns the overview as far as it is known or can be computed in a short time.
func (l *List) Map(ctx context.Context, buckets int) (*Map, error) {
	o := l.overview
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.types == nil {
		o.begin(l)
	}
	total := l.Fit()
	end := total // position in the view
	if l.Order != nil {
		end = l.Order.start + len(l.Order.place)
	}
	if err := o.advance(ctx, l, end); err != nil {
		return nil, err
	}
	n := min(max(buckets, 1), maxMapBuckets, max(total, 1))
	out := &Map{Order: l.Turns, Total: total, Known: min(o.start+len(o.rows), end), Done: o.start+len(o.rows) >= end}
	lists := make([]int, 7*n)
	for i, to := range []*[]int{&out.Bad, &out.Unknown, &out.Hit, &out.Marked, &out.Noted, &out.Hue, &out.Hued} {
		*to = lists[i*n : (i+1)*n : (i+1)*n]
	}
	out.count(o, l, n, total)
	notes := l.notes()
	each := func(frame uint64, to []int) {
		if pos := l.Position(int(frame) - 1); pos < total && l.index(pos) == int(frame)-1 {
			to[pos*n/total]++
		}
	}
	for _, m := range notes.Marked {
		each(m, out.Marked)
	}
	for m := range notes.Frames {
		each(m, out.Noted)
	}
	return out, nil
}

// count counts the known rows.
func (out *Map) count(o *overview, l *List, n, total int) {
	hues := make([][9]int32, n)
	for k, look := range o.rows {
		if look == 0 {
			continue
		}
		pos := o.start + k
		if l.Order != nil {
			rank := pos - l.Order.start
			if rank < 0 || rank >= len(l.Order.place) || l.Order.place[rank] == noPlace {
				continue
			}
			pos = int(l.Order.place[rank])
		}
		if pos >= total {
			break
		}
		b := pos * n / total
		if look&rowBad != 0 {
			out.Bad[b]++
		}
		if look&rowUnknown != 0 {
			out.Unknown[b]++
		}
		if look&rowHit != 0 {
			out.Hit[b]++
		}
		hues[b][look&rowHue]++
	}
	for b := range hues {
		for hue := 1; hue < len(hues[b]); hue++ {
			if many := int(hues[b][hue]); many > out.Hued[b] {
				out.Hue[b], out.Hued[b] = hue, many
			}
		}
	}
}

func (o *overview) begin(l *List) {
	o.types = newByType[overType](l.log, l.snap)
	o.maker = RowMaker{Snap: l.snap}
	if l.hit != nil {
		o.hit = l.hit.Again()
	}
	for _, c := range l.colors {
		o.rules = append(o.rules, colorRule{c.fits.Again(), c.hue, c.text})
	}
}

// advance examines further rows of the view, up to a position, for a short time.
func (o *overview) advance(ctx context.Context, l *List, end int) error {
	for _, f := range o.filters() {
		f.Until(ctx)
	}
	until := time.Now().Add(mapSlice)
	log := l.log
	if base := l.View.position(log.Base()); base > o.start { // frames discarded by a rolling log are not shown any more
		gone := min(base-o.start, len(o.rows))
		if gone > len(o.rows)/2 {
			o.rows = slices.Clone(o.rows[gone:])
			o.start += gone
		}
		if len(o.rows) == 0 {
			o.start = base
		}
	}
	conns := log.ConnReader()
	var frame transport.Frame
	for at := o.start + len(o.rows); at < end && len(o.rows) < maxOverview; at = o.start + len(o.rows) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(until) {
			return nil
		}
		list := l.View.listed(at, min(mapStep, end-at))
		if len(list) == 0 {
			return nil
		}
		from := len(o.rows)
		o.rows = append(o.rows, make([]byte, len(list))...)
		k, stopped := 0, false
		log.EachOf(list, func(i int, e live.Entry, block []byte) bool {
			for list[k] != i {
				k++
			}
			o.rows[from+k] = o.look(l, i, e, entryData(e, block), conns, &frame)
			if stopped = ctx.Err() != nil || k%lookEvery == lookEvery-1 && time.Now().After(until); !stopped {
				k++
			}
			return !stopped
		})
		if stopped {
			o.rows = o.rows[:from+k] // the last row may be incomplete
		}
	}
	return nil
}

// filters returns the filters that determine the properties of rows.
func (o *overview) filters() (all []*workspace.FrameFilter) {
	if o.hit != nil {
		all = append(all, o.hit)
	}
	for _, r := range o.rules {
		all = append(all, r.fits)
	}
	return all
}

// look returns the properties of a row. The frame is decoded at most once, for its status and all filters.
func (o *overview) look(l *List, i int, e live.Entry, data []byte, conns *live.ConnReader, frame *transport.Frame) byte {
	t := o.types.of(e, data)
	read := t == nil
	if read {
		l.log.Frame(i, e, data, frame)
		t = o.typeOf(l, frame)
		o.types.put(e, data, t)
	}
	look := t.look
	if !t.judges {
		if t.program != nil {
			if t.program.Decode(&o.rec, data); o.rec.Status() != codec.OK {
				look |= rowBad
			}
		}
		return look
	}
	if !read {
		l.log.Frame(i, e, data, frame)
	}
	if o.maker.Decode(frame) != nil && o.maker.Rec.Status() != codec.OK {
		look |= rowBad
	}
	where := l.View.where(i, e, conns.Of(e))
	if t.hits && o.hit.FitsReading(where, o.maker.read) {
		look |= rowHit
	}
	for _, r := range t.rules {
		if r.always || r.fits.FitsReading(where, o.maker.read) {
			return look | byte(r.hue)
		}
	}
	return look
}

// typeOf returns the properties common to the type of a frame.
func (o *overview) typeOf(l *List, f *transport.Frame) *overType {
	t := &overType{}
	msg := l.snap.FrameMessage(f)
	switch {
	case f.Kind == transport.Problem:
		t.look |= rowBad
	case msg == nil && f.Kind == transport.Message:
		t.look |= rowUnknown
	}
	t.program = frameProgram(l.snap, f)
	kind := o.maker.TypeOf(msg, f)
	t.hits = o.hit != nil && o.hit.CanMatch(msg)
	for _, r := range o.rules {
		if !r.fits.CanMatch(msg) {
			continue
		}
		always := r.text == kind // the filter is the one of this type
		if t.rules = append(t.rules, overRule{r, always}); always {
			break
		}
	}
	if t.judges = t.hits || len(t.rules) > 0 && !t.rules[0].always; !t.judges && len(t.rules) > 0 {
		t.look |= byte(t.rules[0].hue)
	}
	return t
}
