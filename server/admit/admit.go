// Package admit bounds the memory that concurrent work uses in a server.
//
// Work states its maximum memory cost before it begins, and waits until that much of the budget is free. Each kind of work and each client
// can use only a part of the budget, so that none starves the others. Work that has waited too long is refused with a suggested delay for
// the next try.
package admit

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Kind is a kind of work.
type Kind int

// Kinds of work.
const (
	Decode Kind = iota // the messages of a request
	Layout             // parse, compile and lay out a definition
	Emit               // write definitions as code
	Paste              // recognize a text
	Open               // read a file, or keep a capture open
	Find               // search or sort the frames of a capture
	kinds
)

func (k Kind) String() string {
	return [...]string{"decode", "layout", "emit", "paste", "open", "search or sort"}[k]
}

// Bounds of waiting.
const (
	patience       = 5 * time.Second
	maxWaiting     = 256             // in total
	maxWaitingEach = 64              // per client
	passedOver     = 1 * time.Second // after this time, later and smaller work has to wait, too
)

// BusyError reports that no room became available in time.
type BusyError struct {
	Kind  Kind
	Retry time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("the server is busy: no memory for another %s; try again in %d s", e.Kind, int(e.Retry.Seconds()))
}

// Budget is the memory available for work. It is safe for concurrent use.
type Budget struct {
	total, part int64 // in bytes; part is the limit per kind and per client

	mu      sync.Mutex
	used    int64
	byKind  [kinds]int64
	clients map[string]*client
	turns   int       // pieces of work started
	waiting []*waiter // longest waiting first
	peak    int64
	refused int64
}

// Usage is what work uses of a budget.
type Usage struct {
	Total   int64            // bytes
	Used    map[string]int64 // bytes, by kind of work
	Waiting int              // pieces of work
	Refused int64            // pieces of work, since the start: they had waited too long, or too many did
}

// Usage returns what work uses now.
func (b *Budget) Usage() Usage {
	b.mu.Lock()
	defer b.mu.Unlock()
	u := Usage{Total: b.total, Used: map[string]int64{}, Waiting: len(b.waiting), Refused: b.refused}
	for k, n := range b.byKind {
		u.Used[Kind(k).String()] = n
	}
	return u
}

type client struct {
	used    int64
	waiting int
	tickets int
	turn    int // value of turns when its last work began
}

// before reports whether a waiting client is served before another: the one that uses less memory, or else has waited longer.
func (c *client) before(o *client) bool {
	return cmp.Or(cmp.Compare(c.used, o.used), cmp.Compare(c.turn, o.turn)) < 0
}

type waiter struct {
	client string
	kind   Kind
	cost   int64
	since  time.Time
	free   chan struct{} // closed when the work may begin
}

// Ticket is a reservation for admitted work.
type Ticket struct {
	budget *Budget
	client string
	kind   Kind
	cost   int64
	once   sync.Once
}

// New returns a budget of total bytes. One kind of work, or one client, can use at most three quarters of it.
func New(total int64) *Budget {
	return &Budget{total: total, part: max(total/4*3, 1), clients: map[string]*client{}}
}

// Acquire reserves cost bytes and waits until they are available. Work that costs more than its share is admitted when no other work of the
// same kind or client is running. The error is a *BusyError or the error of the context.
func (b *Budget) Acquire(ctx context.Context, of string, kind Kind, cost int64) (*Ticket, error) {
	b.mu.Lock()
	w := &waiter{of, kind, min(max(cost, 1), b.part), time.Now(), make(chan struct{})}
	if b.mayBegin(w) && !b.blocked(w.since) {
		b.take(w)
		b.mu.Unlock()
		return b.ticket(w), nil
	}
	c := b.client(of)
	if len(b.waiting) >= maxWaiting || c.waiting >= maxWaitingEach {
		b.forget(of)
		b.refused++
		b.mu.Unlock()
		return nil, &BusyError{kind, patience}
	}
	c.waiting++
	b.waiting = append(b.waiting, w)
	b.mu.Unlock()

	enough := time.NewTimer(patience)
	defer enough.Stop()
	var err error
	select {
	case <-w.free:
		return b.ticket(w), nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-enough.C:
		err = &BusyError{kind, patience}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiting, w)
	if i < 0 { // admitted meanwhile
		return b.ticket(w), nil
	}
	b.waiting = slices.Delete(b.waiting, i, i+1)
	c.waiting--
	if ctx.Err() == nil {
		b.refused++
	}
	b.forget(of)
	b.grant() // the canceled waiter may have blocked others
	return nil, err
}

// Try is like Acquire but does not wait: it returns nil if there is no room.
func (b *Budget) Try(of string, kind Kind, cost int64) *Ticket {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := &waiter{client: of, kind: kind, cost: min(max(cost, 1), b.part)}
	if !b.mayBegin(w) {
		return nil
	}
	b.take(w)
	return b.ticket(w)
}

func (b *Budget) ticket(w *waiter) *Ticket {
	return &Ticket{budget: b, client: w.client, kind: w.kind, cost: w.cost}
}

// Release returns the reserved memory. Further calls, and calls on a nil Ticket, do nothing.
func (t *Ticket) Release() {
	if t == nil {
		return
	}
	t.once.Do(func() {
		b := t.budget
		b.mu.Lock()
		defer b.mu.Unlock()
		b.used -= t.cost
		b.byKind[t.kind] -= t.cost
		c := b.clients[t.client]
		c.used -= t.cost
		c.tickets--
		b.forget(t.client)
		b.grant()
	})
}

// Used returns the number of bytes that are reserved now, and the highest number reserved so far.
func (b *Budget) Used() (now, peak int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used, b.peak
}

// mayBegin reports whether there is room for the work.
func (b *Budget) mayBegin(w *waiter) bool {
	var mine int64
	if c := b.clients[w.client]; c != nil {
		mine = c.used
	}
	return b.used+w.cost <= b.total && b.byKind[w.kind]+w.cost <= b.part && mine+w.cost <= b.part
}

// blocked reports whether work queued at a time has to wait behind older work that has been passed over for too long.
func (b *Budget) blocked(since time.Time) bool {
	return len(b.waiting) > 0 && since.Sub(b.waiting[0].since) > passedOver && b.isShort(b.waiting[0])
}

// isShort reports whether the total budget is too small for the work now, rather than the share of its kind or client.
func (b *Budget) isShort(w *waiter) bool { return b.used+w.cost > b.total }

func (b *Budget) take(w *waiter) {
	c := b.client(w.client)
	c.used += w.cost
	c.tickets++
	b.turns++
	c.turn = b.turns
	b.used += w.cost
	b.byKind[w.kind] += w.cost
	b.peak = max(b.peak, b.used)
}

// grant starts the waiting work for which there is room.
func (b *Budget) grant() {
	for {
		best := -1
		for i, w := range b.waiting {
			if b.blocked(w.since) {
				break
			}
			if b.mayBegin(w) && (best < 0 || b.clients[w.client].before(b.clients[b.waiting[best].client])) {
				best = i
			}
		}
		if best < 0 {
			return
		}
		w := b.waiting[best]
		b.waiting = slices.Delete(b.waiting, best, best+1)
		b.clients[w.client].waiting--
		b.take(w)
		close(w.free)
	}
}

func (b *Budget) client(name string) *client {
	c := b.clients[name]
	if c == nil {
		c = &client{}
		b.clients[name] = c
	}
	return c
}

// forget drops a client without running or waiting work.
func (b *Budget) forget(name string) {
	if c := b.clients[name]; c != nil && c.tickets == 0 && c.waiting == 0 {
		delete(b.clients, name)
	}
}
