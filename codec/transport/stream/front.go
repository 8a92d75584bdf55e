package stream

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"

	"wirebench/codec/transport"
)

// Fronts are what programs between client and server, or old clients, send before the first message of a connection.
const (
	proxyText   = "PROXY "                     // PROXY protocol, version 1: a line
	proxyBinary = "\r\n\r\n\x00\r\nQUIT\n"     // version 2: 12 bytes, version and command, family, length (16 bits), addresses
	policy      = "<policy-file-request/>\x00" // of Flash: the client closes the connection after the answer
	maxProxy    = 107                          // bytes of the line
	proxyHead   = len(proxyBinary) + 1 + 1 + 2 // bytes before the addresses
)

// frontOf returns the size of the front at the start of a stream, and what it says. If more bytes are needed to tell, n is negative. n is 0 if
// the stream starts with something else.
func frontOf(b []byte) (n int, note string) {
	begins := func(with string) bool { return bytes.HasPrefix(b, []byte(with)) }
	part := func(of string) bool { return len(b) < len(of) && bytes.HasPrefix([]byte(of), b) }
	switch {
	case begins(policy):
		return len(policy), "a policy request"
	case begins(proxyText):
		end := bytes.Index(b[:min(len(b), maxProxy)], []byte("\r\n"))
		if end < 0 && len(b) < maxProxy {
			return -1, ""
		}
		if f := bytes.Fields(b[:max(end, 0)]); len(f) == 6 {
			return end + 2, fmt.Sprintf("PROXY protocol: the client is %s, port %s", f[2], f[4])
		}
		if end > 0 {
			return end + 2, "PROXY protocol: the client is unknown"
		}
	case begins(proxyBinary):
		if len(b) < proxyHead {
			return -1, ""
		}
		n = proxyHead + int(binary.BigEndian.Uint16(b[proxyHead-2:]))
		if b[12]>>4 != 2 || n > 1<<10 {
			return 0, ""
		}
		if len(b) < n {
			return -1, ""
		}
		note = "PROXY protocol: the client is unknown"
		size := map[byte]int{1: 4, 2: 16}[b[13]>>4]
		if addresses := b[proxyHead:n]; size > 0 && len(addresses) >= 2*size+4 {
			addr, _ := netip.AddrFromSlice(addresses[:size])
			note = fmt.Sprintf("PROXY protocol: the client is %s, port %d", addr, binary.BigEndian.Uint16(addresses[2*size:]))
		}
		return n, note
	case part(policy), part(proxyText), part(proxyBinary):
		return -1, ""
	}
	return 0, ""
}

// front passes what stands before the first message of a stream. It returns false if more bytes are needed, for which it waits only as long as
// the bytes are no whole frame and nobody else waits for them.
func (t *Transport) front(w *way) bool {
	b := w.buf[w.done:]
	n, note := frontOf(b)
	if n < 0 && t.take == nil {
		l := t.legs[w.index]
		l.shape(w.index, b)
		if x := cut(&l.state(w.index).Frame[w.index], b, 0, false, l.sizes[w.index]); x.total == 0 {
			return false
		}
	}
	if w.fresh = false; n > 0 {
		f := t.begin(w, transport.Control, w.offset+int64(w.done), w.arrival(n))
		f.Bytes, f.Note = w.buf[w.done:w.done+n], note
		t.from = w.appendSources(t.from[:0], 0, n)
		f.From = t.from
		t.emit(f)
		t.forward(w, n)
		w.pass(n)
	}
	return true
}
