package paste

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"wirebench/defs/schema"
)

// Lines of logs: bytes in several notations among times, directions, names and words.
func TestHexAmongWords(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		notes            int
	}{
		{"a label", "it failed\ndata: 1600f9bc0a00d204\nat main\n", "1600f9bc0a00d204", 2},
		{"time and direction", "12:00:01.5 [C->S] 16 00 f9 bc 0a\n12:00:02 [S->C] 02 00\n", "c2s 12:00:01.500 1600f9bc0a; s2c 12:00:02.000 0200", 0},
		{"date", "2026-11-20 12:00:00 recv: 1600f9bc0a00\n", "s2c 2026-11-20T12:00:00Z 1600f9bc0a00", 0},
		{"names", "send S_LOGIN 16 00 f9 bc\nrecv C_MOVE 02 00\n", "c2s S_LOGIN 1600f9bc; s2c C_MOVE 0200", 0},
		{"words that are directions by repetition", "conn 5 in 16 00 f9 bc\nconn 6 out 02 00\n", "s2c 1600f9bc; c2s 0200", 0},
		{"of two words that are directions the first", "in c2s 16 00 f9 bc\nout s2c 02 00 aa bb\n", "s2c 1600f9bc; c2s 0200aabb", 0},
		{"a word that is no direction", "failed in line 16 00 f9 bc\n", "1600f9bc", 0},
		{"below a label", "recv S_HELLO:\n16 00 f9 bc 0a 00\n72 00\n\nsend C_BYE:\n16 00 f9 bc\n", "s2c S_HELLO 1600f9bc0a007200; c2s C_BYE 1600f9bc", 0},
		{"indented continuation", "data: 16 00 f9 bc\n      72 00\n", "1600f9bc7200", 0},
		{"after the bytes", "16 00 f9 bc 0a 00 d2 04 from the server\n", "1600f9bc0a00d204", 0},
		{"comments", "16 00 f9 bc ; hello\n02 00 aa bb ; bye\n", "1600f9bc; 0200aabb", 0},
		{"base64", "payload=AQL/gAECAwQ=\npayload=AQL/gA==\n", "0102ff8001020304; 0102ff80", 0},
		{"0x before", "msg 0x1600f9bc0a00\n", "1600f9bc0a00", 0},
		{"colons", "got 16:00:f9:bc:0a\n", "1600f9bc0a", 0},
		{"a UUID and a MAC are not bytes", "id 550e8400-e29b-41d4-a716-446655440000\nmac 00:1a:2b:3c:4d:5e\ndata 1600f9bc0a00\n", "1600f9bc0a00", 1},
		{"commas of a log", "12:00:01,send,1600f9bc0a00d204 trailing\n", "1600f9bc0a00d204", 0},
	} {
		p, err := Recognise(c.text)
		if err != nil || p.Form != formLogLines || show(p) != c.want || len(p.Notes) != c.notes {
			t.Errorf("%s: %v %+v\nwant %s", c.name, err, p, c.want)
			continue
		}
		if again, err := RecogniseAs(c.text, p.Form); err != nil || show(again) != c.want {
			t.Errorf("%s: %v %v", c.name, again, err)
		}
	}
	for _, text := range []string{"hello there", "0102ff0a0b\n\n05f\n", "see 1.2.3.4 and facade", "version 12 00 34", "16 00 f9 bc 0a 00\n16 00 f9 bc 0g 00\n"} {
		if p, err := Recognise(text); err == nil {
			t.Errorf("%q: read as %s: %s", text, p.Form, show(p))
		}
	}
}

// Logs with random bytes, times, directions and words come back, and every line that has none is named.
func TestLogsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	formats := []func(b []byte) string{
		func(b []byte) string { return hex.EncodeToString(b) },
		func(b []byte) string { return fmt.Sprintf("% x", b) },
		func(b []byte) string { return fmt.Sprintf("% X", b) },
		func(b []byte) string { return strings.ReplaceAll(fmt.Sprintf("% x", b), " ", ":") },
		func(b []byte) string { return "[" + strings.ReplaceAll(fmt.Sprintf("% x", b), " ", ", ") + "]" },
		func(b []byte) string { return `"` + hex.EncodeToString(b) + `"` },
		func(b []byte) string { return "0x" + hex.EncodeToString(b) },
		func(b []byte) string { return joinBytes(b, " ", format("0x%02x")) },
	}
	heads := []func(dir schema.Dir, i int) string{
		func(dir schema.Dir, i int) string {
			return fmt.Sprintf("[12:00:%02d] %s packet: ", i, []string{"", "send", "recv"}[dir])
		},
		func(dir schema.Dir, i int) string {
			return fmt.Sprintf("2026-11-20 12:00:%02d.250 INFO conn=7 %s ", i, []string{"", "[C->S]", "[S->C]"}[dir])
		},
		func(dir schema.Dir, i int) string {
			return fmt.Sprintf("%s 12:00:%02d.000001 ", []string{"", ">>", "<<"}[dir], i)
		},
	}
	for round := range 200 {
		spell, head := formats[r.IntN(len(formats))], heads[r.IntN(len(heads))]
		var text strings.Builder
		var want []string
		left := 0
		for i := range 3 + r.IntN(20) {
			b := make([]byte, 9+r.IntN(40))
			for k := range b {
				b[k] = byte(r.Uint32())
			}
			b[0], b[1] = 0x1a, 0xf9
			dir := schema.ToServer + schema.Dir(r.IntN(2))
			if r.IntN(4) == 0 {
				text.WriteString("connection is idle since the last check\n\n")
				left++
			}
			text.WriteString(head(dir, i) + spell(b) + "\n")
			want = append(want, fmt.Sprintf("%s 12:00:%02d %x", dir, i, b))
		}
		p, err := Recognise(text.String())
		if err != nil {
			t.Fatalf("round %d: %v\n%s", round, err, text.String())
		}
		var got []string
		for _, m := range p.Messages {
			at := m.Time.String()
			k := strings.Index(at, "12:00:")
			if k < 0 {
				t.Fatalf("no time: %+v\n%s", m, text.String())
			}
			got = append(got, fmt.Sprintf("%s %s %x", m.Dir, at[k:k+8], m.Bytes))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") || len(p.Notes) != left {
			t.Fatalf("round %d, as %s\n got %s\nwant %s\nnotes %v, want %d\n%s", round, p.Form, strings.Join(got, "\n"), strings.Join(want, "\n"), p.Notes, left, text.String())
		}
	}
}

