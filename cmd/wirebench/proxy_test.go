package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wirebench/cmd/wirebench/demo"
	"wirebench/defs/schema"
)

// diary records the messages that the ends of a game report, by direction.
type diary struct {
	mu        sync.Mutex
	sent, got [2][]string
}

func (d *diary) note(e demo.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := &d.sent
	if e.Got {
		list = &d.got
	}
	i := 0
	if e.Dir == schema.ToClient {
		i = 1
	}
	list[i] = append(list[i], hex.EncodeToString(e.Message))
}

func (d *diary) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return min(len(d.got[0]), len(d.got[1]))
}

func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timeout: %s", what)
		}
	}
}

// relaying is a running proxy command.
type relaying struct {
	t        *testing.T
	addr     string // listening address
	out, err *log
	cancel   context.CancelFunc
	done     chan int
	once     sync.Once
}

// freePorts returns the first of n consecutive ports that are probably free.
func freePorts(t *testing.T, network string, n int) int {
	t.Helper()
	for range 50 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		free := port+n < 65536
		for i := range n {
			if network == "udp" && free {
				c, err := net.ListenPacket("udp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+i)))
				if free = err == nil; free {
					c.Close()
				}
			}
		}
		if free {
			return port
		}
	}
	t.Fatal("no free ports")
	return 0
}

func startRelay(t *testing.T, g *demo.Game, args ...string) *relaying {
	t.Helper()
	listen := net.JoinHostPort("127.0.0.1", strconv.Itoa(freePorts(t, g.Network, g.Ports)))
	ctx, cancel := context.WithCancel(t.Context())
	r := &relaying{t: t, addr: listen, out: &log{}, err: &log{}, cancel: cancel, done: make(chan int, 1)}
	args = append([]string{"proxy", "--protocol", g.Protocol, "--listen", listen, "--upstream", g.Addr}, args...)
	go func() { r.done <- run(ctx, args, strings.NewReader(""), r.out, r.err) }()
	t.Cleanup(func() { r.stop() })
	until(t, "the proxy listens", func() bool { return len(r.done) > 0 || strings.Contains(r.err.String(), "is relayed to") })
	return r
}

// stop ends the command like Ctrl+C.
func (r *relaying) stop() {
	r.once.Do(func() {
		r.cancel()
		if status := <-r.done; status != exitOK {
			r.t.Errorf("the proxy ended with status %d: %s", status, r.err)
		}
	})
}

// play runs a client through an address until both ends have exchanged a number of messages.
func play(t *testing.T, g *demo.Game, d *diary, addr string, messages int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- g.Client(ctx, addr) }()
	until(t, "messages", func() bool { return len(ended) > 0 || d.count() >= messages })
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

type listedFrame struct {
	Conn, Dir, Kind, Status, Message, Hex string
	From                                  []uint32
}

func framesOf(t *testing.T, text string) (all []listedFrame) {
	t.Helper()
	for _, line := range lines(text) {
		var f listedFrame
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, f)
	}
	return all
}

