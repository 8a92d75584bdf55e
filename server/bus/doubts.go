package bus

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Passes reports whether an error of NATS is one of those that end by themselves.
func Passes(err error) bool {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.Code == 503 || api.Code == 500 || api.ErrorCode == 10008 || api.ErrorCode == 10009 // no leader yet, a server that has just started
	}
	return errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, nats.ErrDisconnected) ||
		errors.Is(err, nats.ErrReconnectBufExceeded) || errors.Is(err, nats.ErrConnectionReconnecting) || errors.Is(err, jetstream.ErrNoStreamResponse)
}

// Times after which a connection is made again since streams do not answer, the first of them and the longest.
const (
	doubtsFirst = 5 * time.Second
	doubtsMost  = time.Minute
)

// Doubts notices that streams do not answer though the server does: it may be cut off from the other servers. Then the connection is made again, with
// another server if there are several. It is safe for concurrent use.
type Doubts struct {
	conn *nats.Conn
	log  *slog.Logger

	mu    sync.Mutex
	since time.Time // of the first failure in a row; zero: there is none
	wait  time.Duration
}

// NewDoubts returns doubts about a connection.
func NewDoubts(conn *nats.Conn, log *slog.Logger) *Doubts { return &Doubts{conn: conn, log: log} }

// Note notes the result of something that a stream had to answer, and when it began.
func (d *Doubts) Note(began time.Time, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err == nil:
		d.since, d.wait = time.Time{}, 0
		return
	case !Passes(err) && !errors.Is(err, jetstream.ErrJetStreamNotEnabled), !d.conn.IsConnected(), len(d.conn.Servers()) < 2:
		d.since = time.Time{}
		return
	case d.since.IsZero():
		d.since = began
	}
	if time.Since(d.since) < max(d.wait, doubtsFirst) {
		return
	}
	d.since, d.wait = time.Time{}, min(max(2*d.wait, doubtsFirst), doubtsMost)
	d.log.Warn("streams do not answer; connecting to another server of NATS", "server", d.conn.ConnectedUrlRedacted(), "error", err)
	_ = d.conn.ForceReconnect() // it is only refused when the connection is closed
}
