package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

type values = map[string]any

// stage plays a session: a client and a server of a protocol, the line between them, and a simulated clock. The traffic is recorded as seen
// from the client's machine.
type stage struct {
	t      *testing.T
	snap   *workspace.Snapshot
	groups map[schema.Dir]string
	rng    *rand.Rand
	now    time.Time
	ends   map[schema.Dir]transport.Endpoint // by sending direction
	relays map[schema.Dir]*transport.Relay
	way    []parcel // in order of arrival
	lose   int      // number of the next datagrams from the client that are lost after the recorder

	file   bytes.Buffer
	writer *pcap.Writer
	record *pcap.Synthetic

	encoders map[string]*workspace.Encoder
	said     map[string]int // how often a message was sent
	last     spoken
	marked   []spoken
	noted    []spoken
	moments  []store.Marker
}

// parcel is a packet in transit.
type parcel struct {
	dir  schema.Dir
	at   time.Time
	data []byte
}

// spoken identifies a sent message; the same bytes may be sent several times.
type spoken struct {
	dir  schema.Dir
	data string
	nth  int    // from 1
	note string // its note
}

// sampleStart is the start of all samples.
var sampleStart = time.Date(2026, 3, 14, 18, 30, 0, 0, time.UTC)

func newStage(t *testing.T, protocol string, port uint16, groups map[schema.Dir]string) *stage {
	t.Helper()
	fsys, ok := library.Dialect(protocol)
	if !ok {
		t.Fatal(protocol)
	}
	lib, err := workspace.ReadFS(fsys)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := workspace.Build(lib, workspace.Settings{Dialect: protocol})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{
		t: t, snap: snap, groups: groups, rng: rand.New(rand.NewPCG(uint64(port), 1)), now: sampleStart, said: map[string]int{},
		ends: map[schema.Dir]transport.Endpoint{}, relays: map[schema.Dir]*transport.Relay{}, encoders: map[string]*workspace.Encoder{},
	}
	if s.writer, err = pcap.NewWriter(&s.file, "Wirebench"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.writer.Interface(pcap.Interface{Name: "demo", Link: packet.LinkEthernet}); err != nil {
		t.Fatal(err)
	}
	proto := transport.UDP
	row, _ := protocols.Of(protocol)
	if row.Streams {
		proto = transport.TCP
	}
	s.record = s.connection(proto, 50112, port)
	s.must(s.record.Open(s.now))
	keys := rand.NewChaCha8([32]byte{1, 2, 3, byte(port)})
	env := snap.Env()
	for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
		if s.ends[dir], err = row.End(env, dir, port, protocols.Ends{Random: keys}); err != nil {
			t.Fatal(err)
		}
		s.relays[dir] = &transport.Relay{Emit: func(*transport.Frame) {}, Out: s.send}
	}
	s.wait(12 * time.Millisecond)
	for _, dir := range []schema.Dir{schema.ToClient, schema.ToServer} {
		s.ends[dir].Start(s.now, s.relays[dir])
	}
	s.wait(300 * time.Millisecond)
	return s
}

// connection adds a connection to the recording; the addresses are reserved for documentation.
func (s *stage) connection(proto transport.Proto, client, server uint16) *pcap.Synthetic {
	return pcap.NewSynthetic(s.writer, 0, transport.Conn{
		Proto: proto, Client: netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 10}), client),
		Server: netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, 113, 7}), server),
	})
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// send puts a segment of an end on the line.
func (s *stage) send(x transport.Segment) {
	data := bytes.Clone(x.Bytes)
	if x.Dir == schema.ToServer {
		s.must(s.record.Data(x.Dir, s.now, data, ""))
		if s.lose > 0 {
			s.lose--
			return
		}
	}
	at := s.now.Add(time.Duration(18_000+s.rng.IntN(9_000)) * time.Microsecond)
	for _, p := range s.way {
		if p.dir == x.Dir && p.at.After(at) {
			at = p.at // no reordering
		}
	}
	s.way = append(s.way, parcel{x.Dir, at, data})
}

// wait advances the clock by about d and delivers the packets that arrive.
func (s *stage) wait(d time.Duration) {
	until := s.now.Add(d + time.Duration(s.rng.Int64N(int64(d)/20+1)).Truncate(time.Microsecond))
	for s.now.Before(until) {
		next := s.now.Add(5 * time.Millisecond)
		if next.After(until) {
			next = until
		}
		first := -1
		for i, p := range s.way {
			if !p.at.After(next) && (first < 0 || p.at.Before(s.way[first].at)) {
				first = i
			}
		}
		if first >= 0 {
			p := s.way[first]
			s.way = append(s.way[:first], s.way[first+1:]...)
			if p.at.After(s.now) {
				s.now = p.at
			}
			if p.dir == schema.ToClient {
				s.must(s.record.Data(p.dir, s.now, p.data, ""))
			}
			to := transport.Opposite(p.dir)
			s.ends[to].Feed(p.data, false, s.now, s.relays[to])
			continue
		}
		s.now = next
		for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
			if due := s.ends[dir].Due(); !due.IsZero() && !due.After(s.now) {
				s.ends[dir].Tick(s.now, s.relays[dir])
			}
		}
	}
}

