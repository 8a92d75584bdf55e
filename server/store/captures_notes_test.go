package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/server/store"
)

func newCapture(t *testing.T, data string) (*store.Captures, store.Capture, string) {
	t.Helper()
	dir := t.TempDir()
	c, err := store.OpenCaptures(dir)
	if err != nil {
		t.Fatal(err)
	}
	x, err := c.Add("session.pcapng", time.Now(), strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return c, x, dir
}

func TestEditCapture(t *testing.T) {
	c, x, dir := newCapture(t, "bytes")
	changed, stop := c.Changed(x.ID)
	other, stopOther := c.Changed("other")
	defer stopOther()
	notified := func(w <-chan struct{}) bool {
		select {
		case <-w:
			return true
		default:
			return false
		}
	}
	got, err := c.Edit(x.ID, func(x *store.Capture) error {
		x.Name, x.Framing, x.Keys, x.ID, x.Size = "renamed", "fixed:4", "* subspace 7", "stolen", 99
		x.Notes = store.Notes{Noted: []store.Noted{{N: 9, Mark: true}, {N: 3, Mark: true, Note: "here"}, {N: 9, Mark: true}, {N: 4}}, Text: "of all"}
		return nil
	})
	if err != nil || got.ID != x.ID || got.Size != 5 || fmt.Sprint(got.Notes.Marked) != "[3 9]" || len(got.Notes.Frames) != 1 || !got.Keyed {
		t.Errorf("%+v %v", got, err)
	}
	if !notified(changed) || notified(other) {
		t.Error("the wrong watchers are notified")
	}
	text, _ := json.Marshal(got)
	if bytes.Contains(text, []byte("subspace")) {
		t.Errorf("keys are in the JSON: %s", text)
	}
	again, err := store.OpenCaptures(dir)
	if err != nil {
		t.Fatal(err)
	}
	if x, err := again.Get(x.ID); err != nil || x.Name != "renamed" || x.Keys != "* subspace 7" || !x.Keyed || x.Framing != "fixed:4" || x.Notes.Text != "of all" {
		t.Errorf("%+v %v", x, err)
	}
	mistake := errors.New("a mistake")
	if _, err := c.Edit(x.ID, func(x *store.Capture) error { x.Name = "no"; return mistake }); !errors.Is(err, mistake) {
		t.Error(err)
	}
	for what, change := range map[string]func(*store.Capture){
		"marks":        func(x *store.Capture) { x.Notes.Noted = marks(store.MaxMarks + 1) },
		"notes":        func(x *store.Capture) { x.Notes.Noted = notes(store.MaxNotes+1, "x") },
		"a note":       func(x *store.Capture) { x.Notes.Noted = notes(1, strings.Repeat("x", store.MaxNote+1)) },
		"a text":       func(x *store.Capture) { x.Notes.Text = strings.Repeat("x", store.MaxCaptureText+1) },
		"all together": func(x *store.Capture) { x.Notes.Noted = notes(2000, strings.Repeat("x", store.MaxNote)) },
	} {
		if _, err := c.Edit(x.ID, func(x *store.Capture) error { change(x); return nil }); !errors.Is(err, store.ErrTooLarge) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if notified(changed) {
		t.Error("notified of a refused change")
	}
	if x, _ := c.Get(x.ID); x.Name != "renamed" || x.Notes.Frames[3] != "here" {
		t.Errorf("%+v", x)
	}
	if _, err := c.Edit(x.ID, func(x *store.Capture) error { x.Notes.Noted = marks(store.MaxMarks); return nil }); err != nil {
		t.Error(err)
	}
	if got, err := c.Get(x.ID); err != nil || len(got.Notes.Marked) != store.MaxMarks {
		t.Errorf("%d marks, %v", len(got.Notes.Marked), err)
	}
	notified(changed)
	if err := c.Remove(x.ID); err != nil || !notified(changed) {
		t.Error("no notification of the removal", err)
	}
	stop()
	if _, err := c.Edit(x.ID, func(*store.Capture) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Error(entries)
	}
}

func marks(n int) (out []store.Noted) {
	for i := range n {
		id := transport.FrameID{Packet: uint32(n - i), Off: 1000}
		out = append(out, store.Noted{ID: id, N: uint64(n - i), Mark: true})
	}
	return out
}

func notes(n int, text string) (out []store.Noted) {
	for i := range n {
		out = append(out, store.Noted{N: uint64(i + 1), Note: text})
	}
	return out
}

func TestNameOfACaptureIsCut(t *testing.T) {
	c, _, _ := newCapture(t, "")
	x, err := c.Add(strings.Repeat("ä", 150)+"\xff", time.Now(), strings.NewReader(""))
	if err != nil || x.Name != strings.Repeat("ä", 100) {
		t.Errorf("%q %v", x.Name, err)
	}
}

// Packets are found by number, also after the file was replaced by another.
func TestPackets(t *testing.T) {
	file := func(first byte) []byte {
		var b bytes.Buffer
		w, _ := pcap.NewWriter(&b, "test")
		if _, err := w.Interface(pcap.Interface{Link: packet.LinkRaw}); err != nil {
			t.Fatal(err)
		}
		for i := range 25_000 {
			if err := w.Packet(&packet.Packet{Data: []byte{first + byte(i%100)}}); err != nil {
				t.Fatal(err)
			}
		}
		return b.Bytes()
	}
	c, x, dir := newCapture(t, string(file(0)))
	read := func(want ...uint32) (got string) {
		t.Helper()
		if err := c.Packets(t.Context(), x.ID, want, func(p *packet.Packet) bool {
			got += fmt.Sprintf("%d %d ", p.N, p.Data[0])
			return true
		}); err != nil {
			t.Fatal(err)
		}
		return got
	}
	for range 2 {
		if got := read(1, 24_321, 30_000); got != "1 0 24321 20 " {
			t.Error(got)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, x.ID+".capture"), append(file(100), 0), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := read(1, 24_321); got != "1 100 24321 120 " {
		t.Error("of another file:", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Packets(ctx, x.ID, []uint32{1}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := c.Packets(t.Context(), "nothing", []uint32{1}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for i := range 40 { // the number of cached indexes is bounded
		y, err := c.Add(fmt.Sprint(i), time.Now(), strings.NewReader("letter"))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Packets(t.Context(), y.ID, []uint32{1}, nil); !errors.Is(err, pcap.ErrFormat) {
			t.Error(err)
		}
	}
}

func TestTooManyCaptures(t *testing.T) {
	c, _, dir := newCapture(t, "")
	for i := range store.MaxCaptures - 1 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("put-there-", i, ".capture")), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Add("one more", time.Now(), strings.NewReader("")); err == nil || !strings.Contains(err.Error(), "more than 1000 captures") {
		t.Error(err)
	}
}
