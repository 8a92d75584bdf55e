package pcap

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"wirebench/codec/packet"
	"wirebench/codec/packettest"
	"wirebench/codec/transport"
	"wirebench/defs/corpora"
)

// TestCorporaShuffledCaptures moves, repeats and drops packets of real captures. Streams with moved and repeated packets are delivered unchanged;
// of streams with dropped packets the captured bytes are delivered at their offsets.
func TestCorporaShuffledCaptures(t *testing.T) { corpora.Run(t, testShuffledCaptures) }

func testShuffledCaptures(t *testing.T, c *corpora.Corpus) {
	for _, name := range []string{"tera-session", "tera-plain", "tera-broken", "muta-session", "muta-desync"} {
		file := []byte(c.Text(t, "captures/"+name+".pcapng"))
		packets, err := readAll(t, file)
		if len(packets) == 0 {
			t.Fatal(err)
		}
		whole, _ := play(t, file)
		for seed := range uint64(12) {
			r := rand.New(rand.NewPCG(seed, 3))
			order := append([]packet.Packet(nil), packets...)
			for range len(order) / 20 {
				i := r.IntN(len(order))
				order = append(order[:i+1], order[i:]...) // repeated
			}
			for i := range order { // a little later
				j := min(i+r.IntN(4), len(order)-1)
				order[i], order[j] = order[j], order[i]
			}
			drops := seed%3 == 2
			var tapes []*packettest.Tape
			a := packet.NewAssembler(packet.Options{Ports: []uint16{7801, 13490}, New: func(c transport.Conn) transport.Transport {
				tapes = append(tapes, &packettest.Tape{Conn: c})
				return tapes[len(tapes)-1]
			}}, func(*transport.Frame) {})
			for i := range order {
				if !drops || r.IntN(40) > 0 {
					a.Packet(&order[i])
				}
			}
			a.Flush()
			for _, p := range tapes {
				for _, w := range whole {
					if w.Conn.Name() != p.Conn.Name() {
						continue
					}
					for dir := range p.Dirs {
						got, want := &p.Dirs[dir], &w.Dirs[dir]
						if !drops {
							if !bytes.Equal(got.Bytes, want.Bytes) || got.Lost != want.Lost || p.Conn.Session != 0 {
								t.Errorf("%s seed %d %s: %d bytes, want %d; %d lost, want %d", name, seed, p.Conn.Name(), len(got.Bytes), len(want.Bytes), got.Lost, want.Lost)
							}
							continue
						}
						wrong := 0
						for i := range got.Bytes {
							if got.Start && (i >= len(want.Bytes) || got.Bytes[i] != 0 && got.Bytes[i] != want.Bytes[i]) {
								wrong++
							}
						}
						if wrong > 0 {
							t.Errorf("%s seed %d %s: %d bytes of %d are wrong", name, seed, p.Conn.Name(), wrong, len(got.Bytes))
						}
					}
				}
			}
		}
	}
}
