package relay

import (
	"math/rand/v2"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"wirebench/codec/filter/filtertest"
	"wirebench/codec/transport"
	"wirebench/server/proxy"
	"wirebench/server/workspace"
)

// TestDrawnFilters uses filters of all kinds for held messages and for rules: what they match is what a list has, and none panics.
func TestDrawnFilters(t *testing.T) {
	snap := opened(t, "muta", map[string]string{"game.def": ruleFiles}).Now()
	s := &Session{Workspace: opened(t, "muta", map[string]string{"game.def": ruleFiles})}
	r := rand.New(rand.NewPCG(29, 5))
	g, frames := filtertest.New(snap.FilterEnv()), filtertest.Frames(snap.FilterEnv(), r, 3)
	conn := transport.Conn{Proto: transport.TCP}
	begin := time.Date(2026, 11, 20, 10, 0, 5, 0, time.UTC)
	matches := 0
	for range filtertest.Count(os.Getenv(filtertest.Variable), 1000, 20_000) {
		text := g.Draw(r)
		func() {
			defer func() {
				if v := recover(); v != nil {
					t.Fatalf("%s panics: %v\n%s", text, v, debug.Stack())
				}
			}()
			plain, mistakes := snap.Filter(text)
			m := &matcher{snap: func() *workspace.Snapshot { return snap }, text: text, from: func() time.Time { return begin }}
			x := proxy.Message{Conn: &conn}
			for i := range 20 {
				one := *frames[(i*7+r.IntN(len(frames)))%len(frames)].Frame.Frame
				f := &one
				if f.At.IsZero() { // without a time a filter takes that of the frame before, which filters of a pool do not share
					f.At = begin
				}
				x.Frame, x.N = f, x.N+1
				var w workspace.Where
				w.Conn, w.Session, w.Stream, w.Proto, w.Start, w.Before = conn.Name(), conn.Session, conn.ID, conn.Proto.String(), begin, f.At
				got, want := m.match(&x), len(mistakes) == 0 && plain.Fits(w, f)
				if got != want {
					t.Fatalf("%s: %v, want %v for %s % x", text, got, want, f.Name, f.Bytes)
				}
				if got {
					matches++
				}
			}
			for _, rule := range []Rule{{Action: "drop"}, {Action: "replace", Field: "text", Value: []byte(`"a"`)}, {Action: "compute", Field: "x", Expr: "old * 2"}} {
				rule.ID, rule.On, rule.Filter = "1", true, text
				_, _ = s.rule(rule)
			}
		}()
	}
	if matches < 500 {
		t.Errorf("%d matches test little", matches)
	}
}
