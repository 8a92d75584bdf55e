package frames

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/codec/view"
	"wirebench/server/live"
	"wirebench/server/workspace"
)

// Bounds of Where.
const (
	whereTime = 5 * time.Second
	maxPlaces = 500
)

// Where says in which fields the frames of a list have what its filter looks for.
type Where struct {
	Places []Place `json:"places" doc:"the most frequent first"`
	Looked int     `json:"looked" doc:"matching frames that were looked at, from the first on: fewer than match if there are too many"`
}

// Place is a field of a message in which frames have what a filter looks for.
type Place struct {
	Type    string `json:"type" doc:"filter of the frame type"`
	Message string `json:"message" doc:"name of the message, or the kind of the frame"`
	Field   string `json:"field,omitempty" doc:"path, without indices"`
	Bytes   bool   `json:"bytes,omitempty" doc:"the value is in the bytes, and no field has it"`
	Frames  int    `json:"frames"`
	Filter  string `json:"filter" doc:"finds these frames"`
}

// Where counts the frames of the list by the fields that have the value of its filter, if that is = VALUE, and else by the fields that the filter tests.
func (l *List) Where(ctx context.Context) Where {
	ctx, cancel := context.WithTimeout(ctx, whereTime)
	defer cancel()
	text := strings.TrimSpace(l.View.spec.Filter)
	typed, isValue := strings.CutPrefix(text, "=")
	isValue = isValue && !strings.HasPrefix(typed, "=")
	c := whereCounter{rows: RowMaker{Snap: l.snap}, seen: map[Place]bool{}, counts: map[Place]int{}, wanted: wantedIn(typed), texts: map[Place]bool{}}
	if !isValue {
		c.by, _ = l.snap.Filter(text)
	}
	out := Where{Places: []Place{}}
	var f transport.Frame
	each := func(do func(*transport.Frame)) {
		_ = l.View.Each(ctx, 0, false, func(_, index int, e live.Entry, data []byte) bool { // as far as the time goes
			l.log.Frame(index, e, data, &f)
			do(&f)
			return true
		})
	}
	each(func(f *transport.Frame) {
		out.Looked++
		for p := range c.places(f) {
			c.counts[p]++
		}
	})
	exact := map[Place]*exactFilter{}
	if isValue {
		each(c.checks(l.snap, strings.TrimSpace(typed), exact))
	}
	for p, n := range c.counts {
		if x := exact[p]; x != nil && !x.wrong && ctx.Err() == nil {
			p.Filter = p.Type + " && " + x.text
		} else {
			p.Filter = l.filterOf(p, text)
		}
		p.Frames = n
		out.Places = append(out.Places, p)
	}
	slices.SortFunc(out.Places, func(a, b Place) int {
		return cmp.Or(cmp.Compare(b.Frames, a.Frames), strings.Compare(a.Message, b.Message), strings.Compare(a.Field, b.Field), strings.Compare(a.Type, b.Type))
	})
	out.Places = out.Places[:min(len(out.Places), maxPlaces)]
	return out
}

// filterOf returns a filter that finds the frames of a type that match a text.
func (l *List) filterOf(p Place, text string) string {
	if text == "" {
		return p.Type
	}
	both := p.Type + " && (" + text + ")"
	if _, mistakes := l.snap.Filter(both); len(mistakes) > 0 { // a value, of which a filter has only one
		return text
	}
	return both
}

// exactFilter is a filter that may find the frames of a place: those of its type in which a field has a value.
type exactFilter struct {
	*workspace.FrameFilter
	text  string
	wrong bool // it finds others, or not all
}

// checks returns a function that takes the matching frames, and checks the filters of places that it makes. Filters do not compare all values as a
// search for a value does: names, truth values, texts.
func (c *whereCounter) checks(snap *workspace.Snapshot, typed string, exact map[Place]*exactFilter) func(f *transport.Frame) {
	byType := map[string][]*exactFilter{}
	places := map[*exactFilter]Place{}
	for p := range c.counts {
		if p.Field == "" {
			continue
		}
		x := &exactFilter{text: "." + strings.ReplaceAll(p.Field, "[]", "") + " == " + typed}
		if c.texts[p] {
			x.text = "." + strings.ReplaceAll(p.Field, "[]", "") + " contains " + typed
		}
		var mistakes []filter.Mistake
		if x.FrameFilter, mistakes = snap.Filter(x.text); len(mistakes) == 0 {
			exact[p], byType[p.Type], places[x] = x, append(byType[p.Type], x), p
		}
	}
	return func(f *transport.Frame) {
		seen := c.places(f)
		for p := range seen {
			for _, x := range byType[p.Type] {
				x.wrong = x.wrong || x.Fits(workspace.Where{}, f) != seen[places[x]]
			}
			break // all places of a frame are of its type
		}
	}
}

// whereCounter counts frames by Place, without Frames and Filter.
type whereCounter struct {
	rows   RowMaker
	by     *workspace.FrameFilter // nil: of a value
	wanted wanted
	counts map[Place]int
	texts  map[Place]bool // of text fields
	seen   map[Place]bool // of a frame
	path   []byte
}

// places returns the places of a frame, until the next call.
func (c *whereCounter) places(f *transport.Frame) map[Place]bool {
	clear(c.seen)
	m := c.rows.Decode(f)
	place := Place{Type: c.rows.TypeOf(m, f), Message: f.Kind.String()}
	switch {
	case m != nil:
		place.Message = m.Name
	case f.Kind == transport.Message:
		place.Message = cmp.Or(c.rows.nameOf(f), f.Name, place.Type)
	}
	if rec := c.rows.Shown(); rec != nil && len(f.Bytes) <= maxFrameShown {
		var columns []string
		if c.by != nil {
			columns = c.by.Columns(rec.Program.Message)
		}
		all := view.Fields(rec)
		for i := range all {
			v := &all[i]
			if v.Role != "value" || v.BitLength == 0 || int(v.Field) >= len(rec.Program.Fields) || c.by == nil && !c.wanted.is(rec, v) {
				continue
			}
			c.path = rec.Program.AppendFieldPath(c.path[:0], v.Field)
			if c.by == nil || slices.Contains(columns, string(c.path)) {
				at := place
				at.Field = string(c.path)
				c.seen[at] = true
				if _, ok := textIn(rec, v); ok && c.by == nil {
					c.texts[at] = true
				}
			}
		}
	}
	if len(c.seen) == 0 {
		place.Bytes = c.by == nil
		c.seen[place] = true
	}
	return c.seen
}
