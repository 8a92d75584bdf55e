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
