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

var at = time.Unix(1_700_000_000, 0)

// message returns a message whose body is a text.
func message(code uint16, body string) []byte {
	b := binary.LittleEndian.AppendUint16(nil, uint16(headerSize+len(body)))
	return append(binary.LittleEndian.AppendUint16(b, code), body...)
}

// messageRow returns several consecutive messages.
func messageRow(n int, code uint16, body string) (all []byte) {
	for i := range n {
		all = append(all, message(code+uint16(i), body)...)
	}
	return all
}

// script is the traffic of a connection, as segments in order. Its leg encrypts once both sides have sent their keys.
type script struct {
	segs []transport.Segment
	leg  *Session
	sent [3]int64
}

func (s *script) send(dir schema.Dir, data []byte) *script {
	data = bytes.Clone(data)
	if s.leg != nil {
		s.cipher(dir).XORKeyStream(data, data)
	}
	return s.raw(dir, data)
}

func (s *script) cipher(dir schema.Dir) *Cipher {
	if dir == schema.ToServer {
		return &s.leg.ToServer
	}
	return &s.leg.ToClient
}

func (s *script) raw(dir schema.Dir, data []byte) *script {
	s.segs = append(s.segs, transport.Segment{Dir: dir, At: at, Bytes: data, Start: s.sent[dir] == 0})
	s.sent[dir] += int64(len(data))
	return s
}

// lose sends bytes that are not captured.
func (s *script) lose(dir schema.Dir, data []byte) *script {
	s.send(dir, data)
	last := &s.segs[len(s.segs)-1]
	last.Lost, last.Bytes = int64(len(data)), nil
	return s
}

func (s *script) c2s(data []byte) *script { return s.send(schema.ToServer, data) }
func (s *script) s2c(data []byte) *script { return s.send(schema.ToClient, data) }

// shake performs the key exchange.
func (s *script) shake(c Constants) *script {
	rng := rand.New(rand.NewPCG(1, 2))
	k := &Keys{randomKey(rng), randomKey(rng), randomKey(rng), randomKey(rng)}
	s.s2c(magicBytes[:]).c2s(k.Client1[:]).s2c(k.Server1[:]).c2s(k.Client2[:]).s2c(k.Server2[:])
	s.leg = NewSession(k, c)
	return s
}

// told formats frames as lines. Long bytes are truncated.
type told struct{ strings.Builder }

func (b *told) emit(f *transport.Frame) {
	fmt.Fprintf(b, "%s %s %d", f.Dir, f.Kind, f.Offset)
	switch {
	case f.Kind == transport.Message:
		fmt.Fprintf(b, " %d %q", f.Key.Code, f.Bytes[headerSize:])
		if len(f.Bytes) != int(binary.LittleEndian.Uint16(f.Bytes)) || f.Key.Dir != f.Dir || !f.HasKey || f.Key.Code != uint32(binary.LittleEndian.Uint16(f.Bytes[2:])) {
			b.WriteString(" is wrong")
		}
	case len(f.Bytes) > 20:
		fmt.Fprintf(b, " %d bytes", len(f.Bytes))
	default:
		fmt.Fprintf(b, " %x", f.Bytes)
	}
	if f.Length != 0 {
		fmt.Fprintf(b, " missing %d", f.Length)
	}
	if f.Resumed {
		b.WriteString(" resumed")
	}
	if len(f.Via) > 0 {
		fmt.Fprintf(b, " via %s", f.Via)
	}
	if f.Note != "" {
		fmt.Fprintf(b, " (%s)", f.Note)
	}
	b.WriteByte('\n')
}

const shaken = `
s2c control 0 01000000 via [handshake] (start of an encrypted connection)
c2s control 0 128 bytes via [handshake] (first key of the client)
s2c control 4 128 bytes via [handshake] (first key of the server)
c2s control 128 128 bytes via [handshake] (second key of the client)
s2c control 132 128 bytes via [handshake] (second key of the server)
`

