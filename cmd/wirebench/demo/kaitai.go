package demo

import "math"

// kaitaiGame has ships that tell where they are, and send their logbook now and then.
var kaitaiGame = rules{
	protocol: "kaitai",
	parts:    []part{{actors: [2]func(*speaker) actor{newVoyager, newVoyager}}},
}

// voyager is an end of a connection: a ship.
type voyager struct {
	*speaker
	n int
}

func newVoyager(s *speaker) actor { return &voyager{speaker: s} }

func (x *voyager) begin()              {}
func (x *voyager) hear(string, values) {}

func (x *voyager) tick() {
	if x.n++; x.n%8 == 0 {
		x.say("logbook", x.logbook())
		return
	}
	angle := float64(x.n) / 40
	x.say("place", values{"latitude": 57_000_000 + int(120_000*math.Sin(angle)), "longitude": -3_000_000 + int(240_000*math.Cos(angle))})
}

// logbook returns one of the newer version. The crew follows the entries: magic, version and position have 10 bytes, an entry 7 besides its body.
func (x *voyager) logbook() values {
	ship := x.one("Petrel", "Heron", "Ibis")
	at := 10 + len(ship) + 1 + 2
	var entries []values
	for range 1 + x.rng.IntN(4) {
		text := x.one("The pilot is late.", "Two whales.", "Nothing to write.")
		entries = append(entries, values{
			"day": 8123 + x.n/8, "kind": "note", "sea": x.rng.IntN(10), "wind": x.rng.IntN(10), "weather": x.one("fair", "rain", "fog"),
			"len_body": len(text), "body": text,
		})
		at += 7 + len(text)
	}
	return values{"version": 2, "ofs_crew": at, "ship": ship, "num_entries": len(entries), "entries": entries, "crew": values{"names": []string{"Ada", "Ben", ""}}}
}
