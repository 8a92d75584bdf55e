//lint:file-ignore SA1019 the library is at its last release; its successor has the same code under another name

// Package wsconn provides websocket connections that carry text messages of bounded size, check the origin of requests and send pings. It
// is the only package that imports nhooyr.io/websocket, so that another library can replace it here.
package wsconn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"nhooyr.io/websocket"
)

// Time limits of a connection.
const (
	writeTime = 15 * time.Second // to write one message
	pingEvery = 25 * time.Second // below the idle timeouts of common proxies
	pongTime  = 20 * time.Second
)

// Messages longer than a packet are compressed, each by itself: with what was sent before as context each connection would have a compressor
// of 0.8 MB, and what is sent often is changes, which gain little.
const (
	compression = websocket.CompressionNoContextTakeover
	leastLength = 1400 // bytes of a compressed message
)

// Conn is an open websocket connection. Only one goroutine may call Read at a time; the other methods are safe for concurrent use.
type Conn struct {
	ws  *websocket.Conn
	raw net.Conn // of a server
}

// hijacked keeps the connection that is taken over.
type hijacked struct {
	http.ResponseWriter
	raw net.Conn
}

func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	raw, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.raw = raw
	return raw, rw, err
}

// Accept upgrades a request to a websocket connection. It refuses requests from pages of other sites. A message of more than limit bytes
// closes the connection. If Accept returns an error, it has already written the response.
func Accept(w http.ResponseWriter, r *http.Request, limit int64) (*Conn, error) {
	// Without patterns, the library requires the origin to equal the host of the request.
	h := &hijacked{ResponseWriter: w}
	ws, err := websocket.Accept(h, r, &websocket.AcceptOptions{CompressionMode: compression, CompressionThreshold: leastLength})
	if err != nil {
		return nil, fmt.Errorf("accept websocket: %w", err)
	}
	ws.SetReadLimit(limit)
	return &Conn{ws, h.raw}, nil
}

// Dial opens a websocket connection as a client. header may hold a token or an origin.
func Dial(ctx context.Context, url string, header http.Header, limit int64) (*Conn, error) {
	ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: header, CompressionMode: compression, CompressionThreshold: leastLength})
	if err != nil {
		return nil, fmt.Errorf("open websocket: %w", err)
	}
	ws.SetReadLimit(limit)
	return &Conn{ws: ws}, nil
}

// Read returns the next message.
func (c *Conn) Read(ctx context.Context) ([]byte, error) {
	kind, data, err := c.ws.Read(ctx)
	if err != nil {
		return nil, err
	}
	if kind != websocket.MessageText {
		c.ws.Close(websocket.StatusUnsupportedData, "only text messages are accepted")
		return nil, errors.New("not a text message")
	}
	return data, nil
}

// Write sends a message. It closes the connection if the peer does not take the message in time.
func (c *Conn) Write(ctx context.Context, text []byte) error {
	return c.WriteWithin(ctx, text, writeTime)
}

// WriteWithin is like Write with another time limit.
func (c *Conn) WriteWithin(ctx context.Context, text []byte, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.ws.Write(ctx, websocket.MessageText, text)
}

// Ping sends pings until the context is done or the peer stops answering. Pings keep proxies from closing an idle connection, and detect a
// peer that has disappeared. Ping needs a concurrent Read.
func (c *Conn) Ping(ctx context.Context) error {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		pong, cancel := context.WithTimeout(ctx, pongTime)
		err := c.ws.Ping(pong)
		cancel()
		if err != nil {
			return fmt.Errorf("no answer to a ping: %w", err)
		}
	}
}

// Close closes the connection with a reason for display.
func (c *Conn) Close(reason string) { _ = c.ws.Close(websocket.StatusNormalClosure, reason) }

// GoAway closes the connection because the server shuts down; a page may reconnect.
func (c *Conn) GoAway() { _ = c.ws.Close(websocket.StatusGoingAway, "the server is shutting down") }

// Drop closes the connection without a closing handshake, and ends one that waits for its peer: the library's CloseNow would wait for that,
// too.
func (c *Conn) Drop() {
	if c.raw != nil {
		_ = c.raw.Close()
	}
	_ = c.ws.CloseNow()
}

// Gone reports whether an error of Read or Write only means that the peer has left.
func Gone(err error) bool {
	switch websocket.CloseStatus(err) {
	case websocket.StatusNormalClosure, websocket.StatusGoingAway, websocket.StatusNoStatusRcvd:
		return true
	}
	return errors.Is(err, net.ErrClosed) || errors.Is(err, context.Canceled)
}
