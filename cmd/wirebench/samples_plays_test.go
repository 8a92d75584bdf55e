package main

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Ids in TERA's session.
const (
	zoe    = "1152921504606847001"
	lukasz = "1152921504606847002"
	keeper = "9007199254740993"
)

// playTera is a walk, a fight and the time after it.
func playTera(s *stage) {
	ms := time.Millisecond
	angle, clock := 0.0, 1000
	place := func(radius float64) values {
		return values{"x": quarter(81400 + radius*math.Cos(angle)), "y": quarter(-3250 + radius*math.Sin(angle)), "z": 1290.5}
	}
	walk := func(steps int) {
		for i := range steps {
			if i == 5 {
				s.server("S_PING", nil)
				s.wait(50 * ms)
				s.client("C_PONG", nil)
			}
			from := place(400)
			angle += 0.06
			clock += 200
			s.client("C_PLAYER_LOCATION", values{
				"time": clock, "position": from, "goal": place(400), "heading": math.Remainder(angle+math.Pi/2, 2*math.Pi),
				"speed": 110, "gait": 2, "falling": false, "mounted": false,
			})
			s.wait(200 * ms)
		}
	}
	chat := func(text string) {
		s.client("C_CHAT", values{"channel": 1, "shown_item": "0", "message": text})
		s.wait(45 * ms)
		s.server("S_CHAT", values{"channel": 1, "speaker": zoe, "world": 4012, "staff": false, "muted": false, "name": "Zoë", "message": text})
	}
	answer := func(text string) {
		s.wait(900 * ms)
		s.server("S_CHAT", values{"channel": 1, "speaker": lukasz, "world": 4012, "staff": false, "muted": false, "name": "Łukasz", "message": text})
	}
	slot, drinks, money := 41, 12, int64(1_250_000)
	inventory := func() {
		s.server("S_INVENTORY", values{"owner": zoe, "money": strconv.FormatInt(money, 10), "slots": 80, "items": []values{
			{
				"id": "700000000001", "kind": 88001, "slot": 1, "amount": 1, "bound": true, "label": "Oathkeeper", "gems": []int{12, 12, 7, 0},
				"bonuses": []values{{"stat": 4, "value": 6.75}, {"stat": 11, "value": 0.5}},
			},
			{"id": "700000000002", "kind": 6550, "slot": slot, "amount": drinks, "bound": false, "label": "", "gems": []int{}, "bonuses": []values{}},
		}})
	}
	health := int64(200_000)
	spawn := func() {
		s.server("S_SPAWN_NPC", values{
			"id": keeper, "kind": 1024, "level": 65, "position": values{"x": 81440, "y": -3262.75, "z": 1290.5}, "heading": math.Remainder(angle+math.Pi, 2*math.Pi),
			"health":  values{"now": strconv.FormatInt(health, 10), "most": "200000"},
			"hostile": true, "asleep": false, "effects": []int{4830}, "title": "Keeper of the Gate",
		})
	}
	mine := values{"npc": false, "type": 1, "huntingZoneId": 0, "id": 10100, "reserved": 0}
	hit := func(source string, skill values, sequence int, target string, damage int64) {
		s.server("S_SKILL_RESULT", values{"sequence": sequence, "source": source, "skill": skill, "hits": []values{{
			"target": target, "damage": strconv.FormatInt(damage, 10), "critical": damage > 20_000,
			"push": values{"down": damage > 20_000, "heading": 0, "to": place(380)},
		}}})
	}

	s.client("C_CHECK_VERSION", values{"version": []values{{"index": 0, "value": 100000}, {"index": 1, "value": 99871}}})
	s.note("The first message after the key exchange. The connection is encrypted; it can be read because the capture contains the key exchange.")
	s.wait(80 * ms)
	s.server("S_CHECK_VERSION", values{"ok": true, "wanted": 100000})
	s.wait(400 * ms)
	s.server("S_LOGIN", values{
		"id": zoe, "world": 4012, "level": 70,
		"looks": values{"unk": 101, "skinColor": 2, "faceStyle": 7, "faceDecal": 0, "hairStyle": 13, "hairColor": 4, "voice": 1, "tattoos": 0},
		"hat":   values{"x": 0, "y": 0, "z": 0}, "rested": 0.625, "money": strconv.FormatInt(money, 10), "newcomer": false, "veteran": true,
		"face": fmt.Sprintf("%064x", 0x101010), "name": "Zoë",
	})
	inventory()
	s.server("S_QUEST_LIST", values{"quests": []values{{"quest": 30101, "step": 2, "goals": []values{
		{"optional": false, "wants": []values{{"item": 5101, "have": 3, "need": 10}, {"item": 5102, "have": 0, "need": 1}}}, {"optional": true, "wants": []values{}},
	}}}})
	s.server("S_PARTY_MEMBER_LIST", values{"leader": zoe, "loot": 1, "members": []values{
		{"id": zoe, "world": 4012, "level": 70, "online": true, "ready": true, "name": "Zoë", "blessings": []int{4830, 4953}},
		{"id": lukasz, "world": 4012, "level": 68, "online": true, "ready": false, "name": "Łukasz", "blessings": []int{}},
	}})
	s.server("S_WEATHER", values{"zone": 713, "warmth": 14, "sky": 1, "wind": 2.75})
	s.wait(600 * ms)
	s.moment("The walk to the gate")
	walk(12)
	chat("anyone for the mines?")
	walk(4)
	answer("when I have sold these pelts")
	walk(12)
	s.server("S_NOTICE", values{"style": 0, "seconds": 5, "text": "The gate opens at dusk."})
	s.unknown()
	s.mark()
	s.note("No definition has this code. Open it in the workbench and write one: the text at the end is obvious, but what do the numbers before it mean?")
	walk(8)

	s.moment("The fight begins")
	spawn()
	s.note("Filter by S_SPAWN_NPC and show .health.now as a column to follow the fight.")
	for n := 1; health > 0; n++ {
		s.wait(280 * ms)
		s.client("C_START_SKILL", values{
			"sequence": n, "skill": mine, "target": keeper, "origin": place(120), "aim": math.Remainder(angle+math.Pi, 2*math.Pi), "charged": n%4 == 0,
		})
		s.wait(60 * ms)
		damage := int64(5200 + s.rng.IntN(3600))
		if n == 12 {
			damage = 48_211
		}
		damage = min(damage, health)
		health -= damage
		hit(zoe, mine, n, keeper, damage)
		if n == 12 {
			s.mark()
			s.note("A critical hit: one bit of a byte, and three floats with the position to which the creature is pushed.")
		}
		spawn()
		if n%3 == 0 && health > 0 {
			s.wait(110 * ms)
			hit(keeper, values{"npc": true, "type": 1, "huntingZoneId": 713, "id": 1101, "reserved": 0}, 0, zoe, int64(900+s.rng.IntN(900)))
		}
		if n%7 == 0 {
			s.server("S_SKILL_COOLDOWN", values{"skill": mine, "left": 1500, "charges": 2})
			s.client("C_USE_ITEM", values{"id": "700000000002", "on_place": false, "place": values{"x": 0, "y": 0, "z": 0}, "heading": 0})
			s.wait(55 * ms)
			drinks--
			inventory()
			hit(zoe, values{"npc": false, "type": 1, "huntingZoneId": 0, "id": 20250, "reserved": 0}, 0, zoe, -4200)
		}
		if n == 9 {
			answer("healing soon")
		}
		if n == 16 {
			chat("it is nearly down")
		}
	}
	s.server("S_DESPAWN_NPC", values{"id": keeper, "how": 1, "fade": 1.5})
	s.mark()
	s.server("S_EXPERIENCE", values{"gained": "5120000000", "total": "918273645546372", "level": 70, "bonus": 0.5, "perks": 3})
	s.note("More than 4294967295: the field has 64 bits since version 86 of the game. The definition covers both.")
	money += 310
	inventory()

	s.moment("After the fight")
	s.wait(1500 * ms)
	s.server("S_TRADE_OFFER", values{"partner": values{"id": lukasz, "name": "Łukasz"}, "money": "4200", "seconds": 60, "items": []values{{"kind": 5101, "amount": 20}}, "remark": "the pelts"})
	s.wait(700 * ms)
	s.client("C_MOVE_ITEM", values{"from": 41, "to": 7, "amount": 0})
	slot = 7
	s.wait(50 * ms)
	inventory()
	wrong := s.bytes(schema.ToClient, "S_CHAT", values{"channel": 1, "speaker": lukasz, "world": 4012, "staff": false, "muted": false, "name": "Łukasz", "message": "see you tomorrow"})
	wrong[7] = 0x40 // the upper half of the text's offset
	s.put(schema.ToClient, transport.Outgoing{Bytes: wrong})
	s.mark()
	s.note("Deliberately wrong: the offset of the text is outside the message.")
	s.client("C_WHISPER", values{"to": "Łukasz", "message": "what did you say?"})
	walk(14)
}

