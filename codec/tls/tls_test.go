package tls_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wirebench/codec/packet"
	"wirebench/codec/packettest"
	"wirebench/codec/pcap"
	secrets "wirebench/codec/tls"
	"wirebench/codec/transport"
	"wirebench/codec/transport/tera"
	"wirebench/codec/transport/transporttest"
	"wirebench/defs/schema"
)

// chunk is what an end sends at once: bytes of TCP, or of the application.
type chunk struct {
	dir  schema.Dir
	data []byte
}

// recorder records what both ends of a connection send, in order.
type recorder struct {
	mu     sync.Mutex
	chunks []chunk
}

// recorded is an end of a connection whose writes are recorded, and never wait for the other end to read.
type recorded struct {
	net.Conn // an end of net.Pipe, for its deadlines and addresses
	to       *recorder
	dir      schema.Dir
	out, in  chan []byte
	rest     *[]byte
}

func (c recorded) Write(p []byte) (int, error) {
	c.to.mu.Lock()
	defer c.to.mu.Unlock()
	c.to.chunks = append(c.to.chunks, chunk{c.dir, slices.Clone(p)})
	c.out <- slices.Clone(p)
	return len(p), nil
}

func (c recorded) Read(p []byte) (int, error) {
	if len(*c.rest) == 0 {
		*c.rest = <-c.in
	}
	n := copy(p, *c.rest)
	*c.rest = (*c.rest)[n:]
	return n, nil
}

// ends returns both ends of a connection.
func (r *recorder) ends() (client, server recorded) {
	a, b := net.Pipe()
	up, down := make(chan []byte, 1000), make(chan []byte, 1000)
	return recorded{a, r, schema.ToServer, up, down, new([]byte)}, recorded{b, r, schema.ToClient, down, up, new([]byte)}
}

// certificates of both kinds of keys, made once.
var certificates = sync.OnceValue(func() []tls.Certificate {
	var out []tls.Certificate
	elliptic, err1 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	other, err2 := rsa.GenerateKey(rand.Reader, 2048)
	if err1 != nil || err2 != nil {
		panic(err1)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"game.example"}, NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &elliptic.PublicKey, elliptic)
	if err != nil {
		panic(err)
	}
	out = append(out, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: elliptic})
	if der, err = x509.CreateCertificate(rand.Reader, template, template, &other.PublicKey, other); err != nil {
		panic(err)
	}
	return append(out, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: other})
})

// played is a TLS session.
type played struct {
	sent  []chunk // bytes of TCP
	log   string  // key log
	state tls.ConnectionState
}

