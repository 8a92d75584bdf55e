package filter_test

import (
	"strings"
	"testing"

	"wirebench/codec/filter"
)

// TestComplete checks the options. | is the caret; the options are in order, those after "-" must be absent.
func TestComplete(t *testing.T) {
	fighting, letters := fight(t), libraryWorld(t, "muta")
	fighting.env.Values = map[string]string{"me": "5"}
	fighting.env.Selected = fighting.frame(t, "C_CHAT", 0, `{}`)
	for _, c := range []struct {
		w             *world
		text          string
		start         int
		first, absent string
	}{
		{fighting, "C_|", 0, "C_CHAT C_PONG", "S_CHAT.message"},
		{fighting, "chat|", 0, "C_CHAT S_CHAT", "C_PONG"},
		{fighting, "di|", 0, "dir", "len"},
		{fighting, "len > 3 && S_F|", 11, "S_FIGHT", "len"},
		{fighting, "C_CHAT.|", 0, "C_CHAT.channel C_CHAT.message C_CHAT.shown_item", "C_CHAT.damage"},
		{fighting, "C_CHAT.me|", 0, "C_CHAT.message", "C_CHAT.channel"},
		{fighting, ".mem|", 0, ".members", ".name"},
		{fighting, ".members.|", 0, ".members.items .members.level .members.name", ".members.damage"},
		{fighting, ".members[0].items.|", 0, ".members[0].items.amount .members[0].items.id", ".members"},
		{fighting, ".skill.|", 0, ".skill.huntingZoneId .skill.id .skill.npc", "len"},
		{fighting, "dir == |", 7, "c2s s2c", "C_CHAT"},
		{fighting, "dir in {c2s, |", 13, "c2s s2c", "C_CHAT"},
		{fighting, "dir |", 4, "== !=", "C_CHAT"},
		{fighting, "dir in |", 7, "{", "C_CHAT"},
		{fighting, "name == |", 8, `"C_CHAT" "C_PONG"`, "C_CHAT"},
		{fighting, ".crit == |", 9, "false true", "c2s"},
		{fighting, "state != o|", 9, "over", "clean"},
		{fighting, "dir == c2s && |", 14, "bytes client", "build"},
		{fighting, "op == $|", 6, "$me $sel.", "op"},
		{fighting, "op == $sel.|", 6, "$sel.channel", "op"},
		{fighting, "len > 32|", 6, "", "f32("},
		{fighting, "~|", 0, "~b ~comment", "op"},
		{fighting, "low|", 0, "lower(", "len"},
		{fighting, `name == "C_|`, 8, `"C_CHAT" "C_PONG"`, "C_CHAT"},
		{fighting, `name in {"S_CHAT", "C_|`, 19, `"C_CHAT" "C_PONG"`, "C_CHAT"},
		{fighting, `name ~ "C_|`, 10, "", "C_CHAT"},
		{fighting, `.message == "C_|`, 12, "", "C_CHAT"},
		{fighting, "S_PARTY_LO|", 0, "S_PARTY_LOST", "S_PARTY_LIST"},
		{letters, ".race == |", 9, "dwarf elf human", "c2s"},
		{letters, "create_hero.race in {human, e|", 28, "elf", "human"},
		{letters, "create_hero.race in {human..e|", 28, "elf", "human"},
		{letters, "clmsg.|", 0, "clmsg.account clmsg.build", "clmsg.newest"},
		{letters, "clmsg.say.|", 0, "clmsg.say.text", "clmsg.say.account"},
		{letters, "clm|", 0, "clmsg", "svmsg"},
		{fighting, "tcp.p|", 0, "tcp.payload tcp.port", "udp.port"},
		{fighting, "tcp.prot|", 0, "tcp.port", "tcp"},
		{fighting, "len > 3 && ip.adr|", 11, "ip.addr", "ipv6.addr"},
		{fighting, "tcp.port |", 9, "== !=", "tcp.port"},
		{fighting, "udp|", 0, "udp udp.dstport udp.payload udp.port", "tcp"},
		{fighting, "frame.t|", 0, "frame.time frame.time_epoch frame.time_utc", "frame.time_delta"},
		{fighting, ".mesage|", 0, ".message", ".members"},
		{fighting, "max(|", 4, "delta depth dstport from", "name"},
		{fighting, "max(le|", 4, "len len( .level", "C_CHAT"},
		{fighting, "max(len, |", 9, "delta depth dstport from", "dir"},
		{fighting, "len == max(n, |", 14, "delta depth dstport from", "dir"},
		{fighting, "max(max(len), |", 14, "delta depth dstport from", "dir"},
		{fighting, "max(tcp.s|", 4, "tcp.srcport tcp.stream", "tcp.port"},
		{fighting, "max(.le|", 4, ".level", ".name"},
		{fighting, "max(len) |", 9, "== !=", "len"},
		{fighting, "max(len |", 8, "== !=", "len"},
		{fighting, "(|", 1, "bytes client", "build"},
		{fighting, "lower(|", 6, "client conn dst", "len"},
		{fighting, "count(|", 6, "from via", "len"},
		{fighting, "u32le(|", 6, "bytes", "len"},
		{fighting, "string(src|", 7, "srcip srcport", "src"},
	} {
		caret := strings.IndexByte(c.text, '|')
		text := c.text[:caret] + c.text[caret+1:]
		start, options := filter.Complete(text, caret, c.w.env)
		var got []string
		for _, o := range options {
			got = append(got, o.Text)
			if o.Text == c.absent {
				t.Errorf("%s: offers %s", c.text, o.Text)
			}
			if o.Kind == "" {
				t.Errorf("%s: %s has no kind", c.text, o.Text)
			}
		}
		all := strings.Join(got, " ")
		if start != c.start || !strings.HasPrefix(all+" ", c.first+" ") && c.first != "" || c.first == "" && all != "" {
			t.Errorf("%s: from %d: %.200s\nwant from %d: %s", c.text, start, all, c.start, c.first)
		}
	}
}

