package frames

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wirebench/codec"
	"wirebench/codec/corpus"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

var oddFiles = map[string]string{
	"C_SAY.1.def": "string text\nint32 gold\n", "S_MOVE.1.def": "int32 x\nint32 gold\nfloat w\narray<int16> marks\n", "S_NO_CODE.1.def": "int32 a\nbytes b\n",
	"protocol.1.map": "C_SAY 4097\nS_MOVE 4098\n",
}

// oddFrame returns a frame of one of many kinds: with and without a definition, a name and a code, valid and invalid, short and too long
// for columns.
func oddFrame(r *rand.Rand, i int) *transport.Frame {
	f := &transport.Frame{Kind: transport.Message, Dir: schema.ToServer, HasKey: true, At: time.Unix(1e9, int64(i)*1e6)}
	body := make([]byte, r.IntN(40))
	for k := range body {
		body[k] = byte(r.Uint32() >> (r.Uint32() % 28))
	}
	switch r.IntN(12) {
	default:
		f.Key.Code = 4097
		body = append(binary.LittleEndian.AppendUint32([]byte{10, 0}, uint32(i/7)), bytes.Repeat([]byte{'x', 0}, r.IntN(4))...)
		body = append(body, 0, 0)
	case 5, 6, 7:
		f.Key.Code, f.Dir = 4098, schema.ToClient
	case 8:
		f.Key.Code = uint32(5000 + r.IntN(3))
		f.Dir = []schema.Dir{schema.ToServer, schema.ToClient}[r.IntN(2)]
	case 9:
		f.HasKey, f.Name = false, []string{"S_NO_CODE", "C_SAY", "no such"}[r.IntN(3)]
		f.Dir = []schema.Dir{schema.ToServer, schema.ToClient}[r.IntN(2)]
	case 10:
		f.HasKey = false
		f.Kind = []transport.Kind{transport.Message, transport.Control, transport.Opaque, transport.Problem}[r.IntN(4)]
	case 11:
		f.Key.Code, f.Note = 4097, "odd"
		if r.IntN(20) == 0 {
			body = make([]byte, feedLong+r.IntN(100))
		}
	}
	f.Bytes = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, uint16(4+len(body))), uint16(f.Key.Code))
	f.Bytes = append(f.Bytes, body...)
	if r.IntN(9) == 0 {
		f.Bytes = f.Bytes[:r.IntN(len(f.Bytes))]
	}
	return f
}

func oddList(t *testing.T, snap *workspace.Snapshot, log *live.Log, filter string) *List {
	t.Helper()
	l := NewList(readLog{log}, snap, ListSpec{ViewSpec: ViewSpec{Filter: filter}}, store.Notes{}, nil)
	if len(l.View.Mistakes) > 0 {
		t.Fatal(l.View.Mistakes)
	}
	for !l.View.Advance(context.Background(), time.Minute) {
	}
	return l
}

