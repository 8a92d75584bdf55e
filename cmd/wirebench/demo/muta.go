package demo

import (
	"math"
	"strconv"
	"strings"
)

// mutaGame has a world on a separate port.
var mutaGame = rules{
	protocol: "muta",
	parts: []part{
		{groups: [2]string{"clmsg", "svmsg"}, actors: [2]func(*speaker) actor{newMutaServer, newMutaClient}},
		{group: groupWorld, groups: [2]string{groupWorld, groupWorld}, actors: [2]func(*speaker) actor{newWorldServer, newWorldClient}},
	},
}

// mutaClient logs in, creates heroes and chats.
type mutaClient struct {
	*speaker
	n  int
	in bool
}

func newMutaClient(s *speaker) actor { return &mutaClient{speaker: s} }

func (c *mutaClient) begin() {
	password := make([]int, 32)
	for i := range password {
		password[i] = c.rng.IntN(256)
	}
	c.say("login", values{"account": "visitor", "password": password, "build": 1042})
}

func (c *mutaClient) tick() {
	if c.n++; !c.in {
		return
	}
	switch {
	case c.n%40 == 0:
		looks := make([]int, 6)
		for i := range looks {
			looks[i] = c.rng.IntN(10)
		}
		c.say("create_hero", values{"name": c.one("Lann", "Mira", "Bramble", "Tamsin"), "race": []int{0, 1, 4}[c.rng.IntN(3)], "looks": looks})
	case c.n%3 == 0:
		c.say("say", values{"text": c.one("anyone for the mines?", "north", "south", "level "+strconv.Itoa(c.n), strings.Repeat("ha", 1+c.rng.IntN(100)))})
	default:
		c.say("ping", nil)
	}
}

func (c *mutaClient) hear(name string, v values) {
	if name == "login_result" {
		c.in = v.num("ok") == 1
	}
}

// mutaServer has a few heroes who walk about and gain levels.
type mutaServer struct {
	*speaker
	n      int
	in     bool
	heroes []values
	id     int
}

func newMutaServer(s *speaker) actor { return &mutaServer{speaker: s, id: 53} }

func (s *mutaServer) begin() {}

func (s *mutaServer) add(name string, race any) {
	s.id++
	if len(s.heroes) == 4 {
		s.heroes = s.heroes[1:]
	}
	s.heroes = append(s.heroes, values{"id": strconv.Itoa(s.id), "name": name, "race": race, "level": 1, "at": values{}})
}

func (s *mutaServer) tick() {
	if s.n++; s.in && s.n%2 == 0 {
		s.tell()
	}
}

// tell sends the positions of the heroes.
func (s *mutaServer) tell() {
	for i, h := range s.heroes {
		angle := float64(s.n)/20 + float64(i)
		h["at"] = values{"map_id": 32, "x": math.Round(100 * math.Cos(angle)), "y": math.Round(100 * math.Sin(angle))}
		if level := h["level"].(int); s.rng.IntN(30) == 0 {
			h["level"] = level%60 + 1
		}
	}
	s.say("heroes", values{"heroes": s.heroes, "newest": strconv.Itoa(s.id)})
}

func (s *mutaServer) hear(name string, v values) {
	switch name {
	case "login":
		s.say("login_result", values{"ok": 1, "account": "18446744073709551615"})
		s.in = true
		s.add("John", 1)
		s.tell()
	case "create_hero":
		s.add(v.text("name"), v["race"])
		s.tell()
	case "ping":
		s.say("pong", values{"utc": strconv.Itoa(1_790_000_000 + s.n)})
	case "say":
		if len(v.text("text")) > 100 {
			s.tell()
		}
	}
}
