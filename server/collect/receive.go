package collect

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"wirebench/codec/pcap"
	"wirebench/server/bus"
	"wirebench/server/proxy"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// How traffic is received.
const (
	pulled     = 64                     // messages under way to this program, for each project
	ackWait    = time.Minute            // after which the stream delivers a message again
	beat       = time.Second            // between two signs that the stream knows of the request for messages; twice as long without one, and it is lost
	look       = 3 * beat               // between two looks at the connection while nothing comes: longer than what a lost request is noticed by
	together   = time.Millisecond       // for which messages that follow are waited for, to be written at once
	pauseShort = 200 * time.Millisecond // before a new consumer
	pauseLong  = 2 * time.Second        // so that traffic comes soon after NATS does
	strangers  = 10 * time.Second       // between two looks whether another workbench still receives
	mostRests  = 100                    // captures of one recording, each after a loss
)

// StreamOptions say how the stream is made, if there is none.
type StreamOptions struct {
	Bytes    int64 // of all messages that are not received yet
	Replicas int   // servers that have each message
}

// Config configures a Receiver.
type Config struct {
	Bus    bus.Options
	Stream StreamOptions
	Log    *slog.Logger
	Leads  bool // no other workbench receives by right: one that does has led, and leads no more

	// Grown is called when a capture has grown, as captures.Set.Grown.
	Grown func(project, id string, size int64, now time.Time)

	// Changed, Moved and Held are called as those of relay.Options, for listeners of collectors.
	Changed, Moved func(project string)
	Held           func(project, id string)
}

// Receiver appends the traffic of collectors to captures.
type Receiver struct {
	Config
	conn *nats.Conn
	js   jetstream.JetStream

	made  sync.Mutex // held while the stream is made
	count Received

	mu      sync.Mutex
	remotes map[string]*remote // by id

	doubts *bus.Doubts
}

// NewReceiver connects to NATS. It returns before there is a connection, which is made again whenever it is lost.
func NewReceiver(cfg Config) (*Receiver, error) {
	conn, err := bus.Connect(cfg.Bus, "wirebench", cfg.Log)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &Receiver{Config: cfg, conn: conn, js: js, remotes: map[string]*remote{}, doubts: bus.NewDoubts(conn, cfg.Log)}, nil
}

// Connected reports whether there is a connection to NATS now.
func (r *Receiver) Connected() bool { return r.conn.IsConnected() }

// Count returns the number of running listeners of collectors.
func (r *Receiver) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.remotes)
}

// Close closes the connection. Calls of Follow have ended.
func (r *Receiver) Close() { r.conn.Close() }

// Received counts what was received.
type Received struct {
	Batches, Bytes atomic.Int64 // appended
	Doubled        atomic.Int64 // batches that were there already
	Refused        atomic.Int64 // messages that make no sense
	Lost           atomic.Int64 // bytes of recordings that were lost on the way
}

// Received returns the counts since the start.
func (r *Receiver) Received() *Received { return &r.count }

// errAgain says that messages may be out of order, so that a new consumer is needed.
var errAgain = errors.New("messages are delivered again")

// errStranger says that another program receives the traffic of a project.
var errStranger = errors.New("another workbench receives the traffic of this project: each needs a NATS account of its own")

// Follow receives the traffic of a project, and hears its collectors, until the context is done.
func (r *Receiver) Follow(ctx context.Context, ws *workspace.Workspace) {
	var work supervise.Group
	defer work.Wait()
	r.attend(ctx, ws, &work)
	told := ""
	wait := pauseShort
	for ctx.Err() == nil {
		began := time.Now()
		err := r.receive(ctx, ws)
		if time.Since(began) > ackWait {
			wait = pauseShort
		}
		if errors.Is(err, errAgain) {
			err = nil
		}
		if err != nil && ctx.Err() == nil && err.Error() != told {
			told = err.Error()
			r.Log.Warn("no traffic of collectors is received", "project", ws.Name, "error", err)
		}
		if errors.Is(err, errStranger) {
			wait = strangers
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		if wait = min(2*wait, pauseLong); err == nil {
			wait = pauseShort
		}
	}
}

// consumer makes the consumer of a project: a new one, to which the stream delivers all that is left, in order.
func (r *Receiver) consumer(ctx context.Context, project string) (jetstream.Consumer, error) {
	stream, err := r.stream(ctx)
	if err != nil {
		return nil, err
	}
	name := "workbench-" + bus.Token(project)
	if old, err := stream.Consumer(ctx, name); err == nil {
		if old.CachedInfo().NumWaiting > 0 && !r.Leads {
			return nil, errStranger
		}
		if err := stream.DeleteConsumer(ctx, name); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return nil, err
		}
	} else if !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return nil, err
	}
	return stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: name, AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: 4 * pulled,
		FilterSubject: trafficPrefix + bus.Token(project) + ".>",
	})
}

