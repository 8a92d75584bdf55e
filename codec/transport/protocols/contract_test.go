package protocols_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// contract is a protocol whose rewriter is tested, with messages of both directions in the order of a conversation.
type contract struct {
	name     string
	dialect  string
	envelope string // besides the library; "": none
	plain    bool
	first    int // messages that begin the conversation, as they change the state: 1 of the client, or n-1 of both ends
}

// under is MUTA, whose messages have a size of three bytes and a checksum in this envelope.
const under = `frame length u24 be including all at 1 keep
code u8
checksum crc crc32 le at -4
`

// hidden is the harbor of the library, encrypted from the first byte.
const hidden = `frame length u16 be
code varint
cipher aes-cfb8 key hex 000102030405060708090a0b0c0d0e0f iv hex 0f0e0d0c0b0a09080706050403020100

state hello
  hello to-server when intent = play -> play: compress zlib size varint from 16

state play
`

var contracts = []contract{
	{name: "tera", dialect: "tera", first: 2},
	{name: "tera, not encrypted", dialect: "tera", plain: true, first: 2},
	{name: "muta", dialect: "muta"},
	{name: "muta in an envelope", dialect: "muta", envelope: under},
	{name: "muta in TERA's streams", dialect: "muta", envelope: "carrier tera\n", first: 2},
	{name: "muta in TERA's streams, not encrypted", dialect: "muta", envelope: "carrier tera\n", plain: true, first: 4},
	{name: "muta in SubSpace's packets", dialect: "muta", envelope: "carrier subspace\n"},
	{name: "protodef", dialect: "protodef", first: 1},
	{name: "protodef, encrypted", dialect: "protodef", envelope: hidden, first: 1},
	{name: "subspace", dialect: "subspace"},
}

// talk is a conversation through a rewriter. Nothing is called from inside a function of a Relay.
type talk struct {
	t       *testing.T
	rng     *rand.Rand
	streams bool
	at      time.Time
	rw      transport.Rewriter
	ends    [2]transport.Endpoint // client, server: ends[i] sends in direction i
	decide  func(dir int, message string) transport.Decision
	todo    []func()
	begun   [2]bool
	over    [2]bool     // the direction has ended at its receiver
	got     [2][]string // messages by direction, at the receiver
	bytes   [2][2][]byte
	held    []uint64
	notes   []string
	whole   bool // segments are not cut
}

var dirs = [2]schema.Dir{schema.ToServer, schema.ToClient}

func way(dir schema.Dir) int {
	if dir == schema.ToClient {
		return 1
	}
	return 0
}

