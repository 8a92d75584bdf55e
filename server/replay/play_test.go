package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/codec/value"
	"wirebench/defs/schema"
	"wirebench/server/replay"
	"wirebench/server/workspace"
)

// game is an invented game of one protocol: a login with a challenge that contains a token and a number.
type game struct {
	dialect string
	how     protocols.Ends
	patch   int
	names   [6]string // login, challenge, auth, welcome, ping, pong
	files   fstest.MapFS
}

func file(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

var (
	teraFiles = fstest.MapFS{
		"C_LOGIN.1.def": file("string name\n"), "S_CHALLENGE.1.def": file("uint32 token\nuint32 seq\n"),
		"C_AUTH.1.def": file("uint32 token\nuint32 next\n"), "S_WELCOME.1.def": file("uint32 token\nuint32 level\nuint32 time\n"),
		"S_PING.1.def": file("uint32 n\n"), "C_PONG.1.def": file("uint32 n\n"),
		"protocol.1.map": file("C_LOGIN 19900\nS_CHALLENGE 5001\nC_AUTH 5002\nS_WELCOME 5003\nS_PING 5004\nC_PONG 5005\n"),
	}
	teraNames = [6]string{"C_LOGIN", "S_CHALLENGE", "C_AUTH", "S_WELCOME", "S_PING", "C_PONG"}
	mutaNames = [6]string{"clmsg/login", "svmsg/challenge", "clmsg/auth", "svmsg/welcome", "svmsg/ping", "clmsg/pong"}
	zoneNames = [6]string{"game/c2s_login", "game/s2c_challenge", "game/c2s_auth", "game/s2c_welcome", "game/s2c_ping", "game/c2s_pong"}
	games     = map[string]*game{
		"tera":       {dialect: "tera", names: teraNames, files: teraFiles},
		"tera old":   {dialect: "tera", names: teraNames, files: teraFiles, patch: 2700},
		"tera plain": {dialect: "tera", names: teraNames, files: teraFiles, how: protocols.Ends{Plain: true}},
		"muta": {dialect: "muta", names: mutaNames, files: fstest.MapFS{"game.def": file(`group: clmsg
group: svmsg
packet: login
   __group = clmsg
   name    = char {1, 32}
packet: auth
   __group = clmsg
   token   = uint32
   next    = uint32
packet: pong
   __group = clmsg
   n       = uint32
packet: challenge
   __group = svmsg
   token   = uint32
   seq     = uint32
packet: welcome
   __group = svmsg
   token   = uint32
   level   = uint32
   time    = uint32
packet: ping
   __group = svmsg
   n       = uint32
`)}},
		"subspace":       {dialect: "subspace", names: zoneNames, files: zoneFiles},
		"subspace plain": {dialect: "subspace", names: zoneNames, files: zoneFiles, how: protocols.Ends{Plain: true}},
	}
	zoneFiles = fstest.MapFS{"game.def": file(`direction c2s

0x09 c2s login
offset size comment
1      16   text name

0x0A c2s auth
offset size comment
1      4    u32 token
5      4    u32 next

0x0B c2s pong
offset size comment
1      4    u32 n

direction s2c

0x09 s2c challenge
offset size comment
1      4    u32 token
5      4    u32 seq

0x0A s2c welcome
offset size comment
1      4    u32 token
5      4    u32 level
9      4    u32 time

0x0B s2c ping
offset size comment
1      4    u32 n
`)}
)

type world struct {
	*game
	t    testing.TB
	snap *workspace.Snapshot
	env  *protocols.Env
}

func newWorld(t testing.TB, g *game) *world {
	t.Helper()
	lib, err := workspace.ReadFS(g.files)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := workspace.Build(lib, workspace.Settings{Dialect: g.dialect})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range snap.Diagnostics() {
		t.Log(d)
	}
	return &world{game: g, t: t, snap: snap, env: &protocols.Env{Definitions: snap, Options: map[string]string{"patch": strconv.Itoa(g.patch / 100)}}}
}

// short returns the name of a message without its group.
func (w *world) short(i int) string {
	_, name, ok := strings.Cut(w.names[i], "/")
	if !ok {
		return w.names[i]
	}
	return name
}

func (w *world) streams() bool { return w.dialect != "subspace" }

func (w *world) wire(link replay.Link, sends schema.Dir) *replay.Wire {
	w.t.Helper()
	how := w.how
	how.Random = rand.NewChaCha8([32]byte{byte(sends)})
	p, _ := protocols.Of(w.dialect)
	end, err := p.End(w.env, sends, 1, how)
	if err != nil {
		w.t.Fatal(err)
	}
	return replay.NewWire(link, end, !w.streams())
}

// pair returns the wires of a client and a server over loopback.
func (w *world) pair() (client, server *replay.Wire) {
	w.t.Helper()
	if !w.streams() {
		pc, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			w.t.Fatal(err)
		}
		c, err := net.Dial("udp", pc.LocalAddr().String())
		if err != nil {
			w.t.Fatal(err)
		}
		server = w.wire(&replay.Server{PacketConn: pc}, schema.ToClient)
		client = w.wire(c, schema.ToServer)
	} else {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			w.t.Fatal(err)
		}
		defer ln.Close()
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			w.t.Fatal(err)
		}
		s, err := ln.Accept()
		if err != nil {
			w.t.Fatal(err)
		}
		server, client = w.wire(s, schema.ToClient), w.wire(c, schema.ToServer)
	}
	w.t.Cleanup(func() {
		var both sync.WaitGroup
		both.Go(func() { client.Close() })
		both.Go(func() { server.Close() })
		both.Wait()
	})
	return client, server
}

