package tera

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// end is a client or a server: it encrypts sent data and deciphers received data, with a session of its own.
type end struct {
	session  Session
	got      []byte // deciphered, after the key exchange
	raw      int    // bytes of the key exchange still to be received
	over     bool
	messages []string
}

// leg is the environment of a rewriter under test.
type leg struct {
	t              testing.TB
	rng            *rand.Rand
	rw             *Rewriter
	relay          transport.Relay
	client, server end
	frames         []string
	sent           [2][]byte // input of the rewriter
	out            [2][]byte // output of the rewriter
	at             time.Time
}

const testIV = 0xC0FFEE11

func newLeg(t testing.TB, seed uint64, o Options) *leg {
	o.IntegrityIV = func(_ schema.Key, m []byte) (uint32, bool) {
		if binary.LittleEndian.Uint16(m[2:]) == 5555 && len(m) == 8 {
			return binary.LittleEndian.Uint32(m[4:]), true
		}
		return 0, false
	}
	l := &leg{t: t, rng: rand.New(rand.NewPCG(seed, 7)), rw: NewRewriter(o), at: time.Unix(1_700_000_000, 0)}
	l.relay.Emit = func(f *transport.Frame) {
		l.frames = append(l.frames, fmt.Sprintf("%s %s %x %s", f.Kind, f.Dir, f.Bytes, f.Note))
	}
	l.relay.Out = func(s transport.Segment) {
		i, e, c := 0, &l.server, &l.server.session.ToServer
		if s.Dir == schema.ToClient {
			i, e, c = 1, &l.client, &l.client.session.ToClient
		}
		l.out[i] = append(l.out[i], s.Bytes...)
		if e.over && (len(s.Bytes) > 0 || s.End) {
			t.Fatal("bytes behind the end")
		}
		e.over = e.over || s.End
		data := s.Bytes
		n := min(e.raw, len(data))
		e.raw -= n
		data = append([]byte(nil), data[n:]...)
		c.XORKeyStream(data, data)
		e.got = append(e.got, data...)
		for len(e.got) >= 2 {
			size := int(binary.LittleEndian.Uint16(e.got))
			if size < 4 || len(e.got) < size {
				break
			}
			e.messages = append(e.messages, string(e.got[:size]))
			e.got = e.got[size:]
		}
	}
	return l
}

// feed passes bytes of one end to the rewriter, split anywhere.
func (l *leg) feed(dir schema.Dir, data []byte) {
	i := 0
	if dir == schema.ToClient {
		i = 1
	}
	for len(data) > 0 {
		n := min(len(data), 1+l.rng.IntN(300))
		s := transport.Segment{Dir: dir, At: l.at, Bytes: append([]byte(nil), data[:n]...), Start: len(l.sent[i]) == 0}
		l.sent[i] = append(l.sent[i], data[:n]...)
		l.rw.Feed(s, &l.relay)
		for k := range s.Bytes {
			s.Bytes[k] = 0xEE // they may be reused
		}
		data = data[n:]
	}
}

// shake performs the key exchange.
func (l *leg) shake(c Constants) {
	k := new(Keys)
	for _, key := range []*[KeySize]byte{&k.Client1, &k.Client2, &k.Server1, &k.Server2} {
		*key = randomKey(l.rng)
	}
	s := NewSession(k, c)
	l.client, l.server = end{session: *s, raw: 4 + 2*KeySize}, end{session: *s, raw: 2 * KeySize}
	l.feed(schema.ToClient, magicBytes[:])
	l.feed(schema.ToServer, k.Client1[:])
	l.feed(schema.ToClient, k.Server1[:])
	l.feed(schema.ToServer, k.Client2[:])
	l.feed(schema.ToClient, k.Server2[:])
}

// say sends a message of an end.
func (l *leg) say(dir schema.Dir, m string) {
	data := []byte(m)
	if dir == schema.ToClient {
		l.server.session.ToClient.XORKeyStream(data, data)
	} else {
		l.client.session.ToServer.XORKeyStream(data, data)
	}
	l.feed(dir, data)
}

func (l *leg) send(dir schema.Dir, m string) {
	l.t.Helper()
	if err := l.rw.Send(dir, transport.Outgoing{Bytes: []byte(m)}, l.at, &l.relay); err != nil {
		l.t.Fatal(err)
	}
}

