package replay

import (
	"fmt"

	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Limits of received messages that no step has consumed. Beyond them the oldest are unexpected.
const (
	maxInbox      = 1024
	maxInboxBytes = 16 << 20
)

// arrived is a received message.
type arrived struct {
	Message
	def *schema.Message
}

// title returns the display name of a message.
func (a *arrived) title() string {
	switch {
	case a.def != nil:
		return a.def.Name
	case a.HasKey:
		return fmt.Sprintf("code 0x%X", a.Key.Code)
	case a.Name != "":
		return a.Name
	}
	return "a message without a code"
}

// inbox has the received messages that no step has consumed, in order.
type inbox struct {
	list  []*arrived
	bytes int
}

// put adds a message, and returns the messages removed to make room.
func (b *inbox) put(a *arrived) (over []*arrived) {
	b.list = append(b.list, a)
	b.bytes += len(a.Bytes)
	n := 0
	for len(b.list)-n > maxInbox || b.bytes > maxInboxBytes && len(b.list)-n > 1 {
		b.bytes -= len(b.list[n].Bytes)
		n++
	}
	over, b.list = b.list[:n:n], b.list[n:]
	return over
}

// take removes and returns the first message that fits, or nil.
func (b *inbox) take(fits func(*arrived) bool) *arrived {
	for i, a := range b.list {
		if fits(a) {
			copy(b.list[i:], b.list[i+1:])
			b.list[len(b.list)-1] = nil
			b.list = b.list[:len(b.list)-1]
			b.bytes -= len(a.Bytes)
			return a
		}
	}
	return nil
}

// decode reads a message into rec, which it returns; nil if it has no definition.
func (a *arrived) decode(d Definitions, rec *codec.Record) *codec.Record {
	if a.def == nil {
		return nil
	}
	p, err := d.Program(a.def)
	if err != nil {
		return nil
	}
	rec.Session = codec.Session{}
	p.Decode(rec, a.Bytes)
	return rec
}

// matches reports whether a filter fits.
func (a *arrived) matches(f *filter.Filter, d Definitions, rec *codec.Record) bool {
	frame := filter.Frame{
		Frame:   &transport.Frame{At: a.At, Dir: a.Dir, Kind: transport.Message, Key: a.Key, HasKey: a.HasKey, Bytes: a.Bytes, Note: a.Note},
		Message: a.def,
	}
	switch f.Index(&frame) {
	case filter.Yes:
		return true
	case filter.No:
		return false
	}
	if rec = a.decode(d, rec); rec != nil {
		frame.Status = rec.Status()
	}
	return f.Match(&frame, rec)
}
