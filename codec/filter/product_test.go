package filter_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/defs/benchtest"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// stated is a statement about the language: a filter, and the letters of the frames that match. If want begins with "!", it is the position
// and the text of the first mistake.
type stated struct{ text, want string }

func judgeStated(t *testing.T, w *world, frames map[string]*filter.Frame, order string, cases []stated) {
	t.Helper()
	for _, c := range cases {
		plain := strings.NewReplacer("«", "", "»", "").Replace(c.text)
		f, mistakes := filter.Compile(plain, w.env)
		if want, wrong := strings.CutPrefix(c.want, "!"); wrong {
			if len(mistakes) == 0 {
				t.Errorf("%s: no mistake, want %s", plain, want)
				continue
			}
			m := mistakes[0]
			if got := plain[:m.Start] + "«" + plain[m.Start:m.End] + "»" + plain[m.End:]; got != c.text || !strings.Contains(m.Message+" ("+m.Help+")", want) {
				t.Errorf("%s\n got %s: %s (%s)\nwant %s: %s", plain, got, m.Message, m.Help, c.text, want)
			}
			continue
		}
		if len(mistakes) > 0 {
			t.Errorf("%s: %+v", plain, mistakes)
			continue
		}
		if got := matching(t, w, frames, order, f); got != c.want {
			t.Errorf("%s: matches %q, want %q", plain, got, c.want)
		}
	}
}

// raidWorld returns definitions with the names in the statements.
func raidWorld(t *testing.T) *world {
	t.Helper()
	codes := map[string]uint32{
		"C_CHECK_VERSION": 19900, "C_PLAYER_LOCATION": 100, "C_PONG": 101, "S_CHAT": 0x26d2, "S_EACH_SKILL_RESULT": 200, "S_PARTY_MEMBER_LIST": 201,
		"S_LOGIN": 202, "S_NPC_LOCATION": 203, "C_CHAT": 204, "S_PARTY_NO_DEFINITION": 205,
	}
	return newWorld(t, "tera", schema.Options{Codes: codes},
		source.New("C_CHECK_VERSION.1.def", "array version\n- uint32 index\n- uint32 value\n"),
		source.New("C_PLAYER_LOCATION.1.def", "vec3 loc\nangle w\nint32 time\n"),
		source.New("C_PONG.1.def", ""),
		source.New("C_CHAT.1.def", "string message\n"),
		source.New("S_CHAT.1.def", "uint32 channel\nuint32 id\nstring message\n"),
		source.New("S_EACH_SKILL_RESULT.1.def", "uint64 source\nuint64 target\nint32 damage\nbool crit\nuint32 flags\n"),
		source.New("S_PARTY_MEMBER_LIST.1.def", "array members\n- string name\n- int32 level\n- vec3 loc\n- array<int32> buffs\n"),
		source.New("S_LOGIN.1.def", "uint64 gameId\ncustomize appearance\nstring name\nobject home\n- string town\n- int32 floor\n"),
		source.New("S_NPC_LOCATION.1.def", "uint64 gameId\nvec3 loc\nangle w\nvec3 dest\narray<int32> route\n"),
	)
}

