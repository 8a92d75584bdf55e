package replay

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/server/supervise"
)

// faulty is an endpoint that panics in the call of a name.
type faulty struct{ in string }

func (f *faulty) fail(in string) {
	if f.in == in {
		panic("no " + in)
	}
}
func (f *faulty) Start(time.Time, *transport.Relay)              { f.fail("start") }
func (f *faulty) Feed([]byte, bool, time.Time, *transport.Relay) { f.fail("feed") }
func (f *faulty) Ready() (ok, never bool, why string)            { return true, false, "" }
func (f *faulty) Tick(time.Time, *transport.Relay)               { f.fail("tick") }
func (f *faulty) Due() (due time.Time)                           { f.fail("due"); return due }
func (f *faulty) Unsent() int                                    { return 0 }
func (f *faulty) Close(time.Time, *transport.Relay)              { f.fail("close") }

func (f *faulty) Send(o transport.Outgoing, _ time.Time, r *transport.Relay) error {
	f.fail("send")
	r.Put(transport.Segment{Bytes: o.Bytes})
	return nil
}

// TestFaultOfWire lets each call of an endpoint panic: the connection ends, also for those that wait for it, and can be closed.
func TestFaultOfWire(t *testing.T) {
	for _, in := range []string{"feed", "due", "send", "close"} {
		t.Run(in, func(t *testing.T) {
			a, b := net.Pipe()
			defer b.Close()
			w := NewWire(a, &faulty{in}, false)
			go func() { _, _ = b.Write([]byte("hello")) }()
			var fault *supervise.Fault
			err := supervise.Do("replay", func() error {
				switch in {
				case "send":
					return w.Send(t.Context(), transport.Outgoing{Bytes: []byte("a")})
				case "close":
					return w.Close()
				}
				_, err := w.Receive(t.Context())
				return err
			})
			if !errors.As(err, &fault) || fault.Value != "no "+in {
				t.Errorf("%v", err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = w.Close()
			}()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			select {
			case <-ended:
			case <-ctx.Done():
				t.Error("it cannot be closed")
			}
		})
	}
}
