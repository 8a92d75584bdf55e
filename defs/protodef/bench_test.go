package protodef_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"wirebench/codec"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

// message is a message of the corpora and its program.
type message struct {
	p    *codec.Program
	data []byte
}

// small returns the messages of the corpora under 200 bytes.
func small(b *testing.B) (out []message) {
	c := corpora.Largest(b)
	s := load(b, c, "protodef/pc-1.16.1.json")
	programs := map[*schema.Message]*codec.Program{}
	for _, m := range corpora.Rows[sample](b, c, "protodef/messages-1.16.1.jsonl") {
		data, _ := hex.DecodeString(m.Hex)
		for _, x := range s.Messages {
			if len(data) >= 200 || x.Name != m.Name || x.Key.Dir != schema.DirNamed(m.Dir) || x.Key.Group != m.State {
				continue
			}
			if programs[x] == nil {
				var err error
				if programs[x], err = codec.Compile(x); err != nil {
					b.Fatal(err)
				}
			}
			out = append(out, message{programs[x], data})
		}
	}
	return out
}

// BenchmarkSmall decodes and encodes the messages of the corpora under 200 bytes, with all values. With WIREBENCH_PROTODEF, as for
// TestDifferential, it measures the npm package protodef with the same messages before, and states how many times as fast this is as its
// interpreter, and as the JavaScript that it compiles a definition to.
func BenchmarkSmall(b *testing.B) {
	all := small(b)
	node := nodeSpeed(b)
	perMessage := func(b *testing.B, of func(speed) float64) {
		for name, x := range node {
			b.ReportMetric(of(x)/(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(all))), "×"+name)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(all)), "ns/message")
		b.ReportMetric(float64(b.N)*float64(len(all))/b.Elapsed().Seconds()/1e6, "M/s")
	}
	var rec, out codec.Record
	var leaves []codec.Leaf
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i := range all {
				all[i].p.Decode(&rec, all[i].data)
				leaves = rec.AppendLeaves(leaves[:0])
			}
		}
		perMessage(b, func(x speed) float64 { return x.Decode })
	})
	recs := make([]codec.Record, len(all))
	for i := range all {
		all[i].p.Decode(&recs[i], all[i].data)
	}
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i := range all {
				if err := all[i].p.Encode(&out, &recs[i]); err != nil {
					b.Fatal(err)
				}
			}
		}
		perMessage(b, func(x speed) float64 { return x.Encode })
	})
}

// speed is nanoseconds a message.
type speed struct{ Decode, Encode float64 }

// nodeSpeed measures the npm package protodef, if it is there.
func nodeSpeed(b *testing.B) map[string]speed {
	modules := os.Getenv("WIREBENCH_PROTODEF")
	if modules == "" {
		return nil
	}
	dir := corpora.Largest(b).Dir(b) + "/protodef"
	script := exec.Command("node", "testdata/speed.js", modules, dir+"/pc-1.16.1.json", dir+"/messages-1.16.1.jsonl", "200")
	script.Stderr = os.Stderr
	text, err := script.Output()
	if err != nil {
		b.Fatal(err)
	}
	var out struct{ Interpreter, Compiled speed }
	if err := json.Unmarshal(text, &out); err != nil {
		b.Fatal(err)
	}
	return map[string]speed{"interpreter": out.Interpreter, "compiled": out.Compiled}
}
