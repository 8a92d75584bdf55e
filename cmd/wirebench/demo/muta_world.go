package demo

// groupWorld is the message group of MUTA's worlds. It has its own port, and both directions use it: the port alone determines the group of
// a connection.
const groupWorld = "world"

const worldHeroes = 12

// wanderer is an end of a world: the client moves its hero, the server the other heroes and the weather.
type wanderer struct {
	*speaker
	n      int
	first  int // number of its first hero
	heroes int
}

func newWorldClient(s *speaker) actor { return &wanderer{speaker: s, heroes: 1} }

func newWorldServer(s *speaker) actor { return &wanderer{speaker: s, first: 1, heroes: worldHeroes} }

func (w *wanderer) begin() {
	if w.heroes > 1 {
		w.weather()
	}
}

func (w *wanderer) tick() {
	if w.n++; w.n%40 == 0 && w.heroes > 1 {
		w.weather()
		return
	}
	steps := []values{}
	for i := range w.heroes {
		if w.heroes > 1 && w.rng.IntN(3) > 0 {
			continue // no step
		}
		steps = append(steps, values{"dir": (w.n/8 + w.first + i) % 8, "running": w.rng.IntN(2), "turn": w.rng.IntN(91) - 45})
	}
	w.say("moved", values{"tick": w.n, "steps": steps})
}

func (w *wanderer) weather() {
	w.say("weather", values{"kind": w.rng.IntN(6), "wind": (200 + w.n) % 360, "temperature": 14 - w.rng.IntN(20)})
}

func (w *wanderer) hear(string, values) {}
