package stream

import (
	"bytes"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

// recorder is a Transport that keeps the segments.
type recorder struct{ sample *Sample }

func (r recorder) Feed(seg transport.Segment, _ func(*transport.Frame)) {
	seg.Bytes = bytes.Clone(seg.Bytes)
	*r.sample = append(*r.sample, seg)
}

func (r recorder) Flush(time.Time, func(*transport.Frame)) {}

// readSamples returns the connections of a capture.
func readSamples(t testing.TB, file []byte, port uint16) []Sample {
	t.Helper()
	var all []*Sample
	o := packet.Options{Ports: []uint16{port}, New: func(transport.Conn) transport.Transport {
		s := new(Sample)
		all = append(all, s)
		return recorder{s}
	}}
	if _, err := pcap.Read(bytes.NewReader(file), o, func(*transport.Frame) {}); err != nil {
		t.Fatal(err)
	}
	var out []Sample
	for _, s := range all {
		out = append(out, *s)
	}
	return out
}

// TestCorporaSessionIsDetected detects the envelope of a session without definitions, including the compression that begins inside it.
func TestCorporaSessionIsDetected(t *testing.T) { corpora.Run(t, testSessionIsDetected) }

func testSessionIsDetected(t *testing.T, c *corpora.Corpus) {
	samples := readSamples(t, c.Read(t, "protodef/session-1.16.1.pcapng"), 25598)
	start := time.Now()
	found := Detect(samples, false, nil)
	t.Logf("%d connections, %v", len(samples), time.Since(start))
	for i := range found[:min(len(found), 5)] {
		t.Logf("%.3f %v\n%s", found[i].score, &found[i], found[i].Text)
	}
	if len(found) == 0 || found[0].Used != found[0].Total || found[0].Packed == 0 {
		t.Fatal("not detected")
	}
	if f := found[0].Envelope.States[0].Frame[0].String(); f != "length varint" {
		t.Errorf("framed by %q", f)
	}
	problems, n := 0, 0
	for _, s := range samples {
		tr := New(Options{Envelope: found[0].Envelope})
		for _, seg := range s {
			tr.Feed(seg, func(f *transport.Frame) {
				n++
				if f.Kind == transport.Problem || f.Note != "" {
					problems++
				}
			})
		}
	}
	if problems > 0 || n < 100 {
		t.Errorf("%d frames, %d problems", n, problems)
	}
	_ = schema.Both
}
