package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"wirebench/server/store"
	"wirebench/server/supervise"
)

const (
	mostTogether = 512 << 10 // bytes of changes from which one message has no more of them
	mostQueued   = 1024
	partRoom     = 4096 // of a message, for its headers
)

// ErrLeadsNoMore reports that a change was not kept, or may not have been, because this node does not lead any more.
var ErrLeadsNoMore = errors.New("this node does not lead any more: try again")

// writer is the journal of a node that leads.
type writer struct {
	*Node
	epoch uint64
	end   func(error) // ends leading
	ctx   context.Context
	queue chan *request
	last  uint64       // message of the log; of the goroutine that writes
	apart atomic.Int64 // changes that no copy of the folder may be made beside
}

// request is a call of Keep.
type request struct {
	text  []byte
	names []string
	apart bool
	first uint64 // message
	done  chan error
	made  chan struct{} // of a change apart: closed when it is made
}

var _ store.Journal = (*writer)(nil)

// fence writes the message with which this node begins to lead: behind all that the folder has, which is all there is.
func (n *Node) fence(ctx context.Context, epoch uint64) (*writer, error) {
	w := &writer{Node: n, epoch: epoch, queue: make(chan *request, mostQueued)}
	for {
		_, last, err := n.last(ctx)
		if err != nil {
			return nil, err
		}
		if err := n.read(ctx, last, nil); err != nil {
			return nil, err
		}
		if err := n.replica.save(); err != nil {
			return nil, err
		}
		w.last = last
		seq, err := w.publish(ctx, appendHead(nil, head{epoch: epoch, parts: 1}))
		if errors.Is(err, errBefore) {
			continue // a message of the node that led
		}
		if err != nil {
			return nil, err
		}
		n.replica.begin(seq, seq, 0, nil)
		return w, nil
	}
}

// ErrFull reports that NATS has no room for more of the log. Nothing was kept, and the node leads on.
var ErrFull = errors.New("NATS has no room for what is saved: give JetStream more, or remove what is not needed")

// isFull reports whether an error of NATS is about its room.
func isFull(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && slices.Contains([]jetstream.ErrorCode{10023, 10047, 10077}, api.ErrorCode)
}

// errBefore reports that the log has messages that this writer has not seen.
var errBefore = errors.New("another node writes the log")

// publish appends a message to the log. It returns when that is certain, or the context is done.
func (w *writer) publish(ctx context.Context, data []byte) (uint64, error) {
	id := fmt.Sprintf("%d-%d", w.epoch, w.last+1)
	var seq uint64
	err := again(ctx, w.Log, "a place in the log", func(ctx context.Context) error {
		m := nats.NewMsg(logSubject)
		m.Data = data
		ack, err := w.js.PublishMsg(ctx, m, jetstream.WithMsgID(id), jetstream.WithExpectLastSequence(w.last), jetstream.WithRetryAttempts(0))
		if err == nil {
			seq = ack.Sequence
			return nil
		}
		full := isFull(err)
		if !wrongSequence(err) && !full {
			return err
		}
		there, e := w.stream.GetMsg(ctx, w.last+1) // the answer to an earlier try may be lost
		switch {
		case e == nil && there.Header.Get(jetstream.MsgIDHeader) == id:
			seq = w.last + 1
			return nil
		case full && errors.Is(e, jetstream.ErrMsgNotFound):
			return ErrFull
		case e == nil || errors.Is(e, jetstream.ErrMsgNotFound):
			return errBefore
		}
		return e
	})
	if err != nil {
		return 0, err
	}
	if seq != w.last+1 {
		return 0, errBefore
	}
	w.last = seq
	w.count.Messages.Add(1)
	w.count.Bytes.Add(int64(len(data)))
	return seq, nil
}

// Keep implements store.Journal.
func (w *writer) Keep(changes ...store.Change) (func(error), error) {
	r := &request{done: make(chan error, 1)}
	for i := range changes {
		r.text = appendChange(r.text, &changes[i])
		r.apart = r.apart || changes[i].Apart()
	}
	r.names = namesOf(changes)
	if len(r.text) > mostText {
		return nil, store.ErrTooLarge
	}
	if r.apart {
		r.made = make(chan struct{})
		w.apart.Add(1)
	}
	select {
	case w.queue <- r:
	case <-w.ctx.Done():
		return nil, ErrLeadsNoMore
	}
	select {
	case err := <-r.done:
		if err != nil {
			return nil, err
		}
	case <-w.ctx.Done():
		select {
		case err := <-r.done:
			if err != nil {
				return nil, err
			}
		default:
			return nil, ErrLeadsNoMore
		}
	}
	if r.apart {
		if err := w.alone(r.first); err != nil {
			return nil, err
		}
	}
	return func(err error) {
		if err != nil {
			w.behind(err)
			return
		}
		w.replica.end(r.first)
		if r.apart {
			if err := w.replica.save(); err != nil {
				w.behind(err)
			}
			close(r.made)
		}
	}, nil
}

