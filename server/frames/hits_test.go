package frames

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

func TestHits(t *testing.T) {
	files, _ := workspacetest.Dir(t, map[string]string{"C_A.1.def": "byte a\n"})
	home, _ := workspacetest.Dir(t, nil)
	snap := workspacetest.Open(t, workspace.Config{FirstTitle: "One", Files: files, Home: home}).Now()
	for _, c := range []struct {
		name, as, text, data string // data: hex
		fold                 bool
		want                 string // start+length of each
	}{
		{"hex", "hex", "48 ?? 6c", "48656c 00 48486c 48", false, "0+3 4+3"},
		{"half a byte", "hex", "4? 0.", "4109 4f00 5000", false, "0+2 2+2"},
		{"no overlap", "hex", "00 00", "0000000000", false, "0+2 2+2"},
		{"text in both encodings", "text", "hi", "6869 00 68006900 6869", false, "0+2 3+4 7+2"},
		{"text without case", "text", "HI", "6869 4849 6800 4900", true, "0+2 2+2 4+4"},
		{"text with case", "text", "HI", "6869 4849", false, "2+2"},
		{"a number in both orders", "value", "1000", "e803 03e8 000003e8 e8030000", false, "0+2 2+2 6+2 8+2"},
		{"a negative number", "value", "-2", "fe feff", false, "0+1 1+1"},
		{"a number as float", "value", "1.5", "0000c03f 3fc00000 000000000000f83f", false, "0+4 4+4 8+8"},
		{"the wider form", "value", "0x41", "41 00008242", false, "0+1 1+4"},
		{"nothing", "text", "", "00", false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, err := hex.DecodeString(strings.ReplaceAll(c.data, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			hits := (&FindQuery{Text: c.text, As: c.as, Fold: c.fold}).Hits(t.Context(), snap, data)
			var got []string
			at := 0
			for pair := range slices.Chunk(hits.At, 2) {
				got = append(got, fmt.Sprintf("%d+%d", at+pair[0], pair[1]))
				at += pair[0] + pair[1]
			}
			if strings.Join(got, " ") != c.want || hits.Count != len(got) || len(hits.Mistakes) > 0 || hits.Late {
				t.Errorf("got %v of %d, want %s; %v", got, hits.Count, c.want, hits.Mistakes)
			}
		})
	}
	hits := (&FindQuery{Text: "4 zz", As: "hex"}).Hits(t.Context(), snap, []byte{4})
	if len(hits.Mistakes) != 1 || hits.Mistakes[0].Start > 4 || hits.Mistakes[0].End > 4 {
		t.Errorf("mistakes: %+v", hits.Mistakes)
	}
	zeros := make([]byte, 1<<20)
	hits = (&FindQuery{Text: "00", As: "hex"}).Hits(t.Context(), snap, zeros)
	if hits.Count != len(zeros) || len(hits.At) != 2*maxHits {
		t.Errorf("%d hits, %d of them listed", hits.Count, len(hits.At)/2)
	}
	// A pattern that fails as late as possible at every byte ends in time.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	hits = (&FindQuery{Text: strings.Repeat("a", 4000) + "b", As: "text"}).Hits(ctx, snap, bytes.Repeat([]byte("a"), 1<<20))
	if hits.Count != 0 || !hits.Late {
		t.Errorf("%d hits, late: %v", hits.Count, hits.Late)
	}
}
