package collect

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"wirebench/server/bus/bustest"
)

// What a packet of 100 bytes costs a collector on its way into the spool, and out of it; of one way, without NATS.
func BenchmarkSpool(b *testing.B) {
	s, err := OpenSpool(b.TempDir(), 1<<30)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	id, f := record(b, s, "one")
	p := s.part(id)
	w := newBlocks()
	piece := w.piece(300, 100) // about what the recorder writes at once
	b.ResetTimer()
	for n := 0; n < b.N; n += 300 {
		if _, err := f.Write(piece); err != nil {
			b.Fatal(err)
		}
		for {
			batch, changes, ok, err := p.next(batchBytes)
			if err != nil {
				b.Fatal(err)
			}
			if !ok {
				break
			}
			_ = batch.message("wirebench.traffic.one.host1.game")
			p.acknowledged(batch, changes)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "packets/s")
}

// Packets of 100 bytes from the spool of a collector to the disk of a workbench, through a NATS server that stores each batch on disk before
// it acknowledges it, all on this machine.
func BenchmarkCollect(b *testing.B) {
	server := bustest.Start(b)
	bench := open(b, b.TempDir(), "one", server.URL)
	from := send(b, b.TempDir(), server.URL, 1<<30)
	id, f := record(b, from.spool, "one")
	w := newBlocks()
	head := w.piece(1, 100)
	if _, err := f.Write(head); err != nil {
		b.Fatal(err)
	}
	size := func() int64 {
		x, err := bench.ws.Captures.Get(id)
		if err != nil {
			return 0
		}
		return x.Size
	}
	until(b, "the first packet", func() bool { return size() == int64(len(head)) }, &bench.out, &from.out)
	piece := w.piece(300, 100)
	want := int64(len(head))
	b.ResetTimer()
	for n := 0; n < b.N; n += 300 {
		if _, err := f.Write(piece); err != nil {
			b.Fatal(err)
		}
		want += int64(len(piece))
	}
	until(b, "all is there", func() bool { return size() == want }, &bench.out, &from.out)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "packets/s")
	b.ReportMetric(float64(want)/b.Elapsed().Seconds()/1e6, "MB/s")
}

// The time from a piece in the spool of a collector, one at a time, to the disk of a workbench.
func BenchmarkCollectLatency(b *testing.B) {
	server := bustest.Start(b)
	bench := open(b, b.TempDir(), "one", server.URL)
	from := send(b, b.TempDir(), server.URL, 1<<30)
	_, f := record(b, from.spool, "one")
	grown := make(chan int64, 1)
	bench.grown.Store(&grown)
	w := newBlocks()
	var all []time.Duration
	want := int64(0)
	for b.Loop() {
		piece := bytes.Clone(w.piece(100, 100))
		want += int64(len(piece))
		now := time.Now()
		if _, err := f.Write(piece); err != nil {
			b.Fatal(err)
		}
		for size := int64(0); size < want; size = <-grown {
		}
		all = append(all, time.Since(now))
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds()), "µs-p50")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds()), "µs-p99")
}
