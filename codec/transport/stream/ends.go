package stream

import (
	"bytes"
	"strconv"

	"wirebench/codec/transport"
	"wirebench/defs/envelope"
)

// streamIsMessage reports whether a stream is one message, which ends where the stream ends, or where bytes of it are missing.
func (t *Transport) streamIsMessage(w *way) bool {
	return !t.udp && w.ws == nil && t.legs[w.index].state(w.index).Frame[w.index].Kind == envelope.Datagram
}

// endMessage reads the last message of a stream, if the end of the stream ends it.
func (t *Transport) endMessage(w *way) {
	f := &t.legs[w.index].state(w.index).Frame[w.index]
	if t.streamIsMessage(w) || f.End && !t.udp && w.ws == nil {
		w.fresh, w.need = false, 0
		t.read(w, true)
	}
}

// missing returns the size of the incomplete message of which n bytes are there, with a space behind it; "" if it is unknown.
func (w *way) missing(n int) string {
	if w.whole && w.need > n {
		return strconv.Itoa(w.need) + " "
	}
	return ""
}

// passOver reports bytes with which no message starts, in framings whose next start needs no search: it is behind the next delimiter, at the
// next byte of a stream that is one message, or in the next datagram. Rewriters do not pass them over.
func (t *Transport) passOver(w *way, why string) bool {
	f := &t.legs[w.index].state(w.index).Frame[w.index]
	if t.take != nil || w.ws != nil || !t.udp && f.Kind != envelope.Delimiter && f.Kind != envelope.Datagram {
		return false
	}
	n := len(w.buf) - w.done
	w.seek = !t.udp && f.Kind == envelope.Delimiter
	if w.seek {
		if i := bytes.Index(w.buf[w.done:], f.Delimiter); i >= 0 {
			n, w.seek = i+len(f.Delimiter), false
		}
	}
	t.giveUp(w, why, n)
	w.lost = !t.udp
	return true
}

// giveUp reports the next n bytes as unread.
func (t *Transport) giveUp(w *way, why string, n int) {
	t.decipher(w, w.done+n)
	t.lose(w, why, w.offset+int64(w.done), certain)
	t.unread(w, n, "")
	w.resync = nil
}

// alone continues in another state or compression, if messages from here on certainly have it and nothing of the other direction was seen: the
// message that leads to it may be one of that direction.
func (t *Transport) alone(w *way) bool {
	if t.take != nil || t.ways[1-w.index].begun {
		return false
	}
	at := w.offset + int64(w.done)
	t.lose(w, "", at, certain)
	w.resync.stop = at + 1
	if t.find(w, false) == at && w.resync.form != w.resync.usual {
		t.resume(w, at)
		return true
	}
	w.resync = nil
	return false
}

// Held returns the number of bytes that wait for the rest of their messages.
func (t *Transport) Held() (n int) {
	for i := range t.ways {
		n += len(t.ways[i].buf) - t.ways[i].done
	}
	return n
}

// GiveUp reports the bytes that wait for the rest of their messages as unread, so that they take no memory. Reading continues behind these
// messages if they have lengths or delimiters, and at the next byte of a stream that is one message. It must not be called in envelopes with
// ciphers.
func (t *Transport) GiveUp(why string, emit func(*transport.Frame)) {
	t.emit = emit
	for i := range t.ways {
		w := &t.ways[i]
		n := len(w.buf) - w.done
		if n == 0 {
			continue
		}
		if w.whole {
			w.skip += int64(max(w.need-n, 0))
		}
		searched := w.resync != nil
		t.giveUp(w, why, n)
		w.seek = t.legs[i].state(i).Frame[i].Kind == envelope.Delimiter
		if searched || w.skip == 0 && t.searchable(w) {
			t.lose(w, "", w.next(), likely)
		}
	}
	t.emit = nil
}