// begin begins a conversation. early asks for decisions before its first byte; nil: not.
func (c *contract) begin(t *testing.T, seed uint64, early func(dir int, message string) transport.Decision) (x *talk, messages [2][]string) {
	t.Helper()
	fsys, _ := library.Dialect(c.dialect)
	files := fstest.MapFS{}
	entries, err := os.ReadDir("../../../defs/library/" + c.dialect)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if b, err := os.ReadFile("../../../defs/library/" + c.dialect + "/" + e.Name()); err == nil {
			files[e.Name()] = &fstest.MapFile{Data: b}
		}
	}
	file := files["demo.pcapng"].Data
	delete(files, "demo.pcapng")
	read := func(lib *workspace.Library, err error) *workspace.Snapshot {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		snap, err := workspace.Build(lib, workspace.Settings{Dialect: c.dialect})
		if err != nil {
			t.Fatal(err)
		}
		return snap
	}
	as := read(workspace.ReadFS(fsys)) // of the demo
	p, _ := as.Protocol()
	env := as.Env()
	p = p.With(env)
	_, err = pcap.Read(bytes.NewReader(file), packet.Options{New: func(k transport.Conn) transport.Transport {
		if (k.Proto == transport.TCP) != p.Streams {
			return nil
		}
		return p.New(env.For(k.Name(), k.Session), k.Server.Port())
	}}, func(f *transport.Frame) {
		if i := way(f.Dir); f.Kind == transport.Message && len(messages[i]) < 12 && f.Conn.ID == 0 {
			messages[i] = append(messages[i], string(f.Bytes))
		}
	})
	if err != nil || len(messages[0]) < 4 || len(messages[1]) < 3 {
		t.Fatal(err, len(messages[0]), len(messages[1]))
	}
	if c.envelope != "" {
		files["protocol.envelope"] = &fstest.MapFile{Data: []byte(c.envelope)}
		snap := read(workspace.ReadFS(files))
		env = snap.Env()
		p, _ = snap.Protocol()
		p = p.With(env)
		if c.dialect == "muta" {
			for i := range messages {
				for k, m := range messages[i] {
					b := []byte(m)
					switch c.envelope {
					case under: // code, size, what follows the code, checksum
						b = append([]byte{m[0], 0, 0, 0}, m[1:]...)
						b = append(b, 0, 0, 0, 0)
					case "carrier tera\n":
						b = append([]byte{0, 0, m[0], 0}, m[1:]...)
					}
					h := env.Envelope.States[0].Header[i]
					h.Seal(b, nil)
					messages[i][k] = string(b)
				}
			}
		}
	}
	x = &talk{t: t, rng: rand.New(rand.NewPCG(seed, 61)), streams: p.Streams, at: time.Unix(1_700_000_000, 0), rw: p.Rewriter(env.For("", 0), 7801)}
	for i := range x.ends {
		if x.ends[i], err = p.End(env.For("", 0), dirs[i], 7801, protocols.Ends{Plain: c.plain, Random: &reader{x.rng}}); err != nil {
			t.Fatal(err)
		}
	}
	if x.decide = early; early != nil {
		x.rw.Operate(true, x.at, x.relay())
	}
	for i := range x.ends {
		x.ends[i].Start(x.at, x.end(i))
	}
	x.run()
	for n := range c.first {
		for i := range x.ends {
			if n < len(messages[i]) && (i == 0 || c.first > 1) {
				x.say(i, messages[i][0])
				for len(x.held) > 0 {
					x.release(transport.Decision{})
				}
				messages[i] = messages[i][1:]
			}
		}
		if c.first < 2 || n == c.first-2 {
			break
		}
	}
	x.got = [2][]string{}
	for i := range messages { // empty packets of a transport are no messages of the definitions
		messages[i] = slices.DeleteFunc(messages[i], func(m string) bool { return len(m) < 2 })
	}
	return x, messages
}

type reader struct{ *rand.Rand }

func (r *reader) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return len(b), nil
}

// end returns the relay of an end.
func (x *talk) end(i int) *transport.Relay {
	return &transport.Relay{
		Emit: func(f *transport.Frame) {
			switch f.Kind {
			case transport.Message:
				x.got[1-i] = append(x.got[1-i], string(f.Bytes))
			case transport.Problem, transport.Opaque:
				x.notes = append(x.notes, fmt.Sprintf("the end of %v: %v %x %s", dirs[i], f.Kind, f.Bytes, f.Note))
			}
		},
		Out: func(s transport.Segment) {
			b := bytes.Clone(s.Bytes)
			x.todo = append(x.todo, func() { x.feed(i, b, false) })
		},
	}
}

// feed gives the rewriter what an end has sent, in pieces.
func (x *talk) feed(i int, b []byte, end bool) {
	x.bytes[i][0] = append(x.bytes[i][0], b...)
	for first := true; first || len(b) > 0; first = false {
		n := len(b)
		if x.streams && !x.whole && n > 0 {
			n = 1 + x.rng.IntN(min(n, 40))
		}
		x.rw.Feed(transport.Segment{Dir: dirs[i], At: x.at, Bytes: bytes.Clone(b[:n]), Start: !x.begun[i], End: end && n == len(b)}, x.relay())
		x.begun[i] = true
		b = b[n:]
	}
}

