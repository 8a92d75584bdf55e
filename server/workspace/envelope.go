package workspace

import (
	"fmt"
	"slices"

	"wirebench/codec/transport/protocols"
	"wirebench/defs/diag"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// HasEnvelopes reports whether envelopes say how the messages of the library travel: those of a dialect without a transport of its own, or of any
// library that has one.
func (s *Snapshot) HasEnvelopes() bool {
	p, ok := protocols.Of(s.Dialect.Name)
	return ok && (p.Enveloped || len(s.Library.Envelopes) > 0 && s.takesEnvelope())
}

// Travels reports whether it is known how messages travel: envelopes do not say it, or one without mistakes does.
func (s *Snapshot) Travels() bool { return !s.HasEnvelopes() || s.Envelope != nil || s.Carried }

// takesEnvelope reports whether an envelope of the library is about the messages of the dialect: those of a dialect that needs one come first.
func (s *Snapshot) takesEnvelope() bool {
	for _, dialect := range s.Library.Dialects() {
		if p, ok := protocols.Of(dialect); ok && p.Enveloped && dialect != s.Dialect.Name {
			return false
		}
	}
	return true
}

// parseEnvelope parses an envelope for the messages of the library.
func (s *Snapshot) parseEnvelope(f *source.File) (*envelope.Envelope, diag.List) {
	e, list := envelope.Parse(f)
	if p, ok := protocols.Of(s.Dialect.Name); ok && p.Enveloped {
		return e, list
	}
	env := protocols.Env{Definitions: s, Rules: s.Traffic.Rules}
	e = e.WithGroups(func(dir schema.Dir) string { return env.Group(0, dir) })
	return e.Without(s.haveCode), list
}

// haveCode reports whether the definitions of a group have a header that is a code alone themselves.
func (s *Snapshot) haveCode(h *envelope.Header, group string, dir schema.Dir) bool {
	if !h.Bare() {
		return false
	}
	all := s.messagesIn(group, dir)
	return len(all) > 0 && !slices.ContainsFunc(all, func(m *schema.Message) bool { return h.Of(m) != m })
}

// setEnvelope sets the envelope of a file. That of the dialect's own carrier says what the dialect says, and is not one of its own.
func (s *Snapshot) setEnvelope(f *source.File) diag.List {
	parsed, wrong := s.parseEnvelope(f)
	s.Envelope, s.EnvelopeFile, s.Carried = nil, f, false
	if !wrong.HasErrors() {
		p, known := protocols.Of(s.Dialect.Name)
		plain, _ := envelope.Parse(f) // without the groups of the definitions
		if s.Carried = known && p.Own(plain); !s.Carried {
			s.Envelope = parsed
		}
	}
	return wrong
}

// BadEnvelope returns the file of the envelope if it has mistakes, nil otherwise.
func (s *Snapshot) BadEnvelope() *source.File {
	if s.Envelope == nil && !s.Carried {
		return s.EnvelopeFile
	}
	return nil
}

// EnvelopeNamed returns an envelope of the library by the name of its file, nil if there is none.
func (s *Snapshot) EnvelopeNamed(name string) *source.File {
	for _, f := range s.Library.Envelopes {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// openEnvelope is Open for an envelope, which has no message.
func (s *Snapshot) openEnvelope(name, text string) (*Definition, error) {
	f := s.EnvelopeNamed(name)
	d := &Definition{Snap: s, File: f}
	switch {
	case f != nil && (text == "" || text == f.Text):
	case text == "":
		return nil, NotFound(name, func() string { return "" })
	case len(text) > MaxDefinition:
		return nil, fmt.Errorf("an envelope of more than %d bytes", MaxDefinition)
	default:
		d.Edited, d.File = true, source.New(name, text)
	}
	d.Diagnostics = []diag.Info{}
	for _, x := range s.CheckEnvelope(d.File) {
		d.Diagnostics = append(d.Diagnostics, x.Info())
	}
	return d, nil
}

// CheckEnvelope returns the mistakes of an envelope, also of its rules about messages that the library does not have.
func (s *Snapshot) CheckEnvelope(f *source.File) diag.List {
	e, list := s.parseEnvelope(f)
	if list.HasErrors() || s.Count() == 0 {
		return list
	}
	list = append(list, e.Check(s.messagesIn)...)
	switch used := s.EnvelopeFile; {
	case s.EnvelopeNamed(f.Name) == nil || used != nil && used.Name == f.Name:
	case used != nil:
		list = append(list, envelope.Unused(f, "the one in "+used.Name+" is"))
	default:
		list = append(list, envelope.Unused(f, "the definitions in use are of the language "+s.Dialect.Title))
	}
	list.Sort()
	return list
}

// messagesIn returns the messages of a group in a direction.
func (s *Snapshot) messagesIn(group string, dir schema.Dir) (all []*schema.Message) {
	for m := range s.Messages() {
		if m.Key.Group == group && (m.Key.Dir == schema.Both || m.Key.Dir == dir) {
			all = append(all, m)
		}
	}
	return all
}

// WithEnvelope returns the snapshot with another envelope, and the mistakes of its text.
func (s *Snapshot) WithEnvelope(text string) (*Snapshot, diag.List) {
	f := source.New(EnvelopeName, text)
	next := s.derive(s.ID+"+envelope", nil, nil)
	return next, next.setEnvelope(f)
}
