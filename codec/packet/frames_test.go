package packet

import (
	"slices"
	"strings"
	"testing"
)

func TestLeftOut(t *testing.T) {
	sum := Summary{Packets: 9, Unserved: 2, NotIP: 1}
	want := []string{"2 packets of connections of other protocols", "1 packet without IP"}
	if got := sum.LeftOut(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := (&Summary{Packets: 9, Frames: 9}).LeftOut(); got != nil {
		t.Errorf("capture with all frames: %q", got)
	}
}

func TestWithoutFrames(t *testing.T) {
	for want, sum := range map[string]Summary{
		"the capture has no packets":                                {},
		"read as TERA, there are no frames in 1 packet":             {Packets: 1},
		"read as TERA, there are no frames in 9 packets; skipped: ": {Packets: 9, Unserved: 7, NotIP: 2},
	} {
		if got := sum.WithoutFrames("TERA"); !strings.HasPrefix(got, want) {
			t.Errorf("%+v: %s", sum, got)
		}
	}
}

func TestIncomplete(t *testing.T) {
	for want, sum := range map[string]Summary{
		"": {Packets: 9},
		"1 packet has TCP data that belong to no st":   {Stray: 1},
		"7 packets have TCP data that belong to no st": {Stray: 7},
	} {
		if got := sum.Incomplete(); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%+v: %q", sum, got)
		}
	}
}
