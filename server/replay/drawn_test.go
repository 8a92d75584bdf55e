package replay

import (
	"math/rand/v2"
	"os"
	"runtime/debug"
	"testing"

	"wirebench/codec"
	"wirebench/codec/filter/filtertest"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// TestDrawnFilters uses filters of all kinds for the messages that a script expects: a message that matches matches
// again, and none panics.
func TestDrawnFilters(t *testing.T) {
	d, _ := workspacetest.Dir(t, map[string]string{"C_SAY.1.def": "string text\nint32 gold\n", "S_MOVE.1.def": "int32 x\nfloat w\narray<int16> marks\nbytes b\n", "protocol.1.map": "C_SAY 4097\nS_MOVE 4098\n"})
	snap := workspacetest.Open(t, workspace.Config{Dialect: "tera", Files: d}).Now()
	o := Options{Definitions: snap, Schema: snap.Schema()}
	r := rand.New(rand.NewPCG(29, 6))
	g, frames := filtertest.New(snap.FilterEnv()), filtertest.Frames(snap.FilterEnv(), r, 4)
	matches := 0
	for range filtertest.Count(os.Getenv(filtertest.Variable), 1000, 20_000) {
		text := g.Draw(r)
		func() {
			defer func() {
				if v := recover(); v != nil {
					t.Fatalf("%s panics: %v\n%s", text, v, debug.Stack())
				}
			}()
			f, err := o.filter(text, nil)
			if err != nil {
				return
			}
			var rec codec.Record
			for range 20 {
				x := frames[r.IntN(len(frames))]
				a := arrived{Message: Copy(x.Frame.Frame), def: x.Message}
				got := a.matches(f, snap, &rec)
				if again := a.matches(f, snap, &rec); got != again {
					t.Fatalf("%s: %v, then %v for %s % x", text, got, again, x.Name, x.Bytes)
				}
				if got {
					matches++
				}
			}
		}()
	}
	if matches < 500 {
		t.Errorf("%d matches test little", matches)
	}
}
