package workspace

import (
	"encoding/hex"
	"testing"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// TestScores judges a frame of each kind.
func TestScores(t *testing.T) {
	lib := &Library{}
	for name, text := range map[string]string{
		"C_TWO.1.def": "string a\nstring b\n", "C_ONE.1.def": "int32 a\nint32 b\nstring s\n", "C_LIST.1.def": "array l\n- byte a\n", "protocol.1.map": "C_TWO 1\nC_ONE 2\nC_LIST 3\n",
	} {
		if err := lib.add(name, []byte(text), true); err != nil {
			t.Fatal(err)
		}
	}
	snap, err := Build(lib, Settings{Dialect: "tera"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ hex, want, why string }{
		{"10000100" + "0800" + "0c00" + "41000000" + "42000000", "clean", ""},
		{"10000100" + "0c00" + "0800" + "41000000" + "42000000", "differ", "the values are encoded as 16 other bytes of 16, from byte 4 on"},
		{"12000100" + "0800" + "0c00" + "41000000" + "42000000" + "ffff", "leftover", "2 bytes that the definition does not explain"},
		{"10000100" + "0800" + "ff00" + "41000000" + "42000000", "over", `offset 0xff of "b" is outside the frame of 16 bytes`},
		{"0e000200" + "0a00" + "01000000" + "4c000000", "doubtful", ""},
		{"0d000300" + "0200" + "0800" + "08000800" + "07", "differ", ""},
		{"04000900", "", ""},
	} {
		data, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		s := NewScorer(snap)
		s.Take("here", &transport.Frame{Kind: transport.Message, N: 7, Dir: schema.ToServer, HasKey: true, Key: schema.Key{Dir: schema.ToServer, Code: uint32(data[2])}, Bytes: data})
		scores := s.Scores()
		if c.want == "" {
			if len(scores) != 0 {
				t.Errorf("%s: %+v", c.hex, scores)
			}
			continue
		}
		x := scores[0]
		got := map[string]int{"clean": x.Clean, "leftover": x.Leftover, "over": x.Over, "differ": x.Differ, "doubtful": x.Doubtful}
		if x.Frames != 1 || got[c.want] != 1 || x.Clean+x.Leftover+x.Over+x.Differ+x.Doubtful != 1 {
			t.Errorf("%s: %+v, want %s", c.hex, x, c.want)
		}
		if (x.First == nil) != (c.want == "clean") || x.First != nil && (x.First.Frame != 7 || x.First.Capture != "here" || c.why != "" && x.First.Reason != c.why) {
			t.Errorf("%s: %+v", c.hex, x.First)
		}
	}
}
