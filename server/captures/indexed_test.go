package captures

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/frames"
	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/store/storetest"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// kept is a workspace whose captures are in a place.
type kept struct {
	*testing.T
	ws  *workspace.Workspace
	set *Set
	in  *storetest.Objects
}

// keep returns a workspace with definitions for talk, whose captures are kept in a place.
func keep(t *testing.T) *kept {
	t.Helper()
	caps := workspacetest.Captures(t)
	place, in := storetest.Place(t, 0)
	caps.In(place)
	files, _ := workspacetest.Dir(t, map[string]string{"C_SAY.1.def": "int32 n\n", "S_SAY.1.def": "int32 n\n", "protocol.1.map": "C_SAY 4097\nS_SAY 4098\n"})
	k := &kept{T: t, in: in, ws: workspacetest.Open(t, workspace.Config{Dialect: "tera", Files: files, Captures: caps})}
	k.again()
	return k
}

// again makes a Set with nothing open, as a new process has.
func (k *kept) again() {
	k.set = NewSet(nil, live.NewDisk(k.TempDir(), 4<<30))
	k.Cleanup(k.set.Close)
}

// read opens a capture and waits until it is read.
func (k *kept) read(id string) *Capture {
	k.Helper()
	x, err := k.ws.Captures.Get(id)
	if err != nil {
		k.Fatal(err)
	}
	o, err := k.set.Get(k.ws, k.ws.For(x), x)
	if err != nil {
		k.Fatal(err)
	}
	<-o.Done()
	return o
}

// index reads a capture and stores the index.
func (k *kept) index(id string) {
	k.Helper()
	x, err := k.ws.Captures.Get(id)
	if err != nil {
		k.Fatal(err)
	}
	o := k.read(id)
	if err := k.ws.Captures.AddIndex(k.Context(), id, indexReading(k.ws.For(x), x), o.WriteIndex); err != nil {
		k.Fatal(err)
	}
}

// rows returns the first rows of an open capture as a page shows them.
func (k *kept) rows(o *Capture, n int) (out []string) {
	k.Helper()
	v := o.View(k.ws.Now(), frames.ViewSpec{}, store.Notes{})
	for !v.Advance(k.Context(), time.Minute) {
	}
	var f transport.Frame
	err := v.Each(k.Context(), 0, false, func(_, i int, e live.Entry, data []byte) bool {
		o.Log().Frame(i, e, data, &f)
		out = append(out, fmt.Sprintf("%d %v %v %d %x %v %s", i, f.At.UnixNano(), f.Dir, f.Key.Code, f.Bytes, f.From, e.ID()))
		return len(out) < n
	})
	if err != nil {
		k.Fatal(err)
	}
	return out
}

