package subspace

import "encoding/binary"

// Sizes of what is sent, in bytes.
const (
	maxBody      = usualSize - reliableHeader // of a reliable packet
	partSize     = 480                        // of chunks and streams, as servers send them
	maxChunkSent = 64 << 10                   // of a chunked message: servers accept no more
)

// send sends an item in the form that its size requires.
func (rw *Rewriter) send(it *item) {
	l, data, n := it.lane, it.bytes, len(it.bytes)
	if it.id != 0 {
		rw.r.Go(it.id, data)
	}
	for _, id := range it.more {
		rw.r.Go(id, nil)
	}
	how := it.how
	if how == alone && (it.reliable && n > maxBody || !it.reliable && n > usualSize) {
		how = chunked
	}
	if how == chunked && n > maxChunkSent {
		how = streamed
	}
	switch {
	case how == gone:
	case how == core && it.reliable:
		l.sender.pushCore(data)
	case (how == alone || how == core) && it.reliable:
		l.sender.push(nil, data)
	case how == alone || how == core:
		l.packer.add(data)
	case l.inParts():
		l.after.add(&item{lane: l, reliable: it.reliable, how: how, bytes: data})
	case how == chunked:
		for len(data) > partSize {
			it.part([]byte{0, coreChunk}, data[:partSize])
			data = data[partSize:]
		}
		it.part([]byte{0, coreChunkTail}, data)
	default:
		head := binary.LittleEndian.AppendUint32([]byte{0, coreStream}, uint32(n))
		for len(data) > 0 {
			k := min(partSize, len(data))
			it.part(head, data[:k])
			data = data[k:]
		}
	}
}

// part sends a part of a message: reliably if the message was reliable or was not in parts, otherwise unreliably.
func (it *item) part(head, part []byte) {
	if it.reliable || it.how == alone {
		it.lane.sender.push(head, part)
		return
	}
	it.lane.packer.add(append(head[:len(head):len(head)], part...))
}

// transmit sends what the call has produced.
func (rw *Rewriter) transmit(l *lane) {
	if len(l.after.items) > 0 && !l.inParts() {
		after := l.after.items
		l.after = pile{}
		for _, it := range after {
			rw.send(it)
		}
	}
	if l.order.started { // otherwise the next number that the other end expects is unknown
		l.sender.fill(rw.t.at, l.packer.add)
	}
	rw.flush(l)
	for range l.sender.byesNow(rw.t.at) {
		rw.putClear(l, []byte{0, coreDisconnect})
	}
}