func raidFrames(t *testing.T, w *world) map[string]*filter.Frame {
	t.Helper()
	frames := map[string]*filter.Frame{
		"a": w.frame(t, "C_CHECK_VERSION", 0, `{"version":[{"index":0,"value":376012},{"index":1,"value":9}]}`),
		"b": w.frame(t, "C_PLAYER_LOCATION", 0, `{"loc":{"x":1.5,"y":-2,"z":3},"w":1,"time":1000}`),
		"c": w.frame(t, "C_PONG", 0, `{}`),
		"d": w.frame(t, "C_CHAT", 0, `{"message":"lfg party"}`),
		"e": w.frame(t, "S_CHAT", 0, `{"channel":48211,"id":48211,"message":"LFG Lann"}`),
		"f": w.frame(t, "S_EACH_SKILL_RESULT", 0, `{"source":"5","target":"77","damage":120000,"crit":true,"flags":6}`),
		"g": w.frame(t, "S_PARTY_MEMBER_LIST", 0, `{"members":[{"name":"Lann","level":60,"loc":{"x":1,"y":2,"z":3},"buffs":[1,2]},{"name":"Mew","level":7,"loc":{"x":4,"y":5,"z":6},"buffs":[2,3]}]}`),
		"h": w.frame(t, "S_LOGIN", 0, `{"gameId":"77","appearance":{"unk":1,"skinColor":218,"faceStyle":78,"faceDecal":4,"hairStyle":5,"hairColor":6,"voice":7,"tattoos":8},"name":"Lann","home":{"town":"Velika","floor":3}}`),
		"i": w.frame(t, "S_NPC_LOCATION", 0, `{"gameId":"78","loc":{"x":1.5,"y":-2,"z":3},"w":1,"dest":{"x":7,"y":8,"z":9},"route":[10,20]}`),
		// A code with a name only, one with neither, a gap.
		"j": {Frame: &transport.Frame{N: 10, At: start, Kind: transport.Message, Dir: schema.ToClient, HasKey: true, Bytes: []byte{6, 0, 205, 0, 0xe8, 0x03}, Key: schema.Key{Code: 205}}, Where: filter.Where{Conn: "[::1]:1-[::1]:2", Proto: "udp"}, Delta: time.Second},
		"k": {Frame: &transport.Frame{N: 11, At: start, Kind: transport.Message, Dir: schema.ToServer, HasKey: true, Bytes: []byte{8, 0, 0xd3, 0x26, 0x65, 0xd0, 0x0a, 0xc3}, Key: schema.Key{Code: 9939}}, Where: filter.Where{Conn: "[::1]:1-[::1]:2", Proto: "udp"}, Delta: time.Second},
		"l": {Frame: &transport.Frame{N: 12, At: start, Kind: transport.Problem, Dir: schema.ToServer, Note: "12 bytes are missing"}, Where: filter.Where{Conn: "[::1]:1-[::1]:2", Proto: "udp"}, Delta: time.Second},
	}
	for i, letter := range raidOrder[:9] {
		frames[string(letter)].N = uint32(i + 1)
	}
	frames["a"].Session = 1
	frames["b"].Marks, frames["c"].Marks, frames["d"].Marks, frames["e"].Resumed = transport.Fake, transport.Changed, transport.Silenced, true
	frames["d"].Mark, frames["e"].Where.Note, frames["f"].Marker = "marked", "who is it? #ask-Lann #later", "open inventory"
	frames["g"].Via = []string{"cluster:1", "chunk"}
	frames["g"].From = []transport.Source{{Packet: 4}, {Packet: 4}, {Packet: 5}, {Packet: 6}}
	frames["h"].From = []transport.Source{{Packet: 7}}
	frames["i"].Bytes = append(frames["i"].Bytes, 1, 2) // not in the definition
	frames["i"].Bytes[0] += 2
	frames["f"].Bytes = frames["f"].Bytes[:len(frames["f"].Bytes)-2]
	return frames
}

const raidOrder = "abcdefghijkl"

