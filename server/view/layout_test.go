package view

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/corpora"
	"wirebench/server/workspace"
)

// library returns a library like a real one, and the programs of its messages.
func library(t testing.TB) (snap *workspace.Snapshot, programs []*codec.Program) {
	t.Helper()
	snap = snapshot(t, "", corpora.Definitions(300))
	for m := range snap.Messages() {
		if p, err := snap.Program(m); err == nil {
			programs = append(programs, p)
		}
	}
	if len(programs) < 200 {
		t.Fatalf("%d programs", len(programs))
	}
	return snap, programs
}

// Rows have the places and the lines of a layout, and cells each byte of a message of fixed size once, for definitions of all kinds.
func TestLayoutOfManyDefinitions(t *testing.T) {
	_, programs := library(t)
	fixed := 0
	for _, p := range programs {
		info := view.Layout(p)
		ends, line, sum := map[int]int64{}, 0, int64(0)
		for i, r := range LayoutRows(info.Rows) {
			of := &info.Rows[i]
			if i > 0 && r.Depth > info.Rows[i-1].Depth {
				ends[r.Depth] = 0
			}
			at := ends[r.Depth] + r.Jump
			if ends[r.Depth] = at + r.Bits; !r.Unlined {
				line += r.Skip + 1
			}
			if at != of.AtBits || r.Unlined != (of.Line <= 0) || !r.Unlined && line != of.Line {
				t.Errorf("%s: %s is at bit %d and line %d, not %d and %d", info.Message, r.Path, at, line, of.AtBits, of.Line)
			}
			if r.Depth == 0 && !r.Placed {
				sum += r.Bits
			}
		}
		if sum != info.MinSize*8 {
			t.Errorf("%s: the rows have %d bits of at least %d", info.Message, sum, info.MinSize*8)
		}
		if info.MaxSize == nil || *info.MaxSize != info.MinSize {
			continue
		}
		fixed++
		bytes := 0
		for _, c := range Cells(&info) {
			if bytes += c.Width; c.Kind == view.CellCut {
				cut := 0
				_, _ = fmt.Sscanf(c.Text, "… %d bytes", &cut)
				bytes += cut - c.Width
			}
		}
		if int64(bytes) != info.MinSize {
			t.Errorf("%s: the cells have %d bytes of %d", info.Message, bytes, info.MinSize)
		}
	}
	if fixed < 50 {
		t.Errorf("%d messages of fixed size", fixed)
	}
}

// The runs of a tree cover each bit of a message once, whatever the bytes are. Those that say that they share bytes may have others.
func TestTreeCoversAMessage(t *testing.T) {
	_, programs := library(t)
	rapid.Check(t, func(t *rapid.T) {
		p := programs[rapid.IntRange(0, len(programs)-1).Draw(t, "program")]
		examples := value.Examples(p, 2, rapid.Uint64().Draw(t, "seed"), 7)
		if len(examples) == 0 {
			return
		}
		data := slices.Clone(rapid.SampledFrom(examples).Draw(t, "example").Data)
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			if len(data) > 0 {
				data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
			}
		}
		data = append(data[:rapid.IntRange(0, len(data)).Draw(t, "cut")], rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "more")...)
		var rec codec.Record
		p.Decode(&rec, data)
		res := view.Of(&rec, true)
		if rest, ok := view.Rest(&rec); ok {
			res.Fields = append(res.Fields, rest)
		}
		x := TreeOf(&res, nil, true)
		covered, shared := make([]int, len(data)*8), make([]bool, len(data)*8)
		run, jumped, end := 0, 0, 0
		for _, n := range x.Rows {
			if x.Parts[n].Role == roleGroup {
				continue
			}
			if len(x.Jumps) > 0 && jumped+x.Jumps[0].Runs == run {
				end, jumped, x.Jumps = end+x.Jumps[0].Bits, run, x.Jumps[1:]
			}
			for range x.Bits[run] {
				if part := x.Parts[n]; !part.Overlaps && !part.Packed {
					covered[end]++
				} else if !part.Packed {
					shared[end] = true
				}
				end++
			}
			run++
		}
		for at, is := range shared {
			if is && covered[at] == 0 { // the only one that has it
				covered[at] = 1
			}
		}
		if at := slices.IndexFunc(covered, func(n int) bool { return n != 1 }); at >= 0 || run != len(x.Texts) || len(x.Jumps) > 0 {
			t.Fatalf("bit %d of %x is covered %d times; %d runs have %d values", at, data, covered[max(at, 0)], run, len(x.Texts))
		}
	})
}

// Whatever is typed, the changes of the rows and cells of a page give those of the text, and an analysis is the same with and without a cache.
func TestPatchesOfTypedText(t *testing.T) {
	snap, programs := library(t)
	rapid.Check(t, func(t *rapid.T) {
		m := programs[rapid.IntRange(0, len(programs)-1).Draw(t, "program")].Message
		seed := maphash.MakeSeed()
		var c Cache
		var rows []LayoutRow
		var cells []Cell
		var rowSums, cellSums []uint32
		var good *workspace.Definition
		lines := strings.Split(m.Span.File.Text, "\n")
		for range rapid.IntRange(1, 6).Draw(t, "keys") {
			at := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
			switch kind := rapid.SampledFrom([]string{"int32 typed", "array typed", "- byte typed", "string typed", "int", ""}).Draw(t, "typed"); kind {
			case "":
				lines = slices.Delete(slices.Clone(lines), at, min(at+1, len(lines)-1))
			default:
				lines = slices.Insert(slices.Clone(lines), at, kind)
			}
			ask := Asked{Snap: snap, Name: snap.NameOf(m), Text: strings.Join(lines, "\n"), Good: good}
			a, err := c.Of(ask)
			if err != nil {
				return // the file has another name
			}
			if bare, err := Of(ask); err != nil || !cmp.Equal(bare.Rows, a.Rows) || !cmp.Equal(bare.Cells, a.Cells) || !cmp.Equal(bare.Holes, a.Holes) || bare.Stale != a.Stale {
				t.Fatalf("%q is another text with a cache: %v", ask.Text, err)
			}
			if !a.Def.Broken() {
				good = a.Def
			}
			sums := Sums(seed, a.Rows)
			rows, rowSums = apply(rows, ListPatches(rowSums, sums, a.Rows)), sums
			sums = Sums(seed, a.Cells)
			cells, cellSums = apply(cells, ListPatches(cellSums, sums, a.Cells)), sums
			if diff := cmp.Diff(a.Rows, rows) + cmp.Diff(a.Cells, cells); diff != "" {
				t.Fatalf("the page has other rows or cells:\n%s", diff)
			}
		}
	})
}
