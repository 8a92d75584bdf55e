package corpus_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"wirebench/codec"
	"wirebench/codec/corpus"
	"wirebench/codec/value"
)

// slowVerdict is Judge.Of by all warnings, and by values as JSON.
func slowVerdict(rec *codec.Record) corpus.Verdict {
	if rec.Status() != codec.OK {
		if rec.PastEnd() {
			return corpus.Over
		}
		return corpus.Differ
	}
	left, doubt := false, false
	for _, p := range rec.AppendWarnings(nil) {
		switch p.Code {
		case codec.LeftOver, codec.Unexplained:
			left = true
		default:
			doubt = true
		}
	}
	var in, out codec.Record
	same := false
	if err := value.ParseJSON(&in, rec.Program, json.RawMessage(value.AppendJSON(nil, rec))); err == nil {
		in.Code, in.Session = rec.Code, rec.Session
		same = rec.Program.Encode(&out, &in) == nil && bytes.Equal(out.Data, rec.Data[:rec.Used])
	}
	if rec.Program.Packed() { // the values do not say how the sender has compressed them
		same = rec.Program.Encode(&out, rec) == nil && bytes.Equal(out.Message(), rec.Data[:rec.Used])
	}
	switch {
	case left:
		return corpus.Leftover
	case doubt:
		return corpus.Doubtful
	case !same && !rec.Program.HasSession():
		return corpus.Differ
	}
	return corpus.Clean
}

// TestJudge changes bytes of examples of all messages of the library, and compares each verdict with one of more work.
func TestJudge(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var judge corpus.Judge
	var counts [corpus.Verdicts]int
	for i, p := range libraryPrograms() {
		for _, e := range value.Examples(p, 6, uint64(i), 7) {
			for round := range 12 {
				data := bytes.Clone(e.Data)
				if round > 0 && len(data) > 0 {
					for range 1 + rng.IntN(2) {
						data[rng.IntN(len(data))] = byte(rng.IntN(1 << (1 + rng.IntN(8))))
					}
					switch rng.IntN(6) {
					case 0:
						data = append(data, 1, 2)
					case 1:
						data = data[:rng.IntN(len(data))]
					}
				}
				var rec codec.Record
				p.Decode(&rec, data)
				got, want := judge.Of(&rec), slowVerdict(&rec)
				if got != want {
					t.Fatalf("%s: % x: %v, want %v (%s)", p.Message.Name, data, got, want, judge.Reason(&rec))
				}
				if counts[got]++; (judge.Reason(&rec) == "") != (got == corpus.Clean) {
					t.Fatalf("%s: % x: %v because %q", p.Message.Name, data, got, judge.Reason(&rec))
				}
			}
		}
	}
	for v, n := range counts {
		if n == 0 {
			t.Errorf("no message is %v", corpus.Verdict(v))
		}
	}
}

// BenchmarkJudge compares decoding with judging, as "check --against" does.
func BenchmarkJudge(b *testing.B) {
	p, frames := benchFrames(b)
	var rec codec.Record
	var judge corpus.Judge
	b.Run("decode", func(b *testing.B) {
		for i := range b.N {
			p.Decode(&rec, frames[i&(len(frames)-1)])
		}
	})
	b.Run("judge", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			if p.Decode(&rec, frames[i&(len(frames)-1)]); judge.Of(&rec) != corpus.Clean {
				b.Fatal(judge.Reason(&rec))
			}
		}
	})
}
