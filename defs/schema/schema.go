// Package schema represents the meaning of definitions, independent of their language.
//
// A Struct has two lists: the fields as shown to users, and the items in wire order. A dialect's lowering determines the order of the
// items; later stages process items and are independent of dialects. Placement needs no flag: contents with an Offset item are at that
// offset, other contents are at the current position; contents with a Count item have that length.
//
// All values are immutable once Link has returned.
package schema

import (
	"slices"

	"wirebench/defs/source"
)

// Schema is the meaning of a set of definitions.
type Schema struct {
	Messages []*Message
	ByKey    map[Key]*Message  // messages by the keys of frames, in their highest version; filled by Link
	Codes    map[string]uint32 // opcode map, name to code, if codes are not part of the definitions; nil if none was given
}

// Dir is the direction of a message.
type Dir uint8

// The directions.
const (
	Both Dir = iota
	ToServer
	ToClient
)

func (d Dir) String() string { return [...]string{"", "c2s", "s2c"}[d] }

// DirNamed is the inverse of Dir.String; it returns Both for any other text.
func DirNamed(name string) Dir {
	switch name {
	case "c2s":
		return ToServer
	case "s2c":
		return ToClient
	}
	return Both
}

// Key identifies the message of a frame.
type Key struct {
	Dir   Dir
	Group string // set of messages with a separate range of codes, or ""
	Code  uint32
}

// GivenCode is a code given to the messages of a name, as in a code map.
type GivenCode struct {
	Name string
	Code uint32
}

// Message describes one kind of message.
type Message struct {
	Name     string
	Version  int // 1 where the dialect has no versions
	Key      Key
	HasKey   bool // Key.Code is known
	Body     *Struct
	Doc      string
	Span     source.Span // for errors and for links to the definition; the start of the file if the name is not in the text
	Text     source.Span // all that the file says of it alone; zero if that is not in one place
	Broken   bool        // the definition has errors: invalid parts are missing from Body
	Measured bool        // the size is known only from the contents. Decode then checks sizes before contents, as framing requires
	Open     bool        // it is no definition, but what messages without one have in common: bytes of no field are not a problem

	ReadOnly   string // why messages must not be encoded: the definition is not valid for the version of the game; "" if it is
	Unreadable bool   // ReadOnly, and not valid for decoding either

	// Extra are bytes that checksums of an envelope with the word "extra" count behind those of the frame, so that both sides have the same
	// definition; nil: there are none.
	Extra []byte

	Front int // items of Body.Wire before the contents, if an envelope has a header: the positions of Begin and From count from behind them

	Seal func(frame []byte) // sets numbers that depend on the whole frame, such as checksums, besides those that are items; may be nil

	AlternateOf *Message // the message with the usual header, if this one has the alternative header of the dialect; nil for ordinary messages
}

// Start returns the items up to the code, with padding in the place of values. ok is false if the message has no code, or if a value before it
// has no fixed size.
func (m *Message) Start() (items []Item, ok bool) {
	if m.Body == nil {
		return nil, false
	}
	for _, it := range m.Body.Wire {
		if it.Kind == Value {
			bits := 0
			switch t := it.Field.Type.(type) {
			case *Number:
				if t.Var == Sized && t.Expr == nil {
					bits = t.Bits
				}
			case *Bitfield:
				if t.Var == Sized {
					bits = t.Bits
				}
			case *Blob:
				if t.Size == Fixed {
					bits = 8 * t.N
				}
			}
			if bits == 0 {
				return nil, false
			}
			it = Item{Kind: Pad, Bits: bits}
		}
		if it.Field != nil {
			return nil, false
		}
		if items = append(items, it); it.Kind == Code {
			return items, true
		}
	}
	return nil, false
}

// Struct is a group of fields and their order on the wire.
type Struct struct {
	Name     string
	Fields   []*Field  // in the order of the definition
	Wire     []Item    // in wire order: every bit of the struct belongs to exactly one Item
	Optional int       // number of items at the end that may be missing, if the frame ends before them
	Variants []Variant // alternatives after Wire; the first one that applies is used. If none applies, the struct ends after Wire
	Tail     []Item    // of a message: items of fixed size at its end. What precedes them ends where they begin
}

