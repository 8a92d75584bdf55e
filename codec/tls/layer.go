package tls

import (
	"slices"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Bounds of a Layer.
const (
	maxHeld     = 64 << 20 // bytes of incomplete records in all connections
	maxOpen     = 1 << 14  // directions that are decrypted at once
	maxPending  = 64 << 10 // bytes of a connection until it is clear whether it is TLS
	maxFree     = 64       // free buffers
	helloStart  = 11       // bytes by which a hello is recognised
	workAtStart = 16 << 20 // bytes of records that may be tried with other keys or sequence numbers, besides workPerByte for each byte of TLS
	workPerByte = 16

	followingCost = 4 << 10 // bytes of work that the derivation of keys counts as
)

// Layer decrypts the TLS connections of one capture. It serves one goroutine at a time.
type Layer struct {
	given *Secrets
	file  Secrets
	free  [][]byte
	held  int
	open  int
	work  int64
	plain [maxBody]byte // a decrypted record
}

// NewLayer returns a Layer with the given secrets, which are not changed and may be nil.
func NewLayer(given *Secrets) *Layer { return &Layer{given: given, work: workAtStart} }

// AddLog adds the secrets of a key log in the capture. Invalid lines are ignored.
func (l *Layer) AddLog(text []byte) { l.file.addLog(text) }

func (l *Layer) secret(of random, purpose label) []byte {
	if s := l.given.get(of, purpose); s != nil {
		return s
	}
	return l.file.get(of, purpose)
}

// Wrap returns a transport of a TCP connection that passes what TLS carries to inner. If the connection is not TLS, inner gets the segments
// unchanged. clear, if not nil, receives all decrypted ranges.
func (l *Layer) Wrap(inner transport.Transport, clear func(transport.Clear)) transport.Transport {
	return &conn{layer: l, inner: inner, clear: clear}
}

// conn is the transport of a connection.
type conn struct {
	layer   *Layer
	inner   transport.Transport
	clear   func(transport.Clear)
	plain   bool     // not TLS
	session *session // nil until it is clear that it is TLS

	pending []transport.Segment // until it is clear; Bytes are owned
	size    int                 // of their Bytes
}

// Feed implements transport.Transport.
func (c *conn) Feed(seg transport.Segment, emit func(*transport.Frame)) {
	switch {
	case c.plain:
		c.inner.Feed(seg, emit)
		return
	case c.session != nil:
		c.session.feed(seg, emit)
		return
	}
	if len(c.pending) == 0 && seg.Lost == 0 && len(seg.Bytes) > 0 && looksLike(clientHello, seg.Bytes[:1]) == unlike {
		c.plain = true // most connections
		c.inner.Feed(seg, emit)
		return
	}
	c.pending = append(c.pending, seg)
	client, like := c.judge()
	switch {
	case like == alike:
		c.session = newSession(c, client)
	case like == unlike || c.size+len(seg.Bytes) > maxPending || len(c.pending) > maxPending/64:
		c.plain = true
	default:
		c.pending[len(c.pending)-1].Bytes = slices.Clone(seg.Bytes)
		c.size += len(seg.Bytes)
		return
	}
	c.release(emit)
}

// release feeds the pending segments.
func (c *conn) release(emit func(*transport.Frame)) {
	pending := c.pending
	c.pending, c.size = nil, 0
	for _, seg := range pending {
		c.Feed(seg, emit)
	}
}

// judge judges by the start of both directions whether the connection is TLS, and which direction is that of the client. A ServerHello may be
// captured before the ClientHello.
func (c *conn) judge() (client schema.Dir, like likeness) {
	var starts [3][]byte
	var over [3]bool
	for _, seg := range c.pending {
		if start := &starts[seg.Dir]; !over[seg.Dir] && len(*start) < helloStart {
			*start = append(*start, seg.Bytes[:min(len(seg.Bytes), helloStart)]...)
		}
		over[seg.Dir] = over[seg.Dir] || seg.Lost != 0 || seg.End && len(starts[seg.Dir]) > 0
	}
	for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
		ofClient := looksLike(clientHello, starts[dir])
		if ofClient == alike {
			return dir, alike
		}
		if ofClient == unlike && looksLike(serverHello, starts[dir]) == unlike || over[dir] && len(starts[dir]) < helloStart {
			return 0, unlike
		}
	}
	return 0, perhaps
}

// Waits implements transport.Waiter.
func (c *conn) Waits() bool {
	inner, ok := c.inner.(transport.Waiter)
	return len(c.pending) > 0 || ok && inner.Waits() || c.session != nil && (c.session.ways[schema.ToServer].waits() || c.session.ways[schema.ToClient].waits())
}

// Flush implements transport.Transport.
func (c *conn) Flush(at time.Time, emit func(*transport.Frame)) {
	if c.session == nil && !c.plain {
		c.plain = true
		c.release(emit)
	}
	if c.session != nil {
		c.session.flush(at, emit)
	}
	c.inner.Flush(at, emit)
}