// The messages listed by the command are those reported by both ends of a game, and the recording has the same.
func TestProxyListsTheDemo(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, protocol := range demo.Protocols() {
		t.Run(protocol, func(t *testing.T) {
			var d diary
			g, err := demo.Start(t.Context(), demo.Options{Protocol: protocol, Rate: 400, Seed: 3, Seen: d.note})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			file := filepath.Join(t.TempDir(), "session.pcapng")
			r := startRelay(t, g, "--json", "--record", file)
			play(t, g, &d, r.addr, 200)
			play(t, g, &d, r.addr, 300) // a second connection
			r.stop()
			g.Close() // no more events

			var listed [2][]string
			for _, f := range framesOf(t, r.out.String()) {
				switch {
				case f.Kind == "problem" || f.Kind == "opaque":
					t.Errorf("%+v", f)
				case f.Kind == "message" && f.Status != "ok":
					t.Errorf("%+v", f)
				case len(f.From) == 0:
					t.Errorf("no packets: %+v", f)
				case f.Kind == "message" && f.Dir == "c2s":
					listed[0] = append(listed[0], f.Hex)
				case f.Kind == "message":
					listed[1] = append(listed[1], f.Hex)
				}
			}
			for i := range 2 {
				for _, list := range [][]string{listed[i], d.sent[i], d.got[i]} {
					if g.Network == "udp" {
						slices.Sort(list) // datagrams may be reordered
					}
				}
				if protocol == unacknowledged {
					if len(d.got[i]) < 200 || !contains(d.sent[i], listed[i]) || !contains(listed[i], d.got[i]) {
						t.Errorf("direction %d: %d messages were sent, %d listed, %d came, or others", i, len(d.sent[i]), len(listed[i]), len(d.got[i]))
					}
					continue
				}
				if !slices.Equal(d.sent[i], d.got[i]) {
					t.Errorf("direction %d: %d messages were sent, %d came, or others", i, len(d.sent[i]), len(d.got[i]))
				}
				if len(listed[i]) < 200 || !slices.Equal(listed[i], d.sent[i]) {
					t.Errorf("direction %d: %d messages were sent, %d listed, or others", i, len(d.sent[i]), len(listed[i]))
				}
			}
			recorded, _, status := cli(t, "", "frames", "--protocol", protocol, "--json", file)
			if status != exitOK || len(lines(recorded)) != len(lines(r.out.String())) {
				t.Errorf("%d frames in the recording, %d were listed", len(lines(recorded)), len(lines(r.out.String())))
			}
		})
	}
	until(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before+2 })
}

func TestProxyFilters(t *testing.T) {
	var d diary
	g, err := demo.Start(t.Context(), demo.Options{Protocol: "tera", Rate: 400, Seen: d.note})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	r := startRelay(t, g, "--filter", "S_SPAWN_NPC && .health.now < 190000")
	play(t, g, &d, r.addr, 300)
	r.stop()
	all := lines(r.out.String())
	if len(all) < 5 || slices.ContainsFunc(all, func(s string) bool { return !strings.Contains(s, "<- s2c  S_SPAWN_NPC") }) {
		t.Errorf("%q", all)
	}
	if !strings.Contains(r.err.String(), "connections: 1;") {
		t.Error(r.err)
	}
}

func TestProxyRefuses(t *testing.T) {
	there := aFile(t, "there.pcapng", nil)
	for _, test := range []struct{ args, want string }{
		{"", "--listen and --upstream"},
		{"--listen 127.0.0.1:0 --upstream 169.254.169.254:80", "refused"},
		{"--listen 127.0.0.1:0 --upstream 224.0.0.1:80", "refused"},
		{"--listen 127.0.0.1:0 --upstream 127.0.0.1", "port"},
		{"--listen 127.0.0.1:0 --upstream 127.0.0.1:9 --filter &&", "--filter"},
		{"--listen 127.0.0.1:0 --upstream 127.0.0.1:9 --ports 2", "ports"},
		{"--listen 127.0.0.1:0 --upstream 127.0.0.1:9 --kind x", "--kind"},
		{"--listen 127.0.0.1:0 --upstream 127.0.0.1:9 --group c2s=", "--group"},
		{"--listen 127.0.0.1:0 --upstream 127.0.0.1:9 --record " + there, "--record"},
		{"--listen 127.0.0.1:0 --upstream 127.0.0.1:9 --spool x", "--to"},
		{"--listen 127.0.0.1:0 --upstream 127.0.0.1:9 --to ftp://x", "--to"},
		{"--listen 127.0.0.1:0 --upstream 127.0.0.1:9 --to http://a:b@x", "--token"},
		{"--listen 127.0.0.1:0 --upstream 127.0.0.1:9 --to http://127.0.0.1:9 --spool-bytes 5", "--spool-bytes"},
		{"--listen 127.0.0.1:0 --upstream 127.0.0.1:9 --allow nothing", "--allow"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // one that is not refused would run
		stderr := &log{}
		status := run(ctx, append([]string{"proxy", "--protocol", "tera"}, strings.Fields(test.args)...), strings.NewReader(""), io.Discard, stderr)
		cancel()
		if status != exitUsage || !strings.Contains(stderr.String(), test.want) {
			t.Errorf("%s: status %d, %q, want %q", test.args, status, stderr, test.want)
		}
	}
}

// moody is an unreliable connection to a workbench: it fails before a request arrives, after it was served, and in the middle of a response.
type moody struct {
	to    atomic.Value // string; "" is down
	calls atomic.Int32
	bad   atomic.Int32
}

func (m *moody) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	to, _ := m.to.Load().(string)
	if to == "" {
		m.bad.Add(1)
		panic(http.ErrAbortHandler)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: to}) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	switch m.calls.Add(1) % 5 {
	case 1: // served, and the response is lost
		m.bad.Add(1)
		proxy.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case 2:
		m.bad.Add(1)
		http.Error(w, "later", http.StatusServiceUnavailable)
	case 4: // half of the body
		m.bad.Add(1)
		half, _ := io.ReadAll(io.LimitReader(r.Body, r.ContentLength/2))
		r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(half), brokenReader{}))
		proxy.ServeHTTP(w, r)
	default:
		proxy.ServeHTTP(w, r)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// workbench starts a server and returns a function that ends it.