// Free returns the first name of name, name_, name__ and so on that no field of s has.
func (s *Struct) Free(name string) string {
	for slices.ContainsFunc(s.Fields, func(f *Field) bool { return f.Name == name }) {
		name += "_"
	}
	return name
}

// Variant is one alternative for the contents after the common part of a struct.
type Variant struct {
	MinLen, MaxLen int    // range of the size of the whole frame in bytes; MaxLen 0: no upper bound. Ignored if Field is set
	Field          *Field // applies if this number, earlier on the wire, has this value
	Value          uint64 // its bits
	Body           *Struct
}

// Field is one named value.
type Field struct {
	Name     string // empty for the value of a bare list element
	Type     Type
	TypeText string      // the type as written in the definition: "array<int32>"
	Doc      string      // comment
	Span     source.Span // whole line, for links between bytes and definition
	Same     *Field      // earlier field of the same name in the same struct: one value that is sent twice, the last one read counts
}

// Item is one run of bits on the wire.
type Item struct {
	Kind  ItemKind
	Field *Field // the field whose value, count or offset this is; nil for Here, Next, Length, Code, Const, Pad, Counter, Check, More. It may
	// be a field inside a Group of this struct, at any depth: such a group has no item
	Weave []*Field // Weave and Tagged: the lists, in order
	Tag   uint32   // Tag: its value
	Ends  bool     // Tagged: a tag of wire type 4 ends the lists, and follows them
	Bits  int      // width of a count, offset, length or other protocol number, of a constant or of padding
	Order Order    // byte order of such a number
	Bytes []byte   // Const only
	Sum   Checksum // Check only

	// Num is the encoding of a Code, Count, Bytes or Present; nil: an unsigned number of Bits bits in Order.
	Num *Number
}

// ItemKind is the kind of an Item.
type ItemKind uint8

// The kinds of items.
const (
	Value   ItemKind = iota // the field's bits; for a Group, its Struct.Wire
	Count                   // number of units of Field
	Offset                  // bytes from frame start to Field's first byte
	Here                    // offset of this element
	Next                    // offset of the next element, 0 at the end
	Length                  // bytes of the whole frame; Encode computes it, Decode checks it
	Code                    // code of the message; Encode writes it, Decode checks it
	Const                   // constant bytes
	Pad                     // padding
	Weave                   // contents of several lists with interleaved elements
	Counter                 // sequence number of the message within its session
	Check                   // checksum over the frame; Encode computes it, Decode checks it if the session's key is known
	Bytes                   // size in bytes of Field, a sized Group
	Present                 // selects the alternative of Field, a Choice: 0 is the first one
	More                    // 1 if another element follows this one, see While
	Align                   // padding up to a multiple of Bits bits from the start of the message
	Tagged                  // contents of several lists whose elements begin with their tags, in any order up to the end: see List.Tag
	Tag                     // the tag of an element of such a list, or the one that ends them
)

// Checksum computes a checksum over a whole frame, ignoring the bytes of the checksum itself. It must not retain the frame.
type Checksum func(frame []byte, key uint32) uint32

// Type is one of *Number, *Bitfield, *Text, *Blob, *List, *Group, *Choice. The set is closed.
type Type interface{ isType() }

// Number is an integer, a float or a boolean.
type Number struct {
	Bits     int // 1..64. Numbers that are not whole bytes fill bytes from the least significant bit, or from the most significant one if Order is Big
	Kind     NumKind
	Order    Order
	Var      Varint  // encoding in a variable number of bytes; Bits is the width of the value
	Add      int64   // unscaled integers: value = raw + Add
	Absent   bool    // bits of 0 mean that there is no value
	Scale    float64 // value = raw × Scale; 0 = unscaled
	Wrap     bool    // a scaled integer is an angle: encoding reduces it modulo 2^Bits instead of refusing values out of range
	Truncate bool    // encoding a scaled integer truncates towards zero instead of rounding half up
	Min, Max *Limit  // legal range, nil = any
	Enum     *Enum
	Expr     *Expr // computed from earlier values, and not sent: of integers and booleans the low bits. nil: it is sent
}

