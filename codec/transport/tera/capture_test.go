package tera

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packettest"
	"wirebench/codec/transport"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

// packet is one TCP segment of a capture.
type packet struct {
	n        uint32
	at       time.Time
	from, to netip.AddrPort
	seq, ack uint32
	flags    byte
	data     []byte
}

// packets reads the pcapng files of the corpora: one interface, Ethernet, IPv4, TCP, times in µs or ns.
func packets(t testing.TB, corpus *corpora.Corpus, name string) (all []packet) {
	t.Helper()
	data := corpus.Read(t, name)
	perSecond := int64(1e6)
	for n := uint32(0); len(data) >= 12; {
		kind, size := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
		body := data[8 : size-4]
		data = data[size:]
		switch kind {
		case 1:
			for options := body[8:]; len(options) >= 4; {
				code, n := binary.LittleEndian.Uint16(options), int(binary.LittleEndian.Uint16(options[2:]))
				if code == 9 {
					perSecond = int64(math.Pow10(int(options[4])))
				}
				options = options[4+(n+3)/4*4:]
			}
		case 6:
			n++
			ticks := int64(binary.LittleEndian.Uint32(body[4:]))<<32 | int64(binary.LittleEndian.Uint32(body[8:]))
			frame := body[20 : 20+binary.LittleEndian.Uint32(body[12:])]
			ip := frame[14:]
			head := int(ip[0]&15) * 4
			tcp := ip[head:binary.BigEndian.Uint16(ip[2:])]
			all = append(all, packet{
				n: n, at: time.Unix(ticks/perSecond, ticks%perSecond*(1e9/perSecond)),
				from: netip.AddrPortFrom(netip.AddrFrom4([4]byte(ip[12:])), binary.BigEndian.Uint16(tcp)),
				to:   netip.AddrPortFrom(netip.AddrFrom4([4]byte(ip[16:])), binary.BigEndian.Uint16(tcp[2:])),
				seq:  binary.BigEndian.Uint32(tcp[4:]), ack: binary.BigEndian.Uint32(tcp[8:]),
				flags: tcp[13], data: tcp[tcp[12]>>4*4:],
			})
		}
	}
	return all
}

// half is the reassembly state of one direction of a connection.
type half struct {
	next    int64 // stream offset of the next byte
	isn     uint32
	started bool
	held    []packet
}

// connection is one TCP connection with its transport.
type connection struct {
	conn      int
	client    netip.AddrPort
	halves    [2]half
	transport *Transport
}

// replay reassembles the streams of a capture and feeds them. A byte that the other side has acknowledged but that is not in the capture is
// lost. segment may change the segments.
func replay(t testing.TB, corpus *corpora.Corpus, name string, o Options, segment func(conn int, seg transport.Segment, feed func(transport.Segment)), emit func(conn int, f *transport.Frame)) (all []*connection) {
	t.Helper()
	byEnds := map[[2]netip.AddrPort]*connection{}
	for _, p := range packets(t, corpus, name) {
		c, dir := byEnds[[2]netip.AddrPort{p.from, p.to}], schema.ToServer
		if c == nil {
			c, dir = byEnds[[2]netip.AddrPort{p.to, p.from}], schema.ToClient
		}
		if c == nil {
			c, dir = &connection{conn: len(all), client: p.from, transport: New(o)}, schema.ToServer
			byEnds[[2]netip.AddrPort{p.from, p.to}] = c
			all = append(all, c)
		}
		feed := func(seg transport.Segment) {
			c.transport.Feed(seg, func(f *transport.Frame) { emit(c.conn, f) })
		}
		h, other := &c.halves[dir-schema.ToServer], &c.halves[schema.ToClient-dir]
		if p.flags&2 != 0 {
			h.isn = p.seq + 1
		}
		if p.flags&16 != 0 && other.isn != 0 {
			if acked := int64(int32(p.ack - other.isn)); acked > other.next && len(other.held) > 0 && first(other) > other.next {
				from := schema.ToClient + schema.ToServer - dir
				segment(c.conn, transport.Segment{Dir: from, At: p.at, Packet: p.n, Lost: first(other) - other.next}, feed)
				other.next = first(other)
				c.deliver(other, from, segment, feed, p.at)
			}
		}
		if len(p.data) > 0 && p.flags&2 == 0 {
			h.held = append(h.held, p)
			c.deliver(h, dir, segment, feed, p.at)
		}
	}
	for _, c := range all {
		c.transport.Flush(time.Time{}, func(f *transport.Frame) { emit(c.conn, f) })
	}
	return all
}

func first(h *half) int64 {
	return int64(int32(slices.MinFunc(h.held, func(a, b packet) int { return cmp.Compare(int32(a.seq-h.isn), int32(b.seq-h.isn)) }).seq - h.isn))
}

