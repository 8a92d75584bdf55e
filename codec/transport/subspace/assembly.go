package subspace

import (
	"encoding/binary"
	"fmt"

	"wirebench/codec/transport"
)

// Limits of a message in parts. Servers accept chunked messages of 64 KiB, a client 512; streams have no limit but are a few MiB at most.
const (
	maxChunk  = 512 << 10 // bytes of a chunked message
	maxStream = 16 << 20  // bytes of a stream
	maxParts  = 64 << 10  // parts of either, usually of 480 bytes each
	keepRoom  = 64 << 10  // maximum capacity in bytes of buffers that are retained for reuse
)

// assembly is a message received in parts. Each direction has at most one chunked message and one stream in progress.
type assembly struct {
	data  []byte
	from  []transport.Source
	total int32 // of a stream: total bytes of the message
	pass  int64 // of a stream: bytes still to be skipped, because it is too long
	until bool  // of chunks: skip all up to the last one
	doubt bool  // parts, or the start of the message, may be missing
	after int64 // with doubt: the first number after the missing ones
	raw   bool  // of a rewriter: the parts are sent on as they come, not the message
	mixed int32 // of a stream: the total of the previous stream, if it was incomplete and may have taken parts of the next one; else 0
}

func (a *assembly) open() bool { return len(a.data) > 0 }

// busy reports whether a message is in progress, received or skipped.
func (a *assembly) busy() bool { return a.open() || a.until || a.pass > 0 }

// clear discards the parts.
func (a *assembly) clear() {
	if cap(a.data) > keepRoom {
		a.data, a.from = nil, nil
	}
	a.data, a.from, a.doubt = a.data[:0], a.from[:0], false
}

func (a *assembly) reset() {
	a.clear()
	a.total, a.pass, a.until, a.mixed = 0, 0, false, 0
}

func (a *assembly) add(part []byte, from transport.Source) {
	a.data = append(a.data, part...)
	a.from = append(a.from, from)
}

const (
	noteDoubt = "packets were missing while it was received: parts of it may be missing"
	noteLate  = "a part of a larger message, too late to be joined with the others"
	// A part with a different total ends the stream in progress and is itself lost, in servers too.
	noteMisfit = "a part of a stream that does not fit the parts before it"
)

// chunk reads a part of a message whose size is unknown until its last part.
func (t *Transport) chunk(w *way, data []byte, off uint32) {
	tail := data[1] == coreChunkTail
	part, a := data[chunkHeader:], &w.chunk
	switch {
	case len(part) == 0:
		t.problem(w, data, off, "a chunk without bytes: servers ignore it")
		return
	case t.late:
		t.problem(w, data, off, noteLate)
		return
	case a.until:
		a.until = !tail
		return
	case len(a.data)+len(part) > maxChunk || len(a.from) == maxParts:
		t.incomplete(w, a, "a chunked message of more than 512 KiB or 65536 parts is not read")
		a.until = !tail
		return
	}
	if a.doubt && !a.open() {
		a.doubt = !t.behind(a.after) // parts have consecutive numbers, so none is missing before a part that comes later
	}
	a.doubt = a.doubt || t.cut(off, len(data))
	a.add(part, transport.Source{Packet: t.packet, Off: off + chunkHeader, Len: uint32(len(part))})
	if tail {
		t.whole(w, a, inChunk)
	}
}

// behind reports whether the number of the current packet is above the given one.
func (t *Transport) behind(number int64) bool {
	for i := len(t.path) - 1; i >= 0; i-- {
		if p := t.path[i]; p.kind == inReliable {
			return int64(p.n) > number
		}
	}
	return false
}

// even reports whether all parts but the last have the same size, and the last a smaller one, as senders split a message. If a stream lacks
// a part, its bytes are too few; parts of another stream of the same total may make up for them, but only with a short part in the middle,
// unless no part is short.
func (a *assembly) even() bool {
	last := len(a.from) - 1
	for _, x := range a.from[:last] {
		if x.Len != a.from[0].Len {
			return false
		}
	}
	return last == 0 || a.from[last].Len < a.from[0].Len
}

