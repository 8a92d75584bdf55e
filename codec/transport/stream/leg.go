package stream

import (
	"fmt"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
)

// Options configure the transport of a connection.
type Options struct {
	Envelope    *envelope.Envelope
	Definitions Definitions // nil: none; rules that need fields or names do not act
	Key, IV     []byte      // of ciphers whose key is given; nil: not known
	Clear       func(transport.Clear)

	// Foreign reports that the definitions describe messages as another transport carries them: every message of an envelope with codes is marked
	// by transport.MarkHeader. Otherwise those are of headers with bytes besides the code.
	Foreign bool

	// Measure measures messages, and reads their keys, in the place of Definitions; may be nil. See [Measured].
	Measure transport.Measure

	Starts [2]Start // by direction: where its messages start, if that is not where its stream does
	Link   Link     // may be nil
}

// Start is where the messages of a direction start.
type Start struct {
	Offset int64  // in the stream
	Cipher Cipher // from there on; nil: as the envelope says
	Opaque string // why they cannot be read; "": they can
}

// Link is what a protocol does with messages besides cutting them. The messages have no bundles and are not compressed.
type Link interface {
	// Read is called for each received message before it is emitted. It may set Via.
	Read(f *transport.Frame)

	// Take is called when a rewriter begins to decide about messages.
	Take()

	// Mark returns what Seal and Gone need of a received message. It is called after Read, and is not 0.
	Mark(f *transport.Frame) uint64

	// Choose returns the bytes of a message to send: Bytes or Alternate.
	Choose(dir schema.Dir, o *transport.Outgoing) []byte

	// Seal writes the values that depend on earlier messages, such as counters, into a message being sent. The mark of an injected one is 0.
	Seal(dir schema.Dir, message []byte, mark uint64)

	// Gone reports that a received message is not sent.
	Gone(dir schema.Dir, mark uint64)
}

// Measured returns the options for messages that have neither lengths nor delimiters, as only their definitions determine their sizes.
func Measured(m transport.Measure) Options { return Options{Envelope: &bySize, Measure: m} }

var bySize = func() envelope.Envelope {
	f := envelope.Framing{Kind: envelope.Measured, Max: envelope.DefaultMax}
	return envelope.Envelope{States: []envelope.State{{Frame: [2]envelope.Framing{f, f}}}}
}()

// leg is the state of a connection between two ends. A proxy has two legs.
type leg struct {
	o      *Options
	lib    *catalog
	sides  [2]side // by direction
	memory []memory
	sizes  [2]measure // by direction
	fields fields
	codecs *codecs
	key    schema.Key // that Measure read last
}

// side is the state of one direction.
type side struct {
	state  int
	comp   compression
	cipher Cipher  // nil: none
	spec   *secret // of cipher
	opaque string  // why the cipher is unknown
	later  []change
}

// hide records that the rest of a direction cannot be decrypted.
func (s *side) hide(why string) { s.cipher, s.opaque = nil, why }

// secret is what a cipher is made of.
type secret struct {
	kind    envelope.CipherKind
	key, iv []byte
}

// memory is a field of an earlier message.
type memory struct {
	of    envelope.Secret
	bytes []byte // nil: not received
}

// change is an action with the values of its message.
type change struct {
	kind   envelope.ActionKind
	way    int
	state  int
	comp   compression
	secret *secret // nil: no cipher
	opaque string
}

// newLeg returns the state at the start of a connection. encrypt tells for each direction whether it is sent.
func newLeg(o *Options, encrypt [2]bool) *leg {
	l := &leg{o: o, lib: newCatalog(o.Definitions), codecs: new(codecs)}
	l.begin()
	for _, s := range o.Envelope.Remembered() {
		l.memory = append(l.memory, memory{of: s})
	}
	for way := range l.sides {
		s := &l.sides[way]
		s.comp = newCompression(&o.Envelope.Compress[way])
		if c := o.Starts[way].Cipher; c != nil {
			s.cipher = c.Clone()
		}
		if why := o.Starts[way].Opaque; why != "" {
			s.hide(why)
		}
		if c := &o.Envelope.Cipher[way]; c.Kind != envelope.NoCipher {
			x := change{kind: envelope.Encrypt, way: way}
			l.secret(&x, c, nil, nil)
			l.do(&x, encrypt[way])
		}
	}
	return l
}

