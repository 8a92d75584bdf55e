package frames

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Source is where the frames of a list come from: a capture that is open.
type Source interface {
	Log() *live.Log
	Complete() bool            // all frames are in the log
	Running() bool             // they are of running traffic
	Ciphered(conn string) bool // something of the connection was deciphered
	View(snap *workspace.Snapshot, spec ViewSpec, notes store.Notes) *View
}

// Color is a rule of how rows are coloured.
type Color struct {
	Filter string `json:"filter"`
	Hue    int    `json:"hue"` // 1 to 8
}

// ListSpec says what a list shows, and how.
type ListSpec struct {
	ViewSpec
	Columns   []string
	Highlight string
	Colors    []Color
	Sort      *SortSpec // nil: as the frames came
}

// List is a list of frames as it is at one moment. It does not change, but for the frames that its view judges.
type List struct {
	Epoch   int // counts up when frames may read otherwise than in the list before
	Cuts    int // counts up when they may have other numbers
	snap    *workspace.Snapshot
	Source  Source
	log     *live.Log
	View    *View
	columns []string
	hit     *workspace.FrameFilter // nil: nothing
	colors  []colorRule
	look    string // what hit and colors are made of
	Wrong   []ViewMistake
	tables  tables

	sort     *SortSpec // what order is wanted; nil: as the frames came
	Order    *Order    // what order it is in; that may be another one until the one that is wanted is made
	Turns    int       // counts up with each other order
	cannot   bool      // the order that is wanted cannot be made
	overview *overview
	noted    atomic.Pointer[listNotes]
}

type colorRule struct {
	fits *workspace.FrameFilter
	hue  int
	text string
}

// NewList begins a list. old is the one that it takes the place of, nil if there is none: it keeps of that what is the same.
func NewList(src Source, snap *workspace.Snapshot, spec ListSpec, notes store.Notes, old *List) *List {
	l := &List{snap: snap, Source: src, log: src.Log(), columns: spec.Columns}
	if old != nil {
		l.Epoch, l.Cuts = old.Epoch, old.Cuts
		if old.Source != l.Source {
			l.Cuts++
		}
		if old.snap != l.snap || old.Source != l.Source || !slices.Equal(old.columns, l.columns) {
			l.Epoch++
		}
	}
	l.View = src.View(snap, spec.ViewSpec, notes)
	l.Wrong = l.View.Mistakes
	if l.View.wrong() && old != nil { // the list stays as it was
		l.View = src.View(snap, old.View.spec, notes)
	}
	if spec.Highlight != "" {
		f, mistakes := snap.Filter(spec.Highlight)
		if l.Wrong = append(l.Wrong, mistakesIn("highlight", 0, spec.Highlight, mistakes)...); len(mistakes) == 0 {
			l.hit = f
		}
	}
	for i, c := range spec.Colors {
		f, mistakes := snap.Filter(c.Filter)
		if l.Wrong = append(l.Wrong, mistakesIn("color", i, c.Filter, mistakes)...); len(mistakes) == 0 && c.Hue >= 1 && c.Hue <= 8 {
			l.colors = append(l.colors, colorRule{f, c.Hue, c.Filter})
		}
	}
	l.SetNotes(notes)
	l.look, l.overview = lookKey(spec), &overview{}
	if spec.Sort != nil && spec.Sort.By != "" {
		l.sort = spec.Sort
	}
	l.keepOrder(old)
	return l
}

// lookKey tells what colours rows.
func lookKey(v ListSpec) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q", v.Highlight)
	for _, c := range v.Colors {
		fmt.Fprintf(&b, " %d %q", c.Hue, c.Filter)
	}
	return b.String()
}
