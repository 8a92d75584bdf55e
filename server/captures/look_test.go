package captures

import (
	"strings"
	"testing"

	"wirebench/codec/packet"
)

func TestWithoutFrames(t *testing.T) {
	for want, sum := range map[string]packet.Summary{
		"the capture has no packets":                                {},
		"read as TERA, there are no frames in 1 packet":             {Packets: 1},
		"read as TERA, there are no frames in 9 packets; skipped: ": {Packets: 9, Unserved: 7, NotIP: 2},
	} {
		if got := withoutFrames("TERA", sum); !strings.HasPrefix(got, want) {
			t.Errorf("%+v: %s", sum, got)
		}
	}
}