// play sends messages over TLS. The ends take turns: each message is received before the next one is sent.
func play(t testing.TB, client, server *tls.Config, messages []chunk) played {
	t.Helper()
	var to recorder
	var log bytes.Buffer
	client, server = client.Clone(), server.Clone()
	client.InsecureSkipVerify, client.KeyLogWriter = true, &log
	server.Certificates = certificates()
	a, b := to.ends()
	c := tls.Client(a, client)
	s := tls.Server(b, server)
	failed := make(chan error, 1)
	go func() {
		if err := s.Handshake(); err != nil {
			failed <- err
			return
		}
		for _, m := range messages {
			if m.dir == schema.ToServer {
				if _, err := io.ReadFull(s, make([]byte, len(m.data))); err != nil {
					failed <- err
					return
				}
			} else if _, err := s.Write(m.data); err != nil {
				failed <- err
				return
			}
		}
		_, err := s.Read(make([]byte, 1)) // close_notify
		if err == io.EOF {
			err = nil
		}
		failed <- err
	}()
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		var err error
		if m.dir == schema.ToServer {
			_, err = c.Write(m.data)
		} else {
			_, err = io.ReadFull(c, make([]byte, len(m.data)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c.CloseWrite()
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	return played{to.chunks, log.String(), c.ConnectionState()}
}

// conversation is what the application sends: messages of a length, a code and a body.
func conversation(n int) []chunk {
	var out []chunk
	for i := range n {
		dir, code := schema.ToServer, 32000+i
		if i%3 == 1 {
			dir = schema.ToClient
		}
		if i < 2 {
			code = 19900 + i
		}
		var data []byte
		for j := range 1 + i%3 {
			body := bytes.Repeat([]byte{byte(i), byte(j), 0}, 5+i*j*7)
			data = append(data, packettest.WireMessage(uint16(code), string(body))...)
		}
		out = append(out, chunk{dir, data})
	}
	return out
}

// write writes a capture with a key log. size is the maximum number of bytes of a segment. both ends close the connection after the last
// chunk.
func write(t testing.TB, log string, size int, chunks []chunk) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := pcap.NewWriter(&out, "test")
	if err != nil {
		t.Fatal(err)
	}
	if log != "" {
		if err := w.Secrets(pcap.Secrets{Kind: pcap.KeyLog, Data: []byte(log)}); err != nil {
			t.Fatal(err)
		}
	}
	iface, err := w.Interface(pcap.Interface{Name: "made", Link: packet.LinkEthernet})
	if err != nil {
		t.Fatal(err)
	}
	at := packettest.Day
	s := pcap.NewSynthetic(w, iface, packettest.Conversation(transport.TCP))
	if err := s.Open(at); err != nil {
		t.Fatal(err)
	}
	for _, c := range chunks {
		for data := c.data; len(data) > 0; {
			n := min(len(data), size)
			at = at.Add(time.Millisecond)
			if err := s.Data(c.dir, at, data[:n], ""); err != nil {
				t.Fatal(err)
			}
			data = data[n:]
		}
	}
	for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
		if err := s.Close(dir, at); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// options are those of a protocol whose messages conversation makes.
func options() packet.Options {
	return packet.Options{New: func(transport.Conn) transport.Transport {
		return tera.New(tera.Options{Definitions: transporttest.Codes(func(k schema.Key) bool { return k.Code >= 32000 })})
	}}
}

// read returns the frames of a capture as text.
func read(t testing.TB, file []byte, o packet.Options) (frames []string) {
	t.Helper()
	sum, err := pcap.Read(bytes.NewReader(file), o, func(f *transport.Frame) {
		line := fmt.Sprintf("%v %v", f.Kind, f.Dir)
		if f.Kind == transport.Message {
			line += fmt.Sprintf(" %d %x", f.Offset, f.Bytes)
		}
		if f.Note != "" {
			line += " [" + f.Note + "]"
		}
		frames = append(frames, line)
	})
	if err != nil || sum.Torn != nil {
		t.Fatal(err, sum.Torn)
	}
	return frames
}

// given returns options with the secrets of a key log.
func given(t testing.TB, log string) packet.Options {
	t.Helper()
	o := options()
	o.TLS = &secrets.Secrets{}
	for line := range strings.Lines(log) {
		if is, err := o.TLS.AddLine(strings.Fields(line)); !is || err != nil {
			t.Fatal(line, err)
		}
	}
	return o
}

func config(version uint16, suites ...uint16) *tls.Config {
	return &tls.Config{MinVersion: version, MaxVersion: version, CipherSuites: suites}
}

// TestSuites compares the frames of sessions with those of the same messages in clear, for each cipher suite that crypto/tls has.
func TestSuites(t *testing.T) {
	messages := conversation(12)
	want := read(t, write(t, "", 1000, messages), options())
	if len(want) < 20 || strings.Contains(strings.Join(want, ""), "problem") {
		t.Fatal(want)
	}
	type test struct {
		name           string
		client, server *tls.Config
		suite          uint16
	}
	tests := []test{
		{"TLS 1.3", config(tls.VersionTLS13), config(tls.VersionTLS13), 0},
		{"TLS 1.3 with HelloRetryRequest", &tls.Config{MinVersion: tls.VersionTLS13, CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP384}}, &tls.Config{CurvePreferences: []tls.CurveID{tls.CurveP384}}, 0},
	}
	for _, s := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		if slices.Contains(s.SupportedVersions, tls.VersionTLS12) && !strings.Contains(s.Name, "RC4") && !strings.Contains(s.Name, "3DES") {
			tests = append(tests, test{s.Name, config(tls.VersionTLS12, s.ID), config(tls.VersionTLS12, s.ID), s.ID})
		}
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := play(t, test.client, test.server, messages)
			if test.suite != 0 && p.state.CipherSuite != test.suite {
				t.Fatal(tls.CipherSuiteName(p.state.CipherSuite))
			}
			for _, size := range []int{1 << 15, 1000, 7} {
				if diff := cmp.Diff(want, read(t, write(t, p.log, size, p.sent), options())); diff != "" {
					t.Errorf("segments of %d bytes, key log in the file (-want +got):\n%s", size, diff)
				}
			}
			if diff := cmp.Diff(want, read(t, write(t, "", 1000, p.sent), given(t, p.log))); diff != "" {
				t.Errorf("given key log (-want +got):\n%s", diff)
			}
		})
	}
}

