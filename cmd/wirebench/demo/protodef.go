package demo

import (
	"math"
	"strconv"
	"strings"
)

// protodefGame has ships that sail between harbors.
var protodefGame = rules{
	protocol: "protodef",
	parts:    []part{{actors: [2]func(*speaker) actor{newHarborServer, newShip}}},
}

// captain is the UUID of a player.
const captain = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"

// ship is a client: it introduces itself, sails, talks and trades.
type ship struct {
	*speaker
	n int
}

func newShip(s *speaker) actor { return &ship{speaker: s} }

func (c *ship) begin() {
	c.say("hello", values{"version": 3, "host": "localhost", "port": 4711, "intent": "play"})
}

func (c *ship) tick() {
	switch c.n++; {
	case c.n%20 == 0:
		c.say("trade", values{
			"harbor": 1 + c.rng.IntN(5), "paid": strconv.Itoa(c.rng.IntN(500)),
			"sold":   []values{{"ware": "cloth", "amount": 1 + c.rng.IntN(9)}},
			"bought": []values{{"ware": "grain", "amount": 10 * (1 + c.rng.IntN(9))}, {"ware": "chart", "amount": 1, "shows": []values{{"x": c.n, "y": -c.n, "level": 0}}}},
		})
	case c.n%5 == 0:
		v := values{"text": c.one("a fair wind", "land ahoy", "the tide is out", strings.Repeat("heave ", 1+c.rng.IntN(60)))}
		if c.rng.IntN(3) == 0 {
			v["to"] = captain
		}
		c.say("say", v)
	default:
		angle := float64(c.n) / 20
		c.say("steer", values{
			"to":      values{"x": math.Round(1000 * math.Cos(angle)), "y": math.Round(1000 * math.Sin(angle)), "level": 0},
			"sails":   values{"fore": true, "main": c.n%3 > 0, "mizzen": false},
			"heading": float32(math.Round(angle*100) / 100),
		})
	}
}

func (c *ship) hear(name string, v values) {
	if name == "ping" {
		c.say("pong", values{"id": v["id"]})
	}
}

// harborServer is a server with some ships and harbors.
type harborServer struct {
	*speaker
	n  int
	in bool
}

func newHarborServer(s *speaker) actor { return &harborServer{speaker: s} }

func (s *harborServer) begin() {}

func (s *harborServer) tick() {
	if s.n++; !s.in {
		return
	}
	switch {
	case s.n%50 == 0:
		s.say("ping", values{"id": strconv.Itoa(1_790_000_000_000 + s.n)})
	case s.n%15 == 0:
		s.harbor(s.n / 15 % 5)
	case s.n%7 == 0:
		s.say("say", values{"from": captain, "text": captainSays(s)})
	default:
		angle := float64(s.n) / 30
		s.say("ship", values{
			"id": captain, "name": s.one("Margarethe", "Seagull", "Ida"), "speed": math.Round(80+40*math.Sin(angle)) / 10,
			"at":   values{"x": math.Round(500 * math.Cos(angle)), "y": math.Round(500 * math.Sin(angle)), "level": 0},
			"flag": strings.Repeat("00ff", 32),
		})
	}
}

// captainSays returns what the captain says.
func captainSays(s *harborServer) string {
	return s.one("fresh grain at Saltholm", "a storm is coming", "who sails north?")
}

func (s *harborServer) harbor(k int) {
	v := values{
		"id": 1 + k, "name": []string{"Saltholm", "Nyby", "Grauort", "Kap", "Untiefe"}[k],
		"stock":  []values{{"ware": "grain", "amount": 100 + s.rng.IntN(100)}, {"ware": "letter", "amount": 1, "from": captain, "text": "for the harbor master"}},
		"prices": []values{{"ware": "grain", "price": strconv.Itoa(3 + s.rng.IntN(4))}, {"ware": "cloth", "price": strconv.Itoa(20 + s.rng.IntN(9))}},
		"notes":  values{"type": "end"},
	}
	if k == 0 {
		v["notes"] = values{"type": "compound", "name": "harbor", "value": []values{
			{"type": "int", "name": "depth", "value": 12}, {"type": "list", "name": "piers", "value": values{"type": "string", "value": []string{"north", "south"}}},
		}}
	}
	s.say("harbor", v)
}

func (s *harborServer) hear(name string, v values) {
	if name == "hello" {
		s.in = true
		s.harbor(0)
	}
}
