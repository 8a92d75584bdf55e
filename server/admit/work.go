package admit

import (
	"context"
	"sync"
)

// Maximum memory of work, in bytes per byte of its input, measured with the worst inputs known. These are estimates that bound concurrent
// work; the memory of a single request is bounded elsewhere.
const (
	PerDecoded  = 256 // of messages to decode: each byte may become a field with a path, a value and their JSON
	PerValue    = 64  // of JSON to encode
	PerCompiled = 100 // of a definition
	PerEmitted  = 100 // of a definition written as code
	PerPasted   = 32  // of a text to recognize
	PerUploaded = 4   // of a form
	PerListed   = 4   // bytes per frame of a capture, for its place in a list
	PerSorted   = 48  // bytes per frame of a sorted list: rows and keys, twice

	smallWork = 1 << 20   // minimum
	largeWork = 512 << 20 // maximum
)

// workload holds the reservations of one request until its response is written.
type workload struct {
	budget *Budget
	client string

	mu   sync.Mutex
	held []*Ticket
}

type workloadKey struct{}

// WithWorkload returns a context with a workload of a client. Wait adds reservations to it, release frees them.
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

// Wait waits until there is memory for work on size bytes of input, at each bytes of memory per byte, and reserves it for the workload of
// the context. The error is as in Acquire.
func Wait(ctx context.Context, kind Kind, size, each int) error {
	t, err := Begin(ctx, kind, size, each)
	if l, ok := ctx.Value(workloadKey{}).(*workload); ok && err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.held = append(l.held, t)
	}
	return err
}

// Begin is Wait for work that ends before its workload; the caller releases the ticket.
func Begin(ctx context.Context, kind Kind, size, each int) (*Ticket, error) {
	l, ok := ctx.Value(workloadKey{}).(*workload)
	if !ok {
		return nil, nil // outside of a request
	}
	return l.budget.Acquire(ctx, l.client, kind, Work(size, each))
}

// Work returns the cost of size bytes of input at each bytes of memory per byte.
func Work(size, each int) int64 { return min(smallWork+int64(size)*int64(each), largeWork) }
