package filter_test

import (
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"testing"

	"wirebench/codec/filter"
	"wirebench/codec/filter/filtertest"
	"wirebench/defs/defstest"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestDrawnFilters judges frames of all kinds by filters of all kinds: none panics, a filter with a mistake matches nothing, the index never
// contradicts the record, the quick ways decide as the plain one, and printing yields the same filter. WIREBENCH_FILTERS=1000000 is the
// number of filters.
func TestDrawnFilters(t *testing.T) {
	n := filtertest.Count(os.Getenv(filtertest.Variable), 10_000, 1_000_000)
	if testing.Short() {
		n /= 5
	}
	worlds := map[string]*world{
		"every kind of field": fight(t), "tera": libraryWorld(t, "tera"), "muta": libraryWorld(t, "muta"), "subspace": libraryWorld(t, "subspace"),
		"variable": newWorld(t, "protodef", schema.Options{}, source.New("protocol.json", defstest.Variable)),
	}
	for name, w := range worlds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(29, uint64(len(name))))
			if most := 14; len(w.schema.Messages) > most { // compiling takes time for each
				r.Shuffle(len(w.schema.Messages), func(i, k int) {
					w.schema.Messages[i], w.schema.Messages[k] = w.schema.Messages[k], w.schema.Messages[i]
				})
				w.schema.Messages = w.schema.Messages[:most]
			}
			w.env.Values = map[string]string{"me": "5", "who": "Lann", "build": "376012"}
			frames := filtertest.Frames(w.env, r, 3)
			w.env.Selected = frames[slices.IndexFunc(frames, func(c filtertest.Case) bool { return c.Record != nil && len(c.Bytes) > 8 })].Frame
			g := filtertest.New(w.env)
			t.Log(g.Names(), len(frames), "frames")
			valid, matches := 0, 0
			for range n / len(worlds) {
				text := g.Draw(r)
				if m := checkDrawn(t, w.env, text, frames, r); m >= 0 {
					valid++
					matches += m
				}
				if t.Failed() {
					return
				}
			}
			if t.Logf("%d of %d filters are valid, with %d matches", valid, n/len(worlds), matches); valid < n/len(worlds)/3 || matches < valid {
				t.Error("the filters test little")
			}
		})
	}
}

// checkDrawn checks one filter with some of the frames, and returns the number of matches, -1 for a filter with mistakes.
func checkDrawn(t *testing.T, env filter.Env, text string, frames []filtertest.Case, r *rand.Rand) (matches int) {
	defer func() {
		if v := recover(); v != nil {
			t.Errorf("%s panics: %v\n%s", text, v, debug.Stack())
		}
	}()
	f, mistakes := filter.Compile(text, env)
	again := f
	if printed, ok := filter.Print(text); ok && len(mistakes) == 0 && f.Rewritten() == "" {
		var more []filter.Mistake
		if again, more = filter.Compile(printed, env); len(more) > 0 {
			t.Errorf("%s is printed as %s, which is invalid: %v", text, printed, more)
		}
	}
	plain := filter.Plain(f)
	from := r.IntN(len(frames))
	for i := range 24 {
		x := &frames[(from+i*7)%len(frames)]
		match, index := f.Match(x.Frame, x.Record), f.Index(x.Frame)
		switch {
		case match && len(mistakes) > 0:
			t.Errorf("%s matches with a mistake: %v", text, mistakes)
		case index == filter.Yes && !match, index == filter.No && match:
			t.Errorf("%s: %v by the index, %v by the record of %s, % x", text, index, match, x.Name, x.Bytes)
		case plain.Match(x.Frame, x.Record) != match:
			t.Errorf("%s: %v, and another result without the quick ways, for %s, % x", text, match, x.Name, x.Bytes)
		case again.Match(x.Frame, x.Record) != match:
			t.Errorf("%s: %v, and another result as printed, for %s, % x", text, match, x.Name, x.Bytes)
		case match && !f.CanMatch(x.Message):
			t.Errorf("%s matches %s, which it cannot", text, x.Name)
		}
		f.Match(x.Frame, nil)
		if match {
			matches++
		}
	}
	if len(mistakes) > 0 {
		return -1
	}
	return matches
}
