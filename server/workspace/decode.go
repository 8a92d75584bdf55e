package workspace

import (
	"fmt"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// Request says how to decode: by a definition, or by the code that the message carries.
type Request struct {
	Message *schema.Message // nil = by code
	Dir     schema.Dir
	Group   string
	Session codec.Session
	Fields  bool // every field with its place, too
}

// Decode decodes one message into rec and describes it. rec is left with the program that was used.
func (s *Snapshot) Decode(rec *codec.Record, data []byte, req Request) codec.Result {
	m := req.Message
	known := m != nil
	if !known {
		m = s.byCode(rec, data, req)
		if m == nil {
			return s.unknown(rec, data, req)
		}
	}
	p, err := s.Program(m)
	if err != nil {
		return ErrorResult("bad-definition", err.Error())
	}
	rec.Session = req.Session
	p.Decode(rec, data)
	return rec.Result(req.Fields)
}

// byCode finds the definition for the code that a message carries, nil if there is none.
func (s *Snapshot) byCode(rec *codec.Record, data []byte, req Request) *schema.Message {
	if s.Dialect.Frame == nil {
		return nil
	}
	p, err := s.Program(s.Dialect.Frame)
	if err != nil {
		return nil
	}
	p.Decode(rec, data)
	if !rec.HasCode() {
		return nil
	}
	return s.Schema.Lookup(schema.Key{Dir: req.Dir, Group: req.Group, Code: rec.Code})
}

// unknown describes a message without a definition by what every message starts with.
func (s *Snapshot) unknown(rec *codec.Record, data []byte, req Request) codec.Result {
	if s.Dialect.Frame == nil {
		return ErrorResult("no-message", "the message cannot be told by its bytes alone: name its definition")
	}
	p, err := s.Program(s.Dialect.Frame)
	if err != nil {
		return ErrorResult("bad-definition", err.Error())
	}
	p.Decode(rec, data)
	res := rec.Result(req.Fields)
	res.Message, res.Version, res.Value = "", 0, nil
	if res.Status != codec.OK.String() {
		return res // not even the frame is whole
	}
	res.Status = "unknown"
	kept := res.Problems[:0]
	for _, pr := range res.Problems {
		if pr.Code != codec.Unexplained.String() { // the rest is not explained, of course
			kept = append(kept, pr)
		}
	}
	res.Problems = append(kept, codec.ProblemInfo{
		Severity: "warning", Code: "unknown-message", Message: s.whyUnknown(rec.Code), BitOffset: 0, BitLength: uint32(res.Used) * 8,
	})
	return res
}

// whyUnknown says what is missing: the name of the code, or the definition of the name.
func (s *Snapshot) whyUnknown(code uint32) string {
	for name, c := range s.Options.Codes {
		if c == code {
			return fmt.Sprintf("code %d (0x%04X) is %s, which has no definition", code, code, name)
		}
	}
	if len(s.Options.Codes) == 0 {
		return fmt.Sprintf("no definition for code %d (0x%04X): without a code map, name the message", code, code)
	}
	return fmt.Sprintf("no definition for code %d (0x%04X)", code, code)
}

// ErrorResult is the result for a message that could not even be looked at.
func ErrorResult(code, message string) codec.Result {
	return codec.Result{Status: "error", Problems: []codec.ProblemInfo{{Severity: "error", Code: code, Message: message}}}
}
