package corpora

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// space is a recording of SubSpace. Its datagrams are written with the tree of packets in them, and the messages that become complete.
type space struct {
	*recording
	rng  *rand.Rand
	rows []row
}

// player is a session. Index 0 of each pair is for what the client sends.
type player struct {
	*space
	ends    [2]address
	key     uint32 // of the cipher, or 0
	next    [2]uint32
	got     [2]uint32                 // the next number to be delivered
	early   [2]map[uint32]func(n int) // that came before their turn
	sent    [2]int                    // datagrams, and of these lost ones
	lost    [2]int
	due     [2][]uint32 // to be acknowledged
	parts   [2][]byte   // of a chunked message
	stream  [2][]byte
	waiting []func() // datagrams that come later
}

// nodes are the deliveries of a packet.
type nodes []func(n int, via []string)

// packet is a packet with its description, and what its delivery does.
type packet struct {
	data    []byte
	tree    row
	deliver nodes
}

func newSpace(seed uint64) *space {
	return &space{recording: newRecording(true, 1790000000_000000), rng: rand.New(rand.NewPCG(seed, 29))}
}

func (s *space) player(port, server int) *player {
	return &player{space: s, ends: [2]address{local(port), local(server)}, early: [2]map[uint32]func(int){{}, {}}}
}

func (p *player) session() string { return p.ends[0].String() + "-" + p.ends[1].String() }

// game is a game message: it is complete when it is delivered.
func (p *player) game(dir int, data []byte, name string) packet {
	return packet{data, row{"p": "game", "type": int(data[0]), "len": len(data)}, nodes{func(n int, via []string) { p.message(dir, n, via, data, name) }}}
}

func (p *player) message(dir, n int, via []string, data []byte, name string) {
	if via == nil {
		via = []string{}
	}
	p.rows = append(p.rows, row{"kind": "msg", "n": n, "session": p.session(), "dir": dirNames[dir], "name": name, "via": via, "type": int(data[0]), "len": len(data), "hex": hex.EncodeToString(data)})
}

func core(kind byte, name string, numbers ...uint32) packet {
	b := []byte{0, kind}
	for _, n := range numbers {
		b = le(b, uint64(n), 4)
	}
	return packet{data: b, tree: row{"p": name}}
}

func (p packet) with(more row) packet {
	p.tree = p.tree.with(more)
	return p
}

// reliable gives a packet the next number of its direction. It is acknowledged by acknowledged.
func (p *player) reliable(dir int, inner packet) packet {
	seq := p.next[dir]
	p.next[dir]++
	x := core(3, "reliable", seq).with(row{"seq": seq, "inner": inner.tree})
	x.data = append(x.data, inner.data...)
	x.deliver = nodes{func(n int, via []string) {
		p.due[dir] = append(p.due[dir], seq)
		if seq < p.got[dir] || p.early[dir][seq] != nil {
			return
		}
		p.early[dir][seq] = func(n int) {
			for _, d := range inner.deliver {
				d(n, append(slices.Clone(via), "reliable:"+strconv.Itoa(int(seq))))
			}
		}
		for p.early[dir][p.got[dir]] != nil {
			p.got[dir]++
			p.early[dir][p.got[dir]-1](n)
		}
	}}
	return x
}

func cluster(items ...packet) packet {
	x := core(14, "cluster")
	var trees []row
	for i, it := range items {
		x.data = append(append(x.data, byte(len(it.data))), it.data...)
		trees = append(trees, it.tree)
		for _, d := range it.deliver {
			x.deliver = append(x.deliver, func(n int, via []string) { d(n, append([]string{"cluster:" + strconv.Itoa(i)}, via...)) })
		}
	}
	x.tree["items"] = trees
	return x
}

// chunks are the parts of a message that is delivered with the last of them.
func (p *player) chunks(dir int, data []byte, name string, size int) (out []packet) {
	for len(data) > 0 {
		part := data[:min(size, len(data))]
		data = data[len(part):]
		last := len(data) == 0
		x := core(8, "chunk")
		if last {
			x = core(9, "chunk-tail")
		}
		x.data = append(x.data, part...)
		x.deliver = nodes{func(n int, via []string) {
			p.parts[dir] = append(p.parts[dir], part...)
			if last {
				whole := p.parts[dir]
				p.parts[dir] = nil
				p.message(dir, n, append(via, "chunk"), whole, name)
			}
		}}
		out = append(out, x)
	}
	return out
}

