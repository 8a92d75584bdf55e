package frames

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/benchtest"
	"wirebench/defs/schema"
	"wirebench/server/live"
	"wirebench/server/store"
)

var sortedFields = []string{".gold", ".text", ".w", "C_SAY.text", "S_MOVE.marks", ".a", ".b", ".no_such", "S_MOVE.marks[1]"}

// mixedLog returns a log with frames of all kinds, some without a time, of several connections.
func mixedLog(t *testing.T, n int) *live.Log {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	log := live.New(0)
	for i, name := range []string{"10.0.0.10:4000-10.0.0.1:7801", "10.0.0.9:4000-10.0.0.1:7801", "10.0.0.9:4000-10.0.0.1:7801"} {
		log.Connection(live.Conn{Name: name, Session: i / 2, Proto: "tcp"})
	}
	for i := range n {
		f := oddFrame(r, i)
		switch r.IntN(30) {
		case 0:
			f.At = time.Time{}
		case 1:
			f.Via, f.From = []string{"chunk", fmt.Sprint("reliable:", r.IntN(20))}, []transport.Source{{Packet: uint32(r.IntN(2000))}}
		case 2:
			f.At = time.Unix(1e9, int64(r.IntN(n))*1e6)
		}
		flags := live.Flags(0)
		if r.IntN(20) == 0 {
			flags = []live.Flags{live.Injected, live.Modified, live.Dropped | live.Modified}[r.IntN(3)]
		}
		if err := log.AddFlagged(uint32(r.IntN(3)), f, flags); err != nil {
			t.Fatal(err)
		}
	}
	return log
}

func sortOf(t testing.TB, v *View, spec SortSpec, notes store.Notes) *Order {
	t.Helper()
	var share atomic.Int64
	o, err := SortView(context.Background(), v, spec, notes, share.Store)
	if err != nil {
		t.Fatalf("%v: %v", spec, err)
	}
	return o
}

// plainKey is the sort key of a row taken from its cells: a number, a text, or nothing.
type plainKey struct {
	kind   int // 0 number, 1 text, 2 nothing
	number float64
	text   string
}

func plainNumber(v float64) plainKey { return plainKey{number: v} }

func plainText(s string) plainKey {
	if s == "" {
		return plainKey{kind: 2}
	}
	return plainKey{kind: 1, text: string(appendSortText(nil, []byte(s), maxSortText))}
}

