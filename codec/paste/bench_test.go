package paste

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkRecognise(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	raw := make([]byte, 1<<20)
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	for _, c := range []struct{ name, text string }{
		{"hex", hex.EncodeToString(raw)},
		{"hex_wrapped", wrap(hex.EncodeToString(raw), 60)},
		{"hex_spaced", fmt.Sprintf("% x", raw)},
		{"base64", base64.StdEncoding.EncodeToString(raw)},
		{"xxd", dumpSpecs["xxd"].render(raw)},
		{"hexdump-C", dumpSpecs["hexdump -C"].render(raw)},
		{"od-tx2", dumpSpecs["od -tx2"].render(raw)},
		{"follow-hex", dumpSpecs["Follow"].render(raw)},
		{"c-array", renderers["C"](raw)},
		{"json", fmt.Sprintf(`{"hex":"%x"}`, raw)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				if _, err := Recognise(c.text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
