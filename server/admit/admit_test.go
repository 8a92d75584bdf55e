package admit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func acquired(t *testing.T, b *Budget, of string, k Kind, cost int64) *Ticket {
	t.Helper()
	x, err := b.Acquire(t.Context(), of, k, cost)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Concurrent work stays within the budget, and every client gets a turn.
func TestBudgetIsKept(t *testing.T) {
	b := New(100)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			x, err := b.Acquire(t.Context(), fmt.Sprint(i%7), Kind(i%int(kinds)), int64(i%60))
			if err != nil {
				t.Error(err)
				return
			}
			if now, _ := b.Used(); now > 100 {
				t.Errorf("%d are used", now)
			}
			time.Sleep(time.Millisecond)
			x.Release()
			x.Release()
		})
	}
	all.Wait()
	if now, peak := b.Used(); now != 0 || peak > 100 || len(b.clients) != 0 {
		t.Errorf("%d are used, %d were, %d clients are known", now, peak, len(b.clients))
	}
}

func TestOneClientDoesNotTakeAll(t *testing.T) {
	b := New(100)
	acquired(t, b, "greedy", Decode, 40)
	acquired(t, b, "greedy", Emit, 35)
	if b.Try("greedy", Paste, 10) != nil {
		t.Error("a client has more than its part")
	}
	if b.Try("other", Paste, 10) == nil {
		t.Error("nothing is left for another client")
	}
}

func TestOneKindDoesNotTakeAll(t *testing.T) {
	b := New(100)
	acquired(t, b, "one", Decode, 40)
	acquired(t, b, "two", Decode, 35)
	if b.Try("three", Decode, 10) != nil {
		t.Error("a kind has more than its part")
	}
	if b.Try("three", Layout, 10) == nil {
		t.Error("nothing is left for another kind")
	}
}

// Among waiting clients, the one with the least memory is served first.
func TestFairness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(100)
		first := acquired(t, b, "greedy", Decode, 75)
		var order []string
		var mu sync.Mutex
		for _, of := range []string{"greedy", "greedy", "other"} {
			go func() {
				x, err := b.Acquire(t.Context(), of, Layout, 75)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, of)
				mu.Unlock()
				time.Sleep(time.Millisecond)
				x.Release()
			}()
			synctest.Wait()
		}
		small := acquired(t, b, "third", Paste, 20) // fits beside the others
		small.Release()
		first.Release()
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if fmt.Sprint(order) != "[other greedy greedy]" {
			t.Error(order)
		}
	})
}

func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(100)
		x := acquired(t, b, "one", Decode, 75)
		start := time.Now()
		var busy *BusyError
		if _, err := b.Acquire(t.Context(), "two", Decode, 10); !errors.As(err, &busy) || busy.Kind != Decode || busy.Retry <= 0 || time.Since(start) != patience {
			t.Errorf("%v after %s", err, time.Since(start))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.Acquire(ctx, "two", Decode, 10); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		x.Release()
		acquired(t, b, "two", Decode, 1000).Release() // more than the budget runs alone
	})
}

// Continuous small work does not starve a large piece of work.
func TestNoStarving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(100)
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 10 {
			go func() {
				time.Sleep(time.Duration(i) * 10 * time.Millisecond)
				for ctx.Err() == nil {
					if x, err := b.Acquire(ctx, fmt.Sprint(i), Kind(i%2), 10); err == nil {
						time.Sleep(100 * time.Millisecond)
						x.Release()
					}
				}
			}()
		}
		time.Sleep(200 * time.Millisecond)
		if x, err := b.Acquire(t.Context(), "large", Open, 60); err != nil {
			t.Error(err)
		} else {
			x.Release()
		}
		cancel()
		time.Sleep(time.Second)
	})
}
