package servertest

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"html"
	"io/fs"
	"math"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"slices"
	"testing"
	"time"

	"wirebench/cmd/wirebench/demo/regatta"
	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/codec/transport/tera"
	"wirebench/defs/library"
	"wirebench/defs/schema"
	"wirebench/web/docs"
)

// Conversation begins a connection in a capture, and returns its start time.
func Conversation(t testing.TB, out *bytes.Buffer) (*pcap.Synthetic, time.Time) {
	t.Helper()
	w, err := pcap.NewWriter(out, "test")
	if err != nil {
		t.Fatal(err)
	}
	iface, err := w.Interface(pcap.Interface{Link: packet.LinkEthernet})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	s := pcap.NewSynthetic(w, iface, transport.Conn{Proto: transport.TCP, Client: netip.MustParseAddrPort("10.0.0.2:4000"), Server: netip.MustParseAddrPort("10.0.0.1:7801")})
	if err := s.Open(at); err != nil {
		t.Fatal(err)
	}
	return s, at
}

var ChatFiles = map[string]string{"C_SAY.1.def": "string text\n", "protocol.1.map": "C_SAY 4097\n"}

// Chat returns a capture of plain TERA messages: C_SAY with a counting text every ten milliseconds, and at each fifth place a
// message of the server without a definition.
func Chat(t testing.TB, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	s, at := Conversation(t, &out)
	for i := range n {
		msg := []byte{0, 0, 0x01, 0x10, 6, 0}
		for _, c := range fmt.Sprintf("text %d", i) {
			msg = append(msg, byte(c), 0)
		}
		msg = append(msg, 0, 0)
		binary.LittleEndian.PutUint16(msg, uint16(len(msg)))
		dir := schema.ToServer
		if i%5 == 4 {
			dir = schema.ToClient
			binary.LittleEndian.PutUint16(msg[2:], 0x7777)
		}
		if err := s.Data(dir, at.Add(time.Duration(i)*10*time.Millisecond), msg, ""); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// Lossy returns a capture of 20 messages C_SAY. 24 bytes are missing after the first ten, and the client ends the connection.
func Lossy(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	s, at := Conversation(t, &out)
	for i := range 20 {
		if i == 10 {
			s.Lost(schema.ToServer, 24)
		}
		if err := s.Data(schema.ToServer, at.Add(time.Duration(i)*time.Millisecond), []byte{12, 0, 0x01, 0x10, 6, 0, 'a', 0, 'b', 0, 0, 0}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(schema.ToServer, at.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var NumberFiles = map[string]string{"C_LEVEL.1.def": "int32 level\nfloat share\n", "protocol.1.map": "C_LEVEL 4097\n"}

// Numbers returns a capture of n messages whose level grows by one.
func Numbers(t testing.TB, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	s, at := Conversation(t, &out)
	for i := range n {
		msg := binary.LittleEndian.AppendUint16([]byte{12, 0}, 4097)
		msg = binary.LittleEndian.AppendUint32(msg, uint32(i))
		msg = binary.LittleEndian.AppendUint32(msg, math.Float32bits(float32(math.Sin(float64(i)/5))))
		if err := s.Data(schema.ToServer, at.Add(time.Duration(i)*10*time.Millisecond), msg, ""); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

const HitText = "uint32 id\nuint32 kind\nstring text\n"

// Hits returns a capture of n messages of code 4097, with two numbers and a text; each bad-th has four bytes more.
func Hits(t testing.TB, n, bad int) []byte {
	t.Helper()
	var out bytes.Buffer
	s, at := Conversation(t, &out)
	for i := range n {
		msg := binary.LittleEndian.AppendUint16([]byte{0, 0, 0x01, 0x10}, 14)
		msg = binary.LittleEndian.AppendUint32(msg, uint32(i))
		msg = binary.LittleEndian.AppendUint32(msg, uint32(i%3))
		for _, c := range fmt.Sprintf("t%d", i%10) {
			msg = append(msg, byte(c), 0)
		}
		msg = append(msg, 0, 0)
		if i%bad == bad-1 {
			msg = append(msg, 1, 2, 3, 4)
		}
		binary.LittleEndian.PutUint16(msg, uint16(len(msg)))
		if err := s.Data(schema.ToServer, at.Add(time.Duration(i)*time.Millisecond), msg, ""); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

var MillionFiles = map[string]string{
	"C_SAY.1.def": "string text\nint32 gold\n", "S_MOVE.1.def": "int32 x\nint32 gold\nint32 z\nfloat w\nint32 a\nint32 b\n",
	"protocol.1.map": "C_SAY 4097\nS_MOVE 4098\n",
}

// Million returns a capture of n small messages in eight connections of a server; two thirds have a number and a text.
func Million(t testing.TB, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := pcap.NewWriter(&out, "test")
	if err != nil {
		t.Fatal(err)
	}
	iface, err := w.Interface(pcap.Interface{Link: packet.LinkEthernet})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	var conns []*pcap.Synthetic
	for i := range 8 {
		s := pcap.NewSynthetic(w, iface, transport.Conn{Proto: transport.TCP, Client: netip.AddrPortFrom(netip.MustParseAddr("10.0.0.2"), uint16(4000+i)), Server: netip.MustParseAddrPort("10.0.0.1:7801")})
		if err := s.Open(at); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, s)
	}
	say := []byte("\x00\x00\x01\x10\x0a\x00gold" + "L\x00a\x00n\x00n\x00\x00\x00")
	move := make([]byte, 4+6*4)
	binary.LittleEndian.PutUint16(move[2:], 0x1002)
	for i := range n {
		msg, dir := say, schema.ToServer
		if i%3 == 2 {
			msg, dir = move, schema.ToClient
		}
		binary.LittleEndian.PutUint16(msg, uint16(len(msg)))
		binary.LittleEndian.PutUint32(msg[6:], uint32(i))
		if err := conns[i/3%8].Data(dir, at.Add(time.Duration(i)*time.Millisecond), msg, ""); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// Checked returns a capture that begins with the version check of a client.
func Checked(t testing.TB, build uint32) []byte {
	t.Helper()
	var out bytes.Buffer
	s, at := Conversation(t, &out)
	check := binary.LittleEndian.AppendUint32([]byte{20, 0, 0xbc, 0x4d, 1, 0, 8, 0, 8, 0, 0, 0, 0, 0, 0, 0}, build)
	for i, message := range [][]byte{check, {6, 0, 1, 0, 1, 0}, {6, 0, 1, 0, 2, 0}} {
		if err := s.Data(schema.ToServer, at.Add(time.Duration(i)*time.Second), message, ""); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

const SayAndPing = "group: clmsg\n\npacket: say\n   __group = clmsg\n   text    = char {1, 300}\n\npacket: ping\n   __group = clmsg\n"

// Follow shows a conversation: say "hi", three pings, say "hello", all from the client.
const Follow = "00000000  01 02 00 68 69 02 02 02  01 05 00 68 65 6c        ...hi... ...hel\n0000000e  6c 6f                                             lo\n"

const TwoWays = "00000000  01 02 00 68                                       ...h\n    00000000  02 02                                             ..\n"

const PingText = "group: clmsg\n\npacket: say\n   __group = clmsg\n   text    = char {1, 300}\n\ngroup: svmsg\n\npacket: said\n   __group = svmsg\n   n       = uint32\n"

const JoinText = "string channel_name # where\nuint16 password\n"

const SubspaceText = `0x06 chat (c2s)
offset size comment
0      1    type 0x06
1      1    u8 kind (arena = 0, public = 2)
2      1    u8 sound
3      2    i16 target
5      ?    cstr text

0x07 chat (s2c)
offset size comment
0      1    type 0x07
1      1    u8 kind
2      1    u8 sound
3      2    i16 from
5      ?    cstr text
`

// ProtoDef returns the ProtoDef definition that ships with the program.
func ProtoDef(t *testing.T) string {
	t.Helper()
	fsys, _ := library.Dialect("protodef")
	text, err := fs.ReadFile(fsys, "harbor.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// RegattaText returns a text of the manual's page about a protocol of one's own, by the language of its block.
func RegattaText(t *testing.T, language string) string {
	t.Helper()
	page, _ := docs.Find("protocol")
	m := regexp.MustCompile(`(?s)<code class="language-` + language + `">(.*?)</code>`).FindStringSubmatch(page.HTML)
	if m == nil {
		t.Fatalf("the manual has no block of %s", language)
	}
	return html.UnescapeString(m[1])
}

// Regatta is a capture of the protocol of the manual, without compression and ciphers.
func Regatta(t testing.TB, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	s, at := Conversation(t, &out)
	send := func(dir schema.Dir, code byte, body []byte) {
		at = at.Add(10 * time.Millisecond)
		frame := slices.Concat([]byte{0, 0, byte(4 + len(body)), code}, body)
		if err := s.Data(dir, at, frame, ""); err != nil {
			t.Fatal(err)
		}
	}
	send(schema.ToServer, regatta.Login, append(regatta.Text("ann"), 0xde, 0xad, 0xbe, 0xef))
	send(schema.ToClient, regatta.Welcome, append(regatta.Text("Bounty"), 0, 0, 0, 7))
	for i := range n {
		text := regatta.Text(fmt.Sprintf("text %d", i))
		send(schema.ToServer, regatta.Say, text)
		send(schema.ToClient, regatta.Heard, slices.Concat([]byte{0, 0, 0, 7}, text))
	}
	return out.Bytes()
}

// Ciphered is a capture of an encrypted session, with the deciphered payloads by packet number.
type Ciphered struct {
	File  []byte
	Clear map[uint32]string
}

func (c *Ciphered) record(t *testing.T, tcp bool, add func(send func(toServer bool, payload, clear []byte))) {
	t.Helper()
	var out bytes.Buffer
	w, err := pcap.NewWriter(&out, "test")
	if err != nil {
		t.Fatal(err)
	}
	iface, err := w.Interface(pcap.Interface{Link: packet.LinkEthernet})
	if err != nil {
		t.Fatal(err)
	}
	about := transport.Conn{Proto: transport.UDP, Client: netip.MustParseAddrPort("10.0.0.2:40000"), Server: netip.MustParseAddrPort("10.0.0.1:5000")}
	if tcp {
		about.Proto, about.Server = transport.TCP, netip.MustParseAddrPort("10.0.0.1:7801")
	}
	conn := pcap.NewSynthetic(w, iface, about)
	if err := conn.Open(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	c.Clear = map[uint32]string{}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	type sent struct{ payload, clear []byte }
	var all []sent
	add(func(toServer bool, payload, clear []byte) {
		at = at.Add(50 * time.Millisecond)
		dir := schema.ToClient
		if toServer {
			dir = schema.ToServer
		}
		if err := conn.Data(dir, at, payload, ""); err != nil {
			t.Fatal(err)
		}
		all = append(all, sent{payload, clear})
	})
	c.File = out.Bytes()
	in, err := pcap.NewReader(bytes.NewReader(c.File))
	if err != nil {
		t.Fatal(err)
	}
	for {
		p, err := in.Next()
		if err != nil {
			break
		}
		if off, size, ok := p.Payload(); ok && size > 0 {
			if got := p.Data[off : off+size]; len(all) > 0 && bytes.Equal(got, all[0].payload) {
				c.Clear[p.N] = hex.EncodeToString(all[0].clear)
				all = all[1:]
			}
		}
	}
	if len(all) > 0 {
		t.Fatalf("%d payloads are not in the file", len(all))
	}
}

// SubspaceSession returns a session with the VIE cipher: a handshake, then reliable packets.
func SubspaceSession(t *testing.T) *Ciphered {
	const client, server = 0x10203040, 0xefdfcfc0 // the negation selects the cipher
	ours, theirs := subspace.NewCipher(server, subspace.Signed), subspace.NewCipher(server, subspace.Signed)
	out := &Ciphered{}
	out.record(t, false, func(send func(bool, []byte, []byte)) {
		send(true, []byte{0, 1, 0x40, 0x30, 0x20, 0x10, 1, 0}, nil)
		send(false, []byte{0, 2, 0xc0, 0xcf, 0xdf, 0xef}, nil)
		for i := range byte(8) {
			plain := []byte{0, 3, i, 0, 0, 0, 0x7a, 'h', 'e', 'l', 'l', 'o', i, 0}
			sealed := make([]byte, len(plain))
			ours.Encrypt(sealed, plain)
			send(true, sealed, plain)
			ack := []byte{0, 4, i, 0, 0, 0}
			sealed = make([]byte, len(ack))
			theirs.Encrypt(sealed, ack)
			send(false, sealed, ack)
		}
	})
	return out
}

// TeraSession returns a session in which each message came in two packets.
func TeraSession(t *testing.T) *Ciphered {
	var k tera.Keys
	for i := range tera.KeySize {
		k.Client1[i], k.Client2[i], k.Server1[i], k.Server2[i] = byte(i), byte(3*i), byte(5*i+1), byte(7*i+2)
	}
	s := tera.NewSession(&k, tera.CurrentConstants)
	out := &Ciphered{}
	out.record(t, true, func(send func(bool, []byte, []byte)) {
		send(false, []byte{1, 0, 0, 0}, nil)
		send(true, k.Client1[:], nil)
		send(false, k.Server1[:], nil)
		send(true, k.Client2[:], nil)
		send(false, k.Server2[:], nil)
		for i := range byte(10) {
			plain := []byte{12, 0, 1, 0x10, 6, 0, 'a' + i, 0, 'b', 0, 0, 0}
			sealed := make([]byte, len(plain))
			s.ToServer.XORKeyStream(sealed, plain)
			send(true, sealed[:5], plain[:5])
			send(true, sealed[5:], plain[5:])
			answer := []byte{6, 0, 1, 0x20, i, 0}
			sealed = make([]byte, len(answer))
			s.ToClient.XORKeyStream(sealed, answer)
			send(false, sealed, answer)
		}
	})
	return out
}

// SizedFiles are a game whose envelope has no size of code 7, whose messages have 12 bytes in the capture of Sized.
func SizedFiles() map[string]string {
	return map[string]string{
		"game.def":          "group: clmsg\n\npacket: first\n   __group = clmsg\n   a       = uint8\n   b       = uint16\n\npacket: second\n   __group = clmsg\n   a       = uint64\n",
		"protocol.envelope": "frame codes u8\n  1 = 4\n  2 = 9\ncode u8\n",
	}
}

// Sized is a capture of SizedFiles.
func Sized(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	conn, at := Conversation(t, &out)
	rng := rand.New(rand.NewPCG(7, 12))
	for i := range 400 {
		code, size := byte(1+i%2), 4+5*(i%2)
		if i%20 == 19 {
			code, size = 7, 12
		}
		message := make([]byte, size)
		for k := range message {
			message[k] = byte(rng.Uint32())
		}
		message[0] = code
		if err := conn.Data(schema.ToServer, at.Add(time.Duration(i)*time.Second), message, ""); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}