// stream reads a part of a message whose size is known.
func (t *Transport) stream(w *way, data []byte, off uint32) {
	if len(data) <= streamHeader {
		t.problem(w, data, off, "a part of a stream without bytes: servers ignore it")
		return
	}
	if t.late {
		t.problem(w, data, off, noteLate)
		return
	}
	total := int32(binary.LittleEndian.Uint32(data[totalAt:]))
	part, a := data[streamHeader:], &w.stream
	if a.pass > 0 {
		if total == a.total && int64(len(part)) <= a.pass {
			a.pass -= int64(len(part))
			return
		}
		a.pass = 0
		if !a.doubt {
			t.problem(w, data, off, noteMisfit)
			return
		}
	}
	if a.open() {
		why := ""
		if total != a.total {
			why = fmt.Sprintf("a stream of %d bytes is cut short: the next part states %d", a.total, total)
		} else if int64(len(a.data)+len(part)) > int64(total) {
			why = fmt.Sprintf("a stream of %d bytes does not match the size of its parts, %d", total, len(a.data)+len(part))
		}
		if why != "" {
			doubt := a.doubt
			t.incomplete(w, a, why)
			if !doubt {
				t.problem(w, data, off, noteMisfit)
				return
			}
			a.doubt = true
		}
	}
	if !a.open() && a.mixed != 0 {
		a.doubt = a.doubt || total == a.mixed
		a.mixed = 0
	}
	switch {
	case !a.open() && (total < 0 || int64(len(part)) > int64(total)):
		t.problem(w, data, off, fmt.Sprintf("a stream of %d bytes begins with a part of %d", total, len(part)))
		return
	case !a.open() && total > maxStream:
		t.problem(w, data, off, fmt.Sprintf("a stream of %d bytes: the limit is 16 MiB", total))
		a.total, a.pass = total, int64(total)-int64(len(part))
		return
	case len(a.from) == maxParts:
		a.total, a.pass = total, int64(total)-int64(len(a.data)+len(part))
		t.incomplete(w, a, "a stream of more than 65536 parts is not read")
		return
	}
	a.total = total
	a.add(part, transport.Source{Packet: t.packet, Off: off + streamHeader, Len: uint32(len(part))})
	if len(a.data) == int(total) {
		t.whole(w, a, inStream)
	}
}

// whole emits a message of which all parts have been received. Only game packets are sent in parts. If a part may be missing and nothing
// proves the opposite, the message becomes a problem: its values could be wrong.
func (t *Transport) whole(w *way, a *assembly, kind wrapKind) {
	t.path = append(t.path, wrap{kind: kind})
	switch {
	case a.doubt && (kind == inChunk || !a.even()):
		if kind == inStream {
			a.mixed = a.total
		}
		t.emit(t.start(transport.Problem, w, a.data, a.from, noteDoubt))
	case a.data[0] == 0:
		t.emit(t.start(transport.Problem, w, a.data, a.from, "a core packet in parts: servers ignore it"))
	default:
		note := ""
		if a.doubt {
			note = "packets were missing while it was received, but it is complete"
		}
		t.message(w, a.data, 0, a.from, note, a.doubt)
	}
	t.path = t.path[:len(t.path)-1]
	a.clear()
}

// incomplete emits the parts of a message that will not be completed.
func (t *Transport) incomplete(w *way, a *assembly, why string) {
	kind := inChunk
	if a == &w.stream {
		kind = inStream
	}
	path := t.path
	t.path = append(t.alone[:0], wrap{kind: kind})
	t.emit(t.start(transport.Problem, w, a.data, a.from, why))
	t.path = path
	a.clear()
}

// cancel reads a receiver's request to stop a stream. A client also reads it as the sender's notice that the stream stops, so the sender's
// own stream is only abandoned after conclusive evidence.
func (t *Transport) cancel(w *way, data []byte, off uint32) {
	note := sized(len(data) == cancelSize)
	switch {
	case note != "":
	case w.stream.open():
		note = "its sender is also sending a stream: some clients take this as the end of that stream"
	case !t.other(w).stream.open():
		note = "no stream is in progress in the other direction"
	}
	t.control(w, data, off, note)
}

// cancelled reads a sender's notice that its stream stops here.
func (t *Transport) cancelled(w *way, data []byte, off uint32) {
	note, a := sized(len(data) == cancelSize), &w.stream
	right := note == ""
	if right && a.open() {
		note = fmt.Sprintf("a stream is cancelled after %d of its %d bytes", len(a.data), a.total)
	}
	t.control(w, data, off, note)
	if right {
		a.reset()
	}
}