// stream returns the stream of all traffic, and makes it if there is none. A stream that an administrator has made is used as it is.
func (r *Receiver) stream(ctx context.Context) (jetstream.Stream, error) {
	r.made.Lock()
	defer r.made.Unlock()
	stream, err := r.js.Stream(ctx, streamName)
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return stream, err
	}
	stream, err = r.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: streamName, Description: "traffic of collectors that a workbench has not received yet", Subjects: []string{trafficPrefix + "*.*.*"},
		Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew,
		MaxBytes: r.Stream.Bytes, Replicas: r.Stream.Replicas,
	})
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == 10047 { // insufficient storage, which the library does not name
		err = fmt.Errorf("NATS may not store %d MiB of traffic: give it more, or --nats-bytes less", r.Stream.Bytes>>20)
	}
	return stream, err
}

// receive receives until something is out of order.
func (r *Receiver) receive(ctx context.Context, ws *workspace.Workspace) error {
	making, stop := context.WithTimeout(ctx, ackTime)
	defer stop()
	connected := r.conn.Stats().Reconnects
	began := time.Now()
	consumer, err := r.consumer(making, ws.Name)
	if ctx.Err() == nil {
		r.doubts.Note(began, err)
	}
	if err != nil {
		return err
	}
	in, err := consumer.Messages(jetstream.PullMaxMessages(pulled), jetstream.PullExpiry(2*look), jetstream.PullHeartbeat(beat))
	if err != nil {
		return err
	}
	defer in.Stop()
	into := &intake{Receiver: r, ws: ws, in: ws.Captures, ends: map[string]*ending{}}
	for next := uint64(1); ctx.Err() == nil; {
		if r.conn.Stats().Reconnects != connected { // what was under way may be lost, and would come again after ackWait only
			return errAgain
		}
		var all []jetstream.Msg
		waiting, stop := context.WithTimeout(ctx, look)
		m, err := in.Next(jetstream.NextContext(waiting))
		stop()
		for err == nil {
			meta, wrong := m.Metadata()
			if wrong != nil || meta.Sequence.Consumer != next || meta.NumDelivered > 1 {
				err = errAgain
				break
			}
			next++
			if all = append(all, m); len(all) == pulled {
				break
			}
			m, err = in.Next(jetstream.NextMaxWait(together))
		}
		if errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.DeadlineExceeded) {
			err = nil
		} else if errors.Is(err, jetstream.ErrNoHeartbeat) {
			err = errAgain
		}
		if failed := into.take(ctx, all); failed != nil {
			return failed
		}
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// intake appends messages of one consumer to captures.
type intake struct {
	*Receiver
	ws   *workspace.Workspace
	in   *store.Captures
	ends map[string]*ending // by the id that messages name
}

// ending is where a recording ends here: in the last of the captures that have it, or nowhere yet.
type ending struct {
	first string // id that messages name
	rest  int    // losses before the last capture
	by    string // collector
	made  bool   // there is a capture
	at    int64  // offset in the recording of what is next
	from  int64  // where the last capture begins in the recording
	head  int64  // bytes that it has before that
	lost  int64  // bytes of the recording before from that no capture has
}

// id returns the id of the last capture.
func (e *ending) id() string { return restOf(e.first, e.rest) }

// size returns the size of the last capture.
func (e *ending) size() int64 { return e.at - e.from + e.head }

// piece is what several messages append to one capture.
type piece struct {
	end   *ending
	data  []byte
	about *about
	acks  []jetstream.Msg
}

// take appends messages to their captures and acknowledges them. An error says that no more can be taken now.
func (k *intake) take(ctx context.Context, all []jetstream.Msg) error {
	pieces := map[string]*piece{}
	var order []*piece
	for _, m := range all {
		b, a, by, err := parse(m.Subject(), m.Headers(), m.Data())
		if err == nil {
			var end *ending
			if end, err = k.end(b.capture, by); err == nil {
				p := pieces[b.capture]
				if p == nil {
					p = &piece{end: end}
					pieces[b.capture] = p
					order = append(order, p)
				}
				if err = k.add(p, b, a, m); errors.Is(err, errApart) {
					if err = k.put(ctx, p); err != nil {
						return err
					}
					err = k.add(p, b, a, m)
				}
			} else if !errors.Is(err, errForeign) {
				return err
			}
		}
		if err != nil {
			k.refuse(m, err)
		}
	}
	for _, p := range order {
		if err := k.put(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// refuse removes a message that makes no sense from the stream.
func (k *intake) refuse(m jetstream.Msg, why error) {
	k.count.Refused.Add(1)
	k.Log.Warn("a message of a collector is refused", "project", k.ws.Name, "subject", fmt.Sprintf("%.200s", m.Subject()), "bytes", len(m.Data()), "reason", why)
	_ = m.TermWithReason("it makes no sense to the workbench")
}

// Errors of taking a message.
var (
	errForeign = errors.New("the capture is not that of a recording of this collector")
	errApart   = errors.New("it does not follow what was collected")
	errHead    = errors.New("a recording does not begin so")
)

// end returns where a recording ends here.
func (k *intake) end(first, by string) (*ending, error) {
	if end := k.ends[first]; end != nil {
		if end.by != by {
			return nil, errForeign
		}
		return end, nil
	}
	end := &ending{first: first, by: by}
	for rest := range mostRests {
		x, err := k.in.Get(restOf(first, rest))
		if errors.Is(err, fs.ErrNotExist) && rest == 0 {
			continue // it may have been deleted, and another continues it
		}
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		c := x.Collected
		if c == nil || c.By != by {
			return nil, errForeign
		}
		*end = ending{first: first, rest: rest, by: by, made: true, at: c.From + x.Size - c.Head, from: c.From, head: c.Head}
		if x.Unfinished {
			k.in.Grows(x.ID, true)
		}
	}
	if len(k.ends) >= maxParts {
		clear(k.ends)
	}
	k.ends[first] = end
	return end, nil
}

// restOf returns the id of the capture that has a recording after some losses.
func restOf(first string, losses int) string {
	if losses == 0 {
		return first
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s after loss %d", first, losses))
	at := strings.LastIndexByte(first, '-') + 1
	return first[:at] + hex.EncodeToString(sum[:])[:len(first)-at]
}

// add adds a message to what is to be appended. errApart says that this has to be written before.
func (k *intake) add(p *piece, b batch, a *about, m jetstream.Msg) error {
	at := p.end.at + int64(len(p.data))
	switch till := b.offset + int64(len(b.data)); {
	case till > store.MaxCaptureBytes:
		return store.ErrTooLarge
	case b.offset > at: // the consumer delivers in order, so what is between was lost
		if len(p.acks) > 0 {
			return errApart
		}
		if err := p.end.skip(b.offset); err != nil {
			return err
		}
	case b.offset < at:
		if len(b.data) > 0 {
			k.count.Doubled.Add(1)
		}
		b.data = b.data[min(at-b.offset, int64(len(b.data))):]
	case b.offset == 0 && !p.end.made && len(p.data) == 0 && pcap.SniffCapture(b.data) == "" && len(b.data) > 0:
		return errHead
	}
	if len(p.data)+len(b.data) > store.MaxAppend/2 && len(p.acks) > 0 {
		return errApart
	}
	p.data = append(p.data, b.data...)
	p.acks = append(p.acks, m)
	if a != nil && (p.about == nil || a.Changes > p.about.Changes || a.Changes == p.about.Changes && a.Ended) {
		p.about = a
	}
	return nil
}

// skip goes on in another capture after a loss.
func (e *ending) skip(offset int64) error {
	rest := e.rest
	if e.made {
		rest++
	}
	if rest == mostRests {
		return fmt.Errorf("bytes of this recording were lost %d times", mostRests)
	}
	*e = ending{first: e.first, rest: rest, by: e.by, at: offset, from: offset, lost: offset - e.at}
	return nil
}

// put writes what is to be appended, describes it, and acknowledges it.
func (k *intake) put(ctx context.Context, p *piece) (err error) {
	if len(p.acks) == 0 {
		return nil
	}
	end := p.end
	defer func() {
		if err != nil {
			delete(k.ends, end.first) // it is looked up again
		}
	}()
	if len(p.data) > 0 || !end.made {
		if err := k.write(p); err != nil {
			if errors.Is(err, store.ErrTooLarge) {
				for _, m := range p.acks {
					k.refuse(m, err)
				}
				*p = piece{end: end}
				return errAgain
			}
			return err
		}
	}
	if p.about != nil {
		err := k.describe(p)
		if errors.Is(err, store.ErrTooLarge) { // beside its notes; the traffic counts
			k.Log.Warn("a recording is not described", "project", k.ws.Name, "capture", end.id(), "reason", err)
			err = nil
		}
		if err != nil {
			return err
		}
	}
	for _, m := range p.acks {
		if err := m.Ack(); err != nil {
			return err
		}
	}
	k.count.Batches.Add(int64(len(p.acks)))
	k.count.Bytes.Add(int64(len(p.data)))
	*p = piece{end: end}
	return ctx.Err()
}

// write appends bytes to the last capture of a recording, or makes it.
func (k *intake) write(p *piece) error {
	end, now := p.end, time.Now()
	if end.made {
		_, err := k.in.Append(end.id(), end.size(), bytes.NewReader(p.data))
		var moved *store.OffsetError
		switch {
		case errors.As(err, &moved), errors.Is(err, fs.ErrNotExist): // a part of it was appended by a program that was killed, or it was deleted
			return errAgain
		case err != nil:
			return err
		}
	} else if err := k.begin(p, now); err != nil {
		return err
	}
	end.at += int64(len(p.data))
	end.made = true
	k.Grown(k.ws.Name, end.id(), end.size(), now)
	return nil
}

// begin makes the capture of a recording, or of the rest of one after a loss.
func (k *intake) begin(p *piece, now time.Time) error {
	end := p.end
	x := store.Capture{ID: end.id(), Name: "traffic of collector " + end.by, Added: now}
	before, err := k.in.Get(restOf(end.first, max(end.rest-1, 0)))
	switch {
	case p.about != nil:
		x.Name, x.Added, x.Listener = p.about.Name, p.about.Added, p.about.Listener
	case err == nil && before.Collected != nil:
		x.Name, x.Added, x.Listener = before.Name, before.Added, before.Listener
	}
	if last, ok := k.newest(end.by, x.Listener); ok {
		x.Settings, x.Keys = last.Settings, last.Keys
	}
	data := p.data
	if end.from > 0 {
		var head bytes.Buffer
		w, _ := pcap.NewWriter(&head, "wirebench", fmt.Sprintf("%d bytes of the recording of collector %s before this file are missing", end.lost, end.by)) // Write never fails
		_, _ = w.Interface(proxy.RecordInterface)
		end.head = int64(head.Len())
		data = append(head.Bytes(), data...)
		x.Name += ", after a loss"
		k.count.Lost.Add(end.lost)
		k.Log.Warn("bytes of a recording were lost on the way, or the capture that had them was deleted", "project", k.ws.Name, "collector", end.by, "capture", x.ID, "bytes", end.lost)
	}
	x.Collected = &store.Collected{By: end.by, From: end.from, Head: end.head, Lost: end.lost}
	_, err = k.in.Collect(x, x.Added, data)
	if errors.Is(err, fs.ErrExist) {
		return errAgain
	}
	return err
}

// newest returns the newest capture of a listener of a collector: what somebody has set for it is meant for those that follow.
func (k *intake) newest(by string, l *store.Listener) (store.Capture, bool) {
	all, err := k.in.List()
	if err != nil || l == nil {
		return store.Capture{}, false
	}
	for _, x := range all {
		if x.Collected != nil && x.Collected.By == by && x.Listener != nil && x.Listener.Listen == l.Listen {
			return x, true
		}
	}
	return store.Capture{}, false
}

// describe stores what the collector says about a recording.
func (k *intake) describe(p *piece) error {
	a, end := p.about, p.end
	_, err := k.in.Edit(end.id(), func(x *store.Capture) error {
		if x.Collected == nil || a.Changes < x.Collected.Told || a.Changes == x.Collected.Told && !x.Unfinished {
			return nil
		}
		x.Listener, x.Unrecorded, x.Unfinished = a.Listener, a.Unrecorded, !a.Ended
		c := *x.Collected
		c.Told = a.Changes
		x.Collected = &c
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return errAgain
	}
	if err == nil && a.Ended {
		k.in.Grows(end.id(), false)
		delete(k.ends, end.first)
	}
	return err
}