func TestPlaybook(t *testing.T) {
	known := Options{Definitions: knows(func(k schema.Key) bool { return k.Code >= 5000 && k.Code < 5100 })}
	noise := bytes.Repeat([]byte{0x5a, 0xc3, 0x91}, 40)
	for _, c := range []struct {
		name string
		o    Options
		s    *script
		want string
	}{
		{"nothing", Options{}, &script{}, ``},
		{"encrypted", Options{}, new(script).shake(CurrentConstants).c2s(message(19900, "v")).s2c(message(5000, "hello")).c2s(message(5001, "")), shaken + `
c2s message 256 19900 "v"
s2c message 260 5000 "hello"
c2s message 261 5001 ""
`},
		{"old constants", Options{}, new(script).shake(OldConstants).c2s(message(19900, "v")).s2c(message(5000, "hello")), shaken + `
c2s message 256 19900 "v"
s2c message 260 5000 "hello"
`},
		{"old constants, another first message", Options{}, new(script).shake(OldConstants).c2s(message(5001, "ab")).s2c(message(5000, "")).s2c(message(5002, "")), shaken + `
c2s message 256 5001 "ab"
s2c message 260 5000 ""
s2c message 264 5002 ""
`},
		{"constants that are told", Options{Constants: OldConstants}, new(script).shake(OldConstants).s2c(message(5000, "hello")[:6]), shaken + `
s2c problem 260 090088136865 (the stream ends inside a message, after 6 of its 9 bytes)
`},
		{"other cipher", Options{}, new(script).shake(CurrentConstants).raw(schema.ToServer, bytes.Repeat([]byte{0x99, 7}, 50)), shaken + `
c2s problem 256  (neither set of constants deciphers the data after the key exchange)
c2s opaque 256 100 bytes (neither set of constants deciphers the data after the key exchange)
`},
		{"the client is ahead of the second key of the server", Options{}, func() *script {
			s := new(script).shake(CurrentConstants)
			s.c2s(message(19900, "v"))
			n := len(s.segs)
			s.segs[n-1], s.segs[n-2] = s.segs[n-2], s.segs[n-1]
			return s
		}(), shaken + `
c2s message 256 19900 "v"
`},
		{"plain", Options{}, new(script).c2s(message(19900, "v")).s2c(message(19901, "w")).c2s(message(5000, "")), `
c2s message 0 19900 "v"
s2c message 0 19901 "w"
c2s message 5 5000 ""
`},
		{"plain, decided at the end", Options{}, new(script).c2s(message(5000, "v")).s2c(message(5001, "w")), `
c2s message 0 5000 "v"
s2c message 0 5001 "w"
`},
		{"plain in one direction", Options{}, new(script).c2s(message(5000, "v")).c2s(message(5001, "w")), `
c2s message 0 5000 "v"
c2s message 5 5001 "w"
`},
		{"opaque", Options{}, new(script).s2c([]byte("220 mail.example ESMTP\r\n")).c2s([]byte("EHLO x\r\n")), `
s2c opaque 0 24 bytes (these are not messages of TERA, or their key exchange is missing)
c2s opaque 0 45484c4f20780d0a (these are not messages of TERA, or their key exchange is missing)
`},
		{"one direction is opaque", Options{}, new(script).s2c(messageRow(3, 5000, "")).c2s([]byte{0, 0, 1, 2}), `
s2c opaque 0 040088130400891304008a13 (these are not messages of TERA, or their key exchange is missing)
c2s opaque 0 00000102 (these are not messages of TERA, or their key exchange is missing)
`},
		{"half a start of an encrypted connection", Options{}, new(script).s2c([]byte{1, 0}), `
s2c opaque 0 0100 (these are not messages of TERA, or their key exchange is missing)
`},
		{"the key exchange ends", Options{}, &script{segs: new(script).shake(CurrentConstants).segs[:3]}, `
s2c control 0 01000000 via [handshake] (start of an encrypted connection)
c2s control 0 128 bytes via [handshake] (first key of the client)
s2c control 4 128 bytes via [handshake] (first key of the server)
s2c problem 132  (the key exchange is incomplete)
`},
		{"a key is not captured", Options{}, func() *script {
			s := new(script)
			s.s2c(magicBytes[:]).c2s(noise[:100]).lose(schema.ToServer, noise[:28])
			return s.s2c(make([]byte, 128)).c2s(noise[:100])
		}(), `
s2c control 0 01000000 via [handshake] (start of an encrypted connection)
c2s problem 0 100 bytes (a part of the keys was not captured; 100 bytes of a key were received)
c2s problem 100  missing 28 (bytes of the stream are missing in the capture)
s2c opaque 4 128 bytes (a part of the keys was not captured)
c2s opaque 128 100 bytes (a part of the keys was not captured)
`},
		{"the client's start is not captured", Options{}, func() *script {
			s := new(script).s2c(magicBytes[:])
			s.sent[schema.ToServer] = 5
			return s.c2s(noise[:30])
		}(), `
s2c control 0 01000000 via [handshake] (start of an encrypted connection)
s2c problem 4  (the start of the stream was not captured, and the keys with it)
c2s opaque 0 30 bytes (the start of the stream was not captured, and the keys with it)
`},
		{"a length below that of the header, and no more", Options{}, new(script).shake(CurrentConstants).c2s(message(19900, "v")).c2s([]byte{3, 0, 1, 2, 3}), shaken + `
c2s message 256 19900 "v"
c2s problem 261 0300010203 (the length 3 is too small; 5 bytes not read; no message was found in them)
`},
		{"a wrong length is seen at once", Options{}, new(script).shake(CurrentConstants).c2s(message(19900, "v")).c2s([]byte{0}).c2s([]byte{0}).s2c(message(5000, "")), shaken + `
c2s message 256 19900 "v"
s2c message 260 5000 ""
c2s problem 261 0000 (the length 0 is too small; 2 bytes not read; no message was found in them)
`},
		{"a wrong length, and found again", known, new(script).shake(CurrentConstants).c2s(message(19900, "v")).c2s([]byte{2, 0, 9, 9}).c2s(messageRow(3, 5000, "abc")), shaken + `
c2s message 256 19900 "v"
c2s problem 261 02000909 (the length 2 is too small; 4 bytes not read; resumed at packet 8; the message fits)
c2s message 265 5000 "abc" resumed
c2s message 272 5001 "abc" resumed
c2s message 279 5002 "abc" resumed
`},
		{"a gap inside a message", Options{}, new(script).shake(CurrentConstants).c2s(message(19900, "v")).s2c(message(5000, "hello")[:5]).lose(schema.ToClient, []byte("el")).s2c([]byte("lo")).s2c(message(5001, "x")), shaken + `
c2s message 256 19900 "v"
s2c problem 260 0900881368 (the start of a message, 5 bytes: the rest is missing in the capture)
s2c problem 265  missing 2 (bytes of the stream are missing in the capture)
s2c problem 267 6c6f resumed (the end of a message, 2 bytes)
s2c message 269 5001 "x" resumed
`},
		{"a gap up to the end of a message", Options{}, new(script).shake(CurrentConstants).c2s(message(19900, "v")).s2c(message(5000, "hello")[:5]).lose(schema.ToClient, []byte("ello")).s2c(message(5001, "x")), shaken + `
c2s message 256 19900 "v"
s2c problem 260 0900881368 (the start of a message, 5 bytes: the rest is missing in the capture)
s2c problem 265  missing 4 (bytes of the stream are missing in the capture)
s2c message 269 5001 "x" resumed
`},
		{"two gaps inside a message", Options{}, new(script).shake(CurrentConstants).c2s(message(19900, "v")).s2c(message(5000, "hello")[:5]).lose(schema.ToClient, []byte("e")).s2c([]byte("l")).lose(schema.ToClient, []byte("l")).s2c([]byte("o")).s2c(message(5001, "x")), shaken + `
c2s message 256 19900 "v"
s2c problem 260 0900881368 (the start of a message, 5 bytes: the rest is missing in the capture)
s2c problem 265  missing 1 (bytes of the stream are missing in the capture)
s2c problem 266 6c resumed (the end of a message, 1 byte)
s2c problem 267  missing 1 (bytes of the stream are missing in the capture)
s2c problem 268 6f resumed (the end of a message, 1 byte)
s2c message 269 5001 "x" resumed
`},
		{"a gap over messages", known, new(script).shake(CurrentConstants).c2s(message(19900, "v")).s2c(message(5000, "hello")[:5]).lose(schema.ToClient, noise).s2c(noise[:50]).s2c(messageRow(4, 5050, "hello")), shaken + `
c2s message 256 19900 "v"
s2c problem 260 0900881368 (the start of a message, 5 bytes: the rest is missing in the capture)
s2c problem 265  missing 120 (bytes of the stream are missing in the capture)
s2c problem 385 50 bytes resumed (after missing bytes; 50 bytes not read; resumed at packet 10; the message fits)
s2c message 435 5050 "hello" resumed
s2c message 444 5051 "hello" resumed
s2c message 453 5052 "hello" resumed
s2c message 462 5053 "hello" resumed
`},
		{"a gap of unknown size", known, func() *script {
			s := new(script).shake(CurrentConstants).c2s(message(19900, "v")).lose(schema.ToServer, noise).c2s(message(5000, "a"))
			s.segs[len(s.segs)-2].Lost = transport.Unknown
			return s
		}(), shaken + `
c2s message 256 19900 "v"
c2s problem 261  missing -1 (bytes of the stream are missing in the capture; the position in the keystream is unknown after missing bytes)
c2s opaque 261 2c5c7ebc80 (the position in the keystream is unknown after missing bytes)
`},
		{"plain from the middle", known, func() *script {
			s := new(script)
			s.sent = [3]int64{1, 1, 1}
			return s.s2c(append(noise[:11:11], messageRow(5, 5000, "abcd")...)).c2s(append([]byte("q"), messageRow(4, 5010, "")...))
		}(), `
s2c problem 0 5ac3915ac3915ac3915ac3 resumed (the capture begins inside the stream; 11 bytes not read; resumed at packet 1; 2 messages in a row fit)
s2c message 11 5000 "abcd" resumed
s2c message 19 5001 "abcd" resumed
s2c message 27 5002 "abcd" resumed
s2c message 35 5003 "abcd" resumed
s2c message 43 5004 "abcd" resumed
c2s problem 0 71 resumed (the capture begins inside the stream; 1 byte not read; resumed at packet 2; the message fits)
c2s message 1 5010 "" resumed
c2s message 5 5011 "" resumed
c2s message 9 5012 "" resumed
c2s message 13 5013 "" resumed
`},
		{"plain from the middle, codes without names", Options{}, func() *script {
			s := new(script)
			s.sent = [3]int64{1, 1, 1}
			return s.s2c(append(noise[:11:11], bytes.Repeat(message(40000, "abcd"), 8)...))
		}(), `
s2c problem 0 5ac3915ac3915ac3915ac3 resumed (the capture begins inside the stream; 11 bytes not read; resumed at packet 1; 4 messages in a row fit)
s2c message 11 40000 "abcd" resumed
` + func() (more string) {
			for i := 1; i < 8; i++ {
				more += fmt.Sprintf("s2c message %d 40000 \"abcd\" resumed\n", 11+8*i)
			}
			return more
		}()},
		{"the end inside a message", Options{}, new(script).shake(CurrentConstants).c2s(message(19900, "v")).c2s(message(5000, "hello")[:6]), shaken + `
c2s message 256 19900 "v"
c2s problem 261 090088136865 (the stream ends inside a message, after 6 of its 9 bytes)
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got told
			tr := New(c.o)
			for i, s := range c.s.segs {
				s.Packet = uint32(i + 1)
				tr.Feed(s, got.emit)
			}
			tr.Flush(at, got.emit)
			want := strings.ReplaceAll(strings.TrimPrefix(c.want, "\n"), "\n\n", "\n")
			if got.String() != want {
				t.Errorf("got\n%swant\n%s", got.String(), want)
			}
		})
	}
}

// An idle time in the middle of a message is reported, and the message is still emitted.
func TestFlushInTheMiddle(t *testing.T) {
	s := new(script).shake(CurrentConstants).c2s(message(19900, "v")).c2s(message(5000, "hello")[:6]).c2s([]byte("lo")).c2s([]byte("!"))
	s.segs[len(s.segs)-1].Bytes = nil
	s.segs[len(s.segs)-1].End = true
	var got told
	tr := New(Options{})
	for i, seg := range s.segs {
		tr.Feed(seg, got.emit)
		if i >= 6 {
			tr.Flush(at, got.emit)
			tr.Flush(at, got.emit)
		}
	}
	tr.Feed(transport.Segment{Dir: schema.ToServer, Bytes: []byte("after the end")}, got.emit)
	tr.Flush(at, got.emit)
	const want = shaken + `
c2s message 256 19900 "v"
c2s problem 261 090088136865 (the stream ends inside a message, after 6 of its 9 bytes)
c2s problem 261 0900881368656c6f (the stream ends inside a message, after 8 of its 9 bytes)
`
	if trim(want) != got.String() {
		t.Errorf("got\n%swant\n%s", got.String(), trim(want))
	}
}

func trim(s string) string {
	return strings.ReplaceAll(strings.TrimPrefix(s, "\n"), "\n\n", "\n")
}

// sealed returns a client message with the long header.
func sealed(iv, count uint32, code uint16, body string) []byte {
	b := message(code, "cnt sum "+body)
	Seal(iv, count, b)
	return b
}

func TestLongHeader(t *testing.T) {
	const iv = 0xdeadbeef
	o := Options{IntegrityIV: func(key schema.Key, data []byte) (uint32, bool) {
		return binary.LittleEndian.Uint32(data[4:]), key.Code == 7000 && key.Dir == schema.ToClient
	}}
	tell := func(o Options, s *script) (marks string) {
		tr := New(o)
		for _, seg := range s.segs {
			tr.Feed(seg, func(f *transport.Frame) {
				if f.Kind != transport.Message || f.Dir != schema.ToServer {
					return
				}
				if len(f.Via) == 1 && f.Via[0] == ViaIntegrity {
					marks += "i"
				} else {
					marks += "-"
				}
			})
		}
		return marks
	}
	begin := func() *script { return new(script).shake(CurrentConstants).c2s(message(19900, "v")) }
	login := message(7000, string(binary.LittleEndian.AppendUint32(nil, iv)))
	wrong := sealed(iv, 2, 5000, "abc")
	wrong[9] ^= 1
	for _, c := range []struct {
		name string
		o    Options
		s    *script
		want string
	}{
		{"counts run by code", o, begin().s2c(login).c2s(sealed(iv, 1, 5000, "")).c2s(sealed(iv, 2, 5000, "xyz")).c2s(sealed(iv, 1, 5001, "")), "-iii"},
		{"short header between", o, begin().s2c(login).c2s(sealed(iv, 1, 5000, "")).c2s(message(5000, "")).c2s(sealed(iv, 2, 5000, "")).c2s(message(5000, "123456789012345")), "-i-i-"},
		{"before the iv has come", o, begin().c2s(sealed(iv, 1, 5000, "")).s2c(login).c2s(sealed(iv, 2, 5000, "")), "--i"},
		{"wrong checksum", o, begin().s2c(login).c2s(sealed(iv, 1, 5000, "")).c2s(wrong).c2s(sealed(iv, 3, 5000, "")), "-i-i"},
		{"wrong count", o, begin().s2c(login).c2s(sealed(iv, 2, 5000, "")).c2s(sealed(iv, 9, 5000, "")), "---"},
		{"a higher count after a gap", o, begin().s2c(login).c2s(sealed(iv, 1, 5000, "")).c2s(sealed(iv, 2, 5000, "")[:6]).lose(schema.ToServer, sealed(iv, 2, 5000, "")[6:]).c2s(sealed(iv, 3, 5000, "")).c2s(sealed(iv, 3, 5000, "")).c2s(sealed(iv, 4, 5000, "")), "-ii-i"},
		{"checksum 0", o, begin().c2s(message(5000, "\x01\x00\x00\x00\x00\x00\x00\x00")), "--"},
		{"checksum 0 of patch 92", Options{ZeroChecksum: true}, begin().c2s(message(5000, "\x01\x00\x00\x00\x00\x00\x00\x00")).c2s(message(5000, "\x02\x00\x00\x00\x00\x00\x00\x01")), "-i-"},
		{"nobody asks", Options{}, begin().s2c(login).c2s(sealed(iv, 1, 5000, "")), "--"},
	} {
		if got := tell(c.o, c.s); got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
}

// A proxy shows messages without delay: a few of them in each direction suffice to classify a connection.
func TestDecisionsComeEarly(t *testing.T) {
	for _, c := range []struct {
		name string
		s    *script
		want int
	}{
		{"plain", new(script).c2s(messageRow(3, 5000, "some text")).s2c(messageRow(3, 5010, "some text")), 6},
		{"encrypted", new(script).shake(CurrentConstants).c2s(message(19900, "v")), 1},
		{"encrypted, old constants, another first message", new(script).shake(OldConstants).s2c(messageRow(3, 5000, "some text")), 3},
	} {
		n := 0
		tr := New(Options{})
		for _, seg := range c.s.segs {
			tr.Feed(seg, func(f *transport.Frame) {
				if f.Kind == transport.Message {
					n++
				}
			})
		}
		if n != c.want {
			t.Errorf("%s: %d messages without Flush, not %d", c.name, n, c.want)
		}
	}
}