// bulk writes a capture of n messages of size bytes to a file.
func bulk(t *testing.T, n, size int) *os.File {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "bulk"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	w, err := pcap.NewWriter(file, "test")
	if err != nil {
		t.Fatal(err)
	}
	iface, err := w.Interface(pcap.Interface{Link: packet.LinkEthernet})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	s := pcap.NewSynthetic(w, iface, transport.Conn{Proto: transport.TCP, Client: netip.MustParseAddrPort("10.0.0.2:4000"), Server: netip.MustParseAddrPort("10.0.0.1:7801")})
	if err := s.Open(at); err != nil {
		t.Fatal(err)
	}
	msg := make([]byte, size)
	binary.LittleEndian.PutUint16(msg, uint16(size))
	binary.LittleEndian.PutUint16(msg[2:], 0x1001)
	for i := range n {
		binary.LittleEndian.PutUint32(msg[4:], uint32(i))
		if err := s.Data(schema.ToServer, at.Add(time.Duration(i)*time.Millisecond), msg, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestFirstRowsOfAway: the first rows of a capture of 200 MB that is only in the place need the directory of its index, a block of entries and a block of
// bytes, and nothing of the capture.
func TestFirstRowsOfAway(t *testing.T) {
	k := keep(t)
	x, err := k.ws.Captures.Add("bulk.pcapng", time.Now(), bulk(t, 14_000, 15_000))
	if err != nil {
		t.Fatal(err)
	}
	if x.Size < 200_000_000 {
		t.Fatalf("%d bytes", x.Size)
	}
	if err := k.ws.Captures.Deposit(t.Context(), x.ID); err != nil {
		t.Fatal(err)
	}
	k.index(x.ID)
	want := k.rows(k.read(x.ID), 60)
	if gone, err := k.ws.Captures.Evict(t.Context(), x.ID); err != nil || !gone {
		t.Fatal(gone, err)
	}
	k.again()
	k.in.Reads()
	o := k.read(x.ID)
	if got := k.rows(o, 60); len(got) != 60 || !slices.Equal(got, want) {
		t.Errorf("%d rows: %s\nwant %s", len(got), got, want)
	}
	if read, size := o.Progress(); read != size || size != x.Size || o.Log().Len() != 14_000 || o.Note() != "" || o.Err() != nil {
		t.Errorf("%d of %d, %d frames, %s", read, size, o.Log().Len(), o.Note())
	}
	index := k.in.Names(t, ".index")
	if len(index) != 1 {
		t.Fatal(index)
	}
	reads := k.in.Reads()
	total := 0
	for _, r := range reads {
		total += r.N
		if r.Name != index[0] {
			t.Errorf("%s is read", r.Name)
		}
	}
	// The directory; the records of 14,000 frames, 71 bytes each; the first MiB of the bytes of frames, without what does not fit.
	if len(reads) != 3 || reads[1].Off != 0 || reads[1].N != 14_000*71 || reads[2].Off != 14_000*71 || reads[2].N != 1<<20 || reads[0].N > 10_000 {
		t.Errorf("%v", reads)
	}
	t.Logf("%d of %d bytes", total, x.Size)
	// One frame in the middle is one block more, and its packet one of the capture.
	if _, data, ok := o.Log().Get(7000); !ok || binary.LittleEndian.Uint32(data[4:]) != 7000 {
		t.Error(ok)
	}
	if reads := k.in.Reads(); len(reads) != 1 || reads[0].N != 1<<20 {
		t.Error(reads)
	}
}

// TestIndexUsed: an index is used where it is of this reading of this capture and undamaged; otherwise the capture is read, with the same frames.
func TestIndexUsed(t *testing.T) {
	data := talk(t, 500, 100)
	for name, c := range map[string]struct {
		do    func(k *kept, id, index string)
		reads string // of which objects: capture, index or both
		left  int    // indexes
	}{
		"as it is":    {func(*kept, string, string) {}, "index", 1},
		"no index":    {func(k *kept, id, index string) { k.must(k.ws.Captures.DropIndex(id, index)) }, "capture", 0},
		"damaged":     {func(k *kept, _, index string) { k.change(index, func(b []byte) []byte { b[len(b)-30] ^= 1; return b }) }, "both", 0},
		"cut off":     {func(k *kept, _, index string) { k.change(index, func(b []byte) []byte { return b[:len(b)-1] }) }, "capture", 0},
		"gone":        {func(k *kept, _, index string) { k.must(k.in.Remove(k.Context(), index)) }, "capture", 0},
		"a note":      {func(k *kept, id, _ string) { k.edit(id, func(x *store.Capture) { x.Notes.Text = "a note" }) }, "index", 1},
		"other keys":  {func(k *kept, id, _ string) { k.edit(id, func(x *store.Capture) { x.Keys = "other" }) }, "capture", 1},
		"with events": {func(k *kept, id, _ string) { k.edit(id, func(x *store.Capture) { x.Packets = true }) }, "capture", 1},
		"another day": {func(k *kept, id, _ string) {
			k.edit(id, func(x *store.Capture) { x.Name = "tera-proxy-1700006390000.log" })
		}, "capture", 1},
	} {
		t.Run(name, func(t *testing.T) {
			k := keep(t)
			x, err := k.ws.Captures.Add("talk.pcapng", time.Now(), bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			want := k.rows(k.read(x.ID), 1000)
			k.must(k.ws.Captures.Deposit(t.Context(), x.ID))
			k.index(x.ID)
			if gone, err := k.ws.Captures.Evict(t.Context(), x.ID); err != nil || !gone {
				t.Fatal(gone, err)
			}
			c.do(k, x.ID, k.in.Names(t, ".index")[0])
			k.again()
			k.in.Reads()
			o := k.read(x.ID)
			if o.Err() != nil {
				t.Fatal(o.Err())
			}
			if got := k.rows(o, 1000); len(want) != 500 || !slices.Equal(got, want) {
				t.Errorf("%d rows", len(got))
			}
			of := map[string]bool{}
			for _, r := range k.in.Reads() {
				of[strings.TrimPrefix(filepath.Ext(r.Name), ".")] = true
			}
			if !reflect.DeepEqual(of, map[string]map[string]bool{"index": {"index": true}, "capture": {"capture": true}, "both": {"index": true, "capture": true}}[c.reads]) {
				t.Errorf("read: %v", of)
			}
			k.must(k.ws.Captures.Tidy(t.Context()))
			if left := k.in.Names(t, ".index"); len(left) != c.left {
				t.Error(left)
			}
		})
	}
}

func (k *kept) must(err error) {
	k.Helper()
	if err != nil {
		k.Fatal(err)
	}
}

func (k *kept) edit(id string, change func(x *store.Capture)) {
	k.Helper()
	_, err := k.ws.Captures.Edit(id, func(x *store.Capture) error { change(x); return nil })
	k.must(err)
}

// change replaces an object by a changed one.
func (k *kept) change(name string, change func([]byte) []byte) {
	k.Helper()
	data, _, err := k.in.Read(k.Context(), name, 1<<30)
	k.must(err)
	file := filepath.Join(k.in.Stage(), "changed")
	k.must(os.WriteFile(file, change(data), 0o600))
	k.must(k.in.Put(k.Context(), name, file))
}

// TestStreamAway: a capture that is only in the place goes to a lake with the same frames, and does not where the place fails.
func TestStreamAway(t *testing.T) {
	k := keep(t)
	x, err := k.ws.Captures.Add("talk.pcapng", time.Now(), bytes.NewReader(talk(t, 20_000, 100)))
	k.must(err)
	stream := func() (out []string, err error) {
		x, err := k.ws.Captures.Get(x.ID)
		k.must(err)
		_, err = k.set.Stream(t.Context(), k.ws, x, Streaming{Frame: func(f *transport.Frame) { out = append(out, fmt.Sprintf("%v %x", f.ID, f.Bytes)) }})
		return out, err
	}
	want, err := stream()
	k.must(err)
	storetest.Away(t, k.ws.Captures, x.ID)
	got, err := stream()
	if err != nil || len(got) != 20_000 || !slices.Equal(got, want) {
		t.Errorf("%d frames, %v", len(got), err)
	}
	reads := 0
	k.in.Fail(func(op, _ string) error {
		if reads++; op == "read" && reads > 2 {
			return errors.New("503 Slow Down")
		}
		return nil
	})
	if got, err := stream(); !errors.Is(err, store.ErrAway) || len(got) >= len(want) || !slices.Equal(got, want[:len(got)]) {
		t.Errorf("%d frames, %v", len(got), err)
	}
}

// TestAwayFaults: where the place fails while a capture is opened or read, its reader is told, notes stay as they are, and it is read again when the
// place is back.
func TestAwayFaults(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		t.Run(fmt.Sprint("indexed ", indexed), func(t *testing.T) {
			k := keep(t)
			x, err := k.ws.Captures.Add("talk.pcapng", time.Now(), bytes.NewReader(talk(t, 40_000, 100)))
			k.must(err)
			k.must(k.ws.Captures.Deposit(t.Context(), x.ID))
			if indexed {
				k.index(x.ID)
			}
			k.edit(x.ID, func(x *store.Capture) { x.Notes.Noted = []store.Noted{{N: 30_000, Mark: true}} })
			k.read(x.ID) // so that the note has its identity
			k.set.Close()
			noted, err := k.ws.Captures.Get(x.ID)
			k.must(err)
			if gone, err := k.ws.Captures.Evict(t.Context(), x.ID); err != nil || !gone {
				t.Fatal(gone, err)
			}
			k.again()
			reads := 0
			k.in.Fail(func(op, name string) error {
				if op != "read" {
					return nil
				}
				if reads++; reads > 3 {
					return errors.New("503 Slow Down")
				}
				return nil
			})
			o := k.read(x.ID)
			o.Log().Each(0, o.Log().Len(), func(int, live.Entry, []byte) bool { return true })
			if err := o.Err(); !errors.Is(err, store.ErrAway) || !strings.Contains(o.Note(), "503 Slow Down") {
				t.Errorf("%v, %s", err, o.Note())
			}
			v := o.View(k.ws.Now(), frames.ViewSpec{}, store.Notes{})
			for !v.Advance(t.Context(), time.Minute) {
			}
			if err := v.Each(context.Background(), 0, false, func(int, int, live.Entry, []byte) bool { return true }); indexed && !errors.Is(err, store.ErrAway) {
				t.Errorf("the list ends with %v", err)
			}
			if now, err := k.ws.Captures.Get(x.ID); err != nil || !now.Notes.Same(noted.Notes) || now.Notes.Noted[0].ID == (transport.FrameID{}) {
				t.Errorf("%+v became %+v", noted.Notes, now.Notes)
			}
			k.in.Fail(nil)
			if k.read(x.ID) != o {
				t.Error("it is read again at once")
			}
			o.broke.Add(-int64(RetryBroken))
			again := k.read(x.ID)
			again.Log().Each(0, again.Log().Len(), func(int, live.Entry, []byte) bool { return true })
			if again == o || again.Err() != nil || again.Log().Len() != 40_000 {
				t.Errorf("%d frames, %v", again.Log().Len(), again.Err())
			}
		})
	}
}
