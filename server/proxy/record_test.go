package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// folder returns a Record.Create for the files 1.pcapng, 2.pcapng and so on in a folder.
func folder(dir string) func(n int) (string, io.WriteCloser, error) {
	return func(n int) (string, io.WriteCloser, error) {
		name := filepath.Join(dir, itoa(n)+".pcapng")
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return name, f, err
	}
}

// found is the content of a capture file.
type found struct {
	sum     packet.Summary
	streams map[string]string // by connection and direction
	lost    int64
}

func read(t *testing.T, data []byte) found {
	t.Helper()
	f := found{streams: map[string]string{}}
	sum, err := pcap.Read(bytes.NewReader(data), packet.Options{New: newRaw}, func(x *transport.Frame) {
		if x.Kind == transport.Problem {
			f.lost += x.Length
			return
		}
		f.streams[fmt.Sprint(x.Conn.Name(), x.Dir)] += string(x.Bytes)
	})
	if err != nil {
		t.Fatal(err)
	}
	f.sum = sum
	return f
}

func files(t *testing.T, s *Session) [][]byte {
	t.Helper()
	var all [][]byte
	for _, f := range s.State().Record.Files {
		data, err := os.ReadFile(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if int64(len(data)) != f.Bytes {
			t.Errorf("%s has %d bytes, not %d", f.Name, len(data), f.Bytes)
		}
		all = append(all, data)
	}
	return all
}

// The file has the same data as the log, and the packets of frames are those of the file.
func TestRecording(t *testing.T) {
	leaks(t)
	for _, network := range []string{"tcp", "udp"} {
		t.Run(network, func(t *testing.T) {
			record := &Record{Create: folder(t.TempDir())}
			var s *Session
			if network == "tcp" {
				addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
				s = start(t, newProxy(t), Config{Network: network, Pairs: []Pair{{"127.0.0.1:0", addr}}, Record: record})
				for i := range 3 {
					c := dial(t, s)
					go func() {
						_, _ = io.Copy(c, &pattern{state: uint64(i), left: 300_000})
						_ = c.CloseWrite()
					}()
					_, _ = io.Copy(io.Discard, c)
				}
			} else {
				addr := serveUDP(t, func(b []byte) [][]byte { return [][]byte{b, b[:1]} })
				s = start(t, newProxy(t), Config{Network: network, Pairs: []Pair{{"127.0.0.1:0", addr}}, Record: record})
				for range 3 {
					c := dialUDP(t, s.State().Pairs[0].Listen)
					for i := range 20 {
						_, _ = exchange(c, bytes.Repeat([]byte{byte(i)}, 1+i*100))
						_, _ = c.Read(make([]byte, 1))
					}
				}
			}
			stop(t, s)
			data := files(t, s)
			if len(data) != 1 {
				t.Fatalf("%d files", len(data))
			}
			x := s.State()
			got := read(t, data[0])
			if got.sum.Torn != nil || int64(got.sum.Packets) != x.Record.Packets || x.Record.On || x.Record.Missed != 0 || got.lost != 0 {
				t.Errorf("%+v, %+v", got.sum, x.Record)
			}
			streams := map[string]string{}
			payload := packets(t, data[0])
			conns := s.Log().Conns()
			s.Log().Each(0, s.Log().Len(), func(i int, e entryOf, data []byte) bool {
				streams[fmt.Sprint(conns[e.Conn].Name, e.Dir)] += string(data)
				from := s.Log().Extra(e).From
				if len(from) != 1 || !bytes.HasSuffix(payload[from[0].Packet], data) {
					t.Fatalf("frame %d is not in packet %+v", i, from)
				}
				return true
			})
			if len(streams) != 6 || fmt.Sprint(got.streams) != fmt.Sprint(streams) {
				t.Errorf("%d streams in the log, %d in the file, or others", len(streams), len(got.streams))
			}
		})
	}
}

func packets(t *testing.T, data []byte) map[uint32][]byte {
	t.Helper()
	r, err := pcap.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	all := map[uint32][]byte{}
	for {
		p, err := r.Next()
		if err != nil {
			return all
		}
		all[p.N] = bytes.Clone(p.Data)
	}
}

// A file truncated anywhere in its last block can be read up to that block.
func TestTornAnywhere(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}, Record: &Record{Create: folder(t.TempDir())}})
	c := dial(t, s)
	for range 10 {
		_, _ = c.Write(bytes.Repeat([]byte("x"), 100))
		_, _ = io.ReadFull(c, make([]byte, 100))
	}
	c.Close()
	stop(t, s)
	data := files(t, s)[0]
	whole := read(t, data).sum.Packets
	last := int(data[len(data)-4]) | int(data[len(data)-3])<<8
	for cut := len(data) - 1; cut > len(data)-last; cut-- {
		if got := read(t, data[:cut]); got.sum.Packets != whole-1 || got.sum.Torn == nil {
			t.Fatalf("cut at %d of %d: %+v", cut, len(data), got.sum)
		}
	}
}