// TestProduct checks the specification of the language, a case for each statement.
func TestProduct(t *testing.T) {
	w := raidWorld(t)
	frames := raidFrames(t, w)
	judgeStated(t, w, frames, raidOrder, []stated{
		// Grammar.
		{"C_PONG || C_CHAT or S_CHAT", "cde"},
		{"dir == c2s && len < 5 and C_PONG", "c"},
		{"!C_PONG and not C_CHAT and dir == c2s", "abkl"},
		{"any .version.value == 9", "a"},
		{"all .version.value > 8", "a"},
		{"all .version.value > 9", ""},
		{".channel + .id - 1 == 96421", "e"},
		{".channel * 2 / 2 % 10 == 1", "e"},
		{".id & 3 == 3", "e"},
		{".flags & 2", ""}, // it is truncated
		{"-.damage < -100000", "f"},
		{".damage", "f"},
		{".crit", "f"},
		{".level == 7", "g"},
		{"level == 7", "g"},
		{".members.level == 7", "g"},
		{"(.channel + 1) * 2 == 96424", "e"},
		{"n == 2", "b"},
		{"n != 2", "acdefghijkl"},
		{"n > 10", "kl"},
		{"n >= 11", "kl"},
		{"n < 2", "a"},
		{"n <= 2", "ab"},
		{"n eq 2 or n ne n or n gt 11 or n ge 12 or n lt 1 or n le 1", "abl"},
		{"n in {1, 3..5, 12}", "acdel"},
		{"n not in {1..11}", "l"},
		{`name contains "PARTY"`, "gj"},
		{`name matches "^S_.*AT$"`, "e"},
		{`name ~ "^S_.*AT$"`, "e"},
		{"op == 0b11001000", "f"},
		{".loc.y == -2.0", "bi"},
		{`name ~ r"\d"`, ""},
		{"bytes contains d3:26:65", "k"},
		{`bytes contains x"d3 ?? 65"`, "k"},
		{"injected == true", "b"},
		{"injected == false && n < 3", "a"},
		{`@.name contains 4c:00`, "gh"},
		{".message[0] == \"L\"", "e"},
		{".message[0:3] == \"lfg\"", "d"},
		{".message[0-2] == \"lfg\"", "d"},
		{"bytes[2:2] == d3:26", "k"},
		{"bytes[2-3] == d3:26", "k"},
		{".members[1].name == \"Mew\"", "g"},
		{".members[*].name == \"Mew\"", "g"},
		{".message", "de"},

		// Fields of the frame.
		{"op == 202", "h"},
		{"op == S_CHAT", "e"},
		{"op != S_CHAT && dir == s2c", "fghij"},
		{"op in {S_CHAT, C_PONG, S_PARTY_NO_DEFINITION}", "cej"},
		{"op in {C_PLAYER_LOCATION..C_PONG}", "bc"},
		{"op >= S_CHAT", "aek"},
		{"S_CHAT == op", "e"},
		{"op == S_PARTY_*", "gj"},
		{"op > «S_PARTY_*»", "!several codes"},
		{"op == «S_CHAP»", `!did you mean "S_CHAT"?`},
		{"len == «S_CHAT»", `!"len" is a number, and "S_CHAT" is a message`},
		{".damage > «S_CHAT»", `!"damage" is a number, and "S_CHAT" is a message`},
		{"name == S_PARTY_NO_DEFINITION", "j"},
		{"dir == s2c", "efghij"},
		{"len == 8", "k"},
		{`time == "10:00:05.25"`, raidOrder},
		{"delta == 1", "jkl"},
		{`delta < "30ms"`, "abcdefghi"},
		{`conn contains "[::1]"`, "jkl"},
		{"proto == udp", "jkl"},
		{"ver == 1", "abcdefghi"},
		{"«build» == 376012", "!the build of the client is unknown (look into C_CHECK_VERSION, which may carry it)"},
		{".version.value == 376012", "a"},
		{"mark", "d"},
		{`note contains "who"`, "e"},
		{"note", "el"},
		{"tag == later", "e"},
		{`tag == "ask-Lann"`, "e"},
		{`tag ~ "^ask"`, "e"},
		{"tag", "e"},
		{"!tag", "abcdfghijkl"},
		{"tag == ask", ""},
		{"state == clean", "abcdegh"},
		{"state == under", "i"},
		{"state == over", "f"},
		{"state == mismatch", ""},
		{"state == unknown", "jk"},
		{"state == error", "l"},
		{"state == «wrong»", "!never"},
		{"err", "fl"},
		{`err contains "missing"`, "l"},
		{"injected", "b"},
		{"modified", "c"},
		{"dropped", "d"},
		{"resumed", "e"},
		{`marker == "open inventory"`, "f"},
		{"depth == 2", "g"},
		{`bytes == x"04 00 65 00"`, "c"},
		{"session == 1", "a"},
		{`via contains "chunk"`, "g"},
		{"via == chunk", "g"},
		{`via ~ "^cluster:[0-9]$"`, "g"},
		{`via != "chunk"`, ""},
		{`any via != "chunk"`, "g"},
		{"via", "g"},
		{"from == 5", "g"},
		{"from in {6..7}", "gh"},
		{"from > 6", "h"},
		{"count(from) == 3", "g"},
		{"count(via) == 2", "g"},
		{"count(from) == 0", "abcdefijkl"},

		// Fields of messages.
		{`C_CHAT.message contains "lfg"`, "d"},
		{`.message contains "L"`, "e"},
		{"C_CHAT", "d"},
		{"S_PARTY_*", "gj"},
		{`name ~ "^S_PARTY"`, "gj"},
		{"«.mesage» == \"x\"", `!no message has a field "mesage" (did you mean "message"?)`},

		// Lists and functions.
		{".members.level > 50", "g"},
		{"all .members.level > 50", ""},
		{"len(.members) == 2", "g"},
		{"count(.members.buffs) == 4", "g"},
		{"count(.loc) == 1", "bi"},
		{"count(.members.loc) == 2", "g"},
		{"len(.members.name) == 3", "g"},
		{`lower(.message) contains "lfg"`, "de"},
		{`hex(bytes) ~ "^0800d3"`, "k"},
		{`bytes[4:4] == u32le(48211)`, ""},
		{`u32le(bytes[6:4]) == 48211`, "e"},

		// Typed values in the bytes.
		{"bytes contains u32le(48211)", "e"},
		{`bytes contains utf16("Lann")`, "egh"},
		{`bytes contains x"e8 03 ?? 00"`, "b"},
		{"bytes contains f32(1.5, 0.01)", "bi"},
		{"bytes contains f32(1.51, 0.001)", ""},
		{"= 48211", "e"},
		{"= 53331", ""},
		{"= 26064", "k"}, // 65 d0, big-endian
		{"= 1.5", "bi"},
		{"= Lann", "egh"},
		{"len == «`»3`", "!unexpected"},

		// Values of another frame.
		{"«$sel.gameId» == .gameId", "!no frame is selected here"},
		{"len == «$sel.len»", "!no frame is selected here"},
		{".target == «$me»", `!no value is given for "$me" (write the value itself)`},

		// Short forms.
		{"party", "dgj"},
		{"0x26D2", "e"},
		{"9939", "k"},

		// "!=" and absent fields.
		{".message != \"lfg party\"", "e"},
		{"!(.message == \"lfg party\")", "abcefghijkl"},

		// Words of mitmproxy.
		{"~q", "abcdkl"},
		{"~s", "efghij"},
		{"«~c»", "!write op == 7"},
		{`~b \x65\xd0`, "k"},
		{"~src 10.0.0.2", "efghi"},
		{"~dst 10.0.0.2", "abcd"},
		{"~marked", "d"},
		{"~comment who", "e"},
		{"~tcp", "abcdefghi"},
		{"~udp", "jkl"},

		// The examples.
		{`S_CHAT && lower(.message) contains "lfg"`, "e"},
		{`dir == c2s and len > 10 and not name in {"C_PLAYER_LOCATION","C_PONG"}`, "ad"},
		{"S_EACH_SKILL_RESULT.damage > 100000 and .target == 77", "f"},
		{"«core.type» == 0x0e", "!there are no core packets in this protocol"},
		{`marker == "open inventory" && name ~ "^S_"`, "f"},
		{"op == 0x26d2 && bytes[6:4] == u32le(48211)", "e"},
	})
	w.env.Values = map[string]string{"build": "376012", "me": "77"}
	judgeStated(t, w, frames, raidOrder, []stated{
		{"build == 376012", raidOrder},
		{"build > 376012", ""},
		{"state in {over, mismatch} && build == 376012", "f"},
		{"S_EACH_SKILL_RESULT.damage > 100000 and .target == $me", "f"},
	})
	w.env.Selected = frames["h"]
	judgeStated(t, w, frames, raidOrder, []stated{
		{"$sel.gameId == .gameId", "h"},
		{".target == $sel.gameId", "f"},
		{"len == $sel.len", "h"},
		{"op == $sel.op", "h"},
		{".gameId == $sel.«gameID»", `!"S_LOGIN" has no field "gameID" (did you mean "gameId"?)`},
	})
}