func (l *leg) mode(want transport.RewriteMode) {
	l.t.Helper()
	if m, why := l.rw.Mode(); m != want {
		l.t.Fatalf("mode %s (%s), want %s", m, why, want)
	}
}

func same(t testing.TB, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if g, w := entryOf(got, i), entryOf(want, i); g != w {
			t.Fatalf("%s: message %d of %d: %x, want %x (of %d)", what, i, len(got), g, w, len(want))
		}
	}
}

func entryOf(l []string, i int) string {
	if i < len(l) {
		return l[i]
	}
	return "none"
}

func text(code uint16, body string) string { return string(message(code, body)) }

func TestRewritePlaybook(t *testing.T) {
	l := newLeg(t, 1, Options{})
	l.rw.Operate(true, l.at, &l.relay)
	l.shake(CurrentConstants)
	l.mode(transport.Wanted)
	var held []uint64
	l.relay.Decide = func(id uint64, f *transport.Frame) transport.Decision {
		switch code := uint16(f.Key.Code); {
		case bytes.Contains(f.Bytes, []byte("secret")):
			return transport.Decision{Action: transport.Drop}
		case bytes.Contains(f.Bytes, []byte("wait")):
			held = append(held, id)
			return transport.Decision{Action: transport.Hold}
		case bytes.Contains(f.Bytes, []byte("small")):
			return transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte(text(code, "a good deal larger"))}}
		case bytes.Contains(f.Bytes, []byte("wrong")):
			return transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte("x")}}
		}
		return transport.Decision{}
	}
	hello := text(checkVersionCode, "small version")
	l.say(schema.ToServer, hello)
	l.mode(transport.Operating)
	l.say(schema.ToServer, text(2, "secret"))
	l.say(schema.ToServer, text(3, "wrong"))
	l.say(schema.ToClient, text(5, "answer"))
	l.say(schema.ToServer, text(4, "wait 1"))
	l.say(schema.ToServer, text(5, "behind"))
	l.say(schema.ToServer, text(6, "wait 2"))
	l.say(schema.ToClient, text(7, "not behind"))
	l.send(schema.ToServer, text(8, "before those that are held"))
	l.send(schema.ToClient, text(9, "to the client"))
	want := []string{text(checkVersionCode, "a good deal larger"), text(3, "wrong"), text(8, "before those that are held")}
	same(t, "at the server", l.server.messages, want)
	same(t, "at the client", l.client.messages, []string{text(5, "answer"), text(7, "not behind"), text(9, "to the client")})
	if n := l.rw.Waiting(schema.ToServer); n == 0 {
		t.Error("nothing waits")
	}

	release := func(id uint64, d transport.Decision, want string) {
		t.Helper()
		if err := l.rw.Release(id, d, l.at, &l.relay); fmt.Sprint(err) != want {
			t.Errorf("Release: %v, want %s", err, want)
		}
	}
	release(99, transport.Decision{}, "no longer held: it was decided already, or its connection has ended")
	release(held[0], transport.Decision{Action: transport.Hold}, "<nil>")
	bad := transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: make([]byte, 70000)}}
	release(held[0], bad, "a message of 70000 bytes: it must have 4 to 65535")
	good := transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte("\xff\xff\x04\x00changed")}}
	release(held[0], good, "<nil>")
	release(held[0], good, "no longer held: it was decided already, or its connection has ended")
	want = append(want, text(4, "changed"), text(5, "behind"))
	same(t, "at the server", l.server.messages, want)
	l.rw.Feed(transport.Segment{Dir: schema.ToServer, At: l.at, End: true}, &l.relay)
	if l.server.over {
		t.Error("the end overtakes what is held")
	}
	release(held[1], transport.Decision{Action: transport.Drop}, "<nil>")
	same(t, "at the server", l.server.messages, want)
	if !l.server.over {
		t.Error("no end")
	}
	if n := l.rw.Waiting(schema.ToServer); n != 0 {
		t.Errorf("%d bytes wait for nothing", n)
	}
	l.rw.Operate(false, l.at, &l.relay) // changes made so far persist
	l.mode(transport.Operating)
	l.say(schema.ToClient, text(4, "wait is not asked for"))
	same(t, "at the client", l.client.messages[3:], []string{text(4, "wait is not asked for")})
	if err := l.rw.Send(schema.ToServer, transport.Outgoing{Bytes: []byte(text(1, ""))}, l.at, &l.relay); err != transport.ErrClosed {
		t.Errorf("Send behind the end: %v", err)
	}
	if !strings.Contains(strings.Join(l.frames, "\n"), "the message was not replaced: a message of 1 bytes") {
		t.Error("nothing is said of the replacement that is no message")
	}
}