func (w *world) encode(name string, value string) []byte {
	m, err := w.snap.Find(name)
	if err != nil {
		panic(err)
	}
	e, err := w.snap.Encoder(m, nil, codec.Session{})
	if err != nil {
		panic(err)
	}
	data, problems := e.Encode([]byte(value))
	if len(problems) > 0 {
		panic(fmt.Sprint(name, value, problems))
	}
	return bytes.Clone(data)
}

// decode returns the short name and the values of a message.
func (w *world) decode(m replay.Message) (string, map[string]any) {
	def := w.snap.Schema().Lookup(m.Key)
	if def == nil {
		return "?", nil
	}
	p, err := w.snap.Program(def)
	if err != nil {
		return "?", nil
	}
	var rec codec.Record
	p.Decode(&rec, m.Bytes)
	var v map[string]any
	_ = json.Unmarshal(value.AppendJSON(nil, &rec), &v)
	return def.Name, v
}

// server is a server that plays until its client is gone.
type server struct {
	token, seq, level uint32
	ping              bool // before all other messages
	silent            bool // does not answer an auth
	extra             int  // number of superfluous welcomes
}

func (s server) run(w *world, wire *replay.Wire) (wrong []string) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	defer wire.Close()
	say := func(i int, value string) {
		if err := wire.Send(ctx, transport.Outgoing{Bytes: w.encode(w.names[i], value)}); err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	for {
		m, err := wire.Receive(ctx)
		if err != nil {
			return wrong
		}
		name, v := w.decode(m)
		switch name {
		case w.short(0):
			if s.ping {
				say(4, `{"n":77777}`)
			}
			say(1, fmt.Sprintf(`{"token":%d,"seq":%d}`, s.token, s.seq))
		case w.short(2):
			if v["token"] != float64(s.token) || v["next"] != float64(s.seq+1) {
				wrong = append(wrong, fmt.Sprint("auth ", v))
			}
			if s.silent {
				continue
			}
			for range 1 + s.extra {
				say(3, fmt.Sprintf(`{"token":%d,"level":%d,"time":%d}`, s.token, s.level, time.Now().UnixMilli()&0xffffff))
			}
		case w.short(5):
			if v["n"] != float64(77777) {
				wrong = append(wrong, fmt.Sprint("pong ", v))
			}
		}
	}
}

// tap is a Peer that records its messages.
type tap struct {
	replay.Peer
	w     *world
	own   schema.Dir
	key   func(schema.Dir, []byte) (schema.Key, bool)
	heard []replay.Message
}

func (p *tap) Send(ctx context.Context, o transport.Outgoing) error {
	k, ok := p.key(p.own, o.Bytes)
	k.Dir = p.own
	p.heard = append(p.heard, replay.Message{Kind: transport.Message, Dir: p.own, At: time.Now(), Key: k, HasKey: ok, Bytes: bytes.Clone(o.Bytes)})
	return p.Peer.Send(ctx, o)
}

func (p *tap) Receive(ctx context.Context) (replay.Message, error) {
	m, err := p.Peer.Receive(ctx)
	if err == nil {
		p.heard = append(p.heard, m)
	}
	return m, err
}

// login returns the script of a client.
func (w *world) login() *replay.Script {
	s, err := replay.ParseScript([]byte(fmt.Sprintf(`{"version": 1, "play": "client", "steps": [
		{"send": {"message": %q, "value": {"name": "Lann"}}},
		{"expect": {"message": %q, "match": "%s.token > 0", "lift": {"token": "token", "seq": "%s.seq"}}},
		{"send": {"message": %q, "value": {"token": 0, "next": 0}, "set": {"token": "$token", "next": "$seq+1"}, "after": "2ms"}},
		{"expect": {"message": %q, "match": ".token == $token"}}
	]}`, w.names[0], w.names[1], w.short(1), w.short(1), w.names[2], w.names[3])))
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) options() replay.Options {
	return replay.Options{Definitions: w.snap, Schema: w.snap.Schema(), MaxTime: time.Minute}
}

