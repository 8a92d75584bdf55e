package filter_test

import (
	"fmt"
	"testing"

	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/defs/benchtest"
)

// TestNoAllocations checks that judging a frame does not allocate once its memory has grown.
func TestNoAllocations(t *testing.T) {
	if benchtest.Raced {
		t.Skip("the race detector allocates")
	}
	w := fight(t)
	frames := fightFrames(t, w)
	var records []*codec.Record
	for _, letter := range fightOrder {
		records = append(records, w.record(t, frames[string(letter)]))
	}
	for _, text := range []string{
		".damage > 5", ".channel == 3", ".ids == 5", "all .members.level > 3", ".x in {0.1..0.5}", ".skill.id == 77", "dir == c2s && len > 10", ".flags & 4",
		`name ~ "^S_"`, `.members.name == "mew"`, "lower(.message) contains \"x\"", ".members.level == .members.items.id", "bytes contains u32le(7)", "party", "= 48211", "count(.members) > 2", `conn contains "127"`, `op in {1, 3..9, 500}`,
		"max(.members.level, .damage, len) > min(.members.level) + abs(delta)", `bytes[0,2:2,-1] == 00:00:00:01`, ".members.level === 60", `string(len)[:1] == "1" || string(srcip) contains "9"`,
	} {
		f, mistakes := filter.Compile(text, w.env)
		if len(mistakes) > 0 {
			t.Fatal(text, mistakes)
		}
		if n := testing.AllocsPerRun(200, func() {
			for i, letter := range fightOrder {
				x := frames[string(letter)]
				f.Index(x)
				f.Match(x, records[i])
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

// BenchmarkMatch judges a million decoded frames with filters of several kinds.
func BenchmarkMatch(b *testing.B) {
	w := fight(b)
	frames := fightFrames(b, w)
	letters := []string{"c", "1", "f", "p"}
	var records []*codec.Record
	for _, l := range letters {
		records = append(records, w.record(b, frames[l]))
	}
	for _, text := range []string{".damage > 5", "S_FIGHT.damage > 5", ".channel == 3 && dir == c2s", ".ids == 7", ".message contains \"lfg\"", "party", ".members.level > 60", `name ~ "^S_"`} {
		f, mistakes := filter.Compile(text, w.env)
		if len(mistakes) > 0 {
			b.Fatal(mistakes)
		}
		b.Run(fmt.Sprint(text), func(b *testing.B) {
			const million = 1_000_000
			for b.Loop() {
				for i := range million {
					k := i & 3
					f.Match(frames[letters[k]], records[k])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/million, "ns/frame")
		})
	}
	f, _ := filter.Compile("S_FIGHT.damage > 5", w.env)
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			for i := range 1_000_000 {
				f.Index(frames[letters[i&3]])
			}
		}
	})
	x, rec := frames["f"], records[2]
	b.Run("only the message", func(b *testing.B) {
		for b.Loop() {
			for range 1_000_000 {
				f.Match(x, rec)
			}
		}
	})
}
