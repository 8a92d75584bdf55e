package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"

	"wirebench/defs/schema"
	"wirebench/server/captures"
	"wirebench/server/lake"
	"wirebench/server/objects"
	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// chat is a capture of n messages C_SAY, an hour apart, of which each fifth has no definition.
func chat(t *testing.T, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	s, at := servertest.Conversation(t, &out)
	for i := range n {
		msg := binary.LittleEndian.AppendUint32([]byte{8 + 80, 0, 0x01, 0x10}, uint32(i))
		msg = append(msg, make([]byte, 80)...) // what is not longer is held back until it is clear how the messages travel
		dir := schema.ToServer
		if i%5 == 4 {
			dir = schema.ToClient
			binary.LittleEndian.PutUint16(msg[2:], 0x7777)
		}
		if err := s.Data(dir, at.Add(time.Duration(i)*time.Hour), msg, ""); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

var chatFiles = map[string]string{"C_SAY.1.def": "uint32 n\n" + rest, "protocol.1.map": "C_SAY 4097\n"}

var rest = strings.Repeat("uint64\n", 10)

// row is a row of a lake.
type row struct {
	Capture string    `parquet:"_capture"`
	N       uint64    `parquet:"_n"`
	Time    time.Time `parquet:"_time,optional,timestamp(nanosecond)"`
	Value   uint32    `parquet:"n"`
}

// rowsOf reads all files of a lake, and returns their rows by capture, in the order of their numbers. A row in the folder of another day is an error.
func rowsOf(t *testing.T, dir string) map[string][]row {
	t.Helper()
	out := map[string][]row{}
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(name, ".parquet") || strings.Contains(name, ".stage") {
			return nil
		}
		rows, err := pq.ReadFile[row](name)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if day := r.Time.UTC().Format("/_day=2006-01-02/"); !strings.Contains(filepath.ToSlash(name), day) {
				t.Errorf("a row of %v is in %s", r.Time, name)
			}
			out[r.Capture] = append(out[r.Capture], r)
		}
		return nil
	})
	for _, rows := range out {
		slices.SortFunc(rows, func(a, b row) int { return int(a.N) - int(b.N) })
	}
	return out
}

// want checks that the lake has exactly the first n messages of chat of a capture.
func want(t *testing.T, of map[string][]row, id string, n int) {
	t.Helper()
	rows := of[id]
	for i := range n {
		if i%5 == 4 {
			continue
		}
		if len(rows) == 0 || rows[0].N != uint64(i+1) || rows[0].Value != uint32(i) {
			t.Fatalf("capture %s: message %d of %d is not next: %v", id, i, n, rows[:min(len(rows), 3)])
		}
		rows = rows[1:]
	}
	if len(rows) > 0 {
		t.Errorf("capture %s has more rows: %v", id, rows[0])
	}
}

// followed is a feed that follows a workspace.
type followed struct {
	*Feed
	t     *testing.T
	ws    *workspace.Workspace
	set   *captures.Set
	stop  context.CancelFunc
	group supervise.Group
}

func follow(t *testing.T, ws *workspace.Workspace, store objects.Store) *followed {
	t.Helper()
	f := feed(t, ws, store)
	f.begin()
	return f
}

// feed returns a feed that does not follow the workspace yet.
func feed(t *testing.T, ws *workspace.Workspace, store objects.Store) *followed {
	t.Helper()
	f := &followed{t: t, ws: ws, set: captures.NewSet(nil, nil)}
	f.Feed = New(Options{Store: store, Captures: f.set, Every: time.Second, Name: func(name string) string { return name }, Log: slog.New(slog.DiscardHandler)})
	return f
}

func (f *followed) begin() {
	var ctx context.Context
	ctx, f.stop = context.WithCancel(context.Background())
	f.group.Go("test", nil, func() { f.Follow(ctx, f.ws) })
	f.t.Cleanup(f.end)
}

func (f *followed) end() {
	f.stop()
	f.group.Wait()
	f.set.Close()
}

// until waits for a state.
func (f *followed) until(what string, ok func(LakeState) bool) {
	f.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		f.Changed(f.ws.Name)
		s, known := f.State(f.ws.Name)
		if known && ok(s) {
			return
		}
		if time.Now().After(end) {
			f.t.Fatalf("not %s: %+v", what, s)
		}
	}
}

func clean(n int) int { return n - n/5 }

