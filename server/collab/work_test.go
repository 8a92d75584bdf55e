package collab

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// every returns a change that replaces every second unit of a text of n units: n spans.
func every(n int) (c Change) {
	for range n / 2 {
		c = append(c, Span{Len: 1, Keep: true}, Span{Len: 1, Text: Text{'x'}})
	}
	return c
}

// The work of a message is bounded, whatever its changes, their spans and the updates since its version are; what costs more is refused
// without doing it, and changes nothing.
func TestWorkIsBounded(t *testing.T) {
	const units = 18_000
	for _, c := range []struct {
		name             string
		updates, changes int
		of               Change
		fits             bool
	}{
		{"many spans and an old version", 1500, 14, every(units), false},
		{"many spans", 0, 14, every(units), true},
		{"one change of many spans and an old version", 1500, 1, every(units), false},
		{"many small changes", 0, 5000, Change{{Len: units, Keep: true}}, true},
		{"many small changes and an old version", 1500, 400, Change{{Len: units, Keep: true}}, false},
		{"somebody who was away", 1500, 100, Change{{Len: units, Keep: true}}, true},
	} {
		d := New(make(Text, units), 0)
		d.Most = MaxSteps
		for i := range c.updates {
			if _, err := d.Receive(i, "other", []Change{{{Len: i, Keep: true}, {Len: 1, Text: Text{'y'}}, {Len: units - i - 1, Keep: true}}}); err != nil {
				t.Fatal(err)
			}
		}
		changes := make([]Change, c.changes)
		for i := range changes {
			changes[i] = c.of
		}
		before := d.Work()
		_, err := d.Receive(0, "mine", changes)
		if c.fits != (err == nil) || err != nil && !errors.Is(err, ErrWork) {
			t.Errorf("%s: %v", c.name, err)
		}
		if did := d.Work() - before; did > MaxSteps {
			t.Errorf("%s: %d steps, at most %d are permitted", c.name, did, MaxSteps)
		}
		if err != nil && d.Version() != c.updates {
			t.Errorf("%s: something was accepted", c.name)
		}
	}
}

// Texts that are joined one by one are copied a few times in all, not once for each: a change with 20,000 insertions at one place, which
// stand apart until somebody deletes what is between them, took time by the square of their number.
func TestJoinedTextsAreCopiedOnce(t *testing.T) {
	const parts, size = maxSpans / 2, 200
	insert := make(Text, size)
	for i := range insert {
		insert[i] = 'x'
	}
	var c Change
	for range parts {
		c = append(c, Span{Text: insert}, Span{Len: 1, Keep: true})
	}
	gone := Change{{Len: parts}}
	var out Change
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			out, _ = c.Map(gone, true)
		}
	}).AllocedBytesPerOp()
	if most := int64(20 * parts * size * 2); allocated > most || out.After() != parts*size {
		t.Errorf("%d bytes are copied, at most %d are needed; %d units", allocated, most, out.After())
	}
	if &c[0].Text[0] != &insert[0] || c[0].Text[0] != 'x' || len(c[0].Text) != size {
		t.Error("mapping changed the change")
	}
}

// Places moves many positions as Position moves one.
func TestPlaces(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var c Change
		for range random.IntN(6) {
			c = c.add(Span{Len: random.IntN(4), Keep: true}, false)
			c = c.add(Span{Len: random.IntN(3), Text: make(Text, random.IntN(3))}, false)
		}
		var at, want []int
		for range random.IntN(8) {
			at = append(at, random.IntN(c.Before()+2))
			want = append(want, c.Position(at[len(at)-1], 1))
		}
		places := make([]*int, len(at))
		was := append([]int(nil), at...)
		for i := range at {
			places[i] = &at[i]
		}
		c.Places(places)
		for i := range at {
			if at[i] != want[i] {
				t.Fatalf("%v: %d is moved to %d, not to %d", c, was[i], at[i], want[i])
			}
		}
	}
}