// plainSort sorts the rows of a list by comparing their plainKeys.
func plainSort(t *testing.T, l *List, by string, desc bool, notes store.Notes) []int {
	t.Helper()
	l.columns = sortedFields
	var rows []Row
	for from := 0; from < l.Fit(); from += maxRowsAtOnce {
		rows = append(rows, l.Rows(t.Context(), RowsQuery{From: from, Count: maxRowsAtOnce}).Rows...)
	}
	conns := l.log.Conns()
	keys := map[int]plainKey{}
	var numbers []int
	for at, r := range rows {
		numbers = append(numbers, r.N)
		e := l.log.Entry(r.N - 1)
		k := plainKey{kind: 2}
		bad := r.Status == "incomplete" || r.Status == "illegal"
		switch by {
		case "n":
			k = plainNumber(float64(r.N))
		case "time":
			if e.At != 0 {
				k = plainNumber(float64(r.T))
			}
		case "delta":
			if e.At != 0 && at > 0 && l.log.Entry(rows[at-1].N-1).At != 0 {
				k = plainNumber(float64(r.D))
			}
		case "dir":
			k = plainText(r.Dir)
		case "conn":
			k = plainText(fmt.Sprint(conns[r.Conn].Name, conns[r.Conn].Session))
		case "code":
			if r.Code != nil {
				k = plainNumber(float64(*r.Code))
			}
		case "len":
			k = plainNumber(float64(r.Len))
		case "ver":
			if r.Ver != 0 {
				k = plainNumber(float64(r.Ver))
			}
		case "name":
			name := r.Name
			if name == "" {
				name = map[string]string{"control": "control", "opaque": "encrypted", "problem": "problem"}[r.Kind]
				if r.Kind == "message" {
					if name = "?"; r.Code != nil {
						name = fmt.Sprintf("? 0x%04X", *r.Code)
					}
				}
			}
			k = plainText(name)
		case "status":
			if at := slices.Index([]string{"ok", "incomplete", "illegal", "unknown"}, r.Status); at >= 0 {
				k = plainNumber(float64(at))
			}
		case "flags":
			v := 0.0
			for _, is := range []bool{
				slices.Contains(notes.Marked, uint64(r.N)), notes.Frames[uint64(r.N)] != "", bad || r.Kind == "problem",
				strings.Contains(r.Flags, "*"), strings.Contains(r.Flags, "~"), strings.Contains(r.Flags, "X"),
			} {
				if v *= 2; is {
					v++
				}
			}
			if v > 0 {
				k = plainNumber(v)
			}
		default:
			path, ok := strings.CutPrefix(by, "=")
			column := slices.Index(sortedFields, path)
			if !ok || column < 0 {
				t.Fatalf("unknown column %s", by)
			}
			cell := ""
			if r.Cells != nil {
				cell = r.Cells[column]
			}
			k = plainText(cell)
			if n, err := strconv.ParseFloat(cell, 64); err == nil && !strings.Contains(path, "text") && path != ".b" {
				if k = plainNumber(n); math.IsNaN(n) {
					k = plainKey{kind: 2}
				}
			}
		}
		keys[r.N] = k
	}
	slices.SortStableFunc(numbers, func(a, b int) int {
		x, y := keys[a], keys[b]
		c := cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.number, y.number), cmp.Compare(x.text, y.text))
		if x.kind != 2 && y.kind != 2 && desc {
			c = -c
		}
		return c
	})
	return numbers
}

// TestSortColumns compares the order by each column with that of plainSort.
func TestSortColumns(t *testing.T) {
	snap := definitions(t, "tera", oddFiles)
	log := mixedLog(t, sortChunk+1000)
	notes := store.Notes{Marked: []uint64{7, 900, 16_000}, Frames: map[uint64]string{8: "a", 900: "b", 16_999: "c"}}
	columns := []string{"n", "time", "delta", "dir", "conn", "code", "len", "name", "ver", "status", "flags"}
	for _, path := range sortedFields {
		columns = append(columns, "="+path)
	}
	if testing.Short() {
		columns = []string{"time", "conn", "name", "=.gold", "=C_SAY.text"}
	}
	for _, filter := range []string{"", "len > 12", "n == 5", "n < 0"} {
		for _, by := range columns {
			for _, desc := range []bool{false, true} {
				if filter != "" && !desc {
					continue
				}
				t.Run(fmt.Sprint(filter, " by ", by, desc), func(t *testing.T) {
					l := oddList(t, snap, log, filter)
					l.View.notes = newListNotes(notes)
					want := plainSort(t, l, by, desc, notes)
					l.Order = sortOf(t, l.View, SortSpec{By: by, Desc: desc}, notes)
					checkOrder(t, l)
					for pos, i := range l.listed(0, l.Fit()+5) {
						if i+1 != want[pos] {
							t.Fatalf("frame %d is at %d, want %d", i+1, pos, want[pos])
						}
					}
				})
			}
		}
	}
}

// checkOrder checks that an order has each frame of its view once, and that its two slices are inverse to each other.
func checkOrder(t *testing.T, l *List) {
	t.Helper()
	fit, _ := l.View.State()
	if l.Fit() != fit {
		t.Fatalf("%d rows of %d", l.Fit(), fit)
	}
	seen := make([]bool, l.log.Len())
	for pos, i := range l.listed(0, fit) {
		if seen[i] {
			t.Fatalf("frame %d is there twice", i+1)
		}
		seen[i] = true
		if l.Position(i) != pos || l.index(pos) != i {
			t.Fatalf("frame %d is at %d, not at %d", i+1, l.Position(i), pos)
		}
	}
	if l.index(fit) >= 0 || l.index(-1) >= 0 {
		t.Error("a position beyond the end has a frame")
	}
}