// relay returns the relay of the rewriter.
func (x *talk) relay() *transport.Relay {
	r := &transport.Relay{
		Out: func(s transport.Segment) {
			i, b := way(s.Dir), bytes.Clone(s.Bytes)
			x.bytes[i][1] = append(x.bytes[i][1], b...)
			if x.over[i] && len(b) > 0 {
				x.t.Error("bytes behind the end of a direction")
			}
			x.over[i] = x.over[i] || s.End
			x.todo = append(x.todo, func() { x.ends[1-i].Feed(b, s.End, x.at, x.end(1-i)) })
		},
		Emit: func(f *transport.Frame) {
			if f.Kind == transport.Problem {
				x.notes = append(x.notes, fmt.Sprintf("the rewriter: %x %s", f.Bytes, f.Note))
			}
		},
	}
	if x.decide != nil {
		r.Decide = func(id uint64, f *transport.Frame) transport.Decision {
			d := x.decide(way(f.Dir), string(f.Bytes))
			if d.Action == transport.Hold {
				x.held = append(x.held, id)
			}
			return d
		}
	}
	return r
}

// run does what is to be done, and lets time pass for those that wait for it.
func (x *talk) run() {
	for rounds := 0; rounds < 400; rounds++ {
		for len(x.todo) > 0 {
			next := x.todo[0]
			x.todo = x.todo[1:]
			next()
		}
		if x.streams || rounds > 40 && len(x.todo) == 0 {
			return
		}
		x.at = x.at.Add(50 * time.Millisecond)
		for i := range x.ends {
			x.ends[i].Tick(x.at, x.end(i))
		}
		x.rw.Tick(x.at, x.relay())
	}
}

func (x *talk) say(i int, m string) {
	x.t.Helper()
	if err := x.ends[i].Send(transport.Outgoing{Bytes: []byte(m)}, x.at, x.end(i)); err != nil {
		x.t.Fatalf("%v %x: %v", dirs[i], m, err)
	}
	x.run()
}

func (x *talk) operate(on bool) {
	x.t.Helper()
	x.rw.Operate(on, x.at, x.relay())
	x.run()
	if m, why := x.rw.Mode(); on && m != transport.Operating {
		x.t.Fatal(m, why)
	}
}

func (x *talk) inject(i int, m string) {
	x.t.Helper()
	if err := x.rw.Send(dirs[i], transport.Outgoing{Bytes: []byte(m)}, x.at, x.relay()); err != nil {
		x.t.Fatal(err)
	}
	x.run()
}

func (x *talk) release(d transport.Decision) {
	x.t.Helper()
	id := x.held[0]
	x.held = x.held[1:]
	if err := x.rw.Release(id, d, x.at, x.relay()); err != nil {
		x.t.Fatal(err)
	}
	x.run()
}

func (x *talk) want(what string, i int, want ...string) {
	x.t.Helper()
	if !slices.Equal(x.got[i], want) {
		x.t.Errorf("%s: %v:\n got %x\nwant %x\n%v", what, dirs[i], x.got[i], want, x.notes)
	}
	x.got[i] = nil
}

func with(m string) transport.Decision {
	return transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte(m)}}
}