// NumKind is the interpretation of the bits of a Number.
type NumKind uint8

// The kinds of numbers.
const (
	Unsigned NumKind = iota
	Signed
	Float // 16, 32 or 64 bits
	Bool  // true for every value other than 0
)

// Varint is an encoding of integers in groups of seven bits, one in each byte. The top bit of a byte is set if another one follows.
type Varint uint8

// The encodings.
const (
	Sized      Varint = iota // none: as many bits as the value has
	LEB128                   // least significant group first; a signed number is its two's complement
	SLEB128                  // likewise, sign-extended from the last group
	ZigZag                   // LEB128 of the number with the sign in the lowest bit
	VLQ                      // most significant group first
	Long                     // LEB128 of an unsigned number of up to 128 bits, of which Bits, 64, are those that limits, names and registers have
	Wide                     // LEB128 of a number of 64 bits, of which the low ones are the value
	WideSigned               // likewise; the number is the value with its sign extended
)

// MaxBytes returns the number of bytes of the longest encoding of a value of so many bits.
func (v Varint) MaxBytes(bits int) int {
	switch v {
	case Long:
		bits = 128
	case Wide, WideSigned:
		bits = 64
	}
	return (bits + 6) / 7
}

// Order is the endianness of a number of whole bytes.
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
	Shown  bool // values are shown as their names
}

// EnumValue is one name of an Enum.
type EnumValue struct {
	Name  string
	Value uint64 // the bits of the number
}

// Bitfield is an integer divided into named parts; the division may depend on the values of parts. (A dialect with a fixed division may
// as well lower it to a Group of Numbers of few bits.)
type Bitfield struct {
	Bits  int // 8..64, whole bytes
	Order Order
	Var   Varint   // as of a Number
	All   string   // name under which all bits are shown as one number; parts may then leave bits out. "": none
	Names []string // all parts, in display order
	Forms []Form   // the first one that applies is used; the last must always apply
}

// Form is one division of a Bitfield. Every bit belongs to one part.
type Form struct {
	Mask, Match uint64 // applies if raw&Mask == Match
	Parts       []Part
	When        string // the condition, for messages: "npc is true and type is 1"
}

// Part is one part of a Form. The value of a name without a Part in a form is 0.
type Part struct {
	Name  string
	Shift int
	Bits  int
	Kind  NumKind // Unsigned or Bool
	Ones  int     // shown as this many bits, each of which is the one bit that it has; 0: as it is
	Mask  uint64  // Bool: true if all these bits are set, in place of Shift and Bits; 0: none
}

// Text is characters.
type Text struct {
	Charset Charset
	Pad     byte  // Fixed, with units of a byte: the bytes that fill it up, if other than 0. The text ends before the last run of them
	Value   *Expr // a text that is computed from earlier values, and not sent. nil: it is sent
	Extent
}

// Blob is opaque bytes.
type Blob struct {
	Extent
	Nested bool  // the bytes are a frame
	UUID   bool  // 16 bytes that are shown as a UUID
	Value  *Expr // bytes that are computed from earlier values, and not sent. nil: they are sent
}

// List is a sequence of elements of one kind.
type List struct {
	Elem   *Struct
	Bare   bool   // Elem has a single unnamed field; an element is shown as its value
	Linked bool   // each element has the offset of the next one; otherwise elements are contiguous
	Keyed  string // "": no. The value may also be an object: its members are the elements, and their names the values of this field
	Tag    uint32 // Scattered: the tag of each element
	Other  bool   // Scattered: the elements have all tags that no other list has; the first field is the tag
	Once   bool   // Scattered: there is at most one element, whose value stands for the list. If there are more, they are shown as a list
	Extent
}