// TestRaw checks "@": all bytes of a field of any kind.
func TestRaw(t *testing.T) {
	w := raidWorld(t)
	frames := raidFrames(t, w)
	judgeStated(t, w, frames, raidOrder, []stated{
		{"@S_LOGIN.appearance contains da:4e", "h"},
		{"@S_LOGIN.appearance == 01:da:4e:04:05:06:07:08", "h"},
		{"len(@.appearance) == 8", "h"},
		{"@.appearance[1:2] == da:4e", "h"},
		{"@.appearance[1] == 0xda", "h"},
		{"len(@S_NPC_LOCATION.loc) == 12", "i"},
		{"@.loc == 00:00:c0:3f:00:00:00:c0:00:00:40:40", "bi"},
		{"@S_NPC_LOCATION.loc == @.loc", "i"},
		{"@S_NPC_LOCATION.loc != @.dest", "i"},
		{"@.loc contains f32(-2)", "bi"},
		{"@.loc", "bgi"},
		{"len(@.members.loc) == 12", "g"},
		{"@.members.loc contains f32(5)", "g"},
		{"@.members[0].loc contains f32(5)", ""},
		{"@.members[1].loc contains f32(5)", "g"},
		{"all @.members.loc contains f32(5)", ""},
		{"count(@.members.loc) == 2", "g"},
		{"len(@.damage) == 4", "f"},
		{"@.message == utf16(\"lfg party\")", "d"},
		{"@S_NPC_LOCATION.route[*] == 14:00:00:00", "i"},
		{"@S_NPC_LOCATION.route[0] == 14:00:00:00", ""},
		{"@S_NPC_LOCATION.route contains 14:00:00:00", "i"},
		{"len(@S_NPC_LOCATION.route) > 8", "i"},
		{"len(S_NPC_LOCATION.route) == 2", "i"},
		{"@.«home»", "!has no bytes in one place"},
		{"@S_LOGIN.«home» contains 00:00", `!"home" has no bytes in one place (name one of its fields)`},
		{"@S_LOGIN.home.floor == 03:00:00:00", "h"},
		{"«@op» == 00:00", `!"op" has no bytes of its own`},
	})
}

