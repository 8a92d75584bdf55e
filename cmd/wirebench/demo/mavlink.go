package demo

import "math"

// mavlinkGame has boats that a station on land watches.
var mavlinkGame = rules{
	protocol: "mavlink",
	parts:    []part{{actors: [2]func(*speaker) actor{newShore, newBoat}}},
}

// craft is an end that numbers its messages.
type craft struct {
	*speaker
	system int
	n      int
	count  int
}

func (c *craft) begin() {}

func (c *craft) report(name string, v values) {
	v["header"] = values{"sequence": c.count % 256, "system": c.system, "component": 1}
	c.count++
	c.say(name, v)
}

// boat is a client: it says where it is, and follows commands.
type boat struct{ craft }

func newBoat(s *speaker) actor { return &boat{craft{speaker: s, system: 1 + s.rng.IntN(9)}} }

func (b *boat) tick() {
	angle := float64(b.n) / 40
	switch b.n++; {
	case b.n%10 == 1:
		b.report("BEAT", values{"craft": "CRAFT_BOAT", "mode": 3, "uptime": b.n / 10, "version": 3})
	case b.n%25 == 0:
		b.report("SAY", values{"severity": 6, "text": b.one("a fair wind", "the tide is out", "leaks a little")})
	case b.n%8 == 0:
		b.report("SONAR", values{"time": 100_000 * b.n, "bearing": math.Round(angle*100) / 100, "sensor": b.n / 8 % 2, "peaks": []int{400 + b.rng.IntN(50), 0, 0, 0}, "echoes": "00010408102040200804020100000000"})
	default:
		v := values{
			"time": 100 * b.n, "lat": 543200000 + int(20000*math.Sin(angle)), "lon": 101200000 + int(20000*math.Cos(angle)),
			"heading": b.n * 60 % 36000, "speed": []int{int(150 * math.Cos(angle)), int(-150 * math.Sin(angle)), 0}, "depth": []int{0, 400 + b.rng.IntN(50)}[b.n%2],
		}
		b.report("PLACE", v)
	}
}

func (b *boat) hear(name string, v values) {
	if name == "TASK_LONG" {
		b.report("TASK_DONE", values{"task": v["task"], "result": "TASK_RESULT_DONE", "progress": 100, "target": 255})
	}
}

// shore is the station.
type shore struct{ craft }

func newShore(s *speaker) actor { return &shore{craft{speaker: s, system: 255}} }

func (s *shore) tick() {
	if s.n++; s.n%12 == 0 {
		s.report("TASK_LONG", values{"target": 1, "task": s.one("TASK_SAIL_TO", "TASK_ANCHOR"), "param1": 2.5, "param2": 10})
		return
	}
	s.report("BEAT", values{"craft": "CRAFT_SHORE", "uptime": s.n, "version": 3})
}

func (s *shore) hear(string, values) {}
