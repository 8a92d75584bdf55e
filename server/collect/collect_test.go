package collect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/bus"
	"wirebench/server/bus/bustest"
	"wirebench/server/proxy"
	"wirebench/server/relay"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

func TestMain(m *testing.M) {
	bustest.Main()
	os.Exit(m.Run())
}

// quiet is a log that tests read.
type quiet struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (q *quiet) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.buf.Write(p)
}

func (q *quiet) String() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.buf.String()
}

func (q *quiet) log() *slog.Logger { return slog.New(slog.NewTextHandler(q, nil)) }

// seen is said about a failure.
type seen func() string

func (s seen) String() string { return s() }

func until(t testing.TB, what string, f func() bool, about ...fmt.Stringer) {
	t.Helper()
	for end := time.Now().Add(40 * time.Second); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in time: %s %s", what, about)
		}
	}
}

// receiving is a project of a workbench that receives traffic, and can be killed and started again.
type receiving struct {
	ws       *workspace.Workspace
	receiver *Receiver
	out      quiet
	grown    atomic.Pointer[chan int64] // told the sizes of captures
	stop     context.CancelFunc
	work     supervise.Group
}

func open(t testing.TB, dir, name, url string) *receiving {
	t.Helper()
	c, err := store.OpenCaptures(filepath.Join(dir, "captures"))
	if err != nil {
		t.Fatal(err)
	}
	return openWith(t, dir, name, url, c)
}

