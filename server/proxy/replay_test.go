package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/codec/transport/subspace"
	"wirebench/codec/transport/tera"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

// step is the data sent by one end.
type step struct {
	dir  schema.Dir
	data []byte
}

// script extracts the steps of a connection from a capture. It is a transport without frames.
type script struct {
	steps []step
	gaps  bool
}

func (s *script) Feed(seg transport.Segment, _ func(*transport.Frame)) {
	s.gaps = s.gaps || seg.Lost != 0
	if len(seg.Bytes) > 0 {
		s.steps = append(s.steps, step{seg.Dir, bytes.Clone(seg.Bytes)})
	}
}

func (s *script) Flush(time.Time, func(*transport.Frame)) {}

func shown(f *transport.Frame) string {
	return fmt.Sprintf("%s %v %v %v %x %v", f.Kind, f.Dir, schema.Key{Group: f.Key.Group, Code: f.Key.Code}, f.Via, f.Bytes, f.Offset)
}

// Captured conversations are played through the proxy, with real sockets and the transports of the games: the received data, the log, and
// the recording when read later equal those without the proxy.
func TestCorporaReplay(t *testing.T) { corpora.Run(t, testReplay) }

func testReplay(t *testing.T, c *corpora.Corpus) {
	leaks(t)
	for _, test := range []struct {
		pattern string
		proto   transport.Proto
		made    func() transport.Transport
	}{
		{"subspace/*.pcap", transport.UDP, func() transport.Transport { return subspace.New(subspace.Options{}) }},
		{"captures/tera-*.pcapng", transport.TCP, func() transport.Transport { return tera.New(tera.Options{}) }},
	} {
		for _, path := range c.Glob(t, test.pattern) {
			t.Run(filepath.Base(path), func(t *testing.T) {
				var scripts []*script
				_, err := pcap.Read(bytes.NewReader(c.Read(t, path)), packet.Options{New: func(c transport.Conn) transport.Transport {
					if c.Proto != test.proto {
						return nil
					}
					scripts = append(scripts, &script{})
					return scripts[len(scripts)-1]
				}}, func(*transport.Frame) {})
				if err != nil || len(scripts) == 0 {
					t.Fatalf("%d connections, %v", len(scripts), err)
				}
				for i, x := range scripts {
					for len(x.steps) > 0 && test.proto == transport.UDP && x.steps[0].dir != schema.ToServer {
						x.steps = x.steps[1:] // a server does not know its clients before
					}
					if len(x.steps) > 0 && !x.gaps {
						t.Run(fmt.Sprint(i), func(t *testing.T) { replay(t, x.steps, test.proto, test.made) })
					}
				}
			})
		}
	}
}

func replay(t *testing.T, steps []step, proto transport.Proto, made func() transport.Transport) {
	var want []string
	direct := made()
	emit := func(f *transport.Frame) { want = append(want, shown(f)) }
	now := time.Now()
	begun := map[schema.Dir]bool{}
	for _, x := range steps {
		direct.Feed(transport.Segment{Dir: x.dir, At: now, Bytes: bytes.Clone(x.data), Start: proto == transport.TCP && !begun[x.dir]}, emit)
		begun[x.dir] = true
	}

	var network, addr string
	var server func() net.Conn
	if proto == transport.TCP {
		network = "tcp"
		conns := make(chan net.Conn, 1)
		release := make(chan struct{})
		addr = serve(t, func(c *net.TCPConn) { conns <- c; <-release })
		t.Cleanup(func() { close(release) })
		server = func() net.Conn { return <-conns }
	} else {
		network = "udp"
		l, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		_ = l.SetDeadline(time.Now().Add(time.Minute))
		addr = l.LocalAddr().String()
		server = func() net.Conn { return &udpServer{UDPConn: l} }
	}
	s := start(t, newProxy(t), Config{
		Network: network, Pairs: []Pair{{"127.0.0.1:0", addr}}, Transport: func(transport.Conn) transport.Transport { return made() },
		Record: &Record{Create: folder(t.TempDir())},
	})
	client, err := net.Dial(network, s.State().Pairs[0].Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_ = client.SetDeadline(time.Now().Add(time.Minute))
	up := server()
	buf := make([]byte, 1<<16)
	for i, x := range steps {
		from, to := client, up
		if x.dir == schema.ToClient {
			from, to = up, client
		}
		if _, err := from.Write(x.data); err != nil {
			t.Fatal(err)
		}
		var n int
		var err error
		if proto == transport.TCP {
			buf = append(buf, make([]byte, max(0, len(x.data)-len(buf)))...)
			n, err = io.ReadFull(to, buf[:len(x.data)])
		} else {
			n, err = to.Read(buf)
		}
		if err != nil || !bytes.Equal(buf[:n], x.data) {
			t.Fatalf("step %d: %d bytes arrive of %d, or others: %v", i, n, len(x.data), err)
		}
	}
	if proto == transport.TCP {
		// Both ends close as streams do, so that incomplete messages are reported as in the capture.
		_ = client.(*net.TCPConn).CloseWrite()
		_, _ = up.Read(buf)
		_ = up.(*net.TCPConn).CloseWrite()
		for _, dir := range []schema.Dir{schema.ToServer, schema.ToClient} {
			direct.Feed(transport.Segment{Dir: dir, At: now, End: true, Start: !begun[dir]}, emit)
		}
	}
	direct.Flush(now, emit)
	stop(t, s)

	var log []string
	s.Log().Each(0, s.Log().Len(), func(_ int, e entryOf, data []byte) bool {
		x := s.Log().Extra(e)
		log = append(log, fmt.Sprintf("%s %v %v %v %x %v", e.Kind, e.Dir, schema.Key{Group: s.Log().Group(e), Code: e.Code}, x.Via, data, x.Offset))
		return true
	})
	var recorded []string
	for _, data := range files(t, s) {
		_, err := pcap.Read(bytes.NewReader(data), packet.Options{New: func(transport.Conn) transport.Transport { return made() }}, func(f *transport.Frame) {
			recorded = append(recorded, shown(f))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "recording", recorded, want)
	equal(t, "log", log, want)
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("%s: %d frames, want %d; the first that differs is %d", what, len(got), len(want), i)
			if i < len(got) && i < len(want) {
				t.Errorf("got  %.300s\nwant %.300s", got[i], want[i])
			}
			return
		}
	}
}

// udpServer replies to the client that sent last.
type udpServer struct {
	*net.UDPConn
	client net.Addr
}

func (u *udpServer) Read(b []byte) (int, error) {
	n, from, err := u.ReadFrom(b)
	u.client = from
	return n, err
}

func (u *udpServer) Write(b []byte) (int, error) { return u.WriteTo(b, u.client) }
