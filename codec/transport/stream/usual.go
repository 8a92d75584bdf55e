package stream

import (
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// usual emits the complete frames at the start of a direction as long as nothing else has to be done about them than to cut them: they have a
// length and a code, which is known, and change no state. Most frames of most protocols are such. It leaves all others to read.
func (t *Transport) usual(l *leg, w *way) {
	s := &l.sides[w.index]
	state := &l.o.Envelope.States[s.state]
	f, c := &state.Frame[w.index], &state.Code[w.index]
	if t.take != nil || t.udp || f.Kind != envelope.Length || f.At > 0 && !f.Keep || c.Number.Kind == envelope.NoNumber || s.comp.on ||
		s.cipher != nil && !t.steady || len(state.Bundles) > 0 || len(s.later) > 0 || l.o.Measure != nil || w.seek || w.unsure || w.note != "" ||
		!l.idle(w.index) || l.marked(w.index) {
		return
	}
	key := schema.Key{Dir: w.dir, Group: state.Group[w.index]}
	known := l.lib.defs == nil || s.cipher != nil // what frames hold does not matter, see doubts
	x := &t.unit.frame
	for w.done < len(w.buf) {
		b := w.buf[w.done:]
		if cutLength(f, b, x); x.total == 0 {
			return
		}
		message := b[x.length:x.total:x.total]
		if len(message) <= c.At {
			return
		}
		v, n := readNumber(&c.Number, message[c.At:])
		if n <= 0 || v != uint64(uint32(v)) || !known && !w.familiar.has(s.state, uint32(v)) {
			return
		}
		if key.Code = uint32(v); known {
			w.codes.add(key.Code)
		}
		w.patience, w.trial = 0, max(w.trial-1, 0)
		offset := w.offset + int64(w.done)
		p, at := &w.pieces[w.first], time.Time{}
		if end := offset + int64(x.total); p.end >= end && p.packet != 0 { // as most are
			t.from, at = append(t.from[:0], transport.Source{Packet: p.packet, Off: p.off - uint32(p.end-offset), Len: uint32(x.total)}), p.at
		} else {
			t.from, at = w.appendSources(t.from[:0], 0, x.total), w.arrival(x.total)
		}
		out := &t.frame
		*out = transport.Frame{} // set in place: a literal would be copied from where it was just written, and wait for that
		out.Kind, out.Dir, out.At, out.Key, out.HasKey = transport.Message, w.dir, at, key, true
		out.Bytes, out.From, out.Offset, out.Resumed = message, t.from, offset, w.lost
		if t.o.Link != nil {
			t.o.Link.Read(out)
		}
		t.emit(out)
		w.pass(x.total)
	}
}
