package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/server/live"
	"wirebench/server/store"
)

// listNotes are what people noted of the frames of a list, as it is now.
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

// notes are what people noted, as it is now.
func (l *shownList) notes() *listNotes {
	if n := l.noted.Load(); n != nil {
		return n
	}
	return newListNotes(l.view.notes)
}

// A place in a list is one in its order, or in its view where it is not sorted.

// fit is how many rows the list has.
func (l *shownList) fit() int {
	if l.order != nil {
		return len(l.order.frames)
	}
	fit, _ := l.view.state()
	return fit
}

// fresh is how many frames of the view came after the list was sorted.
func (l *shownList) fresh() int {
	if l.order == nil {
		return 0
	}
	fit, _ := l.view.state()
	return max(fit-l.order.start-len(l.order.place), 0)
}

// listed are the frames at some places, as frameView.listed has them.
func (l *shownList) listed(from, count int) []int {
	if l.order != nil {
		return l.order.listed(from, count)
	}
	return l.view.listed(from, count)
}

// index is the frame at a place, -1 if there is none or if nobody knows any more which.
func (l *shownList) index(pos int) int {
	switch {
	case l.order == nil:
		return l.view.index(pos)
	case pos >= 0 && pos < len(l.order.frames):
		return int(l.order.frames[pos])
	}
	return -1
}

// position is the place of the first frame from an index on in the capture.
func (l *shownList) position(index int) int {
	if l.order != nil {
		return l.order.position(l.view.position(index))
	}
	return l.view.position(index)
}

// timeBefore is that of the frame before one in the view, 0 if nobody knows.
func (l *shownList) timeBefore(index int) int64 {
	e, _, _ := l.open.log.Get(l.view.index(l.view.position(index) - 1))
	return e.At
}

// each goes through the list as frameView.each does.
func (l *shownList) each(ctx context.Context, from int, back bool, f func(pos, index int, e live.Entry, data []byte) bool) error {
	if l.order == nil {
		return l.view.each(ctx, from, back, f)
	}
	by := 1
	if back {
		by = -1
	}
	for pos := from; pos >= 0 && pos < len(l.order.frames); pos += by {
		if pos%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		i := int(l.order.frames[pos])
		if e, data, ok := l.open.log.Get(i); ok && !f(pos, i, e, data) {
			return nil
		}
	}
	return nil
}

// sortJob makes an order for a list, in a goroutine of its own.
type sortJob struct {
	spec  sortSpec
	view  *frameView
	stop  context.CancelFunc
	share atomic.Int64  // of what is to do, in thousandths; 0: it has not begun
	done  chan struct{} // closed when one of those below is there
	order *frameOrder
	err   error
}

// startSort begins to sort a list. poke is called when that is done.
func startSort(ctx context.Context, jobs *sync.WaitGroup, v *frameView, spec sortSpec, notes store.Notes, poke func()) *sortJob {
	ctx, stop := context.WithCancel(ctx)
	j := &sortJob{spec: spec, view: v, stop: stop, done: make(chan struct{})}
	jobs.Go(func() {
		j.order, j.err = sortView(ctx, v, spec, notes, &j.share)
		stop()
		close(j.done)
		poke()
	})
	return j
}

// ended reports whether there is an order, or none is to come.
func (j *sortJob) ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// wait waits for the end of the job for some time.
func (j *sortJob) wait(ctx context.Context, most time.Duration) {
	enough := time.NewTimer(most)
	defer enough.Stop()
	select {
	case <-j.done:
	case <-enough.C:
	case <-ctx.Done():
	}
}

// unsorted reports whether the list wants an order that it does not have.
func (l *shownList) unsorted() bool {
	return l.sort != nil && !l.cannot && (l.order == nil || l.order.spec != *l.sort || l.order.snap != l.snap && l.sort.byDefinitions())
}

// sortable reports whether all frames are there that are to be sorted: those of a file that is read, and those of traffic until now.
func (l *shownList) sortable(whole bool) bool { return whole && (l.open.complete() || l.open.running) }

// keepOrder lets a list begin in the order of the one before, as long as no other is there, if they have the same frames. A list that is
// not sorted does not.
func (l *shownList) keepOrder(old *shownList) {
	if old == nil {
		return
	}
	l.turns = old.turns
	all := len(l.view.filters) == 0 && !l.view.wrong() && len(old.view.filters) == 0 && !old.view.wrong()
	if l.sort != nil && l.open == old.open && (l.view == old.view || all) {
		l.order = old.order
	}
	if l.order != old.order {
		l.turns++
	}
	if l.view == old.view && l.look == old.look {
		l.overview = old.overview
	}
}

// sorted is the list in its order, or as it was with what is wrong about the order.
func (l *shownList) sorted(j *sortJob) *shownList {
	next := &shownList{
		seq: l.seq, epoch: l.epoch, turns: l.turns, snap: l.snap, open: l.open, view: l.view, columns: l.columns, hit: l.hit, colors: l.colors, look: l.look,
		wrong: l.wrong, sort: l.sort, order: l.order, overview: l.overview,
	}
	next.noted.Store(l.noted.Load())
	if j.err != nil {
		next.cannot = true
		next.wrong = append(next.wrong[:len(next.wrong):len(next.wrong)], viewMistake{In: "sort", Message: j.err.Error()})
		return next
	}
	next.order = j.order
	next.turns++
	return next
}
