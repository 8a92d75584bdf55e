package workspace

import (
	"errors"
	"fmt"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/schema"
)

// ErrNoCode is a message whose code nothing tells.
var ErrNoCode = errors.New("unknown message code")

// Encoder encodes values of one message, one after another. One goroutine at a time.
type Encoder struct {
	program *codec.Program
	code    uint32
	session codec.Session
	in, out codec.Record
}

// Encoder makes an encoder for a message. code, if not nil, is used instead of the one of the definition or the code map. The
// counter of the session counts on with every message.
func (s *Snapshot) Encoder(m *schema.Message, code *uint32, session codec.Session) (*Encoder, error) {
	p, err := s.Program(m)
	if err != nil {
		return nil, err
	}
	e := &Encoder{program: p, code: m.Key.Code, session: session}
	switch {
	case code != nil:
		e.code = *code
	case !m.HasKey && p.NeedsCode():
		return nil, ErrNoCode
	}
	return e, nil
}

// Encode encodes a JSON object of values. The bytes are valid until the next call; with problems there are none.
func (e *Encoder) Encode(text []byte) ([]byte, []view.ProblemInfo) {
	if e.program.Message.Broken { // fields may be missing: the bytes would be wrong without a word
		return nil, []view.ProblemInfo{{Severity: "error", Code: codec.DefinitionErrors.String(), Message: "the definition has errors and cannot encode values"}}
	}
	if err := value.ParseJSON(&e.in, e.program, text); err != nil {
		return nil, valueProblems(err)
	}
	e.in.Code, e.in.Session = e.code, e.session
	if err := e.program.Encode(&e.out, &e.in); err != nil {
		return nil, []view.ProblemInfo{{Severity: "error", Code: "cannot-encode", Message: err.Error()}}
	}
	e.session.Counter++
	return e.out.Data, nil
}

// Record is the message encoded last, with its nodes. It is valid until the next Encode.
func (e *Encoder) Record() *codec.Record { return &e.out }

// valueProblems describes what ParseJSON refused.
func valueProblems(err error) []view.ProblemInfo {
	var values value.ValueErrors
	var syntax *value.SyntaxError
	switch {
	case errors.As(err, &values):
		out := make([]view.ProblemInfo, 0, len(values))
		for _, v := range values {
			out = append(out, view.ProblemInfo{Severity: "error", Code: v.Code, Message: v.Message, Path: v.Path})
		}
		return out
	case errors.As(err, &syntax):
		return []view.ProblemInfo{{Severity: "error", Code: "not-json", Message: fmt.Sprintf("column %d: %s", syntax.Offset+1, syntax.Message)}}
	}
	return []view.ProblemInfo{{Severity: "error", Code: "cannot-encode", Message: err.Error()}}
}

// EncodeValue encodes one value, with the code of its definition or of the code map unless one is given. The record is that of the message;
// it and the bytes are of this call alone.
func (s *Snapshot) EncodeValue(m *schema.Message, code *uint32, value []byte) ([]byte, *codec.Record, []view.ProblemInfo, error) {
	enc, err := s.Encoder(m, code, codec.Session{Counter: 1})
	if err != nil {
		return nil, nil, nil, err
	}
	data, problems := enc.Encode(value)
	return data, enc.Record(), problems, nil
}