func workbench(t *testing.T, data string) (addr string, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, done := &log{}, make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--data", data}, strings.NewReader(""), io.Discard, out)
	}()
	until(t, "the server starts", func() bool { return address.MatchString(out.String()) || len(done) > 0 })
	if len(done) > 0 {
		t.Fatal(out)
	}
	end = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(end)
	return address.FindStringSubmatch(out.String())[1], end
}

var pushedAs = regexp.MustCompile(`as capture (\S+)`)

// A recording that is pushed over an unreliable connection, to a workbench that restarts meanwhile, arrives byte by byte.
func TestProxyPushes(t *testing.T) {
	for _, spool := range []string{"", "spool"} {
		t.Run("spool="+spool, func(t *testing.T) {
			data := t.TempDir()
			addr, end := workbench(t, data)
			m := &moody{}
			m.to.Store(addr)
			way := httptest.NewServer(m)
			defer way.Close()

			var d diary
			g, err := demo.Start(t.Context(), demo.Options{Protocol: "subspace", Rate: 400, Seen: d.note})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			file := filepath.Join(t.TempDir(), "session.pcapng")
			args := []string{"--record", file, "--to", way.URL}
			kept := filepath.Join(t.TempDir(), "spool")
			if spool != "" {
				args = append(args, "--spool", kept)
			}
			r := startRelay(t, g, args...)
			play(t, g, &d, r.addr, 300)
			until(t, "it is pushed", func() bool {
				return pushedAs.MatchString(r.err.String()) || strings.Contains(r.err.String(), "pushing has stopped")
			})
			m.to.Store("")
			end()
			play(t, g, &d, r.addr, 600)
			until(t, "it fails", func() bool { return strings.Contains(r.err.String(), "pushing is interrupted") })
			addr, _ = workbench(t, data)
			m.to.Store(addr)
			play(t, g, &d, r.addr, 900)
			until(t, "it goes on", func() bool { return strings.Contains(r.err.String(), "pushing has resumed") })
			_, list := get(t, "http://"+addr+"/api/subspace/captures")
			var all struct{ Captures []struct{ ID, Name string } }
			if err := json.Unmarshal([]byte(list), &all); err != nil || len(all.Captures) != 2 { // the other one is the sample
				t.Fatalf("%s %v\n%s", list, err, r.err)
			}
			pushed := func() (want []byte, got string) {
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				_, got = get(t, "http://"+addr+"/api/subspace/captures/"+all.Captures[0].ID)
				return want, got
			}
			// The rest is pushed within ten seconds after the end, which may be too short on a busy machine.
			until(t, "it has caught up", func() bool { want, got := pushed(); return len(got) == len(want) })
			r.stop()

			want, got := pushed()
			if got != string(want) {
				t.Errorf("%d bytes are recorded, %d pushed, or others\n%s", len(want), len(got), r.err)
			}
			if m.bad.Load() < 5 || strings.Contains(r.err.String(), "were not pushed") {
				t.Errorf("%d failures\n%s", m.bad.Load(), r.err)
			}
			_, frames := get(t, "http://"+addr+"/api/subspace/captures/"+all.Captures[0].ID+"/frames?count=1")
			if !strings.Contains(frames, `"total":`+strconv.Itoa(len(lines(r.out.String())))+",") {
				t.Errorf("%d were listed, and there: %.200s", len(lines(r.out.String())), frames)
			}
			if _, err := os.Stat(kept); err == nil {
				t.Error("the spool is still there")
			}
		})
	}
}

