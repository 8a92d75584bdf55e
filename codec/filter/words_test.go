package filter_test

import (
	"strings"
	"testing"

	"wirebench/codec/filter"
)

// TestWords checks that each word of Wireshark alone is translated to a filter of this language, or refused with its reason.
func TestWords(t *testing.T) {
	w := fight(t)
	for _, word := range filter.Words() {
		text, family := strings.CutSuffix(word.Name, ".")
		if family {
			text += ".zzzz"
		}
		f, mistakes := filter.Compile(text, w.env)
		switch {
		case word.Why != "":
			if len(mistakes) == 0 || !strings.Contains(mistakes[0].Message, word.Why) {
				t.Errorf("%s: %v, want %s", text, mistakes, word.Why)
			}
		case len(mistakes) > 0: // it is exact in some conditions only
			if word.Here != "bytes" && word.Here != "mark" {
				t.Errorf("%s: %v", text, mistakes)
			}
		default:
			again, mistakes := filter.Compile(f.Translated(), w.env)
			if f.Translated() == "" || len(mistakes) > 0 || again.Rewritten() != "" {
				t.Errorf("%s is %s, which is not of this language: %s %v", text, f.Translated(), again.Rewritten(), mistakes)
			}
		}
	}
}

// TestAddresses checks comparisons with addresses, networks of every width, and ranges.
func TestAddresses(t *testing.T) {
	w := fight(t)
	frames := fightFrames(t, w) // c and g are sent by 127.0.0.1 to 10.0.0.2, u and v have IPv6
	for _, c := range []struct{ text, want string }{
		{"dstip == 10.0.0.2", "cg"},
		{"dstip == 10.0.0.0/8", "cg"},
		{"dstip == 10.0.0.2/31", "cg"},
		{"dstip == 10.0.0.0/31", ""},
		{"dstip == 8.0.0.0/6", "cg"},
		{"ip == 0.0.0.0/0", "c12fpg"},
		{"ip == ::/0", "uv"},
		{"ip == ::1", "uv"},
		{"ip == 0:0:0:0:0:0:0:1", "uv"},
		{"ip == ::/127", "uv"},
		{"ip == ::2/127", ""},
		{"dstip in {10.0.0.1..10.0.0.3}", "cg"},
		{"dstip in {10.0.0.3..10.0.0.9, 127.0.0.0/8}", "12fp"},
		{"dstip not in {10.0.0.1..10.0.0.3}", "12fpuv"},
		{"dstip > 10.0.0.1", "c12fpg"},
		{"dstip > 10.0.0.2", "12fp"},
		{"dstip <= 10.0.0.2", "cg"},
		{"dstip < 0.0.0.0", ""},
		{"dstip >= ::", "uv"},
		{"ip != 10.0.0.2", "uv"},
		{"all ip == 127.0.0.0/8", ""},
		{`dstip ~ "^10\\."`, "cg"},
		{`dstip contains "10."`, "cg"},
		{"dst == 10.0.0.0/8", "cg"},
		{"ipver == 6", "uv"},
		{"ip in {10.0.0.9..10.0.0.1}", "!before its start"},
		{"ip in {10.0.0.1..::1}", "!two kinds"},
		{`ip == "10.0.0"`, "!not an address"},
		{"ip == 10.8.0", "!an address is 10.8.0.1"},
		{"ip.addr == ::1", "!IPv4"},
		{"ip == 10.0.0.0/33", "!"},
		{"len > 1 or 10001", "!repeat the field"},
		{`name == "A" or "B"`, "!in {"},
		{"op in {1, 2} or 3", "!in {"},
	} {
		f, mistakes := filter.Compile(c.text, w.env)
		if why, wrong := strings.CutPrefix(c.want, "!"); wrong {
			if len(mistakes) == 0 || !strings.Contains(mistakes[0].Message+mistakes[0].Help, why) {
				t.Errorf("%s: %v, want %s", c.text, mistakes, why)
			}
			continue
		}
		if len(mistakes) > 0 {
			t.Errorf("%s: %v", c.text, mistakes)
			continue
		}
		if got := matching(t, w, frames, fightOrder, f); got != c.want {
			t.Errorf("%s: matches %q, want %q", c.text, got, c.want)
		}
	}
}