// TestRewriters holds all protocols to one contract: what a rewriter does with messages that pass, are held, changed, dropped and injected,
// from any point on, with ciphers in step, ends that close and more than fits.
func TestRewriters(t *testing.T) {
	for _, c := range contracts {
		t.Run(c.name, func(t *testing.T) {
			t.Run("pass", func(t *testing.T) {
				x, m := c.begin(t, 1, nil)
				late := len(m[0]) / 2
				for i := range x.ends {
					for n, s := range m[i] {
						if i == 0 && n == late { // in the middle of the conversation
							x.operate(true)
						}
						x.say(i, s)
					}
				}
				for i := range m {
					x.want("unchanged", i, m[i]...)
					if x.streams && !bytes.Equal(x.bytes[i][0], x.bytes[i][1]) {
						t.Error("the bytes are not as they came")
					}
				}
				x.operate(false)
				x.say(1, m[1][0])
				x.want("handed back", 1, m[1][0])
				if m, _ := x.rw.Mode(); x.streams && m != transport.Observing { // packets of SubSpace have acknowledgements of the rewriter
					t.Error(m)
				}
				if x.notes != nil {
					t.Error(x.notes)
				}
			})
			t.Run("hold, change, drop, inject", func(t *testing.T) {
				x, m := c.begin(t, 2, nil)
				a, b, z := m[0][0], m[0][1], m[0][2]
				x.operate(true)
				x.decide = func(dir int, s string) transport.Decision {
					switch {
					case dir == 0 && s == a:
						return transport.Decision{Action: transport.Hold}
					case dir == 0 && s == z:
						return with(b)
					case dir == 1 && s == m[1][0]:
						return transport.Decision{Action: transport.Drop}
					}
					return transport.Decision{}
				}
				x.say(0, a)
				x.say(0, b)
				x.say(1, m[1][0])
				x.say(1, m[1][1])
				x.want("behind a held one", 0)
				x.want("the other direction", 1, m[1][1])
				x.inject(0, b)
				x.want("injected before a held one", 0, b)
				x.inject(1, m[1][2])
				x.want("injected", 1, m[1][2])
				x.release(transport.Decision{})
				x.want("released", 0, a, b)
				x.say(0, z)
				x.say(0, b)
				x.want("changed", 0, b, b)
				x.say(0, a)
				x.say(0, a)
				x.release(with(b))
				x.want("changed when released, with one behind", 0, b)
				x.release(transport.Decision{Action: transport.Drop})
				x.say(0, b)
				x.want("dropped when released", 0, b)
				if n := x.rw.Waiting(schema.ToServer); n != 0 {
					t.Errorf("%d bytes wait", n)
				}
				x.decide = nil
				x.operate(false) // the legs differ, so it goes on
				for i := range m {
					for _, s := range m[i] {
						x.say(i, s)
					}
					x.want("afterwards", i, m[i]...)
				}
				if x.notes != nil {
					t.Error(x.notes)
				}
			})
			t.Run("from the first message on", func(t *testing.T) {
				hold := func(dir int, s string) transport.Decision {
					if dir == 0 {
						return transport.Decision{Action: transport.Hold}
					}
					return transport.Decision{}
				}
				x, m := c.begin(t, 6, hold)
				x.operate(true)
				for i := range m {
					for _, s := range m[i] {
						x.say(i, s)
					}
					for len(x.held) > 0 {
						x.release(transport.Decision{})
					}
					x.want("held from the start on", i, m[i]...)
				}
				if x.notes != nil {
					t.Error(x.notes)
				}
			})
			t.Run("inside a message", func(t *testing.T) {
				x, m := c.begin(t, 7, nil)
				if !x.streams {
					return // a datagram has whole messages
				}
				x.operate(true)
				if err := x.ends[0].Send(transport.Outgoing{Bytes: []byte(m[0][0])}, x.at, &transport.Relay{Out: func(s transport.Segment) {
					half := len(s.Bytes) / 2
					x.operate(false) // what has come of it is sent
					x.feed(0, bytes.Clone(s.Bytes[:half]), false)
					x.operate(true)
					x.inject(0, m[0][1])
					x.inject(1, m[1][0])
					x.want("inside another one", 0)
					x.want("beside another one", 1, m[1][0])
					x.feed(0, bytes.Clone(s.Bytes[half:]), false)
				}}); err != nil {
					t.Fatal(err)
				}
				x.run()
				x.want("behind it", 0, m[0][0], m[0][1])
				x.say(0, m[0][2])
				x.want("afterwards", 0, m[0][2])
				if x.notes != nil {
					t.Error(x.notes)
				}
			})
			t.Run("replay", func(t *testing.T) {
				x, m := c.begin(t, 3, nil)
				x.operate(true)
				for i := range m {
					for _, s := range m[i] {
						x.inject(i, s)
					}
					x.want("replayed", i, m[i]...)
				}
				if x.notes != nil {
					t.Error(x.notes)
				}
			})
			t.Run("close", func(t *testing.T) {
				x, m := c.begin(t, 4, nil)
				if !x.streams {
					return // datagrams have no end
				}
				x.operate(true)
				x.decide = func(dir int, s string) transport.Decision {
					if dir == 0 {
						return transport.Decision{Action: transport.Hold}
					}
					return transport.Decision{}
				}
				x.say(0, m[0][0])
				x.feed(0, nil, true)
				x.run()
				if x.over[0] {
					t.Error("the end has overtaken a held message")
				}
				x.say(1, m[1][0])
				x.want("from the other end", 1, m[1][0])
				x.release(transport.Decision{})
				x.want("before the end", 0, m[0][0])
				if !x.over[0] || x.over[1] {
					t.Errorf("ended: %v", x.over)
				}
				if err := x.rw.Send(schema.ToServer, transport.Outgoing{Bytes: []byte(m[0][0])}, x.at, x.relay()); err == nil {
					t.Error("a message is injected behind the end")
				}
			})
			t.Run("more than fits", func(t *testing.T) {
				x, m := c.begin(t, 5, nil)
				x.whole = true
				x.operate(true)
				held := false
				x.decide = func(dir int, s string) transport.Decision {
					if dir == 1 || held {
						return transport.Decision{}
					}
					held = true
					return transport.Decision{Action: transport.Hold}
				}
				long := slices.MaxFunc(m[0], func(a, b string) int { return len(a) - len(b) })
				var sent []string
				most := 0
				for range 12000 {
					if err := x.ends[0].Send(transport.Outgoing{Bytes: []byte(long)}, x.at, x.end(0)); err != nil {
						break // the other end does not acknowledge
					}
					sent = append(sent, long)
					for len(x.todo) > 0 {
						next := x.todo[0]
						x.todo = x.todo[1:]
						next()
					}
					most = max(most, x.rw.Waiting(schema.ToServer))
				}
				if most > 16*transport.WaitingEnough {
					t.Errorf("%d bytes wait", most)
				}
				if len(x.got[0]) < len(sent) && len(x.held) > 0 {
					if err := x.rw.Release(x.held[0], transport.Decision{}, x.at, x.relay()); err != nil && err != transport.ErrNotHeld {
						t.Error(err)
					}
				}
				x.run()
				x.want("in the end", 0, sent...)
			})
			t.Run("at random", func(t *testing.T) {
				for seed := range uint64(20) {
					x, m := c.begin(t, 100+seed, nil)
					operateAt := x.rng.IntN(20)
					var want [2][]string // what arrives, in order; that of a held message is settled when it is released
					waits := -1          // where the held one of direction 0 is in want
					x.decide = func(dir int, s string) transport.Decision {
						switch n := x.rng.IntN(10); {
						case n == 0:
							return transport.Decision{Action: transport.Drop}
						case n == 1 && dir == 0 && waits < 0:
							waits = len(want[0])
							want[0] = append(want[0], s)
							return transport.Decision{Action: transport.Hold}
						case n < 4:
							other := m[dir][x.rng.IntN(len(m[dir]))]
							want[dir] = append(want[dir], other)
							return with(other)
						}
						want[dir] = append(want[dir], s)
						return transport.Decision{}
					}
					decide := x.decide
					x.decide = nil
					release := func() {
						s := want[0][waits]
						waits = -1
						_ = s
						x.release(transport.Decision{})
					}
					for n := range 60 {
						if n == operateAt {
							x.decide = decide
							x.operate(true)
						}
						i := x.rng.IntN(2)
						s := m[i][x.rng.IntN(len(m[i]))]
						switch k := x.rng.IntN(8); {
						case k == 0 && n > operateAt:
							if i == 0 && waits >= 0 {
								want[0] = slices.Insert(want[0], waits, s)
								waits++
							} else {
								want[i] = append(want[i], s)
							}
							x.inject(i, s)
						case k == 1 && waits >= 0:
							release()
						default:
							if n < operateAt {
								want[i] = append(want[i], s)
							}
							x.say(i, s)
						}
					}
					if waits >= 0 {
						release()
					}
					for i := range want {
						x.want(fmt.Sprint("seed ", seed), i, want[i]...)
					}
					if x.notes != nil || t.Failed() {
						t.Fatal(seed, x.notes)
					}
				}
			})
		})
	}
}
