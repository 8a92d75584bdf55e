package captures

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"time"
)

// A reader at the end of a growing file gets each byte once and in order, and no byte beyond the reported size.
func TestTail(t *testing.T) {
	const size = 1 << 16
	data := make([]byte, size)
	for i := 0; i+4 <= size; i += 4 {
		binary.LittleEndian.PutUint32(data[i:], uint32(i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	atEnd := make(chan struct{}, 1)
	tl := newTail(ctx, bytes.NewReader(data), 0, func() {
		select {
		case atEnd <- struct{}{}:
		default:
		}
	})
	tl.patience = time.Minute
	var got []byte
	done := make(chan error, 1)
	go func() {
		buf := make([]byte, 1000)
		for {
			n, err := tl.Read(buf)
			got = append(got, buf[:n]...)
			if err != nil {
				done <- err
				return
			}
		}
	}()
	for at := 0; at < size; at += 1 + at/3 {
		if !tl.grow(int64(at)) {
			t.Fatal("nobody reads")
		}
	}
	tl.grow(size - 1)
	for !tl.idle() {
		<-atEnd
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if !bytes.Equal(got, data[:size-1]) {
		t.Errorf("%d bytes were read, or wrong ones", len(got))
	}
	if tl.grow(10) {
		t.Error("a truncated file is still being read")
	}

	// After the patience of the reader the file ends, and further growth is refused.
	ended := newTail(t.Context(), bytes.NewReader(data), 8, func() {})
	ended.patience = time.Millisecond
	if all, err := io.ReadAll(ended); err != nil || len(all) != 8 {
		t.Errorf("%d bytes, %v", len(all), err)
	}
	if ended.grow(16) || !ended.idle() {
		t.Error("it reads on after its end")
	}
	// A file shorter than reported.
	short := newTail(t.Context(), bytes.NewReader(data[:4]), 8, func() {})
	if all, err := io.ReadAll(short); err != nil || len(all) != 4 || short.grow(20) {
		t.Errorf("%d bytes, %v", len(all), err)
	}
}