// clone returns a leg in the same state.
func (l *leg) clone() *leg {
	c := &leg{o: l.o, lib: l.lib, codecs: l.codecs, sides: l.sides, memory: append([]memory(nil), l.memory...)}
	c.begin()
	for i := range c.sides {
		s := &c.sides[i]
		if s.cipher != nil {
			s.cipher = s.cipher.Clone()
		}
		s.later = append([]change(nil), s.later...)
	}
	return c
}

func (l *leg) begin() {
	l.fields.lib = l.lib
	for way := range l.sizes {
		l.sizes[way] = l.measure(way)
	}
}

// state returns the state of a direction.
func (l *leg) state(way int) *envelope.State { return &l.o.Envelope.States[l.sides[way].state] }

// measure returns the function that measures messages of a direction by their definitions.
func (l *leg) measure(way int) measure {
	if l.o.Measure != nil {
		return func(data []byte) (n, need int, why transport.Reason) {
			n, need, l.key, why = l.o.Measure(dirs[way], data)
			return n, need, why
		}
	}
	var missing schema.Key // in bytes that are no messages most codes are, and the reason is not read
	undefined := func() string {
		return fmt.Sprintf("no message of group %q has the code %d", missing.Group, missing.Code)
	}
	return func(data []byte) (n, need int, why transport.Reason) {
		key, head, ok := l.code(way, data)
		switch {
		case l.lib.defs == nil:
			return 0, 0, func() string { return "there are no definitions" }
		case head < 0:
			return 0, 0, func() string { return "the code has too many bytes" }
		case head == 0 && !ok && l.state(way).Code[way].Number.Kind != envelope.NoNumber:
			return 0, len(data) + 1, nil
		}
		m := l.message(way, key)
		if m == nil {
			missing = key
			return 0, 0, undefined
		}
		p, err := l.lib.program(m)
		if err != nil {
			return 0, 0, err.Error
		}
		rec := &l.fields.rec
		p.Decode(rec, data)
		switch rec.Status() {
		case codec.Incomplete:
			return 0, needed(rec, len(data)), nil
		case codec.Illegal:
			return 0, 0, func() string {
				if len(rec.Problems) == 0 {
					return m.Name + " is not valid"
				}
				return m.Name + ": " + rec.Problems[0].Message(rec)
			}
		}
		return max(rec.Used, 1), 0, nil
	}
}

// message returns the definition of a message in the current state of a direction, behind its header; nil if there is none.
func (l *leg) message(way int, key schema.Key) *schema.Message {
	return l.lib.message(l.state(way).Header[way], key)
}

// shape sets the state of a direction to the form of a message, of which there may be only the first bytes, if the envelope has forms. If more
// are needed to tell, need is how many there must be. ok is false if the message has none of the forms: the state is that of the last one.
func (l *leg) shape(way int, start []byte) (need int, ok bool) {
	if !l.o.Envelope.Forms {
		return 0, true
	}
	i, need := l.o.Envelope.FormOf(way, start)
	if i >= 0 {
		l.sides[way].state = i
	}
	return need, i >= 0
}

const formless = "the envelope has no form with these first bytes"

// full returns the message of a frame with the zeros that were left out, and whether there are any: those up to the size of its definition.
func (l *leg) full(way int, message []byte) (full []byte, filled bool) {
	h := l.state(way).Header[way]
	if !h.Leaves() || l.lib.defs == nil {
		return message, false
	}
	key, _, ok := l.code(way, message)
	if !ok {
		return message, false
	}
	m := l.message(way, key)
	if m == nil {
		return message, false
	}
	p, err := l.lib.program(m)
	if err != nil {
		return message, false
	}
	full = h.Full(message, p.Largest())
	return full, len(full) > len(message)
}

