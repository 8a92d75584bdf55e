package library

import (
	"bytes"
	"encoding/json"
	"io/fs"
)

// samplesFile has the samples of a dialect, one JSON object per line. In addition to the fields of Sample, each has a recipe for its bytes.
const samplesFile = "samples.jsonl"

// Sample is a sample message.
type Sample struct {
	Message string `json:"message"` // NAME.VERSION of its definition
	Hex     string `json:"hex"`     // its bytes, lower case, without spaces
	About   string `json:"about"`   // one sentence about the message
	Status  string `json:"status"`  // result of decoding: "ok", or intentionally "incomplete" or "illegal"
}

// Samples returns the sample messages of a dialect in the order of a menu. The first start shows the first of them; intentionally broken
// ones come last.
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
			return out // an error in the file, which the tests report
		}
		out = append(out, s)
	}
	return out
}