// streamed are the parts of a message that say its size.
func (p *player) streamed(dir int, data []byte, name string, size int) (out []packet) {
	total := len(data)
	for len(data) > 0 {
		part := data[:min(size, len(data))]
		data = data[len(part):]
		x := core(10, "stream", uint32(total)).with(row{"total": total, "len": len(part)})
		x.data = append(x.data, part...)
		x.deliver = nodes{func(n int, via []string) {
			if p.stream[dir] = append(p.stream[dir], part...); len(p.stream[dir]) == total {
				whole := p.stream[dir]
				p.stream[dir] = nil
				p.message(dir, n, append(via, "stream"), whole, name)
			}
		}}
		out = append(out, x)
	}
	return out
}

// datagram writes a packet, and what becomes complete with it.
func (p *player) datagram(dir int, x packet) {
	p.now += 500 + int64(p.rng.IntN(20000))
	p.sent[dir]++
	data := append([]byte{}, x.data...)
	r := row{"kind": "dgram", "session": p.session(), "dir": dirNames[dir], "len": len(data), "tree": x.tree, "enc": "none"}
	if p.key != 0 && !(data[0] == 0 && (data[1] == 1 || data[1] == 2)) {
		r["enc"], r["plain"] = "vie", hex.EncodeToString(data)
		vie(p.key, data)
	}
	p.recording.datagram(p.ends[dir], p.ends[1-dir], data)
	r["n"], r["ts"], r["hex"] = p.n, p.time(), hex.EncodeToString(data)
	p.rows = append(p.rows, r)
	for _, d := range x.deliver {
		d(p.n, nil)
	}
}

// login opens a session. secret encrypts it.
func (p *player) login(key uint32, secret bool) {
	answer := key
	if secret {
		answer = -key
	}
	x := core(1, "login", key).with(row{"key": key, "version": 1})
	x.data = append(x.data, 1, 0)
	p.datagram(0, x)
	p.datagram(1, core(2, "login-response", answer).with(row{"key": answer}))
	if secret {
		p.key = answer
	}
}

// ack acknowledges a number of the other direction.
func (p *player) ack(dir int, seq uint32) packet { return core(4, "ack", seq).with(row{"seq": seq}) }

func (p *player) sync() {
	now := uint32(p.now / 10000)
	sent, received := uint32(p.sent[0]), uint32(p.sent[1]-p.lost[1])
	p.datagram(0, core(5, "sync", now, sent, received).with(row{"time": now, "sent": sent, "recv": received}))
	p.datagram(1, core(6, "sync-response", now, now+3).with(row{"time": now, "server_time": now + 3}))
}

// chat is a message of the game: type, kind, sound, player, text.
func (p *player) chat(dir int, text string) packet {
	data := []byte{6, 2, 0, 0xff, 0xff}
	if dir == 1 {
		data = []byte{7, 2, 0, 1, 0}
	}
	return p.game(dir, append(append(data, text...), 0), "Chat")
}

// play is what happens in an arena: numbered messages and others, alone, in clusters, in parts. datagram may lose, repeat and delay.
func (p *player) play(rounds int, datagram func(dir int, x packet)) {
	for i := range rounds {
		dir := p.rng.IntN(2)
		switch p.rng.IntN(7) {
		case 0:
			datagram(dir, p.reliable(dir, p.chat(dir, fmt.Sprintf("hello %d", i))))
		case 1:
			datagram(dir, p.chat(dir, fmt.Sprintf("unnumbered %d", i)))
		case 2:
			datagram(dir, cluster(p.chat(dir, "first"), p.reliable(dir, p.chat(dir, fmt.Sprintf("one of %d", i))), p.reliable(dir, p.chat(dir, "another"))))
		case 3:
			p.sync()
		case 4:
			for _, x := range p.chunks(1, append([]byte{0x0f}, make([]byte, 1427)...), "Settings", 480) {
				datagram(1, p.reliable(1, x))
			}
		case 5:
			for _, x := range p.streamed(1, append(append([]byte{0x10}, make([]byte, 16)...), randomBytes(p.rng, 1000+i)...), "IncomingFile", 480) {
				datagram(1, p.reliable(1, x))
			}
		default:
			datagram(dir, cluster(p.chat(dir, "a"), p.chat(dir, fmt.Sprintf("b %d", i))))
		}
		p.acknowledge(0)
		p.acknowledge(1)
	}
}

