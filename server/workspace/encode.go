package workspace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/codec/view"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// ErrNoCode reports that neither the definition, the code map nor the caller provides the code of a message.
var ErrNoCode = errors.New("unknown message code")

// Deprecated is the code of problems with definitions that are not valid for the version of the game.
const Deprecated = "deprecated"

// Encoder encodes values of one message, one after another. It must not be used concurrently.
type Encoder struct {
	program *codec.Program
	code    uint32
	session codec.Session
	in, out codec.Record
	base    codec.Record
	over    value.Over

	header *envelope.Header // of a message behind one
	behind *Encoder         // for values with fields of the header that the message may have; nil: there is none
	forms  []*Encoder       // of an envelope with several forms of headers: those for values that state the constants of another one
	last   *Encoder         // the one that encoded
	open   []transport.Open
}

// Encoder returns an encoder for a message. code, if not nil, overrides the code of the definition or the code map. The counter of the
// session increases with every message.
func (s *Snapshot) Encoder(m *schema.Message, code *uint32, session codec.Session) (*Encoder, error) {
	e, err := s.encoder(m, code, session)
	if err != nil || s.Envelope == nil || !s.Envelope.Forms {
		return e, err
	}
	plain := m
	if m.AlternateOf != nil {
		plain = m.AlternateOf
	}
	for _, h := range s.Envelope.HeadersOf(m.Key) {
		behind := s.Behind(h, plain)
		if behind == plain || behind == m {
			continue
		}
		form, err := s.encoder(behind, code, session)
		if err != nil {
			return nil, err
		}
		e.forms = append(e.forms, form)
	}
	return e, nil
}

// encoder returns an encoder for a message with one form of headers.
func (s *Snapshot) encoder(m *schema.Message, code *uint32, session codec.Session) (*Encoder, error) {
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
	e.last = e
	if e.header = s.headerOf(m); s.Envelope != nil && m.AlternateOf == nil {
		if behind := s.Alternate(m); behind != m {
			e.behind, err = s.encoder(behind, code, session)
		}
	}
	return e, err
}

// Encode encodes a JSON object of values. The bytes are valid until the next call, and nil if there are problems.
func (e *Encoder) Encode(text []byte) ([]byte, []view.ProblemInfo) { return e.EncodeOver(text, nil) }

// EncodeOver is Encode over the bytes that the values come from, which keep what is the same: see codec.Program.EncodeOver. Without bytes it is
// Encode.
func (e *Encoder) EncodeOver(text, base []byte) ([]byte, []view.ProblemInfo) {
	if e.program.Message.Broken { // fields may be missing, and the bytes would silently be wrong
		return nil, []view.ProblemInfo{{Severity: "error", Code: codec.DefinitionErrors.String(), Message: "the definition has errors and cannot encode values"}}
	}
	if why := e.program.Message.ReadOnly; why != "" {
		return nil, []view.ProblemInfo{{Severity: "error", Code: Deprecated, Message: why}}
	}
	e.last, e.open = e, nil
	if own := cmp.Or(e.behind, e); len(e.forms) > 0 && own.header != nil && contradicts(own.header, own.program.Message, text) {
		for _, f := range e.forms {
			if !contradicts(f.header, f.program.Message, text) {
				e.last = f
				return f.Encode(text)
			}
		}
	}
	if e.header != nil {
		text, e.open, _ = fillHeader(e.header, e.program.Message, text)
	} else if e.behind != nil {
		if _, _, has := fillHeader(e.behind.header, e.behind.program.Message, text); has {
			e.last = e.behind
			return e.behind.EncodeOver(text, base)
		}
	}
	var from *codec.Record
	if base != nil {
		e.base.Session = e.session
		e.program.Decode(&e.base, base)
		from = &e.base
	}
	if err := e.over.Values(&e.out, &e.in, e.program, text, from, e.code, e.session); err != nil {
		return nil, valueProblems(err)
	}
	e.session.Counter++
	return e.header.Short(e.out.Message()), nil
}

// contradicts reports whether a value states a constant of a header differently, or has a field that the header does not have.
func contradicts(h *envelope.Header, behind *schema.Message, text []byte) bool {
	var all map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil {
		return false
	}
	header, tail := h.Names(behind.AlternateOf)
	parts := h.Parts()
	for _, in := range [...]string{header, tail} {
		var fields map[string]json.RawMessage
		if all[in] == nil || json.Unmarshal(all[in], &fields) != nil {
			continue
		}
		for name, v := range fields {
			i := slices.IndexFunc(parts, func(p envelope.Part) bool { return p.Name == name && (p.At < 0) == (in == tail) })
			if i < 0 || parts[i].Constant != nil && !bytes.Equal(bytes.ToLower(bytes.TrimSpace(v)), parts[i].Value()) {
				return true
			}
		}
	}
	return false
}

// Open returns the places of the header of the last encoded message that its values did not state.
func (e *Encoder) Open() []transport.Open { return e.last.open }

// Record returns the record of the last encoded message. It is valid until the next Encode.
func (e *Encoder) Record() *codec.Record { return &e.last.out }

// valueProblems describes an error of ParseJSON.
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

// EncodeValue encodes one value, with the code of its definition or of the code map unless code is given. The record and the bytes are not
// reused by later calls.
func (s *Snapshot) EncodeValue(m *schema.Message, code *uint32, value []byte) ([]byte, *codec.Record, []view.ProblemInfo, error) {
	return s.EncodeValueOver(m, code, value, nil)
}

// EncodeValueOver is EncodeValue over the bytes that the value comes from; nil: there are none. Without code it is theirs.
func (s *Snapshot) EncodeValueOver(m *schema.Message, code *uint32, value, base []byte) ([]byte, *codec.Record, []view.ProblemInfo, error) {
	if code == nil && !m.HasKey {
		code = s.CodeIn(m, base)
	}
	enc, err := s.Encoder(m, code, codec.Session{Counter: 1})
	if err != nil {
		return nil, nil, nil, err
	}
	data, problems := enc.EncodeOver(value, base)
	return data, enc.Record(), problems, nil
}

// CodeIn returns the code in the bytes of a message, nil if they have none.
func (s *Snapshot) CodeIn(m *schema.Message, data []byte) *uint32 {
	p, err := s.Program(m)
	if err != nil || data == nil || !p.NeedsCode() {
		return nil
	}
	var rec codec.Record
	p.Decode(&rec, data)
	return &rec.Code
}
