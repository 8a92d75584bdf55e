package capture

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"
)

func TestZZSlow(t *testing.T) {
	whole := sample(t, TCP)
	all, _ := readAll(t, whole)
	seeds := [][]byte{whole, asPcap(all, binary.BigEndian, false), pack(t, whole), sample(t, UDP)}
	r := rand.New(rand.NewPCG(5, 5))
	start := time.Now()
	var sums [4]time.Duration
	for n := range 20000 {
		f := bytes.Clone(seeds[n%4])
		for range 1 + r.IntN(5) {
			f[r.IntN(len(f))] = byte(r.Uint32())
		}
		at := time.Now()
		_, _ = Read(bytes.NewReader(f), Options{New: newSink, Conns: 100}, func(fr Frame) {})
		sums[n%4] += time.Since(at)
	}
	t.Log(time.Since(start), sums)
}
