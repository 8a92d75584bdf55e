package captures

import (
	"strings"
	"testing"

	"wirebench/codec/packet"
)

func TestWithoutFrames(t *testing.T) {
	for want, sum := range map[string]packet.Summary{
		"there are no packets in this capture":                          {},
		"1 packet, and no frame of the protocol in them":                {Packets: 1},
		"9 packets, and no frame of the protocol in them; left out are": {Packets: 9, Unserved: 7, NotIP: 2},
	} {
		if got := withoutFrames(sum); !strings.HasPrefix(got, want) {
			t.Errorf("%+v: %s", sum, got)
		}
	}
}
