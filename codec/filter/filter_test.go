package filter_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/codec/view"
	"wirebench/defs/schema"
)

const fightValue = `{"damage":-250,"target":"18446744073709551615","x":0.1,"d":2.5,"crit":true,"flags":6,"big":"-9007199254740993","ids":[3,5,7],
	"words":["Alpha","beta","été"],"blob":"00e803ff0a","at":{"pos":{"x":1,"y":-2,"z":3.5}},"skill":{"npc":true,"type":1,"huntingZoneId":12,"id":77},
	"w":1.5,"path":[{"x":1,"y":2,"z":3},{"x":4,"y":5,"z":6}],"message":12}`

const partyValue = `{"members":[{"name":"Lann","level":60,"items":[{"id":1,"amount":10},{"id":2,"amount":20}]},{"name":"mew","level":7,"items":[]},{"name":"Zoé","level":60,"items":[{"id":3,"amount":1}]}]}`

// fightFrames are the frames that filters are tested with, named by letters.
func fightFrames(t testing.TB, w *world) map[string]*filter.Frame {
	t.Helper()
	frames := map[string]*filter.Frame{
		"c": w.frame(t, "C_CHAT", 0, `{"channel":3,"shown_item":"5","message":"LFG the Mines"}`),
		"1": w.frame(t, "S_CHAT", 1, `{"channel":1,"author":"Lann","message":"hello"}`),
		"2": w.frame(t, "S_CHAT", 2, `{"channel":2,"id":"99","author":"mew","message":"lfg"}`),
		"f": w.frame(t, "S_FIGHT", 0, fightValue),
		"p": w.frame(t, "S_PARTY_LIST", 0, partyValue),
		"g": w.frame(t, "C_PONG", 0, `{}`),
		// A code without a definition but with a name, one with neither, and a gap.
		"u": {Frame: &transport.Frame{N: 8, Kind: transport.Message, Dir: schema.ToClient, HasKey: true, Bytes: []byte("\x08\x00\xbc\x02Lann"), Key: schema.Key{Code: 700}}, Where: filter.Where{Conn: "[::1]:1-[::1]:2"}},
		"v": {Frame: &transport.Frame{N: 9, Kind: transport.Message, Dir: schema.ToClient, HasKey: true, Bytes: []byte{6, 0, 0xd2, 0x26, 0x53, 0xbc}, Key: schema.Key{Code: 9938}}, Where: filter.Where{Conn: "[::1]:1-[::1]:2"}},
		"x": {Frame: &transport.Frame{N: 10, Kind: transport.Problem, Dir: schema.ToServer, Note: "12 bytes are missing"}},
	}
	frames["c"].Mark, frames["c"].Marks = "a", transport.Fake
	frames["f"].Where.Note, frames["f"].Marker, frames["f"].Via, frames["f"].N = "big hit #boss", "open inventory", make([]string, 2), 1000
	frames["f"].At = start.Add(time.Hour)
	for _, x := range frames {
		x.Start = start
	}
	frames["g"].Marks, frames["g"].Resumed, frames["g"].Session = transport.Changed|transport.Silenced, true, 1
	return frames
}

const fightOrder = "c12fpguvx"

// matching returns the letters of the frames that match, and checks that the index never contradicts the record.
func matching(t testing.TB, w *world, frames map[string]*filter.Frame, order string, f *filter.Filter) string {
	t.Helper()
	var got strings.Builder
	for _, letter := range order {
		x := frames[string(letter)]
		match := f.Match(x, w.record(t, x))
		switch v := f.Index(x); {
		case v == filter.Yes && !match, v == filter.No && match:
			t.Errorf("%c: the index says %v, the record %v", letter, v, match)
		}
		if match {
			got.WriteRune(letter)
			if !f.CanMatch(x.Message) {
				t.Errorf("%c matches and cannot", letter)
			}
		}
	}
	return got.String()
}