// TestBytesRegexp checks that a character of a regular expression over bytes is a byte.
func TestBytesRegexp(t *testing.T) {
	w := newWorldOf(t, "bytes blob\nstring text\n")
	frames := map[string]*filter.Frame{
		"a": w.frame(t, "C_ONE", 0, `{"blob":"65d0","text":"é"}`),
		"b": w.frame(t, "C_ONE", 0, `{"blob":"65c390","text":"x"}`), // U+00D0 in UTF-8
		"c": w.frame(t, "C_ONE", 0, `{"blob":"650a80ff","text":"e"}`),
		"d": w.frame(t, "C_ONE", 0, `{"blob":"6162","text":"ab"}`),
		"e": w.frame(t, "C_ONE", 0, `{"blob":"e697a5e69cac","text":"日本"}`),
	}
	judgeStated(t, w, frames, "abcde", []stated{
		{`.blob ~ r"\x65\xd0"`, "a"},
		{`bytes ~ r"\x65\xd0"`, "a"},
		{`.blob ~ "\x65\xd0"`, "a"},
		{`.blob ~ "\x65\xc3\x90"`, "b"},
		{`.blob ~ r"^e\xc3\x90$"`, "b"},
		{`~b \x65\xd0`, "a"},
		{`~b e[\x80-\xff]`, "ab"},
		{`.blob ~ r"^e[^\x00-\x7f]$"`, "a"},
		{`.blob ~ r"^e..\xff$"`, "c"}, // "." is any byte
		{`.blob ~ r"(?-s)^e..\xff$"`, ""},
		{`.blob ~ "^..$"`, "ad"},
		{`.blob ~ "日"`, "e"},
		{`.text contains "\U000065e5"`, "e"},
		{`.text contains "«\U»0110000"`, "!unknown escape"},
		{"«~b »(e|a)", "!put a pattern with parentheses in quotes"},
		{`~b "(e|a)b"`, "d"},
		{`.blob ~ "^(日|x)本$"`, "e"},
		{`.blob ~ r"^\Q日本\E$"`, "e"},
		{`.blob ~ "^日{1}本+$"`, "e"},
		{`.blob ~ r"[]\xd0]$"`, "a"},
		{`.blob ~ r"^[[:alpha:]\xd0]+$"`, "ad"},
		{`.text ~ r"\xe9"`, "a"},
		{`.text ~ "[é日]"`, "ae"},
		{`.text ~ "^.$"`, "abc"},
		{`@.text ~ r"^\xe9\x00$"`, "a"},
		{`.blob ~ «"[日]"»`, "!'日' is 3 bytes, but brackets match one"},
		{`.blob ~ «r"\x{65e5}"»`, `!\x{65e5} is not a byte`},
		{`.blob ~ «"("»`, "!not a valid regular expression: missing closing ): `(`"},
		{`.blob ~ «r"\é"»`, "!not a valid regular expression: invalid escape sequence"},
		{`«~b »`, "!no pattern"},
	})
}

