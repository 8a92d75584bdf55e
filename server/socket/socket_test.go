package socket

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wirebench/server/supervise"
	"wirebench/server/wsconn"
)

// page is the client of a test.
type page struct {
	*testing.T
	*wsconn.Conn
	ctx context.Context
}

func serve(t *testing.T, kinds map[string]Kind) *page {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	ended := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		conn, err := wsconn.Accept(w, r, 1<<16)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Drop()
		_ = Serve(ctx, conn, kinds, &atomic.Int64{})
	}))
	conn, err := wsconn.Dial(ctx, "ws"+strings.TrimPrefix(srv.URL, "http"), nil, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Drop()
		<-ended
		srv.Close()
	})
	return &page{t, conn, ctx}
}

func (p *page) say(format string, args ...any) {
	p.Helper()
	if err := p.Write(p.ctx, fmt.Appendf(nil, format, args...)); err != nil {
		p.Fatal(err)
	}
}

// hears waits for a message, the JSON of a Down.
func (p *page) hears(want string) {
	p.Helper()
	if got, err := p.Read(p.ctx); err != nil || string(got) != want {
		p.Fatalf("%s %v, want %s", got, err, want)
	}
}

// echo returns every message.
func echo(ctx context.Context, c *Channel, with json.RawMessage) error {
	for {
		m, err := c.Receive(ctx)
		if err != nil {
			return err
		}
		if err := c.Send(ctx, map[string]json.RawMessage{string(with): m}); err != nil {
			return err
		}
	}
}

// stuck returns a handler that never receives a message; open counts the running ones.
func stuck(open *atomic.Int64) func(context.Context, *Channel, json.RawMessage) error {
	return func(ctx context.Context, _ *Channel, _ json.RawMessage) error {
		open.Add(1)
		defer open.Add(-1)
		<-ctx.Done()
		return ctx.Err()
	}
}

func TestChannels(t *testing.T) {
	p := serve(t, map[string]Kind{"echo": {Limit: 100, Serve: echo}, "failing": {Serve: func(context.Context, *Channel, json.RawMessage) error {
		return errors.New("it <failed>")
	}}})
	p.say(`{"id":1,"open":"echo","with":7}`)
	p.say(`{"id":1,"message":"<a>"}`)
	p.hears(`{"id":1,"message":{"7":"<a>"}}`)
	p.say(`{"id":2,"open":"echo","with":8}`)
	p.say(`{"id":2,"message":2}`)
	p.hears(`{"id":2,"message":{"8":2}}`)
	p.say(`{"id":1,"close":true}`)
	p.hears(`{"id":1,"closed":"context canceled"}`)
	p.say(`{"id":1,"message":"too late"}`)
	p.say(`{"id":2,"message":3}`)
	p.hears(`{"id":2,"message":{"8":3}}`)
	p.say(`{"id":3,"open":"failing"}`)
	p.hears(`{"id":3,"closed":"it <failed>"}`)
	p.say(`{"id":4,"open":"nothing"}`)
	p.hears(`{"id":4,"closed":"unknown channel"}`)
	p.say(`{"id":2,"message":"%s"}`, strings.Repeat("x", 100))
	p.hears(`{"id":2,"closed":"a message is too long"}`)
}

// A channel whose handler does not receive is closed when its queue is full, and does not delay others.
func TestStuckChannel(t *testing.T) {
	var open atomic.Int64
	p := serve(t, map[string]Kind{"echo": {Limit: 100, Serve: echo}, "stuck": {Limit: 1 << 10, Serve: stuck(&open)}})
	p.say(`{"id":1,"open":"stuck"}`)
	p.say(`{"id":2,"open":"echo","with":7}`)
	for range maxWaiting {
		p.say(`{"id":1,"message":1}`)
	}
	p.say(`{"id":2,"message":2}`)
	p.hears(`{"id":2,"message":{"7":2}}`)
	p.say(`{"id":1,"message":1}`)
	p.hears(`{"id":1,"closed":"too many messages at once"}`)
	p.say(`{"id":3,"open":"stuck"}`)
	for range 3 {
		p.say(`{"id":3,"message":"%s"}`, strings.Repeat("x", 800)) // of 2 kB that may wait
	}
	p.hears(`{"id":3,"closed":"too many messages at once"}`)
	if n := open.Load(); n != 0 {
		t.Errorf("%d channels are still served", n)
	}
}

