package library

import (
	"bytes"
	"encoding/json"
	"io/fs"
)

// samplesFile has the samples of a dialect, one JSON object a line. Beside what Sample has, each says how its bytes were made.
const samplesFile = "samples.jsonl"

// Sample is a message to look at.
type Sample struct {
	Message string `json:"message"` // NAME.VERSION of its definition
	Hex     string `json:"hex"`     // its bytes, lower case, without spaces
	About   string `json:"about"`   // one sentence for people: what there is to see
	Status  string `json:"status"`  // what decoding says: "ok", or what it is on purpose, "incomplete" or "illegal"
}

// Samples are the messages of one dialect, in the order of a menu: the first is what the first start shows, those that are
// broken on purpose come last. A dialect without any has none.
func Samples(name string) []Sample {
	fsys, ok := Dialect(name)
	if !ok {
		return nil
	}
	text, err := fs.ReadFile(fsys, samplesFile)
	if err != nil {
		return nil
	}
	var out []Sample
	for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
		var s Sample
		if d.Decode(&s) != nil {
			return out // a mistake in the file; the tests refuse it
		}
		out = append(out, s)
	}
	return out
}
