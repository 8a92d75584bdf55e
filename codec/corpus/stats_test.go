package corpus_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wirebench/codec/corpus"
	"wirebench/defs/schema"
)

func TestStats(t *testing.T) {
	var s corpus.Stats
	a := corpus.Type{Dir: schema.ToServer, Key: schema.Key{Code: 9}, HasKey: true}
	b := corpus.Type{Dir: schema.ToClient, Key: schema.Key{Code: 3}, HasKey: true, Name: "S_X"}
	s.Add(a, 1, 100, 10, false)
	s.Add(b, 2, 150, 7, true)
	s.Add(a, 3, 90, 30, false)
	want := []corpus.Stat{
		{Type: b, Count: 1, Bytes: 7, Min: 7, Max: 7, Bad: 1, First: 150, Last: 150, FirstAt: 2, LastAt: 2},
		{Type: a, Count: 2, Bytes: 40, Min: 10, Max: 30, First: 90, Last: 100, FirstAt: 1, LastAt: 3},
	}
	rows := s.Rows()
	if diff := gocmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	if rows[1].Average() != 20 || s.Total.Count != 3 || s.Total.Bytes != 47 || s.Total.Min != 7 {
		t.Errorf("%+v", s.Total)
	}
}

// TestStatsMerge splits frames between two: together they know what one alone would.
func TestStatsMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var one, left, right corpus.Stats
		for i := range rapid.IntRange(0, 50).Draw(t, "frames") {
			typ := corpus.Type{Key: schema.Key{Code: rapid.Uint32Range(0, 4).Draw(t, "code")}, HasKey: true}
			at, size, bad := rapid.Int64().Draw(t, "at"), rapid.IntRange(0, 99).Draw(t, "size"), rapid.Bool().Draw(t, "bad")
			half := &left
			if rapid.Bool().Draw(t, "right") {
				half = &right
			}
			one.Add(typ, uint64(i), at, size, bad)
			half.Add(typ, uint64(i), at, size, bad)
		}
		left.Merge(&right)
		if diff := gocmp.Diff(one.Rows(), left.Rows()) + gocmp.Diff(one.Total, left.Total); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestStatsAreBounded(t *testing.T) {
	var s corpus.Stats
	const all = 1<<16 + 50
	for i := range all {
		s.Add(corpus.Type{Key: schema.Key{Code: uint32(i + 1)}}, uint64(i), 0, 1, false)
	}
	s.Add(corpus.Type{}, 1, 0, 1, false)
	if len(s.Rows()) != 1<<16 || s.Other.Count != 51 || s.Total.Count != all+1 {
		t.Errorf("%d rows, %d others of %d", len(s.Rows()), s.Other.Count, s.Total.Count)
	}
}