// TestRewritten checks the full form of short forms.
func TestRewritten(t *testing.T) {
	w := fight(t)
	for _, c := range []struct{ text, want string }{
		{"party", `lower(name) contains "party" || lower(info) contains "party"`},
		{"Big Hit", `lower(name) contains "big hit" || lower(info) contains "big hit"`},
		{"0x26d2", "op == 9938"},
		{"~q", "dir == c2s"},
		{"~s and len > 3", "dir == s2c && len > 3"},
		{`~b \d+`, `bytes ~ "\\d+"`},
		{"!~marked", "!mark"},
		{"~src 10.0.0.1 or ~udp", `src ~ "10.0.0.1" || proto == "udp"`},
		{`x"00 ??"`, `bytes contains x"00 ??"`},
		{"= -5", `bytes contains u8(-5) || bytes contains varint(-5) || bytes contains varint(4294967291) || bytes contains f32(-5) || bytes contains f32be(-5) || bytes contains f64(-5) || bytes contains f64be(-5) || bytes contains "-5" || bytes contains utf16("-5")`},
		{"= 1.25", `bytes contains f32(1.25, 0.005) || bytes contains f32be(1.25, 0.005) || bytes contains f64(1.25, 0.005) || bytes contains f64be(1.25, 0.005) || bytes contains "1.25" || bytes contains utf16("1.25")`},
		{"= x\"01\"", `bytes contains x"01"`},
		{"C_CHAT", ""},
		{"dir == c2s", ""},
		{"", ""},
	} {
		f, mistakes := filter.Compile(c.text, w.env)
		if len(mistakes) > 0 || f.Rewritten() != c.want {
			t.Errorf("%s: %s, want %s (%v)", c.text, f.Rewritten(), c.want, mistakes)
		}
	}
}