// Group is a set of fields that are shown as one value.
type Group struct {
	Struct *Struct
	Look   bool   // At: the contents may be bytes that others have, too
	Inner  bool   // At, without In: the contents are in the bytes of the innermost group with a size around, if there is one
	Array  bool   // shown as an array: the fields have the names 0, 1 and so on
	Around bool   // the header or the tail of a message: not in summaries
	Own    bool   // may contain itself, in Groups of the same Struct that also are Own
	Sized  bool   // a Bytes item has its size; the contents end there
	Size   *Expr  // Sized: the size, in place of a Bytes item
	Null   bool   // Sized: a size of 0 means that there is no value; if Packed, a size of -1
	Bare   bool   // Own, Sized, Packed or with At: Struct has a single unnamed field, and the group is shown as its value
	At     *Expr  // the contents begin at this byte from the start of the message, and have no bytes where the group is. nil: they are there
	In     *Field // At: the group with a size in whose bytes the contents are, which end where it ends; nil: the message

	// Packed is the compression of the contents. Without Sized they extend to the end of the frame, or of the sized group around it.
	Packed Packing
	Key    *Expr // Packed with Xor: a byte, or bytes that repeat. With Rotate: the number of bits
}

// HasBody reports whether the group is a part of its own on the wire. The fields of others are among those around them.
func (g *Group) HasBody() bool { return g.Own || g.Sized || g.At != nil || g.Packed != Unpacked }

// Choice is a value whose contents depend on earlier ones. At most one alternative applies.
type Choice struct {
	On    *Expr // the number or text that selects; nil: a Present item
	Cases []Alternative
	Anon  bool // the fields of the alternative are shown among those of the enclosing struct, and the field has no name
}

// Alternative is the contents that one value of a Choice selects. An alternative without Body has none, and is shown as null.
type Alternative struct {
	Value uint64  // bits of the number; of an expression, an int64
	Text  *string // the text, if On is a text
	Else  bool    // any other value; the last alternative
	Name  string  // of the value, for people
	Body  *Struct
	Bare  bool // Body has a single unnamed field, and the choice is shown as its value
}

func (*Number) isType()   {}
func (*Bitfield) isType() {}
func (*Text) isType()     {}
func (*Blob) isType()     {}
func (*List) isType()     {}
func (*Group) isType()    {}
func (*Choice) isType()   {}

// Extent is the number of units (code units of text, bytes, elements).
type Extent struct {
	Size     Size
	N        int    // Fixed
	Min, Max *Limit // legal number of units, nil = no limit
	Null     bool   // Counted: a count of -1 means that there is no value, not an empty one
	Expr     *Expr  // Computed, Ending
	End      byte   // Until: the byte that ends the list. Terminated, with units of a byte: the byte that ends the text or bytes
	Lax      bool   // Terminated: the end of the frame, or of the group with a size, ends it, too
	Keep     bool   // Terminated: the unit that ends it is not part of it, but of what follows
	Trim     bool   // text and bytes of Fixed, Computed and ToEnd, and lax Terminated ones: the value ends before the last run of the byte Pad, which goes on to the end
	Pad      byte
	With     bool // Terminated: the unit that ends it is part of the value
}

// Size is the way the number of units is determined.
type Size uint8

// The sizes.
const (
	Fixed      Size = iota
	Counted         // by a Count item
	Terminated      // by a unit of value 0, or the byte End, which is part of the bytes, but not of the value
	ToEnd           // by the end of the frame, or of the sized group around it
	Computed        // by an expression over earlier values
	Until           // list: by a byte in the place of an element, which is part of the list
	While           // list: each element has a More item. The list has at least one element
	Ending          // list: by an expression over the fields of an element and earlier ones; the first element for which it is not 0 is the last
	Scattered       // list: by their tags, among those of other lists in a Tagged item
)

// Limit is a bound as a number of the field's kind, or a constant without a value.
type Limit struct {
	Int   int64   // Signed
	Uint  uint64  // Unsigned, and numbers of units
	Float float64 // Float
	Const string  // unresolved: layout prints it, decode and encode refuse
}