// deliver feeds the contiguous bytes, with the time of the packet that completed them.
func (c *connection) deliver(h *half, dir schema.Dir, segment func(int, transport.Segment, func(transport.Segment)), feed func(transport.Segment), at time.Time) {
	for again := true; again; {
		again = false
		for i, p := range h.held {
			from := int64(int32(p.seq - h.isn))
			if from > h.next {
				continue
			}
			if cut := h.next - from; cut < int64(len(p.data)) {
				seg := transport.Segment{Dir: dir, At: at, Packet: p.n, Off: uint32(cut), Bytes: p.data[cut:], Start: !h.started}
				h.started, h.next = true, from+int64(len(p.data))
				segment(c.conn, seg, feed)
			}
			h.held = slices.Delete(h.held, i, i+1)
			again = true
			break
		}
	}
}

// truth is a line of the expected contents of a capture.
type truth struct {
	Kind   string
	Time   json.Number
	Conn   int
	Dir    string
	Frame  uint32
	First  uint32 `json:"first_frame"`
	Offset int64
	Length int64
	Opcode uint32
	Name   string
	Hex    string
}

// line is the compared part of a frame.
func (l truth) line() string {
	switch l.Kind {
	case "gap":
		return fmt.Sprintf("%d %s gap %d+%d", l.Conn, l.Dir, l.Offset, l.Length)
	case "error":
		return fmt.Sprintf("%d %s error %d", l.Conn, l.Dir, l.Offset)
	}
	return fmt.Sprintf("%d %s %d %d %s at %s in %d-%d", l.Conn, l.Dir, l.Offset, l.Opcode, l.Hex, seconds(l.Time.String()), l.First, l.Frame)
}

// seconds truncates a time to µs, the resolution of the truth.
func seconds(s string) string {
	whole, part, _ := strings.Cut(s, ".")
	return whole + "." + (part + "000000")[:6]
}

func lineOf(conn int, f *transport.Frame) string {
	switch {
	case f.Kind == transport.Problem && f.Length != 0:
		return fmt.Sprintf("%d %s gap %d+%d", conn, f.Dir, f.Offset, f.Length)
	case f.Kind == transport.Problem:
		return fmt.Sprintf("%d %s error %d", conn, f.Dir, f.Offset)
	}
	firstFrame, last := uint32(math.MaxUint32), uint32(0)
	for _, s := range f.From {
		firstFrame, last = min(firstFrame, s.Packet), max(last, s.Packet)
	}
	return fmt.Sprintf("%d %s %d %d %x at %d.%06d in %d-%d", conn, f.Dir, f.Offset, f.Key.Code, f.Bytes, f.At.Unix(), f.At.Nanosecond()/1000, firstFrame, last)
}

func straight(_ int, seg transport.Segment, feed func(transport.Segment)) { feed(seg) }

func TestCorporaCapturesAreAsTheirTruth(t *testing.T) { corpora.Run(t, testCapturesAreAsTheirTruth) }

func testCapturesAreAsTheirTruth(t *testing.T, corpus *corpora.Corpus) {
	for _, name := range []string{"tera-session", "tera-plain", "tera-broken", "tera-broken, names of another version"} {
		name, another, _ := strings.Cut(name, ", ")
		t.Run(name, func(t *testing.T) {
			var o Options
			if another != "" {
				o.Definitions = knows(func(schema.Key) bool { return false })
			}
			var want, got, after []string
			for _, l := range corpora.Rows[truth](t, corpus, "captures/"+name+".truth.jsonl") {
				want = append(want, l.line())
			}
			failed, controls := map[string]bool{}, 0
			ends := replay(t, corpus, "captures/"+name+".pcapng", o, straight, func(conn int, f *transport.Frame) {
				way := fmt.Sprint(conn, f.Dir)
				switch {
				case f.Kind == transport.Control:
					controls++
				case f.Kind == transport.Opaque:
					t.Errorf("opaque at %d", f.Offset)
				case f.Kind == transport.Problem && strings.HasPrefix(f.Note, "the start of a message"):
					return // the gap follows
				case f.Kind == transport.Problem && strings.HasPrefix(f.Note, "the length "): // the bytes that were not read begin with it
					got = append(got, lineOf(conn, f))
				case f.Resumed != failed[way]:
					t.Errorf("resumed is %v: %s", f.Resumed, lineOf(conn, f))
				case f.Resumed && f.Kind == transport.Problem && strings.Contains(f.Note, "not read"):
				case f.Resumed:
					after = append(after, lineOf(conn, f))
				default:
					got = append(got, lineOf(conn, f))
				}
				failed[way] = failed[way] || f.Kind == transport.Problem
			})
			if name == "tera-plain" { // for reordered segments the truth has the number of an earlier packet than the one that completed them
				for _, lines := range []*[]string{&want, &got} {
					for i, l := range *lines {
						(*lines)[i], _, _ = strings.Cut(l, " in ")
					}
				}
			}
			// What is not read at the end of a connection is found at the end of the capture.
			byConn := func(a, b string) int { return cmp.Compare(a[:1], b[:1]) }
			slices.SortStableFunc(got, byConn)
			slices.SortStableFunc(want, byConn)
			compare(t, got, want)
			if name == "tera-plain" {
				if controls != 0 || ends[0].transport.keys != nil {
					t.Errorf("%d control frames", controls)
				}
				return
			}
			if controls != 5*len(ends) {
				t.Errorf("%d control frames of %d connections", controls, len(ends))
			}
			checkKeys(t, corpus, "captures/"+name+".conns.json", ends)
			if name == "tera-broken" {
				var want []string
				for _, l := range corpora.Rows[truth](t, corpus, "captures/tera-broken.after-gap.jsonl") {
					want = append(want, l.line())
				}
				// These have no first frame.
				after = slices.DeleteFunc(after, func(l string) bool { return !strings.HasPrefix(l, "0 ") })
				for i, l := range after {
					at := strings.LastIndex(l, " in ")
					after[i] = l[:at] + " in 0-" + l[strings.LastIndexByte(l, '-')+1:]
				}
				compare(t, after, want)
			}
		})
	}
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	shown := 0
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("missing: %.200s", want[i])
		case i >= len(want):
			t.Errorf("too many: %.200s", got[i])
		case got[i] != want[i]:
			t.Errorf("line %d\n got %.200s\nwant %.200s", i, got[i], want[i])
		default:
			continue
		}
		if shown++; shown > 5 {
			break
		}
	}
	if len(want) == 0 {
		t.Error("nothing to compare with")
	}
}

