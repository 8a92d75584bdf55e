package live

import (
	"fmt"
	"testing"

	"wirebench/codec/transport"
)

// A rolling log accepts any number of consecutive connections: ended ones are discarded with their frames.
func TestRollingConnections(t *testing.T) {
	l := NewRolling(64 << 20)
	const many = 2*MaxConns + 1000
	f := &transport.Frame{Bytes: make([]byte, 20)}
	for i := range many {
		name := fmt.Sprint(i)
		conn, ok := l.RollingConnection(Conn{Name: name})
		if !ok {
			t.Fatalf("connection %d is refused", i)
		}
		if err := l.Add(conn, f); err != nil {
			t.Fatal(err)
		}
		if e := l.Entry(l.Len() - 1); i%1000 == 0 && l.Conns()[e.Conn].Name != name || int(e.Conn) >= MaxConns {
			t.Fatalf("connection %d: entry of %d", i, e.Conn)
		}
		l.End(conn)
	}
	conns := l.Conns()
	if len(conns) > MaxConns || l.Len() != many || l.Base() == 0 {
		t.Errorf("%d connections, frames %d to %d", len(conns), l.Base(), l.Len())
	}
	l.Each(l.Base(), l.Len(), func(i int, e Entry, _ []byte) bool {
		if !conns[e.Conn].Of(e) || conns[e.Conn].Name != fmt.Sprint(i) {
			t.Fatalf("frame %d is of %+v", i, conns[e.Conn])
		}
		return true
	})
}

// Open connections keep their index, and a log whose connections are all open refuses more.
func TestOpenConnections(t *testing.T) {
	l := NewRolling(1 << 20)
	for range MaxConns {
		if _, ok := l.RollingConnection(Conn{}); !ok {
			t.Fatal("refused")
		}
	}
	if _, ok := l.RollingConnection(Conn{}); ok {
		t.Error("more connections than indexes")
	}
	l.End(77)
	before := l.Conns()
	if index, ok := l.RollingConnection(Conn{Name: "new"}); !ok || index != 77 || l.Conns()[77].Of(Entry{}) || !before[77].Of(Entry{}) {
		t.Errorf("index %d, %v", index, ok)
	}
}
