package paste

import (
	"strings"
	"testing"
	"time"
)

func TestPattern(t *testing.T) {
	const text = "12:00:01 tx #4 PING len 4: 16 00 f9 bc\nidle\n12:00:02 rx #5 PONG len 2: 02-00\n12:00:03 rx #6 BAD len 2: 0g\n"
	const pattern = `^(?<time>\S+) (?<dir>tx|rx) #(?P<seqno>\d+) (?<name>\w+) len \d+: (?<data>.*)$`
	p, err := ParsePattern(pattern)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Read(text)
	if err != nil || show(got) != "c2s 12:00:01.000 PING #4 1600f9bc; s2c 12:00:02.000 PONG #5 0200" || got.Form != "pattern" {
		t.Errorf("%v %+v", err, got)
	}
	if len(got.Notes) != 2 || !strings.Contains(got.Notes[0].Message, `"idle"`) || !strings.Contains(got.Notes[1].Message, "this match was not read") {
		t.Errorf("%v", got.Notes)
	}
	if p, err = ParsePattern(`b=(?<base64>\S+)`); err != nil {
		t.Fatal(err)
	}
	if got, err = p.Read("b=AQL/gA== b=BQY="); err != nil || show(got) != "0102ff80; 0506" {
		t.Errorf("%v %+v", err, got)
	}
	if _, err := p.Read("nothing"); err == nil || !strings.Contains(err.Error(), "matches no bytes") {
		t.Error(err)
	}
	for pattern, why := range map[string]string{
		"(": "missing", "(?<data>.)(?<x>.)": `unknown group "x"`, ".": "one group of bytes", "(?<data>.)(?<base64>.)": "one group", strings.Repeat("a", MaxPattern+1): "at most",
	} {
		if _, err := ParsePattern(pattern); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%.20s: %v", pattern, err)
		}
	}
}

// A pattern that matches everywhere, and nothing, is bounded.
func TestHostilePatterns(t *testing.T) {
	text := strings.Repeat("aaaa 00 \n", 20_000)
	for _, pattern := range []string{`(?<data>)`, `(a*)*(?<data>b)`, `(?<data>[0-9]*)`, `((a|a)*)*$(?<data>x)`, `(.*)(.*)(.*)(.*)(?<data>x)`} {
		p, err := ParsePattern(pattern)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, _ = p.Read(text)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s took %v", pattern, took)
		}
	}
}

// FuzzPattern checks that no pattern panics on any text.
func FuzzPattern(f *testing.F) {
	f.Add(`^(?<dir>[<>]) (?<data>.*)$`, "> 00\n< 01\n")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p, err := ParsePattern(pattern)
		if err != nil {
			return
		}
		if got, err := p.Read(text); err == nil && len(got.Messages) == 0 {
			t.Error("no messages, and no error")
		}
	})
}
