package relay

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wirebench/server/proxy"
)

// traffic is a session whose progress the test controls.
type traffic struct {
	moved, held, done chan struct{}
	frames, looks     atomic.Int64
}

func (x *traffic) State() proxy.State {
	x.looks.Add(1)
	return proxy.State{Frames: int(x.frames.Load())}
}
func (x *traffic) Moved() <-chan struct{}       { return x.moved }
func (x *traffic) HeldChanged() <-chan struct{} { return x.held }
func (x *traffic) Done() <-chan struct{}        { return x.done }

func (x *traffic) pass() {
	x.frames.Add(1)
	select {
	case x.moved <- struct{}{}:
	default:
	}
}

// Running traffic is examined after a frame while a page watches, and at most once a second.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &traffic{moved: make(chan struct{}, 1), held: make(chan struct{}, 1), done: make(chan struct{})}
		var set Set
		var changed, moved, held atomic.Int64
		go follow(x, set.watched.of("one"), func() { held.Add(1) }, func() { changed.Add(1) }, func() { moved.Add(1) })
		is := func(what string, looks, told int64) {
			t.Helper()
			synctest.Wait()
			if a, b := x.looks.Swap(0), moved.Swap(0); a != looks || b != told {
				t.Errorf("%s: %d looks and %d reports, want %d and %d", what, a, b, looks, told)
			}
		}
		began := func(n int64) {
			t.Helper()
			if synctest.Wait(); changed.Load() != n {
				t.Errorf("%d reports of the start and the end, want %d", changed.Load(), n)
			}
		}
		is("at the start", 1, 0)
		began(1)
		leave := set.Watch("one")
		time.Sleep(time.Hour)
		is("nothing passes", 0, 0)
		x.pass()
		is("a frame", 1, 1)
		for range 500 {
			x.pass()
			time.Sleep(10 * time.Millisecond)
		}
		is("traffic of five seconds", 5, 5)
		time.Sleep(time.Hour)
		is("what passed last, and nothing more", 0, 0)
		x.held <- struct{}{}
		if is("another message is held", 0, 0); held.Load() != 1 {
			t.Errorf("%d reports of held messages", held.Load())
		}
		leave()
		set.Watch("two")
		x.pass()
		time.Sleep(samplePause)
		is("it was about to look", 1, 1)
		for range 500 {
			x.pass()
			time.Sleep(10 * time.Millisecond)
		}
		is("unwatched traffic", 0, 0)
		set.Watch("one")
		is("watched traffic", 1, 1)
		began(1)
		close(x.done)
		is("the end", 0, 0)
		began(2)
	})
}
