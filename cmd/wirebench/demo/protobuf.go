package demo

import "strconv"

// protobufGame is a harbor: ships call, crates are landed, and the harbor master writes down what each day brought.
var protobufGame = rules{
	protocol: "protobuf",
	parts:    []part{{actors: [2]func(*speaker) actor{newMaster, newSkipper}}},
}

// skipper is the client: the ships that call.
type skipper struct {
	*speaker
	n int
}

func newSkipper(s *speaker) actor { return &skipper{speaker: s} }

func (x *skipper) begin()              {}
func (x *skipper) hear(string, values) {}

func (x *skipper) tick() {
	if x.n++; x.n%3 == 1 {
		x.say("Ship", x.ship())
		return
	}
	x.say("Crate", x.crate())
}

func (s *skipper) ship() values {
	v := values{
		"name": s.one("Petrel", "Heron", "Ibis", "Kittiwake"), "flag": s.one("NONE", "YELLOW", "BLUE"), "draught": 2 + 0.25*float64(s.rng.IntN(9)),
		"stores": []values{{"key": "bread", "value": s.rng.IntN(40)}, {"key": "water", "value": -s.rng.IntN(9)}},
		"tides":  []int{s.rng.IntN(9) - 4, 0, s.rng.IntN(300)},
	}
	if s.rng.IntN(2) == 0 {
		v["quay"] = 1 + s.rng.IntN(6)
	} else {
		v["anchorage"] = values{"buoy": 12 + s.rng.IntN(9), "bearing": strconv.Itoa(s.rng.IntN(181) - 90)}
	}
	if s.rng.IntN(4) == 0 {
		v["tug"] = values{"name": "Jo", "draught": 1.5}
	}
	return v
}

// crate returns a crate: both ends land some.
func (s *speaker) crate() values {
	v := values{"ware": s.one("tea", "hens", "salt", "rope", "pears"), "weight": 0.5 * float64(1+s.rng.IntN(7)), "kinds": []string{s.one("DRY", "WET", "LIVE")}, "shelf": s.rng.IntN(5) - 2}
	if s.rng.IntN(3) == 0 {
		v["owner"] = values{"name": s.one("Ada", "Ben"), "share": s.rng.IntN(4)}
	}
	return v
}

// master is the server: the harbor master.
type master struct {
	*speaker
	called  []values // since the last day
	day     int
	balance int
	n       int
}

func newMaster(s *speaker) actor { return &master{speaker: s, day: 8123} }

func (x *master) begin() {}

func (x *master) hear(name string, v values) {
	if name == "Ship" && len(x.called) < 3 {
		x.called = append(x.called, values{"name": v.text("name"), "draught": v["draught"]})
	}
	x.balance += 40
}

func (x *master) tick() {
	if x.n++; x.n%8 != 0 {
		x.say("Crate", x.crate())
		return
	}
	x.say("Day", values{"number": strconv.Itoa(x.day), "ships": x.called, "wind": []float64{1.5 * float64(x.rng.IntN(8)), 4}, "balance": strconv.Itoa(x.balance - 900)})
	x.day++
	x.called = nil
}
