package envelope

import (
	"fmt"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Check compares the envelope with definitions: it warns about names of messages and of fields that do not exist, and about codes in another form
// than the definitions have, which then have other contents. messages returns the messages of a group in a direction.
func (e *Envelope) Check(messages func(group string, dir schema.Dir) []*schema.Message) diag.List {
	c := checker{messages: messages, known: map[schema.Key][]*schema.Message{}, said: map[string]bool{}}
	for i := range e.States {
		s := &e.States[i]
		for way := range s.Code {
			c.code(s, way)
		}
		for _, b := range s.Bundles {
			if b.Message.IsZero() {
				continue
			}
			c.find(s, b.Dir, &b.Message, b.At, "the bundle is never opened")
		}
		for _, r := range s.Rules {
			found := c.find(s, r.Dir, &r.Message, r.At, "the rule never acts")
			c.field(found, r.Field, r.At, "the rule never acts")
			for _, a := range r.Actions {
				c.field(found, a.Compress.Field, r.At, "the size from which messages are compressed is not known")
				for _, secret := range [...]*Secret{&a.Cipher.Key, &a.Cipher.IV} {
					c.secret(e, found, secret, r.At)
				}
			}
		}
	}
	c.diags.Sort()
	return c.diags
}

// checker is the state of one Check.
type checker struct {
	messages func(group string, dir schema.Dir) []*schema.Message
	known    map[schema.Key][]*schema.Message
	said     map[string]bool
	diags    diag.List
}

// in returns the messages of a state in a direction.
func (c *checker) in(s *State, way int) []*schema.Message {
	k := schema.Key{Group: s.Group[way], Dir: [...]schema.Dir{schema.ToServer, schema.ToClient}[way]}
	all, have := c.known[k]
	if !have {
		all = c.messages(k.Group, k.Dir)
		c.known[k] = all
	}
	return all
}

func (c *checker) say(at source.Span, d diag.Diagnostic) {
	key := fmt.Sprint(at.Start, d.Message)
	if at.File != nil && !c.said[key] {
		c.said[key] = true
		c.diags.Add(d)
	}
}

// find returns the messages of a name in the directions of a rule, behind the header. It warns if there are none.
func (c *checker) find(s *State, dir schema.Dir, m *Message, at source.Span, effect string) (found []*schema.Message) {
	var names []string
	for way := range s.Code {
		if !Ways(dir, way) {
			continue
		}
		if s.Code[way].Name != "" && m.Name == s.Code[way].Name {
			effect = ""
		}
		for _, x := range c.in(s, way) {
			if names = append(names, x.Name); m.ByCode && x.HasKey && x.Key.Code == m.Code || !m.ByCode && x.Name == m.Name {
				found = append(found, s.Header[way].Of(x))
			}
		}
	}
	if len(found) == 0 && !m.ByCode && effect != "" {
		c.say(at, unknownMessage(at, m.Name, s, dir, names, effect))
	}
	return found
}

// field warns if none of some messages has a field.
func (c *checker) field(of []*schema.Message, path string, at source.Span, effect string) {
	if path == "" || len(of) == 0 {
		return
	}
	for _, m := range of {
		if m.Broken || m.Body == nil || hasField(m.Body, strings.Split(path, "."), 0) {
			return
		}
	}
	c.say(at, unknownField(at, of[0].Name, path, effect))
}

// secret warns if the field of a secret does not exist.
func (c *checker) secret(e *Envelope, of []*schema.Message, s *Secret, at source.Span) {
	if s.Kind != OfMessage {
		return
	}
	const effect = "the key of the cipher is not known"
	if s.Of.IsZero() {
		c.field(of, s.Field, at, effect)
		return
	}
	var found []*schema.Message
	var names []string
	for i := range e.States { // the message may have come in any state
		for way := range e.States[i].Code {
			for _, m := range c.in(&e.States[i], way) {
				if names = append(names, m.Name); m.Name == s.Of.Name || s.Of.ByCode && m.HasKey && m.Key.Code == s.Of.Code {
					found = append(found, m)
				}
			}
		}
	}
	if len(found) == 0 && !s.Of.ByCode {
		c.say(at, unknownMessage(at, s.Of.Name, &State{}, schema.Both, names, effect))
		return
	}
	c.field(found, s.Field, at, effect)
}

// code warns if messages without a code have no definition, or if definitions have their codes elsewhere and cannot be behind the header.
func (c *checker) code(s *State, way int) {
	code, all := &s.Code[way], c.in(s, way)
	if code.Name != "" {
		if dir := [...]schema.Dir{schema.ToServer, schema.ToClient}[way]; len(all) > 0 {
			c.find(&State{Group: s.Group}, dir, &Message{Name: code.Name}, code.Span, "its messages have no definition")
		} else if code.Span.File != nil {
			c.say(code.Span, unknownMessage(code.Span, code.Name, s, dir, nil, "its messages have no definition"))
		}
		return
	}
	h := s.Header[way]
	if h == nil {
		return
	}
	for _, m := range all {
		start, ok := m.Start()
		if !m.HasKey || !ok || h.Fits(start) || h.Of(m) != m {
			continue
		}
		c.say(code.Span, otherCode(code.Span, m.Name))
		return
	}
}

// hasField reports whether a struct has a field at a path, also in alternatives.
func hasField(s *schema.Struct, path []string, depth int) bool {
	if depth > 64 {
		return true // it contains itself
	}
	for _, f := range s.Fields {
		if f.Name == path[0] && len(path) == 1 {
			return true
		}
		rest := path
		if f.Name == path[0] {
			rest = path[1:]
		} else if f.Name != "" {
			continue
		}
		for _, body := range schema.Bodies(f.Type) {
			if hasField(body, rest, depth+1) {
				return true
			}
		}
	}
	for _, v := range s.Variants {
		if v.Body != nil && hasField(v.Body, path, depth+1) {
			return true
		}
	}
	return false
}