// unknown sends a message whose code has no definition: the offset of a text, two numbers, the text.
func (s *stage) unknown() {
	s.t.Helper()
	body := []byte{0, 0, 0x03, 0x4F, 16, 0}
	body = binary.LittleEndian.AppendUint32(body, 713)
	body = binary.LittleEndian.AppendUint32(body, math.Float32bits(12.5))
	for len(body) < 16 {
		body = append(body, 0)
	}
	for _, u := range utf16.Encode([]rune("The Drowned Mines\x00")) {
		body = binary.LittleEndian.AppendUint16(body, u)
	}
	binary.LittleEndian.PutUint16(body, uint16(len(body)))
	s.put(schema.ToClient, transport.Outgoing{Bytes: body})
}

// quarter rounds to a value that a 32-bit float represents exactly.
func quarter(x float64) float64 { return math.Round(4*x) / 4 }

// playMuta is a visit: a hero is created and levels up, people chat.
func playMuta(s *stage) {
	ms := time.Millisecond
	password := make([]int, 32)
	for i := range password {
		password[i] = s.rng.IntN(256)
	}
	var heroes []values
	tell := func() {
		s.server("heroes", values{"heroes": heroes, "newest": strconv.Itoa(53 + len(heroes))})
	}
	move := func(t int) {
		for i, h := range heroes {
			a := float64(t)/12 + 2*float64(i)
			h["at"] = values{"map_id": 32, "x": quarter(100 * math.Cos(a)), "y": quarter(100 * math.Sin(a))}
		}
		tell()
	}
	add := func(name string, race int) {
		heroes = append(heroes, values{"id": strconv.Itoa(54 + len(heroes)), "name": name, "race": race, "level": 1, "at": values{"map_id": 32, "x": 0, "y": 0}})
	}

	s.client("login", values{"account": "visitor", "password": password, "build": 1042})
	s.note("Messages have no length field: only the definitions determine where the next one begins.")
	s.wait(90 * ms)
	s.server("login_result", values{"ok": 1, "account": "18446744073709551615"})
	tell()
	s.wait(700 * ms)
	s.moment("A hero is created")
	for i, name := range []string{"Lann", "Mira"} {
		s.client("create_hero", values{"name": name, "race": []int{0, 4}[i], "looks": []int{i, 9, 3, 4, 1, 7}})
		s.wait(60 * ms)
		add(name, []int{0, 4}[i])
		tell()
		s.wait(900 * ms)
	}
	s.mark()
	s.moment("They walk about")
	says := []string{"anyone for the mines?", "north", "wait for me", "level 5!", "south again", strings.Repeat("ha", 60), "what a day", "is that a dwarf?", "she is with me", "level 9!", "who has the map?", "I do", "see you"}
	for n := 1; n <= 8*len(says); n++ {
		s.wait(170 * ms)
		move(n)
		if n%5 == 0 {
			s.client("ping", nil)
			s.wait(40 * ms)
			s.server("pong", values{"utc": strconv.FormatInt(s.now.Unix(), 10)})
		}
		if n%8 == 0 {
			text := says[n/8-1]
			s.client("say", values{"text": text})
			if len(text) > 100 {
				s.note("The longest text: its length prefix has two bytes.")
			}
		}
		if n%9 == 0 {
			h := heroes[s.rng.IntN(len(heroes))]
			h["level"] = h["level"].(int) + 1 + s.rng.IntN(3)
			s.client("say", values{"text": fmt.Sprintf("%s is of level %d now", h["name"], h["level"])})
		}
		if n == 40 {
			s.moment("An invalid message")
			wrong := s.bytes(schema.ToClient, "heroes", values{"heroes": heroes[:1], "newest": "55"})
			wrong[1+1+8+1+8+1] = 61 // the level, behind code, count, newest, length of the name, id and race
			s.put(schema.ToClient, transport.Outgoing{Bytes: wrong, Raw: true})
			s.mark()
			s.note("Deliberately wrong: a hero of level 61, while the maximum is 60. The end of the message is therefore unknown; the next frame starts where messages can be read again.")
			s.wait(120 * ms)
		}
		if n == 70 {
			s.client("create_hero", values{"name": "Bramble", "race": 1, "looks": []int{0, 0, 2, 2, 9, 9}})
			s.wait(55 * ms)
			add("Bramble", 1)
			tell()
			s.mark()
			s.note("Three heroes now: the count before the list is the number of its elements.")
		}
	}
}