// All channels end with their connection, and a peer that is not a page is disconnected.
// A channel that ends while a message of it is being written leaves the connection to the others.
func TestEndsWhileWriting(t *testing.T) {
	writing := make(chan struct{}, 1<<10)
	noise := make([]byte, 1<<18) // it cannot be compressed to what the buffers of the connection hold
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	long := hex.EncodeToString(noise)
	p := serve(t, map[string]Kind{"echo": {Limit: 100, Serve: echo}, "long": {Limit: 100, Serve: func(ctx context.Context, c *Channel, _ json.RawMessage) error {
		for {
			select {
			case writing <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := c.Send(ctx, long); err != nil {
				return err
			}
		}
	}}})
	p.say(`{"id":1,"open":"long"}`)
	for n := -1; n != len(writing); time.Sleep(50 * time.Millisecond) { // until one waits for the page
		n = len(writing)
	}
	p.say(`{"id":1,"close":true}`)
	p.say(`{"id":2,"open":"echo","with":7}`)
	p.say(`{"id":2,"message":1}`)
	for {
		text, err := p.Read(p.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(text), `{"id":2,`) {
			return
		}
	}
}

func TestConnectionEnds(t *testing.T) {
	for name, last := range map[string]string{
		"no JSON":           `none`,
		"two of one number": `{"id":0,"open":"stuck"}`,
		"too many":          `{"id":99,"open":"stuck"}`,
	} {
		t.Run(name, func(t *testing.T) {
			var open atomic.Int64
			p := serve(t, map[string]Kind{"stuck": {Serve: stuck(&open)}})
			for i := range maxChannels {
				p.say(`{"id":%d,"open":"stuck"}`, i)
			}
			for open.Load() < maxChannels {
				time.Sleep(time.Millisecond)
			}
			p.say("%s", last)
			for {
				if _, err := p.Read(p.ctx); err != nil {
					break
				}
			}
			for open.Load() > 0 && p.ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			if p.ctx.Err() != nil {
				t.Error("a channel is still served")
			}
		})
	}
}

// The size of a set is bounded, and its pages are notified when it closes.
func TestSet(t *testing.T) {
	var s Set
	conns := make([]wsconn.Conn, maxOpen+1)
	for i := range maxOpen {
		if err := s.Add(&conns[i], func() {}, Owner{strconv.Itoa(i % 10), true}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Add(&conns[maxOpen], func() {}, Owner{"x", true}); !errors.Is(err, ErrFull) {
		t.Errorf("one more: %v", err)
	}
	for i := range maxOpen {
		s.Remove(&conns[i])
	}
	// One person does not take the place of others, and the last ones are for operators.
	one := Owner{Key: "one"}
	for i := range maxOfOne {
		if err := s.Add(&conns[i], func() {}, one); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Add(&conns[maxOpen], func() {}, one); !errors.Is(err, ErrFullForOne) {
		t.Errorf("%v", err)
	}
	added := maxOfOne
	for ; added < maxOpen; added++ {
		if s.Add(&conns[added], func() {}, Owner{Key: strconv.Itoa(added)}) != nil {
			break
		}
	}
	if added != maxOpen-forOperator {
		t.Errorf("%d connections of others than operators", added)
	}
	if err := s.Add(&conns[added], func() {}, Owner{"an operator", true}); err != nil {
		t.Error(err)
	}
	for i := range added + 1 {
		s.Remove(&conns[i])
	}
	if err := s.Add(&conns[0], func() {}, one); err != nil {
		t.Error(err)
	}
	s.Remove(&conns[0])
	s.Close(t.Context())
	if err := s.Add(&conns[0], func() {}, Owner{"x", true}); !errors.Is(err, ErrFull) || len(s.All()) > 0 {
		t.Errorf("after the end: %v", err)
	}
}

// TestFaults lets the handler of a channel panic: the page is told which part has ended and what to do, other channels and connections go on,
// and the channel can be opened again.
func TestFaults(t *testing.T) {
	fails := true
	p := serve(t, map[string]Kind{"echo": {Limit: 100, Serve: echo}, "frames": {Limit: 100, Part: "list", Serve: func(ctx context.Context, c *Channel, with json.RawMessage) error {
		if fails {
			fails = false
			var none []int
			none[len(with)]++
		}
		return echo(ctx, c, with)
	}}})
	before := supervise.Counts()["list"]
	p.say(`{"id":1,"open":"echo","with":"a"}`)
	p.say(`{"id":2,"open":"frames","with":"b"}`)
	got, err := p.Read(p.ctx)
	if want := `{"id":2,"closed":"this list ended by a fault of the program: runtime error: index out of range [3]`; err != nil || !strings.HasPrefix(string(got), want) || !strings.Contains(string(got), "load the page") {
		t.Fatalf("%s %v, want %s", got, err, want)
	}
	p.say(`{"id":1,"message":5}`)
	p.hears(`{"id":1,"message":{"\"a\"":5}}`)
	p.say(`{"id":2,"open":"frames","with":"b"}`)
	p.say(`{"id":2,"message":6}`)
	p.hears(`{"id":2,"message":{"\"b\"":6}}`)
	if n := supervise.Counts()["list"] - before; n != 1 {
		t.Errorf("%d faults are counted", n)
	}
}
