// Package socket carries the channels of an open page over one websocket. The page opens and closes channels; each is served in a goroutine
// by the handler of its kind, and ends when the handler returns. All channels end with the connection.
//
// The connection is read without interruption: messages of a page wait in a bounded queue for the handler of their channel, and a channel
// whose queue overflows is closed. Writing blocks only the sender: each channel has at most one message waiting for the connection, so that
// a busy channel does not delay the others.
package socket

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"wirebench/server/supervise"
	"wirebench/server/wsconn"
)

// Bounds of one connection.
const (
	maxChannels = 16
	maxWaiting  = 512 // messages waiting for the handler of a channel

	maxQueued = 64 << 20 // bytes waiting in all channels of one person
)

// Up is a message of a page about a channel: it opens the channel, sends a message in it, or closes it.
type Up struct {
	ID      int             `json:"id"`             // chosen by the page, unique within the connection
	Open    string          `json:"open,omitempty"` // kind of the channel
	With    json.RawMessage `json:"with,omitempty"` // argument of Open, as the kind defines it
	Message json.RawMessage `json:"message,omitempty"`
	Close   bool            `json:"close,omitempty"`
}

// Down is a message to a page: a message of a channel, or the notice that the channel is closed.
type Down struct {
	ID      int             `json:"id"`
	Message json.RawMessage `json:"message,omitempty"`
	Closed  *string         `json:"closed,omitempty"` // reason, for display
}

// Kind is a kind of channel.
type Kind struct {
	Limit int    // maximum bytes of a message of the page; twice as many may wait
	Most  int    // channels of the kind in one connection; 0: as many as there may be of all kinds
	Part  string // what the channel is for, as shown to users

	// Serve serves a channel until it returns; its error is sent to the page, also that of a panic. The context is canceled when the page closes the channel, and
	// with the connection.
	Serve func(ctx context.Context, c *Channel, with json.RawMessage) error
}

// Channel is an open channel, as seen by its handler.
type Channel struct {
	id      int
	conn    *wsconn.Conn
	limit   int
	in      chan json.RawMessage
	kind    string
	waiting atomic.Int64    // bytes waiting in in
	queued  *atomic.Int64   // and in all channels of the person
	writing chan struct{}   // has one element while a message of this channel is being written
	page    context.Context // of the connection
	end     context.CancelCauseFunc
}