// Player ids in SubSpace's session.
const (
	miraPID  = 3
	tomasPID = 7
)

// playSubspace is a login, a duel and a logout.
func playSubspace(s *stage) {
	ms := time.Millisecond
	info := s.connection(transport.UDP, 50113, 7804)
	ping := func(players uint32) {
		at := binary.LittleEndian.AppendUint32(nil, uint32(s.now.Sub(sampleStart)/(10*time.Millisecond)))
		s.must(info.Data(schema.ToServer, s.now, at, ""))
		s.wait(41 * ms)
		s.must(info.Data(schema.ToClient, s.now, append(binary.LittleEndian.AppendUint32(nil, players), at...), ""))
	}
	orbit := func(angle, radius float64) (x, y, xspeed, yspeed int) {
		sin, cos := math.Sincos(angle)
		return 8192 + int(math.Round(radius*cos)), 8192 + int(math.Round(radius*sin)), int(math.Round(-1200 * sin)), int(math.Round(1200 * cos))
	}
	clock := func() int { return 1000 + int(s.now.Sub(sampleStart)/(10*time.Millisecond)) }
	angle, other, energy, full := 0.0, 0.0, 1500, 1500
	position := func(weapon int) {
		x, y, xspeed, yspeed := orbit(angle, 600)
		v := values{
			"rotation": int(angle*40/(2*math.Pi)) % 40, "time": clock(), "x": x, "y": y, "xspeed": xspeed, "yspeed": yspeed,
			"bounty": 57, "energy": energy, "status": values{"xradar": true}, "weapon": values{"type": weapon, "level": weapon & 1},
			"extra": values{"energy": energy, "ping": 4, "bursts": 2, "repels": 3, "bricks": 1, "rockets": 1, "portals": 2},
		}
		s.put(schema.ToServer, transport.Outgoing{Bytes: checked(s.bytes(schema.ToServer, "c2s_position", v), 10, 22), Unreliable: true})
	}
	rival := func(weapon int) []byte {
		x, y, xspeed, yspeed := orbit(other, 300)
		v := values{
			"rotation": s.rng.IntN(40), "time": clock() & 0xffff, "x": x, "y": y, "xspeed": -xspeed, "yspeed": -yspeed,
			"latency": 5, "bounty": 3, "pid": tomasPID, "status": values{"xradar": true},
		}
		if weapon == 0 {
			return s.bytes(schema.ToClient, "s2c_position", v)
		}
		v["weapon"] = values{"type": weapon, "level": 1}
		return checked(s.bytes(schema.ToClient, "s2c_weapon", v), 12, 21)
	}
	cluster := func(messages ...[]byte) {
		data := []byte{0, 0x0E}
		for _, m := range messages {
			data = append(append(data, byte(len(m))), m...)
		}
		s.put(schema.ToClient, transport.Outgoing{Bytes: data, Raw: true})
		for _, m := range messages {
			s.speak(schema.ToClient, m)
		}
	}
	player := func(name, squad string, pid, freq int) values {
		return values{"ship": 0, "accepts_audio": 1, "name": name, "squad": squad, "kill_points": 570, "pid": pid, "freq": freq, "wins": 41, "losses": 37, "attached_to": -1}
	}

	ping(1)
	s.wait(400 * ms)
	s.client("c2s_login", values{
		"name": "Mira", "password": "not a real one", "machine_id": 17122133, "connection_type": 4, "timezone": -60, "version": 134,
		"unknown_77": 444, "unknown_81": 555, "server_ip": []int{203, 0, 113, 7}, "client_port": 50112,
	})
	s.mark()
	s.note("The password is plain text in the message. On the wire it is encrypted, but both ends sent their keys before in clear: anyone who captures the handshake can decrypt it, as here.")
	s.wait(80 * ms)
	s.server("s2c_login_response", values{"code": 0, "server_version": 134})
	s.wait(60 * ms)
	s.client("c2s_news_request", nil)
	s.wait(90 * ms)
	s.news()
	s.note("The news is sent in chunks, each in a reliable packet: this frame is reassembled from all of them.")
	s.wait(300 * ms)
	s.client("c2s_go_arena", values{"ship": 0, "x_resolution": 1920, "y_resolution": 1080, "arena": -1})
	s.wait(70 * ms)
	s.server("s2c_who_am_i", values{"pid": miraPID})
	s.settings()
	s.note("The settings of the arena, in chunks: 1428 bytes, including bit fields of 5 to 10 bits.")
	everybody := player("Mira", "North Star", miraPID, 0)
	everybody["more_players"] = []values{player("Tomas of Nine Seas", "", tomasPID, 1)}
	s.server("s2c_player_entering", everybody)
	s.server("s2c_arena_list", values{"arenas": []values{{"name": "0", "players": -2}, {"name": "duel", "players": 5}, {"name": "turf", "players": 11}}})
	s.server("s2c_entering_arena", nil)
	s.wait(500 * ms)

	s.moment("The duel begins")
	kills := 0
	for n := 1; n <= 60; n++ {
		angle += 0.11
		other -= 0.13
		energy = min(energy+20, full)
		weapon := 0
		if n%4 == 0 {
			weapon = []int{1, 3, 4}[s.rng.IntN(3)]
			energy -= 180
		}
		position(weapon)
		s.wait(50 * ms)
		if fires := n%3 == 0; fires {
			cluster(rival(0), rival(1+s.rng.IntN(4)))
			if n == 3 {
				s.note("Two packets in one datagram: a cluster. Positions are unreliable: they have no sequence number and no acknowledgment.")
			}
			energy = max(energy-90-s.rng.IntN(60), 40)
		} else {
			s.put(schema.ToClient, transport.Outgoing{Bytes: rival(0), Unreliable: true})
		}
		switch n {
		case 10:
			s.client("c2s_chat", values{"kind": 2, "target": -1, "text": "nice shot"})
			s.wait(60 * ms)
			s.server("s2c_chat", values{"kind": 2, "pid": miraPID, "text": "nice shot"})
		case 16:
			s.server("s2c_chat", values{"kind": 2, "pid": tomasPID, "text": "lucky one"})
		case 22, 48:
			x, y, _, _ := orbit(angle, 600)
			v := values{"time": clock(), "x": x / 16, "y": y / 16, "prize": 1 + s.rng.IntN(20)}
			s.client("c2s_green", v)
			s.wait(50 * ms)
			v["pid"] = miraPID
			s.server("s2c_green", v)
		case 28:
			s.lose = 1
			s.client("c2s_chat", values{"kind": 3, "target": -1, "text": "low on energy"})
			s.note("The first datagram with this packet was lost after the capture point. The packets show the retransmission with the same sequence number; the message is listed once.")
		case 34:
			s.put(schema.ToClient, transport.Outgoing{Bytes: []byte{0x7A, tomasPID, 0, 0x40, 0x06, 0x58, 0x02, 'l', 'a', 'k', 'e', 0}})
			s.mark()
			s.note("No definition has the type 0x7A. The first number looks like a player id.")
		case 20, 40, 55:
			energy, kills = full, kills+1
			s.server("s2c_kill", values{"killer": miraPID, "killed": tomasPID, "bounty": 3})
			if n == 40 {
				s.mark()
			}
			s.server("s2c_score_update", values{"pid": miraPID, "kill_points": 570 + 57*kills, "kills": kills, "deaths": n / 50})
		case 44:
			s.put(schema.ToClient, transport.Outgoing{Bytes: s.bytes(schema.ToClient, "s2c_kill", values{"killer": miraPID, "killed": tomasPID, "bounty": 3})[:7]})
			s.mark()
			s.note("Deliberately wrong: the packet ends before the number of flags.")
		case 50:
			energy = full
			s.client("c2s_die", values{"killer": tomasPID, "bounty": 57})
			s.wait(60 * ms)
			s.server("s2c_kill", values{"killer": tomasPID, "killed": miraPID, "bounty": 57})
			s.mark()
		case 12, 36, 58:
			s.server("s2c_keep_alive", nil)
		case 51:
			s.server("s2c_flag_location", values{"flag": 0, "x": 520, "y": 500, "freq": 1})
		}
		if n == 30 {
			ping(2)
		}
		s.wait(55 * ms)
	}
	s.moment("Another ship, and logout")
	s.client("c2s_set_ship", values{"ship": 4})
	s.wait(60 * ms)
	s.server("s2c_ship_change", values{"ship": 4, "pid": miraPID, "freq": 0})
	s.wait(600 * ms)
	s.client("c2s_leave_arena", nil)
	s.wait(60 * ms)
	s.server("s2c_player_leaving", values{"pid": miraPID})
}

