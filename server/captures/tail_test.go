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

// What reads at the end of a file that grows gets each byte once and in order, and nothing that was not told.
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
		t.Errorf("%d bytes were read, or others", len(got))
	}
	if tl.grow(10) {
		t.Error("a file that has become shorter is read on")
	}

	// Who has waited long enough is at the end, and nobody reads on.
	ended := newTail(t.Context(), bytes.NewReader(data), 8, func() {})
	ended.patience = time.Millisecond
	if all, err := io.ReadAll(ended); err != nil || len(all) != 8 {
		t.Errorf("%d bytes, %v", len(all), err)
	}
	if ended.grow(16) || !ended.idle() {
		t.Error("it reads on after its end")
	}
	// A file that has less than was told.
	short := newTail(t.Context(), bytes.NewReader(data[:4]), 8, func() {})
	if all, err := io.ReadAll(short); err != nil || len(all) != 4 || short.grow(20) {
		t.Errorf("%d bytes, %v", len(all), err)
	}
}
