package admit

import (
	"context"
	"sync"
)

// What work takes at most, in bytes of memory for each byte of its input, as measured with inputs that are as bad as can be. It is an
// estimate to bound all work together; what one piece of it may take is bounded elsewhere.
const (
	PerDecoded  = 256 // of a text of messages: each byte may be fields of its own, with a path, a value and their JSON
	PerValue    = 64  // of JSON to encode
	PerCompiled = 100 // of the text of a definition
	PerEmitted  = 100 // of the text of a definition that is written as code
	PerPasted   = 32  // of a text that is recognised
	PerUploaded = 4   // of a form
	PerListed   = 4   // of the frames of a capture, for each: its place in a list
	PerSorted   = 48  // likewise, for a list that is sorted: rows and keys, twice

	smallWork = 1 << 20   // at least
	largeWork = 512 << 20 // at most
)

// workload is what one request has been admitted for, until its answer is written.
type workload struct {
	budget *Budget
	client string

	mu   sync.Mutex
	held []*Ticket
}

type workloadKey struct{}

// WithWorkload returns a context with a workload of a client, which Wait adds to and release gives back.
func (b *Budget) WithWorkload(ctx context.Context, client string) (with context.Context, release func()) {
	l := &workload{budget: b, client: client}
	return context.WithValue(ctx, workloadKey{}, l), l.release
}

func (l *workload) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.held {
		t.Release()
	}
	l.held = nil
}

// Wait waits until there is memory for work of the workload of a context, which has it until it is released. size bytes of input take each
// bytes of memory each. The error is that of Acquire.
func Wait(ctx context.Context, kind Kind, size, each int) error {
	t, err := Begin(ctx, kind, size, each)
	if l, ok := ctx.Value(workloadKey{}).(*workload); ok && err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.held = append(l.held, t)
	}
	return err
}

// Begin is Wait for work that ends before the workload does, when the caller releases the ticket.
func Begin(ctx context.Context, kind Kind, size, each int) (*Ticket, error) {
	l, ok := ctx.Value(workloadKey{}).(*workload)
	if !ok {
		return nil, nil // not of a request
	}
	return l.budget.Acquire(ctx, l.client, kind, Work(size, each))
}

// Work is what size bytes of input take, each bytes of memory each.
func Work(size, each int) int64 { return min(smallWork+int64(size)*int64(each), largeWork) }