// checked sets the checksum of a position, which makes the exclusive or of the fixed part zero.
func checked(m []byte, at, size int) []byte {
	m[at] = 0
	x := byte(0)
	for _, b := range m[:size] {
		x ^= b
	}
	m[at] = x
	return m
}

// settings are large enough to be sent in chunks.
func (s *stage) settings() {
	s.t.Helper()
	var ships, spawns []values
	for i := range 8 {
		ships = append(ships, values{"settings": hex.EncodeToString(bytes.Repeat([]byte{byte(i + 1)}, 144))})
	}
	for i := range 4 {
		spawns = append(spawns, values{"x": 500 + i, "y": 512, "radius": 20})
	}
	list := func(n int) []int {
		out := make([]int, n)
		for i := range out {
			out[i] = s.rng.IntN(100)
		}
		return out
	}
	s.server("s2c_settings", values{"bits": 1, "ships": ships, "longs": list(20), "spawns": spawns, "shorts": list(58), "bytes": list(32), "prize_weights": list(28)})
}

// news is large enough to be sent in chunks. It is stored uncompressed, as the output of compressors varies between versions.
func (s *stage) news() {
	s.t.Helper()
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "Day %d: %d ships were seen near the lake.\n", i+1, 3+s.rng.IntN(20))
	}
	var packed bytes.Buffer
	w, err := zlib.NewWriterLevel(&packed, zlib.NoCompression)
	s.must(err)
	_, err = w.Write([]byte(text.String()))
	s.must(err)
	s.must(w.Close())
	s.server("s2c_file", values{"name": "", "data": hex.EncodeToString(packed.Bytes())})
}