// bytes encodes a message.
func (s *stage) bytes(dir schema.Dir, name string, v values) []byte {
	s.t.Helper()
	e, ok := s.encoders[dir.String()+name]
	if !ok {
		m, err := s.snap.FindIn(name, s.groups[dir], dir)
		s.must(err)
		e, err = s.snap.Encoder(s.snap.Sent(m), nil, codec.Session{})
		s.must(err)
		s.encoders[dir.String()+name] = e
	}
	if v == nil {
		v = values{}
	}
	text, err := json.Marshal(v)
	s.must(err)
	data, problems := e.Encode(text)
	if len(problems) > 0 {
		s.t.Fatalf("%s: %s", name, problems[0])
	}
	return bytes.Clone(data)
}

func (s *stage) put(dir schema.Dir, o transport.Outgoing) {
	s.t.Helper()
	s.must(s.ends[dir].Send(o, s.now, s.relays[dir]))
	s.speak(dir, o.Bytes)
}

func (s *stage) speak(dir schema.Dir, data []byte) {
	s.said[dir.String()+string(data)]++
	s.last = spoken{dir: dir, data: string(data), nth: s.said[dir.String()+string(data)]}
}

// client and server send a message from that end.
func (s *stage) client(name string, v values) {
	s.t.Helper()
	s.put(schema.ToServer, transport.Outgoing{Bytes: s.bytes(schema.ToServer, name, v)})
}

func (s *stage) server(name string, v values) {
	s.t.Helper()
	s.put(schema.ToClient, transport.Outgoing{Bytes: s.bytes(schema.ToClient, name, v)})
}

// mark and note apply to the last message sent, moment to the next one.
func (s *stage) mark() { s.marked = append(s.marked, s.last) }

func (s *stage) note(text string) {
	s.last.note = text
	s.noted = append(s.noted, s.last)
}

func (s *stage) moment(text string) {
	s.moments = append(s.moments, store.Marker{At: s.now, Text: text})
}

// end closes the session, and returns the recording and the notes.
func (s *stage) end(text string) (recording, notes []byte) {
	s.t.Helper()
	s.wait(400 * time.Millisecond)
	s.ends[schema.ToServer].Close(s.now, s.relays[schema.ToServer])
	s.wait(300 * time.Millisecond)
	s.must(s.record.Close(schema.ToServer, s.now))
	s.wait(21 * time.Millisecond)
	s.must(s.record.Close(schema.ToClient, s.now))
	return s.file.Bytes(), s.notes(text)
}

// notes converts the marks and notes of the play to frame numbers.
func (s *stage) notes(text string) []byte {
	s.t.Helper()
	frames := sampleFrames(s.t, s.snap, s.file.Bytes())
	find := func(x spoken) uint64 {
		left := x.nth
		for _, f := range frames {
			if f.dir != x.dir || f.data == "" || f.kind == transport.Problem && !strings.HasPrefix(x.data, f.data) || f.kind != transport.Problem && f.data != x.data {
				continue // a problem frame has the first bytes of an invalid message
			}
			if left--; left == 0 {
				return f.n
			}
		}
		s.t.Fatalf("no frame of % x, time %d", x.data, x.nth)
		return 0
	}
	n := store.Notes{Text: text, Frames: map[uint64]string{}, Markers: s.moments}
	for _, x := range s.marked {
		n.Marked = append(n.Marked, find(x))
	}
	for _, x := range s.noted {
		n.Frames[find(x)] = x.note
	}
	for i, m := range n.Markers {
		n.Markers[i].N = uint64(len(frames)) + 1
		for _, f := range frames {
			if !f.at.Before(m.At) {
				n.Markers[i].N = f.n
				break
			}
		}
	}
	out, err := json.MarshalIndent(n, "", "  ")
	s.must(err)
	return append(out, '\n')
}

// sampleFrame is the identity of a frame for notes.
type sampleFrame struct {
	n    uint64
	dir  schema.Dir
	at   time.Time
	kind transport.Kind
	data string
}

// sampleFrames reads a recording.
func sampleFrames(t *testing.T, snap *workspace.Snapshot, file []byte) (out []sampleFrame) {
	t.Helper()
	p, _ := protocols.Of(snap.Dialect.Name)
	env := snap.Env()
	_, err := pcap.Read(bytes.NewReader(file), packet.Options{New: func(c transport.Conn) transport.Transport {
		return p.New(env.For(c.Name(), c.Session), c.Server.Port())
	}}, func(f *transport.Frame) {
		out = append(out, sampleFrame{uint64(f.N), f.Dir, f.At, f.Kind, string(f.Bytes)})
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