// Files follow one another, and the recording ends at its maximum size. Traffic and log continue.
func TestRotation(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	s := start(t, newProxy(t), Config{
		Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}},
		Record: &Record{Create: folder(t.TempDir()), FileBytes: 200_000, Bytes: 700_000},
	})
	c := dial(t, s)
	buf := make([]byte, 10_000)
	const rounds = 60
	for i := range rounds {
		_, _ = (&pattern{state: uint64(i), left: len(buf)}).Read(buf)
		if _, err := c.Write(buf); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, len(buf))); err != nil {
			t.Fatal(err)
		}
	}
	c.Close()
	stop(t, s)
	x := s.State()
	if n := len(x.Record.Files); n < 3 || n > 5 || x.Record.On || x.Record.Missed == 0 || !strings.Contains(x.Record.Why, "size") || !saysEvent(s, "recording has stopped") {
		t.Errorf("%+v", x.Record)
	}
	if x.Lost != 0 || x.ToServer != rounds*10_000 {
		t.Errorf("%+v", x)
	}
	first := int64(1)
	before := int64(0)
	for i, data := range files(t, s) {
		got := read(t, data)
		if got.sum.Torn != nil || len(got.sum.Conns) != 1 || x.Record.Files[i].First != first || got.lost != before {
			t.Errorf("file %d: %+v, %d lost, want %d; %+v", i, got.sum, got.lost, before, x.Record.Files[i])
		}
		first += int64(got.sum.Packets)
		for _, b := range got.streams {
			before += int64(len(b))
		}
	}
	// The packet number of a frame identifies its file.
	log := s.Log()
	log.Each(0, log.Len(), func(i int, e entryOf, data []byte) bool {
		n := int64(log.Extra(e).From[0].Packet)
		for k := len(x.Record.Files) - 1; k >= 0 && n > 0 && n <= x.Record.Packets; k-- {
			if f := x.Record.Files[k]; n >= f.First {
				if !bytes.HasSuffix(packets(t, files(t, s)[k])[uint32(n-f.First+1)], data) {
					t.Errorf("frame %d is not packet %d", i, n)
				}
				break
			}
		}
		return i%20 != 0 || i == 0 // a sample is enough
	})
}

// disk is a file that fails or blocks.
type disk struct {
	bytes.Buffer
	room int
	wait chan struct{}
}

func (d *disk) Write(b []byte) (int, error) {
	if d.wait != nil {
		<-d.wait
	}
	n := min(len(b), d.room-d.Len())
	d.Buffer.Write(b[:n])
	if n < len(b) {
		return n, errors.New("no space left on device")
	}
	return n, nil
}

func (d *disk) Truncate(size int64) error { d.Buffer.Truncate(int(size)); return nil }
func (d *disk) Close() error              { return nil }

// A disk that is full or missing pauses the recording with an event. Traffic and log continue.
func TestBadDisk(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	const size = 20 << 20
	for _, test := range []struct {
		name, why string
		d         *disk
	}{
		{"full", "no space left", &disk{room: 1_000_000}},
		{"none", "no such folder", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}, Limits: Limits{QueueBytes: 256 << 20}, Record: &Record{
				Create: func(n int) (string, io.WriteCloser, error) {
					if test.d == nil || n > 1 {
						return "", nil, errors.New("no such folder")
					}
					return "x", test.d, nil
				},
			}})
			c := dial(t, s)
			go func() {
				_, _ = io.Copy(c, &pattern{state: 5, left: size})
				_ = c.CloseWrite()
			}()
			want := sum(&pattern{state: 5, left: size})
			if got := sum(c); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			stop(t, s)
			if got := sum(logged(s, schema.ToServer)); got != want {
				t.Errorf("log: %s, want %s", got, want)
			}
			x := s.State().Record
			if !strings.Contains(x.Why, test.why) || x.On || x.Missed == 0 || !saysEvent(s, test.why) {
				t.Errorf("%+v %+v", x, s.Events(0))
			}
			if test.d != nil {
				if got := read(t, test.d.Bytes()); got.sum.Torn != nil || int64(got.sum.Packets) != x.Packets {
					t.Errorf("%+v, %+v", got.sum, x)
				}
			}
		})
	}
}

// A disk that blocks for long loses packets, which are counted, and then gets a new part.
func TestSlowDisk(t *testing.T) {
	leaks(t)
	addr := serve(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	wait := make(chan struct{})
	parts := []*disk{{room: 1 << 30, wait: wait}, {room: 1 << 30}}
	s := start(t, newProxy(t), Config{Network: "tcp", Pairs: []Pair{{"127.0.0.1:0", addr}}, Limits: Limits{QueueBytes: 256 << 20}, Record: &Record{
		Create: func(n int) (string, io.WriteCloser, error) { return itoa(n), parts[n-1], nil },
	}})
	c := dial(t, s)
	buf := make([]byte, 64<<10)
	echo := func(n int) {
		t.Helper()
		for range n {
			if _, err := c.Write(buf); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(c, buf); err != nil {
				t.Fatal(err)
			}
		}
	}
	echo(300) // 18 MiB each way
	eventually(t, "the disk is too slow", func() bool { return hasEvent(s, "too slow") })
	echo(10)
	late := dial(t, s) // begins while nothing is recorded
	close(wait)
	eventually(t, "the recording continues", func() bool {
		echo(1)
		return hasEvent(s, "continues in part 2")
	})
	copy(buf, "the end")
	echo(1)
	late.Close()
	c.Close()
	if x := s.State().Record; !x.On || x.Why != "" {
		t.Errorf("%+v", x)
	}
	stop(t, s)
	x := s.State().Record
	if x.Missed == 0 || x.Why != "" || len(x.Files) != 2 {
		t.Errorf("%+v", x)
	}
	packets := int64(0)
	for i, d := range parts {
		got := read(t, d.Bytes())
		if packets += int64(got.sum.Packets); got.sum.Torn != nil || got.sum.Packets == 0 {
			t.Errorf("part %d: %+v", i+1, got.sum)
		}
	}
	if packets != x.Packets || !bytes.Contains(parts[1].Bytes(), []byte("the end")) {
		t.Errorf("%d packets in the files, %d by the state", packets, x.Packets)
	}
}