// playShips sails between two harbors.
func playShips(s *stage) {
	ms := time.Millisecond
	const captain, own = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
	harbor := func(id int, name string, grain int) {
		s.server("harbor", values{
			"id": id, "name": name,
			"stock":  []values{{"ware": "grain", "amount": grain}, {"ware": "letter", "amount": 1, "from": captain, "text": "For the harbor master: " + strings.Repeat("the nets are mended. ", 14)}},
			"prices": []values{{"ware": "grain", "price": "4"}, {"ware": "cloth", "price": "23"}},
			"notes": values{"type": "compound", "name": "harbor", "value": []values{
				{"type": "int", "name": "depth", "value": 12}, {"type": "list", "name": "piers", "value": values{"type": "string", "value": []string{"north", "south"}}},
			}},
		})
	}
	ship := func(n int) values {
		a := float64(n) / 12
		return values{
			"id": captain, "name": "Margarethe", "speed": quarter(6 + 2*math.Sin(a)), "flag": strings.Repeat("0f", 64),
			"at": values{"x": math.Round(400 * math.Cos(a)), "y": math.Round(400 * math.Sin(a)), "level": 0},
		}
	}
	s.client("hello", values{"version": 3, "host": "play.example", "port": 7804, "intent": "play"})
	s.note("The intent of this message decides the state that follows: the envelope says so.")
	s.wait(120 * ms)
	harbor(1, "Saltholm", 180)
	s.note("More than 256 bytes: the message was compressed.")
	s.wait(400 * ms)
	s.moment("The ship leaves the harbor")
	says := []string{"a fair wind", "land ahoy", "who sails north?", strings.Repeat("heave ", 50), "the tide is out", "a storm is coming", "safe again", "see you"}
	for n := 1; n <= 8*len(says); n++ {
		s.wait(180 * ms)
		s.server("ship", ship(n))
		a := float64(n) / 20
		s.client("steer", values{
			"to": values{"x": math.Round(1000 * math.Cos(a)), "y": math.Round(1000 * math.Sin(a)), "level": 0}, "heading": quarter(a),
			"sails": values{"fore": true, "main": n%3 > 0, "mizzen": n > 40},
		})
		if n%10 == 0 {
			s.server("ping", values{"id": strconv.Itoa(1_770_000_000_000 + n)})
			s.wait(60 * ms)
			s.client("pong", values{"id": strconv.Itoa(1_770_000_000_000 + n)})
		}
		switch {
		case n%16 == 0:
			v := values{"text": says[n/8-1]}
			v["to"] = captain
			s.client("say", v)
		case n%8 == 0:
			s.server("say", values{"from": []any{captain, nil}[n/8%2], "text": says[n/8-1]})
		}
		switch n {
		case 24:
			s.moment("Trade")
			harbor(2, "Nyby", 40)
			s.wait(300 * ms)
			s.client("trade", values{
				"harbor": 2, "paid": "160", "sold": []values{{"ware": "cloth", "amount": 3}},
				"bought": []values{{"ware": "grain", "amount": 40}, {"ware": "chart", "amount": 1, "shows": []values{{"x": 7, "y": -7, "level": 0}, {"x": -300, "y": 12, "level": 1}}}},
			})
			s.mark()
		case 40:
			s.moment("An invalid message")
			wrong := s.bytes(schema.ToClient, "ship", ship(n))
			s.put(schema.ToClient, transport.Outgoing{Bytes: wrong[:len(wrong)-10]})
			s.note("Ten bytes are missing: the flag has fewer bytes than its number says.")
			s.mark()
		}
	}
	s.client("say", values{"text": "good night", "to": own})
	s.mark()
}

