package value

import (
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"

	"wirebench/defs/schema"
)

// TestTextsAsJSON has every byte at every position of a short and of a longer text: plain characters are copied eight at a time.
func TestTextsAsJSON(t *testing.T) {
	for c := range 256 {
		for n := range 20 {
			for at := range n {
				b := []byte(strings.Repeat("a", n))
				b[at] = byte(c)
				want := strings.Repeat("a", at) + string(rune(c)) + strings.Repeat("a", n-at-1)
				wide := make([]byte, 2*n)
				for i, c := range b {
					binary.LittleEndian.PutUint16(wide[2*i:], uint16(c))
				}
				for set, text := range map[schema.Charset][]byte{schema.Latin1: b, schema.UTF8: []byte(want), schema.UTF16LE: wide} {
					var got string
					if err := json.Unmarshal(appendText(nil, text, set), &got); err != nil || got != want {
						t.Fatalf("%v: %x at %d of %d: %v, %q", set, c, at, n, err, got)
					}
				}
			}
		}
	}
}
