package wsconn

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// counted counts the bytes of its connections.
type counted struct {
	net.Listener
	n atomic.Int64
}

func (l *counted) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &countedConn{c, &l.n}, err
}

type countedConn struct {
	net.Conn
	n *atomic.Int64
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.n.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.n.Add(int64(n))
	return n, err
}

// Long messages are compressed in both directions, and the limit is that of what they contain.
func TestCompressed(t *testing.T) {
	const limit = 1 << 20
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := Accept(w, r, limit)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Drop()
		for {
			text, err := c.Read(r.Context())
			if err != nil {
				return
			}
			if err := c.Write(r.Context(), text); err != nil {
				return
			}
		}
	}))
	wire := &counted{Listener: srv.Listener}
	srv.Listener = wire
	srv.Start()
	t.Cleanup(srv.Close)
	c, err := Dial(t.Context(), strings.Replace(srv.URL, "http", "ws", 1), nil, 2*limit)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Drop()
	echo := func(text string) (n int64, err error) {
		before := wire.n.Load()
		if err := c.Write(t.Context(), []byte(text)); err != nil {
			return 0, err
		}
		got, err := c.Read(t.Context())
		if err == nil && string(got) != text {
			t.Errorf("%d bytes come back as %d", len(text), len(got))
		}
		return wire.n.Load() - before, err
	}
	for _, x := range []struct {
		text        string
		least, most int64
	}{
		{strings.Repeat("a", 1000), 2000, 2500},
		{strings.Repeat("line of a text\n", 30_000), 1000, 20_000},
		{strings.Repeat("a", limit), 1000, 50_000},
	} {
		if n, err := echo(x.text); err != nil || n < x.least || n > x.most {
			t.Errorf("%d bytes and back are %d on the wire: %v", len(x.text), n, err)
		}
	}
	if _, err := echo(strings.Repeat("a", limit+1)); err == nil {
		t.Error("a message over the limit was taken")
	}
}