// run plays a script as the client of a server.
func (w *world) run(s *replay.Script, o replay.Options, srv server) (*replay.Report, []replay.Message, []string) {
	w.t.Helper()
	client, end := w.pair()
	done := make(chan []string, 1)
	go func() { done <- srv.run(w, end) }()
	p := &tap{Peer: client, w: w, own: schema.ToServer, key: w.env.Key()}
	rep, err := replay.Run(w.t.Context(), s, p, o)
	if err != nil {
		w.t.Fatal(err)
	}
	client.Close()
	if !w.streams() {
		// A goodbye datagram does not close the socket: the server closes its own.
		end.Close()
	}
	return rep, p.heard, <-done
}

func show(t testing.TB, rep *replay.Report) {
	t.Helper()
	text, _ := json.MarshalIndent(rep, "", " ")
	t.Logf("%s", text)
}

func TestRecordAndReplay(t *testing.T) {
	for name, g := range games {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, g)
			rep, heard, wrong := w.run(w.login(), w.options(), server{token: 123456789, seq: 987654, level: 7})
			if !rep.OK || len(wrong) > 0 || len(heard) != 4 {
				show(t, rep)
				t.Fatalf("the conversation to be recorded: %v, %d messages", wrong, len(heard))
			}
			made, err := replay.FromFrames(heard, replay.FromOptions{Definitions: w.snap, Protocol: g.dialect, Play: schema.ToServer})
			if err != nil {
				t.Fatal(err)
			}
			text, err := made.Encode()
			if err != nil {
				t.Fatal(err)
			}
			s, err := replay.ParseScript(text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if len(s.Lifts) != 2 {
				t.Errorf("lifts %+v", s.Lifts)
			}
			s.Ignore = []string{"*.time"}

			// The same server, then one with other tokens: no differences.
			for _, srv := range []server{{token: 123456789, seq: 987654, level: 7}, {token: 444444444, seq: 5555555, level: 7}} {
				rep, _, wrong = w.run(s, w.options(), srv)
				if !rep.OK || len(wrong) > 0 || rep.Sent != 2 || rep.Matched != 2 {
					show(t, rep)
					t.Fatalf("replay: %v\n%s", wrong, text)
				}
			}

			// Another level is a difference in one field, and none in shape.
			rep, _, _ = w.run(s, w.options(), server{token: 123456789, seq: 987654, level: 8})
			last := rep.Results[len(rep.Results)-1]
			if rep.OK || rep.Different != 1 || len(last.Diffs) != 1 || last.Diffs[0] != (replay.Difference{Path: "level", Expected: "7", Got: "8"}) {
				show(t, rep)
				t.Fatal("a changed field")
			}
			o := w.options()
			o.Tolerance = replay.Shape
			if rep, _, _ = w.run(s, o, server{token: 123456789, seq: 987654, level: 8}); !rep.OK {
				show(t, rep)
				t.Fatal("a changed field is not a difference in shape")
			}
			if rep, _, _ = w.run(s, w.options(), server{token: 1234567, seq: 987654, level: 7, extra: 1}); rep.Unexpected > 1 || !rep.OK {
				show(t, rep)
				t.Fatal("one message more")
			}
		})
	}
}

// The server side, for a live client.
func TestPlayServer(t *testing.T) {
	for name, g := range games {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, g)
			_, heard, _ := w.run(w.login(), w.options(), server{token: 123456789, seq: 987654, level: 7})
			s, err := replay.FromFrames(heard, replay.FromOptions{Definitions: w.snap, Play: schema.ToClient})
			if err != nil {
				t.Fatal(err)
			}
			client, end := w.pair()
			live := make(chan *replay.Report, 1)
			go func() {
				rep, err := replay.Run(context.Background(), w.login(), client, w.options())
				if err != nil {
					t.Error(err)
				}
				live <- rep
				client.Close()
			}()
			rep, err := replay.Run(t.Context(), s, end, w.options())
			if err != nil {
				t.Fatal(err)
			}
			other := <-live
			if !rep.OK || rep.Play != "server" || rep.Matched != 2 || rep.Sent != 2 || !other.OK {
				show(t, rep)
				show(t, other)
			}
			if !rep.OK || !other.OK {
				t.Fatal("not as recorded")
			}
		})
	}
}

func TestMissing(t *testing.T) {
	w := newWorld(t, games["muta"])
	s := w.login()
	s.Steps[3].Expect.Within = replay.Duration(30 * time.Millisecond)
	rep, _, _ := w.run(s, w.options(), server{token: 123456789, seq: 987654, silent: true})
	if rep.OK || rep.Missing != 1 || rep.Stopped == "" || rep.Results[3].Status != replay.Missing {
		show(t, rep)
		t.Fatal("a missing message")
	}
	s.Steps[3].Expect.Optional = true
	rep, _, _ = w.run(s, w.options(), server{token: 123456789, seq: 987654, silent: true})
	if !rep.OK || rep.Results[3].Status != replay.Absent {
		show(t, rep)
		t.Fatal("an optional one")
	}
}

