package demo

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"time"
)

// subspaceGame is a zone with pilots. The port after it is for pings.
var subspaceGame = rules{
	protocol: "subspace",
	parts:    []part{{groups: [2]string{"game", "game"}, actors: [2]func(*speaker) actor{newZone, newPilot}}},
	finish:   checksum,
	ping: func(at time.Time) []byte {
		return binary.LittleEndian.AppendUint32(nil, uint32(at.UnixMilli()/10))
	},
	pong: func(ping []byte, players int) []byte {
		if len(ping) != 4 {
			return nil
		}
		return append(binary.LittleEndian.AppendUint32(nil, uint32(players)), ping...)
	},
}

// checksum sets the checksum of position packets, which makes the exclusive or of their fixed part zero.
func checksum(name string, m []byte) {
	at, n := 0, 0
	switch name {
	case "c2s_position":
		at, n = 10, 22
	case "s2c_weapon":
		at, n = 12, 21
	default:
		return
	}
	if len(m) < n {
		return
	}
	m[at] = 0
	x := byte(0)
	for _, b := range m[:n] {
		x ^= b
	}
	m[at] = x
}

// Player ids and other constants of the zone.
const (
	pilotPID = 3
	rivalPID = 7
	fullTank = 1500 // energy
)

// pilot flies in circles and fires; hits cost energy.
type pilot struct {
	*speaker
	n      int
	angle  float64
	energy int
	in     bool // in the arena
}

func newPilot(s *speaker) actor { return &pilot{speaker: s, energy: fullTank} }

func (p *pilot) begin() {
	p.say("c2s_login", values{
		"name": "Mira", "password": "not a real one", "machine_id": 17122133, "connection_type": 4, "timezone": -60, "version": 134,
		"unknown_77": 444, "unknown_81": 555, "server_ip": []int{127, 0, 0, 1},
	})
}

func orbit(angle, radius float64) (x, y, xspeed, yspeed int) {
	sin, cos := math.Sincos(angle)
	return 8192 + int(radius*cos), 8192 + int(radius*sin), int(-1200 * sin), int(1200 * cos)
}

func (p *pilot) tick() {
	if p.n++; !p.in {
		return
	}
	p.energy = min(p.energy+25, fullTank)
	switch {
	case p.n%31 == 0:
		p.say("c2s_chat", values{"kind": 2, "target": -1, "text": p.one("flag at the top left", "low on energy", "nice shot", "?chat=lake")})
	case p.n%173 == 0:
		p.say("c2s_news_request", nil)
	case p.n%67 == 0:
		x, y, _, _ := orbit(p.angle, 600)
		p.say("c2s_green", values{"time": 1000 + 10*p.n, "x": x / 16, "y": y / 16, "prize": 1 + p.rng.IntN(20)})
	case p.n%109 == 0:
		p.say("c2s_set_ship", values{"ship": p.rng.IntN(8)})
	default:
		p.angle += 0.06
		x, y, xspeed, yspeed := orbit(p.angle, 600)
		weapon := values{"type": 0}
		if p.n%3 == 0 {
			weapon = values{"type": []int{1, 3, 4}[p.rng.IntN(3)], "level": 2, "shrapnel": 5, "shrapnel_level": 1}
			p.energy = max(p.energy-60, 0)
		}
		v := values{
			"rotation": int(p.angle*40/(2*math.Pi)) % 40, "time": 1000 + 10*p.n, "x": x, "y": y, "xspeed": xspeed, "yspeed": yspeed, "bounty": 57,
			"energy": p.energy, "status": values{"xradar": true, "safe": p.n/100%2 == 1}, "weapon": weapon,
		}
		if p.n%4 == 0 {
			v["extra"] = values{"energy": p.energy, "ping": 8, "bursts": 2, "repels": 3, "bricks": 1, "rockets": 1, "portals": 2}
		}
		p.mention("c2s_position", v)
	}
}

func (p *pilot) hear(name string, v values) {
	switch name {
	case "s2c_login_response":
		p.say("c2s_go_arena", values{"ship": 0, "x_resolution": 1920, "y_resolution": 1080, "arena": -1})
	case "s2c_entering_arena":
		p.in = true
	case "s2c_weapon":
		weapon, _ := v["weapon"].(map[string]any)
		if values(weapon).num("type") == 0 {
			return
		}
		if p.energy -= 180 + p.rng.IntN(120); p.energy < 0 {
			p.energy = fullTank
			p.say("c2s_die", values{"killer": rivalPID, "bounty": 57})
		}
	}
}

// leave leaves the arena, so that the server stops sending.
func (p *pilot) leave() {
	p.in = false
	p.say("c2s_leave_arena", nil)
}

// zone is an arena with a rival.
type zone struct {
	*speaker
	n      int
	angle  float64
	energy int
	kills  [2]int // by the pilot, and by the rival
	in     bool
}

func newZone(s *speaker) actor { return &zone{speaker: s, energy: fullTank} }

func (z *zone) begin() {}