// Dumps in boxes and of relays, with words around them.
func TestDumpsOfPrograms(t *testing.T) {
	netty := "Decoder failed with contents:\n" +
		"         +-------------------------------------------------+\n" +
		"         |  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f |\n" +
		"+--------+-------------------------------------------------+----------------+\n" +
		"|00000000| 41 42 7c 00 41 42 43 44 41 42 43 44 41 42 43 44 |AB|.ABCDABCDABCD|\n" +
		"|00000010| 61 62                                           |ab              |\n" +
		"+--------+-------------------------------------------------+----------------+\n"
	hexyl := "┌────────┬─────────────────────────┬─────────────────────────┬────────┬────────┐\n" +
		"│00000000│ 41 42 7c 00 41 42 43 44 ┊ 41 42 43 44 41 42 43 44 │AB|⋄ABCD┊ABCDABCD│\n" +
		"│00000010│ 61 62                   ┊                         │ab      ┊        │\n" +
		"└────────┴─────────────────────────┴─────────────────────────┴────────┴────────┘\n"
	wow := "ClientToServer: CMSG_PING Length: 18\n" +
		"|-------------------------------------------------|---------------------------------|\n" +
		"| 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F | 0 1 2 3 4 5 6 7 8 9 A B C D E F |\n" +
		"|-------------------------------------------------|---------------------------------|\n" +
		"| 41 42 7C 00 41 42 43 44 41 42 43 44 41 42 43 44 | A B | . A B C D A B C D A B C D |\n" +
		"| 61 62                                           | a b                             |\n" +
		"|-------------------------------------------------|---------------------------------|\n"
	socat := "> 2026/11/20 12:00:00.000001  length=18 from=0 to=17\n" +
		" 41 42 7c 00 41 42 43 44 41 42 43 44 41 42 43 44  AB|.ABCDABCDABCD\n 61 62                                            ab\n--\n" +
		"< 2026/11/20 12:00:01.000001  length=2 from=0 to=1\n 61 62                                            ab\n--\n"
	ngrep := "T 10.0.0.1:4000 -> 10.0.0.2:80 [AP]\n" +
		"  41 42 7c 00 41 42 43 44    41 42 43 44 41 42 43 44    AB|.ABCDABCDABCD\n  61 62                                              ab\n"
	hxd := "Offset(h) 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F\n\n" +
		"00000000  41 42 7C 00 41 42 43 44 41 42 43 44 41 42 43 44  AB|.ABCDABCDABCD\n00000010  61 62                                            ab\n"
	const all = "41427c0041424344414243444142434461" + "62"
	for name, c := range map[string]struct {
		text, want string
		notes      int
	}{
		"Netty":           {netty, all, 0},
		"Netty, two":      {netty + netty, all + "; " + all, 0},
		"Netty, a trace":  {netty + "\tat net.example.Decoder.decode(Decoder.java:68)\n", all, 1},
		"hexyl":           {hexyl, all, 0},
		"WowPacketParser": {wow, "c2s " + all, 0},
		"socat":           {socat, "c2s 2026-11-20T12:00:00.000001Z " + all + "; s2c 2026-11-20T12:00:01.000001Z 6162", 0},
		"ngrep":           {ngrep, all, 0},
		"HxD":             {hxd, all, 0},
		"labels of dumps": {"recv 5 bytes:\n0000  41 42 43 44 45  ABCDE\nsend 3 bytes:\n0000  61 62 63  abc\n", "s2c 4142434445; c2s 616263", 0},
	} {
		for _, text := range []string{c.text, strings.ReplaceAll(c.text, "\n", "\r\n")} {
			p, err := Recognise(text)
			if err != nil || show(p) != c.want || len(p.Notes) != c.notes {
				t.Errorf("%s: %v %+v\nwant %s", name, err, p, c.want)
				continue
			}
			if again, err := RecogniseAs(text, p.Form); err != nil || show(again) != c.want {
				t.Errorf("%s as %s: %v %v", name, p.Form, again, err)
			}
		}
	}
}