// extra returns the bytes that the definition of a message adds to checksums; nil if it is not known.
func (l *leg) extra(way int, message []byte) []byte {
	if l.lib.defs == nil {
		return nil
	}
	key, _, ok := l.code(way, message)
	if !ok {
		return nil
	}
	if m := l.message(way, key); m != nil {
		return m.Extra
	}
	return nil
}

// seal sets the length and the checksums of a message that is sent in a direction now.
func (l *leg) seal(way int, message []byte) {
	if h := l.state(way).Header[way]; h != nil {
		h.Seal(message, l.extra(way, message))
	}
}

// marked reports whether the messages of the current state of a direction have a header that definitions may lack.
func (l *leg) marked(way int) bool {
	h := l.state(way).Header[way]
	return h != nil && (l.o.Foreign || !h.Bare())
}

// code reads the code of a message. head is the offset of the contents after it; it is 0 if the message is too short and -1 if the code is
// malformed.
func (l *leg) code(way int, message []byte) (key schema.Key, head int, ok bool) {
	if l.o.Measure != nil {
		return l.key, 0, true
	}
	s := l.state(way)
	key = schema.Key{Dir: dirs[way], Group: s.Group[way]}
	c := &s.Code[way]
	if c.Number.Kind == envelope.NoNumber {
		return key, 0, false
	}
	if len(message) <= c.At {
		return key, 0, false
	}
	v, n := readNumber(&c.Number, message[c.At:])
	switch {
	case n < 0 || n > 0 && v != uint64(uint32(v)):
		return key, -1, false
	case n == 0:
		return key, 0, false
	}
	key.Code = uint32(v)
	return key, c.At + n, true
}

var dirs = [2]schema.Dir{schema.ToServer, schema.ToClient}

// idle reports whether no message can change anything in a state, so that messages need not be looked up.
func (l *leg) idle(way int) bool {
	s := l.state(way)
	return len(s.Rules) == 0 && len(l.memory) == 0
}

// prepare returns the changes that a message makes, appended to dst. note says what could not be done. The message is matched in the
// current state.
func (l *leg) prepare(dst []change, way int, key schema.Key, hasKey bool, message []byte) (out []change, note string) {
	if l.idle(way) {
		return dst, ""
	}
	s := l.state(way)
	name := ""
	var m *schema.Message
	if l.lib.defs != nil {
		if m = l.message(way, key); m != nil {
			name = m.Name
		}
	}
	if !hasKey {
		name = s.Code[way].Name
	}
	is := func(x *envelope.Message) bool {
		if x.ByCode {
			return hasKey && x.Code == key.Code
		}
		return name != "" && x.Name == name
	}
	for i := range l.memory {
		if f := &l.memory[i]; is(&f.of.Of) {
			v, err := l.fields.read(m, message, f.of.Field)
			if err != nil {
				note = transport.Join(note, fieldError(f.of.Field, err).Error())
				continue
			}
			f.bytes = append([]byte{}, v.bytes...)
		}
	}
	for i := range s.Rules {
		r := &s.Rules[i]
		if !envelope.Ways(r.Dir, way) || !is(&r.Message) {
			continue
		}
		if r.Field != "" {
			v, err := l.fields.read(m, message, r.Field)
			if err != nil {
				note = transport.Join(note, fieldError(r.Field, err).Error())
				continue
			}
			if v.meets(&r.Value) == r.Not {
				continue
			}
		}
		for k := range r.Actions {
			var err error
			if dst, err = l.resolve(dst, &r.Actions[k], m, message); err != nil {
				note = transport.Join(note, err.Error())
			}
		}
	}
	return dst, note
}