// Receive returns the next message of the page. Only one goroutine may call it at a time.
func (c *Channel) Receive(ctx context.Context) (json.RawMessage, error) {
	select {
	case m := <-c.in:
		c.waiting.Add(-int64(len(m)))
		c.queued.Add(-int64(len(m)))
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Send sends a message as JSON. It returns when the connection has accepted it.
func (c *Channel) Send(ctx context.Context, message any) error {
	text, err := JSON(message)
	if err != nil {
		return err
	}
	return c.SendJSON(ctx, text)
}

// SendJSON is Send for a message that is already JSON. A message that is being written is written to its end, even if the context ends: the
// half of one would end the connection, and with it the other channels.
func (c *Channel) SendJSON(ctx context.Context, text []byte) error {
	select {
	case c.writing <- struct{}{}:
		defer func() { <-c.writing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	out := make([]byte, 0, len(text)+32)
	out = fmt.Appendf(out, `{"id":%d,"message":`, c.id)
	return c.conn.Write(c.page, append(append(out, bytes.TrimSpace(text)...), '}'))
}

// JSON encodes a value without escaping markup: scripts read it, and most of it is markup.
func JSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(buf.Bytes()), err
}

// Reasons for closing a channel.
var (
	errTooLong = errors.New("a message is too long")
	errTooMany = errors.New("too many messages at once")
	errUnknown = errors.New("unknown channel")

	errManyOfKind = errors.New("the page has too many channels of this kind open")
)

// errNotUp ends a connection whose peer is not a page.
var errNotUp = errors.New("not a message of a page")

// Serve serves the channels of a page until it leaves or the context is done. When Serve returns, all handlers have returned.
//
// Queued counts the bytes of messages that wait in all connections of the person: see Set.Queued. Beyond maxQueued a channel is closed.
func Serve(ctx context.Context, conn *wsconn.Conn, kinds map[string]Kind, queued *atomic.Int64) error {
	ctx, cancel := context.WithCancel(ctx)
	s := &served{conn: conn, kinds: kinds, channels: map[int]*Channel{}, queued: queued}
	s.all.Go("page", nil, func() {
		defer cancel()
		_ = conn.Ping(ctx)
	})
	err := supervise.Do("page", func() error { return s.read(ctx) })
	if fault := (*supervise.Fault)(nil); errors.As(err, &fault) {
		conn.Close("this page ended by a fault of the program: load it again")
	}
	cancel()
	s.all.Wait()
	return err
}

// served is the state of a connection being served.
type served struct {
	conn   *wsconn.Conn
	kinds  map[string]Kind
	queued *atomic.Int64
	all    supervise.Group

	mu       sync.Mutex
	channels map[int]*Channel
}

// read reads the messages of the page, and waits for nothing else.
func (s *served) read(ctx context.Context) error {
	for {
		text, err := s.conn.Read(ctx)
		if err != nil {
			return err
		}
		var m Up
		if err := json.Unmarshal(text, &m); err != nil {
			s.conn.Close(errNotUp.Error())
			return errNotUp
		}
		s.mu.Lock()
		c, count := s.channels[m.ID], len(s.channels)
		if c != nil && m.Open == "" && !m.Close {
			c.take(m.Message) // while it is not closed
		}
		s.mu.Unlock()
		switch {
		case m.Open != "" && (c != nil || count == maxChannels):
			s.conn.Close("too many channels, or a number used twice")
			return errNotUp
		case m.Open != "":
			s.open(ctx, &m)
		case c == nil: // the page does not know yet that the channel is closed
		case m.Close:
			c.end(context.Canceled)
		}
	}
}

// take queues a message for its channel, or ends the channel.
func (c *Channel) take(m json.RawMessage) {
	if len(m) > c.limit {
		c.end(errTooLong)
		return
	}
	if waiting, queued := c.waiting.Add(int64(len(m))), c.queued.Add(int64(len(m))); waiting > 2*int64(c.limit) || queued > maxQueued {
		c.end(errTooMany)
		return
	}
	select {
	case c.in <- m:
	default:
		c.end(errTooMany)
	}
}

// open opens a channel and serves it in a goroutine.
func (s *served) open(ctx context.Context, m *Up) {
	kind, ok := s.kinds[m.Open]
	if !ok {
		kind.Serve = func(context.Context, *Channel, json.RawMessage) error { return errUnknown }
	}
	connected := ctx
	ctx, end := context.WithCancelCause(ctx)
	c := &Channel{id: m.ID, kind: m.Open, queued: s.queued, conn: s.conn, limit: kind.Limit, in: make(chan json.RawMessage, maxWaiting), writing: make(chan struct{}, 1), page: connected, end: end}
	s.mu.Lock()
	same := 0
	for _, o := range s.channels {
		if o.kind == m.Open {
			same++
		}
	}
	s.channels[m.ID] = c
	s.mu.Unlock()
	if kind.Most > 0 && same >= kind.Most {
		kind.Serve = func(context.Context, *Channel, json.RawMessage) error { return errManyOfKind }
	}
	s.all.Go("page", nil, func() {
		err := supervise.Do(kind.Part, func() error { return kind.Serve(ctx, c, m.With) })
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		end(nil)
		s.mu.Lock()
		delete(s.channels, c.id)
		c.queued.Add(-c.waiting.Swap(0)) // nothing is taken any more
		s.mu.Unlock()
		reason := ""
		if err != nil {
			reason = err.Error()
		}
		if text, err := JSON(Down{ID: c.id, Closed: &reason}); err == nil {
			_ = s.conn.Write(connected, text)
		}
	})
}
