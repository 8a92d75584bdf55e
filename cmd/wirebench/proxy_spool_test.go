package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The bytes of a spool come out in order and once, in memory and in a file, up to the end of a broken part.
func TestSpool(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var file *os.File
		if seed%2 == 0 {
			var err error
			if file, err = os.Create(filepath.Join(t.TempDir(), "spool")); err != nil {
				t.Fatal(err)
			}
			defer file.Close()
		}
		const limit = 1000
		s := newSpool(limit, file)
		var in, out [4][]byte
		broken := [4]bool{}
		part, lost := 0, int64(0)
		take := func() {
			p, data, err := s.next(t.Context(), int64(1+rng.IntN(400)))
			if err != nil {
				t.Fatal(err)
			}
			n := min(len(data), 1+rng.IntN(400))
			out[p] = append(out[p], data[:n]...)
			s.release(int64(n))
		}
		for range 300 {
			if part < 3 && rng.IntN(60) == 0 {
				part++
			}
			if rng.IntN(3) > 0 {
				data := make([]byte, 1+rng.IntN(200))
				for i := range data {
					data[i] = byte(rng.Uint32())
				}
				fits := s.waiting()+int64(len(data)) <= limit && !broken[part]
				if err := s.add(part, data); (err != nil) != (!fits && !broken[part]) {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if fits {
					in[part] = append(in[part], data...)
				} else {
					lost += int64(len(data))
				}
				broken[part] = !fits
			} else if s.waiting() > 0 {
				take()
			}
		}
		for s.waiting() > 0 {
			take()
		}
		for i := range in {
			if !bytes.Equal(in[i], out[i]) {
				t.Fatalf("seed %d: part %d: %d bytes in, %d out, or others", seed, i, len(in[i]), len(out[i]))
			}
		}
		if s.lost() != lost {
			t.Errorf("seed %d: %d bytes are reported lost, want %d", seed, s.lost(), lost)
		}
		if file != nil {
			if info, err := file.Stat(); err != nil || info.Size() > limit {
				t.Errorf("the file has %d bytes, %v", info.Size(), err)
			}
		}
		s.close()
		if _, data, err := s.next(t.Context(), 10); data != nil || err != nil {
			t.Errorf("after the end: %q %v", data, err)
		}
	}
}

func TestSpoolWaits(t *testing.T) {
	s := newSpool(100, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, _, err := s.next(ctx, 10); err == nil {
		t.Error("no error after the context has ended")
	}
	go func() { _ = s.add(1, []byte("x")) }()
	if part, data, err := s.next(t.Context(), 10); part != 1 || string(data) != "x" || err != nil {
		t.Error(part, data, err)
	}
	s.lose()
	if s.lost() != 1 || s.waiting() != 0 || s.add(2, []byte("yy")) != nil || s.lost() != 3 {
		t.Error(s.lost(), s.waiting())
	}
}

// A part that does not fit ends with one error, and the next part starts normally. After a disk error data is still pushed.
func TestRecordingGoesOn(t *testing.T) {
	var said []string
	note := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	s := newSpool(10, nil)
	one := &recording{spool: s, part: 1, note: note}
	for _, block := range []string{"12345678", "12345678", "1"} {
		if n, err := one.Write([]byte(block)); n != len(block) || err != nil {
			t.Error(n, err)
		}
	}
	if len(said) != 1 || !strings.Contains(said[0], "the spool is full") || s.lost() != 9 || s.waiting() != 8 {
		t.Errorf("%q, %d lost, %d wait", said, s.lost(), s.waiting())
	}
	s.release(8)

	file, err := os.Create(filepath.Join(t.TempDir(), "closed"))
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	two := &recording{spool: s, part: 2, note: note, file: file}
	if n, err := two.Write([]byte("block")); n != 5 || err != nil || s.waiting() != 5 {
		t.Error(n, err, s.waiting())
	}
	if len(said) != 2 || !strings.Contains(said[1], "recording has stopped") || two.Close() != nil {
		t.Errorf("%q", said)
	}
	alone := &recording{file: file, note: note}
	if _, err := alone.Write([]byte("block")); err == nil {
		t.Error("no error of a full disk without a pusher")
	}
}