// TestMatch checks the meaning of filters.
func TestMatch(t *testing.T) {
	w := fight(t)
	frames := fightFrames(t, w)
	w.env.Values = map[string]string{"me": "18446744073709551615", "who": "Lann", "build": "376012", "half": "2.5", "ip": "10.0.0.2"}
	w.env.Selected = frames["p"]
	for _, c := range []struct{ text, want string }{
		{"", "c12fpguvx"},
		{"  \t", "c12fpguvx"},
		{"true", "c12fpguvx"},
		{"false", ""},

		// The frame.
		{"dir == c2s", "cgx"},
		{"dir == s2c", "12fpuv"},
		{"dir != c2s", "12fpuv"},
		{`dir in {"c2s"}`, "cgx"},
		{"c2s == dir", "cgx"},
		{"op == 0x26d2", "cv"},
		{"op eq 9938", "cv"},
		{"op != 9938", "12fpgu"},
		{"op", "c12fpguv"},
		{"!op", "x"},
		{"op in {500..600, 700}", "fgu"},
		{"op not in {500..600, 700}", "c12pv"},
		{"op in {9..5, 500}", "!"},
		{"name == C_CHAT", "c"},
		{`name == "C_CHAT"`, "c"},
		{`name in {"C_CHAT", S_PARTY_LOST}`, "cu"},
		{`not name in {"C_CHAT", "C_PONG"}`, "12fpuvx"},
		{`name not in {"C_CHAT", "C_PONG"}`, "12fpu"},
		{`name ~ "^S_PARTY"`, "pu"},
		{`name matches r"_C.AT$"`, "c12"},
		{`lower(name) contains "chat"`, "c12"},
		{`upper(name) == "C_CHAT"`, "c"},
		{"name", "c12fpgu"},
		{"len < 7", "gvx"},
		{"len == 4", "g"},
		{"n >= 9 && n <= 10", "vx"},
		{`conn contains "127.0.0.1"`, "c12fpg"},
		{`client == "[::1]:1"`, "uv"},
		{`server ~ ":5000$"`, "c12fpg"},
		{`src contains "40001"`, "cg"},
		{`dst contains "40001"`, "12fp"},
		{"session == 1", "g"},
		{`proto == "tcp"`, "c12fpg"},
		{"proto == tcp", "c12fpg"},
		{"ver == 2", "2"},
		{"ver >= 1", "c12fpg"},
		{"build == 376012", "c12fpguvx"},
		{"build != 376012", ""},
		{"kind == problem", "x"},
		{`kind != "message"`, "x"},
		{`mark`, "c"},
		{`mark == "a"`, "c"},
		{`mark == a`, "c"},
		{`tag == "boss"`, "f"},
		{"tag == boss", "f"},
		{"tag == shop", ""},
		{"tag", "f"},
		{`note contains "hit"`, "f"},
		{`note`, "fx"},
		{`!note`, "c12pguv"},
		{`marker == "open inventory" && name ~ "^S_"`, "f"},
		{"injected", "c"},
		{"injected == true", "c"},
		{"injected == false", "12fpguvx"},
		{"modified or dropped", "g"},
		{"resumed", "g"},
		{"depth == 2", "f"},
		{"depth", "c12fpguvx"},
		{"state == unknown", "uv"},
		{"state == error", "x"},
		{"state == clean", "c12fpg"},
		{"state in {over, mismatch}", ""},
		{"status == ok", "c12fpg"},
		{"status == unknown", "uvx"},
		{`err`, "x"},
		{`err contains "missing"`, "x"},
		{`delta == 0.02`, "c12fpg"},
		{`delta >= "20ms"`, "c12fpg"},
		{`delta > "20ms"`, ""},
		{`time >= "10:30"`, "f"},
		{`time < "10:00:05.5"`, "c12pg"},
		{`time == "2026-11-20 11:00:05.25"`, "f"},
		{`time > "2026-11-20T10:00:05Z"`, "c12fpg"},
		{`time in {"10:00" .. "10:01"}`, "c12pg"},
		{`time > 1795172000`, "f"},
		{`time <= 1795168805.25`, "c12pg"},
		{`time > 1.5`, "f"}, // seconds since the first frame, as shown in lists
		{`time <= 1.5`, "c12pg"},
		{`time > -1 and time < 3600`, "c12pg"},
		{`time >= 60 * 60`, "f"},
		{`time > "90s"`, "f"},
		{`time in {0..1.5}`, "c12pg"},
		{`time in {0..1795168805.25}`, "c12pg"},
		{`t == 3600`, "f"},
		{`t < "1 s"`, "c12pg"},

		// Names of messages.
		{"C_CHAT", "c"},
		{"S_CHAT", "12"},
		{"S_CHAT.2", "2"},
		{"S_*", "12fpu"},
		{"*_CHAT", "c12"},
		{"S_PARTY_L?ST", "pu"},
		{"!S_*", "cgvx"},
		{"S_PARTY_LOST", "u"},
		{"C_CHAT or S_FIGHT", "cf"},
		{"C_PONG and dir == c2s", "g"},

		// Fields.
		{`C_CHAT.message contains "Mines"`, "c"},
		{`C_CHAT.message contains "mines"`, ""},
		{`.message contains "lfg"`, "2"},
		{`lower(.message) contains "lfg"`, "c2"},
		{`S_CHAT && .message contains "lfg"`, "2"},
		{`S_CHAT.message == "hello"`, "1"},
		{`S_CHAT.1.message`, "1"},
		{`S_CHAT.2.message == "lfg"`, "2"},
		{`S_*.message == "hello"`, "1"},
		{`.message`, "c12f"},
		{`.message == 12`, "f"},
		{`.message != 12`, ""},
		{`.message != "lfg"`, "c1"},
		{`!(.message == "lfg")`, "c1fpguvx"},
		{`.channel == 3`, "c"},
		{`.channel in {2..3}`, "c2"},
		{`.channel + 1 == 3`, "2"},
		{`1 + 1 == .channel`, "2"},
		{`.channel * 2 - 1 >= 3`, "c2"},
		{`.channel == .id - 97`, "2"},
		{`.channel < .id`, "2"},
		{"C_CHAT.shown_item == 5", "c"},
		{"5 < .damage", ""},
		{".damage == -250", "f"},
		{".damage < -249.5", "f"},
		{"-.damage == 250", "f"},
		{".damage in {-300..-200}", "f"},
		{".damage in {1, -250, 3}", "f"},
		{".damage not in {1, -250, 3}", ""},
		{".damage / 3 == -83", "f"},
		{".damage % 100 == -50", "f"},
		{".damage / 0 == 0", ""},
		{".target == 18446744073709551615", "f"},
		{".target > 18446744073709551614", "f"},
		{".target == -1", ""},
		{".target + 1 == 18446744073709551616.0", "f"},
		{".target == $me", "f"},
		{".author == $who", "1"},
		{".x == 0.1", "f"},
		{".x != 0.1", ""},
		{".x > 0.1", "f"},
		{".x >= 0.1", "f"},
		{".x in {0.05 .. 0.1}", "f"},
		{".d == $half", "f"},
		{".d * 2 == 5", "f"},
		{".crit", "f"},
		{".crit == true", "f"},
		{".crit == false", ""},
		{"!.crit", "c12pguvx"},
		{".flags & 4", "f"},
		{".flags & 1", ""},
		{".flags & 6 == 6", "f"},
		{".big == -9007199254740993", "f"},
		{".big == -9007199254740992", ""},
		{".big < -9007199254740992.0", "f"},
		{".at.pos.y == -2", "f"},
		{".at.pos", "f"},
		{".at", "f"},
		{".skill.id == 77", "f"},
		{".skill.npc", "f"},
		{".skill.type in {0..1}", "f"},
		{".w in {1.49 .. 1.51}", "f"},
		{"S_FIGHT.blob == x\"00 e8 03 ff 0a\"", "f"},
		{".blob == 00:e8:03:ff:0a", "f"},
		{".blob contains x\"e8 ?? ff\"", "f"},
		{".blob contains u16le(1000)", "f"},
		{".blob contains u16be(1000)", ""},
		{".blob[1:2] == u16le(1000)", "f"},
		{".blob[1-2] == u16le(1000)", "f"},
		{"u16le(.blob[1:2]) == 1000", "f"},
		{"u16be(.blob[1:2]) == 59395", "f"},
		{"i8(.blob[3:1]) == -1", "f"},
		{".blob[3] == 255", "f"},
		{".blob[4:] == x\"0a\"", "f"},
		{".blob[4:2] == x\"0a 00\"", ""},
		{"hex(.blob) ~ \"^00e8\"", "f"},
		{"hex(.flags) == \"6\"", "f"},
		{"@.damage == x\"06 ff ff ff\"", "f"},
		{"@.message == utf16(\"lfg\")", "2"},
		{"@.path[1] contains f32(5)", "f"},
		{"@.path[0] contains f32(5)", ""},
		{"@.path[*] contains f32(5)", "f"},
		{"len(@.path[*]) == 12", "f"},
		{"all len(@.path[*]) == 12", "f"},
		{"count(@.path) == 2", "f"},
		{"@.at == @.at.pos", "f"},
		{"len(@.skill) == 8", "f"},
		{"len(.blob) == 5", "f"},
		{"len(.message) == 5", "1"},
		{".message[0:3] == \"lfg\"", "2"},
		{".message[0] == \"h\"", "1"},
		{".message[1:] == \"fg\"", "2"},

		// Lists.
		{".ids == 5", "f"},
		{".ids != 5", ""},
		{".ids != 4", "f"},
		{"any .ids != 5", "f"},
		{"all .ids > 2", "f"},
		{"all .ids > 3", ""},
		{".ids > 6", "f"},
		{"all .ids in {3, 5, 7}", "f"},
		{"all .ids in {3, 5}", ""},
		{".ids[1] == 5", "f"},
		{".ids[0] == 5", ""},
		{".ids[*] == 7", "f"},
		{".ids[9] == 7", ""},
		{".ids[9]", ""},
		{".ids[2]", "f"},
		{"len(.ids) == 3", "f"},
		{"count(.ids) == 3", "f"},
		{".ids * 2 == 14", "f"},
		{".ids + .ids == 12", "f"},
		{".ids + .ids == 13", ""},
		{".words contains \"eta\"", "f"},
		{".words == \"beta\"", "f"},
		{"all .words contains \"a\"", ""},
		{".words ~ \"^.t.$\"", "f"},
		{"upper(.words) == \"ÉTÉ\"", "f"},
		{"len(.words) == 3", "f"},
		{"len(.words[0]) == 5", "f"},
		{".words[2][0] == \"é\"", "f"},
		{".path.y == 5", "f"},
		{".path[1].y == 5", "f"},
		{".path[0].y == 5", ""},
		{"S_PARTY_LIST.members.level == 7", "p"},
		{".members.level > 60", ""},
		{"all .members.level >= 7", "p"},
		{".members[1].level == 7", "p"},
		{".members[1].name == \"mew\"", "p"},
		{".members[2].name == \"Zoé\"", "p"},
		{".members[3]", ""},
		{".members[2]", "p"},
		{".members", "p"},
		{"count(.members) == 3", "p"},
		{"count(.members.items) == 3", "p"},
		{"count(.members.items.id) == 3", "p"},
		{"count(.members[0].items) == 2", "p"},
		{"len(.members.items) == 0", "p"},
		{".members.items.id == 3", "p"},
		{".members[0].items.id == 3", ""},
		{".members[*].items[0].amount in {10, 11}", "p"},
		{".members[2].items[0].amount == 1", "p"},
		{".members.items.amount > .members.level", "p"},
		{".members.items.id > .members.level", ""},
		{".members.level == .members.items.amount", ""},
		{".members.level > .members.items.amount", "p"},
		{"all .members.level > .members.items.amount", ""},
		{".members.items.id != .members.items.amount", ""},
		{"any .members.items.id != .members.items.amount", "p"},

		// The selected frame, which is p.
		{".author == $sel.members.name", "12"},
		{".author == $sel.members[0].name", "1"},
		{".author != $sel.members[0].name", "2"},
		{".ids == $sel.S_PARTY_LIST.members.items.id", "f"},
		{"len == $sel.len", "p"},
		{"op == $sel.op", "p"},
		{"name == $sel.name", "p"},

		// The bytes.
		{`bytes contains utf16("Lann")`, "1p"},
		{`bytes contains "Lann"`, "u"},
		{`bytes contains utf8("Lann")`, "u"},
		{`bytes ~ "La[n]+$"`, "u"},
		{`bytes contains u32le(4294967295)`, "f"},
		{`bytes contains f64(2.5)`, "f"},
		{`bytes contains f32(0.1)`, "f"},
		{`bytes contains f32(0.105, 0.01)`, "f"},
		{`bytes contains f32(0.2, 0.01)`, ""},
		{`bytes[4:4] == u32le(-250)`, ""},
		{`bytes[0:2] == u16le(len)`, "!"},
		{`u16le(bytes[0:2]) == len`, "c12fpguv"},
		{`u16le(bytes[2:2]) == op`, "c12fpguv"},
		{`bytes[2] == 0xd2`, "cv"},
		{`bytes[4] == 0x53`, "v"},
		{`bytes[-1] >= 0`, "c12fpguv"},
		{`bytes[-1] == u8(bytes[-1:])`, "c12fpguv"},
		{`bytes[-67108863] == 0`, ""},
		{`bytes[-67108863:2] == 00:00`, ""},
		{`@.damage[-1] * 2 == u8(@.damage[3:]) * 2`, "f"},
		{`@.damage[-5] == 0`, ""},
		{`name[-1] == "T"`, "c12fpu"},
		{`bytes == x"?? ?? ?? ?? 53 bc"`, "v"},
		{`bytes in {x"06 00 d2 26 53 bc", 00:01}`, "v"},

		// Short forms.
		{"party", "pu"},
		{"PARTY", "pu"},
		{"zo", "p"},
		{"lfg", "c2"},
		{"the mines", "c"},
		{"hit", "f"},
		{`"big hit"`, "f"},
		{`"lfg" and S_CHAT`, "2"},
		{"0x26D2", "cv"},
		{"9938", "cv"},
		{"9938 or 500", "cfv"},
		{`x"53 bc"`, "v"},
		{"= 48211", "v"},
		{"= 1000", "f"},
		{"= -250", "f"},
		{"= 2.5", "f"},
		{"= 0.1", "f"},
		{"= Lann", "1pu"},
		{`= "Lann"`, "1pu"},
		{"~q", "cgx"},
		{"~s && ~b Lann", "u"},
		{"~src 40001", "cg"},
		{`~dst "40001"`, "12fp"},
		{"~marked", "c"},
		{"~comment hit", "f"},
		{"~comment", "fx"},
		{"~tcp", "c12fpg"},
		{"!~tcp", "uvx"},
		{"(~q or ~s)", "c12fpguvx"},
		{`info contains "hello"`, "1"},

		// Parentheses and order of operators.
		{"dir == c2s and C_CHAT or S_FIGHT", "cf"},
		{"dir == c2s and (C_CHAT or S_FIGHT)", "c"},
		{"not C_CHAT and dir == c2s", "gx"},
		{"!(C_CHAT or dir == s2c)", "gx"},
		{"1 + 2 * 3 == 7", "c12fpguvx"},
		{"(1 + 2) * 3 == 7", ""},
		{"!!C_CHAT", "c"},
	} {
		f, mistakes := filter.Compile(c.text, w.env)
		if c.want == "!" {
			if len(mistakes) == 0 {
				t.Errorf("%s: no mistake", c.text)
			}
			continue
		}
		if len(mistakes) > 0 {
			t.Errorf("%s: %+v", c.text, mistakes)
			continue
		}
		if got := matching(t, w, frames, fightOrder, f); got != c.want {
			t.Errorf("%s: matches %q, want %q", c.text, got, c.want)
		}
	}
}

