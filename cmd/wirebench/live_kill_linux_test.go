package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wirebench/cmd/wirebench/demo"
	"wirebench/server/bus/bustest"
)

const childVariable = "WIREBENCH_COMMAND_CHILD"

// TestMain lets this program run as wirebench, to be killed.
func TestMain(m *testing.M) {
	bustest.Main()
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// A server killed during a game leaves a readable recording of everything but the last block, and its data folder intact: the next start
// needs no repair.
func TestServerKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, protocol := range demo.Protocols() {
		t.Run(protocol, func(t *testing.T) {
			var d diary
			g, err := demo.Start(t.Context(), demo.Options{Protocol: protocol, Rate: 400, Seed: 6, Seen: d.note})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			via, flag := relayFlag(t, g)
			data := t.TempDir()
			out := &log{}
			cmd := exec.CommandContext(t.Context(), self, "serve", "--listen", "127.0.0.1:0", "--data", data, "--proxy", flag)
			cmd.Env = append(os.Environ(), childVariable+"=1")
			cmd.Stderr = out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			killed := false
			defer func() {
				if !killed {
					_ = cmd.Process.Kill()
					_ = cmd.Wait()
				}
			}()
			until(t, "it relays", func() bool { return strings.Contains(out.String(), "is relayed to") })
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ended := make(chan error, 1)
			go func() { ended <- g.Client(ctx, via) }()
			until(t, "messages", func() bool { return len(ended) > 0 || d.count() >= 150 })
			d.mu.Lock()
			early := [2]int{len(d.got[0]), len(d.got[1])}
			d.mu.Unlock()
			// Frames are on disk within the flush interval, while the game continues: the next block shows that.
			size := func() (n int64) {
				files, _ := filepath.Glob(filepath.Join(data, protocol, "captures", "*"))
				for _, f := range files {
					if info, err := os.Stat(f); err == nil {
						n += info.Size()
					}
				}
				return n
			}
			for range 2 {
				before := size()
				until(t, "a block is written", func() bool { return len(ended) > 0 || size() > before })
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			killed = true
			stop()
			<-ended // an error for streams
			g.Close()

			addr, _ := workbench(t, data)
			recordedUntil(t, g.Network, recorded(t, addr, protocol), d.sent, early)
		})
	}
}

// recordedUntil compares what is recorded of a game with what was sent, in each direction: it is the beginning of it, with the messages at least that had
// come early enough. Datagrams may be lost and come in another order, but none comes twice.
func recordedUntil(t *testing.T, network string, kept, sent [2][]string, early [2]int) {
	t.Helper()
	for i := range 2 {
		if len(kept[i]) < early[i] || len(kept[i]) > len(sent[i]) {
			t.Errorf("direction %d: %d messages are recorded, %d had come early enough, %d were sent", i, len(kept[i]), early[i], len(sent[i]))
			continue
		}
		if network == "udp" {
			if !contains(sent[i], kept[i]) {
				t.Errorf("direction %d: messages are recorded that were not sent, or twice", i)
			}
		} else if !slices.Equal(kept[i], sent[i][:len(kept[i])]) {
			t.Errorf("direction %d: other messages are recorded than were sent", i)
		}
		t.Logf("direction %d: %d of %d messages are in the recording", i, len(kept[i]), len(sent[i]))
	}
}
