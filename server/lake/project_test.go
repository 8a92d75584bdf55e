package lake

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"wirebench/codec"
	"wirebench/codec/parquet"
	"wirebench/server/objects"
)

var errFault = errors.New("fault")

// faulty fails a change: before it, or after it, as a service whose answer is lost.
type faulty struct {
	objects.Store
	left int // changes until then; negative: none fails
	late bool
}

func (f *faulty) change(do func() error) error {
	f.left--
	if f.left == 0 && !f.late {
		return errFault
	}
	err := do()
	if f.left == 0 {
		err = errFault
	}
	return err
}

func (f *faulty) Put(ctx context.Context, name, file string) error {
	return f.change(func() error { return f.Store.Put(ctx, name, file) })
}

func (f *faulty) Remove(ctx context.Context, name string) error {
	return f.change(func() error { return f.Store.Remove(ctx, name) })
}

func (f *faulty) Write(ctx context.Context, name string, data []byte, tag string) (out string, err error) {
	err = f.change(func() error {
		out, err = f.Store.Write(ctx, name, data, tag)
		return err
	})
	return out, err
}

// madeFrame is a frame of a made-up capture.
type madeFrame struct {
	day     Day
	program int // -1: none
	number  uint32
}

// TestOnce takes frames of growing captures in many batches, of which some fail at any step, also after it, replaces captures and merges files:
// at the end each frame has one row, in the file of its message and day, with its value, and there are no other files.
func TestOnce(t *testing.T) {
	ps := programs(t, "A", "B", "C")
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dir := t.TempDir()
			rng := rand.New(rand.NewPCG(seed, 7))
			folder, err := objects.OpenFolder(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer folder.Close()
			store := &faulty{Store: folder}
			captures := map[string][]madeFrame{}
			var p *Project
			open := func() {
				store.left = -1
				if p, err = Open(t.Context(), store, "mine/1"); err != nil {
					t.Fatal(err)
				}
			}
			open()
			faults, replacements := 0, 0
			for range 50 {
				for id := range captures { // they grow
					for range rng.IntN(30) {
						captures[id] = append(captures[id], madeFrame{Day(20_000 + rng.IntN(3)), rng.IntN(len(ps)+1) - 1, rng.Uint32()})
					}
				}
				if len(captures) < 6 {
					captures[fmt.Sprintf("capture %d", len(captures))] = nil
				}
				store.left, store.late = rng.IntN(40), rng.IntN(2) == 0
				replaced := map[string]bool{}
				for id := range captures {
					if rng.IntN(12) == 0 {
						captures[id] = captures[id][rng.IntN(len(captures[id])+1):] // it is another one now
						replaced[id] = true
						replacements++
					}
				}
				some := maps.Clone(captures)
				maps.DeleteFunc(some, func(id string, _ []madeFrame) bool { return !replaced[id] && rng.IntN(2) == 0 })
				err := takeAll(t.Context(), p, ps, some, replaced)
				for more := true; err == nil && more && rng.IntN(3) == 0; {
					more, err = p.Compact(t.Context(), time.Unix(20_002*24*3600, 0))
				}
				if errors.Is(err, errFault) {
					faults++
					for id := range replaced { // those days that were done have the new frames: it is told again
						replaced[id] = true
					}
					open()
					err = takeAll(t.Context(), p, ps, captures, replaced)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			open()
			for more := true; more; {
				if more, err = p.Compact(t.Context(), time.Unix(20_010*24*3600, 0)); err != nil {
					t.Fatal(err)
				}
			}
			if err := takeAll(t.Context(), p, ps, captures, nil); err != nil {
				t.Fatal(err)
			}
			if faults < 4 || replacements < 4 {
				t.Errorf("%d faults and %d replacements: the test tests little", faults, replacements)
			}
			compareLake(t, dir, p, ps, captures)
		})
	}
}

// takeAll takes all frames of all captures.
func takeAll(ctx context.Context, p *Project, ps []*codec.Program, captures map[string][]madeFrame, replaced map[string]bool) error {
	b := p.Begin(nil, replaced)
	defer b.Abandon()
	for id, frames := range captures {
		c := &Capture{ID: id}
		for n, f := range frames {
			var program *codec.Program
			if f.program >= 0 {
				program = ps[f.program]
			}
			if _, err := b.Take(c, f.day, program, message(f.number), parquet.Frame{Capture: id, N: uint64(n)}); err != nil {
				return err
			}
		}
	}
	return b.Commit(ctx)
}