// TestSortInfo checks the order of texts as shown in rows, with numbers in them compared by value.
func TestSortInfo(t *testing.T) {
	snap := definitions(t, "tera", oddFiles)
	l := oddList(t, snap, mixedLog(t, 20_000), "")
	for _, by := range []string{"info", "layers"} {
		l.Order = nil
		up, down := sortOf(t, l.View, SortSpec{By: by}, store.Notes{}), sortOf(t, l.View, SortSpec{By: by, Desc: true}, store.Notes{})
		var last string
		for from := 0; from < l.Fit(); from += maxRowsAtOnce {
			l.Order = up
			for _, r := range l.Rows(t.Context(), RowsQuery{From: from, Count: maxRowsAtOnce}).Rows {
				text := r.Info
				if by == "layers" {
					if text = strings.Join(r.Via, " "); len(r.From) > 0 {
						text = strings.TrimSpace(text + fmt.Sprintf(" of %d", r.From[0]))
					}
				} else if r.Status == "incomplete" || r.Status == "illegal" {
					text = r.Status + " · " + text
				}
				key := string(appendSortText(nil, []byte(text), 60))
				if key != "" && key < last || key == "" && last != "" && last != "none" {
					if key == "" { // all following rows have none
						last = "none"
						continue
					}
					t.Fatalf("by %s %q comes after %q", by, key, last)
				}
				if last == "none" && key != "" {
					t.Fatalf("by %s %q comes after rows without a value", by, key)
				}
				if key != "" {
					last = key
				}
			}
		}
		l.Order = down
		checkOrder(t, l)
	}
}

func TestSortTexts(t *testing.T) {
	for _, c := range []struct{ texts []string }{
		{[]string{"a", "A2", "a10", "b"}},
		{[]string{"frame 9", "Frame 10", "frame 100", "frame 100a"}},
		{[]string{"0", "1", "2", "10", "0000000000000000000099", "18446744073709551615", "118446744073709551615"}},
		{[]string{"? 0x1389", "? 0X138a", "? 0x138B", "? 0x1400", "? 0x9", "? 0xA"}},
		{[]string{"", "\x00", "\x01\x01", "!"}},
		{[]string{"äh", "Äi", "ö"}},
		{[]string{"text", "text a long one", "text a long one and more", "text a long onf"}},
	} {
		for k := 1; k < len(c.texts); k++ {
			a, b := appendSortText(nil, []byte(c.texts[k-1]), 99), appendSortText(nil, []byte(c.texts[k]), 99)
			if string(a) >= string(b) {
				t.Errorf("%q is not before %q: %q %q", c.texts[k-1], c.texts[k], a, b)
			}
		}
	}
	if string(appendSortText(nil, []byte("AbC007"), 99)) != string(appendSortText(nil, []byte("aBc7"), 99)) {
		t.Error("case and leading zeros make a difference")
	}
}

func FuzzSortText(f *testing.F) {
	for _, text := range []string{"", "a10b", "\xff\x00", "ÄÖ 12345678901234567890", strings.Repeat("9", 300)} {
		f.Add(text, 24)
	}
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = min(max(most, 0), 1000)
		out := appendSortText([]byte("x"), []byte(text), most)[1:]
		if len(out) > most || slices.Contains(out, 0) {
			t.Errorf("%q of %q", out, text)
		}
		if whole := appendSortText(nil, []byte(text), 1<<20); !strings.HasPrefix(string(whole), string(out)) && !strings.ContainsAny(text, "0123456789") {
			t.Errorf("%q does not begin %q", out, whole)
		}
	})
}

