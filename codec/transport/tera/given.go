package tera

import (
	"wirebench/codec/transport"
)

// shaken reports whether the direction's part of the key exchange is over.
func (w *way) shaken() bool { return w.step == len(w.steps()) && w.skip == 0 }

// patch skips bytes of the key exchange that were not captured, and the rest of the key that they belong to, which is known from the
// options. On return seg.Lost is the number of bytes missing after the exchange.
func (t *Transport) patch(w *way, seg *transport.Segment) {
	t.patched = true
	all := w.steps()
	start := w.offset
	lost := seg.Lost
	for seg.Lost > 0 && !w.shaken() {
		if w.skip == 0 {
			w.skip = int64(all[w.step].size - len(w.key))
			w.key, w.from = w.key[:0], w.from[:0]
			w.step++
		}
		n := min(seg.Lost, w.skip)
		w.skip -= n
		w.offset += n
		seg.Lost -= n
	}
	f := t.begin(w, transport.Problem, start, seg.At)
	f.Length, f.Via, f.Note = lost-seg.Lost, viaHandshake, "a part of the keys was not captured; the configured keys are used"
	t.emit(f)
}

// passMissing skips bytes of a key of which other bytes are missing.
func (w *way) passMissing(seg *transport.Segment) {
	n := int(min(w.skip, int64(len(seg.Bytes))))
	w.skip -= int64(n)
	w.advance(seg, n)
}

// stripped reports whether the streams may be an encrypted connection without its key exchange: the keys are known from elsewhere, and the
// starts of the streams are known too.
func (t *Transport) stripped() bool {
	return t.options.Keys != nil && t.mode == undecided && !t.ways[0].lost && !t.ways[1].lost
}

// strip starts the trial of the streams: encrypted with the keys of the options, or plain.
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
	t.again(trial)
}
