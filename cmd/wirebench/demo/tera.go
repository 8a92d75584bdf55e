package demo

import (
	"fmt"
	"math"
	"strconv"
)

// teraGame is a zone with monsters.
var teraGame = rules{
	protocol: "tera", parts: []part{{actors: [2]func(*speaker) actor{newTeraServer, newTeraClient}}},
}

// Ids and other constants of the world.
const (
	teraPlayer = "1152921504606847001"
	teraNPC    = 9007199254740993
	teraHealth = 200_000
)

// teraClient is a player who walks in circles and fights.
type teraClient struct {
	*speaker
	n        int
	sequence int
	at       float64 // position on the circle, radians
	target   string  // "": no target
}

func newTeraClient(s *speaker) actor { return &teraClient{speaker: s} }

func (c *teraClient) begin() {
	c.say("C_CHECK_VERSION", values{"version": []values{{"index": 0, "value": 100000}, {"index": 1, "value": 99871}}})
}

func place(angle, radius float64) values {
	return values{"x": math.Round(81400 + radius*math.Cos(angle)), "y": math.Round(-3250 + radius*math.Sin(angle)), "z": 1290.5}
}

// turned normalizes an angle to -π to π.
func turned(angle float64) float64 { return math.Remainder(angle, 2*math.Pi) }

func (c *teraClient) tick() {
	c.n++
	switch {
	case c.n%29 == 0:
		c.say("C_CHAT", values{"channel": c.rng.IntN(3), "shown_item": "0", "message": c.one("anyone for the mines?", "its health is at half", "healing soon", "what a day")})
	case c.n%47 == 0:
		c.say("C_USE_ITEM", values{"id": "700000000002", "on_place": false, "place": place(0, 0), "heading": 0})
	case c.n%83 == 0:
		c.say("C_MOVE_ITEM", values{"from": 41, "to": 42 + c.rng.IntN(8), "amount": 0})
	case c.n%5 == 0 && c.target != "":
		c.sequence++
		c.say("C_START_SKILL", values{
			"sequence": c.sequence & 0xffff, "skill": values{"npc": false, "type": 1, "huntingZoneId": 0, "id": 10100 + 10*c.rng.IntN(4), "reserved": 0},
			"target": c.target, "origin": place(c.at, 400), "aim": turned(c.at + math.Pi), "charged": c.rng.IntN(4) == 0,
		})
	default:
		c.at += 0.05
		c.say("C_PLAYER_LOCATION", values{
			"time": 1000 + 100*c.n, "position": place(c.at, 400), "goal": place(c.at+0.05, 400), "heading": turned(c.at + math.Pi/2),
			"speed": 110, "gait": 2, "falling": false, "mounted": c.n/200%2 == 1,
		})
	}
}

func (c *teraClient) hear(name string, v values) {
	switch name {
	case "S_PING":
		c.say("C_PONG", nil)
	case "S_SPAWN_NPC":
		c.target = v.text("id")
	case "S_DESPAWN_NPC":
		c.target = ""
	}
}

// teraServer is a zone with one creature.
type teraServer struct {
	*speaker
	n      int
	npc    int64 // its number, incremented for each new creature
	health int64 // of the creature; 0: none
	away   int   // ticks until the next creature
	total  int64 // experience
	money  int64
	slot   int
	drinks int
	in     bool // the player is in the world
}

func newTeraServer(s *speaker) actor {
	return &teraServer{speaker: s, npc: teraNPC, health: teraHealth, money: 1_250_000, slot: 41, drinks: 250}
}

func (s *teraServer) begin() {}

func (s *teraServer) tick() {
	if s.n++; !s.in {
		return
	}
	if s.health == 0 {
		if s.away--; s.away <= 0 {
			s.npc++
			s.health = teraHealth
			s.spawn()
			return
		}
	}
	switch {
	case s.n%50 == 0:
		s.say("S_PING", nil)
	case s.n%61 == 0:
		s.say("S_WEATHER", values{"zone": 713, "warmth": 18 - s.rng.IntN(12), "sky": s.rng.IntN(3), "wind": float64(s.rng.IntN(40)) / 4})
	case s.n%97 == 0:
		s.say("S_NOTICE", values{"style": s.rng.IntN(2), "seconds": 5, "text": s.one("The gate opens at dusk.", "Prices have changed.")})
	case s.n%43 == 0:
		s.party()
	case s.n%4 == 0 && s.health > 0: // it strikes back
		s.hit(strconv.FormatInt(s.npc, 10), values{"npc": true, "type": 1, "huntingZoneId": 713, "id": 1101, "reserved": 0}, 0, teraPlayer, int64(800+s.rng.IntN(900)))
	case s.n%3 == 0 && s.health > 0: // and heals
		s.health = min(s.health+2500, teraHealth)
		s.spawn()
	default:
		s.hit(teraPlayer, values{"npc": false, "type": 1, "huntingZoneId": 0, "id": 20250, "reserved": 0}, 0, teraPlayer, -int64(300+s.rng.IntN(500)))
	}
}

