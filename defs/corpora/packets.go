package corpora

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sort"
)

// recording is a file of captured packets in the making.
type recording struct {
	file    bytes.Buffer
	n       int   // of the last packet, from 1
	now     int64 // its time in µs
	classic bool  // pcap, else pcapng with nanoseconds
}

// address is an IPv4 address with a port, or an IPv6 address that ends like it.
type address struct {
	ip   [4]byte
	port int
	six  bool
}

// bytes are those of the address in packets.
func (a address) bytes() []byte {
	if a.six {
		return append([]byte{0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0}, a.ip[:]...)
	}
	return a.ip[:]
}

func local(port int) address { return address{ip: [4]byte{127, 0, 0, 1}, port: port} }

func (a address) String() string {
	return fmt.Sprintf("%d.%d.%d.%d:%d", a.ip[0], a.ip[1], a.ip[2], a.ip[3], a.port)
}

func newRecording(classic bool, start int64) *recording {
	r := &recording{classic: classic, now: start}
	little := binary.LittleEndian
	if classic {
		r.file.Write(little.AppendUint32(little.AppendUint32(nil, 0xa1b2c3d4), 2|4<<16))
		r.file.Write(append(make([]byte, 8), 0, 0, 1, 0, 1, 0, 0, 0))
		return r
	}
	r.block(0x0a0d0d0a, append([]byte{0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0}, bytes.Repeat([]byte{0xff}, 8)...))
	r.block(1, []byte{1, 0, 0, 0, 0, 0, 1, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0}) // Ethernet, in nanoseconds
	return r
}

func (r *recording) block(kind uint32, body []byte) {
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	size := binary.LittleEndian.AppendUint32(nil, uint32(len(body)+12))
	r.file.Write(binary.LittleEndian.AppendUint32(nil, kind))
	r.file.Write(size)
	r.file.Write(body)
	r.file.Write(size)
}

// time is that of the last packet, in seconds as JSON.
func (r *recording) time() jsonNumber {
	return jsonNumber(fmt.Sprintf("%d.%06d", r.now/1e6, r.now%1e6))
}

type jsonNumber string

func (n jsonNumber) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// sum is the checksum of the internet protocols.
func sum(b []byte) uint16 {
	var s uint32
	for i, x := range b {
		s += uint32(x) << (8 * (1 - i%2))
	}
	for s>>16 > 0 {
		s = s>>16 + s&0xffff
	}
	return ^uint16(s)
}

// packet writes a packet of a protocol, with its checksums.
func (r *recording) packet(proto byte, from, to address, segment []byte, sumAt int) {
	big := binary.BigEndian
	r.n++
	pseudo := append(append(append([]byte{}, from.bytes()...), to.bytes()...), 0, proto)
	pseudo = append(big.AppendUint16(pseudo, uint16(len(segment))), segment...)
	big.PutUint16(segment[sumAt:], sum(pseudo))
	ip, kind := []byte{0x45, 0}, []byte{8, 0}
	if from.six {
		ip, kind = append(big.AppendUint16([]byte{0x60, 0, 0, 0}, uint16(len(segment))), proto, 64), []byte{0x86, 0xdd}
	} else {
		ip = big.AppendUint16(ip, uint16(20+len(segment)))
		ip = append(ip, byte(r.n>>8), byte(r.n), 0x40, 0, 64, proto, 0, 0)
	}
	ip = append(append(ip, from.bytes()...), to.bytes()...)
	if !from.six {
		big.PutUint16(ip[10:], sum(ip))
	}
	data := append(append(append([]byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}, kind...), ip...), segment...)
	little := binary.LittleEndian
	if r.classic {
		var head []byte
		for _, n := range []int{int(r.now / 1e6), int(r.now % 1e6), len(data), len(data)} {
			head = little.AppendUint32(head, uint32(n))
		}
		r.file.Write(append(head, data...))
		return
	}
	body := little.AppendUint32(nil, 0)
	at := uint64(r.now) * 1000
	for _, n := range []uint32{uint32(at >> 32), uint32(at), uint32(len(data)), uint32(len(data))} {
		body = little.AppendUint32(body, n)
	}
	r.block(6, append(body, data...))
}

func (r *recording) datagram(from, to address, data []byte) {
	head := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, uint16(from.port)), uint16(to.port))
	head = append(binary.BigEndian.AppendUint16(head, uint16(8+len(data))), 0, 0)
	r.packet(17, from, to, append(head, data...), 6)
}

// way is a direction of a TCP connection. What has arrived is known for each byte: with which packet, and when it was next in order.
type way struct {
	from, to address
	isn      uint32
	sent     []byte // the stream
	pushed   int    // bytes of it that are in packets
	order    int    // bytes of it that have arrived in order
	arrived  []bool
	frames   []int // by byte in order: the packet that completed it
	times    []jsonNumber
	acked    int // instead of order, in the next acknowledgement
}

// tcp is a connection. ways are those of the client and of the server.
type tcp struct {
	*recording
	rng  *rand.Rand
	ways [2]*way
}

const (
	fin = 1
	syn = 2
	ack = 16
)

func (r *recording) connect(rng *rand.Rand, client, server address) *tcp {
	c := &tcp{recording: r, rng: rng, ways: [2]*way{
		{from: client, to: server, isn: rng.Uint32()}, {from: server, to: client, isn: rng.Uint32()},
	}}
	c.segment(0, syn, -1, nil)
	c.segment(1, syn|ack, -1, nil)
	c.segment(0, ack, 0, nil)
	return c
}

