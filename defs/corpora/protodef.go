package corpora

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// gameMessage is a message of the own game in ProtoDef: its fields in the language, and how to make one.
type gameMessage struct {
	state, dir, name string
	code             byte
	fields           string
	make             func(rng *rand.Rand) (row, []byte)
}

func varint(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(uint32(n))) }

func pstring(b []byte, s string) []byte { return append(varint(b, len(s)), s...) }

func double(b []byte, v float64) []byte { return binary.BigEndian.AppendUint64(b, math.Float64bits(v)) }

// gameMessages are sent in three states. In "play" the client asks nothing: both sides talk.
var gameMessages = []gameMessage{
	{
		"handshaking", "c2s", "set_protocol", 0, `{"name":"protocolVersion","type":"varint"},{"name":"serverHost","type":"string"},{"name":"serverPort","type":"u16"},{"name":"nextState","type":"varint"}`,
		func(*rand.Rand) (row, []byte) {
			return row{"protocolVersion": 736, "serverHost": "localhost", "serverPort": 25598, "nextState": 2}, varint(append(pstring(varint(nil, 736), "localhost"), 0x63, 0xfe), 2)
		},
	},
	{"login", "c2s", "login_start", 0, `{"name":"username","type":"string"}`, func(rng *rand.Rand) (row, []byte) {
		s := word(rng, 3, 12)
		return row{"username": s}, pstring(nil, s)
	}},
	{"login", "s2c", "compress", 3, `{"name":"threshold","type":"varint"}`, func(*rand.Rand) (row, []byte) { return row{"threshold": 256}, varint(nil, 256) }},
	{"login", "s2c", "success", 2, `{"name":"uuid","type":"string"},{"name":"username","type":"string"}`, func(rng *rand.Rand) (row, []byte) {
		id, s := word(rng, 36, 36), word(rng, 3, 12)
		return row{"uuid": id, "username": s}, pstring(pstring(nil, id), s)
	}},
	{"play", "s2c", "keep_alive", 0x1f, `{"name":"id","type":"i64"}`, func(rng *rand.Rand) (row, []byte) {
		n := rng.Int64()
		return row{"id": row{"$i64": fmt.Sprint(n)}}, binary.BigEndian.AppendUint64(nil, uint64(n))
	}},
	{"play", "s2c", "chat", 0x0e, `{"name":"message","type":"string"},{"name":"position","type":"i8"},{"name":"sender","type":["option","varint"]}`, func(rng *rand.Rand) (row, []byte) {
		s := strings.Repeat(word(rng, 1, 12)+" ", 1+rng.IntN(60))
		v, b := row{"message": s, "position": -1}, append(pstring(nil, s), 0xff)
		if rng.IntN(2) == 0 {
			v["sender"] = 300
			return v, varint(append(b, 1), 300)
		}
		return v, append(b, 0)
	}},
	{
		"play", "s2c", "position", 0x34, `{"name":"x","type":"f64"},{"name":"y","type":"f64"},{"name":"yaw","type":"f32"},{"name":"at","type":["bitfield",[{"name":"x","size":26,"signed":true},{"name":"z","size":26,"signed":true},{"name":"y","size":12,"signed":true}]]}`,
		func(rng *rand.Rand) (row, []byte) {
			x, y, yaw := float64(rng.IntN(9000))/8, float64(-rng.IntN(256))/4, float32(rng.IntN(360))/2
			bx, bz, by := int64(rng.IntN(1000)-500), int64(rng.IntN(1000)-500), int64(rng.IntN(256)-128)
			b := binary.BigEndian.AppendUint32(double(double(nil, x), y), math.Float32bits(yaw))
			b = binary.BigEndian.AppendUint64(b, uint64(bx)&(1<<26-1)<<38|uint64(bz)&(1<<26-1)<<12|uint64(by)&(1<<12-1))
			return row{"x": x, "y": y, "yaw": yaw, "at": row{"x": bx, "z": bz, "y": by}}, b
		},
	},
	{"play", "s2c", "window_items", 0x13, `{"name":"windowId","type":"u8"},{"name":"items","type":["array",{"countType":"i16","type":"slot"}]}`, func(rng *rand.Rand) (row, []byte) {
		n := rng.IntN(8)
		b, list := []byte{2, 0, byte(n)}, make([]any, n)
		for i := range list {
			if rng.IntN(2) == 0 {
				list[i], b = row{"present": false}, append(b, 0)
				continue
			}
			id, count := rng.IntN(900), int8(rng.IntN(64))
			list[i], b = row{"present": true, "itemId": id, "itemCount": count}, append(varint(append(b, 1), id), byte(count))
		}
		return row{"windowId": 2, "items": list}, b
	}},
	{"play", "s2c", "map_chunk", 0x20, `{"name":"x","type":"i32"},{"name":"z","type":"i32"},{"name":"data","type":["buffer",{"countType":"varint"}]}`, func(rng *rand.Rand) (row, []byte) {
		data := bytes.Repeat(randomBytes(rng, 8), 30+rng.IntN(60))
		x := int32(rng.Uint32())
		b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(x)), 5)
		return row{"x": x, "z": 5, "data": row{"$hex": hex.EncodeToString(data)}}, append(varint(b, len(data)), data...)
	}},
	{"play", "s2c", "title", 0x4f, `{"name":"action","type":"varint"},{"name":"text","type":["switch",{"compareTo":"action","fields":{"0":"string","1":"string"},"default":"void"}]}`, func(rng *rand.Rand) (row, []byte) {
		s := word(rng, 1, 20)
		if rng.IntN(2) == 0 {
			return row{"action": 3}, varint(nil, 3)
		}
		return row{"action": 1, "text": s}, pstring(varint(nil, 1), s)
	}},
	{"play", "c2s", "keep_alive", 0x10, `{"name":"id","type":"i64"}`, func(rng *rand.Rand) (row, []byte) {
		n := rng.Int64()
		return row{"id": row{"$i64": fmt.Sprint(n)}}, binary.BigEndian.AppendUint64(nil, uint64(n))
	}},
	{"play", "c2s", "chat", 0x03, `{"name":"message","type":"string"}`, func(rng *rand.Rand) (row, []byte) {
		s := word(rng, 1, 60)
		return row{"message": s}, pstring(nil, s)
	}},
	{"play", "c2s", "position", 0x12, `{"name":"x","type":"f64"},{"name":"y","type":"f64"},{"name":"z","type":"f64"},{"name":"onGround","type":"bool"}`, func(rng *rand.Rand) (row, []byte) {
		x, y, z := float64(rng.IntN(9000))/8, float64(rng.IntN(256)), float64(-rng.IntN(9000))/16
		return row{"x": x, "y": y, "z": z, "onGround": true}, append(double(double(double(nil, x), y), z), 1)
	}},
	{"play", "c2s", "settings", 0x05, `{"name":"locale","type":"string"},{"name":"viewDistance","type":"i8"},{"name":"flags","type":["bitflags",{"type":"u8","flags":["cape","hat"]}]}`, func(rng *rand.Rand) (row, []byte) {
		return row{"locale": "en_GB", "viewDistance": 10, "flags": row{"_value": 2, "cape": false, "hat": true}}, append(pstring(nil, "en_GB"), 10, 2)
	}},
}