// acknowledge acknowledges what has come from a direction, again what came again.
func (p *player) acknowledge(dir int) {
	var items []packet
	for _, seq := range p.due[dir] {
		items = append(items, p.ack(1-dir, seq))
	}
	p.due[dir] = nil
	for ; len(items) > 1; items = items[min(20, len(items)):] {
		p.datagram(1-dir, cluster(items[:min(20, len(items))]...))
	}
	if len(items) == 1 {
		p.datagram(1-dir, items[0])
	}
}

func (p *player) leave() {
	p.acknowledge(0)
	p.acknowledge(1)
	p.datagram(0, core(7, "disconnect"))
	p.datagram(0, core(7, "disconnect"))
}

// pings are the traffic of the port after that of the game.
func (s *space) pings(server int) {
	for _, x := range []struct {
		back bool
		data []byte
	}{
		{false, []byte{1, 2, 3, 4}},
		{true, []byte{9, 0, 0, 0, 1, 2, 3, 4}},
		{false, []byte{5, 6, 7, 8, 1, 0, 0, 0}},
		{true, []byte{5, 6, 7, 8, 1, 0, 0, 0, 12, 0, 0, 0, 9, 0, 0, 0}},
	} {
		from, to := local(40009), local(server)
		if x.back {
			from, to = to, from
		}
		s.now += 100
		s.recording.datagram(from, to, x.data)
		s.rows = append(s.rows, row{"kind": "ping", "n": s.n, "ts": s.time(), "src": from.String(), "dst": to.String(), "hex": hex.EncodeToString(x.data)})
	}
}

// noisy writes datagrams of p as a bad line does: some are lost and come again later, some come twice, some late.
func (p *player) noisy(dir int, x packet) {
	switch k := p.rng.IntN(10); {
	case k == 0: // lost after the recording, and sent again
		due := len(p.due[dir])
		p.datagram(dir, x)
		p.due[dir] = p.due[dir][:due]
		p.lost[dir]++
		p.waiting = append(p.waiting, func() { p.datagram(dir, x) })
	case k < 3 && x.data[1] == 3: // late, as only numbered packets may be
		p.waiting = append(p.waiting, func() { p.datagram(dir, x) })
	default:
		p.datagram(dir, x)
	}
	if len(p.waiting) > 2 {
		p.settle()
	}
}

func (p *player) settle() {
	for _, w := range p.waiting {
		w()
	}
	p.waiting = nil
}

