package server

import (
	"bytes"
	"context"
	"encoding/binary"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/server/captures"
	"wirebench/server/frames"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// million returns a capture of n small messages in eight connections of a server; two thirds have a number and a text.
func million(t testing.TB, n int) []byte {
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

var millionFiles = map[string]string{
	"C_SAY.1.def": "string text\nint32 gold\n", "S_MOVE.1.def": "int32 x\nint32 gold\nint32 z\nfloat w\nint32 a\nint32 b\n",
	"protocol.1.map": "C_SAY 4097\nS_MOVE 4098\n",
}

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
	s := captureServer(b, "tera", millionFiles)
	data := million(b, n)
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
	path, err := exec.LookPath("tshark")
	if err != nil {
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
	if err := os.WriteFile(file, million(b, n), 0o600); err != nil {
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
