//lint:file-ignore SA1019 the library is at its last release; its successor has the same code under another name

// Package wsconn is a websocket: texts in, texts out, bounded, checked for its origin, and pinged. It is the only importer of
// nhooyr.io/websocket, so that exchanging that library is a change of this file.
package wsconn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"nhooyr.io/websocket"
)

// Times that a connection may take.
const (
	writeTime = 15 * time.Second // for one message to leave
	pingEvery = 25 * time.Second // below the idle times of proxies in between
	pongTime  = 20 * time.Second
)

// Conn is one open websocket. Read is for one goroutine at a time; the rest may be used by all.
type Conn struct{ ws *websocket.Conn }

// Accept answers a request for a websocket. A page of another site is refused, and a message of more than limit bytes closes the
// connection. What was wrong with the request has been answered when there is an error.
func Accept(w http.ResponseWriter, r *http.Request, limit int64) (*Conn, error) {
	// The origin has to be the host that was asked: the library's own rule, with no patterns beside it.
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, fmt.Errorf("accept websocket: %w", err)
	}
	ws.SetReadLimit(limit)
	return &Conn{ws}, nil
}

// Dial opens a websocket from this side, as a page would. header may hold a token or an origin.
func Dial(ctx context.Context, url string, header http.Header, limit int64) (*Conn, error) {
	ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: header, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, fmt.Errorf("open websocket: %w", err)
	}
	ws.SetReadLimit(limit)
	return &Conn{ws}, nil
}

// Read waits for the next text.
func (c *Conn) Read(ctx context.Context) ([]byte, error) {
	kind, data, err := c.ws.Read(ctx)
	if err != nil {
		return nil, err
	}
	if kind != websocket.MessageText {
		c.ws.Close(websocket.StatusUnsupportedData, "texts only")
		return nil, errors.New("a message that is no text")
	}
	return data, nil
}

// Write sends a text. A reader that does not take it in time loses the connection.
func (c *Conn) Write(ctx context.Context, text []byte) error {
	return c.WriteWithin(ctx, text, writeTime)
}

// WriteWithin is Write for a reader that may rest longer, or not so long.
func (c *Conn) WriteWithin(ctx context.Context, text []byte, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.ws.Write(ctx, websocket.MessageText, text)
}

// Ping keeps the connection alive until the context ends or the other side is silent. It needs a Read under way.
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

// Close says goodbye with a reason for people.
func (c *Conn) Close(reason string) { _ = c.ws.Close(websocket.StatusNormalClosure, reason) }

// GoAway closes because the server ends; a page may come back.
func (c *Conn) GoAway() { _ = c.ws.Close(websocket.StatusGoingAway, "the server ends") }

// Drop closes without a word.
func (c *Conn) Drop() { _ = c.ws.CloseNow() }

// Gone reports whether an error of Read or Write only says that the other side has left.
func Gone(err error) bool {
	switch websocket.CloseStatus(err) {
	case websocket.StatusNormalClosure, websocket.StatusGoingAway, websocket.StatusNoStatusRcvd:
		return true
	}
	return errors.Is(err, net.ErrClosed) || errors.Is(err, context.Canceled)
}
