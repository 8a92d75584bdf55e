package paste

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestBareHexOfAllLists: lists of numbers without a mark are in one base in all of a text, also those that have decimal digits only.
func TestBareHexOfAllLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		sep := []string{" ", ", "}[round%2]
		var text strings.Builder
		want := [][]byte{{0x2a, 0xff, 0x10, 0x20}}
		for range 1 + rng.IntN(5) {
			b := make([]byte, 4+rng.IntN(4))
			for i := range b {
				if b[i] = byte(rng.Uint32()); rng.IntN(2) == 0 {
					b[i] = byte(rng.IntN(10)<<4 | rng.IntN(10)) // decimal digits
				}
			}
			want = append(want, b)
		}
		rng.Shuffle(len(want), func(i, k int) { want[i], want[k] = want[k], want[i] })
		for _, b := range want {
			words := make([]string, len(b))
			for i := range b {
				words[i] = fmt.Sprintf("%02x", b[i])
			}
			fmt.Fprintf(&text, "send [%s]\n", strings.Join(words, sep))
		}
		res, err := Recognise(text.String())
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Messages) != len(want) {
			t.Fatalf("%d messages of\n%s", len(res.Messages), &text)
		}
		for i, m := range res.Messages {
			if string(m.Bytes) != string(want[i]) {
				t.Fatalf("message %d is %x of\n%s", i, m.Bytes, &text)
			}
		}
	}
}

// What is said of a list is what its numbers are.
func TestReasonOfLists(t *testing.T) {
	for text, want := range map[string]string{
		"[1, -2, 0x3]": "numbers from -128 to 255", "{0x01, 0xff}": "hex numbers", "($1F, $20)": "hex numbers", "[5f, 00]": "in hex without a mark", "[16, 22, 1]": "numbers from -128",
		"send [5f]\nsend [16 22]\nsend [0a ff]": "in hex without a mark", "db 26h, 01h": "directives", "<Buffer 0a 0b>": "Node.js", "$26, $27": "without brackets", "x = {}": "numbers from -128",
	} {
		if p, err := Recognise(text); err != nil || !strings.Contains(p.Why, want) {
			t.Errorf("%s: %+v %v, want %s", text, p, err, want)
		}
	}
}