func (z *zone) tick() {
	if z.n++; !z.in {
		return
	}
	switch {
	case z.n%53 == 0:
		z.say("s2c_keep_alive", nil)
	case z.n%89 == 0:
		z.say("s2c_prize", values{"count": 1, "prize": 1 + z.rng.IntN(20)})
	case z.n%127 == 0:
		z.say("s2c_flag_location", values{"flag": 0, "x": 512 + z.rng.IntN(40), "y": 500, "freq": z.rng.IntN(2)})
	case z.n%2 == 0:
		z.angle -= 0.07
		x, y, xspeed, yspeed := orbit(z.angle, 300)
		z.mention("s2c_position", values{
			"rotation": 39 - int(-z.angle*40/(2*math.Pi))%40, "time": (1000 + 10*z.n) & 0xffff, "x": x, "y": y, "xspeed": -xspeed, "yspeed": -yspeed,
			"latency": 5, "bounty": 3, "pid": rivalPID, "status": values{"xradar": true}, "extra": values{"energy": z.energy},
		})
		z.energy = min(z.energy+40, fullTank)
	default:
		x, y, xspeed, yspeed := orbit(z.angle, 300)
		z.mention("s2c_weapon", values{
			"rotation": z.rng.IntN(40), "time": (1000 + 10*z.n) & 0xffff, "x": x, "y": y, "xspeed": -xspeed, "yspeed": -yspeed,
			"latency": 5, "bounty": 3, "pid": rivalPID, "status": values{"xradar": true}, "weapon": values{"type": 1 + z.rng.IntN(4), "level": 1},
		})
	}
}

func (z *zone) hear(name string, v values) {
	switch name {
	case "c2s_login":
		z.say("s2c_login_response", values{"code": 0, "server_version": 134})
	case "c2s_go_arena":
		z.say("s2c_who_am_i", values{"pid": pilotPID})
		z.settings()
		z.players()
		z.say("s2c_brick", values{"bricks": []values{}})
		z.say("s2c_entering_arena", nil)
		z.in = true
	case "c2s_leave_arena":
		z.in = false
	case "c2s_position":
		z.shot(v)
	case "c2s_chat":
		z.say("s2c_chat", values{"kind": v.num("kind"), "pid": pilotPID, "text": v.text("text")})
	case "c2s_green":
		z.say("s2c_green", values{"time": v.num("time"), "x": v.num("x"), "y": v.num("y"), "prize": v.num("prize"), "pid": pilotPID})
	case "c2s_set_ship":
		z.say("s2c_ship_change", values{"ship": v.num("ship"), "pid": pilotPID, "freq": 0})
	case "c2s_news_request":
		z.news()
	case "c2s_die":
		z.kills[1]++
		z.say("s2c_kill", values{"killer": rivalPID, "killed": pilotPID, "bounty": v.num("bounty")})
		z.score()
	}
}

// shot subtracts energy from the rival.
func (z *zone) shot(v values) {
	weapon, _ := v["weapon"].(map[string]any)
	if values(weapon).num("type") == 0 {
		return
	}
	if z.energy -= 100 + z.rng.IntN(200); z.energy < 0 {
		z.energy = fullTank
		z.kills[0]++
		z.say("s2c_kill", values{"killer": pilotPID, "killed": rivalPID, "bounty": 3})
		z.score()
	}
}

func (z *zone) score() {
	z.say("s2c_score_update", values{"pid": pilotPID, "kill_points": 57 * z.kills[0], "kills": z.kills[0], "deaths": z.kills[1]})
}

func (z *zone) players() {
	one := func(name, squad string, pid, freq int) values {
		return values{"ship": 0, "accepts_audio": 1, "name": name, "squad": squad, "kill_points": 57 * z.kills[0], "pid": pid, "freq": freq, "wins": 41, "losses": 37, "attached_to": -1}
	}
	v := one("Mira", "North Star", pilotPID, 0)
	v["more_players"] = []values{one("Tomas of Nine Seas", "", rivalPID, 1)}
	z.say("s2c_player_entering", v)
}

// settings are large enough to be sent in chunks.
func (z *zone) settings() {
	var ships []values
	for i := range 8 {
		ships = append(ships, values{"settings": hex.EncodeToString(bytes.Repeat([]byte{byte(i + 1)}, 144))})
	}
	var spawns []values
	for i := range 4 {
		spawns = append(spawns, values{"x": 500 + i, "y": 512, "radius": 20})
	}
	list := func(n int) []int {
		out := make([]int, n)
		for i := range out {
			out[i] = z.rng.IntN(100)
		}
		return out
	}
	z.say("s2c_settings", values{"bits": 1, "ships": ships, "longs": list(20), "spawns": spawns, "shorts": list(58), "bytes": list(32), "prize_weights": list(28)})
}

// news is large enough to be sent as a stream.
func (z *zone) news() {
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "Day %d: %d ships were seen at %x.\n", i, z.rng.IntN(100), z.rng.Uint64())
	}
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, _ = w.Write([]byte(text.String())) // into memory
	w.Close()
	z.say("s2c_file", values{"name": "", "data": hex.EncodeToString(packed.Bytes())})
}
