package frames

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Bounds of sorting. While a list is sorted it takes 36 bytes for each row and up to maxSortTexts for texts, which are cut so that all of
// them have the same room: to 126 bytes each of a million rows. Afterwards the order has eight bytes for each row.
const (
	maxSorted    = 1 << 22 // rows
	maxSortTexts = 1 << 27 // bytes of the texts that rows are compared by
	maxSortText  = 256     // bytes of one of them
	maxSortings  = 2       // at a time, of all pages
	sortChunk    = 1 << 14 // rows whose keys are made by one goroutine
)

// SortSpec says by what a list is sorted. Columns are named as the page names them: "len", or "=" and the path of a field.
type SortSpec struct {
	By    string `json:"by"`
	Desc  bool   `json:"desc"`
	Again int    `json:"again,omitempty"` // another number is another order, of the frames that are there then
}

// maxSortBy is how long the name of a column may be, bytes.
const maxSortBy = 1000

// byDefinitions reports whether the order may be another one by other definitions.
func (s SortSpec) byDefinitions() bool {
	return !slices.Contains([]string{"n", "time", "delta", "dir", "conn", "code", "len", "layers"}, s.By)
}

// noPlace stands for a frame that the log has let go before it was sorted.
const noPlace = ^uint32(0)

// Order is the order of the frames that a view had when it was made. It does not change.
type Order struct {
	Spec   SortSpec
	snap   *workspace.Snapshot
	start  int      // position in the view of the first frame that was sorted
	Frames []uint32 // by position in the order: indexes of frames
	place  []uint32 // by position in the view, from start on: position in the order, or noPlace
}

// sortings are the tokens of lists that are being sorted.
var sortings = make(chan struct{}, maxSortings)

// SortView puts what a view has found so far in an order. share is told how much of it is done, in thousandths,
// by any goroutine.
func SortView(ctx context.Context, v *View, spec SortSpec, notes store.Notes, share func(int64)) (*Order, error) {
	start := max(v.position(v.Log.Base()), 0)
	fit, _ := v.State()
	n := fit - start
	if n > maxSorted {
		return nil, fmt.Errorf("%d rows are too many to sort: at most %d, so filter first", n, maxSorted)
	}
	by, ok := sortKeys[spec.By]
	if path, field := strings.CutPrefix(spec.By, "="); field && path != "" && len(path) <= maxSortBy {
		by, ok = fieldKey(path), true
	}
	if !ok {
		return nil, errors.New("the list cannot be sorted by that")
	}
	select {
	case sortings <- struct{}{}:
		defer func() { <-sortings }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s := &sorter{
		view: v, notes: newListNotes(notes), start: start, rows: make([]sortRow, n), frames: make([]uint32, n), desc: spec.Desc,
		most: min(max(maxSortTexts/max(n, 1)-2, 24), maxSortText), blocks: make([][]byte, 1<<12), share: share,
	}
	if err := s.makeKeys(ctx, by); err != nil {
		return nil, err
	}
	rows, err := s.sort(ctx)
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

// sorter puts rows in order: at first each row gets a key, in parts that all processors work at, then the keys are sorted.
type sorter struct {
	view   *View
	notes  *listNotes
	start  int
	rows   []sortRow
	frames []uint32 // by rank
	desc   bool
	most   int // bytes of a text

	blocks [][]byte // of texts, each with two bytes before it that tell how long it is; from the second on
	block  atomic.Int32
	conns  connRanks
	share  func(int64)
}

// blockBits is how many bits of a place are the offset in its block.
const blockBits = 20

// makeKeys makes the keys of all rows.
func (s *sorter) makeKeys(ctx context.Context, by keyOf) error {
	s.conns = rankConns(s.view.Log.Conns())
	for i := range s.rows {
		s.rows[i] = sortRow{rank: uint32(i), at: atGone}
		s.frames[i] = noPlace
	}
	var next, done atomic.Int64
	work := func() {
		k := newKeyMaker(s, by)
		for ctx.Err() == nil {
			from := int(next.Add(sortChunk)) - sortChunk
			if from >= len(s.rows) {
				return
			}
			to := min(from+sortChunk, len(s.rows))
			k.chunk(ctx, from, to)
			s.share(1 + done.Add(int64(to-from))*900/int64(len(s.rows)))
		}
	}
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(s.rows)/sortChunk) {
		wait.Go(work)
	}
	work()
	wait.Wait()
	return ctx.Err()
}

// listed are the frames at some positions of the order.
func (o *Order) listed(from, count int) []int {
	from = min(max(from, 0), len(o.Frames))
	var out []int
	for _, i := range o.Frames[from:min(from+max(count, 0), len(o.Frames))] {
		out = append(out, int(i))
	}
	return out
}

// position is that of a frame by its place in the view, or of the next one in the capture that is in the order; where there is none, how
// many frames it has.
func (o *Order) position(rank int) int {
	for k := max(rank-o.start, 0); k < len(o.place); k++ {
		if o.place[k] != noPlace {
			return int(o.place[k])
		}
	}
	return len(o.Frames)
}
