// Package supervise starts the goroutines of a server, so that a panic in one of them ends the part that it works for, and nothing else: a
// page, a room, a list, a connection, a listener.
//
// A panic becomes a [*Fault], an error that says what has ended and what to do. The part is taken out of service by the function that is
// given with the goroutine, as after any other error. The stack goes to the log, once a minute for each place, and faults are counted.
//
// A part must not leave a mutex locked when it panics, so the functions called under a lock unlock it by a defer.
package supervise

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Fault is a panic as an error.
type Fault struct {
	Part  string // what has ended, as shown to users: "list"
	Value any    // of the panic
}

func (f *Fault) Error() string {
	return fmt.Sprintf("this %s ended by a fault of the program: %v; load the page or start it again, and report the fault with the stack in the server's log", f.Part, f.Value)
}

// Do calls f. A panic of f is logged and returned as a *Fault.
func Do(part string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Caught(part, v)
		}
	}()
	return f()
}

// Go calls f in a goroutine. If f panics, ended is called there with the fault; nil ends nothing else.
func Go(part string, ended func(error), f func()) { go run(part, ended, f) }

// run calls f, and ended after a panic. A panic of ended is logged, too.
func run(part string, ended func(error), f func()) {
	err := Do(part, func() error { f(); return nil })
	if err != nil && ended != nil {
		_ = Do(part, func() error { ended(err); return nil })
	}
}

// Group is a group of goroutines, like sync.WaitGroup. The zero value is empty.
type Group struct{ wait sync.WaitGroup }

// Go is the function Go for a goroutine of the group. The goroutine is of the group until ended has returned.
func (g *Group) Go(part string, ended func(error), f func()) {
	g.wait.Go(func() { run(part, ended, f) })
}

// Enter makes the goroutine of the caller one of the group, until leave is called.
func (g *Group) Enter() (leave func()) {
	g.wait.Add(1)
	return g.wait.Done
}

// Wait waits until all goroutines of the group have ended.
func (g *Group) Wait() { g.wait.Wait() }

// Together calls functions concurrently, the last one in the goroutine of the caller, and waits for them. If one of them panics, Together
// panics with its fault when all have ended.
func Together(all ...func()) {
	var g Group
	faults := make(chan error, len(all))
	for i, f := range all {
		if i < len(all)-1 {
			g.Go("work", func(err error) { faults <- err }, f)
		} else {
			run("work", func(err error) { faults <- err }, f)
		}
	}
	g.Wait()
	select {
	case err := <-faults:
		panic(err)
	default:
	}
}

// After calls f in a goroutine when the context is done, unless stop is called before.
func After(ctx context.Context, part string, f func()) (stop func() bool) {
	return context.AfterFunc(ctx, func() { run(part, nil, f) })
}

// Later calls f in a goroutine after a time.
func Later(wait time.Duration, part string, f func()) *time.Timer {
	return time.AfterFunc(wait, func() { run(part, nil, f) })
}

// Bounds of the log.
const (
	logEvery  = time.Minute // between two stacks of one place
	maxPlaces = 100         // that are known; the others are logged as one
)

// faults are those of the process: a panic may happen where no server is known.
var faults struct {
	mu     sync.Mutex
	log    *slog.Logger
	counts map[string]int64 // by part
	places map[string]*place
}

// place is a place in the program that panics.
type place struct {
	logged time.Time
	silent int // faults since then
}

// LogTo sets the log of faults. There is none at first.
func LogTo(log *slog.Logger) {
	faults.mu.Lock()
	defer faults.mu.Unlock()
	faults.log = log
}

// Counts returns the number of faults of the process by part.
func Counts() map[string]int64 {
	faults.mu.Lock()
	defer faults.mu.Unlock()
	return maps.Clone(faults.counts)
}

// Caught counts a panic with the value of recover, and logs it unless its place was logged just before. It is for functions that recover
// themselves, and go on.
func Caught(part string, v any) *Fault {
	if f, ok := v.(*Fault); ok { // of Together: it is known
		return &Fault{part, f.Value}
	}
	stack := string(debug.Stack())
	faults.mu.Lock()
	defer faults.mu.Unlock()
	if faults.counts == nil {
		faults.counts, faults.places = map[string]int64{}, map[string]*place{}
	}
	faults.counts[part]++
	key := where()
	if len(faults.places) >= maxPlaces && faults.places[key] == nil {
		key = ""
	}
	p := faults.places[key]
	if p == nil {
		p = &place{}
		faults.places[key] = p
	}
	if now := time.Now(); now.Sub(p.logged) < logEvery {
		p.silent++
	} else if faults.log != nil {
		faults.log.Error("fault of the program", "part", part, "value", v, "unlogged", p.silent, "stack", stack)
		p.logged, p.silent = now, 0
	}
	return &Fault{part, v}
}

// where returns the place of the panic that is being recovered: the first function above those of the runtime.
func where() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	panicked := false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicked = true
		case panicked && len(f.Function) > 8 && f.Function[:8] != "runtime.":
			return fmt.Sprint(f.Function, ":", f.Line)
		}
		if !more {
			return ""
		}
	}
}