// subspace makes recordings of sessions.
func (m *maker) subspace() {
	save := func(name string, s *space) {
		m.add("subspace/"+name+".pcap", s.file.Bytes())
		m.lines("subspace/"+name+".truth.jsonl", s.rows)
	}
	for i, name := range []string{"plain-session", "vie-session", "plain-lossy-serverside"} {
		server := []int{5000, 5010, 5000}[i]
		s := newSpace(10 + uint64(i))
		if i < 2 {
			s.pings(server + 1)
		}
		for k := range 2 {
			p := s.player(40001+k, server)
			p.login(0x80000001+uint32(s.rng.IntN(1<<30)), i == 1)
			login := p.game(0, append([]byte{9, 0}, make([]byte, 99)...), "Login")
			p.datagram(0, p.reliable(0, login))
			p.datagram(1, cluster(p.chat(1, "welcome"), p.reliable(1, p.game(1, append([]byte{10}, make([]byte, 35)...), "LoginResponse"))))
			if i == 2 {
				p.play(90, p.noisy)
				p.settle()
			} else {
				p.play(90, p.datagram)
			}
			// A file that is cancelled, and one that is sent by the client.
			half := p.streamed(1, append([]byte{0x10}, randomBytes(s.rng, 1500)...), "", 480)
			p.datagram(1, p.reliable(1, half[0]))
			p.datagram(0, p.reliable(0, core(11, "stream-cancel")))
			cancelled := core(12, "stream-cancel-ack")
			cancelled.deliver = nodes{func(int, []string) { p.stream[1] = nil }}
			p.datagram(1, p.reliable(1, cancelled))
			p.datagram(0, p.reliable(0, p.chat(0, "after the file")))
			p.leave()
		}
		save(name, s)
	}

	s := newSpace(13)
	p := s.player(40020, 4990)
	p.login(0x80000007, true)
	p.datagram(0, p.reliable(0, p.game(0, []byte{1, 0, 0, 0, 0}, "Request")))
	list := []byte{1}
	for i := range 12 {
		entry := append([]byte{10, 0, 0, byte(i)}, 0x88, 0x13, byte(i), 0, 1, 0, 0x86, 0, 0, 0)
		entry = append(append(entry, make([]byte, 64)...), fmt.Sprintf("zone %d", i)...)
		list = append(list, append(entry, 0)...)
	}
	for i, x := range p.streamed(1, list, "Zones", 480) {
		x = p.reliable(1, x)
		if i == 1 {
			p.waiting = append(p.waiting, func() { p.datagram(1, x) })
			continue
		}
		p.datagram(1, x)
	}
	p.settle()
	p.leave()
	save("sim-directory-list", s)

	s = newSpace(14)
	p = s.player(40030, 5000)
	x := core(1, "login", 77).with(row{"key": 77, "version": 17})
	x.data = append(x.data, 17, 0)
	p.datagram(0, x)
	p.datagram(1, core(16, "cont-key", 5, 6))
	for i := range 40 {
		data := randomBytes(s.rng, 20+s.rng.IntN(200))
		data[0] |= 1
		p.datagram(i%2, packet{data: data, tree: row{"p": "opaque", "len": len(data)}})
	}
	save("sim-continuum-opaque", s)

	s = newSpace(15)
	p = s.player(40040, 5000)
	p.login(0x90000000, false)
	var steps []row
	step := func(name string, accepted []string, packets ...packet) {
		begin := len(s.rows)
		p.datagram(0, p.reliable(0, p.chat(0, "## "+name)))
		for _, x := range packets {
			p.datagram(0, x)
		}
		var list []row
		for _, a := range accepted {
			list = append(list, row{"how": "message", "hex": a})
		}
		_ = begin
		steps = append(steps, row{"step": name, "accepted": list})
	}
	odd := func(why string, data ...byte) packet {
		return packet{data: data, tree: row{"p": "malformed", "malformed": why}}
	}
	said := func(text string) (packet, string) {
		x := p.chat(0, text)
		return x, hex.EncodeToString(x.data)
	}
	step("single 00 byte", nil, odd("short", 0))
	step("a numbered packet without contents", nil, odd("short", 0, 3, 99, 0, 0, 0))
	step("a cluster of nothing", nil, odd("short", 0, 14))
	step("an acknowledgement that is cut", nil, odd("short", 0, 4, 1))
	one, text := said("before the end")
	step("an item beyond its cluster", []string{text}, func() packet {
		x := cluster(one)
		x.data = append(x.data, 200, 1, 2)
		x.tree["malformed"] = "beyond the end"
		return x
	}())
	two, more := said("in a cluster in a cluster")
	step("clusters in clusters", []string{more}, cluster(cluster(two)))
	step("a stream that changes its size", nil, func() []packet {
		a, b := core(10, "stream", 100).with(row{"total": 100}), core(10, "stream", 90)
		a.data = append(a.data, make([]byte, 40)...)
		b.data = append(b.data, make([]byte, 40)...)
		b.tree["malformed"] = "total"
		return []packet{a, b}
	}()...)
	p.leave()
	save("plain-malformed", s)
	m.lines("subspace/plain-malformed.server.jsonl", steps)

	var streams, vectors []row
	rng := rand.New(rand.NewPCG(16, 29))
	for i := range 20 {
		key := rng.Uint32() & 0x7fffffff
		if i%4 == 3 {
			key |= 0x80000000
		}
		name := fmt.Sprintf("0x%08x", key)
		signed := key>>31 == 1
		streams = append(streams, row{"key": name, "keystream": hex.EncodeToString(vieStream(key)), "signed_only": signed})
		for _, size := range []int{1, 2, 3, 6, 17, 200, 520} {
			plain := randomBytes(rng, size)
			if i%2 == 0 {
				plain[0] = 0
			}
			out := append([]byte{}, plain...)
			vie(key, out)
			vectors = append(vectors, row{"key": name, "name": fmt.Sprintf("%d bytes", size), "plain": hex.EncodeToString(plain), "cipher": hex.EncodeToString(out), "signed_only": signed})
		}
	}
	m.json("subspace/vie-vectors.json", row{"keystreams": streams, "vectors": vectors})
}