// TestPrint checks the canonical form of every part of the language.
func TestPrint(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a.b eq 1 AND", ""},
		{"len gt 0x10 and not (n lt 3 or n ge 5)", "len > 16 && !(n < 3 || n >= 5)"},
		{"1+2*3-(4-5) == -n", "1 + 2 * 3 - (4 - 5) == -n"},
		{"(1+2)*3 == n % 2 & 4", "(1 + 2) * 3 == n % 2 & 4"},
		{"all .a[*].b[3] not in {1 .. 5,'x'}", `all .a[*].b[3] not in {1..5, "x"}`},
		{"@.a[1:2] == 00:ff", `@.a[1:2] == x"00 ff"`},
		{".a[3:] == r'\\d' or .a[1-2] == \"\\x00\\n\\u00e9\"", `.a[3:] == "\\d" || .a[1-2] == "\x00\n` + "é\""},
		{"!!a", "!!a"},
		{"!a && b", "!a && b"},
		{"! a == 1", "!(a == 1)"},
		{"(a && b) && c", "(a && b) && c"},
		{"f64(1e3, .5) == x", ""},
		{"n == 1e3", "n == 1000.0"},
		{"n == 1e300", "n == 1.0e+300"},
		{"len(a, b)", "len(a, b)"},
		{"$sel.a[0].b == $me", "$sel.a[0].b == $me"},
		{"all .a", "all .a"},
		{"true or false", "true || false"},
	} {
		got, _ := filter.Print(c.text)
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

// TestColumns checks the fields that a filter reads.
func TestColumns(t *testing.T) {
	w := fight(t)
	f, mistakes := filter.Compile(`.message contains "x" && (S_PARTY_LIST.members[0].items.id == 3 || .channel == 1 || .skill.id == 7)`, w.env)
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	if got := strings.Join(f.Fields(), " "); got != ".message S_PARTY_LIST.members[0].items.id .channel .skill.id" {
		t.Errorf("fields %s", got)
	}
	for name, want := range map[string]string{"C_CHAT": "channel message", "S_PARTY_LIST": "members[].items[].id", "C_PONG": "", "S_FIGHT": "message skill"} {
		if got := strings.Join(f.Columns(w.schema.Find(name, 0)), " "); got != want {
			t.Errorf("%s: columns %q, want %q", name, got, want)
		}
	}
	if f.CanMatch(w.schema.Find("C_PONG", 0)) || !f.CanMatch(w.schema.Find("C_CHAT", 0)) || f.CanMatch(nil) || f.Everything() {
		t.Error("it can match what it cannot")
	}
}

// TestCompared checks the path compared with the value at the caret, |.
func TestCompared(t *testing.T) {
	for _, c := range []struct {
		text, path string
		start      int
	}{
		{"|", "", 0},
		{"C_CHAT.message == |", "C_CHAT.message", 18},
		{"C_CHAT.message == lf|", "C_CHAT.message", 18},
		{`C_CHAT.message == "lfg pa|rty"`, "C_CHAT.message", 18},
		{`x == 1 && .message != "|`, ".message", 22},
		{".level in {1, 2|", ".level", 14},
		{".level not in {1..|", ".level", 18},
		{".level in {1, 2} && |", "", 20},
		{".level |", "", 7},
		{".members[0].name eq |", ".members[0].name", 20},
		{`.message contains "a|`, "", 20},
		{`"a|`, "", 2},
		{".level == 5 |", "", 12},
		{strings.Repeat(" ", filter.MaxText) + ".a == |", "", filter.MaxText + 6},
	} {
		caret := strings.IndexByte(c.text, '|')
		path, start := filter.Compared(c.text[:caret]+c.text[caret+1:], caret)
		if path != c.path || path != "" && start != c.start {
			t.Errorf("%s: %q from %d, want %q from %d", c.text, path, start, c.path, c.start)
		}
	}
}
