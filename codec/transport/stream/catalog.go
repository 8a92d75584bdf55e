package stream

import (
	"wirebench/codec"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// Definitions is the part of a library of definitions that the transport uses.
type Definitions interface {
	Lookup(key schema.Key) *schema.Message
	Program(m *schema.Message) (*codec.Program, error)

	// Behind returns a message behind a header, the same one at each call; m itself if its definition has the header, see envelope.Header.Of.
	Behind(h *envelope.Header, m *schema.Message) *schema.Message
}

// Changing is implemented by Definitions that change while traffic runs. Each segment is read with those that are current then.
type Changing interface {
	Current() Definitions // which do not change
}

// catalog is what a connection knows of the current definitions. Looking up a message and its program takes longer than decoding a short one.
type catalog struct {
	given  Definitions
	defs   Definitions // the current ones; nil: none
	recent []listed    // by the low bits of the code
	last   *listed
	codes  map[schema.Key]*codes // see Transport.known
}

// listed is a message of recent.
type listed struct {
	filled  bool
	key     schema.Key
	header  *envelope.Header
	message *schema.Message // nil: there is none
	program *codec.Program  // nil: not compiled yet
}

func newCatalog(given Definitions) *catalog {
	l := &catalog{given: given, defs: given}
	l.renew()
	return l
}

// renew looks for changes of the definitions.
func (l *catalog) renew() {
	c, changing := l.given.(Changing)
	if !changing {
		return
	}
	if now := c.Current(); now != l.defs {
		*l = catalog{given: l.given, defs: now}
	}
}

// message returns a message behind a header, which may be nil; nil if it has no definition.
func (l *catalog) message(h *envelope.Header, key schema.Key) *schema.Message {
	if l.recent == nil { // connections of most protocols need none
		l.recent = make([]listed, 256)
	}
	e := &l.recent[key.Code%uint32(len(l.recent))]
	if l.last = e; e.filled && e.key == key && e.header == h {
		return e.message
	}
	m := l.defs.Lookup(key)
	if m != nil && h != nil {
		m = l.defs.Behind(h, m)
	}
	*e = listed{filled: true, key: key, header: h, message: m}
	return m
}

// program returns the program of a message.
func (l *catalog) program(m *schema.Message) (*codec.Program, error) {
	e := l.last
	if e == nil || e.message != m {
		return l.defs.Program(m)
	}
	if e.program == nil {
		p, err := l.defs.Program(m)
		if err != nil {
			return nil, err
		}
		e.program = p
	}
	return e.program, nil
}