// TestRewriteWithoutDecisions passes everything byte by byte, including unreadable data.
func TestRewriteWithoutDecisions(t *testing.T) {
	for seed := range uint64(60) {
		l := newLeg(t, seed, Options{Constants: Constants(seed % 3)})
		when := l.rng.IntN(40)
		if when == 0 {
			l.rw.Operate(true, l.at, &l.relay)
		}
		l.shake([]Constants{CurrentConstants, CurrentConstants, OldConstants}[seed%3])
		l.say(schema.ToServer, text(checkVersionCode, "x"))
		want := [2][]string{{text(checkVersionCode, "x")}}
		for i := range 40 {
			if i == when {
				l.rw.Operate(true, l.at, &l.relay)
			}
			if l.rng.IntN(10) == 0 && i > when {
				l.rw.Operate(l.rng.IntN(2) == 0, l.at, &l.relay)
			}
			d := l.rng.IntN(2)
			m := string(randomMessage(l.rng))
			want[d] = append(want[d], m)
			l.say([]schema.Dir{schema.ToServer, schema.ToClient}[d], m)
		}
		same(t, "at the server", l.server.messages, want[0])
		same(t, "at the client", l.client.messages, want[1])
		for i := range l.sent {
			if !bytes.Equal(l.sent[i], l.out[i]) {
				t.Fatalf("seed %d: the bytes of way %d are not as they came", seed, i)
			}
		}
		if seed%2 == 0 {
			l.rw.Operate(true, l.at, &l.relay)
			l.say(schema.ToServer, "\x01\x00 a length that cannot be, and bytes that are no messages")
			l.rw.Flush(l.at, &l.relay)
			if !bytes.Equal(l.sent[0], l.out[0]) {
				t.Fatalf("seed %d: bytes that are no messages do not pass", seed)
			}
		}
	}
}

// TestRewriteAtRandom makes random decisions, and compares the messages that both ends receive with them.
func TestRewriteAtRandom(t *testing.T) {
	for seed := range uint64(150) {
		l := newLeg(t, seed, Options{})
		when := l.rng.IntN(30)
		if seed%3 == 0 {
			when = -1
			l.rw.Operate(true, l.at, &l.relay)
		}
		l.shake(CurrentConstants)
		// Expected output: per direction a row of decided texts, "" for messages held so far.
		type slot struct {
			text string
			held uint64
			gone bool
		}
		var rows [2][]*slot
		var held []*slot
		decide := func(f *transport.Frame, s *slot, kinds int) transport.Decision {
			switch l.rng.IntN(kinds) {
			case 0:
				s.gone = true
				return transport.Decision{Action: transport.Drop}
			case 1:
				s.text = text(uint16(f.Key.Code), strings.Repeat("z", l.rng.IntN(700)))
				return transport.Decision{Action: transport.Replace, With: transport.Outgoing{Bytes: []byte(s.text)}}
			}
			return transport.Decision{}
		}
		wayOf := func(d schema.Dir) int {
			if d == schema.ToClient {
				return 1
			}
			return 0
		}
		l.relay.Decide = func(id uint64, f *transport.Frame) transport.Decision {
			s := &slot{text: string(f.Bytes)}
			rows[wayOf(f.Dir)] = append(rows[wayOf(f.Dir)], s)
			if l.rng.IntN(8) == 0 {
				s.held = id
				held = append(held, s)
				return transport.Decision{Action: transport.Hold}
			}
			return decide(f, s, 6)
		}
		plain := [2][]string{}
		asked := false
		say := func(d int, m string) {
			before := len(rows[d])
			l.say([]schema.Dir{schema.ToServer, schema.ToClient}[d], m)
			if len(rows[d]) == before { // it began before the rewriter took over
				if asked && before > 0 {
					t.Fatalf("seed %d: a message was not asked about", seed)
				}
				plain[d] = append(plain[d], m)
			}
		}
		say(0, text(checkVersionCode, "x"))
		for i := range 60 {
			if i == when {
				l.rw.Operate(true, l.at, &l.relay)
			}
			asked = asked || i > when
			d := l.rng.IntN(2)
			say(d, string(randomMessage(l.rng)))
			if m, _ := l.rw.Mode(); m == transport.Operating && l.rng.IntN(6) == 0 {
				d := l.rng.IntN(2)
				own := text(uint16(1000+i), "own")
				at := len(rows[d])
				for k, s := range rows[d] {
					if s.held != 0 {
						at = k
						break
					}
				}
				rows[d] = append(rows[d][:at:at], append([]*slot{{text: own}}, rows[d][at:]...)...)
				l.send([]schema.Dir{schema.ToServer, schema.ToClient}[d], own)
			}
			for len(held) > 0 && (l.rng.IntN(4) == 0 || i == 59) {
				k := l.rng.IntN(len(held))
				s := held[k]
				held = append(held[:k], held[k+1:]...)
				f := transport.Frame{Key: schema.Key{Code: uint32(binary.LittleEndian.Uint16([]byte(s.text)[2:]))}}
				if err := l.rw.Release(s.held, decide(&f, s, 3), l.at, &l.relay); err != nil {
					t.Fatal(err)
				}
				s.held = 0
			}
		}
		for d, e := range []*end{&l.server, &l.client} {
			want := plain[d]
			for _, s := range rows[d] {
				if !s.gone {
					want = append(want, s.text)
				}
			}
			same(t, fmt.Sprintf("seed %d, way %d", seed, d), e.messages, want)
		}
		if len(plain[0]) == 1 && len(plain[1]) == 0 && len(plain[0][0]) == 5 {
			continue // the first bytes of the first message passed in pieces before the cipher was known
		}
		if seed%3 == 0 && len(plain[0])+len(plain[1]) > 0 {
			t.Fatalf("seed %d: %d messages were not asked about, though it was wanted from the start", seed, len(plain[0])+len(plain[1]))
		}
	}
}

