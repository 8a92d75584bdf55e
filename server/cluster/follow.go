package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"wirebench/server/bus"
	"wirebench/server/store"
	"wirebench/server/supervise"
)

const (
	pulled      = 64 // messages under way
	pullTime    = 5 * time.Second
	pullBeat    = time.Second // twice as long without one, and messages are asked for again
	fewLeft     = 256         // messages that are read one by one
	mostWaiting = 256
	forEver     = math.MaxUint64
)

var errGap = errors.New("the log was cut before what follows the folder")

// follow makes the changes of the log in the folder until this node has the lease, whose revision it returns.
func (n *Node) follow(ctx context.Context) (rev uint64, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var group supervise.Group
	defer group.Wait()
	defer stop()
	failed := make(chan error, 1)
	current := make(chan struct{}) // closed once the folder has had all of the log
	group.Go("cluster", func(err error) { failed <- err }, func() { failed <- n.read(ctx, forEver, current) })
	for {
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case err := <-failed:
			return 0, err
		case <-time.After(n.renewals(0.5)):
		}
		select {
		case <-current:
			n.tell(nil)
		default:
			continue // whoever lacks most does not lead first
		}
		n.mu.Lock()
		taken := n.lease.URL != "" && time.Since(n.leaseAt) < n.renewals(doubtTime)
		n.mu.Unlock()
		if taken || !n.conn.IsConnected() {
			continue
		}
		rev, err := n.acquire(ctx)
		if err != nil && !bus.Passes(err) {
			return 0, err
		}
		if err == nil && rev > 0 {
			return rev, nil
		}
	}
}

// last returns the number of the last message of the log, and of the first that is left.
func (n *Node) last(ctx context.Context) (first, last uint64, err error) {
	err = again(ctx, n.Log, "the log", func(ctx context.Context) error {
		info, err := n.stream.Info(ctx)
		if err == nil {
			first, last = info.State.FirstSeq, info.State.LastSeq
			if made := info.Created.UnixNano(); made != n.made {
				err = errors.New("the log in NATS was replaced while this node ran: start it again")
			}
		}
		return err
	})
	return first, last, err
}

// read makes the changes of the log in the folder: up to a message, or, with forEver, until the context is done. current, if not nil, is closed once the folder
// has all that was there at the start.
func (n *Node) read(ctx context.Context, upTo uint64, current chan struct{}) error {
	for {
		err := n.readOn(ctx, upTo, current)
		if !errors.Is(err, errGap) {
			return err
		}
		if err := n.fill(ctx); err != nil {
			return err
		}
	}
}

func (n *Node) readOn(ctx context.Context, upTo uint64, current chan struct{}) error {
	first, last, err := n.last(ctx)
	if err != nil {
		return err
	}
	switch at := n.replica.at(); {
	case at.Log == 0: // an empty folder, or one that was not filled to its end
		if err := n.fill(ctx); err != nil {
			return err
		}
	case at.Log != n.made:
		return fmt.Errorf("folder %s is of another cluster, or of one that was made anew: give an empty folder", n.replica.dir)
	case at.Seq > last:
		return fmt.Errorf("folder %s has more than the log, which has lost messages: give an empty folder", n.replica.dir)
	case at.Seq+1 < first:
		return errGap
	}
	next := n.replica.at().Seq + 1
	if current != nil && next > last {
		closeOnce(current)
	}
	if next > upTo {
		return nil
	}
	var parts assembly
	take := func(seq uint64, data []byte) error {
		text, from, whole, err := parts.take(seq, data)
		var changes []store.Change
		if err == nil && whole {
			changes, err = changesOf(text)
		}
		if err != nil {
			return fmt.Errorf("message %d of the log: %w", seq, err)
		}
		if whole {
			if err := n.replica.make(from, seq, changes); err != nil {
				return err
			}
			n.count.Followed.Add(1)
		}
		next = seq + 1
		if current != nil && seq >= last {
			closeOnce(current)
		}
		return nil
	}
	if upTo != forEver && upTo-next < fewLeft { // without a consumer, whose first request may be lost
		for next <= upTo {
			var m *jetstream.RawStreamMsg
			err := again(ctx, n.Log, "the log", func(ctx context.Context) (err error) {
				m, err = n.stream.GetMsg(ctx, next)
				return err
			})
			if errors.Is(err, jetstream.ErrMsgNotFound) {
				return errGap
			}
			if err == nil {
				err = take(next, m.Data)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	var saving supervise.Group
	defer saving.Wait()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	saving.Go("cluster", stop, func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(saveEvery):
			}
			if err := n.replica.save(); err != nil {
				stop(err)
			}
		}
	})
	consumer, err := n.js.OrderedConsumer(ctx, logStream, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: next, InactiveThreshold: time.Minute})
	if err != nil {
		return err
	}
	in, err := consumer.Messages(jetstream.PullMaxMessages(pulled), jetstream.PullExpiry(pullTime), jetstream.PullHeartbeat(pullBeat))
	if err != nil {
		return err
	}
	defer in.Stop()
	for next <= upTo {
		m, err := in.Next(jetstream.NextContext(ctx)) // not for a moment only: a request that was lost is noticed by the time that nothing comes
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		switch seq := meta.Sequence.Stream; {
		case seq < next:
		case seq > next:
			return errGap
		default:
			if err := take(seq, m.Data()); err != nil {
				return err
			}
		}
	}
	return nil
}

func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}
