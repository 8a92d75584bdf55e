package corpora

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
)

// talk is the traffic of a connection, with what a reader must find in it.
type talk struct {
	*tcp
	conn int
	keys [2]*pike // of both directions, or nil
	rows []pending
}

// pending is a message that is sent, or will be.
type pending struct {
	dir, off, size int
	row            row
}

// say puts a message into its stream. Its row is complete once it has arrived.
func (t *talk) say(dir int, data []byte, what row) {
	sent := append([]byte{}, data...)
	if t.keys[dir] != nil {
		t.keys[dir].xor(sent)
	}
	off := t.send(dir, sent)
	t.rows = append(t.rows, pending{dir, off, len(data), row{"kind": "msg", "conn": t.conn, "hex": hex.EncodeToString(data)}.with(what)})
}

// found returns the rows of the messages of the stream up to off of each direction, and of those after it.
func (t *talk) found(to [2]int) (rows, after []row) {
	for _, p := range t.rows {
		r := p.row.with(t.arrival(p.dir, p.off, p.size))
		if p.off+p.size <= to[p.dir] {
			rows = append(rows, r)
		} else {
			after = append(after, r)
		}
	}
	return rows, after
}

const all = 1 << 40 // no limit of a stream

func (m *message) row() row {
	name, _, _ := strings.Cut(m.name, ".")
	return row{"opcode": m.code, "name": name, "def": m.name + ".def", "value": m.value}
}

func (m *message) way() int {
	if m.dir() == "c2s" {
		return 0
	}
	return 1
}

// conns is a line about a connection.
func (t *talk) describe(transport string, more row) row {
	return row{
		"conn": t.conn, "client": t.ways[0].from.String(), "server": t.ways[1].from.String(), "transport": transport,
		"stream_bytes": row{"c2s": len(t.ways[0].sent), "s2c": len(t.ways[1].sent)},
	}.with(more)
}

// encrypted begins a connection with the exchange of keys.
func (m *maker) encrypted(rng *rand.Rand, r *recording, conn, port int) (*talk, row) {
	t := &talk{tcp: r.connect(rng, local(port), local(7801)), conn: conn}
	k := randomKeys(rng)
	for _, part := range []struct {
		dir  int
		data []byte
	}{{1, []byte{1, 0, 0, 0}}, {0, k.c1}, {1, k.s1}, {0, k.c2}, {1, k.s2}} {
		t.send(part.dir, part.data)
		t.pushAll(part.dir)
	}
	toServer, toClient := k.session()
	t.keys = [2]*pike{newPike(toServer), newPike(toClient)}
	t.keys[0].xor(make([]byte, 128)) // used for the other key
	return t, row{"keys": row{"C1": hex.EncodeToString(k.c1), "S1": hex.EncodeToString(k.s1), "C2": hex.EncodeToString(k.c2), "S2": hex.EncodeToString(k.s2)}}
}

// chat says n messages, the first of a connection about its version, and pushes what waits after each few.
func (m *maker) chat(t *talk, n int, push func(dir int)) {
	version := row{"version": []any{row{"index": 0, "value": 387396}, row{"index": 1, "value": 4194700}}}
	first := message{"C_CHECK_VERSION.1", 19900, version, frame(19900, wellKnown[0].fs, version)}
	second := message{"S_CHECK_VERSION.1", 19901, row{"ok": 1}, []byte{5, 0, 0xbd, 0x4d, 1}}
	for begun := len(t.rows); len(t.rows) < begun+n; {
		i, x := len(t.rows), m.messages[t.rng.IntN(len(m.messages))]
		switch i {
		case 0:
			x = first
		case 1:
			x = second
		case 2:
			control := wellKnown[4]
			on := row{"customScreenEnabled": true}
			x = message{control.name, control.code, on, frame(control.code, control.fs, on)}
		}
		t.say(x.way(), x.data, x.row())
		if i < 3 || t.rng.IntN(4) == 0 {
			push(t.rng.IntN(2))
			if i < 3 {
				push(x.way())
			}
		}
	}
	push(0)
	push(1)
}