// TestEachFrameOnce follows captures that are stored, recorded and appended to, while the server ends again and again, wherever it is: the lake has
// each message once, in the files of its day.
func TestEachFrameOnce(t *testing.T) {
	ws := servertest.CaptureWorkspace(t, "tera", chatFiles)
	dir := t.TempDir()
	const n = 200
	data := chat(t, n)
	stored, err := ws.Captures.Add("stored.pcapng", time.Now(), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	appended, err := ws.Captures.Add("appended.pcapng", time.Now(), bytes.NewReader(data[:1000]))
	if err != nil {
		t.Fatal(err)
	}
	recorded, recording, err := ws.Captures.Record(store.Capture{Name: "recorded"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	at := [2]int{1000, 0}
	for round := range 6 {
		lake, err := objects.OpenFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		f := follow(t, ws, lake)
		for part := range 5 {
			i := min(len(data), at[0]+rng.IntN(len(data)/20))
			if x, err := ws.Captures.Append(appended.ID, int64(at[0]), bytes.NewReader(data[at[0]:i])); err != nil {
				t.Fatal(err)
			} else {
				at[0] = i
				f.set.Grown(ws.Name, x.ID, x.Size, time.Now())
			}
			i = min(len(data), at[1]+rng.IntN(len(data)/20))
			if _, err := recording.Write(data[at[1]:i]); err != nil {
				t.Fatal(err)
			}
			at[1] = i
			if round < 5 || part < 4 {
				f.Changed(ws.Name)
				time.Sleep(time.Duration(rng.IntN(600)) * time.Millisecond)
			}
		}
		if round == 5 {
			if _, err := ws.Captures.Append(appended.ID, int64(at[0]), bytes.NewReader(data[at[0]:])); err != nil {
				t.Fatal(err)
			}
			f.set.Grown(ws.Name, appended.ID, int64(len(data)), time.Now())
			if _, err := recording.Write(data[at[1]:]); err != nil {
				t.Fatal(err)
			}
			if err := recording.Close(); err != nil {
				t.Fatal(err)
			}
			f.until("all rows", func(s LakeState) bool { return s.Rows == 3*clean(n) && s.Pending == 0 })
		}
		f.end()
		if err := lake.Close(); err != nil {
			t.Fatal(err)
		}
	}
	rows := rowsOf(t, dir)
	for _, id := range []string{stored.ID, appended.ID, recorded.ID} {
		want(t, rows, id, n)
	}
	if len(rows) != 3 {
		t.Errorf("rows of %q", slices.Collect(maps.Keys(rows)))
	}
}

// TestGrowsLater: a capture that was complete, as far as a server could know, and grows later, has the rows of what it is now.
func TestGrowsLater(t *testing.T) {
	ws := servertest.CaptureWorkspace(t, "tera", chatFiles)
	dir := t.TempDir()
	data := chat(t, 60)
	cut := len(data)/2 + 3 // in a packet
	other, err := ws.Captures.Add("other.pcapng", time.Now(), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	x, err := ws.Captures.Add("x.pcapng", time.Now(), bytes.NewReader(data[:cut]))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		lake, err := objects.OpenFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		f := follow(t, ws, lake)
		if i == 0 {
			f.until("the half", func(s LakeState) bool { return s.Pending == 0 && s.Waiting == 0 && s.Rows > clean(60) })
		} else {
			f.until("all", func(s LakeState) bool { return s.Pending == 0 && s.Waiting == 0 && s.Rows == 2*clean(60) })
		}
		f.end()
		lake.Close()
		if i == 0 {
			if _, err := ws.Captures.Append(x.ID, int64(cut), bytes.NewReader(data[cut:])); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows := rowsOf(t, dir)
	want(t, rows, x.ID, 60)
	want(t, rows, other.ID, 60)
}

// TestRewrite: a changed definition is told, and replaces all rows on request, but for those of captures that were removed; a running recording goes on.
func TestRewrite(t *testing.T) {
	ws := servertest.CaptureWorkspace(t, "tera", chatFiles)
	dir := t.TempDir()
	data := chat(t, 50)
	var all []store.Capture
	for i := range 3 {
		x, err := ws.Captures.Add(fmt.Sprint(i), time.Now(), bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	_, recording, err := ws.Captures.Record(store.Capture{Name: "recorded"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := recording.Write(data[:len(data)/2]); err != nil {
		t.Fatal(err)
	}
	into, err := objects.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer into.Close()
	f := follow(t, ws, into)
	f.until("the first rows", func(s LakeState) bool { return s.Pending == 0 && s.Rows > 3*clean(50)+10 && len(s.Changed) == 0 })
	if err := ws.Captures.Remove(all[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ws.Files.(*store.Dir).Path("C_SAY.1.def"), []byte("uint16 n\nuint16 other\n"+rest), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := ws.Reload(); err != nil {
		t.Fatal(err)
	}
	f.until("the change", func(s LakeState) bool {
		return len(s.Changed) == 1 && s.Changed[0].Message == "C_SAY" && s.Changed[0].Rows > 3*clean(50) && !s.Changed[0].Gone
	})
	if !f.Rewrite(ws.Name) {
		t.Fatal("not followed")
	}
	f.until("replaced", func(s LakeState) bool {
		return len(s.Changed) == 1 && s.Changed[0].Rows == clean(50) && s.Pending == 0
	})
	if _, err := recording.Write(data[len(data)/2:]); err != nil {
		t.Fatal(err)
	}
	if err := recording.Close(); err != nil {
		t.Fatal(err)
	}
	f.until("all rows", func(s LakeState) bool { return s.Pending == 0 && s.Rows == 4*clean(50) })
	f.end()
	columns := map[string]int{}
	p, err := lake.Open(t.Context(), into, ws.Name)
	if err != nil {
		t.Fatal(err)
	}
	p.Files(func(_ lake.Day, l *lake.Listed) { columns[l.Columns] += l.Rows })
	if len(columns) != 2 {
		t.Errorf("rows by columns: %v", columns)
	}
}

// TestSecrets: values that are marked as secret are in no file.
func TestSecrets(t *testing.T) {
	files := maps.Clone(servertest.ChatFiles)
	files["C_SAY.1.def"] = "string text # @secret\n"
	ws := servertest.CaptureWorkspace(t, "tera", files)
	if _, err := ws.Captures.Add("x", time.Now(), bytes.NewReader(servertest.Chat(t, 40))); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	into, err := objects.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer into.Close()
	f := follow(t, ws, into)
	f.until("all rows", func(s LakeState) bool { return s.Pending == 0 && s.Rows == 32 })
	type say struct {
		Text string `parquet:"text"`
	}
	seen := 0
	_ = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".parquet") {
			rows, err := pq.ReadFile[say](name)
			if err != nil {
				t.Error(err)
			}
			for _, r := range rows {
				if seen++; r.Text == "" || strings.HasPrefix(r.Text, "text ") {
					t.Errorf("%q", r.Text)
				}
			}
		}
		return nil
	})
	if seen != 32 {
		t.Errorf("%d rows", seen)
	}
}

// slowStore says when a file is put, and waits until it may go on.
type slowStore struct {
	objects.Store
	puts, goOn chan struct{}
}

func (s *slowStore) Put(ctx context.Context, name, file string) error {
	s.puts <- struct{}{}
	<-s.goOn
	return s.Store.Put(ctx, name, file)
}

// TestSlowStore: while a slow service takes a file, what the lake has can be asked.
func TestSlowStore(t *testing.T) {
	ws := servertest.CaptureWorkspace(t, "tera", chatFiles)
	x, err := ws.Captures.Add("x.pcapng", time.Now(), bytes.NewReader(chat(t, 20)))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := objects.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	slow := &slowStore{folder, make(chan struct{}), make(chan struct{})}
	f := follow(t, ws, slow)
	<-slow.puts
	asked := make(chan LakeState)
	go func() {
		s, _ := f.State(ws.Name)
		f.Whole(ws.Name, x)
		asked <- s
	}()
	select {
	case s := <-asked:
		if s.Rows != 0 || s.Pending != clean(20) {
			t.Errorf("%+v", s)
		}
	case <-time.After(30 * time.Second):
		t.Error("it waits for the service")
	}
	go func() {
		for range slow.puts {
		}
	}()
	close(slow.goOn)
	f.until("written", func(s LakeState) bool { return s.Rows == clean(20) && s.Pending == 0 })
}

// TestGrowingKeepsNoSlot: a capture that begins to grow while it waits to be read does not keep others from being read.
func TestGrowingKeepsNoSlot(t *testing.T) {
	ws := servertest.CaptureWorkspace(t, "tera", chatFiles)
	data := chat(t, 60)
	x, err := ws.Captures.Add("x.pcapng", time.Now(), bytes.NewReader(data[:len(data)/2]))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := objects.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	f := feed(t, ws, folder)
	f.one <- struct{}{} // another project reads
	f.begin()
	f.until("waiting", func(s LakeState) bool { return s.Waiting == 1 })
	if x, err = ws.Captures.Append(x.ID, x.Size, bytes.NewReader(data[len(data)/2:])); err != nil {
		t.Fatal(err)
	}
	f.set.Grown(ws.Name, x.ID, x.Size, time.Now())
	<-f.one
	if _, err := ws.Captures.Add("other.pcapng", time.Now(), bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	f.until("both", func(s LakeState) bool { return s.Rows == 2*clean(60) })
}