// TestCoreLayers selects frames by the core packets around them.
func TestCoreLayers(t *testing.T) {
	w := libraryWorld(t, "subspace")
	frames := map[string]*filter.Frame{
		"a": w.frame(t, "ack", 0, `{"sequence":15}`),
		"r": w.frame(t, "reliable", 0, `{"sequence":12,"payload":"0600"}`), // a retransmission
		"s": w.frame(t, "sync_request", 0, `{"time":1,"packets_sent":2,"packets_received":3}`),
		"c": w.frame(t, "c2s_chat", 0, `{"kind":2,"text":"hi"}`),
		"d": w.frame(t, "s2c_chat", 0, `{"kind":5,"text":"ho"}`),
		"e": w.frame(t, "s2c_chat", 0, `{"kind":5,"text":"long"}`),
		"f": w.frame(t, "s2c_chat", 0, `{"kind":5,"text":"longer"}`),
		"g": w.frame(t, "c2s_chat", 0, `{"kind":2,"text":"alone"}`),
	}
	in := func(letter string, via ...string) { frames[letter].Via = via }
	in("a", "cluster:0")
	in("c", "cluster:1", "reliable:15")
	in("d", "reliable:2147483647")
	in("e", "reliable:16", "cluster:300", "chunk")
	in("f", "reliable:20", "stream")
	judgeStated(t, w, frames, "arscdefg", []stated{
		{"core.type == 3", "rcdef"},
		{"core.type == 0x0e", "ace"},
		{"core.type == cluster", "ace"},
		{"core.type == core.cluster", "ace"},
		{"core.type == 4", "a"},
		{"core.type == ack", "a"},
		{"core.type == sync_request", "s"},
		{"core.type == 8", "e"},
		{"core.type == 9", "e"},
		{"core.type == 0x0a", "f"},
		{"core.type in {8..0x0a}", "ef"},
		{"core.type in {cluster, stream}", "acef"},
		{"core.type != 3", "as"},
		{"!(core.type == 3)", "asg"},
		{"all core.type == 3", "rd"},
		{"core.type", "arscdef"},
		{"core.ack_id in {10..20}", "arcef"},
		{"core.ack_id == 15", "ac"},
		{"core.reliable_id == 15", "c"},
		{"core.reliable_id in {10..20}", "rcef"},
		{"core.reliable_id > 1000", "d"},
		{"core.reliable_id", "rcdef"},
		{"core.sequence == 15", "a"},
		{"depth == 2", "cf"},
		{"depth == 3", "e"},
		{"depth == 0", "rsg"},
		{`via contains "reliable:1"`, "ce"},
		{`via ~ "^reliable"`, "cdef"},
		{"via == chunk", "e"},
		{"core.type == 3 && game", "cdef"},
		{"core", "ars"},
		{"op == c2s_chat", "cg"},
		{"game.type == s2c_chat", "def"},
		{"core.type == «0x1ff»", ""},
		{"«@core.type» == 00:00", "!has no bytes of its own"},
		{"core.type«[2]» == 3", `!"type" is a number`},
		{"core.«typ» == 3", `!did you mean "type"?`},
		{"game.«ack_id» == 3", "!no message of"},
	})
}

// TestLayersAllocateNothing checks fields with several values, and matches in bytes.
func TestLayersAllocateNothing(t *testing.T) {
	core, raid := libraryWorld(t, "subspace"), raidWorld(t)
	x := core.frame(t, "s2c_chat", 0, `{"kind":5,"text":"long"}`)
	x.Via, x.From, x.Where.Note = []string{"reliable:16", "cluster:3", "chunk"}, []transport.Source{{Packet: 1}, {Packet: 2}}, "a #b and #c"
	y := raidFrames(t, raid)["i"]
	for _, c := range []struct {
		w    *world
		x    *filter.Frame
		text string
	}{
		{core, x, "core.type == 9"},
		{core, x, "core.ack_id in {1..16}"},
		{core, x, `via contains "chunk"`},
		{core, x, "from == 2"},
		{core, x, "tag == c"},
		{core, x, "count(from) == 2"},
		{core, x, `via ~ "^chunk"`},
		{core, x, "core.type == chunk"},
		{raid, y, `bytes ~ r"\xc0\x3f"`},
		{raid, y, "@.loc contains f32(-2)"},
		{raid, y, "@.loc != @.dest"},
	} {
		f, mistakes := filter.Compile(c.text, c.w.env)
		if len(mistakes) > 0 {
			t.Fatal(c.text, mistakes)
		}
		rec := c.w.record(t, c.x)
		if !f.Match(c.x, rec) {
			t.Errorf("%s does not match", c.text)
		}
		if benchtest.Raced {
			continue
		}
		if n := testing.AllocsPerRun(100, func() { f.Index(c.x); f.Match(c.x, rec) }); n != 0 {
			t.Errorf("%s: %v allocations", c.text, n)
		}
	}
}

