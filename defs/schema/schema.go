// Package schema is what definitions mean, whatever they were written in.
//
// A Struct is two lists: the fields that people read, and the items that travel. A dialect's lowering decides the order of the
// items; everything after it only runs items and knows no dialect. Placement needs no flag: contents that have an Offset item
// are read there, contents that have a Count item are as long as it says, otherwise they stand where the cursor is.
//
// All values are immutable once Link has returned.
package schema

import "wirebench/defs/source"

// Schema is everything a set of definitions means.
type Schema struct {
	Messages []*Message
	ByKey    map[Key]*Message  // how a frame finds its message; of several versions the highest. Filled by Link
	Codes    map[string]uint32 // opcode map, name to code, where codes do not stand in the definitions. Nil if none was given
}

// Dir is the direction a message travels.
type Dir uint8

// The directions.
const (
	Both Dir = iota
	ToServer
	ToClient
)

func (d Dir) String() string { return [...]string{"", "c2s", "s2c"}[d] }

// DirNamed returns the direction that String writes so, Both for any other text.
func DirNamed(name string) Dir {
	switch name {
	case "c2s":
		return ToServer
	case "s2c":
		return ToClient
	}
	return Both
}

// Key selects a message.
type Key struct {
	Dir   Dir
	Group string // names a set of messages with codes of its own, or ""
	Code  uint32
}

// Message is one kind of message.
type Message struct {
	Name     string
	Version  int // 1 where the dialect has no versions
	Key      Key
	HasKey   bool // Key.Code is known
	Body     *Struct
	Doc      string
	Span     source.Span // for errors and for jumping to the definition; the start of the file where the name is not in the text
	Broken   bool        // the definition has errors: what could not be understood is missing from Body
	Measured bool        // nothing outside the message tells its size. Decode then judges sizes before contents, as a framer needs

	AlternateOf *Message // the message whose fields it has, behind the alternative header of the dialect; nil for ordinary messages
}

// Struct is a group of fields and the order in which its bytes travel.
type Struct struct {
	Name     string
	Fields   []*Field  // as authored: what people read
	Wire     []Item    // as sent: every bit of the struct belongs to exactly one Item
	Optional int       // this many items at the end may be missing, when the frame ends before them
	Variants []Variant // alternatives that follow Wire, the first that fits is taken; none fits: nothing follows
}

// Variant is one alternative for what follows the common part of a struct.
type Variant struct {
	MinLen, MaxLen int    // taken if the whole frame has so many bytes; MaxLen 0: no upper bound. Ignored if Field is set
	Field          *Field // taken if this number, read before, has this value
	Value          uint64 // its bits
	Body           *Struct
}

// Field is one named value.
type Field struct {
	Name     string // empty for the value of a bare list element
	Type     Type
	TypeText string      // the type as written, for people: "array<int32>"
	Doc      string      // the comment that goes with it
	Span     source.Span // whole line, for linking bytes and definition
	Same     *Field      // the field before it in the same struct that has the same name: one value that travels twice, the last one read counts
}

// Item is one run of bits on the wire.
type Item struct {
	Kind  ItemKind
	Field *Field // what it carries or describes; nil for Here, Next, Length, Code, Const, Pad, Counter, Check. It may be a field
	// inside a Group of this struct, at any depth: such a group has no item of its own
	Weave []*Field // Weave only: the lists, in order
	Bits  int      // width of a bookkeeping number, constant or padding
	Order Order    // of a bookkeeping number
	Bytes []byte   // Const only
	Sum   Checksum // Check only
}

// ItemKind says what an Item is.
type ItemKind uint8

// The kinds of items.
const (
	Value   ItemKind = iota // the field's own bits; for a Group, its Struct.Wire
	Count                   // number of units of Field
	Offset                  // bytes from frame start to Field's first byte
	Here                    // this element's own offset
	Next                    // offset of the next element, 0 at the end
	Length                  // bytes of the whole frame; Encode computes it, Decode checks it
	Code                    // the message's own key; likewise
	Const                   // bytes that must be exactly these
	Pad                     // bits with no meaning
	Weave                   // contents of several lists: on the wire their elements stand in turns
	Counter                 // running number of the message within its session
	Check                   // checksum over the frame; Encode computes it, Decode checks it if it knows the session's key
)