// TestFormsOfWireshark checks the comparisons, slices and functions of Wireshark, with its meaning.
func TestFormsOfWireshark(t *testing.T) {
	w := raidWorld(t)
	judgeStated(t, w, raidFrames(t, w), raidOrder, []stated{
		// Of g the levels are 60 and 7, of a the values 376012 and 9.
		{".level === 60", ""},
		{".level === 7 || .version.index >= 0", "a"},
		{".buffs all_eq 2", ""},
		{"all .level >= 7", "g"},
		{".level !== 60", "g"},
		{".level any_ne 60", "g"},
		{".level ~= 60", "g"},
		{".level any_eq 60", "g"},
		{".level all_ne 60", ""},
		{".level all_ne 61", "g"},
		{"any .level === 60", "g"},
		{"all .level any_eq 60", ""},
		{".level !== .level", "g"},
		{".channel === .id", "e"},

		{`.message[:3] == "lfg"`, "d"},
		{`.message[0,2] == "lg"`, "d"},
		{`.message[0,4:2,-1] == "lpay"`, "d"},
		{`.message[-4:] == "Lann"`, "e"},
		{`.message[-4:2] == "La"`, "e"},
		{`.message[-4--3] == "La"`, "e"},
		{`.message[:] == "LFG Lann"`, "e"},
		{`.message[0,99] == "l"`, ""},
		{"bytes[:4] == 08:00:d3:26", "k"},
		{"bytes[ 1-3 , 0 ] == 00:d3:26:08", "k"},
		{"bytes[0,2] in {08:d3}", "k"},
		{"bytes[0] == 8", "k"},
		{`.members[0].name[:2,-1] == "Lan"`, "g"},
		{"bytes«[-4-3]» == 1", "!one end is counted from the start"},
		{"bytes«[1--1]» == 1", "!one end is counted from the start"},
		{"bytes«[-3--4]» == 1", "!the end is before the start"},
		{"bytes«[:0]» == 1", "!a length of 0"},
		{"bytes«[:-2]» == 1", "!a length of -2"},
		{"bytes«[0,]» == 1", "!not understood"},
		{"bytes«[-0]» == 1", "!not understood"},
		{".members«[0,1]».level == 7", "!a part of a list"},

		{"max(.level) == 60", "g"},
		{"min(.level) == 7", "g"},
		{"max(.level + 1) == 61", "g"},
		{"max(.level) - min(.level) == 53", "g"},
		{"max(.level, .channel) > 59", "eg"},
		{"min(.level, 3) == 3", raidOrder},
		{"max(min(.level), .version.index, 2) == 7", "g"},
		{"max(.level) == max(.level, .buffs)", "g"},
		{"max(.level) in {60..61}", "g"},
		{"all max(.level) > .buffs", "g"},
		{`max(time) > "2026-11-20"`, raidOrder},
		{"max(len, 40) > 40", "ghi"},
		{"max(«.message») == 3", "!max takes numbers and times"},
		{"max(«ip») == 3", "!max takes numbers and times"},
		{"max(time, «len») > 1", "!max takes values of one kind"},
		{"«max()» > 1", "!max takes one value to 64"},
		{"abs(.loc.y) == 2", "bgi"},
		{"abs(.loc.y) == 2.0 && .loc.y < 0", "bi"},
		{"abs(.level - 10) == 3", "g"},
		{"abs(«.message») == 3", "!abs takes a number"},
		{`string(.level) == "60"`, "g"},
		{`string(n) matches "^1[01]$"`, "jk"},
		{`string(n)[:1] == "1" and n > 1`, "jkl"},
		{`string(.level)[-1] == "7"`, "g"},
		{`string(srcip) contains "127.0"`, "abcd"},
		{`string(«.loc.y») == "2"`, "!string takes integers and addresses, as in Wireshark"},
		{`string(«.message») == "2"`, "!string takes integers and addresses, as in Wireshark"},
		{`string(.level)«[*]» == "7"`, "!brackets take one part"},
		{`lower(.message)[:3] == "lfg"`, "de"},

		// Words of Wireshark in these forms.
		{"tcp.port === 5000", ""},
		{"tcp.port !== 5000", "abcdefghi"},
		{"max(tcp.srcport, tcp.dstport) == 40001", "abcdefghi"},
		{"«max(tcp.srcport, udp.srcport)» == 40001", "!the arguments of max are in different packets"},
		{"«max(tcp.port, 5)» == 5", "!the arguments of max are in different packets"},
		{`string(ip.src) matches "^127\\.0"`, "abcd"},
		{`string(ip.src) > "1"`, "abcdefghi"},
		{"«frame[:4]» == 00:00:00:00", "!the list has the bytes of messages, not of packets (write bytes[:4]"},
		{"«frame[0,2]» == 00:00", "!write bytes[0,2]"},
		{"«tcp.payload[1-3]» contains 00", "!write bytes[1-3]"},
	})
}
