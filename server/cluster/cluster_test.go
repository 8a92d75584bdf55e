package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/server/bus"
	"wirebench/server/bus/bustest"
	"wirebench/server/store"
	"wirebench/server/supervise"
)

func TestMain(m *testing.M) {
	bustest.Main()
	os.Exit(m.Run())
}

// work is what nodes that lead do to the folder, and what was acknowledged.
type work struct {
	t  *testing.T
	mu sync.Mutex

	n       int
	lines   map[int]bool      // numbers of lines: whether they were acknowledged
	files   map[string][]int  // numbers that files may have: the one acknowledged last, and those that came later
	bytes   map[string]string // captures: what was acknowledged
	leading int
	steps   int // that were acknowledged
	leads   map[string]int
	reports []error
}

// do does a step, and notes what it wanted and whether that was acknowledged.
func (w *work) do(data *store.Data, rng *rand.Rand) error {
	w.mu.Lock()
	w.n++
	n := w.n
	w.mu.Unlock()
	home, err := data.Dir("p")
	if err != nil {
		return err
	}
	switch rng.IntN(8) {
	case 0, 1, 2:
		w.note(func() { w.lines[n] = false })
		if err := home.Append("log.jsonl", fmt.Appendf(nil, "%d", n)); err != nil {
			return err
		}
		w.note(func() { w.lines[n] = true })
	case 3, 4:
		definitions, err := data.Dir("p", "definitions")
		if err != nil {
			return err
		}
		name := fmt.Sprintf("C_%d.1.def", rng.IntN(5))
		w.note(func() { w.files[name] = append(w.files[name], n) })
		text := fmt.Appendf(nil, "# %d\n%s", n, strings.Repeat("uint32 x\n", rng.IntN(4)*rng.IntN(100_000)))
		if _, err := definitions.Write(name, text, nil); err != nil {
			return err
		}
		w.note(func() { w.files[name] = []int{n} })
	case 5:
		captures, err := data.Captures("p", "captures")
		if err != nil {
			return err
		}
		text := strings.Repeat(fmt.Sprint(n, ";"), 1+rng.IntN(300_000))
		x, err := captures.Add(fmt.Sprint(n), time.Now(), strings.NewReader(text))
		if err != nil {
			return err
		}
		w.note(func() { w.bytes[x.ID] = text })
		if _, err := captures.Append(x.ID, x.Size, strings.NewReader("more")); err != nil {
			return err
		}
		w.note(func() { w.bytes[x.ID] = text + "more" })
	case 6:
		captures, err := data.Captures("p", "captures")
		if err != nil {
			return err
		}
		x, r, err := captures.Record(store.Capture{Name: fmt.Sprint(n)}, time.Now())
		if err != nil {
			return err
		}
		for i := range 20 {
			piece := fmt.Sprint(n, "-", i, ";")
			if _, err := r.Write([]byte(piece)); err != nil {
				return errors.Join(err, r.Close())
			}
			w.note(func() { w.bytes[x.ID] += piece })
		}
		return r.Close()
	case 7:
		made, err := os.MkdirTemp(data.Path(), ".new-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(made)
		of, err := store.Open(made)
		if err != nil {
			return err
		}
		if _, err = of.Write("project.json", fmt.Appendf(nil, "%d", n), nil); err != nil {
			return err
		}
		name := fmt.Sprintf("q%d", n)
		if err := data.Place(filepath.Base(made), name); err != nil {
			return err
		}
		w.note(func() { w.files["../../"+name+"/project.json"] = []int{n} })
		if rng.IntN(8) > 0 { // while a copy is made, no folder should be moved
			break
		}
		if err := data.Rename(name, "r"+name); err != nil {
			return err
		}
		w.note(func() {
			delete(w.files, "../../"+name+"/project.json")
			w.files["../../r"+name+"/project.json"] = []int{n}
		})
	}
	w.note(func() { w.steps++ })
	return nil
}

func (w *work) note(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// check compares a folder with what was acknowledged.
func (w *work) check(dir string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	text, _ := os.ReadFile(filepath.Join(dir, "p", "log.jsonl"))
	seen := map[int]int{}
	last := 0
	for line := range strings.FieldsSeq(string(text)) {
		n := 0
		if _, err := fmt.Sscan(line, &n); err != nil {
			w.t.Fatalf("line %q", line)
		}
		seen[n]++
		if n <= last {
			w.t.Errorf("line %d is behind %d", n, last)
		}
		last = n
	}
	for n, acknowledged := range w.lines {
		if seen[n] > 1 || acknowledged && seen[n] == 0 {
			w.t.Errorf("line %d is there %d times, acknowledged: %v", n, seen[n], acknowledged)
		}
		delete(seen, n)
	}
	if len(seen) > 0 {
		w.t.Errorf("lines that nobody wrote: %v", seen)
	}
	for name, may := range w.files {
		text, err := os.ReadFile(filepath.Join(dir, "p", "definitions", name))
		n := 0
		if _, e := fmt.Sscan(strings.TrimPrefix(string(text), "# "), &n); err != nil && len(may) == 1 || e == nil && !slices.Contains(may, n) {
			w.t.Errorf("%s has %.40q, must be one of %v: %v", name, text, may, err)
		}
	}
	for id, want := range w.bytes {
		have, err := os.ReadFile(filepath.Join(dir, "p", "captures", id+".capture"))
		if err != nil || !strings.HasPrefix(string(have), want) {
			w.t.Errorf("capture %s has %d bytes, %.40q; at least %d were acknowledged: %v", id, len(have), have, len(want), err)
		}
	}
}

// lead is what a node does while it leads.
func (w *work) lead(data *store.Data, seed uint64) func(ctx context.Context, j store.Journal) error {
	return func(ctx context.Context, j store.Journal) error {
		w.note(func() {
			w.leading++
			w.leads[data.Path()]++
			if w.leading > 1 {
				w.reports = append(w.reports, errors.New("two nodes lead"))
			}
		})
		defer w.note(func() { w.leading-- })
		of, err := data.Begin(j)
		if err != nil {
			return err
		}
		if err := errors.Join(os.MkdirAll(of.Path("p", "definitions"), 0o777), os.MkdirAll(of.Path("p", "captures"), 0o777)); err != nil {
			return err
		}
		rng := rand.New(rand.NewPCG(seed, uint64(time.Now().UnixNano())))
		for ctx.Err() == nil {
			if err := w.do(of, rng); err != nil && ctx.Err() == nil {
				return err
			}
		}
		return nil
	}
}

// runs is a node that runs.
type runs struct {
	*Node
	claimed *store.Data
	stop    context.CancelFunc
	group   supervise.Group
}

func (w *work) start(server *bustest.Server, dir string, seed uint64) *runs {
	w.t.Helper()
	claimed, err := store.Claim(dir, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	node, err := Join(ctx, Options{Bus: bus.Options{URL: server.URL}, Data: claimed, URL: fmt.Sprintf("http://node-%d", seed), Log: slog.New(slog.DiscardHandler), CopyAfter: 12 << 20, Renew: 300 * time.Millisecond})
	if err != nil {
		stop()
		w.t.Fatal(err)
	}
	r := &runs{Node: node, claimed: claimed, stop: stop}
	r.group.Go("test", nil, func() { node.Run(ctx, w.lead(claimed, seed)) })
	return r
}

// end ends the node: its connection first, so that it can give nothing away.
func (r *runs) end(suddenly bool) {
	if suddenly {
		r.conn.Close()
	}
	r.stop()
	r.group.Wait()
	r.Close()
	r.claimed.Close()
}

// until waits.
func (w *work) until(what string, ok func() bool) {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		w.mu.Lock()
		done, reports := ok(), slices.Clone(w.reports)
		w.mu.Unlock()
		if len(reports) > 0 {
			w.t.Fatal(reports)
		}
		if done {
			return
		}
		if time.Now().After(end) {
			w.t.Fatalf("not %s", what)
		}
	}
}

// contents returns all files of a folder that are of the cluster.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, name)
		if err != nil || e.IsDir() || store.OwnFile(rel) || strings.HasSuffix(rel, ".tmp") || strings.HasPrefix(rel, ".new-") {
			return err
		}
		text, err := os.ReadFile(name)
		out[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCluster: nodes end one after the other, suddenly or not, while the one that leads changes the folder; the log is cut meanwhile. What was acknowledged is
// in the folders of all nodes, once, and these have the same files: also in that of a node that comes last.
func TestCluster(t *testing.T) {
	server := bustest.Start(t)
	w := &work{t: t, lines: map[int]bool{}, files: map[string][]int{}, bytes: map[string]string{}, leads: map[string]int{}}
	rng := rand.New(rand.NewPCG(1, 1))
	dirs := []string{t.TempDir(), t.TempDir()}
	nodes := []*runs{w.start(server, dirs[0], 0), w.start(server, dirs[1], 1)}
	for round := range 5 {
		steps := 0
		w.note(func() { steps = w.steps })
		w.until("busy", func() bool { return w.steps > steps+60 })
		at := slices.IndexFunc(nodes, func(r *runs) bool { return r.Nodes().Leader == r.URL })
		if at < 0 {
			t.Fatal("nobody leads")
		}
		if rng.IntN(4) == 0 {
			at = 1 - at
		}
		nodes[at].end(round%2 == 0)
		nodes[at] = w.start(server, dirs[at], uint64(at))
		if round == 2 {
			server.Kill()
			server.Again()
		}
	}
	cut := func() (n int64) {
		for _, r := range nodes {
			n += r.Counts().Copies.Load()
		}
		return n
	}
	w.until("cut", func() bool { return cut() > 0 })
	dirs = append(dirs, t.TempDir())
	nodes = append(nodes, w.start(server, dirs[2], 2))
	w.until("filled", func() bool { return nodes[2].replica.at().Seq > 0 })
	for _, r := range nodes { // whoever leads now makes no steps any more
		r.end(false)
	}
	nodes = nodes[:0]
	for i, dir := range dirs {
		claimed, err := store.Claim(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		node, err := Join(t.Context(), Options{Bus: bus.Options{URL: server.URL}, Data: claimed, URL: fmt.Sprintf("http://node-%d", i), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		_, last, err := node.last(t.Context())
		if err == nil {
			err = node.read(t.Context(), last, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, &runs{Node: node, claimed: claimed, stop: func() {}})
	}
	want := contents(t, dirs[0])
	if len(want) < 20 || w.steps < 200 {
		t.Fatalf("%d files, %d steps", len(want), w.steps)
	}
	for _, dir := range dirs {
		w.check(dir)
		have := contents(t, dir)
		for name := range want {
			if have[name] != want[name] {
				t.Errorf("%s differs", name)
			}
		}
		if len(have) != len(want) {
			t.Errorf("%d files and %d", len(have), len(want))
		}
	}
	for _, r := range nodes {
		r.end(false)
	}
	t.Logf("%d steps, leads %v", w.steps, w.leads)
}

// TestFence: once a node leads, nothing of the one before is kept, whatever that believes.
func TestFence(t *testing.T) {
	server := bustest.Start(t)
	join := func(i int) *Node {
		claimed, err := store.Claim(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { claimed.Close() })
		n, err := Join(t.Context(), Options{Bus: bus.Options{URL: server.URL}, Data: claimed, URL: fmt.Sprintf("http://node-%d", i), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(n.Close)
		return n
	}
	begin := func(n *Node, epoch uint64) (*writer, func()) {
		ctx, stop := context.WithCancelCause(t.Context())
		w, err := n.fence(ctx, epoch)
		if err != nil {
			t.Fatal(err)
		}
		w.end = stop
		w.ctx = ctx
		var group supervise.Group
		group.Go("test", nil, func() { w.write(ctx) })
		return w, func() { stop(nil); group.Wait() }
	}
	first, endFirst := begin(join(1), 1)
	defer endFirst()
	if made, err := first.Keep(store.Change{Kind: store.Stored, Name: "p/a", Data: []byte("1")}); err != nil {
		t.Fatal(err)
	} else {
		made(nil)
	}
	second, endSecond := begin(join(2), 2)
	defer endSecond()
	if _, err := first.Keep(store.Change{Kind: store.Stored, Name: "p/a", Data: []byte("too late")}); !errors.Is(err, ErrLeadsNoMore) {
		t.Errorf("the first node still writes: %v", err)
	}
	if context.Cause(first.ctx) == nil {
		t.Error("the first node still leads")
	}
	if made, err := second.Keep(store.Change{Kind: store.Stored, Name: "p/b", Data: []byte("2")}); err != nil {
		t.Error(err)
	} else {
		made(nil)
	}
	third := join(3)
	_, last, err := third.last(t.Context())
	if err == nil {
		err = third.read(t.Context(), last, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := contents(t, third.replica.dir); len(got) != 2 || got["p/a"] != "1" || got["p/b"] != "2" {
		t.Errorf("%v", got)
	}
}

// TestFull: when NATS has no room, what is saved is refused with the reason, and the node leads on.
func TestFull(t *testing.T) {
	server := bustest.StartWith(t, 4<<20)
	claimed, err := store.Claim(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer claimed.Close()
	n, err := Join(t.Context(), Options{Bus: bus.Options{URL: server.URL}, Data: claimed, URL: "http://node", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	n.Run(ctx, func(ctx context.Context, j store.Journal) error {
		defer stop()
		refused := 0
		for i := range 30 {
			made, err := j.Keep(store.Change{Kind: store.Stored, Name: fmt.Sprintf("p/%d", i), Data: make([]byte, 300<<10)})
			switch {
			case errors.Is(err, ErrFull):
				refused++
			case err != nil:
				t.Error(err)
			default:
				made(nil)
			}
		}
		if refused == 0 || refused == 30 || ctx.Err() != nil {
			t.Errorf("%d of 30 were refused; leads: %v", refused, ctx.Err() == nil)
		}
		return nil
	})
}

// TestBehind: a node whose folder lacks a change that was kept leads no more, and has it when it follows again.
func TestBehind(t *testing.T) {
	server := bustest.Start(t)
	claimed, err := store.Claim(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer claimed.Close()
	n, err := Join(t.Context(), Options{Bus: bus.Options{URL: server.URL}, Data: claimed, URL: "http://node", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	led := 0
	n.Run(ctx, func(ctx context.Context, j store.Journal) error {
		if led++; led == 2 {
			stop()
			return nil
		}
		if made, err := j.Keep(store.Change{Kind: store.Stored, Name: "p/before", Data: []byte("1")}); err != nil {
			t.Error(err)
		} else {
			made(errors.New("the disk is full"))
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
			t.Error("it still leads")
		}
		if _, err := j.Keep(store.Change{Kind: store.Stored, Name: "p/behind", Data: []byte("2")}); !errors.Is(err, ErrLeadsNoMore) {
			t.Errorf("it still writes: %v", err)
		}
		return nil
	})
	if got := contents(t, claimed.Path()); len(got) != 1 || got["p/before"] != "1" {
		t.Errorf("%v", got)
	}
}

// TestMigrate moves a data folder into a cluster and back: the files are the same. A cluster with data takes no other.
func TestMigrate(t *testing.T) {
	server := bustest.Start(t)
	options := func(data *store.Data) Options {
		return Options{Bus: bus.Options{URL: server.URL}, Data: data, URL: "http://node", Log: slog.New(slog.DiscardHandler)}
	}
	from, err := store.OpenData(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	dir, err := from.Dir("p", "definitions")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Write("C_A.1.def", []byte("uint32 a"), nil); err != nil {
		t.Fatal(err)
	}
	if err := from.Secret("accounts.json").Write([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	want := contents(t, from.Path())
	none, err := store.Claim(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer none.Close()
	if err := Export(t.Context(), options(none)); err == nil {
		t.Error("a cluster without data was exported")
	}
	if _, err := Import(t.Context(), options(from)); err != nil {
		t.Fatal(err)
	}
	if _, err := Import(t.Context(), options(from)); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("a second import: %v", err)
	}
	if err := Export(t.Context(), options(from)); err == nil {
		t.Error("exported into a folder with data")
	}
	to, err := store.Claim(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := Export(t.Context(), options(to)); err != nil {
		t.Fatal(err)
	}
	to.Close()
	got := contents(t, to.Path())
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %q, want %q", name, got[name], want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	if info, err := os.Stat(to.Path("accounts.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the accounts are readable for others: %v %v", info, err)
	}
	if again, err := store.OpenData(to.Path(), nil); err != nil {
		t.Error(err)
	} else {
		again.Close()
	}
}

// TestWire: changes are what they were after they were written and read; what is cut or changed is an error.
func TestWire(t *testing.T) {
	changes := []store.Change{
		{Kind: store.Stored, Name: "p/a.def", Data: []byte("text"), Secret: true},
		{Kind: store.Spliced, Name: "p/b", At: 1 << 40, Data: nil},
		{Kind: store.Removed, Name: "p"},
		{Kind: store.Moved, Name: ".new-1", To: "p"},
	}
	var text []byte
	for i := range changes {
		text = appendChange(text, &changes[i])
	}
	got, err := changesOf(text)
	if err != nil || len(got) != len(changes) {
		t.Fatal(got, err)
	}
	for i := range got {
		a, b := changes[i], got[i]
		if a.Kind != b.Kind || a.Name != b.Name || a.To != b.To || a.At != b.At || a.Secret != b.Secret || !bytes.Equal(a.Data, b.Data) {
			t.Errorf("%+v, want %+v", b, a)
		}
	}
	for _, name := range []string{"../p", "/p", "cluster.json", "wirebench.lock", ".", ""} {
		if _, err := changesOf(appendChange(nil, &store.Change{Kind: store.Stored, Name: name})); !errors.Is(err, errWire) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestWireGarbage: messages that are cut or changed are errors or changes, and never a panic. It is no fuzz target, for which the NATS server of the other tests
// would be compiled anew.
func TestWireGarbage(t *testing.T) {
	good := appendHead(nil, head{1, 0, 1})
	for _, c := range []store.Change{{Kind: store.Stored, Name: "p/a", Data: []byte("some text")}, {Kind: store.Moved, Name: ".new-1", To: "p"}, {Kind: store.Spliced, Name: "b", At: 1 << 20}} {
		good = appendChange(good, &c)
	}
	rng := rand.New(rand.NewPCG(1, 3))
	read := 0
	for range 200_000 {
		data := bytes.Clone(good)
		for range 1 + rng.IntN(3) {
			data[rng.IntN(len(data))] = byte(rng.IntN(256))
		}
		data = data[:rng.IntN(len(data)+1)]
		var a assembly
		text, _, whole, err := a.take(1, data)
		if err != nil || !whole {
			continue
		}
		changes, err := changesOf(text)
		if err != nil {
			continue
		}
		read++
		var again []byte
		for i := range changes {
			again = appendChange(again, &changes[i])
		}
		if _, err := changesOf(again); err != nil {
			t.Fatal(err)
		}
	}
	if read < 1000 {
		t.Errorf("only %d were read", read)
	}
}
