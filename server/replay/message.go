package replay

import (
	"errors"
	"slices"
	"strings"
	"time"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/defs/schema"
)

// Message is a copy of a transport's frame that can be retained.
type Message struct {
	Kind       transport.Kind
	Dir        schema.Dir
	At         time.Time
	Key        schema.Key
	HasKey     bool
	Name       string // as in transport.Frame
	Bytes      []byte
	Note       string
	Unreliable bool // of datagrams: it may have been lost
}

// Copy returns a copy of a frame as a Message.
func Copy(f *transport.Frame) Message {
	return Message{
		Kind: f.Kind, Dir: f.Dir, At: f.At, Key: f.Key, HasKey: f.HasKey, Name: f.Name, Bytes: slices.Clone(f.Bytes), Note: f.Note,
		Unreliable: f.Offset == transport.Unknown &&
			!slices.ContainsFunc(f.Via, func(v string) bool { return strings.HasPrefix(v, "reliable") }),
	}
}

// Definitions decode and encode the messages of a script.
type Definitions interface {
	FindIn(name, group string, dir schema.Dir) (*schema.Message, error)
	Lookup(key schema.Key) *schema.Message
	Program(m *schema.Message) (*codec.Program, error)
}

// definition returns the definition of a message, or nil.
func definition(d Definitions, m *Message) *schema.Message {
	switch {
	case m.Kind != transport.Message && m.Kind != transport.Control:
		return nil
	case m.HasKey:
		return d.Lookup(m.Key)
	case m.Name != "":
		if found, err := d.FindIn(m.Name, m.Key.Group, m.Dir); err == nil {
			return found
		}
	}
	return nil
}

// nameOf returns the name of a message in scripts.
func nameOf(m *schema.Message) string {
	if m.Key.Group != "" {
		return m.Key.Group + "/" + m.Name
	}
	return m.Name
}

// kin reports whether two definitions are versions of one message.
func kin(a, b *schema.Message) bool {
	return a == b || a != nil && b != nil && a.Name == b.Name && a.Key.Group == b.Key.Group
}

// encoder encodes values of messages. It is for one goroutine.
type encoder struct {
	defs    Definitions
	in, out codec.Record
}

// encode encodes a JSON object as a message in newly allocated memory.
func (e *encoder) encode(m *schema.Message, p *codec.Program, values []byte) ([]byte, error) {
	if m.Broken {
		return nil, errBroken
	}
	if m.ReadOnly != "" {
		return nil, errors.New(m.ReadOnly)
	}
	if !m.HasKey && p.NeedsCode() {
		return nil, errNoCode
	}
	if err := value.ParseJSON(&e.in, p, values); err != nil {
		return nil, err
	}
	e.in.Code, e.in.Session = m.Key.Code, codec.Session{}
	if err := p.Encode(&e.out, &e.in); err != nil {
		return nil, err
	}
	return slices.Clone(e.out.Message()), nil
}
