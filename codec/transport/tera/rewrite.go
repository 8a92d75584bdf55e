package tera

import (
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/stream"
	"wirebench/defs/schema"
)

// Rewriter changes the messages of a connection. It takes over where the keys are known: of connections whose start it has seen. The safe point
// is where the constants of the cipher are known, which requires the code of the client's first message, if that arrives in one piece; then in
// each direction the next start of a message.
type Rewriter struct {
	t      *Transport
	inner  *stream.Rewriter // nil until the streams are read
	asking bool
	over   [2]bool // the end of a direction has passed

	r     *transport.Relay  // of the current call
	at    time.Time         // likewise
	seg   transport.Segment // likewise
	sent  int               // bytes of the stored segments that were passed on, and are still to be read
	ended bool              // the end of seg was passed on
}

// NewRewriter returns the rewriter of a connection.
func NewRewriter(o Options) *Rewriter {
	w := &Rewriter{t: New(o)}
	w.t.open, w.t.pass = w.open, w.pass
	return w
}

var _ transport.Rewriter = (*Rewriter)(nil)

// open begins to read the segments that were stored. If messages are decided about, those of the present segment are already.
func (w *Rewriter) open(o stream.Options) {
	w.inner = stream.NewRewriter(o)
	p := &w.t.pending
	w.sent = len(p.bytes)
	if w.asking {
		fresh := min(p.fresh, len(w.seg.Bytes))
		if n := len(w.seg.Bytes) - fresh; n > 0 { // the end of the key exchange
			w.r.Put(transport.Segment{Dir: w.seg.Dir, At: w.at, Bytes: w.seg.Bytes[:n]})
		}
		w.sent -= fresh
		w.decide()
	}
}

// decide begins to decide about messages once all that was passed on is read.
func (w *Rewriter) decide() {
	if w.sent == 0 {
		w.inner.Operate(true, w.at, w.r)
	}
}

// pass reads a stored segment.
func (w *Rewriter) pass(seg transport.Segment) {
	n := min(max(w.sent, 0), len(seg.Bytes))
	if w.sent > 0 || !w.asking {
		part := seg
		part.Bytes, part.End = seg.Bytes[:n], seg.End && n == len(seg.Bytes)
		w.inner.Feed(part, &transport.Relay{Emit: w.r.EmitFrame})
		w.sent -= n
		seg.Bytes, seg.Off, seg.Start, seg.Lost = seg.Bytes[n:], seg.Off+uint32(n), false, 0
		if w.asking {
			w.decide()
		}
		if len(seg.Bytes) == 0 {
			return
		}
	}
	w.ended = seg.End
	w.inner.Feed(seg, w.r)
}

// Feed takes the next segment of a stream. A direction of Both counts as ToServer.
func (w *Rewriter) Feed(seg transport.Segment, r *transport.Relay) {
	if w.inner != nil {
		w.inner.Feed(w.t.way(seg.Dir).behind(seg), r)
		return
	}
	if seg.Dir != schema.ToClient {
		seg.Dir = schema.ToServer
	}
	over := &w.over[0]
	if seg.Dir == schema.ToClient {
		over = &w.over[1]
	}
	if *over {
		return
	}
	*over = seg.End
	w.r, w.at, w.seg = r, seg.At, seg
	out := transport.Segment{Dir: seg.Dir, At: seg.At, Bytes: seg.Bytes, End: seg.End}
	if !w.asking {
		r.Put(out)
	}
	switch w.t.Feed(seg, r.EmitFrame); {
	case !w.asking:
	case w.inner == nil:
		r.Put(out)
	case seg.End && !w.ended:
		r.Put(transport.Segment{Dir: seg.Dir, At: seg.At, End: true})
	}
	w.r, w.seg = nil, transport.Segment{}
}

// Operate implements transport.Rewriter.
func (w *Rewriter) Operate(on bool, at time.Time, r *transport.Relay) {
	if w.asking = on; w.inner != nil {
		w.inner.Operate(on, at, r)
	}
}

// Mode implements transport.Rewriter.
func (w *Rewriter) Mode() (transport.RewriteMode, string) {
	switch {
	case w.inner != nil:
		return w.inner.Mode()
	case w.asking:
		return transport.Wanted, "the key exchange and the first message"
	}
	return transport.Observing, ""
}

// Release implements transport.Rewriter.
func (w *Rewriter) Release(id uint64, d transport.Decision, at time.Time, r *transport.Relay) error {
	if w.inner == nil {
		return transport.ErrNotHeld
	}
	return w.inner.Release(id, d, at, r)
}

// Send implements transport.Rewriter.
func (w *Rewriter) Send(dir schema.Dir, o transport.Outgoing, at time.Time, r *transport.Relay) error {
	if w.inner == nil {
		return transport.ErrNotOperating
	}
	return w.inner.Send(dir, o, at, r)
}

// Tick does nothing: streams need no retransmission.
func (w *Rewriter) Tick(time.Time, *transport.Relay) {}

// Due returns the zero time.
func (w *Rewriter) Due() time.Time { return time.Time{} }

// Waiting returns the number of bytes of a direction that wait: held messages and the data behind them.
func (w *Rewriter) Waiting(dir schema.Dir) int {
	if w.inner == nil {
		return 0
	}
	return w.inner.Waiting(dir)
}

// Flush decides with the data available, emits incomplete messages as problems and sends their bytes unchanged.
func (w *Rewriter) Flush(at time.Time, r *transport.Relay) {
	if w.inner == nil {
		w.r, w.at, w.t.pending.fresh = r, at, 0
		w.t.Flush(at, r.EmitFrame)
		w.r = nil
	}
	if w.inner != nil {
		w.inner.Flush(at, r)
	}
}