// TestIndex checks that properties of the frame itself, and numbers at fixed offsets, need no record.
func TestIndex(t *testing.T) {
	w := fight(t)
	frames := fightFrames(t, w)
	for _, c := range []struct{ text, want string }{ // + yes, - no, ? needs the record
		{"C_CHAT", "+--------"},
		{"dir == c2s", "+----+--+"},
		{"C_CHAT.channel == 3", "+--------"},
		{".channel == 3", "+--------"},
		{".channel == 3 && dir == c2s", "+--------"},
		{".channel == 3 or dir == c2s", "+----+--+"},
		{"!(.channel == 3)", "-++++++++"},
		{"len > 1000 && .channel == 3", "---------"},
		{"state == clean", "??????---"},
		{`name ~ "^S_" && .message contains "x"`, "-??------"},
		{"S_CHAT.id", "--?------"},
		{"party", "????+-+--"},
		{".flags & 4 or .ids == 3", "---?-----"},
		{"= 48211", "-------+-"},
	} {
		f, mistakes := filter.Compile(c.text, w.env)
		if len(mistakes) > 0 {
			t.Fatalf("%s: %+v", c.text, mistakes)
		}
		var got strings.Builder
		for _, letter := range fightOrder {
			got.WriteByte("-+?"[f.Index(frames[string(letter)])])
		}
		if got.String() != c.want {
			t.Errorf("%s: %s, want %s", c.text, got.String(), c.want)
		}
	}
}