type madeRow struct {
	kind, day, capture string
	n                  uint64
	number             uint32
}

func compareLake(t *testing.T, dir string, p *Project, ps []*codec.Program, captures map[string][]madeFrame) {
	t.Helper()
	want := map[madeRow]int{}
	for id, frames := range captures {
		for n, f := range frames {
			if f.program >= 0 {
				want[madeRow{ps[f.program].Message.Name + ".1", f.day.String(), id, uint64(n), f.number}]++
			}
		}
	}
	listed := map[string]int{}
	p.Files(func(_ Day, l *Listed) { listed[filepath.Join(dir, filepath.FromSlash(l.Path))] = l.Rows })
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(name, extension) {
			return err
		}
		parts := strings.Split(filepath.ToSlash(name), "/")
		row := madeRow{kind: strings.TrimPrefix(parts[len(parts)-3], "_message="), day: strings.TrimPrefix(parts[len(parts)-2], "_day=")}
		if parts[len(parts)-4] != "_project=mine%2F1" {
			t.Errorf("a file is at %s", name)
		}
		type columns struct {
			Capture string `parquet:"_capture"`
			N       uint64 `parquet:"_n"`
			Number  uint32 `parquet:"number"`
		}
		rows, err := pq.ReadFile[columns](name)
		if err != nil {
			t.Error(err)
		}
		if n, ok := listed[name]; !ok || n != len(rows) {
			t.Errorf("%s: %d rows, listed: %d", name, len(rows), n)
		}
		delete(listed, name)
		for _, r := range rows {
			row.capture, row.n, row.number = r.Capture, r.N, r.Number
			if want[row]--; want[row] < 0 {
				t.Errorf("too many of %v", row)
			}
		}
		return nil
	})
	missing := 0
	for _, n := range want {
		missing += max(n, 0)
	}
	if missing > 0 || len(listed) > 0 {
		t.Errorf("%d rows are missing, %d files", missing, len(listed))
	}
	left, _ := os.ReadDir(filepath.Join(dir, ".stage"))
	if len(left) > 0 {
		t.Errorf("%d staged files are left: %v", len(left), left[0])
	}
}

func TestDays(t *testing.T) {
	for text, want := range map[string]string{
		"1970-01-01T00:00:00Z": "1970-01-01", "1969-12-31T23:59:59.9Z": "1969-12-31", "2026-11-29T00:00:00+01:00": "2026-11-28", "0001-01-01T00:00:00Z": "0001-01-01",
		"9999-12-31T23:59:59Z": "9999-12-31",
	} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := DayOf(at).String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A file without the rows of a capture is about as large as what is left: columns keep their encodings.
func TestCopyIsSmall(t *testing.T) {
	store, err := objects.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	p, err := Open(t.Context(), store, "x")
	if err != nil {
		t.Fatal(err)
	}
	ps := programs(t, "A")
	b := p.Begin(nil, nil)
	for _, id := range []string{"one", "other"} {
		for n := range 20_000 {
			if _, err := b.Take(&Capture{ID: id}, 1, ps[0], message(uint32(n/7)), parquet.Frame{Capture: id, Conn: "10.0.0.1:1-10.0.0.2:2", At: time.Unix(int64(n), 0), N: uint64(n)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := b.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	size := func() (all int64) {
		p.Files(func(_ Day, l *Listed) { all += l.Bytes })
		return all
	}
	whole := size()
	if err := p.Begin(nil, map[string]bool{"other": true}).Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	var captures []string
	p.Files(func(_ Day, l *Listed) { captures = append(captures, l.Captures...) })
	if got := size(); got > whole*6/10 || got < whole*4/10 || !slices.Equal(captures, []string{"one"}) {
		t.Errorf("%d bytes of %d, of %q", got, whole, captures)
	}
}

// A capture that grows batch by batch, alone.
func TestOneCaptureGrows(t *testing.T) {
	dir := t.TempDir()
	store, err := objects.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	p, err := Open(t.Context(), store, "mine/1")
	if err != nil {
		t.Fatal(err)
	}
	ps := programs(t, "A")
	captures := map[string][]madeFrame{"one": nil}
	for i := range 6 {
		captures["one"] = append(captures["one"], madeFrame{day: Day(i / 4), number: uint32(i)})
		if err := takeAll(t.Context(), p, ps, captures, nil); err != nil {
			t.Fatal(err)
		}
	}
	compareLake(t, dir, p, ps, captures)
}