// TestResumed reads sessions that resume another one.
func TestResumed(t *testing.T) {
	messages := conversation(6)
	want := read(t, write(t, "", 1000, messages), options())
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		client := config(version)
		client.ClientSessionCache, client.ServerName = tls.NewLRUClientSessionCache(2), "game.example"
		server := config(version)
		server.SetSessionTicketKeys([][32]byte{{1}})
		first := play(t, client, server, messages)
		p := play(t, client, server, messages)
		if !p.state.DidResume {
			t.Error("not resumed")
		}
		if p.log == "" { // crypto/tls does not log the master secret again
			p.log = strings.ReplaceAll(first.log, clientRandom(first.log), hex.EncodeToString(p.sent[0].data[11:43]))
		}
		if diff := cmp.Diff(want, read(t, write(t, p.log, 1000, p.sent), options())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tls.VersionName(version), diff)
		}
	}
}

// TestSources compares the places of decrypted bytes with the ciphertext: at the same place, the cleared ranges hold the messages.
func TestSources(t *testing.T) {
	messages := conversation(9)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		p := play(t, config(version), config(version), messages)
		file := write(t, p.log, 50, p.sent)
		clear := map[uint32]map[uint32]byte{} // by packet and offset
		o := options()
		o.ClearTLS = func(_ transport.Conn, c transport.Clear) {
			if clear[c.Packet] == nil {
				clear[c.Packet] = map[uint32]byte{}
			}
			for i, b := range c.Bytes {
				clear[c.Packet][c.Off+uint32(i)] = b
			}
		}
		n := 0
		if _, err := pcap.Read(bytes.NewReader(file), o, func(f *transport.Frame) {
			var got []byte
			for _, s := range f.From {
				for i := range s.Len {
					b, ok := clear[s.Packet][s.Off+i]
					if !ok || s.Off+i >= 50 {
						t.Fatalf("%+v has no byte %d", s, i)
					}
					got = append(got, b)
				}
			}
			if n++; !bytes.Equal(got, f.Bytes) {
				t.Errorf("frame %d from %v: %x, want %x", n, f.From, got, f.Bytes)
			}
		}); err != nil || n == 0 {
			t.Fatal(err, n)
		}
	}
}

// segments are the packets of a capture, for tests that change their order.
func segments(t testing.TB, file []byte) (out []packet.Packet) {
	t.Helper()
	r, err := pcap.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for {
		p, err := r.Next()
		if err != nil {
			return out
		}
		p.Data = slices.Clone(p.Data)
		out = append(out, *p)
	}
}

// assemble reads packets.
func assemble(packets []packet.Packet, o packet.Options) (frames []string) {
	a := packet.NewAssembler(o, func(f *transport.Frame) {
		line := fmt.Sprintf("%v %v", f.Kind, f.Dir)
		if f.Kind == transport.Message {
			line += fmt.Sprintf(" %x", f.Bytes)
		}
		if f.Note != "" {
			line += " [" + f.Note + "]"
		}
		frames = append(frames, line)
	})
	for i := range packets {
		packets[i].N = uint32(i + 1)
		a.Packet(&packets[i])
	}
	a.Flush()
	return frames
}

func TestOutOfOrder(t *testing.T) {
	messages := conversation(12)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		p := play(t, config(version), config(version), messages)
		packets := segments(t, write(t, "", 200, p.sent))
		want := assemble(slices.Clone(packets), given(t, p.log))
		for i := 3; i+1 < len(packets); i += 2 {
			packets[i], packets[i+1] = packets[i+1], packets[i]
		}
		packets = slices.Insert(packets, 20, packets[10]) // a retransmission
		got := assemble(packets, given(t, p.log))
		slices.Sort(want)
		slices.Sort(got) // the directions are interleaved in another way
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// clientRandom returns the random number that a key log names, in hex.
func clientRandom(log string) string { return strings.Fields(log)[1] }

func TestMissingKeys(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		p := play(t, config(version), config(version), conversation(6))
		other := play(t, config(version), config(version), conversation(6))
		for _, log := range []string{"", other.log, "# nothing\n", "CLIENT_RANDOM 00 00\nCLIENT_RANDOM\n\x00\xff"} {
			frames := read(t, write(t, log, 1000, p.sent), options())
			said := 0
			for _, f := range frames {
				if !strings.HasPrefix(f, "opaque ") {
					t.Errorf("%q is not opaque", f)
				}
				if strings.Contains(f, "TLS, no keys for this connection: client random "+clientRandom(p.log)) {
					said++
				}
			}
			if said != 2 {
				t.Errorf("the client random is said %d times: %q", said, frames)
			}
		}
	}
}