// captures makes recordings of connections.
func (m *maker) captures() {
	rng := rand.New(rand.NewPCG(4, 29))
	save := func(name string, r *recording, rows, conns []row) {
		m.add("captures/"+name+".pcapng", r.file.Bytes())
		m.lines("captures/"+name+".truth.jsonl", truth(rows))
		m.json("captures/"+name+".conns.json", conns)
	}

	r := newRecording(false, 1700000000_000000)
	t, keys := m.encrypted(rng, r, 0, 51000)
	m.chat(t, 400, t.pushAll)
	t.close()
	rows, _ := t.found([2]int{all, all})
	save("tera-session", r, rows, []row{t.describe("encrypted", keys)})

	r = newRecording(false, 1700000100_000000)
	t = &talk{tcp: r.connect(rng, local(51010), local(7801))}
	m.chat(t, 150, t.pushOddly)
	invite := wellKnown[8]
	most := row{"name": "", "data": hex.EncodeToString(randomBytes(rng, 65535-12))}
	big := message{invite.name, invite.code, most, frame(invite.code, invite.fs, most)}
	t.say(0, big.data, big.row())
	t.pushOddly(0)
	t.close()
	rows, _ = t.found([2]int{all, all})
	save("tera-plain", r, rows, []row{t.describe("plain", nil)})

	r = newRecording(false, 1700000200_000000)
	t, keys = m.encrypted(rng, r, 0, 51020)
	conns := []row{t.describe("encrypted", keys)}
	m.chat(t, 60, t.pushAll)
	chat := wellKnown[len(wellKnown)-1]
	said := row{"channel": 1, "gameId": "7", "gm": false, "name": "Aldor", "message": strings.Repeat("a long story ", 9)}
	story := message{chat.name + ".4", chat.code, said, frame(chat.code, chat.fs, said)}
	story.name = chat.name
	begin := len(t.ways[1].sent)
	for range 3 {
		t.say(1, story.data, story.row())
	}
	t.rows = t.rows[:len(t.rows)-3]
	t.push(1, 50) // the first is cut after 50 bytes, the third before its end
	gap := t.lose(1, 3*len(story.data)-50-40, 10)
	t.push(1, 30)
	m.chat(t, 80, t.pushAll)
	t.close()
	rows, after := t.found([2]int{all, begin})
	rows = append(rows, gap.with(row{"conn": 0}))
	for _, x := range after {
		delete(x, "first_frame")
	}
	conns[0] = t.describe("encrypted", keys)
	for conn, bad := range []struct{ dir, size int }{{1, 0}, {0, 2}} {
		t, keys := m.encrypted(rng, r, conn+1, 51021+conn)
		m.chat(t, 40, t.pushAll)
		at := len(t.ways[bad.dir].sent)
		t.say(bad.dir, append([]byte{byte(bad.size), 0}, randomBytes(rng, 30)...), nil)
		t.pushAll(bad.dir)
		t.close()
		mine, _ := t.found([2]int{all, all})
		for _, x := range mine {
			if x["offset"] == at && x["dir"] == dirNames[bad.dir] {
				x = row{"kind": "error", "conn": conn + 1, "offset": at, "dir": dirNames[bad.dir], "frame": x["first_frame"], "time": x["time"]}
			}
			rows = append(rows, x)
		}
		conns = append(conns, t.describe("encrypted", keys))
	}
	m.lines("captures/tera-broken.after-gap.jsonl", truth(after))
	save("tera-broken", r, rows, conns)

	m.add("captures/muta-session.def", []byte(mutaText))
	for _, name := range []string{"muta-session", "muta-desync"} {
		r = newRecording(false, 1700000300_000000)
		t := &talk{tcp: r.connect(rng, local(52000), local(13490))}
		for i := range 500 {
			p := mutaPackets[rng.IntN(len(mutaPackets))]
			value, data := p.random(rng)
			t.say(p.way(), data, row{"group": p.group(), "id": int(data[0]), "name": p.name, "value": value})
			if name == "muta-desync" && i == 300 {
				break
			}
			if rng.IntN(3) == 0 {
				t.pushAll(rng.IntN(2))
			}
		}
		t.pushAll(0)
		t.pushAll(1)
		end := len(t.ways[0].sent)
		if name == "muta-desync" {
			t.say(0, []byte{4, 0xff, 0x2c, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, nil) // a text of 11,519 characters, of 1,000 at most
			t.pushAll(0)
		}
		t.close()
		rows, after := t.found([2]int{end, all})
		for _, x := range after {
			rows = append(rows, row{"kind": "error", "conn": 0, "dir": "c2s", "offset": end, "frame": x["frame"], "time": x["time"]})
		}
		save(name, r, rows, []row{t.describe("muta", row{"groups": row{"c2s": "clmsg", "s2c": "svmsg"}})})
	}
}

// mutaConstants are a record of mutaText. Its vectors have them beside it.
const mutaConstants = `constants: limits
   NAME_MIN = 2
   NAME_MAX = 16
`

// mutaText has the packets of mutaPackets: of the client in the group clmsg, of the server in svmsg.
const mutaText = mutaConstants + "\n" + mutaClient + "\n" + mutaServer

const mutaClient = `group: clmsg

packet: clmsg_keep_alive
   __group = clmsg

packet: clmsg_login
   __group = clmsg
   name    = char <uint8> {NAME_MIN, NAME_MAX}
   token   = uint8 {4, 4}
   version = uint32

packet: clmsg_walk
   __group = clmsg
   x       = int32
   y       = int32
   speed   = uint8 [0, 9]

packet: clmsg_say
   __group = clmsg
   text    = char {1, 1000}
   channel = uint8
`

const mutaServer = `group: svmsg

packet: svmsg_pong
   __group = svmsg

packet: svmsg_time
   __group = svmsg
   utc     = uint64

packet: svmsg_seen
   __group = svmsg
   id      = uint64
   name    = char <uint8> {NAME_MIN, NAME_MAX}
   marks   = uint16 {5}
   level   = int16
`

// mutaPacket is a packet of mutaText: its code, and how to make one.
type mutaPacket struct {
	name   string
	code   byte
	encode func(rng *rand.Rand) (row, []byte)
}

func (p mutaPacket) group() string { return p.name[:5] }

func (p mutaPacket) way() int {
	if p.group() == "clmsg" {
		return 0
	}
	return 1
}

func (p mutaPacket) random(rng *rand.Rand) (row, []byte) {
	v, b := p.encode(rng)
	return v, append([]byte{p.code}, b...)
}

// le writes the lowest bytes of a number.
func le(b []byte, n uint64, size int) []byte {
	for range size {
		b, n = append(b, byte(n)), n>>8
	}
	return b
}

func word(rng *rand.Rand, min, max int) string {
	b := make([]byte, min+rng.IntN(max-min+1))
	for i := range b {
		b[i] = byte('a' + rng.IntN(26))
	}
	return string(b)
}

// mutaPackets write the sizes of arrays first, then numbers, then the elements.
var mutaPackets = []mutaPacket{
	{"clmsg_keep_alive", 1, func(*rand.Rand) (row, []byte) { return row{}, nil }},
	{"clmsg_login", 2, func(rng *rand.Rand) (row, []byte) {
		name, token, version := word(rng, 2, 16), randomBytes(rng, 4), rng.Uint32()
		list := make([]int, len(token))
		for i, b := range token {
			list[i] = int(b)
		}
		b := append(le([]byte{byte(len(name)), 4}, uint64(version), 4), name...)
		return row{"name": name, "token": list, "version": version}, append(b, token...)
	}},
	{"clmsg_walk", 3, func(rng *rand.Rand) (row, []byte) {
		x, y, speed := int32(rng.Uint32()), int32(rng.IntN(1000)-500), rng.IntN(10)
		return row{"x": x, "y": y, "speed": speed}, append(le(le(nil, uint64(uint32(x)), 4), uint64(uint32(y)), 4), byte(speed))
	}},
	{"clmsg_say", 4, func(rng *rand.Rand) (row, []byte) {
		text, channel := word(rng, 1, 60), rng.IntN(256)
		return row{"text": text, "channel": channel}, append(append(le(nil, uint64(len(text)), 2), byte(channel)), text...)
	}},
	{"svmsg_pong", 1, func(*rand.Rand) (row, []byte) { return row{}, nil }},
	{"svmsg_time", 2, func(rng *rand.Rand) (row, []byte) {
		n := rng.Uint64() >> rng.IntN(64)
		return row{"utc": fmt.Sprint(n)}, le(nil, n, 8)
	}},
	{"svmsg_seen", 3, func(rng *rand.Rand) (row, []byte) {
		id, name, level, n := rng.Uint64(), word(rng, 2, 16), int16(rng.Uint32()), rng.IntN(6)
		b := le(le([]byte{byte(len(name)), byte(n)}, id, 8), uint64(uint16(level)), 2)
		b = append(b, name...)
		marks := make([]uint32, n)
		for i := range marks {
			marks[i] = rng.Uint32() >> 16
			b = le(b, uint64(marks[i]), 2)
		}
		return row{"id": fmt.Sprint(id), "name": name, "marks": marks, "level": level}, b
	}},
}

// muta makes vectors: messages, all their beginnings, messages with values out of range, values that cannot be written, and mistaken definitions.
func (m *maker) muta() {
	rng := rand.New(rand.NewPCG(5, 29))
	constants := row{"NAME_MIN": 2, "NAME_MAX": 16}
	var rows []row
	add := func(name, outcome, note string, value any, data []byte, consumed int) {
		group, _, _ := strings.Cut(name, "_")
		rows = append(rows, row{
			"def_text": map[string]string{"clmsg": mutaClient, "svmsg": mutaServer}[group], "constants": constants, "group": group, "message": name, "value": value, "hex": hex.EncodeToString(data),
			"outcome": outcome, "consumed": consumed, "note": note,
		})
	}
	for _, p := range mutaPackets {
		for k := range 3 {
			v, data := p.random(rng)
			add(p.name, "ok", "valid", v, data, len(data))
			add(p.name, "ok", "with more bytes", v, append(data, 1, 2), len(data))
			for n := 0; k == 0 && n < len(data); n++ {
				add(p.name, "incomplete", fmt.Sprintf("%d of %d bytes", n, len(data)), nil, data[:n], 0)
			}
		}
	}
	illegal := map[string]string{
		"clmsg_login, a short name":       "02 01 04 00000000 6161 01020304",
		"clmsg_login, a long name":        "02 11 04 00000000 6161 01020304 00000000000000",
		"clmsg_login, a short token":      "02 02 03 00000000 6161 01020304",
		"clmsg_login, a long token":       "02 02 05 00000000 6161 01020304",
		"clmsg_walk, too fast":            "03 00000000 00000000 0a",
		"clmsg_walk, much too fast":       "03 00000000 00000000 ff",
		"clmsg_say, no text":              "04 0000 00 61",
		"clmsg_say, a long text":          "04 e903 00 61",
		"clmsg_other, no packet":          "05",
		"clmsg_nothing, the first code":   "00 00",
		"svmsg_seen, six marks":           "03 02 06 0000000000000000 0000 6161",
		"svmsg_seen, the second, missing": "03 01 06 0000000000000000 0000 6161",
		"svmsg_none, no packet":           "ff",
	}
	for _, note := range sorted(illegal) {
		name, _, _ := strings.Cut(note, ",")
		add(name, "illegal", note, nil, unhex(strings.ReplaceAll(illegal[note], " ", "")), 0)
	}
	for _, bad := range []row{
		{"name": "a", "token": []int{1, 2, 3, 4}, "version": 1}, {"name": "abc", "token": []int{1, 2, 3}, "version": 1}, {"name": strings.Repeat("n", 17), "token": []int{1, 2, 3, 4}, "version": 1},
	} {
		add("clmsg_login", "encode_error", "refused", bad, nil, 0)
	}
	mistaken := map[string]string{
		"duplicate field":               "group: a\npacket: a_x\n   __group = a\n   n = uint8\n   n = uint8\n",
		"undefined group":               "group: a\npacket: a_x\n   __group = b\n   n = uint8\n",
		"recursive struct":              "group: a\nstruct: s\n   s = s\npacket: a_x\n   __group = a\n   s = s\n",
		"symbolic max without a type":   "group: a\nconstants: c\n   MOST = 5\npacket: a_x\n   __group = a\n   t = char {MOST}\n",
		"max does not fit its type":     "group: a\npacket: a_x\n   __group = a\n   t = char <uint8> {300}\n",
		"min > max":                     "group: a\npacket: a_x\n   __group = a\n   t = char {5, 4}\n",
		"length type without an array":  "group: a\npacket: a_x\n   __group = a\n   t = char <uint8>\n",
		"missing = after a name":        "group: a\npacket: a_x\n   __group = a\n   t char\n",
		"duplicate packet in its group": "group: a\npacket: a_x\n   __group = a\npacket: a_x\n   __group = a\n",
	}
	for _, note := range sorted(mistaken) {
		rows = append(rows, row{"def_text": mistaken[note], "constants": row{}, "group": "a", "message": "a_x", "value": nil, "outcome": "def_error", "note": note})
	}
	m.lines("muta/vectors.jsonl", rows)
}