// spawn sends the state of the creature.
func (s *teraServer) spawn() {
	angle := float64(s.n) / 40
	s.say("S_SPAWN_NPC", values{
		"id": strconv.FormatInt(s.npc, 10), "kind": 1024, "level": 65, "position": place(angle, 100), "heading": turned(angle),
		"health":  values{"now": strconv.FormatInt(s.health, 10), "most": strconv.Itoa(teraHealth)},
		"hostile": true, "asleep": false, "effects": []int{4830, 50221}[:s.n%3%2+1], "title": "Keeper of the Gate",
	})
}

// hit sends the effect of a skill; negative damage heals.
func (s *teraServer) hit(source string, skill values, sequence int, target string, damage int64) {
	s.say("S_SKILL_RESULT", values{"sequence": sequence, "source": source, "skill": skill, "hits": []values{{
		"target": target, "damage": strconv.FormatInt(damage, 10), "critical": damage > 9000,
		"push": values{"down": false, "heading": 0, "to": place(0, 0)},
	}}})
}

func (s *teraServer) party() {
	s.say("S_PARTY_MEMBER_LIST", values{"leader": teraPlayer, "loot": 1, "members": []values{
		{"id": teraPlayer, "world": 4012, "level": 70, "online": true, "ready": s.rng.IntN(2) == 0, "name": "Zoë", "blessings": []int{4830, 4953}},
		{"id": "1152921504606847002", "world": 4012, "level": 68, "online": s.rng.IntN(3) > 0, "ready": false, "name": "Łukasz", "blessings": []int{}},
	}})
}

func (s *teraServer) inventory() {
	s.say("S_INVENTORY", values{"owner": teraPlayer, "money": strconv.FormatInt(s.money, 10), "slots": 80, "items": []values{
		{
			"id": "700000000001", "kind": 88001, "slot": 1, "amount": 1, "bound": true, "label": "Oathkeeper", "gems": []int{12, 12, 7, 0},
			"bonuses": []values{{"stat": 4, "value": 6.75}, {"stat": 11, "value": 0.5}},
		},
		{"id": "700000000002", "kind": 6550, "slot": s.slot, "amount": s.drinks, "bound": false, "label": "", "gems": []int{}, "bonuses": []values{}},
	}})
}

func (s *teraServer) hear(name string, v values) {
	switch name {
	case "C_CHECK_VERSION":
		s.say("S_CHECK_VERSION", values{"ok": true, "wanted": 100000})
		s.say("S_LOGIN", values{
			"id": teraPlayer, "world": 4012, "level": 70,
			"looks": values{"unk": 101, "skinColor": 2, "faceStyle": 7, "faceDecal": 0, "hairStyle": 13, "hairColor": 4, "voice": 1, "tattoos": 0},
			"hat":   values{"x": 0, "y": 0, "z": 0}, "rested": 0.625, "money": strconv.FormatInt(s.money, 10), "newcomer": false, "veteran": true,
			"face": fmt.Sprintf("%064x", 0x101010), "name": "Zoë",
		})
		s.inventory()
		s.party()
		s.spawn()
		s.in = true
	case "C_CHAT":
		s.say("S_CHAT", values{"channel": v.num("channel"), "speaker": teraPlayer, "world": 4012, "staff": false, "muted": false, "name": "Zoë", "message": v.text("message")})
	case "C_START_SKILL":
		s.struck(v)
	case "C_USE_ITEM":
		if s.drinks--; s.drinks == 0 {
			s.drinks = 250
		}
		s.money -= 25
		s.inventory()
	case "C_MOVE_ITEM":
		s.slot = int(v.num("to"))
		s.inventory()
	}
}

// struck applies the player's skill to the creature.
func (s *teraServer) struck(v values) {
	if s.health == 0 {
		return
	}
	damage := min(int64(4000+s.rng.IntN(6000)), s.health)
	s.health -= damage
	skill, _ := v["skill"].(map[string]any)
	s.hit(teraPlayer, skill, int(v.num("sequence")), strconv.FormatInt(s.npc, 10), damage)
	if s.health > 0 {
		s.spawn()
		return
	}
	s.away = 20
	gained := int64(5000 + s.rng.IntN(1000))
	s.total += gained
	s.money += 310
	s.say("S_DESPAWN_NPC", values{"id": strconv.FormatInt(s.npc, 10), "how": 1, "fade": 1.5})
	s.say("S_EXPERIENCE", values{"gained": strconv.FormatInt(gained, 10), "total": strconv.FormatInt(s.total, 10), "level": 69, "bonus": 0.5, "perks": 3})
}
