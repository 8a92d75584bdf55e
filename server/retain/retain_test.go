package retain

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirebench/server/settings"
	"wirebench/server/store"
)

// TestPlan plans for random captures and bounds: what stays has a reason or is within the bounds, what goes has none, no younger capture goes for room
// while an older one could, and after the removal the plan is empty but for what is still to come.
func TestPlan(t *testing.T) {
	rng, now := rand.New(rand.NewPCG(1, 2)), time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for round := range 2000 {
		var all []store.Capture
		reasons := map[string]string{}
		for i := range rng.IntN(12) {
			x := store.Capture{ID: fmt.Sprint(i), Size: rng.Int64N(100), Added: now.Add(-time.Duration(rng.IntN(100)) * time.Hour)}
			if rng.IntN(3) == 0 {
				x.Written = x.Added.Add(time.Duration(rng.IntN(50)) * time.Hour) // a recording that went on
			}
			if rng.IntN(4) == 0 {
				reasons[x.ID] = "noted"
			}
			all = append(all, x)
		}
		keep := settings.Keep{}
		if rng.IntN(3) > 0 {
			keep.Age = fmt.Sprintf("%dh", 1+rng.IntN(100))
		}
		if rng.IntN(2) == 0 {
			keep.Bytes = 1 + rng.Int64N(500)
		}
		age, err := settings.ParseAge(keep.Age)
		if err != nil {
			t.Fatal(err)
		}
		stays := func(x store.Capture) string { return reasons[x.ID] }
		p := plan(all, stays, keep, now)
		gone := map[string]string{}
		for _, x := range p.Leaving {
			if reasons[x.ID] != "" || gone[x.ID] != "" {
				t.Fatalf("round %d: %+v goes", round, x)
			}
			if !x.At.After(now) {
				gone[x.ID] = x.Why
			}
		}
		total, left := int64(0), []store.Capture{}
		for _, x := range all {
			if gone[x.ID] == "" {
				total, left = total+x.Size, append(left, x)
			}
		}
		for _, x := range left {
			old := age > 0 && now.Sub(last(x)) >= age
			if reasons[x.ID] == "" && (old || keep.Bytes > 0 && total > keep.Bytes) {
				t.Fatalf("round %d: %+v stays; %+v, %d bytes", round, x, keep, total)
			}
			if old && !contains(p.Staying, x.ID) {
				t.Fatalf("round %d: nothing says why %+v stays", round, x)
			}
			for _, y := range all {
				if gone[y.ID] == ForBytes && reasons[x.ID] == "" && last(y).After(last(x)) {
					t.Fatalf("round %d: %s goes for room before the older %s", round, y.ID, x.ID)
				}
			}
		}
		for _, x := range plan(left, stays, keep, now).Leaving {
			if !x.At.After(now) {
				t.Fatalf("round %d: %+v goes later", round, x)
			}
		}
	}
}

func contains(list []Staying, id string) bool {
	return slices.ContainsFunc(list, func(s Staying) bool { return s.ID == id })
}

// TestNoted: each kind of note keeps a capture.
func TestNoted(t *testing.T) {
	for _, n := range []store.Notes{{Text: "x"}, {Noted: []store.Noted{{N: 1, Mark: true}}}, {Markers: []store.Marker{{N: 1}}}} {
		if !noted(store.Capture{Notes: n}) {
			t.Errorf("%+v", n)
		}
	}
	if noted(store.Capture{}) {
		t.Error("nothing is noted")
	}
}
