package subspace

import "wirebench/codec/transport"

const maxItem = 255 // bytes of a packet in a cluster

// packer combines the packets of a direction into datagrams.
type packer struct {
	went   int64  // datagrams sent
	data   []byte // the packets, one after the other
	sizes  []int  // of each
	packed []byte // the current cluster
	sealed []byte // the current datagram, encrypted
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

// putClear encrypts and sends a datagram.
func (rw *Rewriter) putClear(l *lane, data []byte) {
	if l.cipher != nil {
		p := &l.packer
		p.sealed = append(p.sealed[:0], data...)
		l.cipher.Encrypt(p.sealed, p.sealed)
		data = p.sealed
	}
	rw.put(l, data)
}

// put sends an encrypted datagram.
func (rw *Rewriter) put(l *lane, data []byte) {
	l.packer.went++
	rw.r.Put(transport.Segment{Dir: l.dir, At: rw.t.at, Bytes: data})
}