// FuzzLayers checks that for any frame, layers, tags and bytes are found as by a simple search.
func FuzzLayers(f *testing.F) {
	f.Add("reliable:15,cluster:1", "a #b c#d ##e #", "\x65\xd0", []byte{0, 3, 1, 0, 0, 0x65, 0xd0}, uint32(3))
	f.Add("reliable:,reliable:-1,chunk,stream:,cluster", "#", `[^\x00-\x7f]日`, []byte{0, 4, 1, 0}, uint32(4))
	f.Add("reliable:99999999999999999999,,:", "#ä #-", `\Q日\E[[:alpha:]]`, []byte{}, uint32(0))
	w := libraryWorld(f, "subspace")
	compile := func(text string) *filter.Filter {
		out, mistakes := filter.Compile(text, w.env)
		if len(mistakes) > 0 {
			f.Fatal(text, mistakes)
		}
		return out
	}
	chunk, tail, any, tag := compile("core.type == 8"), compile("core.type == 9"), compile("via"), compile("tag")
	numbers, all := compile("core.reliable_id"), compile("core.ack_id in {-9223372036854775808..9223372036854775807}")
	f.Fuzz(func(t *testing.T, via, note, pattern string, data []byte, code uint32) {
		x := &filter.Frame{Frame: &transport.Frame{HasKey: true, Note: note, Bytes: data, Key: schema.Key{Code: code, Group: "core"}}}
		if via != "" {
			x.Via = strings.Split(via, ",")
		}
		if code != 8 && code != 9 && chunk.Match(x, nil) != tail.Match(x, nil) {
			t.Errorf("%q: one end of a chunk alone", via)
		}
		if any.Match(x, nil) != (via != "") {
			t.Errorf("%q is no layer, or nothing is one", via)
		}
		if numbers.Match(x, nil) && !all.Match(x, nil) {
			t.Errorf("%q: a reliable packet that is no packet", via)
		}
		if tag.Match(x, nil) && !strings.Contains(note, "#") {
			t.Errorf("%q has a tag", note)
		}
		by, mistakes := filter.Compile("bytes ~ $pattern", filter.Env{Values: map[string]string{"pattern": pattern}})
		ascii := strings.IndexFunc(pattern, func(r rune) bool { return r > 0x7e }) < 0
		re, err := regexp.Compile("(?s)" + pattern)
		if len(mistakes) > 0 {
			if ascii && err == nil && len(pattern) <= 1000 && !strings.Contains(mistakes[0].Message, "is no byte") {
				t.Errorf("%q: %+v", pattern, mistakes)
			}
			return
		}
		got := by.Match(x, nil)
		if ascii && err == nil {
			runes := make([]rune, len(data))
			for i, b := range data {
				runes[i] = rune(b)
			}
			if want := re.MatchString(string(runes)); got != want {
				t.Errorf("%q in % x: %v, want %v", pattern, data, got, want)
			}
		}
	})
}

// TestCoreCompletion checks that layers are offered only if there are any.
func TestCoreCompletion(t *testing.T) {
	w := libraryWorld(t, "subspace")
	for text, want := range map[string]string{"core.type == clus": "cluster", "op == s2c_cha": "s2c_chat", "game.type in {c2s_cha": "c2s_chat"} {
		if _, options := filter.Complete(text, len(text), w.env); len(options) == 0 || options[0].Text != want {
			t.Errorf("%s: %+v, want %s first", text, options, want)
		}
	}
	for dialect, want := range map[string]bool{"subspace": true, "tera": false, "muta": false} {
		w := libraryWorld(t, dialect)
		found := map[string]int{}
		for _, text := range []string{"core.", "", "vi", "fro"} {
			_, options := filter.Complete(text, len(text), w.env)
			for _, o := range options {
				found[o.Text]++
				if o.Doc == "" && (o.Text == "via" || o.Text == "from") {
					t.Errorf("%s has no help", o.Text)
				}
			}
		}
		for _, name := range []string{"core.type", "core.ack_id", "core.reliable_id"} {
			if (found[name] == 1) != want {
				t.Errorf("%s: %s is offered %d times", dialect, name, found[name])
			}
		}
		if found["build"] != 0 {
			t.Errorf("%s: the build is offered, and not known", dialect)
		}
		if found["via"] == 0 || found["from"] == 0 {
			t.Errorf("%s: via or from is not offered", dialect)
		}
	}
}