// TestRewriteBehindAGap takes over a connection that was observed with a gap: if its size is known, so are the positions in the keystreams;
// otherwise the connection cannot be rewritten.
func TestRewriteBehindAGap(t *testing.T) {
	for _, known := range []bool{true, false} {
		l := newLeg(t, 5, Options{})
		l.shake(CurrentConstants)
		l.say(schema.ToServer, text(checkVersionCode, "x"))
		unseen := []byte(text(700, "relayed, and not observed"))
		l.client.session.ToServer.XORKeyStream(unseen, unseen)
		l.relay.Out(transport.Segment{Dir: schema.ToServer, Bytes: unseen})
		lost := int64(len(unseen))
		if !known {
			lost = transport.Unknown
		}
		l.rw.Feed(transport.Segment{Dir: schema.ToServer, At: l.at, Lost: lost}, &l.relay)
		l.rw.Operate(true, l.at, &l.relay)
		if !known {
			l.mode(transport.Impossible)
			before := len(l.out[0])
			l.say(schema.ToServer, text(701, "passes"))
			if len(l.out[0]) == before {
				t.Error("nothing passes any more")
			}
			continue
		}
		l.mode(transport.Operating)
		asked := 0
		l.relay.Decide = func(_ uint64, f *transport.Frame) (d transport.Decision) {
			asked++
			d.Action, d.With.Bytes = transport.Replace, message(uint16(f.Key.Code), "asked about")
			return d
		}
		for range 20 {
			l.say(schema.ToServer, text(701, "again"))
		}
		if n := len(l.server.messages); n != 22 || asked == 0 || l.server.messages[n-1] != text(701, "asked about") {
			t.Errorf("%d messages came, %d were asked about", n, asked)
		}
	}
}

// TestRewriteHalfClosed takes over after one end has closed its direction.
func TestRewriteHalfClosed(t *testing.T) {
	l := newLeg(t, 6, Options{})
	l.shake(OldConstants)
	l.say(schema.ToServer, text(checkVersionCode, "x"))
	l.rw.Feed(transport.Segment{Dir: schema.ToServer, At: l.at, End: true}, &l.relay)
	l.rw.Operate(true, l.at, &l.relay)
	l.mode(transport.Operating)
	l.send(schema.ToClient, text(1, "own"))
	l.say(schema.ToClient, text(2, "behind it"))
	same(t, "at the client", l.client.messages, []string{text(1, "own"), text(2, "behind it")})
	if err := l.rw.Send(schema.ToServer, transport.Outgoing{Bytes: []byte(text(1, ""))}, l.at, &l.relay); err != transport.ErrClosed {
		t.Errorf("Send: %v", err)
	}
}