// Checksum computes a checksum over a whole frame. The bytes of the checksum itself hold anything. It must not keep the frame.
type Checksum func(frame []byte, key uint32) uint32

// Type is one of *Number, *Bitfield, *Text, *Blob, *List, *Group. The set is closed.
type Type interface{ isType() }

// Number is an integer, a float or a truth value.
type Number struct {
	Bits     int // 1..64. Below 8, or not whole bytes, it fills from the least significant bit on
	Kind     NumKind
	Order    Order
	Scale    float64 // shown = raw × Scale; 0 = unscaled
	Wrap     bool    // a scaled integer is an angle: encoding takes it modulo 2^Bits instead of refusing what is too large
	Truncate bool    // encoding a scaled integer cuts towards zero instead of rounding half up
	Min, Max *Limit  // legal range, nil = any
	Enum     *Enum
}

// NumKind is how the bits of a Number are read.
type NumKind uint8

// The kinds of numbers.
const (
	Unsigned NumKind = iota
	Signed
	Float // 32 or 64 bits
	Bool  // shown true for every value but 0
)

// Order is the byte order of a number of whole bytes.
type Order uint8

// The byte orders.
const (
	Little Order = iota
	Big
)

// Enum gives names to values.
type Enum struct {
	Name   string
	Values []EnumValue
}

// EnumValue is one name of an Enum.
type EnumValue struct {
	Name  string
	Value uint64 // the bits of the number
}

// Bitfield is an integer that is cut into named parts, in a way that may depend on the values of parts. (A dialect whose bits are always cut
// alike may as well lower them to a Group of Numbers of few bits.)
type Bitfield struct {
	Bits  int // 8..64, whole bytes
	Order Order
	Names []string // all parts, in the order they are shown
	Forms []Form   // the first that fits is taken; the last must fit always
}

// Form is one way to cut a Bitfield. Every bit belongs to one part.
type Form struct {
	Mask, Match uint64 // fits if raw&Mask == Match
	Parts       []Part
	When        string // the condition in words, for messages: "npc is true and type is 1"
}

// Part is one part of a Form. A name that has no Part in a form is 0 there.
type Part struct {
	Name  string
	Shift int
	Bits  int
	Kind  NumKind // Unsigned or Bool
}

// Text is characters.
type Text struct {
	Charset Charset
	Extent
}

// Charset is how characters are stored.
type Charset uint8

// The character sets. UTF-16 may hold lone surrogates; in Latin1 every byte is the code point of its value.
const (
	UTF16LE Charset = iota
	Latin1
	UTF8
)

// Unit is the number of bytes of one code unit.
func (c Charset) Unit() int {
	if c == UTF16LE {
		return 2
	}
	return 1
}

// Blob is bytes without meaning to the definition.
type Blob struct {
	Extent
	Nested bool // the bytes are themselves a frame
}

// List is a sequence of elements of one kind.
type List struct {
	Elem   *Struct
	Bare   bool // Elem has one field without a name, and an element is shown as its value
	Linked bool // each element says where the next one is; otherwise they stand one after another
	Extent
}

// Group is fields that are shown together.
type Group struct{ Struct *Struct }

func (*Number) isType()   {}
func (*Bitfield) isType() {}
func (*Text) isType()     {}
func (*Blob) isType()     {}
func (*List) isType()     {}
func (*Group) isType()    {}

// Extent says how many units (code units of text, bytes, elements) there are.
type Extent struct {
	Size     Size
	N        int    // Fixed
	Min, Max *Limit // legal number of units, nil = no limit
}

// Size is how the number of units is known.
type Size uint8

// The sizes.
const (
	Fixed      Size = iota
	Counted         // by a Count item
	Terminated      // by a unit of value 0, which belongs to the contents
	ToEnd           // of the frame
)

// Limit is a bound in the field's own kind, or a constant that has no value yet.
type Limit struct {
	Int   int64   // Signed
	Uint  uint64  // Unsigned, and numbers of units
	Float float64 // Float
	Const string  // unresolved: layout prints it, decode and encode refuse
}