func playBoat(s *stage) {
	ms := time.Millisecond
	count := [2]int{}
	header := func(way, system int) values {
		count[way]++
		return values{"sequence": (count[way] - 1) % 256, "system": system, "component": 1}
	}
	boat := func(name string, v values) {
		v["header"] = header(0, 1)
		s.client(name, v)
	}
	shore := func(name string, v values) {
		v["header"] = header(1, 255)
		s.server(name, v)
	}
	place := func(n int) values {
		a := float64(n) / 15
		return values{
			"time": 250 * n, "lat": 543200000 + int(20000*math.Sin(a)), "lon": 101200000 + int(20000*math.Cos(a)), "heading": n * 150 % 36000,
			"speed": []int{int(150 * math.Cos(a)), int(-150 * math.Sin(a)), 0}, "depth": []int{0, 410 + n}[n/4%2],
		}
	}
	for n := range 100 {
		if n%2 == 0 {
			shore("BEAT", values{"craft": "CRAFT_SHORE", "uptime": 3600 + n/4, "version": 3})
		}
		if n%4 == 0 {
			boat("BEAT", values{"craft": "CRAFT_BOAT", "mode": values{"_value": []int{0, 3}[min(n/12, 1)]}, "uptime": n / 4, "version": 3})
			if n == 0 {
				s.note("Zeros at the end of the contents are left out: the frame has fewer bytes than the message.")
			}
		}
		s.wait(100 * ms)
		boat("PLACE", place(n))
		if n%10 == 7 {
			boat("SONAR", values{"time": 250_000 * n, "bearing": float64(n) / 16, "sensor": n / 10 % 2, "echoes": fmt.Sprintf("%032x", n*n*n*n), "peaks": []int{410 + n, 0, 0, 0}})
		}
		switch n {
		case 11:
			s.moment("A command")
			shore("TASK_LONG", values{"target": 1, "task": "TASK_SAIL_TO", "param1": 2.5, "param2": 10})
			s.wait(40 * ms)
			boat("TASK_DONE", values{"task": "TASK_SAIL_TO", "result": "TASK_RESULT_DONE", "progress": 0, "target": 255})
			s.mark()
		case 25:
			v := values{"severity": 6, "text": "an old radio speaks version 1", "header": values{"magic": "fe", "sequence": 7, "system": 3, "component": 1}}
			s.client("SAY", v)
			s.note("A frame of version 1: its first byte is another one.")
			s.mark()
		case 40:
			s.moment("A wrong checksum")
			wrong := s.bytes(schema.ToServer, "SAY", values{"severity": 1, "text": "there is a leak in the hull near the mas", "header": header(0, 1)})
			wrong[len(wrong)-1] ^= 0x55 // of the checksum; the text is full, so that nothing was left out
			s.put(schema.ToServer, transport.Outgoing{Bytes: wrong, Raw: true})
			s.note("The checksum is wrong: a receiver drops the message.")
			s.mark()
		case 50:
			s.client("BEAT", values{"craft": "CRAFT_KITE", "uptime": 5, "version": 3, "header": values{"incompatible": 1, "sequence": 0, "system": 9, "component": 1}, "tail": values{"link": 1, "time": "4102444800", "signature": "0badc0ffee00"}})
			s.note("A signed frame: the signature follows the checksum.")
		}
		s.wait(130 * ms)
	}
}

