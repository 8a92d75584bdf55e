package frames

import (
	"context"
	"strings"
	"time"

	"wirebench/server/workspace"
)

// Bounds of a search in the bytes of one message.
const (
	maxHits  = 100_000         // matches in an answer; all are counted
	hitsTime = 3 * time.Second // a short pattern needs milliseconds for a megabyte
)

// Hits are the matches of a search in the bytes of one message. They do not overlap.
type Hits struct {
	Count    int           `json:"count"`
	At       []int         `json:"at" doc:"two numbers for each of the first matches: bytes between the end of the previous match and its start, and its length"`
	Mistakes []ViewMistake `json:"mistakes,omitempty"` // of the typed text
	Late     bool          `json:"late,omitempty"`     // the search took too long: these are the matches found until then
}

// Hits finds all matches of a text, a value or a hex pattern, as Find does in frames.
func (a *FindQuery) Hits(ctx context.Context, snap *workspace.Snapshot, data []byte) Hits {
	out := Hits{At: []int{}}
	text := a.AsFilter()
	if text == "" {
		return out
	}
	if _, mistakes := snap.Filter(text); len(mistakes) > 0 {
		out.Mistakes = a.mistakes(mistakesIn("find", 0, text, mistakes))
		return out
	}
	ctx, cancel := context.WithTimeout(ctx, hitsTime)
	defer cancel()
	seekers := a.seekers()
	next := make([]struct{ start, end int }, len(seekers)) // the next match of each, by its position in data
	for i := range next {
		next[i].start = -1
	}
	for from, last := 0, 0; ctx.Err() == nil; {
		start, end := len(data), 0
		for i, seek := range seekers {
			n := &next[i]
			if n.start < from && n.start < len(data) {
				if n.start, n.end = seek(ctx, data[from:]); n.start < 0 {
					n.start = len(data)
				} else {
					n.start, n.end = n.start+from, n.end+from
				}
			}
			if n.start < start || n.start == start && n.end > end {
				start, end = n.start, n.end
			}
		}
		if start == len(data) {
			break
		}
		if out.Count++; out.Count <= maxHits {
			out.At = append(out.At, start-last, end-start)
		}
		from, last = end, end
	}
	out.Late = ctx.Err() != nil
	return out
}

// A seeker returns the first match in data; start is -1 if there is none.
type seeker func(ctx context.Context, data []byte) (start, end int)

// seekers returns the byte patterns of a query.
func (a *FindQuery) seekers() (all []seeker) {
	needles := []needle{a.needle()}
	if a.As == "value" {
		w := wantedIn(a.Text)
		needles = w.needles
		if w.isNear() {
			all = append(all, func(_ context.Context, data []byte) (start, end int) { return w.near(data) })
		}
	}
	for _, n := range needles {
		for i := range n.forms {
			all = append(all, n.forms[i].in)
		}
	}
	return all
}

// mistakes moves mistakes in the filter of the search to their places in the typed text.
func (a *FindQuery) mistakes(list []ViewMistake) []ViewMistake {
	before, length := strings.Index(a.AsFilter(), a.Text), utf16Index(a.Text, len(a.Text))
	for i := range list {
		m := &list[i]
		m.Start, m.End = max(0, min(m.Start-before, length)), max(0, min(m.End-before, length))
	}
	return list
}