// resolve appends the changes of an action.
func (l *leg) resolve(dst []change, a *envelope.Action, m *schema.Message, message []byte) ([]change, error) {
	c := change{kind: a.Kind, state: a.State}
	from := a.Compress.From
	switch a.Kind {
	case envelope.Compress:
		if a.Compress.Field != "" {
			v, err := l.fields.read(m, message, a.Compress.Field)
			if err != nil {
				return dst, fieldError(a.Compress.Field, err)
			}
			from = v.number
		}
	case envelope.Encrypt:
		l.secret(&c, &a.Cipher, m, message)
	}
	for way := range l.sides {
		if !envelope.Ways(a.Dir, way) {
			continue
		}
		c.way = way
		if a.Kind == envelope.Compress {
			was := l.sides[way].comp
			for _, x := range l.sides[way].later {
				if x.kind == envelope.Compress {
					was = x.comp
				}
			}
			c.comp = was.change(&a.Compress, from)
		}
		dst = append(dst, c)
	}
	return dst, nil
}

// secret sets the key of a change, or the reason why it is unknown.
func (l *leg) secret(c *change, x *envelope.Cipher, m *schema.Message, message []byte) {
	if x.Kind == envelope.NoCipher {
		return
	}
	c.secret = &secret{kind: x.Kind}
	read := func(s *envelope.Secret, given []byte, what string) []byte {
		switch s.Kind {
		case envelope.Stated:
			return s.Bytes
		case envelope.Given:
			if given == nil {
				c.opaque = "the " + what + " of the cipher is not given"
			}
			return given
		case envelope.OfMessage:
			for i := range l.memory {
				if f := &l.memory[i]; f.of.Field == s.Field && f.of.Of == s.Of {
					if f.bytes == nil {
						c.opaque = fmt.Sprintf("the message %s with the %s of the cipher was not seen", s.Of.String(), what)
					}
					return f.bytes
				}
			}
			v, err := l.fields.read(m, message, s.Field)
			if err != nil {
				c.opaque = fieldError(s.Field, err).Error()
			}
			return v.bytes
		}
		return nil
	}
	c.secret.key = read(&x.Key, l.o.Key, "key")
	c.secret.iv = read(&x.IV, l.o.IV, "iv")
	if c.opaque == "" {
		if _, err := newStream(c.secret.kind, c.secret.key, c.secret.iv, false); err != nil {
			c.opaque = err.Error()
		}
	}
}

// do makes a change. encrypt reports that its direction is sent.
func (l *leg) do(c *change, encrypt bool) {
	s := &l.sides[c.way]
	switch c.kind {
	case envelope.Go:
		s.state = c.state
	case envelope.Compress:
		s.comp = c.comp
	case envelope.Encrypt:
		s.cipher, s.spec, s.opaque = nil, c.secret, c.opaque
		if c.secret != nil && c.opaque == "" {
			s.cipher, _ = newStream(c.secret.kind, c.secret.key, c.secret.iv, encrypt)
		}
	}
}

// restart makes the cipher of a direction anew, for the next datagram.
func (l *leg) restart(way int, encrypt bool) {
	if s := &l.sides[way]; s.cipher != nil {
		s.cipher, _ = newStream(s.spec.kind, s.spec.key, s.spec.iv, encrypt)
	}
}

// bundle returns the bundle that a message is, or nil.
func (l *leg) bundle(way int, key schema.Key, hasKey bool) *envelope.Bundle {
	s := l.state(way)
	for i := range s.Bundles {
		b := &s.Bundles[i]
		if !hasKey || !envelope.Ways(b.Dir, way) || b.Message.IsZero() {
			continue
		}
		if b.Message.ByCode {
			if b.Message.Code == key.Code {
				return b
			}
			continue
		}
		if l.lib.defs != nil {
			if m := l.lib.message(nil, key); m != nil && m.Name == b.Message.Name {
				return b
			}
		}
	}
	return nil
}

// needed returns the minimum number of bytes before another attempt to measure a message can succeed.
func needed(rec *codec.Record, have int) int {
	for _, p := range rec.Problems {
		if p.Code == codec.Truncated && p.Want > uint64(have) && p.Want < codec.MaxMessage {
			return int(p.Want)
		}
	}
	return have + 1
}
