package packet

import (
	"slices"
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
