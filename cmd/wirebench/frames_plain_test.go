package main

import (
	"bytes"
	"testing"
)

// Each byte at each place of a text is judged alone, whatever the others are.
func TestIsPlain(t *testing.T) {
	for size := 1; size <= 17; size++ {
		for at := range size {
			for c := range 256 {
				for _, other := range []byte{' ', 'a', '~'} {
					text := bytes.Repeat([]byte{other}, size)
					text[at] = byte(c)
					if got, want := isPlain(text), c >= 0x20 && c < 0x7F; got != want {
						t.Fatalf("%q: %v", text, got)
					}
				}
			}
		}
	}
}
