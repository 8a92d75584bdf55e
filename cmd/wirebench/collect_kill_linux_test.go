package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"wirebench/cmd/wirebench/demo"
	"wirebench/server/bus/bustest"
)

// running is this program as another process, whose messages are read.
type running struct {
	*exec.Cmd
	out *log
}

// start starts a child, and waits until it says that it is ready.
func start(t *testing.T, ready string, args ...string) *running {
	t.Helper()
	return startOn(t, nil, ready, args...)
}

// startOn is start on a host.
func startOn(t *testing.T, host *bustest.Host, ready string, args ...string) *running {
	t.Helper()
	c := &running{child(t, args...), &log{}}
	c.Stderr = c.out
	if err := host.Put(c.Cmd); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.kill(); t.Failed() {
			t.Logf("%s:\n%s", args[0], c.out)
		}
	})
	until(t, strings.Join(args, " ")+": "+ready, func() bool { return strings.Contains(c.out.String(), ready) })
	return c
}

func (c *running) kill() {
	_ = c.Process.Kill()
	_ = c.Wait()
}

// The messages of a game that a collector relays are in a workbench, each once and in their order: NATS came after the first of them, and
// was killed, the workbench was killed, and the collector was killed or ended.
func TestCollected(t *testing.T) {
	for _, c := range []struct {
		protocol string
		killed   bool // the collector
	}{{"muta", false}, {"muta", true}, {"subspace", false}, {"subspace", true}} {
		name := c.protocol + " ended"
		if c.killed {
			name = c.protocol + " killed"
		}
		t.Run(name, func(t *testing.T) {
			var d diary
			g, err := demo.Start(t.Context(), demo.Options{Protocol: c.protocol, Rate: 400, Seed: 9, Seen: d.note})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			via, flag := relayFlag(t, g)
			server := bustest.Start(t)
			server.Kill()
			spool, data := t.TempDir(), t.TempDir()
			collector := func() *running {
				return start(t, "is relayed to", "collect", "--nats", server.URL, "--spool", spool, "--name", "host1", "--protocol", c.protocol, "--listener", flag)
			}
			serve := func() (*running, string) {
				s := start(t, "Wirebench is at", "serve", "--listen", "127.0.0.1:0", "--data", data, "--nats", server.URL, "--nats-bytes", "100000000")
				return s, address.FindStringSubmatch(s.out.String())[1]
			}
			bench, _ := serve() // it also starts without NATS, and makes its sample captures
			bench.kill()
			from := collector()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			over := make(chan error, 1)
			go func() { over <- g.Client(ctx, via) }()
			play := func(what string, n int) {
				t.Helper()
				until(t, what, func() bool {
					select {
					case err := <-over:
						t.Fatalf("%s: the game is over: %v", what, err)
					default:
					}
					return d.count() >= n
				})
			}
			play("messages without NATS", 100)
			server.Again()
			bench, _ = serve()
			play("messages with NATS", 200)
			server.Kill()
			play("messages while NATS is away", 300)
			server.Again()
			play("messages with NATS again", 400)
			bench.kill()
			play("messages while the workbench is away", 500)
			_, addr := serve()
			size := func() (n int64) {
				files, _ := filepath.Glob(filepath.Join(data, c.protocol, "captures", "*"))
				for _, f := range files {
					if info, err := os.Stat(f); err == nil {
						n += info.Size()
					}
				}
				return n
			}
			play("messages with the workbench again", 600)
			d.mu.Lock()
			early := [2]int{len(d.got[0]), len(d.got[1])}
			d.mu.Unlock()
			for range 2 {
				before := size()
				until(t, "more is collected", func() bool { return size() > before || len(over) > 0 })
			}
			if len(over) > 0 {
				t.Fatalf("the game is over: %v", <-over)
			}
			if c.killed {
				from.kill()
				stop()
				<-over
				g.Close()
				collector()
			} else {
				stop()
				<-over
				g.Close()
				_ = from.Process.Signal(syscall.SIGINT)
				if status := ended(t, from.Cmd); status.ExitStatus() != 0 {
					t.Fatalf("%v\n%s", status, from.out)
				}
				early = [2]int{len(d.got[0]), len(d.got[1])}
			}
			body := ""
			defer func() {
				if t.Failed() {
					t.Logf("captures: %.1000s", body)
				}
			}()
			until(t, "the recording is whole", func() bool {
				var all struct {
					Captures []struct {
						Unfinished bool
						Collected  *struct{ By string }
					}
				}
				_, body = get(t, "http://"+addr+"/api/"+c.protocol+"/captures")
				if err := json.Unmarshal([]byte(body), &all); err != nil {
					t.Fatal(err)
				}
				x := all.Captures[0]
				return x.Collected != nil && x.Collected.By == "host1" && !x.Unfinished
			})
			if recordedUntil(t, g.Network, recorded(t, addr, c.protocol), d.sent, early); t.Failed() {
				t.Log(from.out)
			}
		})
	}
}
