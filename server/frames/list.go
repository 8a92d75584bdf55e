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

// Source is an open capture that provides the frames of a list.
type Source interface {
	Log() *live.Log
	Complete() bool            // all frames are in the log
	Running() bool             // the capture is of running traffic
	Ciphered(conn string) bool // a part of the connection was deciphered
	View(snap *workspace.Snapshot, spec ViewSpec, notes store.Notes) *View
}

// Color is a rule for coloring rows.
type Color struct {
	Filter string `json:"filter"`
	Hue    int    `json:"hue"` // 1 to 8
}

// ListSpec describes the content of a list.
type ListSpec struct {
	ViewSpec
	Columns   []string
	Highlight string
	Colors    []Color
	Sort      *SortSpec // nil keeps the order of the capture
}

// List is a list of frames at one moment. It is immutable, except that its view may still be growing.
type List struct {
	Epoch   int // increases when frames may be decoded differently than in the previous list
	Cuts    int // increases when frame numbers may have changed
	snap    *workspace.Snapshot
	Source  Source
	log     *live.Log
	View    *View
	columns []string
	hit     *workspace.FrameFilter // nil if there is no highlight
	colors  []colorRule
	look    string // key of hit and colors
	Wrong   []ViewMistake
	tables  tables

	sort     *SortSpec // requested order; nil for the order of the capture
	Order    *Order    // current order; differs from the requested one until that is computed
	Turns    int       // increases with each change of Order
	cannot   bool      // the requested order cannot be computed
	overview *overview
	noted    atomic.Pointer[listNotes]
}

type colorRule struct {
	fits *workspace.FrameFilter
	hue  int
	text string
}

// NewList returns a new list. old is the list that it replaces, or nil; unchanged parts are taken from it.
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
	if l.View.wrong() && old != nil { // keep the previous view
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

// lookKey returns a key for the highlight and colors of a spec.
func lookKey(v ListSpec) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q", v.Highlight)
	for _, c := range v.Colors {
		fmt.Fprintf(&b, " %d %q", c.Hue, c.Filter)
	}
	return b.String()
}