// TestSortNumbers checks that numbers are ordered by value, also where a float cannot distinguish them.
func TestSortNumbers(t *testing.T) {
	k := &keyMaker{sorter: &sorter{}}
	var put []func(int)
	for _, v := range []int64{math.MinInt64, math.MinInt64 + 1, -1 << 53, -1<<53 + 1, -1, 0, 1, 1 << 53, 1<<53 + 1, 1<<62 + 1, 1<<62 + 2, math.MaxInt64 - 1, math.MaxInt64} {
		put = append(put, func(rank int) { k.int(rank, v) })
	}
	for _, v := range []uint64{1 << 63, 1<<63 + 1, math.MaxUint64 - 1, math.MaxUint64} {
		put = append(put, func(rank int) { k.uint(rank, v) })
	}
	put = append(put, func(rank int) { k.float(rank, math.Inf(1)) })
	k.rows = make([]sortRow, len(put))
	for rank, f := range put {
		f(rank)
	}
	for i := 1; i < len(put); i++ {
		if a, b := k.rows[i-1], k.rows[i]; a.key > b.key || a.key == b.key && a.at >= b.at || b.at >= atText {
			t.Errorf("number %d is not above the one before: %x %d, %x %d", i, a.key, a.at, b.key, b.at)
		}
	}
	k.int(0, 1<<53)
	k.float(1, 1<<53)
	if k.rows[0].key != k.rows[1].key || k.rows[0].at != k.rows[1].at {
		t.Error("an integer differs from the same number as a float")
	}
	if k.float(0, math.NaN()); k.rows[0].at != atMissing {
		t.Error("NaN is a number")
	}
}

