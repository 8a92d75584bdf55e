package tera

import "wirebench/codec/transport"

// shaken reports whether the direction's part of the exchange of keys is over.
func (w *way) shaken() bool { return w.step == len(w.steps()) && w.skip == 0 }

// patch passes over bytes of the exchange that were not captured, with what is left of the key that they belong to: it is known. What is
// left of seg.Lost is missing behind the exchange.
func (t *Transport) patch(w *way, seg *transport.Segment) {
	t.patched = true
	all := w.steps()
	start := w.next()
	lost := seg.Lost
	for seg.Lost > 0 && !w.shaken() {
		if w.skip == 0 {
			have := len(w.buf) - w.done
			w.pass(have)
			w.compact()
			w.skip = int64(all[w.step].size - have)
			w.step++
		}
		n := min(seg.Lost, w.skip)
		w.skip -= n
		w.offset += n
		seg.Lost -= n
	}
	f := t.begin(w, transport.Problem, start, seg.At)
	f.Length, f.Via, f.Note = lost-seg.Lost, viaHandshake, "a part of the keys was not captured; they are known from elsewhere"
	t.emit(f)
}

// passMissing passes over bytes that belong to a key of which others are missing.
func (w *way) passMissing(seg *transport.Segment) {
	n := int(min(w.skip, int64(len(seg.Bytes))))
	w.skip -= int64(n)
	w.offset += int64(n)
	seg.Bytes, seg.Off, seg.Start = seg.Bytes[n:], seg.Off+uint32(n), false
}

// stripped reports whether the streams can be those of an enciphered connection without its exchange of keys: the keys are known from
// elsewhere, and so is where the streams start.
func (t *Transport) stripped() bool {
	return t.options.Keys != nil && t.mode == undecided && !t.ways[0].lost && !t.ways[1].lost
}

// strip tries what the streams are: enciphered with the keys of the options, or plain.
func (t *Transport) strip() {
	for i := range t.ways {
		t.ways[i].probed()
	}
	t.patched, t.keys = true, new(*t.options.Keys)
	for _, c := range []Constants{CurrentConstants, OldConstants} {
		if t.options.Constants == AnyConstants || t.options.Constants == c {
			s := NewSession(t.keys, c)
			t.trials = append(t.trials, candidate{constants: c, session: s, running: *s})
		}
	}
	t.trials = append(t.trials, candidate{})
	t.become(trial)
}
