package live

import (
	"encoding/binary"

	"wirebench/codec/transport"
)

// A log stores a frame as an Entry, its bytes, and behind them the properties that do not fit into the Entry. Frame converts them back.

// Extra holds the properties of a frame that lists do not need.
type Extra struct {
	From   []transport.Source
	Via    []string
	Offset int64
	Length int64
	Note   string
	Name   string // name of the definition, where messages have no code
}

// The parts of an Extra that are behind the bytes of a frame, in this order. A number is a varint, a text has its length before it.
const (
	moreFrom   = 1 << iota // all sources: their count, then packet, offset and length of each
	moreVia                // count, then texts
	moreLength             // Extra.Length, signed
	moreNote               // a text
	moreName               // a text
)

// split sets what an entry holds of an Extra, and returns the rest, encoded in scratch space of the log.
func (l *Log) split(e *Entry, f *transport.Frame) []byte {
	parts := byte(0)
	if len(f.From) > 0 {
		e.from, e.sent = f.From[0], true
	}
	if len(f.From) > 1 {
		parts |= moreFrom
	}
	if len(f.Via) > 0 {
		parts |= moreVia
	}
	if e.length = uint32(f.Length); f.Length != int64(e.length) {
		parts |= moreLength
	}
	if f.Note != "" {
		parts |= moreNote
	}
	ok := false
	if e.name, ok = l.names.number(f.Name); !ok {
		parts |= moreName
	}
	if parts == 0 {
		return nil
	}
	b := append(l.more[:0], parts)
	text := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	if parts&moreFrom != 0 {
		b = binary.AppendUvarint(b, uint64(len(f.From)))
		for _, s := range f.From {
			b = binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(b, uint64(s.Packet)), uint64(s.Off)), uint64(s.Len))
		}
	}
	if parts&moreVia != 0 {
		b = binary.AppendUvarint(b, uint64(len(f.Via)))
		for _, s := range f.Via {
			text(s)
		}
	}
	if parts&moreLength != 0 {
		b = binary.AppendVarint(b, f.Length)
	}
	if parts&moreNote != 0 {
		text(f.Note)
	}
	if parts&moreName != 0 {
		text(f.Name)
	}
	l.more = b
	return b
}

// Extra returns the properties of a frame that its entry does not have. If the frame was discarded, only some of them are known.
func (l *Log) Extra(e Entry) Extra {
	x := Extra{Offset: e.offset, Length: int64(e.length)}
	if e.sent {
		x.From = []transport.Source{e.from}
	}
	if e.more == 0 && e.name == 0 {
		return x
	}
	l.mu.RLock()
	x.Name = l.names.name(e.name)
	l.mu.RUnlock()
	if b := l.behind(e); len(b) > 0 {
		x.read(b)
	}
	return x
}

// AppendFrom appends the sources of a frame to a list.
func (l *Log) AppendFrom(to []transport.Source, e Entry) []transport.Source {
	if !e.sent {
		return to
	}
	if e.more > 0 {
		if b := l.behind(e); len(b) > 0 && b[0]&moreFrom != 0 {
			b := rest(b[1:])
			for range b.count(3) {
				to = append(to, transport.Source{Packet: uint32(b.number()), Off: uint32(b.number()), Len: uint32(b.number())})
			}
			return to
		}
	}
	return append(to, e.from)
}

// Via reports whether a packet around a frame has a name; see Extra.Via.
func (l *Log) Via(e Entry, name string) bool {
	if e.Flags&Wrapped == 0 {
		return false
	}
	b := rest(l.behind(e))
	if len(b) == 0 {
		return false
	}
	parts := b[0]
	b = b[1:]
	if parts&moreFrom != 0 {
		for range 3 * b.count(3) {
			b.number()
		}
	}
	for range b.count(1) {
		if string(b.text()) == name {
			return true
		}
	}
	return false
}

// Name returns the name of the definition of a frame, where messages have no code.
func (l *Log) Name(e Entry) string {
	switch {
	case e.Flags&Named == 0:
		return ""
	case e.name == 0:
		return l.Extra(e).Name
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.names.name(e.name)
}

// rest is what follows in an encoded Extra.
type rest []byte

// number returns 0 at the end; so does text.
func (b *rest) number() int {
	n, size := binary.Uvarint(*b)
	*b = (*b)[max(size, 0):]
	return int(n)
}

// count is number for what has some bytes each.
func (b *rest) count(each int) int {
	n := b.number()
	return max(0, min(n, len(*b)/each))
}

func (b *rest) text() []byte {
	n := b.count(1)
	s := (*b)[:n]
	*b = (*b)[n:]
	return s
}

// read sets the parts that are encoded in b.
func (x *Extra) read(b rest) {
	parts := b[0]
	b = b[1:]
	if parts&moreFrom != 0 {
		x.From = make([]transport.Source, b.count(3))
		for i := range x.From {
			x.From[i] = transport.Source{Packet: uint32(b.number()), Off: uint32(b.number()), Len: uint32(b.number())}
		}
	}
	if parts&moreVia != 0 {
		x.Via = make([]string, b.count(1))
		for i := range x.Via {
			x.Via[i] = string(b.text())
		}
	}
	if parts&moreLength != 0 {
		n, size := binary.Varint(b)
		x.Length, b = n, b[max(size, 0):]
	}
	if parts&moreNote != 0 {
		x.Note = string(b.text())
	}
	if parts&moreName != 0 {
		x.Name = string(b.text())
	}
}

// behind returns the bytes behind those of a frame; nil if it was discarded.
func (l *Log) behind(e Entry) []byte {
	if z := l.lazy.Load(); z != nil {
		block := l.arenaOf(z, e)
		if block == nil {
			return nil
		}
		return block[e.off+e.Len : e.off+e.Len+e.more]
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if int(e.block) < l.oldArena || int(e.block)-l.oldArena >= len(l.arena) {
		return nil
	}
	from := e.off + e.Len
	return l.arena[int(e.block)-l.oldArena][from : from+e.more]
}

// Frame sets f to the frame with index i. data are its bytes, as Get and Each return them.
func (l *Log) Frame(i int, e Entry, data []byte, f *transport.Frame) {
	l.PlainFrame(i, e, data, f)
	x := l.Extra(e)
	f.ID = e.ID()
	f.From, f.Via, f.Offset, f.Length, f.Note, f.Name = x.From, x.Via, x.Offset, x.Length, x.Note, x.Name
}

// PlainFrame is like Frame but leaves out the fields of Extra and the identity.
func (l *Log) PlainFrame(i int, e Entry, data []byte, f *transport.Frame) {
	*f = transport.Frame{
		N: uint32(i + 1), Marks: e.Flags.Marks(), Kind: e.Kind, Dir: e.Dir, At: e.Time(), HasKey: e.HasKey, Bytes: data, Resumed: e.Flags&Resumed != 0,
	}
	f.Key.Dir, f.Key.Group, f.Key.Code = e.Dir, l.Group(e), e.Code
}

// ConnReader looks up the connections of entries, and reloads them for an entry of a newer one. It is for one goroutine.
type ConnReader struct {
	log *Log
	all []Conn
}

// ConnReader returns a reader of the connections of the log.
func (l *Log) ConnReader() *ConnReader { return &ConnReader{l, l.Conns()} }

// Of returns the connection of an entry, which the caller must not change.
func (r *ConnReader) Of(e Entry) *Conn {
	if int(e.Conn) >= len(r.all) || !r.all[e.Conn].Of(e) {
		r.all = r.log.Conns()
	}
	return &r.all[e.Conn]
}
