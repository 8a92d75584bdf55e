package workspace

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// Messages behind the header of the project's envelope. Frames are marked, see transport.MarkHeader. Of other bytes it is not known whether they
// have the header: they are read in the way that explains them. Values have it if they have a field of it.

// headed is the key of a message behind a header.
type headed struct {
	header *envelope.Header
	of     *schema.Message // nil: the header alone
}

// Behind returns a message behind a header, the same one at each call; m itself if its definition has the header.
func (s *Snapshot) Behind(h *envelope.Header, m *schema.Message) *schema.Message {
	if h == nil {
		return m
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := headed{h, m}
	out, ok := s.behind[key]
	if !ok {
		if s.behind == nil {
			s.behind = map[headed]*schema.Message{}
		}
		out = h.Of(m)
		s.behind[key] = out
		if s.headers == nil {
			s.headers = map[*schema.Message]*envelope.Header{}
		}
		if out != m {
			s.headers[out] = h
		}
	}
	return out
}

// headerOnly returns what surrounds the contents of messages with a header, of a group in a direction, that have no definition, the same message at
// each call; nil if that is nothing but a code.
func (s *Snapshot) headerOnly(h *envelope.Header, key schema.Key) *schema.Message {
	if h == nil || h.Bare() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out, ok := s.behind[headed{header: h}]
	if !ok {
		around := *h.Around()
		around.Key = schema.Key{Dir: key.Dir, Group: key.Group}
		if out = &around; s.behind == nil {
			s.behind = map[headed]*schema.Message{}
		}
		s.behind[headed{header: h}] = out
	}
	return out
}

// FrameHeader returns what surrounds the contents of a frame without a definition; nil if it has a definition, or if nothing does.
func (s *Snapshot) FrameHeader(x *transport.Frame) *schema.Message {
	if s.Envelope == nil || x.Kind != transport.Message && x.Kind != transport.Control || !x.In(transport.MarkHeader) || s.frameMessage(x) != nil {
		return nil
	}
	key := schema.Key{Dir: x.Dir, Group: x.Key.Group}
	return s.headerOnly(s.Envelope.HeaderFor(key, x.Bytes), key)
}

// headersOnly returns all that headerOnly returns.
func (s *Snapshot) headersOnly() (all []*schema.Message) {
	if s.Envelope == nil {
		return nil
	}
	for i := range s.Envelope.States {
		for way, dir := range [...]schema.Dir{schema.ToServer, schema.ToClient} {
			key := schema.Key{Dir: dir, Group: s.Envelope.States[i].Group[way]}
			h := s.Envelope.HeaderOf(key) // that of the first state of the group
			if s.Envelope.Forms {
				h = s.Envelope.States[i].Header[way]
			}
			if m := s.headerOnly(h, key); m != nil && !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	return all
}

// withHeaders returns the schema with the messages behind the header of the envelope besides those without it.
func (s *Snapshot) withHeaders() *schema.Schema {
	plain := s.Schema()
	if s.Envelope == nil {
		return plain
	}
	all := slices.Clip(plain.Messages)
	for _, m := range plain.Messages {
		for _, h := range s.Envelope.HeadersOf(m.Key) {
			if behind := s.Behind(h, m); behind != m {
				all = append(all, behind)
			}
		}
	}
	if len(all) == len(plain.Messages) {
		return plain
	}
	out := *plain
	out.Messages = all
	return &out
}

// headerOf returns the header of the envelope of a message behind it, nil if it is not behind one.
func (s *Snapshot) headerOf(m *schema.Message) *envelope.Header {
	if s.Envelope == nil || m.AlternateOf == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, ok := s.headers[m]; ok {
		return h
	}
	return s.Envelope.HeaderOf(m.Key) // it is of another snapshot
}

// decodeFull decodes a message that is as in a frame. Contents without a header that end too early have zeros behind them if frames leave them out,
// and a warning.
func (s *Snapshot) decodeFull(rec *codec.Record, p *codec.Program, data []byte) {
	m := p.Message
	p.Decode(rec, s.Full(m, data))
	if !rec.Short || s.Envelope == nil || m.AlternateOf != nil || len(data) == 0 || len(data) >= p.Largest() ||
		!slices.ContainsFunc(s.Envelope.HeadersOf(m.Key), func(h *envelope.Header) bool { return h.Leaves() && h.Of(m) != m }) {
		return
	}
	full := make([]byte, p.Largest())
	copy(full, data)
	if p.Decode(rec, full); rec.Status() == codec.OK {
		rec.Filled = len(full) - len(data)
		return
	}
	p.Decode(rec, data)
}

// Full returns the bytes of a message behind a header with the zeros at the end of its contents that its frame does not have, if the envelope says so.
// They are the same bytes if there are none.
func (s *Snapshot) Full(m *schema.Message, data []byte) []byte {
	if s.Envelope == nil {
		return data
	}
	h := s.headerOf(m)
	if h.Leaves() {
		if p, err := s.Program(m); err == nil {
			return h.Full(data, p.Largest())
		}
	}
	return data
}

// pick returns the message that some bytes are: m, or m behind the header of the envelope. It uses rec.
func (s *Snapshot) pick(rec *codec.Record, data []byte, m *schema.Message, req Request) *schema.Message {
	if s.Envelope == nil || m.AlternateOf != nil {
		return m
	}
	if req.Headed {
		for h := range s.headersOf(req) { // that of the frame: the definition may be new, in a group of its own
			if behind := s.Behind(h, m); behind != m {
				return behind
			}
		}
	}
	behind := s.AlternateFor(m, data)
	if behind == m {
		return m
	}
	h := s.headerOf(behind)
	if h.Checks() > 0 && len(data) >= h.Size+h.Tail && h.Wrong(data, m.Extra) == nil || !s.explains(rec, data, m) && s.explains(rec, data, behind) {
		return behind
	}
	return m
}

// explains reports whether a message decodes all bytes without an error. It uses rec.
func (s *Snapshot) explains(rec *codec.Record, data []byte, m *schema.Message) bool {
	p, err := s.Program(m)
	if err != nil {
		return false
	}
	data = s.Full(m, data)
	p.Decode(rec, data)
	return rec.Status() == codec.OK && rec.Used == len(data) && rec.Unexplained() == 0
}

// byHeader returns the message behind the header of the envelope that explains some bytes, nil if there is none. It uses rec.
func (s *Snapshot) byHeader(rec *codec.Record, data []byte, req Request) *schema.Message {
	if m, exact := s.closestByHeader(rec, data, req); exact || req.Headed {
		return m
	}
	return nil
}

// Identify sets the key of a message that a user has sent, and marks it if it is behind the header of the envelope. group is that of messages
// whose protocol has no groups of its own. It uses rec.
func (s *Snapshot) Identify(rec *codec.Record, f *transport.Frame, group string) {
	if m, _ := s.closestByHeader(rec, f.Bytes, Request{Dir: f.Dir, Group: group}); m != nil {
		f.Key, f.HasKey = schema.Key{Dir: f.Dir, Group: m.Key.Group, Code: m.Key.Code}, true
		if f.Via = nil; m.AlternateOf != nil {
			f.Via = []string{transport.MarkHeader}
		}
		return
	}
	if m := s.ByCode(rec, f.Bytes, Request{Dir: f.Dir, Group: group}); m != nil {
		f.Key, f.HasKey = schema.Key{Dir: f.Dir, Group: m.Key.Group, Code: rec.Code}, true
	}
}

// closestByHeader is like byHeader. If no message explains all bytes, it returns the first one whose code is there.
func (s *Snapshot) closestByHeader(rec *codec.Record, data []byte, req Request) (closest *schema.Message, exact bool) {
	for h, key := range s.headersOf(req) {
		p, err := s.Program(h.Around())
		if err != nil || s.Envelope.Forms && !h.Begins(data) {
			continue
		}
		if p.Decode(rec, data); !rec.HasCode() {
			continue
		}
		key.Code = rec.Code
		m := s.set.Lookup(key)
		if m == nil {
			continue
		}
		if m = s.Behind(h, m); s.explains(rec, data, m) {
			return m, true
		}
		closest = cmp.Or(closest, m)
	}
	return closest, false
}

// headersOf yields the headers that bytes may have, with the direction and the group of their messages.
func (s *Snapshot) headersOf(req Request) iter.Seq2[*envelope.Header, schema.Key] {
	return func(yield func(*envelope.Header, schema.Key) bool) {
		if s.Envelope == nil {
			return
		}
		p, ok := protocols.Of(s.Dialect.Name)
		foreign := ok && (p.Foreign || !p.Enveloped)
		for i := range s.Envelope.States {
			state := &s.Envelope.States[i]
			for way, dir := range [...]schema.Dir{schema.ToServer, schema.ToClient} {
				h := state.Header[way]
				if h == nil || h.Bare() && !foreign || req.Group != "" && req.Group != state.Group[way] || !envelope.Ways(req.Dir, way) {
					continue
				}
				if !yield(h, schema.Key{Dir: dir, Group: state.Group[way]}) {
					return
				}
			}
		}
	}
}

// headerIn decodes the header of a message without a definition into rec, and returns it; nil if the bytes have none. Bytes of which it is not
// known have the first header of which they have the constants and the checksums.
func (s *Snapshot) headerIn(rec *codec.Record, data []byte, req Request) *schema.Message {
	for h, key := range s.headersOf(req) {
		m := s.headerOnly(h, key)
		if m == nil || s.Envelope.Forms && !h.Begins(data) {
			continue
		}
		p, err := s.Program(m)
		if err != nil {
			continue
		}
		if p.Decode(rec, data); req.Headed || rec.Status() == codec.OK && h.Wrong(data, nil) == nil {
			return m
		}
	}
	return nil
}

// fillHeader returns a value with the constants of the header that it lacks, the places of those without a value of their own, and whether the
// value has any.
func fillHeader(h *envelope.Header, behind *schema.Message, text []byte) (filled []byte, open []transport.Open, any bool) {
	var all map[string]json.RawMessage
	if json.Unmarshal(text, &all) != nil || all == nil {
		return text, nil, false // it cannot be encoded
	}
	header, tail := h.Names(behind.AlternateOf)
	parts := map[string]map[string]json.RawMessage{}
	for _, p := range h.Parts() {
		in := header
		if p.At < 0 {
			in = tail
		}
		if parts[in] == nil {
			fields := map[string]json.RawMessage{}
			if has := all[in]; has != nil {
				if any = true; json.Unmarshal(has, &fields) != nil || fields == nil {
					return text, nil, true
				}
			}
			parts[in] = fields
		}
		switch {
		case parts[in][p.Name] != nil:
		case p.Constant != nil:
			parts[in][p.Name] = p.Value()
		case !p.Computed && p.At >= 0:
			open = append(open, transport.Open{From: p.At, To: p.At + p.Size})
		}
	}
	for name, fields := range parts {
		all[name], _ = json.Marshal(fields)
	}
	filled, err := json.Marshal(all)
	if err != nil {
		return text, nil, any
	}
	return filled, open, any
}
