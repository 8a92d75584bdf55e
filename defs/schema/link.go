package schema

import (
	"fmt"

	"wirebench/defs/diag"
)

// Link fills ByKey. It is the last step before a Schema is used, and may be called again after Messages has changed. The order of
// Messages does not change.
func Link(s *Schema) diag.List {
	var diags diag.List
	var order []Address
	at := make(map[Address][]*Message, len(s.Messages))
	for _, m := range s.Messages {
		if m.HasKey {
			a := m.Key.Address()
			if at[a] == nil {
				order = append(order, a)
			}
			at[a] = append(at[a], m)
		}
	}
	s.ByKey = make(map[Key]*Message, len(s.Messages))
	for _, a := range order {
		l := LinkAddress(at[a])
		for dir, m := range l.ByDir {
			if m != nil {
				s.ByKey[Key{Dir: Dir(dir), Group: a.Group, Code: a.Code}] = m
			}
		}
		diags = append(diags, l.Diagnostics...)
	}
	return diags
}

// Address is a Key without its direction.
type Address struct {
	Group string
	Code  uint32
}

// Address returns the key without its direction.
func (k Key) Address() Address { return Address{k.Group, k.Code} }

// Linked is the messages of one address, and the one that applies to each direction.
type Linked struct {
	Messages    []*Message
	ByDir       [3]*Message
	Diagnostics diag.List
}

// LinkAddress chooses the messages of the frames of one address.
//
// Of several versions of one message the highest wins. Unreadable messages are not found. A message of both directions is found in either one, unless another
// message is for that direction only. Two messages of different names on one key are an error: the first one keeps the key.
func LinkAddress(list []*Message) Linked {
	l := Linked{Messages: list}
	for _, m := range list {
		old := l.ByDir[m.Key.Dir]
		switch {
		case m.Unreadable:
		case old == nil || old.Name == m.Name && old.Version < m.Version:
			l.ByDir[m.Key.Dir] = m
		case old.Name != m.Name:
			l.Diagnostics.Add(sameCode(m, old))
		}
	}
	m := l.ByDir[Both]
	if m == nil {
		return l
	}
	for _, dir := range [...]Dir{ToServer, ToClient} {
		if old := l.ByDir[dir]; old == nil {
			l.ByDir[dir] = m
		} else {
			l.Diagnostics.Add(sameCode(m, old))
		}
	}
	return l
}

// Lookup is like Schema.Lookup, for the messages of the address.
func (l *Linked) Lookup(dir Dir) *Message {
	if m := l.ByDir[dir]; m != nil || dir != Both {
		return m
	}
	a, b := l.ByDir[ToServer], l.ByDir[ToClient]
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return nil
}

// sameCode returns the diagnostic of two messages with the same key.
func sameCode(m, old *Message) diag.Diagnostic {
	return diag.Diagnostic{
		Severity: diag.Error,
		Code:     "same-code",
		Message:  fmt.Sprintf("%q and %q have the same code %d", old.Name, m.Name, m.Key.Code),
		Help:     fmt.Sprintf("give %q another code; until then the code means %q", m.Name, old.Name),
		Span:     m.Span,
		Related:  []diag.Related{{Span: old.Span, Message: fmt.Sprintf("%q is defined here", old.Name)}},
	}
}

// Find returns the message of a name and version, or nil. Version 0 means the highest one; if the name is in several groups, the first
// message is returned.
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

// Lookup returns the message of frames with this key, or nil. A key of unknown direction (Both) also finds a message for a single
// direction, if the other direction has none on the same code.
func (s *Schema) Lookup(key Key) *Message {
	if m := s.ByKey[key]; m != nil || key.Dir != Both {
		return m
	}
	l := Linked{ByDir: [3]*Message{
		ToServer: s.ByKey[Key{ToServer, key.Group, key.Code}], ToClient: s.ByKey[Key{ToClient, key.Group, key.Code}],
	}}
	return l.Lookup(Both)
}
