package page

import (
	"regexp"
	"testing"

	"wirebench/defs/envelope"
	"wirebench/defs/source"
)

// The example is valid as it is, and with all its statements.
func TestExampleEnvelope(t *testing.T) {
	all := regexp.MustCompile(`(?m)^# (compress|cipher|state|  )`).ReplaceAllString(exampleEnvelope, "$1")
	if all == exampleEnvelope {
		t.Fatal("no statement is a comment")
	}
	for _, text := range []string{exampleEnvelope, all} {
		if _, wrong := envelope.Parse(source.New("protocol.envelope", text)); len(wrong) > 0 {
			t.Errorf("%v\n%s", wrong, text)
		}
	}
}
