package frames

import (
	"context"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/codec/corpus"
	"wirebench/codec/transport"
	"wirebench/defs"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
	"wirebench/server/live"
	"wirebench/server/workspace"
)

// listStep is the number of frames of a list looked up at once.
const listStep = 4096

// eachOf calls f with the frames of the list in order, as live.Log.EachOf does, until f returns false or the context is done. Events of
// packets are left out: they are rows, and count nowhere.
func (l *List) eachOf(ctx context.Context, f func(i int, e live.Entry, block []byte) bool) error {
	more := true
	for pos := 0; more; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		pos = max(pos, l.View.position(l.log.Base()))
		list := l.View.listed(pos, listStep)
		if len(list) == 0 {
			return nil
		}
		pos += len(list)
		seen := 0
		l.log.EachOf(list, func(i int, e live.Entry, block []byte) bool {
			if seen++; seen%lookEvery == 0 && ctx.Err() != nil {
				return false
			}
			more = e.Kind == transport.Packet || f(i, e, block)
			return more
		})
	}
	return ctx.Err()
}

// byType maps the types of the frames in a log to values, up to MaxTypes: a malicious capture may have any number of codes. Its keys are
// computed without a lookup of Extra where possible.
type byType[T any] struct {
	log       *live.Log
	alternate *defs.Header       // alternative header of the dialect; nil if there is none
	forms     *envelope.Envelope // if its messages of one code have several headers; else nil
	plain     map[uint64]*T
	special   map[specialType]*T
}

// specialType is a type that Entry.Type does not identify completely.
type specialType struct {
	number    uint64
	name      string           // of the definition, if the frame has it
	alternate bool             // the frame has the alternative header
	header    *envelope.Header // of an envelope that has several
}

func newByType[T any](log *live.Log, snap *workspace.Snapshot) *byType[T] {
	b := &byType[T]{log, snap.Dialect.Alternate, nil, map[uint64]*T{}, map[specialType]*T{}}
	if snap.Envelope != nil && snap.Envelope.Forms {
		b.forms = snap.Envelope
	}
	return b
}

// specialOf returns the special type of a frame; false if Entry.Type identifies it.
func (b *byType[T]) specialOf(e live.Entry, data []byte) (specialType, bool) {
	named, wrapped := e.Flags&live.Named != 0, (b.alternate != nil || b.forms != nil) && e.Flags&live.Wrapped != 0
	if !named && !wrapped {
		return specialType{}, false
	}
	t := specialType{number: e.Type(), name: b.log.Name(e), alternate: wrapped && b.alternate != nil && b.log.Via(e, b.alternate.Name)}
	if wrapped && b.forms != nil {
		t.header = b.forms.HeaderFor(schema.Key{Group: b.log.Group(e), Dir: e.Dir, Code: e.Code}, data)
	}
	return t, named || t.alternate || t.header != nil
}

// of returns the value for the type of a frame, nil if there is none.
func (b *byType[T]) of(e live.Entry, data []byte) *T {
	if t, is := b.specialOf(e, data); is {
		return b.special[t]
	}
	return b.plain[e.Type()]
}

// put sets the value for the type of a frame. It returns false if there are too many types.
func (b *byType[T]) put(e live.Entry, data []byte, t *T) bool {
	if len(b.plain)+len(b.special) >= MaxTypes {
		return false
	}
	if s, is := b.specialOf(e, data); is {
		b.special[s] = t
	} else {
		b.plain[e.Type()] = t
	}
	return true
}

// entryData returns the bytes of a frame in the block that holds it.
func entryData(e live.Entry, block []byte) []byte {
	_, off := e.Place()
	return block[off : off+e.Len : off+e.Len]
}

// Bounds of a batch of messages, so that the columns fit the cache and memory is bounded: a column takes eight bytes for a value of
// possibly one bit.
const (
	feedBytes  = 1 << 15
	feedFrames = 1 << 10
	feedLong   = 1 << 16 // a longer message is decoded alone, without columns
)

// feed decodes the messages of a program in batches, into columns. T identifies a message.
type feed[T any] struct {
	program *codec.Program
	take    func(of []T) // processes the messages in the columns, row by row
	columns columns.Set
	block   uint32 // block of the log that holds the batch
	data    []byte // the block up to the end of the last message; the bytes after it may change
	spans   []columns.Span
	of      []T
	bytes   int
}

// add adds the next message, given its block of the log.
func (f *feed[T]) add(e live.Entry, block []byte, of T) {
	number, off := e.Place()
	if len(f.spans) > 0 && (number != f.block || f.bytes >= feedBytes || len(f.spans) == feedFrames) {
		f.flush()
	}
	f.block, f.data, f.bytes = number, block[:off+e.Len], f.bytes+int(e.Len)
	f.spans, f.of = append(f.spans, columns.Span{Off: off, Len: e.Len}), append(f.of, of)
}

// flush decodes the batch.
func (f *feed[T]) flush() {
	spans, of := f.spans, f.of
	for len(spans) > 0 {
		f.columns.Reset()
		n := f.columns.Append(f.program, f.data, spans)
		f.take(of[:n])
		spans, of = spans[n:], of[n:]
	}
	f.spans, f.of, f.bytes = f.spans[:0], f.of[:0], 0
}

// columnFeed adds messages to a table.
type columnFeed struct {
	feed[uint64] // by number of frame
	table        *corpus.Table
}

func newColumnFeed(p *codec.Program) *columnFeed {
	f := &columnFeed{table: corpus.NewTable(p)}
	f.program, f.take = p, func(frames []uint64) { f.table.AddColumns(&f.columns, frames) }
	return f
}

// add adds the next message, the frame with index i.
func (f *columnFeed) add(i int, e live.Entry, block []byte) {
	if e.Len > feedLong {
		f.flush()
		f.table.Add(uint64(i+1), entryData(e, block))
		return
	}
	f.feed.add(e, block, uint64(i+1))
}
