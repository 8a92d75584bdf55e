package envelope

import (
	"slices"

	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Envelope is the meaning of a text. Fields of two elements have one for each direction, see Way. It is immutable after Parse.
type Envelope struct {
	Carrier  Carrier
	Port     uint16 // of the server; 0 = not stated
	Compress [2]Compression
	Cipher   [2]Cipher
	States   []State // at least one; the first one is the initial state
	Forms    bool    // the states are forms that messages may have at any time, see FormOf
}

// Way returns the index of a direction in the arrays of this package: 0 to the server, 1 to the client.
func Way(dir schema.Dir) int {
	if dir == schema.ToClient {
		return 1
	}
	return 0
}

// Ways reports whether a direction, which may be Both, includes that of an index.
func Ways(dir schema.Dir, way int) bool { return dir == schema.Both || Way(dir) == way }

// State is a state of a connection.
type State struct {
	Name    string
	Group   [2]string // of the keys of messages
	Frame   [2]Framing
	Code    [2]Code
	Header  [2]*Header // nil: definitions have the whole message
	Bundles []Bundle
	Rules   []Rule
	Span    source.Span // the line; zero for the only state of a text without states
}

// Framing describes how a stream is cut.
type Framing struct {
	Kind      FramingKind
	Number    Number // Length: of the length. Codes: of the code
	At        int    // bytes before Number
	Counts    Counts
	Times     int64 // at least 1
	Add       int64 // to the length, after multiplication
	Keep      bool  // the length, or the delimiter, is part of the message
	Zeros     bool  // Length, with Keep: frames lack the zeros at the end of the contents, see Header.Full
	Min       int   // Length: bytes of the smallest message
	Max       int   // bytes of the largest message
	Delimiter []byte
	End       bool       // Delimiter: the end of the stream or datagram ends a message, too
	Size      int        // Fixed: bytes of a message
	Sizes     []CodeSize // Codes: in the order of the codes, that of other codes last
}

// FramingKind is a kind of framing.
type FramingKind uint8

// The kinds of framing.
const (
	NoFraming FramingKind = iota
	Length
	Delimiter
	Fixed
	Codes
	Datagram
	Measured
)

// Counts tells what a length counts.
type Counts uint8

// What a length counts.
const (
	Rest   Counts = iota // the bytes after it
	Itself               // and its own
	All                  // and those before it
)

// CodeSize is the size of the messages of a code.
type CodeSize struct {
	Code   uint64
	Other  bool     // all codes that are not listed
	Size   int      // bytes of the whole message, if Length is nil
	Length *Framing // of kind Length, with Keep
}

// DefaultMax is the size in bytes of the largest message, unless a text states another one, and MaxMax the largest that it can state.
const (
	DefaultMax = 16 << 20
	MaxMax     = 64 << 20
)

// Number is the form of a number on the wire.
type Number struct {
	Kind  NumberKind
	Size  int // UInt: bytes, 1 to 8
	Order schema.Order
}

// NumberKind is a kind of number.
type NumberKind uint8

// The kinds of numbers.
const (
	NoNumber NumberKind = iota
	UInt
	VarInt    // LEB128
	ZigZag    // LEB128 of a signed number
	BigVarInt // 7 bits a byte, the highest first
)

// Code is the place of a message's code.
type Code struct {
	Number Number
	At     int
	Name   string // the definition of all messages, if Number is none
	Span   source.Span
}

// Bundle is a message that contains messages.
type Bundle struct {
	Message Message    // zero: every frame is a bundle, and has no code of its own
	Dir     schema.Dir // may be Both
	From    int        // bytes before the messages; 0: they follow the code
	Frame   Framing
	At      source.Span // the message
}

// Every returns the bundle that every frame of a direction is, or nil.
func (s *State) Every(way int) *Bundle {
	for i := range s.Bundles {
		if b := &s.Bundles[i]; b.Message.IsZero() && Ways(b.Dir, way) {
			return b
		}
	}
	return nil
}

// Message names a message in a rule.
type Message struct {
	Name   string
	Code   uint32 // if ByCode
	ByCode bool
}

// Rule is what a message changes.
type Rule struct {
	Message Message
	Dir     schema.Dir // may be Both
	Field   string     // of the condition; "" = none
	Not     bool       // the field must differ from Value
	Value   Value
	Actions []Action
	Span    source.Span // the line
	At      source.Span // the message in it
}

// Value is a constant in a condition.
type Value struct {
	Text     string
	Number   int64
	IsNumber bool
}

// Action is one change.
type Action struct {
	Kind     ActionKind
	Dir      schema.Dir  // of the streams that it changes, may be Both
	State    int         // Go: index of the state
	Compress Compression // Compress: Method is Unpacked if unchanged
	Cipher   Cipher      // Encrypt
}

// ActionKind is a kind of action.
type ActionKind uint8

// The kinds of actions.
const (
	Go ActionKind = iota
	Compress
	Encrypt
)

// Compression describes how messages are compressed.
type Compression struct {
	Method schema.Packing
	Header PackHeader
	Number Number // of the header
	Off    bool
	From   int64  // least size in bytes of messages that are compressed; negative: off
	Field  string // From is the value of this field; "" = From is stated
}

// PackHeader is what precedes compressed data.
type PackHeader uint8

// The headers.
const (
	NoHeader PackHeader = iota
	SizeHeader
	FlagHeader
)

// Cipher is a cipher with its key.
type Cipher struct {
	Kind CipherKind
	Key  Secret
	IV   Secret
}

// CipherKind is a kind of cipher.
type CipherKind uint8

// The ciphers.
const (
	NoCipher CipherKind = iota
	XOR
	RC4
	AESCFB8
	AESCTR
	ChaCha20
)

// Secret is a key or an initialization vector.
type Secret struct {
	Kind  SecretKind
	Bytes []byte  // Stated
	Field string  // OfMessage
	Of    Message // OfMessage: its zero value is the message of the rule
}

// SecretKind is the origin of a Secret.
type SecretKind uint8

// The origins of secrets.
const (
	NoSecret SecretKind = iota
	Stated
	Given
	OfMessage
)

// IsZero reports whether m names no message.
func (m Message) IsZero() bool { return m == Message{} }

// Remembered returns the fields of earlier messages that ciphers need, each once.
func (e *Envelope) Remembered() (fields []Secret) {
	add := func(s Secret) {
		if s.Kind != OfMessage || s.Of.IsZero() {
			return
		}
		for _, f := range fields {
			if f.Field == s.Field && f.Of == s.Of {
				return
			}
		}
		fields = append(fields, s)
	}
	for i := range e.States {
		for _, r := range e.States[i].Rules {
			for _, a := range r.Actions {
				add(a.Cipher.Key)
				add(a.Cipher.IV)
			}
		}
	}
	return fields
}

// IsGiven reports whether the user must give a key for a connection.
func (e *Envelope) IsGiven() bool {
	given := func(c Cipher) bool { return c.Key.Kind == Given || c.IV.Kind == Given }
	if given(e.Cipher[0]) || given(e.Cipher[1]) {
		return true
	}
	for i := range e.States {
		for _, r := range e.States[i].Rules {
			for _, a := range r.Actions {
				if given(a.Cipher) {
					return true
				}
			}
		}
	}
	return false
}

// Encrypts reports whether a message begins or ends a cipher.
func (e *Envelope) Encrypts() bool {
	for i := range e.States {
		for _, r := range e.States[i].Rules {
			if slices.ContainsFunc(r.Actions, func(a Action) bool { return a.Kind == Encrypt }) {
				return true
			}
		}
	}
	return false
}

// WithGroups returns the envelope with other groups for messages of states that neither state a group nor have a name.
func (e *Envelope) WithGroups(of func(dir schema.Dir) string) *Envelope {
	out := *e
	out.States = slices.Clone(e.States)
	for i := range out.States {
		for way, dir := range [...]schema.Dir{schema.ToServer, schema.ToClient} {
			if s := &out.States[i]; (s.Name == "" || e.Forms) && s.Group[way] == "" {
				s.Group[way] = of(dir)
			}
		}
	}
	return &out
}

// Without returns the envelope without the headers of which has is true, as the definitions of these groups have them.
func (e *Envelope) Without(has func(h *Header, group string, dir schema.Dir) bool) *Envelope {
	out := *e
	out.States = slices.Clone(e.States)
	for i := range out.States {
		s := &out.States[i]
		for way, dir := range [...]schema.Dir{schema.ToServer, schema.ToClient} {
			if h := s.Header[way]; h != nil && has(h, s.Group[way], dir) {
				s.Header[way] = nil
			}
		}
	}
	return &out
}

// HeaderOf returns the header of the messages of a group in a direction: that of the first state with them; nil if there is none.
func (e *Envelope) HeaderOf(key schema.Key) *Header {
	for i := range e.States {
		s := &e.States[i]
		for way := range s.Header {
			if Ways(key.Dir, way) && s.Group[way] == key.Group && s.Header[way] != nil {
				return s.Header[way]
			}
		}
	}
	return nil
}

// FormOf returns the index of the form of a message in a direction, of which there may be only the first bytes: the first one of whose header
// these have the constants. It is -1 if there is none. If more bytes are needed to tell, need is how many there must be.
func (e *Envelope) FormOf(way int, start []byte) (form, need int) {
	for i := range e.States {
		switch h := e.States[i].Header[way]; {
		case h == nil:
			return i, 0
		case !h.Begins(start):
		case h.constant() > len(start):
			return -1, h.constant()
		default:
			return i, 0
		}
	}
	return -1, 0
}

// HeaderFor is HeaderOf for a message of which the bytes are known: it may have one of several forms.
func (e *Envelope) HeaderFor(key schema.Key, message []byte) *Header {
	if e.Forms {
		for way := range 2 {
			if i, _ := e.FormOf(way, message); i >= 0 && Ways(key.Dir, way) && e.States[i].Group[way] == key.Group {
				return e.States[i].Header[way]
			}
		}
	}
	return e.HeaderOf(key)
}

// HeadersOf returns the headers that messages of a key may have: that of HeaderOf, or those of all forms.
func (e *Envelope) HeadersOf(key schema.Key) (all []*Header) {
	if !e.Forms {
		return []*Header{e.HeaderOf(key)}
	}
	for i := range e.States {
		for way := range 2 {
			if h := e.States[i].Header[way]; h != nil && Ways(key.Dir, way) && e.States[i].Group[way] == key.Group {
				all = append(all, h)
				break
			}
		}
	}
	return all
}

// StateNamed returns the index of a state, or -1.
func (e *Envelope) StateNamed(name string) int {
	for i := range e.States {
		if e.States[i].Name == name {
			return i
		}
	}
	return -1
}
