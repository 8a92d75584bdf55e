package workspace

import (
	"fmt"

	"wirebench/codec"
	"wirebench/codec/view"
	"wirebench/defs/build"
	"wirebench/defs/source"
)

// maxGuessed is the number of messages of one input whose fields are guessed.
const maxGuessed = 100

// guessed describes a message that nothing identifies by a definition that is guessed from its bytes, if the language allows that.
func (s *Snapshot) guessed(rec *codec.Record, data []byte, req Request) (res view.Result, ok bool) {
	edits := s.Dialect.Edits
	if !req.Guess || edits == nil || edits.Guess == nil {
		return res, false
	}
	text, ok := edits.Guess("Guess", data)
	if !ok {
		return res, false
	}
	set := build.New(s.Dialect.Rules, []*source.File{source.New("guess"+s.Dialect.Ext, text)}, s.Options).Schema()
	if len(set.Messages) == 0 {
		return res, false
	}
	m := *set.Messages[0]
	m.Name, m.Version = "", 0
	p, err := codec.Compile(&m)
	if err != nil {
		return res, false
	}
	rec.Session = req.Session
	p.Decode(rec, data)
	if req.Brief {
		res = view.Summary(rec)
	} else {
		res = view.Of(rec, req.Fields)
	}
	res.Status, res.Guess = "unknown", text
	for i := range res.Problems {
		res.Problems[i].Line = 0
	}
	for i := range res.Fields {
		res.Fields[i].Line = 0 // of a text that is not stored
	}
	why := "no definition is named, and the bytes do not tell it: the fields are guessed"
	if left := len(data) - res.Used; left > 0 {
		why += fmt.Sprintf(", but for the last %d bytes", left)
	}
	res.Problems = append(res.Problems, view.ProblemInfo{Severity: "warning", Code: "unknown-message", Message: why, BitLength: uint32(res.Used) * 8})
	return res, true
}