// TestWrongKeys reads sessions with the secrets of others.
func TestWrongKeys(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		p := play(t, config(version), config(version), conversation(6))
		other := play(t, config(version), config(version), conversation(6))
		log := strings.ReplaceAll(other.log, clientRandom(other.log), clientRandom(p.log))
		for _, f := range read(t, write(t, log, 1000, p.sent), options()) {
			if !strings.HasPrefix(f, "opaque ") {
				t.Error(f)
			}
		}
	}
}

// TestPartialKeys reads a session without the secrets of the handshake, which the others do not need.
func TestPartialKeys(t *testing.T) {
	messages := conversation(6)
	p := play(t, config(tls.VersionTLS13), config(tls.VersionTLS13), messages)
	var log, half string
	for line := range strings.Lines(p.log) {
		if !strings.Contains(line, "HANDSHAKE") {
			log += line
		}
		if strings.HasPrefix(line, "CLIENT_TRAFFIC") {
			half = line
		}
	}
	want := read(t, write(t, "", 1000, messages), options())
	// Records of the handshake are not distinguished from others.
	got := slices.DeleteFunc(read(t, write(t, log, 1000, p.sent), options()), func(f string) bool { return !strings.HasPrefix(f, "message") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if half = strings.Join(read(t, write(t, half, 1000, p.sent), options()), "\n"); !strings.Contains(half, "opaque s2c [TLS, no keys") {
		t.Error(half)
	}
}

func TestNotTLS(t *testing.T) {
	for _, data := range []string{"\x16", "\x16\x03", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x04\x03", "\x16\x03\x05", "hello", "\x16\x03\x01\x00\x00\x01\x00\x00\x00\x03\x03", "\x15\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"} {
		for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
			sent := []chunk{{dir, []byte(data)}, {transport.Opposite(dir), []byte("world")}, {dir, []byte("!")}}
			for _, size := range []int{1, 100} {
				file := write(t, "", size, sent)
				tapes := [2]*packettest.Tape{}
				for i, no := range []bool{false, true} {
					o := packet.Options{NoTLS: no, New: func(c transport.Conn) transport.Transport {
						tapes[i] = &packettest.Tape{Conn: c}
						return tapes[i]
					}}
					read(t, file, o)
				}
				if diff := cmp.Diff(tapes[1].Log, tapes[0].Log); diff != "" || len(tapes[0].Log) == 0 {
					t.Errorf("%q in segments of %d (-want +got):\n%s", data, size, diff)
				}
			}
		}
	}
}

// TestTruncated cuts sessions off at every byte: the messages of whole records are there, and the rest is reported.
func TestTruncated(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		messages := conversation(4)
		p := play(t, config(version), config(version), messages)
		all := read(t, write(t, p.log, 1<<15, p.sent), options())
		for last := range p.sent {
			cut := slices.Clone(p.sent[:last+1])
			for n := 1; n < len(cut[last].data); n += 1 + n/3 {
				cut[last].data = p.sent[last].data[:n]
				frames := read(t, write(t, p.log, 1<<15, cut), options())
				said := false
				for _, f := range frames {
					said = said || strings.HasPrefix(f, "problem") && strings.Contains(f, "TLS, the stream ends inside a record")
					if strings.HasPrefix(f, "message") && !slices.Contains(all, f) {
						t.Errorf("cut at %d of chunk %d: %s", n, last, f)
					}
				}
				if !said && !ends(p.sent[last].data, n) && (last > 0 || n >= 11) {
					t.Errorf("cut at %d of chunk %d: nothing is said: %q", n, last, frames)
				}
			}
		}
	}
}

// ends reports whether a record ends at a place in data.
func ends(data []byte, at int) bool {
	n := 0
	for n < at {
		n += 5 + int(binary.BigEndian.Uint16(data[n+3:]))
	}
	return n == at
}