func openWith(t testing.TB, dir, name, url string, c *store.Captures) *receiving {
	t.Helper()
	files, err := store.Open(filepath.Join(dir, "definitions"))
	if err != nil {
		t.Fatal(err)
	}
	p := &receiving{}
	if p.ws, err = workspace.Open(workspace.Config{Name: name, Dialect: "tera", Files: files, Captures: c}); err != nil {
		t.Fatal(err)
	}
	p.receiver, err = NewReceiver(Config{
		Bus: bus.Options{URL: url}, Stream: StreamOptions{Bytes: 64 << 20, Replicas: 1}, Log: p.out.log(),
		Grown: func(_, _ string, size int64, _ time.Time) {
			if to := p.grown.Load(); to != nil {
				*to <- size
			}
		},
		Changed: func(string) {}, Moved: func(string) {}, Held: func(string, string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.work.Go("test", nil, func() { p.receiver.Follow(ctx, p.ws) })
	t.Cleanup(p.close)
	return p
}

func (p *receiving) close() {
	p.stop()
	p.work.Wait()
	p.receiver.Close()
}

// bytesOf returns the bytes of a capture.
func (p *receiving) bytesOf(t testing.TB, id string) []byte {
	t.Helper()
	f, err := p.ws.Captures.Open(id)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// sender is a spool that is published, and can be killed and started again.
type sender struct {
	spool *Spool
	pub   *Publisher
	conn  *nats.Conn
	out   quiet
	stop  context.CancelFunc
	work  supervise.Group
	once  sync.Once
}

func send(t testing.TB, dir, url string, limit int64) *sender {
	t.Helper()
	s := &sender{}
	var err error
	if s.spool, err = OpenSpool(dir, limit); err != nil {
		t.Fatal(err)
	}
	if s.conn, err = bus.Connect(bus.Options{URL: url}, "test", s.out.log()); err != nil {
		t.Fatal(err)
	}
	if s.pub, err = NewPublisher(s.spool, "host1", s.conn, s.out.log()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.work.Go("test", nil, func() { s.pub.Run(ctx) })
	t.Cleanup(s.close)
	return s
}

func (s *sender) close() {
	s.once.Do(func() {
		s.stop()
		s.work.Wait()
		s.conn.Close()
		s.spool.Close()
	})
}

// blocks writes a recording, in pieces of whole blocks.
type blocks struct {
	w     *pcap.Writer
	syn   *pcap.Synthetic
	buf   bytes.Buffer
	count int
}

func newBlocks() *blocks {
	b := &blocks{}
	b.w, _ = pcap.NewWriter(&b.buf, "wirebench", "test")
	_, _ = b.w.Interface(proxy.RecordInterface)
	b.syn = pcap.NewSynthetic(b.w, 0, transport.Conn{Proto: transport.TCP, Client: netip.MustParseAddrPort("10.0.0.1:1000"), Server: netip.MustParseAddrPort("10.0.0.2:7801")})
	_ = b.syn.Open(time.Unix(1e9, 0))
	return b
}

func (b *blocks) piece(packets, size int) []byte {
	for range packets {
		b.count++
		data := bytes.Repeat([]byte{byte(b.count)}, size)
		copy(data, fmt.Sprintf("message %d;", b.count))
		_ = b.syn.Data(schema.ToServer, time.Unix(1e9+int64(b.count), 0), data, "")
	}
	out := bytes.Clone(b.buf.Bytes())
	b.buf.Reset()
	return out
}

func record(t testing.TB, s *Spool, project string) (string, relay.File) {
	t.Helper()
	x, f, err := s.Of(project).Record(store.Capture{Name: "live game", Listener: &store.Listener{Name: "game", Listen: ":7801", Upstream: "10.0.0.2:7801"}}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return x.ID, f
}

// Whatever is killed, in whatever order, a capture has the bytes of its recording, each once; and it says what its listener was.
func TestExact(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			server := bustest.Start(t)
			home, spool := t.TempDir(), t.TempDir()
			bench := open(t, home, "one", server.URL)
			from := send(t, spool, server.URL, MinSpool)
			want := map[string][]byte{}
			id, f := record(t, from.spool, "one")
			b := newBlocks()
			for range 60 {
				data := b.piece(1+rng.IntN(50), 20+rng.IntN(3000))
				if rng.IntN(20) == 0 {
					data = append(data, b.piece(1, 300<<10)...) // longer than a batch
				}
				if _, err := f.Write(data); err != nil {
					t.Fatal(err)
				}
				want[id] = append(want[id], data...)
				switch rng.IntN(14) {
				case 0:
					server.Kill()
					if rng.IntN(2) == 0 {
						time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
					}
					server.Again()
				case 1:
					from.close()
					from = send(t, spool, server.URL, MinSpool)
					id, f = record(t, from.spool, "one")
					b = newBlocks()
				case 2:
					bench.close()
					bench = open(t, home, "one", server.URL)
				case 3:
					time.Sleep(time.Duration(rng.IntN(30)) * time.Millisecond)
				case 5:
					_ = from.conn.ForceReconnect() // what is under way is lost
				case 6:
					_ = bench.receiver.conn.ForceReconnect()
				case 4:
					_ = f.Close()
					id, f = record(t, from.spool, "one")
					b = newBlocks()
				}
			}
			if len(want[id]) == 0 {
				f.(interface{ Discard() }).Discard()
				delete(want, id)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			until(t, "all is published", func() bool { return from.spool.Waiting().Parts == 0 })
			for id, data := range want {
				until(t, "the capture is whole", func() bool {
					x, err := bench.ws.Captures.Get(id)
					return err == nil && !x.Unfinished
				}, &bench.out, &from.out, seen(func() string {
					x, err := bench.ws.Captures.Get(id)
					ctx, stop := context.WithTimeout(context.Background(), time.Second)
					defer stop()
					stream, _ := bench.receiver.js.Stream(ctx, streamName)
					about := fmt.Sprintf("%+v %v, %d of %d bytes, doubled %d, refused %d; %+v", x, err, x.Size, len(data), bench.receiver.count.Doubled.Load(), bench.receiver.count.Refused.Load(), stream.CachedInfo().State)
					if c, err := stream.Consumer(ctx, "workbench-one"); err == nil {
						about += fmt.Sprintf("%+v", c.CachedInfo())
					}
					return about
				}))
				if got := bench.bytesOf(t, id); !bytes.Equal(got, data) {
					t.Errorf("capture %s: %d bytes, recorded %d", id, len(got), len(data))
				}
				x, _ := bench.ws.Captures.Get(id)
				if x.Collected == nil || x.Collected.By != "host1" || x.Listener == nil || x.Listener.Upstream != "10.0.0.2:7801" || x.Lacks() != "" {
					t.Errorf("%+v lacks %q", x, x.Lacks())
				}
			}
			if list, _ := bench.ws.Captures.List(); len(list) != len(want) {
				t.Errorf("%d captures of %d recordings", len(list), len(want))
			}
			if left, _ := os.ReadDir(spool); len(left) > 0 {
				t.Errorf("%v stays in the spool", left)
			}
		})
	}
}
