package collect

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"wirebench/server/bus"
)

// How batches are published.
const (
	ackTime     = 10 * time.Second       // for the acknowledgement of a batch, after which it is sent again
	firstRetry  = 250 * time.Millisecond // wait after the first failure; doubled after each further one
	longestWait = 2 * time.Second        // short, since a collector that ends has only its farewell
	concurrent  = 64                     // parts of which batches are under way
)

// Publisher publishes what is in a spool.
type Publisher struct {
	Spool     *Spool
	Collector string // name
	Log       *slog.Logger

	conn *nats.Conn
	js   jetstream.JetStream

	mu    sync.Mutex
	state Published
}

// Published counts what was published.
type Published struct {
	Batches int64
	Bytes   int64
	Why     string // why nothing is published now; "" if it is
}

// NewPublisher returns a publisher for a connection.
func NewPublisher(s *Spool, collector string, conn *nats.Conn, log *slog.Logger) (*Publisher, error) {
	js, err := jetstream.New(conn, jetstream.WithPublishAsyncTimeout(ackTime))
	if err != nil {
		return nil, err
	}
	return &Publisher{Spool: s, Collector: collector, Log: log, conn: conn, js: js}, nil
}

// State returns what was published.
func (p *Publisher) State() Published {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// Run publishes until the context is done.
func (p *Publisher) Run(ctx context.Context) {
	wait := time.Duration(0)
	doubts := bus.NewDoubts(p.conn, p.Log)
	for {
		began := time.Now()
		more, err := p.round(ctx)
		if ctx.Err() != nil {
			return
		}
		switch doubts.Note(began, err); {
		case err != nil:
			p.tell(err)
			wait = min(max(2*wait, firstRetry), longestWait)
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			continue
		}
		p.tell(nil)
		if wait = 0; more {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-p.Spool.wake:
		}
	}
}

// tell notes and logs that publishing stops or goes on.
func (p *Publisher) tell(err error) {
	why := ""
	if err != nil {
		why = reason(err)
	}
	p.mu.Lock()
	was := p.state.Why
	p.state.Why = why
	p.mu.Unlock()
	switch {
	case why != "" && was != why:
		p.Log.Warn("publishing is interrupted; what is recorded waits in the spool", "reason", why)
	case why == "" && was != "":
		p.Log.Info("publishing goes on")
	}
}

// reason says what to do about an error of a stream.
func reason(err error) string {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, jetstream.ErrNoStreamResponse):
		return "NATS has no stream for traffic: a workbench with --nats makes it"
	case errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrConnectionReconnecting), errors.Is(err, nats.ErrDisconnected),
		errors.Is(err, nats.ErrHeadersNotSupported): // the last one is said before the first connection
		return "there is no connection to NATS"
	case errors.As(err, &api) && api.ErrorCode == 10077: // maximum bytes exceeded, which the library does not name
		return "the stream is full: the workbench does not take its traffic"
	}
	return err.Error()
}

// sending is a batch under way.
type sending struct {
	part    *part
	batch   batch
	changes int
	ack     jetstream.PubAckFuture
}

// round publishes one batch of each part that has one, and waits for their acknowledgements: those of one part follow each other. It reports
// whether there may be more; its error is the first one.
func (p *Publisher) round(ctx context.Context) (more bool, err error) {
	p.Spool.mu.Lock()
	parts := slices.Clone(p.Spool.parts)
	p.Spool.mu.Unlock()
	most := int64(batchBytes)
	if n := p.conn.MaxPayload(); n > 0 { // of the server
		most = max(min(most, n-headRoom), 1)
	}
	var under []sending
	for _, part := range parts {
		if len(under) == concurrent {
			more = true
			break
		}
		b, changes, ok, failed := part.next(most)
		if failed != nil {
			err = cmp.Or(err, failed)
			continue
		}
		if !ok {
			continue
		}
		ack, failed := p.js.PublishMsgAsync(b.message(subjectOf(part.told.Project, p.Collector, part.told.Route)), jetstream.WithExpectStream(streamName))
		if failed != nil {
			return false, cmp.Or(err, failed)
		}
		under = append(under, sending{part, b, changes, ack})
	}
	for _, s := range under {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case failed := <-s.ack.Err():
			err = cmp.Or(err, failed)
		case <-s.ack.Ok():
			s.part.acknowledged(s.batch, s.changes)
			more = true
			p.mu.Lock()
			p.state.Batches++
			p.state.Bytes += int64(len(s.batch.data))
			p.mu.Unlock()
		}
	}
	return more, err
}
