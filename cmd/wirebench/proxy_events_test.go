package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"

	"wirebench/cmd/wirebench/demo"

	"github.com/spf13/cobra"
)

// A repeated event is printed once, and its count at the end.
func TestProxyTellsOnce(t *testing.T) {
	g, err := demo.Start(t.Context(), demo.Options{Protocol: "tera"})
	if err != nil {
		t.Fatal(err)
	}
	r := startRelay(t, g)
	g.Close() // the server is gone
	for range 5 {
		c, err := net.Dial("tcp", r.addr)
		if errors.Is(err, syscall.ECONNRESET) {
			continue // accepted, and closed at once
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		_, _ = c.Read(make([]byte, 1)) // until it is closed
		c.Close()
	}
	until(t, "it is told", func() bool { return strings.Contains(r.err.String(), "refused") })
	r.stop()
	told := slices.DeleteFunc(lines(r.err.String()), func(s string) bool { return !strings.Contains(s, "refused") })
	times := 0
	for _, s := range told {
		if n, _, ok := strings.Cut(s, " times in total: "); ok {
			times, _ = strconv.Atoi(n)
		} else if at := strings.LastIndex(s, " ("); at >= 0 && strings.HasSuffix(s, " times)") {
			times, _ = strconv.Atoi(strings.TrimSuffix(s[at+2:], " times)"))
		}
	}
	if len(told) > 2 || times != 5 {
		t.Errorf("5 events are printed as\n%s", strings.Join(told, "\n"))
	}
}

// Filters and lists know the frames that were changed, injected and dropped.
func TestProxyListsWhatWasDone(t *testing.T) {
	l := &libraryFlags{protocol: "muta"}
	cmd := &cobra.Command{}
	snap, err := l.snapshot(cmd)
	if err != nil {
		t.Fatal(err)
	}
	log := live.New(0)
	conn := live.Conn{Name: "10.0.0.2:4000-10.0.0.1:7802", Proto: "tcp"}
	index := log.Connection(conn)
	for _, flags := range []live.Flags{0, live.Injected, live.Modified | live.Dropped, live.Modified, live.Dropped} {
		f := &transport.Frame{Kind: transport.Message, Dir: schema.ToServer, At: time.Unix(1e9, 0), Bytes: []byte{1}}
		if err := log.AddFlagged(index, f, flags); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		filter string
		want   string // numbers and flags
	}{
		{"", "1: 2:injected 3:modified,dropped 4:modified 5:dropped"},
		{"injected", "2:injected"},
		{"modified && !dropped", "4:modified"},
		{"dropped", "3:modified,dropped 5:dropped"},
		{"!injected && !modified && !dropped", "1:"},
	} {
		filter, mistakes := snap.Filter(c.filter)
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		for _, asJSON := range []bool{true, false} {
			var out bytes.Buffer
			r := &proxyRun{lister: frameLister{filter: filter, out: bufio.NewWriter(&out), json: asJSON}}
			r.lister.begin(snap)
			var x transport.Frame
			log.Each(0, log.Len(), func(i int, e live.Entry, data []byte) bool {
				r.frame(log, i, &conn, e, data, &x)
				return true
			})
			r.lister.out.Flush()
			var got []string
			for _, line := range lines(out.String()) {
				if !asJSON {
					n, flags := strings.Fields(line)[0], []string{}
					for _, flag := range []string{"injected", "modified", "dropped"} {
						if strings.Contains(line, flag) {
							flags = append(flags, flag)
						}
					}
					got = append(got, n+":"+strings.Join(flags, ","))
					continue
				}
				var f struct {
					N     int
					Flags []string
				}
				if err := json.Unmarshal([]byte(line), &f); err != nil {
					t.Fatal(err)
				}
				got = append(got, strconv.Itoa(f.N)+":"+strings.Join(f.Flags, ","))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q, JSON %v: %q, want %q", c.filter, asJSON, got, c.want)
			}
		}
	}
}