// TestForeign reads sessions of OpenSSL 3.0 (s_client and s_server -rev, which sends each line back reversed), as a relay between them
// recorded them: lines of a key log, then what each end sent.
func TestForeign(t *testing.T) {
	const lines = "hello there\nabc\nthe third message\n"
	const back = "ereht olleh\ncba\negassem driht eht\n"
	for _, test := range []struct{ name, client, server, notes string }{
		{"sha384", lines, back, ""},
		{"encrypt_then_mac", lines, back, ""},
		{"encrypt_then_mac_sha384", lines, back, ""},
		{"key_update", lines + "and more\n", back + "erom dna\n", ""}, // three of the client, which asks the server for two
		{"renegotiation", lines, back, ""},
		{"resumed", lines, back, ""}, // by a ticket
		{"early_data", "LOST" + lines, "", "opaque c2s TLS, early data (0-RTT) is not decrypted"},
		{"ccm", "", "", "opaque s2c TLS, cipher suite 0x1304 is not supported; opaque c2s TLS, cipher suite 0x1304 is not supported"},
		{"tls11", "", "", "opaque c2s TLS, version 1.1 of the protocol (0x0302) is not supported; opaque s2c TLS, version 1.1 of the protocol (0x0302) is not supported"},
	} {
		t.Run(test.name, func(t *testing.T) {
			log, sent := foreign(t, test.name)
			for _, size := range []int{1 << 15, 3} {
				var got [3]string
				var notes []string
				_, err := pcap.Read(bytes.NewReader(write(t, log, size, sent)), packet.Options{New: func(transport.Conn) transport.Transport { return &bytesSink{got: &got} }}, func(f *transport.Frame) {
					if note := fmt.Sprintf("%v %v %s", f.Kind, f.Dir, f.Note); f.Note != "TLS, not decrypted" && !slices.Contains(notes, note) {
						notes = append(notes, note)
					}
				})
				if err != nil {
					t.Fatal(err)
				}
				if got[schema.ToServer] != test.client || got[schema.ToClient] != test.server || strings.Join(notes, "; ") != test.notes {
					t.Errorf("segments of %d bytes: client %q, server %q, notes %q", size, got[schema.ToServer], got[schema.ToClient], notes)
				}
			}
		})
	}
}

// bytesSink is a transport that collects bytes.
type bytesSink struct{ got *[3]string }

func (s *bytesSink) Feed(seg transport.Segment, _ func(*transport.Frame)) {
	if seg.Lost != 0 {
		s.got[seg.Dir] += "LOST"
	}
	s.got[seg.Dir] += string(seg.Bytes)
}

func (s *bytesSink) Flush(time.Time, func(*transport.Frame)) {}

// foreign reads a recorded session.
func foreign(t testing.TB, name string) (log string, sent []chunk) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		what, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch what {
		case "key":
			log += rest + "\n"
		case "c2s":
			sent = append(sent, chunk{schema.ToServer, packettest.Unhex(t, rest)})
		case "s2c":
			sent = append(sent, chunk{schema.ToClient, packettest.Unhex(t, rest)})
		}
	}
	return log, sent
}

// TestLost removes single segments: reading goes on with the next whole record, and all messages outside the gap are there.
func TestLost(t *testing.T) {
	var messages []chunk // one message each, so that those of a lost record alone are missing
	for i := range 60 {
		code := 32000 + i
		if i < 2 {
			code = 19900 + i
		}
		data := packettest.WireMessage(uint16(code), strings.Repeat(string(rune('a'+i%26)), 20+i*13))
		messages = append(messages, chunk{schema.Dir(1 + i%2), []byte(data)})
	}
	type test struct {
		name string
		log  string
		sent []chunk
	}
	var tests []test
	for _, suite := range []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA, 0} {
		c := config(tls.VersionTLS13)
		if suite != 0 {
			c = config(tls.VersionTLS12, suite)
		}
		p := play(t, c, c, messages)
		tests = append(tests, test{tls.CipherSuiteName(p.state.CipherSuite), p.log, p.sent})
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			packets := segments(t, write(t, "", 300, test.sent))
			all := assemble(slices.Clone(packets), given(t, test.log))
			for lost := len(packets) / 3; lost+40 < len(packets); lost += 3 {
				for n := 1; n <= 5; n += 4 {
					got := assemble(slices.Delete(slices.Clone(packets), lost, lost+n), given(t, test.log))
					missing, gaps := 0, 0
					for _, f := range all {
						if !slices.Contains(got, f) {
							missing++
						}
					}
					for _, f := range got {
						if strings.HasPrefix(f, "problem") {
							gaps++
						} else if !slices.Contains(all, f) {
							t.Errorf("without packet %d: %s", lost, f)
						}
					}
					if missing > n+1 || gaps == 0 && missing > 0 { // a record may begin in a segment before
						t.Errorf("without %d packets from %d: %d messages of %d are missing, with %d problems: %q", n, lost, missing, len(all), gaps, got[max(0, len(got)-10):])
					}
				}
			}
		})
	}
}

