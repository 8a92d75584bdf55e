package frames

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// Bounds of sorting. Sorting a list takes 36 bytes per row and about maxSortTexts for texts, of which only a part is in memory at a time: all
// texts get the same space, and those that are equal so far are made again for their next part (see sorter.refine). The resulting order
// takes eight bytes per row.
const (
	maxSorted    = 1 << 22 // rows
	maxSortTexts = 1 << 25 // bytes of the parts of texts that are compared at a time
	minSortPart  = 24      // bytes of a part, however many rows there are
	maxSortText  = 256     // bytes of one text that are compared
	maxSortings  = 2       // concurrent sorts of all pages
	sortChunk    = 1 << 14 // rows per unit of parallel work
)

// SortSpec is the sort order of a list. Columns are named as on the page: "len", or "=" and the path of a field.
type SortSpec struct {
	By    string `json:"by"`
	Desc  bool   `json:"desc"`
	Again int    `json:"again,omitempty"` // another number requests a new sort of the current frames
}

// maxSortBy is the maximum length of the name of a column in bytes.
const maxSortBy = 1000

// byDefinitions reports whether the order depends on the definitions.
func (s SortSpec) byDefinitions() bool {
	return !slices.Contains([]string{"n", "time", "delta", "dir", "conn", "src", "dst", "code", "len", "layers"}, s.By)
}

// noPlace marks a frame that the log discarded before it was sorted.
const noPlace = ^uint32(0)

// Order is the order of the frames of a view at one moment. It is immutable.
type Order struct {
	Spec   SortSpec
	snap   *workspace.Snapshot
	start  int      // position in the view of the first sorted frame
	Frames []uint32 // indexes of frames by position in the order
	place  []uint32 // position in the order, or noPlace, by position in the view minus start
}

// sortings limits the number of concurrent sorts.
var sortings = make(chan struct{}, maxSortings)

// SortView sorts the frames that a view has found so far. share is called with the progress in thousandths, from any goroutine.
func SortView(ctx context.Context, v *View, spec SortSpec, notes store.Notes, share func(int64)) (*Order, error) {
	return sortView(ctx, v, spec, notes, share, maxSortTexts)
}

// sortView is SortView with another maxSortTexts.
func sortView(ctx context.Context, v *View, spec SortSpec, notes store.Notes, share func(int64), maxTexts int) (*Order, error) {
	start := max(v.position(v.Log.Base()), 0)
	fit, _ := v.State()
	n := fit - start
	if n > maxSorted {
		return nil, fmt.Errorf("%d rows are too many to sort, at most %d are possible; filter first", n, maxSorted)
	}
	by, ok := sortKeys[spec.By]
	if path, field := strings.CutPrefix(spec.By, "="); field && path != "" && len(path) <= maxSortBy {
		by, ok = fieldKey(path), true
	}
	if !ok {
		return nil, errors.New("the list cannot be sorted by this column")
	}
	select {
	case sortings <- struct{}{}:
		defer func() { <-sortings }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s := &sorter{
		view: v, notes: newListNotes(notes), start: start, rows: make([]sortRow, n), frames: make([]uint32, n), desc: spec.Desc,
		conns: rankConns(v.Log.Conns()), share: share, maxTexts: maxTexts,
	}
	if err := s.makeKeys(ctx, by); err != nil {
		return nil, err
	}
	rows, err := s.sort(ctx, by)
	if err != nil {
		return nil, err
	}
	o := &Order{Spec: spec, snap: v.Snapshot, start: start, Frames: make([]uint32, len(rows)), place: make([]uint32, n)}
	if len(rows) < n {
		for i := range o.place {
			o.place[i] = noPlace
		}
	}
	for pos, r := range rows {
		o.Frames[pos], o.place[r.rank] = s.frames[r.rank], uint32(pos)
	}
	return o, nil
}

// sorter sorts rows: it computes a key for each row in parallel, then sorts the keys.
type sorter struct {
	view   *View
	notes  *listNotes
	start  int
	rows   []sortRow
	frames []uint32 // by rank
	desc   bool
	again  []pick // the rows whose keys are made again, by frame; nil: all of the view

	textParts
	conns    connRanks
	maxTexts int // see maxSortTexts
	share    func(int64)
}

// blockBits is the number of bits of a place for the offset in a block.
const blockBits = 20

// makeKeys computes the keys of all rows, with the first part of their texts.
func (s *sorter) makeKeys(ctx context.Context, by keyOf) error {
	for i := range s.rows {
		s.rows[i] = sortRow{rank: uint32(i), at: atGone}
		s.frames[i] = noPlace
	}
	s.textParts = newTextParts(0, len(s.rows), s.maxTexts)
	return s.eachChunk(ctx, by, len(s.rows))
}

// eachChunk computes the keys of n rows, in parallel.
func (s *sorter) eachChunk(ctx context.Context, by keyOf, n int) error {
	var next, done atomic.Int64
	work := func() {
		k := newKeyMaker(s, by)
		for ctx.Err() == nil {
			from := int(next.Add(sortChunk)) - sortChunk
			if from >= n {
				return
			}
			to := min(from+sortChunk, n)
			k.chunk(ctx, from, to)
			if s.again == nil {
				s.share(1 + done.Add(int64(to-from))*900/int64(n))
			}
		}
	}
	supervise.Together(slices.Repeat([]func(){work}, min(runtime.GOMAXPROCS(0), n/sortChunk)+1)...)
	return ctx.Err()
}

// listed returns the indexes of the frames at some positions of the order.
func (o *Order) listed(from, count int) []int {
	from = min(max(from, 0), len(o.Frames))
	var out []int
	for _, i := range o.Frames[from:min(from+max(count, 0), len(o.Frames))] {
		out = append(out, int(i))
	}
	return out
}

// position returns the position of a frame, given its place in the view, or of the next frame in the capture that is in the order; if there
// is none, the number of frames.
func (o *Order) position(rank int) int {
	for k := max(rank-o.start, 0); k < len(o.place); k++ {
		if o.place[k] != noPlace {
			return int(o.place[k])
		}
	}
	return len(o.Frames)
}
