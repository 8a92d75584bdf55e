package frames

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wirebench/server/live"
	"wirebench/server/store"
)

// plainMap counts the properties of the rows of a list.
func plainMap(l *List, notes store.Notes, parts int) *Map {
	total := l.Fit()
	parts = min(parts, max(total, 1))
	out := &Map{Total: total, Known: total, Done: true}
	for _, list := range []*[]int{&out.Bad, &out.Unknown, &out.Hit, &out.Marked, &out.Noted, &out.Hue, &out.Hued} {
		*list = make([]int, parts)
	}
	hues := make([][9]int, parts)
	pos := 0
	for from := 0; from < total; from += maxRowsAtOnce {
		for _, r := range l.Rows(context.Background(), RowsQuery{From: from, Count: maxRowsAtOnce}).Rows {
			b := pos * parts / total
			pos++
			for list, is := range map[*[]int]bool{
				&out.Bad: r.Kind == "problem" || r.Status == "incomplete" || r.Status == "illegal", &out.Unknown: r.Status == "unknown", &out.Hit: r.Hit,
				&out.Marked: slices.Contains(notes.Marked, uint64(r.N)), &out.Noted: notes.Frames[uint64(r.N)] != "",
			} {
				if is {
					(*list)[b]++
				}
			}
			hues[b][r.Hue]++
		}
	}
	for b, of := range hues {
		for hue, many := range of {
			if hue > 0 && many > out.Hued[b] {
				out.Hue[b], out.Hued[b] = hue, many
			}
		}
	}
	return out
}

// TestMap compares the overview of a list with its rows, in several orders.
func TestMap(t *testing.T) {
	if testing.Short() {
		t.Skip("many maps of one goroutine, with -short")
	}
	snap := definitions(t, "tera", oddFiles)
	log := mixedLog(t, 5000)
	notes := store.Notes{Marked: []uint64{1, 7, 900, 4900, 30_000}, Frames: map[uint64]string{8: "a", 900: "b", 5000: "c", 99_999: "gone"}}
	for _, filter := range []string{"", "len > 12", "n == 5", "n < 0"} {
		for _, by := range []string{"", "len", "info"} {
			for _, parts := range []int{1, 7, 1000, 100_000} {
				t.Run(fmt.Sprint(filter, " by ", by, parts), func(t *testing.T) {
					l := oddList(t, snap, log, filter)
					l.noted.Store(newListNotes(notes))
					l.overview = &overview{}
					for hue, text := range []string{"", "S_MOVE", "C_SAY && len > 20", "len == 9", "C_SAY"} {
						if f, mistakes := l.snap.Filter(text); len(mistakes) > 0 {
							t.Fatal(mistakes)
						} else if hue > 0 {
							l.colors = append(l.colors, colorRule{f, hue, text})
						}
					}
					l.hit, _ = l.snap.Filter(".gold > 1000 || op == 0x1389")
					if by != "" {
						l.Order = sortOf(t, l.View, SortSpec{By: by, Desc: true}, notes)
					}
					var got *Map
					for done := false; !done; done = got.Done {
						var err error
						if got, err = l.Map(context.Background(), parts); err != nil {
							t.Fatal(err)
						}
					}
					if diff := cmp.Diff(plainMap(l, notes, min(parts, maxMapBuckets)), got); diff != "" {
						t.Error(diff)
					}
				})
			}
		}
	}
	l := oddList(t, snap, log, "")
	l.overview = &overview{}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.Map(ctx, 5); err == nil {
		t.Error("a result after cancellation")
	}
}

// TestMapRolling checks that the overview drops discarded frames, and continues.
func TestMapRolling(t *testing.T) {
	snap := definitions(t, "tera", oddFiles)
	log := live.NewRolling(1 << 20)
	conn := log.Connection(live.Conn{Name: "a-b"})
	r := rand.New(rand.NewPCG(3, 4))
	l := oddList(t, snap, log, "")
	l.overview = &overview{}
	for range 20 {
		for i := range 3000 {
			if err := log.Add(conn, oddFrame(r, i)); err != nil {
				t.Fatal(err)
			}
		}
		l.View.Advance(context.Background(), time.Second)
		for done := false; !done; {
			got, err := l.Map(context.Background(), 100)
			if err != nil {
				t.Fatal(err)
			}
			done = got.Done
		}
	}
	if kept := log.Len() - log.Base(); len(l.overview.rows) > 3*max(kept, 3000) {
		t.Errorf("%d rows are cached of %d", len(l.overview.rows), kept)
	}
}