// TestLostHandshake removes single segments of handshakes: nothing but true messages is found, and what is not decrypted is said.
func TestLostHandshake(t *testing.T) {
	messages := conversation(12)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		p := play(t, config(version), config(version), messages)
		packets := segments(t, write(t, "", 150, p.sent))
		all := assemble(slices.Clone(packets), given(t, p.log))
		for lost := 4; lost < 4+14; lost++ { // the start of the ClientHello is there
			got := assemble(slices.Delete(slices.Clone(packets), lost, lost+1), given(t, p.log))
			n := 0
			for _, f := range got {
				switch {
				case strings.HasPrefix(f, "opaque"), strings.HasPrefix(f, "problem"):
				case slices.Contains(all, f):
					n++
				default:
					t.Errorf("%s without packet %d: %s", tls.VersionName(version), lost, f)
				}
			}
			if n < len(all) && n == len(got) {
				t.Errorf("%s without packet %d: nothing is said about missing messages", tls.VersionName(version), lost)
			}
		}
	}
}

// TestDamaged changes a byte of each record: its message is missing, and the others are there.
func TestDamaged(t *testing.T) {
	messages := conversation(9)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		p := play(t, config(version), config(version), messages)
		for i := range p.sent {
			if p.sent[i].data[0] != 23 || i < len(p.sent)-6 {
				continue
			}
			sent := slices.Clone(p.sent)
			sent[i].data = slices.Clone(sent[i].data)
			sent[i].data[len(sent[i].data)-1]++
			got := strings.Join(read(t, write(t, p.log, 1000, sent), options()), "\n")
			if !strings.Contains(got, "problem") || !strings.Contains(got, "TLS, a record fails authentication") || !strings.Contains(got, "message") {
				t.Errorf("%s, chunk %d: %s", tls.VersionName(version), i, got)
			}
		}
	}
}

// TestAlert reads a handshake that the client refuses.
func TestAlert(t *testing.T) {
	var to recorder
	a, b := to.ends()
	c, s := tls.Client(a, &tls.Config{ServerName: "other.example"}), tls.Server(b, &tls.Config{Certificates: certificates()})
	done := make(chan error)
	go func() { done <- s.Handshake() }()
	if err := c.Handshake(); err == nil {
		t.Fatal("the certificate is accepted")
	}
	<-done
	frames := read(t, write(t, "", 1000, to.chunks), options())
	if len(frames) == 0 || !strings.HasPrefix(frames[len(frames)-1], "opaque") { // the alert is encrypted
		t.Error(frames)
	}
	frames = read(t, write(t, "", 1000, []chunk{to.chunks[0], {schema.ToClient, []byte{21, 3, 3, 0, 2, 2, 40}}, {schema.ToClient, []byte("more")}}), options())
	want := []string{"control s2c [TLS alert: handshake failure (40)]", "opaque s2c [TLS, bytes after the end of the session]"}
	if diff := cmp.Diff(want, frames); diff != "" {
		t.Error(diff)
	}
}