// segment writes a packet of TCP with the bytes of the stream at off; -1 is before them.
func (c *tcp) segment(dir int, flags byte, off int, data []byte) {
	w, back := c.ways[dir], c.ways[1-dir]
	c.now += 1 + int64(c.rng.IntN(3000))
	big := binary.BigEndian
	b := big.AppendUint16(big.AppendUint16(nil, uint16(w.from.port)), uint16(w.to.port))
	b = big.AppendUint32(b, w.isn+1+uint32(off))
	acked := uint32(0)
	if flags&ack != 0 {
		acked = back.isn + 1 + uint32(max(back.order, back.acked))
	}
	b = append(big.AppendUint32(b, acked), 5<<4, flags, 0xff, 0xff, 0, 0, 0, 0)
	c.packet(6, w.from, w.to, append(b, data...), 16)
	w.mark(off, len(data))
	w.deliver(c.n, c.time())
}

// mark notes that n bytes have arrived.
func (w *way) mark(off, n int) {
	if more := off + n - len(w.arrived); more > 0 {
		w.arrived = append(w.arrived, make([]bool, more)...)
	}
	for i := range n {
		w.arrived[off+i] = true
	}
}

// deliver puts what has arrived in order.
func (w *way) deliver(n int, at jsonNumber) {
	for w.order < len(w.arrived) && w.arrived[w.order] {
		w.frames, w.times = append(w.frames, n), append(w.times, at)
		w.order++
	}
}

// send adds bytes to a stream and returns their offset.
func (c *tcp) send(dir int, data []byte) int {
	w := c.ways[dir]
	at := len(w.sent)
	w.sent = append(w.sent, data...)
	return at
}

// push writes a packet with up to n bytes that are not in one yet.
func (c *tcp) push(dir, n int) {
	w := c.ways[dir]
	if n = min(n, len(w.sent)-w.pushed); n > 0 {
		c.segment(dir, ack, w.pushed, w.sent[w.pushed:w.pushed+n])
		w.pushed += n
	}
}

// pushAll writes packets of any size with all bytes of a direction, some of them acknowledged.
func (c *tcp) pushAll(dir int) {
	for w := c.ways[dir]; w.pushed < len(w.sent); {
		c.push(dir, 1+c.rng.IntN(min(1460, 1+c.rng.IntN(1460))))
		if c.rng.IntN(3) == 0 {
			c.segment(1-dir, ack, c.ways[1-dir].pushed, nil)
		}
	}
}

// pushOddly writes packets with all bytes of a direction: repeated, in another order, overlapping, in other parts.
func (c *tcp) pushOddly(dir int) {
	w := c.ways[dir]
	for w.pushed < len(w.sent) {
		from, size := w.pushed, 1+c.rng.IntN(700)
		part := func(from, size int) { // of the stream, as far as it goes
			from = max(0, from)
			to := min(from+size, len(w.sent))
			if from < to {
				c.segment(dir, ack, from, w.sent[from:to])
			}
		}
		switch c.rng.IntN(6) {
		case 0: // the second before the first
			part(from+size, size)
			part(from, size)
			size *= 2
		case 1: // twice
			part(from, size)
			part(from, size)
		case 2: // overlaps what was before
			part(from-20, size+20)
		case 3: // in other parts, after what follows
			part(from+size/2, size)
			part(from-5, size)
			part(from+size-3, size/2+3)
			size += size / 2
		default:
			part(from, size)
		}
		w.pushed = min(from+size, len(w.sent))
		if c.rng.IntN(2) == 0 {
			c.segment(1-dir, ack, c.ways[1-dir].pushed, nil)
		}
	}
}

// lose leaves out n bytes, which a packet that was not captured had: the other side acknowledges them. The next packet, of more bytes, shows it.
func (c *tcp) lose(dir, n, more int) row {
	w := c.ways[dir]
	from := w.pushed
	w.pushed += n
	w.acked = w.pushed
	c.segment(1-dir, ack, c.ways[1-dir].pushed, nil)
	c.push(dir, more)
	w.mark(from, n)
	w.deliver(c.n, c.time())
	shown := row{"kind": "gap", "dir": dirNames[dir], "offset": from, "length": n, "frame": c.n, "time": c.time()}
	c.segment(1-dir, ack, c.ways[1-dir].pushed, nil)
	w.acked = 0
	return shown
}

// close ends a connection.
func (c *tcp) close() {
	for dir := range c.ways {
		c.segment(dir, fin|ack, c.ways[dir].pushed, nil)
	}
	c.segment(0, ack, c.ways[0].pushed+1, nil)
}

var dirNames = [2]string{"c2s", "s2c"}

// arrival is when bytes of a stream have arrived: their packets and time.
func (c *tcp) arrival(dir, off, size int) row {
	w := c.ways[dir]
	last, at, first := 0, jsonNumber("0"), w.frames[off]
	for i := off; i < off+size; i++ {
		if w.frames[i] >= last {
			last, at = w.frames[i], w.times[i]
		}
	}
	return row{"dir": dirNames[dir], "offset": off, "first_frame": first, "frame": last, "time": at}
}

// truth returns rows in the order of their packets.
func truth(rows []row) []row {
	sort.SliceStable(rows, func(i, j int) bool { return rows[i]["frame"].(int) < rows[j]["frame"].(int) })
	n := 0
	for _, r := range rows {
		if r["kind"] == "msg" {
			n++
			r["n"] = n
		}
	}
	return rows
}