// TestSortBounds checks lists that cannot be sorted, and cancellation.
func TestSortBounds(t *testing.T) {
	snap := definitions(t, "tera", oddFiles)
	l := oddList(t, snap, mixedLog(t, 2000), "")
	for _, by := range []string{"", "no such", "=", "=" + strings.Repeat("x", 2000)} {
		if _, err := SortView(context.Background(), l.View, SortSpec{By: by}, store.Notes{}, func(int64) {}); err == nil {
			t.Errorf("sorted by %.20q", by)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := SortView(ctx, l.View, SortSpec{By: "info"}, store.Notes{}, func(int64) {}); err == nil {
		t.Error("sorted after cancellation")
	}
	// Later frames are not in the order, and are counted.
	l.Order = sortOf(t, l.View, SortSpec{By: "len", Desc: true}, store.Notes{})
	for i := range 10 {
		if err := l.log.Add(0, oddFrame(rand.New(rand.NewPCG(1, 1)), i)); err != nil {
			t.Fatal(err)
		}
	}
	l.View.Advance(context.Background(), time.Second)
	if l.Fit() != 2000 || l.Fresh() != 10 || l.Position(2005) != 2000 || l.index(2000) != -1 {
		t.Errorf("%d rows, %d new, a new one is at %d", l.Fit(), l.Fresh(), l.Position(2005))
	}
}

// TestSortRolling sorts a log that discards frames meanwhile.
func TestSortRolling(t *testing.T) {
	snap := definitions(t, "tera", oddFiles)
	log := live.NewRolling(1 << 20)
	conn := log.Connection(live.Conn{Name: "a-b"})
	r := rand.New(rand.NewPCG(3, 3))
	add := func(n int) {
		for i := range n {
			if err := log.Add(conn, oddFrame(r, i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(20_000)
	for _, filter := range []string{"", "len > 8"} {
		l := oddList(t, snap, log, filter)
		l.Order = sortOf(t, l.View, SortSpec{By: "len"}, store.Notes{})
		kept := l.Fit()
		if kept == 0 || l.Order.start == 0 && filter == "" {
			t.Fatalf("%d rows from %d on", kept, l.Order.start)
		}
		add(600)
		l.View.Advance(context.Background(), time.Second)
		gone := 0
		for from := 0; from < kept; from += maxRowsAtOnce {
			for _, row := range l.Rows(t.Context(), RowsQuery{From: from, Count: maxRowsAtOnce}).Rows {
				if strings.Contains(row.Info, "no longer in memory") {
					if gone++; row.N < 1 {
						t.Fatal("the index of a discarded frame is unknown")
					}
				}
			}
		}
		if gone == 0 || gone == kept {
			t.Errorf("%d of %d were discarded", gone, kept)
		}
		found, err := l.search(context.Background(), -1, false, func(int, live.Entry, []byte) bool { return true })
		if err != nil || found < 0 || l.index(found) < log.Base() {
			t.Errorf("found %d %v", found, err)
		}
	}
}

// say adds a message with a text to a log.
func say(t *testing.T, log *live.Log, text string) {
	t.Helper()
	msg := []byte{0, 0, 0x01, 0x10, 10, 0, 1, 2, 3, 4}
	for _, c := range text {
		msg = append(msg, byte(c), 0)
	}
	f := &transport.Frame{Kind: transport.Message, Dir: schema.ToServer, HasKey: true, Key: schema.Key{Dir: schema.ToServer, Code: 0x1001}, Bytes: append(msg, 0, 0)}
	binary.LittleEndian.PutUint16(f.Bytes, uint16(len(f.Bytes)))
	if err := log.Add(0, f); err != nil {
		t.Fatal(err)
	}
}

// TestSortInParts sorts by texts of which only a small part fits in memory at a time, and that differ late or not at all.
func TestSortInParts(t *testing.T) {
	snap := definitions(t, "tera", oddFiles)
	r := rand.New(rand.NewPCG(7, 8))
	log := live.New(0)
	log.Connection(live.Conn{Name: "a-b"})
	for range 5000 {
		say(t, log, strings.Repeat("abcd", []int{0, 5, 6, 12, 40, 59}[r.IntN(6)])+strings.Repeat(string(rune('p'+r.IntN(4))), r.IntN(40))+fmt.Sprint(r.IntN(30)))
	}
	l := oddList(t, snap, log, "")
	for _, by := range []string{"=.text", "info"} {
		for _, desc := range []bool{false, true} {
			spec := SortSpec{By: by, Desc: desc}
			parts, err := sortView(t.Context(), l.View, spec, store.Notes{}, func(int64) {}, 1)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := sortView(t.Context(), l.View, spec, store.Notes{}, func(int64) {}, 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(parts.Frames, whole.Frames) || !slices.Equal(parts.place, whole.place) {
				at := 0
				for parts.Frames[at] == whole.Frames[at] {
					at++
				}
				t.Errorf("%v: the frame at %d is %d, and %d with all texts in memory", spec, at, parts.Frames[at], whole.Frames[at])
			}
			if slices.IsSorted(whole.Frames) {
				t.Errorf("%v: there is nothing to sort", spec)
			}
		}
	}
}

// TestSortMemory counts the bytes that sorting a row takes: of a long text, only as much as distinguishes it.
func TestSortMemory(t *testing.T) {
	snap := definitions(t, "tera", oddFiles)
	r := rand.New(rand.NewPCG(9, 9))
	log := live.New(0)
	log.Connection(live.Conn{Name: "a-b"})
	const n = 40_000
	for range n {
		say(t, log, fmt.Sprintf("%x", r.Uint64())+strings.Repeat("the same", 25))
	}
	l := oddList(t, snap, log, "")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := sortView(t.Context(), l.View, SortSpec{By: "=.text"}, store.Notes{}, func(int64) {}, 1<<20); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	took := (after.TotalAlloc - before.TotalAlloc) / n
	if t.Logf("%d bytes a row", took); took > 180 && !benchtest.Raced {
		t.Errorf("sorting takes %d bytes a row; the whole texts have 216", took)
	}
}