// TestEnums compares names by the type of the field on the other side.
func TestEnums(t *testing.T) {
	w := libraryWorld(t, "muta")
	frames := map[string]*filter.Frame{
		"h": w.frame(t, "heroes", 0, `{"heroes":[{"id":"53","name":"John","race":1,"level":12,"at":{"map_id":32,"x":1.5,"y":-2.25}},{"id":"54","name":"Mathilda","race":4,"level":60,"at":{"map_id":7,"x":0,"y":1024}}],"newest":"54"}`),
		"c": w.frame(t, "create_hero", 0, `{"name":"Lann","race":0,"looks":[0,9,3,4,1,7]}`),
		"s": w.frame(t, "say", 0, `{"text":"anyone for the mines?"}`),
		"m": w.frame(t, "moved", 0, `{"tick":90000,"steps":[{"dir":0,"running":0,"turn":-180},{"dir":7,"running":1,"turn":180},{"dir":3,"running":1,"turn":0}]}`),
	}
	for _, c := range []struct{ text, want string }{
		{".race == human", "c"},
		{"create_hero.race == human", "c"},
		{"heroes.heroes.race == dwarf", "h"},
		{"heroes.heroes.race in {human, elf}", "h"},
		{"heroes.heroes.race != human", "h"},
		{`.race == "human"`, "c"},
		{".race == 0", "c"},
		{".race in {human..elf}", "hc"},
		{"heroes.heroes[1].at.map_id == 7", "h"},
		{"heroes.heroes.name == \"John\"", "h"},
		{"heroes", "h"},
		{"clmsg", "cs"},
		{"clmsg.type == 3", "s"},
		{"clmsg.text", "s"},
		{"clmsg.say.text contains \"mines\"", "s"},
		{"clmsg.say", "s"},
		{"group == clmsg", "cs"},
		{"svmsg.heroes.newest == 54", "h"},
		{"moved.steps.turn == -180", "m"},
		{"all moved.steps.dir in {0, 3, 7}", "m"},
		{"moved.steps[1].running", "m"},
		{"moved.tick / 1000 == 90", "m"},
		{".looks == 9", "c"},
		{".looks[1] == 9", "c"},
		{"mines", "s"},
	} {
		f, mistakes := filter.Compile(c.text, w.env)
		if len(mistakes) > 0 {
			t.Errorf("%s: %+v", c.text, mistakes)
			continue
		}
		if got := matching(t, w, frames, "hcsm", f); got != c.want {
			t.Errorf("%s: matches %q, want %q", c.text, got, c.want)
		}
	}
}

