package subspace_test

import (
	pile "container/heap"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/defs/schema"
)

// peer is a client or a server according to the spec: it retransmits numbered packets until they are acknowledged, accepts 31 numbers
// ahead, and rejects packets that a server would truncate or ignore.
type peer struct {
	t      testing.TB
	rng    *rand.Rand
	sim    *simulation
	sends  schema.Dir
	cipher *subspace.Cipher
	number int32
	unsent [][]byte
	flight map[int32]*flying
	next   int32
	early  map[int32][]byte
	chunk  []byte
	stream []byte
	parts  [][]byte // for the next datagrams

	sent, got   []string // reliable messages, in order
	said, heard []string // unreliable ones
	answers     int
	sentCount   uint32 // datagrams
	gotCount    uint32
	syncs       [][2]uint32 // counts received
	bye         int
	synced      time.Duration // time of the last sync sent
	strict      bool          // fail on numbers further ahead than it accepts
}

type flying struct {
	data  []byte
	at    time.Duration
	tries int
}

// event is a datagram that arrives.
type event struct {
	at   time.Duration
	n    int // index in the order of sending
	to   func([]byte)
	data []byte
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, k int) bool {
	return e[i].at < e[k].at || e[i].at == e[k].at && e[i].n < e[k].n
}
func (e events) Swap(i, k int) { e[i], e[k] = e[k], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// simulation is a client, a server, a rewriter between them and a bad network.
type simulation struct {
	t              testing.TB
	rng            *rand.Rand
	now            time.Duration
	queue          events
	n              int
	loss, double   float64
	jitter         time.Duration
	rw             *subspace.Rewriter
	relay          transport.Relay
	client, server *peer
	frames         []string
	notes          []string
	unchanged      bool // every datagram has to pass unchanged
	came           []byte
}

func newSimulation(t testing.TB, seed uint64, loss float64, key uint32) *simulation {
	s := &simulation{t: t, rng: rand.New(rand.NewPCG(seed, 3)), loss: loss, double: loss / 2, jitter: 150 * time.Millisecond}
	s.rw = subspace.NewRewriter(subspace.Options{})
	make := func(dir schema.Dir) *peer {
		return &peer{t: t, rng: s.rng, sim: s, sends: dir, flight: map[int32]*flying{}, early: map[int32][]byte{}}
	}
	s.client, s.server = make(schema.ToServer), make(schema.ToClient)
	s.relay.Out = func(seg transport.Segment) {
		if s.unchanged && string(seg.Bytes) != string(s.came) {
			t.Fatalf("a datagram went as %x, and came as %x", seg.Bytes, s.came)
		}
		p := s.server
		if seg.Dir == schema.ToClient {
			p = s.client
		}
		s.carry(seg.Bytes, p.receive)
	}
	s.relay.Emit = func(f *transport.Frame) {
		switch {
		case f.Kind == transport.Message:
			s.frames = append(s.frames, fmt.Sprint(f.Dir, string(f.Bytes)))
		case f.Note != "":
			s.notes = append(s.notes, f.Note)
		}
	}
	// The handshake is not lost here.
	init := []byte{0, 1, 0, 0, 0, 0, 1, 0}
	binary.LittleEndian.PutUint32(init[2:], -key)
	answer := []byte{0, 2, 0, 0, 0, 0}
	binary.LittleEndian.PutUint32(answer[2:], key)
	s.loss, s.double = 0, 0
	s.client.put(init)
	s.run(s.now + 2*time.Second)
	s.server.put(answer)
	s.run(s.now + 2*time.Second)
	s.loss, s.double = loss, loss/2
	s.client.gotCount, s.server.gotCount = 1, 1
	if key != 0 {
		s.client.cipher = subspace.NewCipher(key, subspace.Signed)
		s.server.cipher = s.client.cipher
	}
	return s
}

func (s *simulation) time() time.Time { return time.Unix(1_700_000_000, 0).Add(s.now) }

// carry delivers a datagram to its end once, twice or not at all.
func (s *simulation) carry(data []byte, to func([]byte)) {
	data = append([]byte(nil), data...)
	for range 2 {
		if s.rng.Float64() >= s.loss {
			s.n++
			pile.Push(&s.queue, event{s.now + 20*time.Millisecond + time.Duration(s.rng.Int64N(int64(s.jitter)+1)), s.n, to, data})
		}
		if s.rng.Float64() >= s.double {
			break
		}
	}
}

// run advances the time.
func (s *simulation) run(until time.Duration) {
	const step = 25 * time.Millisecond
	for s.now < until {
		for len(s.queue) > 0 && s.queue[0].at <= s.now+step {
			e := pile.Pop(&s.queue).(event)
			s.now = max(s.now, e.at)
			e.to(e.data)
		}
		s.now += step
		s.client.tick()
		s.server.tick()
		if due := s.rw.Due(); !due.IsZero() && !due.After(s.time()) {
			s.rw.Tick(s.time(), &s.relay)
		}
	}
}

// settle delivers everything in transit.
func (s *simulation) settle() {
	s.t.Helper()
	for range 600 {
		s.run(s.now + time.Second)
		if s.client.idle() && s.server.idle() && s.rw.Due().IsZero() && len(s.queue) == 0 {
			return
		}
	}
	s.t.Fatalf("after 10 minutes not all has come: the client awaits %d and has %d on their way, the server %d and %d",
		s.client.next, len(s.client.flight), s.server.next, len(s.server.flight))
}

func (p *peer) idle() bool { return len(p.flight) == 0 && len(p.unsent) == 0 }

// put sends a datagram to the rewriter.
func (p *peer) put(data []byte) {
	if p.cipher != nil {
		sealed := make([]byte, len(data))
		p.cipher.Encrypt(sealed, data)
		data = sealed
	}
	p.sentCount++
	p.sim.carry(data, func(data []byte) {
		p.sim.came = append([]byte(nil), data...)
		seg := transport.Segment{Dir: p.sends, At: p.sim.time(), Bytes: data}
		p.sim.rw.Feed(seg, &p.sim.relay)
	})
}

// numbered sends a packet reliably.
func (p *peer) numbered(inner []byte) {
	p.unsent = append(p.unsent, append([]byte{0, 3, 0, 0, 0, 0}, inner...))
}

// reliable sends a message reliably, in the form that its size requires or randomly in parts.
func (p *peer) reliable(m string) {
	p.sent = append(p.sent, m)
	data := []byte(m)
	switch n := p.rng.IntN(10); {
	case len(data) > 500 && n < 5 || n == 0:
		for len(data) > 480 {
			p.numbered(append([]byte{0, 8}, data[:480]...))
			data = data[480:]
		}
		p.numbered(append([]byte{0, 9}, data...))
	case len(data) > 500 || n == 1:
		head := binary.LittleEndian.AppendUint32([]byte{0, 10}, uint32(len(data)))
		for len(data) > 0 {
			k := min(480, len(data))
			p.numbered(append(head[:6:6], data[:k]...))
			data = data[k:]
		}
	case n == 2 && len(data) < 100: // a cluster in a reliable packet
		other := fmt.Sprintf("\x21with %d of %s", len(p.sent), m)
		p.sent = append(p.sent, other)
		c := append([]byte{0, 14, byte(len(data))}, data...)
		p.numbered(append(append(c, byte(len(other))), other...))
	default:
		p.numbered(data)
	}
}

// say sends a message unreliably.
func (p *peer) say(m string) {
	p.said = append(p.said, m)
	p.parts = append(p.parts, []byte(m))
}

func (p *peer) sync() {
	data := make([]byte, 14)
	data[1] = 5
	binary.LittleEndian.PutUint32(data[2:], uint32(p.sim.now/(10*time.Millisecond)))
	binary.LittleEndian.PutUint32(data[6:], p.sentCount+1)
	binary.LittleEndian.PutUint32(data[10:], p.gotCount)
	p.put(data)
}

// tick sends everything that is due.
func (p *peer) tick() {
	for len(p.unsent) > 0 {
		lowest := p.number
		for n := range p.flight {
			lowest = min(lowest, n)
		}
		if p.number >= lowest+40 { // more than a receiver accepts
			break
		}
		data := p.unsent[0]
		p.unsent = p.unsent[1:]
		binary.LittleEndian.PutUint32(data[2:], uint32(p.number))
		p.flight[p.number] = &flying{data, p.sim.now, 1}
		p.number++
		p.parts = append(p.parts, data)
	}
	for n := p.number - 64; n < p.number; n++ {
		if f := p.flight[n]; f != nil && p.sim.now-f.at > time.Duration(min(f.tries, 8))*600*time.Millisecond {
			f.at = p.sim.now
			f.tries++
			p.parts = append(p.parts, f.data)
		}
	}
	if p.sim.now > p.synced+5*time.Second && p.sim.now > 5*time.Second { // as real ends do, which shows that they are alive
		p.synced = p.sim.now
		p.sync()
	}
	// Large ones are sent first, as by a server.
	var small [][]byte
	for _, data := range p.parts {
		if len(data) > 255 {
			p.put(data)
		} else {
			small = append(small, data)
		}
	}
	for len(small) > 0 {
		n, cluster := 0, []byte{0, 14}
		for n < len(small) && len(cluster)+1+len(small[n]) <= 510 {
			cluster = append(append(cluster, byte(len(small[n]))), small[n]...)
			n++
		}
		if n == 1 || p.rng.IntN(4) == 0 {
			p.put(small[0])
			small = small[1:]
			continue
		}
		p.put(cluster)
		small = small[n:]
	}
	p.parts = nil
}

func (p *peer) receive(data []byte) {
	p.gotCount++
	if len(data) > 512 {
		p.t.Fatalf("a datagram of %d bytes", len(data))
	}
	if p.cipher != nil {
		clear := make([]byte, len(data))
		p.cipher.Decrypt(clear, data)
		data = clear
	}
	p.read(data, false, 0)
}

func (p *peer) read(data []byte, reliable bool, depth int) {
	if len(data) == 0 || depth > 4 {
		p.t.Fatalf("an empty packet, or one in too many others")
	}
	if data[0] != 0 {
		if reliable {
			p.got = append(p.got, string(data))
		} else {
			p.heard = append(p.heard, string(data))
		}
		return
	}
	switch data[1] {
	case 1, 2, 13:
	case 3:
		n := int32(binary.LittleEndian.Uint32(data[2:]))
		if n < 0 || n-p.next >= 32 {
			if p.strict {
				p.t.Fatalf("number %d comes, and %d is awaited: a server drops it", n, p.next)
			}
			return // too far ahead: not accepted
		}
		p.parts = append(p.parts, append([]byte{0, 4}, data[2:6]...))
		if n < p.next || p.early[n] != nil {
			return
		}
		p.early[n] = append([]byte(nil), data[6:]...)
		for body := p.early[p.next]; body != nil; body = p.early[p.next] {
			delete(p.early, p.next)
			p.next++
			p.read(body, true, depth+1)
		}
	case 4:
		delete(p.flight, int32(binary.LittleEndian.Uint32(data[2:])))
	case 5:
		p.syncs = append(p.syncs, [2]uint32{binary.LittleEndian.Uint32(data[6:]), binary.LittleEndian.Uint32(data[10:])})
		answer := append([]byte{0, 6}, data[2:6]...)
		p.put(append(answer, 1, 2, 3, 4))
	case 6:
		p.answers++
	case 7:
		p.bye++
	case 8, 9:
		if p.chunk = append(p.chunk, data[2:]...); len(p.chunk) > 64<<10 {
			p.t.Fatalf("a chunked message of %d bytes: servers accept 64 KiB", len(p.chunk))
		}
		if data[1] == 9 {
			p.got = append(p.got, string(p.chunk))
			p.chunk = nil
		}
	case 10:
		total := int(int32(binary.LittleEndian.Uint32(data[2:])))
		if p.stream = append(p.stream, data[6:]...); len(p.stream) > total {
			p.t.Fatalf("a stream of %d bytes has %d", total, len(p.stream))
		} else if len(p.stream) == total {
			p.got = append(p.got, string(p.stream))
			p.stream = nil
		}
	case 14:
		n, at := 0, 2
		for ; at < len(data); n++ {
			size := int(data[at])
			p.read(data[at+1:at+1+size], reliable, depth+1)
			at += 1 + size
		}
		if n < 2 {
			p.t.Fatal("a cluster of one packet")
		}
	default:
		p.t.Fatalf("a core packet %x", data)
	}
}

// talk lets both ends send messages of all kinds for some time. each is called between them.
func (s *simulation) talk(rounds int, each func(round int)) {
	for i := range rounds {
		each(i)
		for _, p := range []*peer{s.client, s.server} {
			for range s.rng.IntN(4) {
				m := fmt.Sprintf("%c%s %d-%d ", 1+s.rng.IntN(60), p.sends, i, len(p.sent)+len(p.said))
				switch s.rng.IntN(12) {
				case 0:
					p.reliable(m + strings.Repeat("l", s.rng.IntN(3000)))
				case 1:
					p.reliable(m + strings.Repeat("m", s.rng.IntN(490)))
				case 2, 3, 4, 5:
					p.reliable(m)
				case 6:
					p.say(m + strings.Repeat("n", s.rng.IntN(480)))
				default:
					p.say(m)
				}
			}
			if s.rng.IntN(20) == 0 {
				p.sync()
			}
			if s.rng.IntN(40) == 0 { // more than a window
				for k := range 70 {
					p.reliable(fmt.Sprintf("\x05%s burst %d %d", p.sends, len(p.sent), k))
				}
			}
		}
		s.run(s.now + time.Duration(s.rng.IntN(200))*time.Millisecond)
	}
}

// in reports which of the texts are not in the others, and whether any occurs more than most times.
func among(texts, others []string) (strange string) {
	known := map[string]bool{}
	for _, o := range others {
		known[o] = true
	}
	for _, m := range texts {
		if !known[m] {
			return m
		}
	}
	return ""
}

func sameTexts(t testing.TB, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "(none)", "(none)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Fatalf("%s: message %d is %.60q (of %d), want %.60q (of %d)", what, i, g, len(got), w, len(want))
		}
	}
}