// TestRewriteStripped rewrites a connection whose key exchange was never on the wire.
func TestRewriteStripped(t *testing.T) {
	keys := new(Keys)
	keys.Client1[0], keys.Server2[3] = 7, 8
	l := newLeg(t, 6, Options{Keys: keys})
	s := NewSession(keys, CurrentConstants)
	l.client, l.server = end{session: *s}, end{session: *s}
	l.rw.Operate(true, l.at, &l.relay)
	l.say(schema.ToServer, text(checkVersionCode, "version"))
	for range 20 {
		l.say(schema.ToClient, text(2, "answer"))
	}
	l.mode(transport.Operating)
	l.send(schema.ToClient, text(1, "own"))
	l.say(schema.ToClient, text(3, "behind it"))
	same(t, "at the client", l.client.messages[20:], []string{text(1, "own"), text(3, "behind it")})
}

// TestRewriteLongHeaders lets the server verify counts and checksums after drops, injected messages and waiting ones.
func TestRewriteLongHeaders(t *testing.T) {
	for seed := range uint64(40) {
		l := newLeg(t, seed, Options{})
		l.shake(CurrentConstants)
		l.say(schema.ToServer, text(checkVersionCode, "x"))
		var counts Counts
		say := func(code uint16, body string) {
			l.say(schema.ToServer, string(sealed(testIV, counts.Next(code), code, body)))
		}
		l.say(schema.ToClient, text(5555, string(binary.LittleEndian.AppendUint32(nil, testIV))))
		for i := range 5 {
			say(uint16(700+i%2), "before")
		}
		l.rw.Operate(true, l.at, &l.relay)
		var held []uint64
		l.relay.Decide = func(id uint64, f *transport.Frame) (d transport.Decision) {
			switch l.rng.IntN(6) {
			case 0:
				d.Action = transport.Drop
			case 1:
				held = append(held, id)
				d.Action = transport.Hold
			case 2: // the same code, another, or no room for the header
				d.Action, d.With.Bytes = transport.Replace, sealed(1, 2, uint16(700+l.rng.IntN(3)), "other")
				switch l.rng.IntN(4) {
				case 0:
					d.With.Bytes = message(uint16(f.Key.Code), "short")
				case 1: // both headers: its code determines the right one
					d.With.Bytes, d.With.Alternate = message(uint16(f.Key.Code), "both"), sealed(1, 2, uint16(f.Key.Code), "both")
				}
			}
			return d
		}
		odd := sealed(testIV+1, 2, 705, "of a wrong checksum")
		for i := range 80 {
			say(uint16(700+l.rng.IntN(3)), fmt.Sprint("body ", i))
			if i == 40 {
				l.rw.Operate(false, l.at, &l.relay)
				say(705, "right")
				counts.Next(705)
				l.say(schema.ToServer, string(odd))
				l.rw.Operate(true, l.at, &l.relay)
			}
			if l.rng.IntN(5) == 0 {
				l.send(schema.ToServer, string(sealed(9, 9, uint16(700+l.rng.IntN(2)), "own")))
			}
			if len(held) > 0 && l.rng.IntN(3) == 0 {
				k := l.rng.IntN(len(held))
				d := transport.Decision{Action: []transport.Action{transport.Pass, transport.Drop}[l.rng.IntN(2)]}
				if err := l.rw.Release(held[k], d, l.at, &l.relay); err != nil {
					t.Fatal(err)
				}
				held = append(held[:k], held[k+1:]...)
			}
		}
		var server Counts
		n := 0
		for i, m := range l.server.messages {
			code := binary.LittleEndian.Uint16([]byte(m[2:]))
			if m == string(odd) {
				odd = nil
				continue
			}
			if code == checkVersionCode || strings.HasSuffix(m, "short") {
				continue
			}
			n++
			count := server.Next(code)
			if got := binary.LittleEndian.Uint32([]byte(m[4:])); got != count {
				t.Fatalf("seed %d: message %d of code %d has count %d, want %d", seed, i, code, got, count)
			}
			if got, want := binary.LittleEndian.Uint32([]byte(m[8:])), Checksum(testIV, []byte(m)); got != want {
				t.Fatalf("seed %d: message %d has checksum %x, want %x", seed, i, got, want)
			}
		}
		if odd != nil && len(held) == 0 {
			t.Fatalf("seed %d: a message that was not right does not pass as it is", seed)
		}
		if n < 20 {
			t.Fatalf("seed %d: %d messages came", seed, n)
		}
	}
}

