package workspace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"wirebench/codec/scan"
	"wirebench/codec/view"
	"wirebench/defs/schema"
)

// AppendLine appends the bytes of a message in a line of text: hex, hex as a JSON string, or an object with "hex" and optionally "dir" and
// "group", as frames --json and encode --json print it. Those override the request. If the line is wrong, problem has the reason; Code is
// "" otherwise.
func (req *Request) AppendLine(data, line []byte) (_ []byte, problem view.ProblemInfo) {
	wrong := func(code string, err error) ([]byte, view.ProblemInfo) {
		return data, view.ProblemInfo{Severity: "error", Code: code, Message: err.Error()}
	}
	switch text := bytes.TrimSpace(line); {
	case len(text) == 0:
	case text[0] == '"':
		var s string
		if err := json.Unmarshal(text, &s); err != nil {
			return wrong("not-json", err)
		}
		line = []byte(s)
	case text[0] == '{':
		var one struct {
			FrameInfo
			Hex   *string `json:"hex"`
			Group string  `json:"group"`
			Used  int     `json:"used"`
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		err := d.Decode(&one)
		if _, more := d.Token(); err == nil && !errors.Is(more, io.EOF) {
			err = errors.New("there is more after the object")
		}
		switch dir := schema.DirNamed(one.Dir); {
		case err != nil:
			return wrong("not-json", err)
		case len(one.Problems) > 0 && one.Hex == nil:
			return wrong("no-message", errors.New("the line has no bytes, but a problem: "+one.Problems[0].Message))
		case one.Hex == nil:
			return wrong("no-message", errors.New(`the object has no "hex"`))
		case one.Kind != "" && one.Kind != "message":
			return wrong("no-message", fmt.Errorf("a frame of kind %q is not a message", one.Kind))
		case one.Dir != "" && dir == schema.Both:
			return wrong("not-json", fmt.Errorf(`"dir" is c2s or s2c, not %q`, one.Dir))
		case one.Dir != "":
			req.Dir = dir
		}
		if one.Group != "" {
			req.Group = one.Group
		}
		line = []byte(*one.Hex)
	}
	data, err := scan.AppendHexLine(data, line)
	if err != nil {
		return wrong("not-hex", err)
	}
	return data, view.ProblemInfo{}
}
