package protocols_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/codec/transport/tera"
	"wirebench/codec/transport/transporttest"
	"wirebench/defs/schema"
)

// traffic generates the packets of two endpoints, and the messages expected from them.
type traffic struct {
	rng     *rand.Rand
	at      time.Time
	id      uint16
	packets []packet.Packet
	want    []string
	name    string // of the connection
	session int
	client  [4]byte
	ports   [2]uint16 // of client and server
	isn     [2]uint32
	seq     [2]uint32 // of TCP, or the next number of SubSpace
	key     uint32
	intact  bool // packets are not fragmented
}

const seen = 32000 // the lowest known code

// part is a range of a payload and the packet that contains it.
type part struct{ from, to, packet int }

// ip captures a packet, unfragmented or in fragments in any order, some repeated. It returns the location of the bytes of its payload.
func (x *traffic) ip(fromServer bool, proto byte, payload []byte) (parts []part) {
	x.id++
	x.at = x.at.Add(time.Millisecond)
	type run struct{ from, to int }
	var runs []run
	if !x.intact && x.rng.IntN(4) == 0 {
		for at := 0; at < len(payload); {
			to := min(at+8*(1+x.rng.IntN(6)), len(payload))
			runs = append(runs, run{at, to})
			at = to
		}
		x.rng.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		if x.rng.IntN(3) == 0 && len(runs) > 1 { // repeat one before the last: after it, it would begin another packet
			runs = slices.Insert(runs, len(runs)-1, runs[x.rng.IntN(len(runs)-1)])
		}
	} else {
		runs = []run{{0, len(payload)}}
	}
	src, dst := x.client, [4]byte{10, 0, 0, 1}
	if fromServer {
		src, dst = dst, src
	}
	have := make([]bool, len(payload)+1)
	for _, r := range runs {
		flags := uint16(r.from / 8)
		if r.to < len(payload) {
			flags |= 0x2000
		}
		b := []byte{0x45, 0}
		b = binary.BigEndian.AppendUint16(b, uint16(20+r.to-r.from))
		b = binary.BigEndian.AppendUint16(b, x.id)
		b = binary.BigEndian.AppendUint16(b, flags)
		b = append(b, 64, proto, 0, 0)
		b = append(append(append(b, src[:]...), dst[:]...), payload[r.from:r.to]...)
		n := len(x.packets) + 1
		x.packets = append(x.packets, packet.Packet{N: uint32(n), At: x.at, Link: 101, Data: b, Orig: uint32(len(b))})
		if !have[r.from] {
			parts = append(parts, part{r.from, r.to, n})
		}
		have[r.from] = true
	}
	return parts
}

func side(fromServer bool) int {
	if fromServer {
		return 1
	}
	return 0
}

// expect adds an expected message. from lists its bytes in payloads.
func (x *traffic) expect(fromServer bool, message []byte, from ...[]part) {
	var packets []int
	for _, parts := range from {
		for _, p := range parts {
			packets = append(packets, p.packet)
		}
	}
	slices.Sort(packets)
	x.want = append(x.want, fmt.Sprintf("%s#%d %v %x %v", x.name, x.session, schema.Dir(1+side(fromServer)), message, slices.Compact(packets)))
}

// within returns the parts that contain bytes of a run.
func within(parts []part, from, to int) (some []part) {
	for _, p := range parts {
		if p.from < to && from < p.to {
			some = append(some, p)
		}
	}
	return some
}

const (
	fin = 1
	syn = 2
	rst = 4
	ack = 16
)

func (x *traffic) tcp(fromServer bool, flags byte, data []byte, captured bool) (parts []part) {
	me := side(fromServer)
	b := binary.BigEndian.AppendUint16(nil, x.ports[me])
	b = binary.BigEndian.AppendUint16(b, x.ports[1-me])
	b = binary.BigEndian.AppendUint32(b, x.seq[me])
	acked := uint32(0)
	if flags&ack != 0 {
		acked = x.seq[1-me]
	}
	b = binary.BigEndian.AppendUint32(b, acked)
	b = append(b, 5<<4, flags, 0xff, 0xff, 0, 0, 0, 0)
	b = append(b, data...)
	x.seq[me] += uint32(len(data))
	if flags&(syn|fin) != 0 {
		x.seq[me]++
	}
	if captured {
		parts = x.ip(fromServer, 6, b)
	}
	return parts
}

func (x *traffic) random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(x.rng.Uint32())
	}
	return b
}