// behind ends leading: the folder lacks a change, which is made when it is followed again.
func (w *writer) behind(err error) {
	w.Log.Error("a change that was kept could not be made in the folder: this node leads no more", "error", err)
	w.end(fmt.Errorf("a change could not be made in the folder: %w", err))
}

// alone waits, before a change apart is made, until all that was kept before a message is made in the folder, and noted.
func (w *writer) alone(first uint64) error {
	for {
		if err := w.replica.save(); err != nil {
			w.behind(err)
			return err
		}
		if w.replica.at().Seq+1 >= first {
			return nil
		}
		select {
		case <-w.ctx.Done():
			return ErrLeadsNoMore
		case <-time.After(time.Millisecond):
		}
	}
}

// write writes requests into the log, those that wait together as one, until the context is done.
func (w *writer) write(ctx context.Context) {
	for {
		var all []*request
		var next *request
		select {
		case <-ctx.Done():
			w.refuse()
			return
		case next = <-w.queue:
		}
		var text []byte
		for next != nil {
			all, text = append(all, next), append(text, next.text...)
			next = nil
			if all[len(all)-1].apart || len(text) >= mostTogether {
				break
			}
			select {
			case next = <-w.queue:
				if next.apart {
					w.put(ctx, all, text)
					all, text = nil, nil
				}
			default:
			}
		}
		w.put(ctx, all, text)
		if last := all[len(all)-1]; last.apart && last.first > 0 { // what is kept behind it is made behind it
			select {
			case <-last.made:
			case <-ctx.Done():
			}
		}
	}
}

// refuse answers what waits.
func (w *writer) refuse() {
	for {
		select {
		case r := <-w.queue:
			r.done <- ErrLeadsNoMore
		default:
			return
		}
	}
}

// put writes one text, and answers its requests.
func (w *writer) put(ctx context.Context, all []*request, text []byte) {
	most := max(int(min(w.conn.MaxPayload(), 1<<20))-partRoom, partRoom)
	parts := max(1, (len(text)+most-1)/most)
	first := w.last + 1
	var err error
	for i := range parts {
		piece := text[min(i*most, len(text)):min((i+1)*most, len(text))]
		data := append(appendHead(make([]byte, 0, len(piece)+64), head{w.epoch, uint64(i), uint64(parts)}), piece...)
		if _, err = w.publish(ctx, data); err != nil {
			break
		}
	}
	if errors.Is(err, ErrFull) {
		for _, r := range all {
			r.done <- err
		}
		return
	}
	if err != nil {
		if ctx.Err() == nil {
			w.end(err)
		}
		err = fmt.Errorf("%w (%w)", ErrLeadsNoMore, err)
		for _, r := range all {
			r.done <- err
		}
		return
	}
	var names []string
	for _, r := range all {
		r.first = first
		names = append(names, r.names...)
	}
	w.replica.begin(first, w.last, len(all), names)
	for _, r := range all {
		r.done <- nil
	}
}

// saveAndCut notes what the folder has, and cuts the log when it has grown.
func (n *Node) saveAndCut(ctx context.Context, w *writer, end func(error)) {
	var group supervise.Group
	defer group.Wait()
	cutting := make(chan struct{}, 1)
	looked := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(saveEvery):
		}
		if err := n.replica.save(); err != nil {
			end(err)
			return
		}
		if time.Since(looked) < n.renewals(cutEvery) {
			continue
		}
		looked = time.Now()
		select {
		case cutting <- struct{}{}:
		default:
			continue
		}
		group.Go("cluster", nil, func() {
			defer func() { <-cutting }()
			if err := n.cut(ctx, w); err != nil && ctx.Err() == nil {
				n.count.CopyFaults.Add(1)
				n.Log.Warn("the log of the cluster is not cut; trying again", "error", err)
			}
		})
	}
}
