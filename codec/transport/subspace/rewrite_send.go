package subspace

import (
	"encoding/binary"

	"wirebench/codec/transport"
)

// Sizes of what is sent, in bytes.
const (
	maxBody      = usualSize - reliableHeader // of a reliable packet
	partSize     = 480                        // of chunks and streams, as servers send them
	maxChunkSent = 64 << 10                   // of a chunked message: servers accept no more
	maxItem      = 255                        // of a packet in a cluster
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

// inParts reports whether a message that passes in its parts is in progress. No other message may be sent in parts before its end.
func (l *lane) inParts() bool {
	return l.chunk.raw && l.chunk.busy() || l.stream.raw && l.stream.busy()
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

// packer combines the packets of a direction into datagrams.
type packer struct {
	went   int64  // datagrams sent
	data   []byte // the packets, one after the other
	sizes  []int  // of each
	packed []byte // the current cluster
	sealed []byte // the current datagram, enciphered
}

// add adds a packet to the next datagrams.
func (p *packer) add(data []byte) {
	p.data = append(p.data, data...)
	p.sizes = append(p.sizes, len(data))
}

// flush puts the packets into datagrams: as many in a cluster as fit, a single one alone.
func (p *packer) flush(put func(datagram []byte)) {
	data := p.data
	for sizes := p.sizes; len(sizes) > 0; {
		n, used := 0, 0
		p.packed = append(p.packed[:0], 0, coreCluster)
		for n < len(sizes) && sizes[n] <= maxItem && len(p.packed)+1+sizes[n] <= usualSize {
			p.packed = append(append(p.packed, byte(sizes[n])), data[used:used+sizes[n]]...)
			used += sizes[n]
			n++
		}
		if n < 2 {
			n, used = 1, sizes[0]
			put(data[:used])
		} else {
			put(p.packed)
		}
		data, sizes = data[used:], sizes[n:]
	}
	if p.data, p.sizes = p.data[:0], p.sizes[:0]; cap(p.data) > keepRoom {
		p.data, p.sizes = nil, nil
	}
}

func (rw *Rewriter) flush(l *lane) {
	l.packer.flush(func(data []byte) { rw.putClear(l, data) })
}

// putAlone sends a packet in a datagram of its own, after the packets already queued.
func (rw *Rewriter) putAlone(l *lane, data []byte) {
	rw.flush(l)
	rw.putClear(l, data)
}

// putClear enciphers and sends a datagram.
func (rw *Rewriter) putClear(l *lane, data []byte) {
	if l.cipher != nil {
		p := &l.packer
		p.sealed = append(p.sealed[:0], data...)
		l.cipher.Encrypt(p.sealed, p.sealed)
		data = p.sealed
	}
	rw.put(l, data)
}

// put sends an enciphered datagram.
func (rw *Rewriter) put(l *lane, data []byte) {
	l.packer.went++
	rw.r.Put(transport.Segment{Dir: l.dir, At: rw.t.at, Bytes: data})
}