// A final error ends pushing; relaying continues.
func TestProxyPushEnds(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request){
		"401 Unauthorized": func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer s3cret" {
				t.Error(r.Header)
			}
			http.Error(w, `{"detail":"send the server's token"}`, http.StatusUnauthorized)
		},
		"302 Found": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		},
		"another client has changed it": func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.URL.Path, "append") {
				n, _ := io.Copy(io.Discard, r.Body)
				w.WriteHeader(http.StatusCreated)
				fmt.Fprintf(w, `{"id":"one","size":%d}`, n)
				return
			}
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"offset":1}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			way := httptest.NewServer(http.HandlerFunc(answer))
			defer way.Close()
			var d diary
			g, err := demo.Start(t.Context(), demo.Options{Protocol: "muta", Rate: 200, Seen: d.note})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			r := startRelay(t, g, "--to", way.URL, "--token", "s3cret")
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- g.Client(ctx, r.addr) }()
			until(t, "pushing stops", func() bool { return strings.Contains(r.err.String(), "pushing has stopped") })
			n := d.count()
			until(t, "the game goes on", func() bool { return d.count() > n+20 })
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			r.stop()
			if text := r.err.String(); !strings.Contains(text, name) || !strings.Contains(text, "were not pushed") || strings.Contains(text, "s3cret") {
				t.Error(text)
			}
		})
	}
}

func TestDemoCommand(t *testing.T) {
	stdout, stderr, status := cli(t, "", "demo", "--listen-base", "0", "--for", "400ms", "--rate", "50", "--via", "tera=127.0.0.1:1")
	if status != exitOK || strings.Count(stdout, "server at 127.0.0.1:") != len(demo.Protocols())+1 || !strings.Contains(stdout, "wirebench proxy --protocol muta --group world --listen") || !strings.Contains(stdout, "wirebench proxy --protocol muta --listen") {
		t.Errorf("%d %s %s", status, stdout, stderr)
	}
	if !strings.Contains(stderr, "tera: ") || strings.Contains(stderr, "muta: ") || strings.Contains(stderr, "subspace: ") {
		t.Error(stderr)
	}
	// Ports are consecutive from the first game's, so a protocol alone has the same ports as the first of several.
	for names, want := range map[string]string{"muta": "0 1", "subspace": "0", "tera": "0", "tera muta subspace": "0 1 2 4"} {
		var ports []string
		for _, play := range demoPlays(strings.Fields(names)) {
			ports = append(ports, strconv.Itoa(play.port))
		}
		if got := strings.Join(ports, " "); got != want {
			t.Errorf("%s: ports %s, not %s", names, got, want)
		}
	}
	for _, args := range []string{"--protocol chess", "--rate 0", "--rate 5000", "--listen-base 65535", "--via 127.0.0.1:1", "--protocol muta --via tera=127.0.0.1:1", "--via tera=x"} {
		if _, stderr, status := cli(t, "", append([]string{"demo", "--for", "1ms"}, strings.Fields(args)...)...); status != exitUsage || !strings.Contains(stderr, "--") {
			t.Errorf("%s: %d %s", args, status, stderr)
		}
	}
}

