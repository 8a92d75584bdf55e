package capture

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"wirebench/codec/transport"
)

// TestShuffledCaptures moves, repeats and drops packets of real captures. What is only moved or repeated is delivered as it is in order, byte
// by byte; of what is dropped nothing is delivered but what was captured, at its place.
func TestShuffledCaptures(t *testing.T) {
	for _, name := range []string{"tera-session", "tera-plain", "tera-broken", "muta-session", "muta-desync"} {
		file := []byte(corpus(t, "../captures/"+name+".pcapng"))
		packets, err := readAll(t, file)
		if len(packets) == 0 {
			t.Fatal(err)
		}
		whole, _ := play(t, file)
		for seed := range uint64(12) {
			r := rand.New(rand.NewPCG(seed, 3))
			order := append([]Packet(nil), packets...)
			for range len(order) / 20 {
				i := r.IntN(len(order))
				order = append(order[:i+1], order[i:]...) // again
			}
			for i := range order { // a little later
				j := min(i+r.IntN(4), len(order)-1)
				order[i], order[j] = order[j], order[i]
			}
			drops := seed%3 == 2
			var tapes []*tape
			a := NewAssembler(Options{Ports: []uint16{7801, 13490}, New: func(c Conn) transport.Transport {
				tapes = append(tapes, &tape{conn: c})
				return tapes[len(tapes)-1]
			}}, func(Frame) {})
			for i := range order {
				if !drops || r.IntN(40) > 0 {
					a.Packet(&order[i])
				}
			}
			a.Flush()
			for _, p := range tapes {
				for _, w := range whole {
					if w.conn.Name() != p.conn.Name() {
						continue
					}
					for dir := range p.dirs {
						got, want := &p.dirs[dir], &w.dirs[dir]
						if !drops {
							if !bytes.Equal(got.bytes, want.bytes) || got.lost != want.lost || p.conn.Session != 0 {
								t.Errorf("%s seed %d %s: %d bytes, want %d; %d lost, want %d", name, seed, p.conn.Name(), len(got.bytes), len(want.bytes), got.lost, want.lost)
							}
							continue
						}
						wrong := 0
						for i := range got.bytes {
							if got.start && (i >= len(want.bytes) || got.bytes[i] != 0 && got.bytes[i] != want.bytes[i]) {
								wrong++
							}
						}
						if wrong > 0 {
							t.Errorf("%s seed %d %s: %d bytes of %d are wrong", name, seed, p.conn.Name(), wrong, len(got.bytes))
						}
					}
				}
			}
		}
	}
}