func (x *traffic) message(code uint16) []byte {
	body := x.random(x.rng.IntN(90))
	b := binary.LittleEndian.AppendUint16(nil, uint16(4+len(body)))
	return append(binary.LittleEndian.AppendUint16(b, code), body...)
}

// streams generates TERA sessions without a cipher on one pair of ports. Lost segments consist of complete messages.
func (x *traffic) streams() {
	alike := x.rng.IntN(2) == 0
	for x.session = range 1 + x.rng.IntN(4) {
		if x.session == 0 || !alike {
			x.isn = [2]uint32{x.rng.Uint32(), x.rng.Uint32()}
		}
		x.seq = x.isn
		x.tcp(false, syn, nil, true)
		x.tcp(true, syn|ack, nil, true)
		x.tcp(false, ack, nil, true)
		for i := range 4 + x.rng.IntN(30) {
			fromServer := x.rng.IntN(2) == 0
			code := uint16(seen + x.rng.IntN(1000))
			lost := x.rng.IntN(12) == 0
			if i < 2 {
				fromServer, code, lost = i == 1, uint16(19900+i), false
			}
			messages := [][]byte{x.message(code)}
			for x.rng.IntN(3) == 0 {
				messages = append(messages, x.message(code+1))
			}
			all := slices.Concat(messages...)
			if lost {
				x.tcp(fromServer, ack, all, false)
				continue
			}
			edge := len(all) // between two segments
			if x.rng.IntN(3) == 0 {
				edge = 1 + x.rng.IntN(len(all))
			}
			first := x.tcp(fromServer, ack, all[:edge], true)
			var second []part
			if edge < len(all) {
				second = x.tcp(fromServer, ack, all[edge:], true)
			}
			at := 0
			for _, m := range messages {
				to := at + len(m)
				a := within(first, 20+at, 20+min(to, edge))
				if at >= edge {
					a = nil
				}
				var b []part
				if to > edge {
					b = within(second, 20+max(at-edge, 0), 20+to-edge)
				}
				x.expect(fromServer, m, a, b)
				at = to
			}
		}
		switch x.rng.IntN(3) {
		case 0:
			x.tcp(false, fin|ack, nil, true)
			x.tcp(true, fin|ack, nil, true)
			x.tcp(false, ack, nil, true)
		case 1:
			x.tcp(x.rng.IntN(2) == 0, rst, nil, true)
		case 2:
			if alike {
				x.tcp(true, rst|ack, nil, true)
			}
		}
	}
}

func (x *traffic) udp(fromServer bool, data []byte, captured bool) []part {
	me := side(fromServer)
	b := binary.BigEndian.AppendUint16(nil, x.ports[me])
	b = binary.BigEndian.AppendUint16(b, x.ports[1-me])
	b = binary.BigEndian.AppendUint16(b, uint16(8+len(data)))
	b = append(append(b, 0, 0), data...)
	if !captured {
		return nil
	}
	return x.ip(fromServer, 17, b)
}

func (x *traffic) reliable(fromServer bool, body []byte, captured bool) (parts []part, size int) {
	me := side(fromServer)
	b := binary.LittleEndian.AppendUint32([]byte{0, 3}, x.seq[me])
	x.seq[me]++
	b = append(b, body...)
	return x.udp(fromServer, b, captured), 8 + len(b)
}

func (x *traffic) game(most int) []byte {
	b := x.random(1 + x.rng.IntN(most))
	b[0] = byte(2 + x.rng.IntN(0x3d)) // avoid 01 and 02 with sizes that look like other servers
	return b
}

