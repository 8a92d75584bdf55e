package live

import (
	"slices"

	"wirebench/codec/transport"
)

// A log stores a frame as an Entry and an Extra; all other fields are lost. Frame converts them back.

// extraOf returns the fields that an Entry cannot hold. ok is false if they are all zero.
func extraOf(f *transport.Frame) (x Extra, ok bool) {
	if f.Note == "" && f.Name == "" && len(f.Via) == 0 && len(f.From) == 0 && f.Offset == 0 && f.Length == 0 {
		return x, false
	}
	return Extra{slices.Clone(f.From), slices.Clone(f.Via), f.Offset, f.Length, f.Note, f.Name}, true
}

// Frame sets f to the frame with index i. data are its bytes, as Get and Each return them.
func (l *Log) Frame(i int, e Entry, data []byte, f *transport.Frame) {
	l.PlainFrame(i, e, data, f)
	x := l.Extra(e)
	f.ID = e.ID(x)
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