// playOrchard is a visit of an orchard.
func playOrchard(s *stage) {
	ms := time.Millisecond
	s.client("enter", values{"version": 3, "name": "Rosalind", "key": "00112233445566ff"})
	s.wait(60 * ms)
	s.server("welcome", values{"id": 9, "at": values{"x": -3, "y": 12, "level": 1, "facing": 8}, "wind": []float64{0.5, -1.25}, "owner": true})
	tree := func(n, fruit, count int) values {
		return values{"at": values{"x": 4 * n, "y": -2 * n, "level": n % 8, "facing": 5 * n % 32}, "fruit": fruit, "count": count, "planted": 1_600_000_000 + 86_400*n}
	}
	garden := func(picked int) {
		s.server("garden", values{"ripe": [][]int{{3, 4}, {20 - picked, 0}, {500, 1}}, "trees_count": 3, "trees": []values{tree(1, 1, 40-picked), tree(2, 2, 7), tree(3, 9, 1)}})
	}
	says := []string{"Is that a quince?", "It is.", "The pears are not ripe yet.", "Who shook my tree?", "The wind, I think.", "It will rain soon."}
	for n := range 150 {
		s.wait(130 * ms)
		switch n % 5 {
		case 0:
			s.client("water", values{"plot": n / 5 % 3, "liters": 0.25 * float64(1+n%7)})
		case 1:
			kind := 1 + n/5%2
			how := values{"one": values{"index": n, "fruit": 1 + n%2}}
			if kind == 2 {
				how = values{"force": 0.125 * float64(n)}
			}
			s.client("pick", values{"kind": kind, "how": how})
			s.wait(40 * ms)
			garden(n % 20)
		case 2:
			if n == 7 {
				s.moment("Somebody talks")
			}
			text := says[n/5%len(says)]
			s.client("talk", values{"text": text})
			if n == 7 {
				s.note("A text up to the end of the message.")
				s.mark()
			}
			s.wait(30 * ms)
			s.server("chatter", values{"id": 9, "length": len(text), "text": text})
		case 3:
			s.server("weather", values{"head": values{}, "warmth": 21.5 - float64(n)/8, "until": strconv.Itoa(1_800_000_000 + 60*n), "rain": 6 * n, "sunny": n % 2, "clouds": n % 9})
			if n == 3 {
				s.note("The only message that is aligned: it has the padding of a compiler.")
				s.mark()
			}
		}
		if n == 31 {
			wrong := s.bytes(schema.ToClient, "garden", values{"trees_count": 2, "trees": []values{tree(1, 1, 4), tree(2, 2, 4)}})
			wrong[16] = 9 // more trees than there are
			s.put(schema.ToClient, transport.Outgoing{Bytes: wrong, Raw: true})
			s.note("The count says 9 trees, of which the message has 2.")
			s.mark()
			s.moment("A wrong count")
		}
	}
}