// gameText returns the definitions of gameMessages.
func gameText() []byte {
	states := row{"types": row{
		"varint": "native", "bool": "native", "u8": "native", "u16": "native", "i8": "native", "i16": "native", "i32": "native", "i64": "native", "f32": "native", "f64": "native", "void": "native",
		"string": []any{"pstring", row{"countType": "varint"}},
		"slot": json.RawMessage(`["container",[{"name":"present","type":"bool"},{"anon":true,"type":["switch",{"compareTo":"present","fields":{"false":"void",
			"true":["container",[{"name":"itemId","type":"varint"},{"name":"itemCount","type":"i8"}]]}}]}]]`),
	}}
	for _, state := range []string{"handshaking", "login", "play"} {
		ways := row{}
		for way, dir := range map[string]string{"toServer": "c2s", "toClient": "s2c"} {
			types, codes, bodies := row{}, row{}, row{}
			for _, m := range gameMessages {
				if m.state == state && m.dir == dir {
					types["packet_"+m.name] = json.RawMessage(`["container",[` + m.fields + `]]`)
					codes[fmt.Sprintf("0x%02x", m.code)], bodies[m.name] = m.name, "packet_"+m.name
				}
			}
			types["packet"] = []any{"container", []any{
				row{"name": "name", "type": []any{"mapper", row{"type": "varint", "mappings": codes}}},
				row{"name": "params", "type": []any{"switch", row{"compareTo": "name", "fields": bodies}}},
			}}
			ways[way] = row{"types": types}
		}
		states[state] = ways
	}
	text, err := json.MarshalIndent(states, "", "  ")
	if err != nil {
		panic(err)
	}
	return text
}

// protodef makes the definitions of a game, messages of it, and a session whose messages are compressed from some point on.
func (m *maker) protodef() {
	rng := rand.New(rand.NewPCG(19, 29))
	m.add("protodef/pc-1.16.1.json", gameText())
	var rows []row
	for range 20 {
		for _, x := range gameMessages {
			v, body := x.make(rng)
			rows = append(rows, row{"dir": x.dir, "state": x.state, "name": x.name, "hex": hex.EncodeToString(append(varint(nil, int(x.code)), body...)), "value": v, "encodes": true})
		}
	}
	m.lines("protodef/messages-1.16.1.jsonl", rows)

	r := newRecording(false, 1700000400_000000)
	t := &talk{tcp: r.connect(rng, local(53000), local(25598))}
	packed := false
	say := func(x gameMessage) {
		_, body := x.make(rng)
		body = append(varint(nil, int(x.code)), body...)
		if packed {
			if n := len(body); n >= 256 {
				var z bytes.Buffer
				w := zlib.NewWriter(&z)
				w.Write(body)
				w.Close()
				body = append(varint(nil, n), z.Bytes()...)
			} else {
				body = append([]byte{0}, body...)
			}
		}
		dir := 0
		if x.dir == "s2c" {
			dir = 1
		}
		t.send(dir, append(varint(nil, len(body)), body...))
		if rng.IntN(3) == 0 || x.state != "play" {
			t.pushAll(dir)
		}
	}
	for _, x := range gameMessages[:4] {
		say(x)
		packed = packed || x.name == "compress"
	}
	for range 900 {
		say(gameMessages[4+rng.IntN(len(gameMessages)-4)])
	}
	t.pushAll(0)
	t.pushAll(1)
	t.close()
	m.add("protodef/session-1.16.1.pcapng", r.file.Bytes())
}