// FuzzLayer feeds hostile streams, with the keys of real sessions, in segments of any size with gaps. Whatever it reads, frames are well
// formed.
func FuzzLayer(f *testing.F) {
	var log string
	for _, name := range []string{"sha384", "encrypt_then_mac", "key_update", "renegotiation", "early_data"} {
		l, sent := foreign(f, name)
		log += l
		var all []byte
		for _, c := range sent {
			all = append(binary.BigEndian.AppendUint16(append(all, byte(c.dir)), uint16(len(c.data))), c.data...)
		}
		f.Add(all, uint16(100), uint8(0))
		f.Add(all, uint16(30), uint8(7))
	}
	keys := given(f, log).TLS
	f.Fuzz(func(t *testing.T, all []byte, size uint16, lose uint8) {
		sizes := map[uint32]uint32{}
		layer := secrets.NewLayer(keys)
		layer.AddLog(all[:min(len(all), 1000)])
		var got [3]string
		x := layer.Wrap(&bytesSink{got: &got}, func(c transport.Clear) {
			if c.Off+uint32(len(c.Bytes)) > sizes[c.Packet] {
				t.Errorf("%d bytes at %d of packet %d, which has %d", len(c.Bytes), c.Off, c.Packet, sizes[c.Packet])
			}
		})
		emit := func(f *transport.Frame) {
			for _, s := range f.From {
				if s.Off+s.Len > sizes[s.Packet] && s.Len > 0 {
					t.Errorf("%+v of a packet of %d bytes: %s", s, sizes[s.Packet], f.Note)
				}
			}
			if f.Note == "" || len(f.Via) == 0 {
				t.Errorf("%+v", f)
			}
		}
		packet := uint32(0)
		for len(all) > 3 {
			dir := schema.ToServer
			if all[0]%2 == 0 {
				dir = schema.ToClient
			}
			n := min(int(binary.BigEndian.Uint16(all[1:])), len(all)-3)
			data := all[3 : 3+n]
			all = all[3+n:]
			for len(data) > 0 {
				n := min(len(data), int(size)+1)
				packet++
				sizes[packet] = uint32(n)
				if lose > 0 && packet%uint32(lose) == 3 {
					x.Feed(transport.Segment{Dir: dir, Packet: packet, Lost: int64(n)}, emit)
				} else {
					x.Feed(transport.Segment{Dir: dir, Packet: packet, Bytes: slices.Clone(data[:n])}, emit)
				}
				data = data[n:]
			}
		}
		x.Feed(transport.Segment{Dir: schema.ToServer, Packet: packet, Lost: transport.Unknown}, emit)
		x.Feed(transport.Segment{Dir: schema.ToServer, Packet: packet, End: true}, emit)
		x.Flush(time.Time{}, emit)
	})
}

// silent is a transport without frames.
type silent struct{}

func (silent) Feed(transport.Segment, func(*transport.Frame)) {}
func (silent) Flush(time.Time, func(*transport.Frame))        {}

// TestHeld leaves more incomplete records than are held: the last ones are given up.
func TestHeld(t *testing.T) {
	hello := []byte("\x16\x03\x01\x00\x06\x01\x00\x00\x02\x03\x03\x16\x03\x01\x48\x00")
	half := append(slices.Clone(hello), make([]byte, 0x4000)...)
	layer := secrets.NewLayer(nil)
	given := 0
	for range 6000 { // of 16 KiB
		c := layer.Wrap(silent{}, nil)
		c.Feed(transport.Segment{Dir: schema.ToServer, Packet: 1, Bytes: half}, func(f *transport.Frame) {
			if f.Note == "TLS, but too many incomplete records" {
				given++
			}
		})
	}
	if given < 1000 || given > 5000 {
		t.Errorf("%d of 6000 connections are given up", given)
	}
}

// TestSearchEnds searches a record after a gap in bytes that all could start one: the search is given up.
func TestSearchEnds(t *testing.T) {
	for _, name := range []string{"sha384", "encrypt_then_mac", "key_update"} {
		log, sent := foreign(t, name)
		c := secrets.NewLayer(given(t, log).TLS).Wrap(silent{}, nil)
		var notes []string
		emit := func(f *transport.Frame) { notes = append(notes, f.Note) }
		for _, s := range sent[:8] {
			c.Feed(transport.Segment{Dir: s.dir, Packet: 1, Bytes: s.data}, emit)
		}
		if len(notes) > 0 {
			t.Error(notes)
		}
		c.Feed(transport.Segment{Dir: schema.ToServer, Packet: 2, Lost: transport.Unknown}, emit)
		for range 100 {
			c.Feed(transport.Segment{Dir: schema.ToServer, Packet: 2, Bytes: bytes.Repeat([]byte("\x17\x03\x03\x03\x05"), 13_000)}, emit)
		}
		c.Flush(time.Time{}, emit)
		if !slices.Contains(notes, "TLS, no record is found after a gap within the limits of searching") {
			t.Errorf("%s: %q", name, slices.Compact(notes))
		}
	}
}
