package frames

import (
	"context"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"testing"

	"wirebench/codec/filter"
	"wirebench/codec/filter/filtertest"
	"wirebench/codec/transport"
	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// TestDrawnFilters uses filters of all kinds wherever a list has one: as the filter of the list and as a chip, for highlights, colors, the
// lines of a timeline, the frames of a table, and searches. All select the frames that the plain evaluation selects, and none panics.
func TestDrawnFilters(t *testing.T) {
	n := filtertest.Count(os.Getenv(filtertest.Variable), 150, 4000)
	if testing.Short() {
		n /= 5
	}
	snap := definitions(t, "tera", oddFiles)
	r := rand.New(rand.NewPCG(29, 4))
	log := live.New(0)
	conn := log.Connection(live.Conn{Name: "127.0.0.1:4000-[::1]:7801", Proto: "tcp"})
	for i := range 600 {
		if err := log.Add(conn, oddFrame(r, i)); err != nil {
			t.Fatal(err)
		}
	}
	g := filtertest.New(snap.FilterEnv())
	valid, matches := 0, 0
	for range n {
		text := g.Draw(r)
		if m := checkList(t, snap, log, text, r.IntN(log.Len())); m >= 0 {
			valid++
			matches += m
		}
		if t.Failed() {
			return
		}
	}
	if t.Logf("%d of %d filters are valid, with %d matches", valid, n, matches); valid < n/4 || matches < valid {
		t.Error("the filters test little")
	}
}

// checkList uses one filter, and returns the number of frames that it selects, -1 if it has mistakes.
func checkList(t *testing.T, snap *workspace.Snapshot, log *live.Log, text string, from int) (selected int) {
	t.Helper()
	if text == "" {
		return -1 // selects everything as a filter, and nothing as a highlight or a search
	}
	defer func() {
		if v := recover(); v != nil {
			t.Errorf("%s panics: %v\n%s", text, v, debug.Stack())
		}
	}()
	ctx := context.Background()
	all := NewList(readLog{log}, snap, ListSpec{Highlight: text, Colors: []Color{{text, 3}}}, store.Notes{}, nil)
	fitting := NewList(readLog{log}, snap, ListSpec{ViewSpec: ViewSpec{Chips: []string{text}, Filter: "n >= 0"}}, store.Notes{}, nil)
	for _, l := range []*List{all, fitting} {
		for !l.View.Advance(ctx, viewTime) {
		}
	}
	f, mistakes := snap.Filter(text)
	if len(mistakes) > 0 {
		if len(all.Wrong) != 2*len(mistakes) {
			t.Errorf("%s: mistakes %v, but of the list %v", text, mistakes, all.Wrong)
		}
		return -1
	}
	want := make([]bool, log.Len())
	var frame transport.Frame
	conns := log.ConnReader()
	read := workspace.NewReading(snap)
	first := -1 // after from
	for i := range want {
		e, data, _ := log.Get(i)
		log.Frame(i, e, data, &frame)
		read.Take(&frame)
		x := filter.Frame{Frame: &frame, Where: all.View.where(i, e, conns.Of(e)).Where, Message: read.Message()}
		if i > 0 {
			before, _, _ := log.Get(i - 1)
			x.Delta = frame.At.Sub(before.Time())
		}
		rec := read.Record()
		if rec != nil {
			x.Status = rec.Status()
		}
		if want[i] = f.Everything() || f.Match(&x, rec); want[i] {
			selected++
		}
	}
	for k := range want {
		if i := (from + 1 + k) % len(want); want[i] {
			first = i
			break
		}
	}
	if fit := fitting.Fit(); fit != selected {
		t.Errorf("%s: the list has %d frames, want %d", text, fit, selected)
	}
	for at := 0; at < len(want); at += maxRowsAtOnce {
		for _, row := range all.Rows(ctx, RowsQuery{From: at, Count: maxRowsAtOnce}).Rows {
			if row.Hit != want[row.N-1] || (row.Hue == 3) != want[row.N-1] {
				t.Errorf("%s: frame %d is highlighted: %v, colored: %v, want %v", text, row.N, row.Hit, row.Hue == 3, want[row.N-1])
				return selected
			}
		}
	}
	if found, err := all.Find(ctx, &FindQuery{Text: text, As: "filter", From: from}); err != nil || found.Pos != first {
		t.Errorf("%s: found at %d after %d, want %d: %v", text, found.Pos, from, first, err)
	}
	if line, err := all.Timeline(ctx, TimelineQuery{Buckets: 7, Filters: []string{text}}); err != nil {
		t.Error(text, err)
	} else if got := sum(line.Lines[0].Frames); got != selected {
		t.Errorf("%s: the timeline counts %d frames, want %d: %s", text, got, selected, line.Lines[0].Mistake)
	}
	if _, err := all.Map(ctx, 9); err != nil {
		t.Error(text, err)
	}
	if _, err := all.Table(ctx, TableQuery{Type: text, Count: 5}); err != nil && selected > 0 {
		t.Error(text, err)
	}
	for _, as := range []string{"text", "regex", "hex", "value"} { // the text of a filter is some text
		if _, err := all.Find(ctx, &FindQuery{Text: text, As: as, From: from, Fold: from%2 == 0}); err != nil {
			t.Error(text, err)
		}
		(&FindQuery{Text: text, As: as}).Hits(ctx, snap, []byte(text))
	}
	return selected
}

func sum(all []int) (n int) {
	for _, v := range all {
		n += v
	}
	return n
}