// A SubSpace client behind a SOCKS5 client for UDP has a connection as any other, with its cipher; each server that it asks for must be
// allowed.
func TestProxyAssociates(t *testing.T) {
	var d diary
	g, err := demo.Start(t.Context(), demo.Options{Protocol: "subspace", Rate: 400, Seed: 3, Seen: d.note})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	r := startRelay(t, g, "--json", "--upstream", "socks5", "--socks-password", "s3cret")
	control, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	_ = control.SetDeadline(time.Now().Add(time.Minute))
	for _, step := range []struct{ say, want string }{
		{"\x05\x01\x02", "\x05\x02"},
		{"\x01\x02me\x06s3cret", "\x01\x00"},
		{"\x05\x03\x00\x01\x00\x00\x00\x00\x00\x00", "\x05\x00\x00\x01\x7f\x00\x00\x01"},
	} {
		got := make([]byte, len(step.want))
		_, _ = io.WriteString(control, step.say)
		if _, err := io.ReadFull(control, got); err != nil || string(got) != step.want {
			t.Fatalf("%q %v, want %q", got, err, step.want)
		}
	}
	var port [2]byte
	if _, err := io.ReadFull(control, port[:]); err != nil {
		t.Fatal(err)
	}
	// The game speaks to a socket that adds and removes the headers of SOCKS5.
	server := netip.MustParseAddrPort(g.Addr)
	header := append(append([]byte{0, 0, 0, 1}, server.Addr().AsSlice()...), byte(server.Port()>>8), byte(server.Port()))
	in, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	out, err := net.Dial("udp", fmt.Sprintf("127.0.0.1:%d", int(port[0])<<8|int(port[1])))
	if err != nil {
		t.Fatal(err)
	}
	var client atomic.Value
	var bridge sync.WaitGroup
	bridge.Go(func() {
		buf := make([]byte, 1<<16)
		for {
			n, from, err := in.ReadFrom(buf)
			if err != nil {
				return
			}
			client.Store(from)
			_, _ = out.Write(append(header[:len(header):len(header)], buf[:n]...))
		}
	})
	bridge.Go(func() {
		buf := make([]byte, 1<<16)
		for {
			n, err := out.Read(buf)
			if err != nil {
				return
			}
			if !bytes.HasPrefix(buf[:n], header) {
				t.Errorf("% x", buf[:n])
				continue
			}
			_, _ = in.WriteTo(buf[len(header):n], client.Load().(net.Addr))
		}
	})
	play(t, g, &d, in.LocalAddr().String(), 200)
	until(t, "all arrive", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.sent[0]) == len(d.got[0]) && len(d.sent[1]) == len(d.got[1])
	})
	_, _ = out.Write(append([]byte{0, 0, 0, 1, 169, 254, 169, 254, 0, 80}, 'x'))
	until(t, "the refusal", func() bool { return strings.Contains(r.err.String(), "169.254.169.254:80 is link-local") })
	in.Close()
	out.Close()
	bridge.Wait()
	r.stop()
	g.Close()
	var listed [2][]string
	for _, f := range framesOf(t, r.out.String()) {
		if f.Kind == "problem" || f.Kind == "opaque" || !strings.HasSuffix(f.Conn, "-"+g.Addr) {
			t.Errorf("%+v", f)
		}
		if f.Kind == "message" && f.Dir == "c2s" {
			listed[0] = append(listed[0], f.Hex)
		} else if f.Kind == "message" {
			listed[1] = append(listed[1], f.Hex)
		}
	}
	for i := range 2 {
		slices.Sort(listed[i])
		slices.Sort(d.sent[i])
		if len(listed[i]) < 200 || !slices.Equal(listed[i], d.sent[i]) {
			t.Errorf("direction %d: %d messages were sent, %d listed, or others", i, len(d.sent[i]), len(listed[i]))
		}
	}
	if !strings.Contains(r.err.String(), "dropped datagrams of SOCKS5 clients: 1") {
		t.Error(r.err)
	}
}
