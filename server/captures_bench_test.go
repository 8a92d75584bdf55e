package server

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"wirebench/defs/emit"
	"wirebench/defs/tooltest"
	"wirebench/server/captures"
	"wirebench/server/frames"
	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// stored stores a capture in a workspace.
func stored(t testing.TB, s *Server, data []byte) store.Capture {
	t.Helper()
	x, err := s.Projects.Find("one").Captures.Add("x.pcapng", time.Now(), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// opened reads a capture into memory, as a page does.
func opened(t testing.TB, s *Server, x store.Capture) (*captures.Capture, *workspace.Snapshot) {
	t.Helper()
	ws := s.Projects.Find("one")
	s.captures.Drop("one", x.ID)
	o, err := s.captures.Get(ws, ws.Now(), x)
	if err != nil {
		t.Fatal(err)
	}
	<-o.Done()
	if err := o.Err(); err != nil {
		t.Fatal(err)
	}
	return o, ws.Now()
}

// BenchmarkMillion opens, filters, searches and counts a capture of a million messages; one operation processes all of them. The ratios are
// to tshark with the generated dissector, which decodes the first messages of the same file into the same fields.
func BenchmarkMillion(b *testing.B) {
	const n = 1_000_000
	s := captureServer(b, "tera", servertest.MillionFiles)
	data := servertest.Million(b, n)
	x := stored(b, s, data)
	perFrame := tsharkTime(b, s)
	report := func(b *testing.B) {
		took := float64(b.Elapsed()) / float64(b.N)
		b.ReportMetric(took/float64(time.Second), "s/million")
		if perFrame > 0 {
			b.ReportMetric(float64(perFrame)*n/took, "times-tshark")
		}
	}
	b.Run("open", func(b *testing.B) {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		var o *captures.Capture
		for b.Loop() {
			o, _ = opened(b, s, x)
		}
		report(b)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(data)), "memory/file")
		if o.Log().Len() != n {
			b.Fatalf("%d frames", o.Log().Len())
		}
	})
	o, snap := opened(b, s, x)
	for _, f := range []struct {
		name, filter string
		fit          int
	}{
		{"type", "C_SAY", n - n/3},
		{"number", "C_SAY.gold % 1000 == 7", (n/1000*2 + 2) / 3},
		{"text", `C_SAY.text contains "ann"`, n - n/3},
		{"nothing", "S_MOVE.x > 0 && S_MOVE.z == 5", 0},
		{"bytes", `bytes contains x"de ad be ef"`, 0},
	} {
		b.Run("filter-"+f.name, func(b *testing.B) {
			for b.Loop() {
				v := frames.NewView(o.Log(), snap, frames.ViewSpec{Filter: f.filter}, store.Notes{})
				for !v.Advance(context.Background(), time.Minute) {
				}
				if fit, _ := v.State(); fit != f.fit || len(v.Mistakes) > 0 {
					b.Fatalf("%d frames fit, want %d %v", fit, f.fit, v.Mistakes)
				}
			}
			report(b)
		})
	}
	list := frames.NewList(o, snap, frames.ListSpec{}, store.Notes{}, nil)
	list.View.Advance(context.Background(), time.Minute)
	for _, q := range []struct {
		name string
		ask  func() error
	}{
		{"types", func() error { _, err := list.Types(context.Background()); return err }},
		{"timeline", func() error {
			_, err := list.Timeline(context.Background(), frames.TimelineQuery{Buckets: 600})
			return err
		}},
		{"table", func() error {
			_, err := frames.NewList(o, snap, frames.ListSpec{}, store.Notes{}, list).Table(context.Background(), frames.TableQuery{Type: "C_SAY", Count: 100})
			return err
		}},
		{"find", func() error {
			_, err := list.Find(context.Background(), &frames.FindQuery{Text: "no such text", As: "text"})
			return err
		}},
	} {
		b.Run(q.name, func(b *testing.B) {
			for b.Loop() {
				if err := q.ask(); err != nil {
					b.Fatal(err)
				}
			}
			report(b)
		})
	}
	for _, by := range []string{"len", "code", "time", "name", "info", "=.gold", "=C_SAY.text"} {
		b.Run("sort-"+by, func(b *testing.B) {
			for b.Loop() {
				if o, err := frames.SortView(context.Background(), list.View, frames.SortSpec{By: by, Desc: true}, store.Notes{}, func(int64) {}); err != nil || len(o.Frames) != n {
					b.Fatal(err)
				}
			}
			report(b)
		})
	}
	b.Run("map", func(b *testing.B) {
		for b.Loop() {
			list := frames.NewList(o, snap, frames.ListSpec{Highlight: "len == 7"}, store.Notes{}, nil)
			list.View.Advance(context.Background(), time.Minute)
			for done := false; !done; {
				got, err := list.Map(context.Background(), 1000)
				if err != nil {
					b.Fatal(err)
				}
				done = got.Done
			}
		}
		report(b)
	})
	b.Run("rows", func(b *testing.B) {
		for b.Loop() {
			if got := list.Rows(b.Context(), frames.RowsQuery{From: n / 2, Count: 100}); len(got.Rows) != 100 {
				b.Fatal(len(got.Rows))
			}
		}
	})
}

// tsharkTime returns the time that tshark takes per message with the dissector of the same definitions; 0 without tshark.
func tsharkTime(b *testing.B, s *Server) time.Duration {
	path, ok := tooltest.Look(b, "tshark")
	if !ok {
		b.Log("without tshark there are no ratios to it")
		return 0
	}
	const n = 60_000
	target, _ := emit.Find("lua")
	files, _ := target.Emit(s.Projects.Find("one").Now().Schema(), emit.Options{Name: "tera"})
	dir := b.TempDir()
	script, file := filepath.Join(dir, "tera.lua"), filepath.Join(dir, "few.pcapng")
	args := []string{"-r", file, "-X", "lua_script:" + script, "-o", "tera.tcp_ports:7801", "-T", "fields", "-e", "frame.number"}
	text := string(files[0].Text)
	for _, m := range regexp.MustCompile(`field\("([A-Z_]+\.\w+)"`).FindAllStringSubmatch(text, -1) {
		args = append(args, "-e", "tera."+m[1])
	}
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(file, servertest.Million(b, n), 0o600); err != nil {
		b.Fatal(err)
	}
	least := time.Duration(0)
	for range 2 {
		cmd := exec.Command(path, args...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "WIRESHARK_CONFIG_DIR="+dir)
		from := time.Now()
		got, err := cmd.Output()
		if err != nil || strings.Count(string(got), "Lann") < n/2 {
			b.Fatalf("tshark: %v, %d bytes: %.300s", err, len(got), got)
		}
		if took := time.Since(from); least == 0 || took < least {
			least = took
		}
	}
	b.Logf("tshark reads %d messages in %v", n, least)
	return least / n
}