func checkKeys(t *testing.T, corpus *corpora.Corpus, name string, ends []*connection) {
	t.Helper()
	var conns []struct{ Keys map[string]string }
	corpus.JSON(t, name, &conns)
	for i, c := range conns {
		k, constants, ok := ends[i].transport.Keys()
		if !ok || constants != CurrentConstants {
			t.Fatalf("connection %d: keys %v, %s constants", i, ok, constants)
		}
		for name, got := range map[string][KeySize]byte{"C1": k.Client1, "S1": k.Server1, "C2": k.Client2, "S2": k.Server2} {
			if !bytes.Equal(got[:], packettest.Unhex(t, c.Keys[name])) {
				t.Errorf("connection %d: %s differs", i, name)
			}
		}
	}
}

// names reads the codes of an opcode map.
func names(t testing.TB, corpus *corpora.Corpus) func(schema.Key) bool {
	t.Helper()
	all := map[uint32]bool{}
	for l := range strings.Lines(corpus.Text(t, "tera/toolbox/protocol.387396.map")) {
		var name string
		var code uint32
		if n, _ := fmt.Sscan(strings.ReplaceAll(l, "=", " "), &name, &code); n == 2 {
			all[code] = true
		}
	}
	if len(all) < 300 {
		t.Fatalf("%d codes", len(all))
	}
	return func(k schema.Key) bool { return all[k.Code] }
}

// Missing segments cost the messages that they overlap, and hardly any other; no message is read that was not sent. Without the names of
// codes slightly more are missed: the first messages after a gap may have codes not seen before.
func TestCorporaDroppedSegments(t *testing.T) { corpora.Run(t, testDroppedSegments) }

func testDroppedSegments(t *testing.T, corpus *corpora.Corpus) {
	for _, c := range []struct {
		name          string
		o             Options
		wrong, missed float64 // maximum, for each gap
	}{
		{"with names", Options{Definitions: knows(names(t, corpus))}, 0, 0.01},
		{"without", Options{}, map[bool]float64{false: 0.01, true: 0.1}[corpus.Own], 0.15}, // the codes of the own corpus are close together
	} {
		wrong, missed, gaps := 0, 0, 0
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 1))
			want, bad := map[string]bool{}, map[string][][2]int64{}
			for _, l := range corpora.Rows[truth](t, corpus, "captures/tera-session.truth.jsonl") {
				want[fmt.Sprintf("%s %d %s", l.Dir, l.Offset, l.Hex)] = true
			}
			sent := map[schema.Dir]int64{}
			replay(t, corpus, "captures/tera-session.pcapng", c.o, func(_ int, seg transport.Segment, feed func(transport.Segment)) {
				from := sent[seg.Dir]
				to := from + int64(len(seg.Bytes))
				sent[seg.Dir] = to
				if from >= 300 && rng.IntN(25) == 0 {
					way := seg.Dir.String()
					bad[way] = append(bad[way], [2]int64{from, to})
					gaps++
					seg.Lost, seg.Bytes = to-from, nil
				}
				feed(seg)
			}, func(_ int, f *transport.Frame) {
				if f.Kind != transport.Message {
					return
				}
				l := fmt.Sprintf("%s %d %x", f.Dir, f.Offset, f.Bytes)
				if !want[l] {
					wrong++
				}
				delete(want, l)
			})
			for l := range want {
				var way, data string
				var offset int64
				fmt.Sscan(l, &way, &offset, &data)
				end := offset + int64(len(data)/2)
				if !slices.ContainsFunc(bad[way], func(g [2]int64) bool { return g[0] < end && offset < g[1] }) {
					missed++
				}
			}
		}
		t.Logf("%s: %d gaps, %d wrong, %d missed", c.name, gaps, wrong, missed)
		if n := float64(gaps); gaps == 0 || float64(wrong) > c.wrong*n || float64(missed) > c.missed*n {
			t.Errorf("%s: %d gaps, %d messages that were not sent, %d missed besides", c.name, gaps, wrong, missed)
		}
	}
}
