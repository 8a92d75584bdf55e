package frames

import (
	"context"
	"sync/atomic"
	"time"

	"wirebench/server/admit"
	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/supervise"
)

// listNotes holds the current marks and notes of the frames of a list.
type listNotes struct {
	store.Notes
	marked map[uint64]bool
}

func newListNotes(n store.Notes) *listNotes {
	out := &listNotes{n, make(map[uint64]bool, len(n.Marked))}
	for _, m := range n.Marked {
		out.marked[m] = true
	}
	return out
}

// SetNotes replaces the marks and notes.
func (l *List) SetNotes(n store.Notes) { l.noted.Store(newListNotes(n)) }

// notes returns the current marks and notes.
func (l *List) notes() *listNotes {
	if n := l.noted.Load(); n != nil {
		return n
	}
	return l.View.notes
}

// Positions in a list are positions in its order, or in its view if it is not sorted.

// Fit returns the number of rows of the list.
func (l *List) Fit() int {
	if l.Order != nil {
		return len(l.Order.Frames)
	}
	fit, _ := l.View.State()
	return fit
}

// Fresh returns the number of frames added to the view since the list was sorted.
func (l *List) Fresh() int {
	if l.Order == nil {
		return 0
	}
	fit, _ := l.View.State()
	return max(fit-l.Order.start-len(l.Order.place), 0)
}

// listed returns the indexes of the frames at some positions, as View.listed does.
func (l *List) listed(from, count int) []int {
	if l.Order != nil {
		return l.Order.listed(from, count)
	}
	return l.View.listed(from, count)
}

// index returns the index of the frame at a position, -1 if there is none or if its index has been dropped.
func (l *List) index(pos int) int {
	switch {
	case l.Order == nil:
		return l.View.index(pos)
	case pos >= 0 && pos < len(l.Order.Frames):
		return int(l.Order.Frames[pos])
	}
	return -1
}

// Position returns the position of the first frame with at least the given index.
func (l *List) Position(index int) int {
	if l.Order != nil {
		return l.Order.position(l.View.position(index))
	}
	return l.View.position(index)
}

// timeBefore returns the time of the previous frame in the view, 0 if it is unknown.
func (l *List) timeBefore(index int) int64 {
	e, _, _ := l.log.Get(l.View.index(l.View.position(index) - 1))
	return e.At
}

// each iterates over the list as View.Each does.
func (l *List) each(ctx context.Context, from int, back bool, f func(pos, index int, e live.Entry, data []byte) bool) error {
	if l.Order == nil {
		return l.View.Each(ctx, from, back, f)
	}
	by := 1
	if back {
		by = -1
	}
	for pos := from; pos >= 0 && pos < len(l.Order.Frames); pos += by {
		if pos%lookEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		i := int(l.Order.Frames[pos])
		if e, data, ok := l.log.Get(i); ok && !f(pos, i, e, data) {
			return nil
		}
	}
	return nil
}

// SortJob computes the order of a list in a goroutine.
type SortJob struct {
	spec  SortSpec
	view  *View
	Stop  context.CancelFunc
	Share atomic.Int64  // progress in thousandths; 0 means that it has not begun
	done  chan struct{} // closed when order or err is set
	order *Order
	err   error
}

// StartSort starts to sort a list as soon as the memory budget of the context permits. poke is called as the work progresses, and at its
// end.
func (l *List) StartSort(ctx context.Context, jobs *supervise.Group, notes store.Notes, poke func()) *SortJob {
	ctx, stop := context.WithCancel(ctx)
	j := &SortJob{spec: *l.sort, view: l.View, Stop: stop, done: make(chan struct{})}
	jobs.Go("list", nil, func() {
		defer poke()
		defer close(j.done)
		defer stop()
		j.err = supervise.Do("sorting", func() error { return j.run(ctx, notes, poke) })
	})
	return j
}

func (j *SortJob) run(ctx context.Context, notes store.Notes, poke func()) error {
	fit, _ := j.view.State()
	ticket, err := admit.Begin(ctx, admit.Find, min(fit, maxSorted), admit.PerSorted)
	if err != nil {
		return err
	}
	defer ticket.Release()
	j.order, err = SortView(ctx, j.view, j.spec, notes, func(share int64) {
		j.Share.Store(share)
		poke()
	})
	return err
}

// Ordered returns the list in the requested order, which it computes. The caller has reserved the memory.
func (l *List) Ordered(ctx context.Context, notes store.Notes) (*List, error) {
	if !l.Unsorted() {
		return l, nil
	}
	var j SortJob
	j.order, j.err = SortView(ctx, l.View, *l.sort, notes, func(int64) {})
	return l.Sorted(&j), j.err
}

// IsFor reports whether the job computes the order that a list requests.
func (j *SortJob) IsFor(l *List) bool {
	return l.Unsorted() && j.spec == *l.sort && j.view == l.View
}

// Ended reports whether the job has ended.
func (j *SortJob) Ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// Wait waits for the end of the job, for a limited time.
func (j *SortJob) Wait(ctx context.Context, most time.Duration) {
	enough := time.NewTimer(most)
	defer enough.Stop()
	select {
	case <-j.done:
	case <-enough.C:
	case <-ctx.Done():
	}
}

// Unsorted reports whether the list does not have the requested order yet.
func (l *List) Unsorted() bool {
	return l.sort != nil && !l.cannot && (l.Order == nil || l.Order.Spec != *l.sort || l.Order.snap != l.snap && l.sort.byDefinitions())
}

// Sortable reports whether all frames to be sorted are there: those of a completely read file, or those of running traffic so far.
func (l *List) Sortable(whole bool) bool { return whole && (l.Source.Complete() || l.Source.Running()) }

// keepOrder takes over the order of the previous list until the new one is computed, if both have the same frames. An unsorted list does
// not take it over.
func (l *List) keepOrder(old *List) {
	if old == nil {
		return
	}
	l.Turns = old.Turns
	all := len(l.View.filters) == 0 && !l.View.wrong() && len(old.View.filters) == 0 && !old.View.wrong()
	if l.sort != nil && l.Source == old.Source && (l.View == old.View || all) {
		l.Order = old.Order
	}
	if l.Order != old.Order {
		l.Turns++
	}
	if l.View == old.View && l.look == old.look {
		l.overview = old.overview
	}
}

// Sorted returns the list in the order of the job, or with the error of the job in its old order.
func (l *List) Sorted(j *SortJob) *List {
	next := &List{
		Epoch: l.Epoch, Cuts: l.Cuts, Turns: l.Turns, snap: l.snap, Source: l.Source, log: l.log, View: l.View, columns: l.columns, hit: l.hit, colors: l.colors, look: l.look,
		Wrong: l.Wrong, sort: l.sort, Order: l.Order, overview: l.overview,
	}
	next.noted.Store(l.noted.Load())
	if j.err != nil {
		next.cannot = true
		next.Wrong = append(next.Wrong[:len(next.Wrong):len(next.Wrong)], ViewMistake{In: "sort", Message: j.err.Error()})
		return next
	}
	next.Order = j.order
	next.Turns++
	return next
}