// datagrams generates SubSpace sessions on one pair of ports, with lost packets: a message in chunks that lacks one is not expected.
func (x *traffic) datagrams() {
	for x.session = range 1 + x.rng.IntN(4) {
		if x.session == 0 || x.rng.IntN(2) == 0 {
			x.key = x.rng.Uint32() | 1<<31
		}
		x.seq = [2]uint32{}
		ask := binary.LittleEndian.AppendUint32([]byte{0, 1}, x.key)
		ask = append(ask, 1, 0)
		for range 1 + x.rng.IntN(3) {
			x.udp(false, ask, true)
		}
		answer := binary.LittleEndian.AppendUint32([]byte{0, 2}, x.key)
		for range 1 + x.rng.IntN(2) {
			x.udp(true, answer, true)
		}
		for i := range 3 + x.rng.IntN(30) {
			fromServer := x.rng.IntN(2) == 0
			lost := x.rng.IntN(10) == 0
			switch n := x.rng.IntN(6); {
			case n == 0 && i > 0:
				m := x.game(100)
				if parts := x.udp(fromServer, m, !lost); !lost {
					x.expect(fromServer, m, within(parts, 8, 8+len(m)))
				}
			case n == 1:
				m := x.game(400)
				missing, broken, open := -1, false, false
				if lost {
					missing = x.rng.IntN(4)
				}
				var from [][]part
				for at, k := 0, 0; at < len(m); k++ {
					to := min(at+100, len(m))
					head := []byte{0, 8}
					if to == len(m) {
						head[1] = 9
					}
					parts, size := x.reliable(fromServer, append(head, m[at:to]...), k != missing)
					broken = broken || k == missing
					open = k == missing && k > 0 && to == len(m)
					from = append(from, within(parts, size-(to-at), size))
					at = to
				}
				if !broken {
					x.expect(fromServer, m, from...)
					break
				}
				m = x.game(50)
				parts, size := x.reliable(fromServer, m, true)
				x.expect(fromServer, m, within(parts, size-len(m), size))
				if open { // the end of another message does not complete it
					x.reliable(fromServer, []byte{0, 9, 7}, true)
				}
			default:
				m := x.game(100)
				parts, size := x.reliable(fromServer, m, !lost)
				if !lost {
					x.expect(fromServer, m, within(parts, size-len(m), size))
					break
				}
				m = x.game(50)
				parts, size = x.reliable(fromServer, m, true)
				x.expect(fromServer, m, within(parts, size-len(m), size))
			}
		}
		switch x.rng.IntN(3) {
		case 0:
			x.udp(false, []byte{0, 7}, true)
			x.udp(false, []byte{0, 7}, true)
		case 1:
			x.at = x.at.Add(40 * time.Second)
		}
	}
}

// TestReassembly generates connections that reuse their ports, with losses that the transports can determine exactly, and with IP
// fragments, and reads them: each captured message is read exactly once, in its session, with the numbers of all of its packets, and no
// other message is read.
func TestReassembly(t *testing.T) {
	for seed := range uint64(400) {
		x := &traffic{rng: rand.New(rand.NewPCG(seed, 41)), at: time.Unix(1_700_000_000, 0)}
		sessions := map[string]int{}
		for i := range 1 + x.rng.IntN(4) {
			x.client, x.ports, x.session = [4]byte{10, 0, 0, byte(2 + i)}, [2]uint16{40000, 7801}, 0
			x.name = fmt.Sprintf("10.0.0.%d:40000-10.0.0.1:7801", 2+i)
			if x.rng.IntN(2) == 0 {
				x.ports[1] = 5000
				x.name = strings.Replace(x.name, "7801", "5000", 1)
				x.datagrams()
			} else {
				x.streams()
			}
			sessions[x.name] = x.session + 1
		}
		var got, problems []string
		o := packet.Options{Ports: []uint16{5000, 7801}, New: func(c transport.Conn) transport.Transport {
			if c.Proto == transport.UDP {
				return subspace.New(subspace.Options{})
			}
			return tera.New(tera.Options{Definitions: transporttest.Codes(func(k schema.Key) bool { return k.Code >= seen && k.Code < seen+1001 })})
		}}
		a := packet.NewAssembler(o, func(f *transport.Frame) {
			var packets []int
			for _, s := range f.From {
				packets = append(packets, int(s.Packet))
			}
			slices.Sort(packets)
			line := fmt.Sprintf("%s#%d %v %s %v", f.Conn.Name(), f.Conn.Session, f.Dir, hex.EncodeToString(f.Bytes), slices.Compact(packets))
			if f.Kind == transport.Message {
				got = append(got, line)
			} else {
				problems = append(problems, f.Kind.String()+" "+line+" "+f.Note)
			}
		})
		for i := range x.packets {
			a.Packet(&x.packets[i])
		}
		a.Flush()
		slices.Sort(got)
		slices.Sort(x.want)
		for i := 0; i < max(len(got), len(x.want)); i++ {
			if i >= len(got) || i >= len(x.want) || got[i] != x.want[i] {
				for _, p := range problems {
					t.Log(p)
				}
				t.Fatalf("seed %d: %d messages of %d\n got %s\nwant %s", seed, len(got), len(x.want), entry(got, i), entry(x.want, i))
			}
		}
		have := map[string]int{}
		for _, c := range a.Summary().Conns {
			have[c.Name()]++
		}
		if fmt.Sprint(have) != fmt.Sprint(sessions) {
			t.Fatalf("seed %d: sessions %v, want %v", seed, have, sessions)
		}
	}
}

func entry(l []string, i int) string {
	if i < len(l) {
		return l[i]
	}
	return "nothing"
}