// TestLayers finds the packets of a core protocol by their group.
func TestLayers(t *testing.T) {
	w := libraryWorld(t, "subspace")
	frames := map[string]*filter.Frame{
		"r": w.frame(t, "reliable", 0, `{"sequence":15,"payload":"0600"}`),
		"a": w.frame(t, "ack", 0, `{"sequence":15}`),
		"c": w.frame(t, "c2s_chat", 0, `{"kind":2,"text":"hi"}`),
		"d": w.frame(t, "s2c_chat", 0, `{"kind":5,"text":"ho"}`),
	}
	frames["c"].Via = make([]string, 2)
	for _, c := range []struct{ text, want string }{
		{"core.type == 3", "r"},
		{"core.type == 0x0e", ""},
		{"core.sequence in {10..20}", "ra"},
		{"core.ack.sequence in {10..20}", "a"},
		{"core", "ra"},
		{"core.type", "ra"},
		{"depth == 2", "c"},
		{".kind == private", "d"},
		{".kind in {private, public}", "cd"},
		{".kind == public && dir == c2s", "c"},
		{"game and .text contains \"h\"", "cd"},
		{"*_chat", "cd"},
	} {
		f, mistakes := filter.Compile(c.text, w.env)
		if len(mistakes) > 0 {
			t.Errorf("%s: %+v", c.text, mistakes)
			continue
		}
		if got := matching(t, w, frames, "racd", f); got != c.want {
			t.Errorf("%s: matches %q, want %q", c.text, got, c.want)
		}
	}
}