func TestKeepaliveAnswers(t *testing.T) {
	w := newWorld(t, games["tera"])
	s := w.login()
	s.Keepalive = []replay.Keepalive{{On: "S_PING", Lift: map[string]string{"n": "n"}, Send: replay.Send{Message: "C_PONG", Set: map[string]string{"n": "$n"}}}}
	rep, _, wrong := w.run(s, w.options(), server{token: 123456789, seq: 987654, ping: true})
	if !rep.OK || rep.Keepalive != 1 || len(wrong) > 0 || rep.Unexpected != 0 {
		show(t, rep)
		t.Fatal(wrong)
	}
	s.Keepalive, s.Ignore = nil, []string{"S_PING"}
	if rep, _, _ = w.run(s, w.options(), server{token: 123456789, seq: 987654, ping: true}); rep.Ignored != 1 || rep.Unexpected != 0 {
		show(t, rep)
		t.Fatal("ignored")
	}
}

func TestLoops(t *testing.T) {
	w := newWorld(t, games["subspace"])
	inner := w.login().Steps
	s := &replay.Script{Version: 1, Steps: []replay.Step{{Repeat: &replay.Repeat{Times: 50, Count: "i", Steps: inner}}}}
	rep, _, wrong := w.run(s, w.options(), server{token: 123456789, seq: 987654, level: 7})
	if !rep.OK || len(wrong) > 0 || rep.Sent != 100 || rep.Matched != 100 || rep.Results[199].Step != "1.4#50" || string(rep.Vars["i"]) != "49" {
		show(t, rep)
		t.Fatal(wrong)
	}
}

func TestStopped(t *testing.T) {
	w := newWorld(t, games["muta"])
	before := runtime.NumGoroutine()
	client, end := w.pair()
	ctx, stop := context.WithCancel(t.Context())
	o := w.options()
	o.Progress = func(replay.Result) { stop() } // after the first step
	s := w.login()
	s.Steps = append(s.Steps[:1:1], replay.Step{Pause: replay.Duration(time.Hour)}, s.Steps[2])
	rep, err := replay.Run(ctx, s, client, o)
	if err != nil || rep.OK || rep.Stopped == "" || rep.Sent != 1 {
		t.Fatal(rep, err)
	}
	client.Close()
	end.Close()
	for i := 0; runtime.NumGoroutine() > before && i < 1000; i++ {
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
	if err := client.Send(t.Context(), transport.Outgoing{Bytes: []byte{1}}); err == nil {
		t.Error("a closed connection sends")
	}
	if _, err := client.Receive(t.Context()); err == nil {
		t.Error("a closed connection receives")
	}
}

// A server that does not take part in the key exchange.
func TestNotEncrypted(t *testing.T) {
	w := newWorld(t, games["tera"])
	a, b := net.Pipe()
	client := w.wire(a, schema.ToServer)
	go func() { _, _ = b.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }()
	rep, err := replay.Run(t.Context(), w.login(), client, w.options())
	if err != nil || rep.OK || !strings.Contains(rep.Stopped, "key exchange") {
		t.Fatal(rep, err)
	}
	client.Close()
	b.Close()
}

// A run ends at its time limit, whatever the script waits for, and waits are scaled by the speed.
func TestTime(t *testing.T) {
	w := newWorld(t, games["muta"])
	s := &replay.Script{Version: 1, Steps: []replay.Step{{Pause: replay.Duration(time.Hour)}}}
	o := w.options()
	o.MaxTime = 20 * time.Millisecond
	rep, err := replay.Run(t.Context(), s, &echo{left: 0}, o)
	if err != nil || rep.OK || !strings.Contains(rep.Stopped, "20ms") {
		t.Error(rep, err)
	}
	o = w.options()
	o.Speed = replay.MaxSpeed
	if rep, err = replay.Run(t.Context(), s, &echo{left: 0}, o); err != nil || !rep.OK || rep.Took > replay.Duration(time.Minute) {
		t.Error(rep, err)
	}
}

// An unread message ends the wait, without further effect.
func TestPeerEnds(t *testing.T) {
	w := newWorld(t, games["muta"])
	client, end := w.pair()
	end.Close()
	rep, err := replay.Run(t.Context(), &replay.Script{Version: 1, Steps: []replay.Step{{Expect: &replay.Expect{Match: "len > 0"}}}}, client, w.options())
	if err != nil || rep.OK || rep.Missing != 1 || !strings.Contains(rep.Stopped, "closed the connection") {
		t.Error(rep, err)
	}
}