// TestRewriteBounds holds the first of very many messages: the waiting data is bounded, and nothing is lost.
func TestRewriteBounds(t *testing.T) {
	l := newLeg(t, 3, Options{})
	l.shake(CurrentConstants)
	l.say(schema.ToServer, text(checkVersionCode, "x"))
	l.rw.Operate(true, l.at, &l.relay)
	l.relay.Emit = nil
	l.relay.Decide = func(uint64, *transport.Frame) transport.Decision { return transport.Decision{Action: transport.Hold} }
	m := text(1, strings.Repeat("m", 60000))
	row := []byte(strings.Repeat(m, 400))
	l.client.session.ToServer.XORKeyStream(row, row)
	l.rw.Feed(transport.Segment{Dir: schema.ToServer, At: l.at, Bytes: row}, &l.relay)
	n := l.rw.Waiting(schema.ToServer)
	if n > 9<<20 || n < transport.WaitingEnough {
		t.Errorf("%d bytes wait", n)
	}
	if got := len(l.server.messages) - 1 + n/len(m); got < 390 || got > 400 {
		t.Errorf("%d messages are sent or wait", got)
	}
}

func FuzzRewriter(f *testing.F) {
	f.Add([]byte("\x01\x02\x03"), uint64(1))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rw := NewRewriter(Options{ZeroChecksum: seed&1 == 0, Constants: Constants(seed >> 1 % 3)})
		var ids []uint64
		r := &transport.Relay{
			Emit: func(f *transport.Frame) { _ = f.Kind.String() },
			Out:  func(transport.Segment) {},
			Decide: func(id uint64, _ *transport.Frame) transport.Decision {
				d := transport.Decision{Action: transport.Action(rng.IntN(4)), With: transport.Outgoing{Bytes: data, Raw: rng.IntN(2) == 0}}
				if d.Action == transport.Hold {
					ids = append(ids, id)
				}
				return d
			},
		}
		at := time.Unix(1, 0)
		if seed&8 != 0 { // after a key exchange
			var zero [KeySize]byte
			for i, part := range [][]byte{magicBytes[:], zero[:], zero[:], zero[:], zero[:]} {
				rw.Feed(transport.Segment{Dir: []schema.Dir{schema.ToClient, schema.ToServer}[i%2], At: at, Bytes: part, Start: i < 2}, r)
			}
		}
		for i := 0; len(data) > 0; i++ {
			n := min(len(data), 1+rng.IntN(40))
			dir := []schema.Dir{schema.ToServer, schema.ToClient}[rng.IntN(2)]
			rw.Feed(transport.Segment{Dir: dir, At: at, Bytes: data[:n], Start: i < 2, End: rng.IntN(50) == 0, Lost: int64(max(0, rng.IntN(60)-58))}, r)
			data = data[n:]
			switch rng.IntN(5) {
			case 0:
				rw.Operate(rng.IntN(3) > 0, at, r)
			case 1:
				_ = rw.Send(dir, transport.Outgoing{Bytes: data, Raw: rng.IntN(2) == 0}, at, r)
			case 2:
				if len(ids) > 0 {
					_ = rw.Release(ids[rng.IntN(len(ids))], transport.Decision{Action: transport.Action(rng.IntN(4))}, at, r)
				}
			case 3:
				if rng.IntN(4) == 0 {
					rw.Flush(at, r)
				}
			}
		}
	})
}

func BenchmarkRewriter(b *testing.B) {
	l := newLeg(b, 1, Options{})
	l.relay.Emit, l.relay.Out = nil, func(transport.Segment) {}
	l.rw.Operate(true, l.at, &l.relay)
	l.shake(CurrentConstants)
	l.say(schema.ToServer, text(checkVersionCode, "x"))
	l.mode(transport.Operating)
	row := []byte(strings.Repeat(text(700, strings.Repeat("b", 60)), 20))
	data := make([]byte, len(row))
	b.SetBytes(int64(len(row)))
	b.ReportAllocs()
	for b.Loop() {
		l.client.session.ToServer.XORKeyStream(data, row)
		l.rw.Feed(transport.Segment{Dir: schema.ToServer, At: l.at, Bytes: data}, &l.relay)
	}
}