// TestStates checks the state of truncated, too long and invalid messages.
func TestStates(t *testing.T) {
	w := fight(t)
	whole := w.frame(t, "C_CHAT", 0, `{"message":"hi"}`)
	again := func() filter.Frame {
		x, f := *whole, *whole.Frame
		x.Frame = &f
		return x
	}
	cut := again()
	cut.Bytes = whole.Bytes[:8]
	over := again()
	over.Bytes = append([]byte(nil), whole.Bytes...)
	over.Bytes[4] = 200 // the offset of the text is beyond the end
	long := again()
	long.Bytes = append(append([]byte(nil), whole.Bytes...), 1, 2)
	long.Bytes[0] += 2
	for _, c := range []struct {
		frame  *filter.Frame
		states string
	}{
		{whole, "clean ok"},
		{&cut, "over incomplete"},
		{&over, "over illegal"},
		{&long, "under ok"},
	} {
		state, status, _ := strings.Cut(c.states, " ")
		text := fmt.Sprintf("state == %s && status == %s", state, status)
		f, mistakes := filter.Compile(text, w.env)
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		rec := w.record(t, c.frame)
		if !f.Match(c.frame, rec) {
			t.Errorf("not %s: %s", text, view.Transcript(rec))
		}
	}
	f, _ := filter.Compile("err", w.env)
	if f.Match(whole, w.record(t, whole)) || !f.Match(&over, w.record(t, &over)) {
		t.Error("err is not what is wrong")
	}
	// Truncated fields are absent.
	f, _ = filter.Compile(".channel == 0", w.env)
	cut.Bytes = whole.Bytes[:6]
	if f.Match(&cut, w.record(t, &cut)) || !f.Match(whole, w.record(t, whole)) {
		t.Error("a value is read that is cut off")
	}
}

// TestForeignRecord checks that a record of another message is not read.
func TestForeignRecord(t *testing.T) {
	w := fight(t)
	frames := fightFrames(t, w)
	f, _ := filter.Compile(".channel == 3", w.env)
	if f.Match(frames["c"], w.record(t, frames["f"])) || f.Match(frames["c"], nil) || f.Match(frames["c"], &codec.Record{}) {
		t.Error("matches by a record that is not its own")
	}
}
