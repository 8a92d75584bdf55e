package protodef_test

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// message is a message of the corpora and its program.
type message struct {
	p    *codec.Program
	data []byte
}

// small returns the messages of the corpora under 200 bytes.
func small(b *testing.B) (out []message) {
	needCorpora(b)
	s := load(b, corpora+"/pc-1.16.1.json")
	f, err := os.Open(corpora + "/messages-1.16.1.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	programs := map[*schema.Message]*codec.Program{}
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var m sample
		if err := json.Unmarshal(sc.Bytes(), &m); err != nil {
			b.Fatal(err)
		}
		data, _ := hex.DecodeString(m.Hex)
		for _, x := range s.Messages {
			if len(data) >= 200 || x.Name != m.Name || x.Key.Dir != schema.DirNamed(m.Dir) || x.Key.Group != m.State {
				continue
			}
			if programs[x] == nil {
				if programs[x], err = codec.Compile(x); err != nil {
					b.Fatal(err)
				}
			}
			out = append(out, message{programs[x], data})
		}
	}
	return out
}

// BenchmarkSmall decodes and encodes the messages of the corpora under 200 bytes, with all values. node-protodef on the same core decodes
// 0.14 million a second and encodes 0.17 million.
func BenchmarkSmall(b *testing.B) {
	all := small(b)
	perMessage := func(b *testing.B) {
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
		perMessage(b)
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
		perMessage(b)
	})
}