// TestTablesOfTypes compares the counts of types and their tables with a description of each single frame.
func TestTablesOfTypes(t *testing.T) {
	if testing.Short() {
		t.Skip("many tables of one goroutine, with -short")
	}
	snap := definitions(t, "tera", oddFiles)
	r := rand.New(rand.NewPCG(1, 2))
	log := live.New(0)
	conn := log.Connection(live.Conn{Name: "a-b"})
	for i := range 20_000 {
		if err := log.Add(conn, oddFrame(r, i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, filter := range []string{"", "len > 12", "n < 9000", "kind == problem"} {
		t.Run(filter, func(t *testing.T) {
			l := oddList(t, snap, log, filter)
			types, err := l.Types(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			asked, total := map[string]bool{}, 0
			for _, row := range types.Rows {
				total += row.Count
				if !asked[row.Type] {
					asked[row.Type] = true
					checkTable(t, l, row.Type, types.Rows)
				}
			}
			if fit, _ := l.View.State(); total != fit || types.Total != fit {
				t.Errorf("%d frames have a type of %d, total %d", total, fit, types.Total)
			}
			for _, f := range []string{"", "C_SAY.gold > 500", `.text contains "x" && n % 2 == 1`, "!C_SAY"} { // filters that are not types
				checkTable(t, l, f, nil)
			}
		})
	}
}

// checkTable compares a table with the frames that match one by one. rows are the types, if the filter is of one type.
func checkTable(t *testing.T, l *List, kind string, rows []*typeRow) {
	t.Helper()
	f, mistakes := l.snap.Filter(kind)
	if len(mistakes) > 0 {
		t.Fatal(kind, mistakes)
	}
	var frames []int
	var program *codec.Program
	var want *corpus.Table
	var plain corpus.Bytes
	var rec codec.Record
	bad, count := 0, 0
	var frame transport.Frame
	err := l.View.Each(context.Background(), 0, false, func(_, i int, e live.Entry, data []byte) bool {
		l.log.Frame(i, e, data, &frame)
		if !f.Fits(l.View.where(i, e, &live.Conn{Name: "a-b"}), &frame) {
			return true
		}
		count++
		p := frameProgram(l.snap, &frame)
		if p != nil {
			if p.Decode(&rec, data); rec.Status() != codec.OK {
				bad++
			}
		}
		if len(frames) == 0 && p != nil {
			program, want = p, corpus.NewTable(p)
		}
		if p != program {
			return true
		}
		if frames = append(frames, i); p != nil {
			want.Add(uint64(i+1), data)
		} else {
			plain.Add(uint64(i+1), data)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	l.tables.last = nil
	got, err := l.makeTable(context.Background(), kind, nil)
	if len(frames) == 0 {
		if err == nil {
			t.Fatalf("%q: a table without frames", kind)
		}
		return
	}
	if err != nil {
		t.Fatal(kind, err)
	}
	if !slices.Equal(got.frames, frames) || got.program != program {
		t.Fatalf("%q: %d frames, want %d", kind, len(got.frames), len(frames))
	}
	byType := tableOf(program, want, &plain)
	if diff := cmp.Diff(byType, got.columns); diff != "" {
		t.Fatalf("%q: %s", kind, diff)
	}
	if want != nil {
		if incomplete, illegal := want.Bad(); got.bad != int(incomplete+illegal) {
			t.Fatalf("%q: %d bad, want %d and %d", kind, got.bad, incomplete, illegal)
		}
	}
	if rows == nil {
		return
	}
	counted, wrong := 0, 0
	for _, row := range rows {
		if row.Type == kind {
			counted, wrong = counted+row.Count, wrong+row.Bad
		}
	}
	if counted != count || wrong != bad {
		t.Errorf("%q: %d frames are of the type, %d bad; %d fit, %d bad", kind, counted, wrong, count, bad)
	}
}

// tableOf returns the columns of statistics computed one by one.
func tableOf(p *codec.Program, fields *corpus.Table, plain *corpus.Bytes) []tableColumn {
	t := &fieldTable{}
	if p == nil {
		t.byteColumns(plain)
		return t.columns
	}
	for _, c := range fields.Columns() {
		path := "*." + c.Filter
		if c.Len {
			path = fmt.Sprintf("len(*.%s)", c.Path)
		}
		t.columns = append(t.columns, newTableColumn(c.Path, path, c.Type, &c.Figures, c.Frames))
	}
	return t.columns
}

// TestLongMessagesKeepTheirPlace has a number that increases from message to message, also in messages that are too long for columns.
func TestLongMessagesKeepTheirPlace(t *testing.T) {
	snap := definitions(t, "tera", oddFiles)
	log := live.New(0)
	conn := log.Connection(live.Conn{Name: "a-b"})
	for i := range 3000 {
		f := &transport.Frame{HasKey: true, Dir: schema.ToServer, Key: schema.Key{Code: 4097}}
		f.Bytes = binary.LittleEndian.AppendUint32([]byte{12, 0, 1, 16, 10, 0}, uint32(i))
		f.Bytes = append(f.Bytes, 0, 0)
		if i%70 == 9 {
			f.Bytes = append(f.Bytes, make([]byte, feedLong)...)
		}
		if err := log.Add(conn, f); err != nil {
			t.Fatal(err)
		}
	}
	got, err := oddList(t, snap, log, "").makeTable(context.Background(), "C_SAY", nil)
	if err != nil {
		t.Fatal(err)
	}
	if c := got.columns[1]; c.Path != "gold" || c.Trend != "strictly rising" || c.Distinct != 3000 || got.bad != 0 {
		t.Errorf("%d bad, %+v", got.bad, c)
	}
}

// TestTableWhileFramesCome makes tables of running traffic, of which the oldest frames are discarded.
func TestTableWhileFramesCome(t *testing.T) {
	snap := definitions(t, "tera", oddFiles)
	log := live.NewRolling(8 << 20)
	conn := log.Connection(live.Conn{Name: "a-b"})
	stop := make(chan struct{})
	var adder sync.WaitGroup
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 20_000 {
		_ = log.Add(conn, oddFrame(r, i))
	}
	adder.Go(func() {
		for i := 20_000; ; i++ {
			select {
			case <-stop:
				return
			default:
				_ = log.Add(conn, oddFrame(r, i))
			}
		}
	})
	for range 8 {
		for _, filter := range []string{"", "len > 8"} {
			l := oddList(t, snap, log, filter)
			got, err := l.makeTable(context.Background(), "C_SAY", nil)
			if err != nil || !slices.IsSorted(got.frames) || len(got.columns) != 2 || got.columns[0].Present == 0 {
				t.Fatalf("%v %+v", err, got)
			}
			if _, err := l.Types(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	adder.Wait()
}
