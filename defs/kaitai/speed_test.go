package kaitai_test

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/defs/benchtest"
)

// The shapes of messages that are measured: of 30 bytes, of about 60 with a name, and of 488 with 20 structs.
var shapes = [...]struct{ name, text string }{
	{"move", `
meta: {id: move, endian: le}
seq:
  - {id: len, type: u2}
  - {id: code, type: u2}
  - {id: number, type: u4}
  - {id: x, type: f4}
  - {id: y, type: f4}
  - {id: z, type: f4}
  - {id: heading, type: s2}
  - {id: speed, type: u2}
  - {id: state, type: u2}
  - {id: time, type: u4}
`},
	{"player", `
meta: {id: player, endian: le, encoding: UTF-8}
seq:
  - {id: len, type: u2}
  - {id: code, type: u2}
  - {id: number, type: u8}
  - {id: len_name, type: u2}
  - {id: name, type: str, size: len_name}
  - {id: level, type: u2}
  - {id: race, type: u1}
  - {id: class, type: u1}
  - {id: map, type: u4}
  - {id: guild, type: u4}
  - {id: gold, type: u8}
  - {id: health, type: u4}
  - {id: mana, type: u4}
`},
	{"crowd", `
meta: {id: crowd, endian: le}
seq:
  - {id: len, type: u2}
  - {id: code, type: u2}
  - {id: num_members, type: u2}
  - {id: members, type: member, repeat: expr, repeat-expr: num_members}
types:
  member:
    seq:
      - {id: number, type: u8}
      - {id: x, type: f4}
      - {id: y, type: f4}
      - {id: health, type: u4}
      - {id: level, type: s4}
      - {id: kind, type: u1}
`},
}

// shaped returns a message of a shape.
func shaped(r *rand.Rand, shape int) []byte {
	b := []byte{0, 0, byte(shape), 0}
	float := func() { b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(r.Float64()*2000-1000))) }
	random := func(n int) {
		for range n {
			b = append(b, byte(r.Uint32()))
		}
	}
	switch shape {
	case 0:
		random(4)
		float()
		float()
		float()
		random(10)
	case 1:
		random(8)
		n := 12 + r.IntN(15)
		b = binary.LittleEndian.AppendUint16(b, uint16(n))
		b = append(b, "abcdefghijklmnopqrstuvwxyz"[:n]...)
		random(28)
	case 2:
		b = append(b, 20, 0)
		for range 20 {
			random(8)
			float()
			float()
			random(9)
		}
	}
	binary.LittleEndian.PutUint16(b, uint16(len(b)))
	return b
}

// BenchmarkMustPeer reads all values of a mix of messages: 70 of 100 are of 30 bytes, 25 of about 60, 5 of 500. The JavaScript that the compiler of
// Kaitai Struct writes is to take at least twenty times as long for them: it took 21 to 23 times as long on a quiet machine. The limit leaves room
// for the spread of its compiler, which no round of ours can average out.
func BenchmarkMustPeer(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	var p peer
	p.Files, p.Rounds = map[string]string{}, 5
	for _, s := range shapes {
		p.Files[s.name+".ksy"] = s.text
	}
	schema := parse(b, p.Files)
	var (
		programs [len(shapes)]*codec.Program
		messages [len(shapes)][]columns.Span
		sets     [len(shapes)]columns.Set
		data     []byte
		all      []columns.Span
		err      error
	)
	for i, s := range shapes {
		if programs[i], err = codec.Compile(schema.Find(s.name, 0)); err != nil {
			b.Fatal(err)
		}
		sets[i].SelectAll(programs[i])
	}
	for range 4000 {
		shape := 0
		switch k := r.IntN(100); {
		case k >= 95:
			shape = 2
		case k >= 70:
			shape = 1
		}
		m := shaped(r, shape)
		all = append(all, columns.Span{Off: uint32(len(data)), Len: uint32(len(m))})
		messages[shape] = append(messages[shape], all[len(all)-1])
		data = append(data, m...)
		p.Rows = append(p.Rows, peerRow{shapes[shape].name + ".ksy", hex.EncodeToString(m)})
	}
	answer := p.run(b)
	for i, row := range answer.Rows {
		if row.Error != "" {
			b.Fatal(p.Rows[i].File, row.Error)
		}
	}
	var rec codec.Record
	const times = 20
	took := benchtest.Least(max(b.N, 9), benchtest.Job{Name: "columns", Run: func() {
		for range times {
			for i := range messages {
				for some := range slices.Chunk(messages[i], 400) { // as a capture is read: values are used while they are in the cache
					sets[i].Reset()
					if n := sets[i].Append(programs[i], data, some); n != len(some) {
						b.Fatal(n)
					}
				}
			}
		}
	}}, benchtest.Job{Name: "rows", Run: func() {
		for range times {
			for _, m := range all {
				programs[data[m.Off+2]].Decode(&rec, data[m.Off:][:m.Len])
			}
		}
	}})
	if len(rec.AllProblems()) > 0 {
		b.Fatal(rec.Problems[0].Message(&rec))
	}
	peer := time.Duration(answer.Micros * float64(len(all)*times) * float64(time.Microsecond))
	b.Logf("%v columns, %v rows, peer %v", took[0]/times/time.Duration(len(all)), took[1]/times/time.Duration(len(all)), peer/times/time.Duration(len(all)))
	benchtest.Must(b, times*len(all), took[0], peer, 1.0/16)
	benchtest.Within(b, "row-times-peer", float64(took[1])/float64(peer), 1.0/5)
}
