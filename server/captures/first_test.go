package captures

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/frames"
	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// talk returns a capture of n messages of size bytes.
func talk(t *testing.T, n, size int) []byte {
	t.Helper()
	var out bytes.Buffer
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	w, err := pcap.NewWriter(&out, "test")
	must(err)
	iface, err := w.Interface(pcap.Interface{Link: packet.LinkEthernet})
	must(err)
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	s := pcap.NewSynthetic(w, iface, transport.Conn{Proto: transport.TCP, Client: netip.MustParseAddrPort("10.0.0.2:4000"), Server: netip.MustParseAddrPort("10.0.0.1:7801")})
	must(s.Open(at))
	msg := make([]byte, size)
	binary.LittleEndian.PutUint16(msg, uint16(size))
	for i := range n {
		dir := schema.ToServer
		binary.LittleEndian.PutUint16(msg[2:], 0x1001)
		if i%3 == 2 {
			dir = schema.ToClient
			binary.LittleEndian.PutUint16(msg[2:], 0x1002)
		}
		binary.LittleEndian.PutUint32(msg[4:], uint32(i))
		must(s.Data(dir, at.Add(time.Duration(i)*time.Millisecond), msg, ""))
	}
	return out.Bytes()
}

// talkIn stores a capture in a workspace.
func talkIn(t *testing.T, data []byte) (*workspace.Workspace, store.Capture) {
	t.Helper()
	kept := workspacetest.Captures(t)
	files, _ := workspacetest.Dir(t, map[string]string{"C_SAY.1.def": "int32 n\n", "S_SAY.1.def": "int32 n\n", "protocol.1.map": "C_SAY 4097\nS_SAY 4098\n"})
	x, err := kept.Add("talk.pcapng", time.Now(), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return workspacetest.Open(t, workspace.Config{Dialect: "tera", Files: files, Captures: kept}), x
}

// halted reads a file up to some bytes, and the rest as soon as it may go on.
type halted struct {
	io.ReadCloser
	left int
	goOn chan struct{}
}

func (h *halted) Read(p []byte) (int, error) {
	if h.left == 0 {
		<-h.goOn
		return h.ReadCloser.Read(p)
	}
	n, err := h.ReadCloser.Read(p[:min(len(p), h.left)])
	h.left -= n
	return n, err
}

// The first rows of a large capture are there when a small part of it has been read.
func TestFirstRowsBeforeTheRest(t *testing.T) {
	const n, first = 20_000, 128 << 10
	plain := talk(t, n, 400)
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.NoCompression) // compressed it would be small
	if _, err := z.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"plain": plain, "packed": packed.Bytes()} {
		t.Run(name, func(t *testing.T) {
			ws, x := talkIn(t, data)
			c := NewSet(nil, live.NewDisk(t.TempDir(), 1<<30))
			goOn := make(chan struct{})
			c.openFile = func(in *store.Captures, id string) (io.ReadCloser, error) {
				file, err := in.Open(id)
				return &halted{file, first, goOn}, err
			}
			t.Cleanup(c.Close)
			o, err := c.Get(ws, ws.Now(), x)
			if err != nil {
				close(goOn)
				t.Fatal(err)
			}
			late := time.After(time.Minute)
			for changed := o.Changed(); o.Log().Len() < 60; changed = o.Changed() {
				select {
				case <-changed:
				case <-late:
					close(goOn)
					t.Fatalf("%d frames after %d of %d bytes", o.Log().Len(), first, len(data))
				}
			}
			l := frames.NewList(o, ws.Now(), frames.ListSpec{}, store.Notes{}, nil)
			l.View.Advance(t.Context(), time.Minute)
			if got := l.Rows(t.Context(), frames.RowsQuery{Count: 60}).Rows; len(got) != 60 || got[59].N != 60 || got[59].Name != "S_SAY" || o.Complete() {
				t.Errorf("%d rows, complete: %v", len(got), o.Complete())
			}
			close(goOn)
			<-o.Done()
			if o.Err() != nil || o.Log().Len() != n {
				t.Errorf("%d frames, %v", o.Log().Len(), o.Err())
			}
		})
	}
}

// An open capture takes a fixed amount of memory, and little for each further frame.
func TestMemoryOfLargeCapture(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files of frames in memory need Linux, not " + runtime.GOOS)
	}
	const n = 120_000
	data := talk(t, n, 450)
	ws, x := talkIn(t, data)
	c := NewSet(nil, live.NewDisk(t.TempDir(), 1<<30))
	t.Cleanup(c.Close)
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what a cleanup or a pool still held
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := heap()
	o, err := c.Get(ws, ws.Now(), x)
	if err != nil {
		t.Fatal(err)
	}
	<-o.Done()
	if o.Err() != nil || o.Log().Len() != n {
		t.Fatalf("%d frames, %v", o.Log().Len(), o.Err())
	}
	if took := heap() - before; took > 22<<20 {
		t.Errorf("%d frames of a file of %d MiB take %d MiB of memory", n, len(data)>>20, took>>20)
	} else {
		t.Logf("%d KiB", took>>10)
	}
	runtime.KeepAlive(data)
}
