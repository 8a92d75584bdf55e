package proxy

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/server/supervise"
)

// panicking is a rewriter that panics, outside of the calls that the connection guards.
type panicking struct {
	transport.Rewriter
	now bool
}

func (f *panicking) Feed(seg transport.Segment, r *transport.Relay) {
	f.now = strings.Contains(string(seg.Bytes), "fault")
	f.Rewriter.Feed(seg, r)
}

func (f *panicking) Due() time.Time {
	if f.now {
		panic("no time")
	}
	return f.Rewriter.Due()
}

// TestFaultOfConnection lets a connection panic while messages are held in it and in another one: it ends alone, with an event, its places
// are free again, and the listener goes on.
func TestFaultOfConnection(t *testing.T) {
	leaks(t)
	before := supervise.Counts()["connection"]
	x := newStage(t, Config{Rewriter: func(c transport.Conn) transport.Rewriter { return &panicking{Rewriter: newMUTA(c)} }})
	x.operate(true)
	x.intercept(ofCode(6))
	x.say(x.client, msg(6, "a"))
	x.held(1)
	other := dial(t, x.s)
	x.say(other, msg(6, "b")+msg(1, "c"))
	x.held(2)
	x.say(other, msg(1, "fault"))
	_ = other.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadAll(other); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
	eventually(t, "the connection has ended", func() bool { return x.s.State().Open == 1 })
	if !hasEvent(x.s, "this connection ended by a fault of the program: no time") {
		t.Errorf("%+v", x.s.Events(0))
	}
	if _, ended := x.s.Conns(); len(ended) != 1 || ended[0].Why != "a fault of the program" {
		t.Errorf("%+v", ended)
	}
	if o := x.s.State().Operate; o.Held != 1 || o.Behind != 0 {
		t.Errorf("%+v", o)
	}
	x.intercept(nil)
	x.expect(x.server, msg(6, "a"))
	x.end()
	if n := supervise.Counts()["connection"] - before; n != 1 {
		t.Errorf("%d faults are counted", n)
	}
}

// TestFaultOfListener lets the goroutines of a session panic: the session ends, with an event, and another one goes on.
func TestFaultOfListener(t *testing.T) {
	leaks(t)
	other := newStage(t, Config{})
	other.say(other.client, msg(1, "first")) // all of its goroutines run before others are counted
	other.expect(other.server, msg(1, "first"))
	for _, test := range []struct {
		name string
		cfg  Config
	}{
		{"the writer of the recording", Config{Record: &Record{Create: func(int) (string, io.WriteCloser, error) { panic("no file") }}}},
		{"a part of its own", Config{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			leaks(t)
			cfg := test.cfg
			cfg.Network, cfg.Pairs = "tcp", []Pair{{"127.0.0.1:0", serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })}}
			s := start(t, newProxy(t), cfg)
			if cfg.Record != nil {
				_, _ = io.WriteString(dial(t, s), "a")
			} else { // a part of its own, as the clock of idle connections is
				s.watch.Go("listener", s.Fail, func() { panic("no clock") })
			}
			eventually(t, "the session has ended", func() bool {
				select {
				case <-s.Done():
					return true
				default:
					return false
				}
			})
			if !hasEvent(s, "this listener ended by a fault of the program: no ") {
				t.Errorf("%+v", s.Events(0))
			}
			if c, err := net.Dial("tcp", s.State().Pairs[0].Listen); err == nil {
				c.Close()
				t.Error("it still listens")
			}
		})
	}
	other.say(other.client, msg(1, "a"))
	other.expect(other.server, msg(1, "a"))
	other.end()
}
