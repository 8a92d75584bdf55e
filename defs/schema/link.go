package schema

import (
	"fmt"

	"wirebench/defs/diag"
)

// Link fills ByKey. It is the last step before a Schema is used, and may be called again after Messages has changed.
//
// Of several versions of one message the highest wins. A message of both directions is found in either one, unless another
// message is meant for that direction alone. Two messages of different names on one key are an error: the first one in Messages
// keeps the key. The order of Messages is left as the dialect made it.
func Link(s *Schema) diag.List {
	var diags diag.List
	s.ByKey = make(map[Key]*Message, len(s.Messages))
	for _, m := range s.Messages {
		if !m.HasKey {
			continue
		}
		old := s.ByKey[m.Key]
		switch {
		case old == nil || old.Name == m.Name && old.Version < m.Version:
			s.ByKey[m.Key] = m
		case old.Name != m.Name:
			diags.Add(sameCode(m, old))
		}
	}
	for _, m := range s.Messages {
		if !m.HasKey || m.Key.Dir != Both || s.ByKey[m.Key] != m {
			continue
		}
		for _, dir := range [...]Dir{ToServer, ToClient} {
			key := m.Key
			key.Dir = dir
			if old := s.ByKey[key]; old == nil {
				s.ByKey[key] = m
			} else {
				diags.Add(sameCode(m, old))
			}
		}
	}
	return diags
}

// sameCode says that two messages have one key.
func sameCode(m, old *Message) diag.Diagnostic {
	return diag.Diagnostic{
		Severity: diag.Error,
		Code:     "same-code",
		Message:  fmt.Sprintf("%q and %q have the same code %d", old.Name, m.Name, m.Key.Code),
		Help:     fmt.Sprintf("give %q a code of its own; until then the code means %q", m.Name, old.Name),
		Span:     m.Span,
		Related:  []diag.Related{{Span: old.Span, Message: fmt.Sprintf("%q stands here", old.Name)}},
	}
}

// Find returns the message of a name and version, or nil. Version 0 means the highest one; of the same name in several groups
// the first is taken.
func (s *Schema) Find(name string, version int) *Message {
	var best *Message
	for _, m := range s.Messages {
		if m.Name != name {
			continue
		}
		if version != 0 && m.Version == version {
			return m
		}
		if version == 0 && (best == nil || m.Version > best.Version) {
			best = m
		}
	}
	return best
}

// Lookup returns the message that a frame with this key holds, or nil. A key of unknown direction (Both) also finds a message
// that is meant for one direction, if the other direction has none on the same code.
func (s *Schema) Lookup(key Key) *Message {
	if m := s.ByKey[key]; m != nil || key.Dir != Both {
		return m
	}
	toServer, toClient := key, key
	toServer.Dir, toClient.Dir = ToServer, ToClient
	a, b := s.ByKey[toServer], s.ByKey[toClient]
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return nil
}
