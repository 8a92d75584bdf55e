package wire

import "wirebench/defs/schema"

// Bounds of a definition. Compile refuses what is beyond them, so that indexes fit and nesting cannot exhaust the stack.
const (
	MaxFields  = 60000
	MaxParts   = 60000
	MaxCases   = 1000    // of one Choice
	MaxDepth   = 64      // of structs inside each other
	MaxBlock   = 1 << 26 // bits of fixed size in a row
	MaxMessage = 1 << 28 // bytes that a message may have at all
)

// None is the index of no field and of no register.
const None = -1

// Message is what stands where in one kind of message. It is immutable.
type Message struct {
	Schema     *schema.Message
	Fields     []Field // preorder: all fields, also those inside lists, groups and alternatives
	Body       Body
	Regs       []Reg
	Unresolved []string // constants without a value that bound numbers or sizes
	Header     int      // bytes of bookkeeping at the start of the frame; no offset leads into them

	Length, Code, Counter, Check Place // bookkeeping of the frame, in the first block
	Sum                          schema.Checksum

	source int // see Source
}

// Field is one field at one place of the message. Types such as a vector are shared: one schema.Field may stand at several places.
type Field struct {
	Schema *schema.Field
	Parent int  // the list or group that it is inside, None at the top
	End    int  // the first field that is not inside this one
	InList bool // Parent is a list
	Unit   Sum  // of text, bytes and lists with a part of their own: bits that a unit takes at least
}

// Body is the contents of a message, of a list's element or of an alternative.
type Body struct {
	Struct *schema.Struct // nil of an alternative that says that nothing follows
	Fields []int          // its own fields, as authored; those of its alternatives are in their bodies
	Parts  []Part
	Size
}

// Kind says what a Part is.
type Kind uint8

// The kinds of parts.
const (
	Block  Kind = iota // a run of items of fixed size
	Text               // characters; of fixed size they are an item of a block
	Blob               // bytes; likewise
	List               // elements
	Weave              // several chained lists whose elements Encode lays out in turns
	Choice             // alternatives; the last part of its body
)

// Part is what is read in one go.
type Part struct {
	Kind     Kind
	Optional int // the message may end before it. Parts of one optional item have the same number, from 1 on; 0: always there
	Size

	Items []Item // Block

	Field         int           // Text, Blob, List
	Extent        schema.Extent // how the number of units is known
	Unit          int           // Text, Blob: bytes of a unit
	Count, Offset int           // registers of the number of units and of the place, or None
	MinUnits      uint64        // legal numbers of units
	MaxUnits      uint64        // math.MaxUint64: no limit

	List *schema.List // List
	Elem *Body        // of a List
	Here Place        // of a chained list: in the first block of an element
	Next Place

	Lists []Part // Weave
	Cases []Case // Choice: the first that fits is taken, none fits: nothing follows
}

// Item is a run of bits in a block: a value of fixed size, or bookkeeping.
type Item struct {
	Kind  schema.ItemKind
	Field int // the field whose value, count or offset it is, or None
	Off   int // bits from the start of the block
	Bits  int
	Order schema.Order
	Type  schema.Type // Value: *Number, *Bitfield, or *Text and *Blob of fixed size
	Bytes []byte      // Const
	Reg   int         // the register that keeps it for later parts, or None
}

// Reg is a number that decides about later parts: a count, an offset, or a value that chooses an alternative.
type Reg struct {
	Kind  schema.ItemKind // Count, Offset or Value
	Field int
	Place
}

// Place is where a number stands, in bits from the start of its block. Bits is 0 if there is none.
type Place struct {
	Off, Bits int
	Order     schema.Order
}

// Case is one alternative.
type Case struct {
	Reg      int    // taken if this register has the value; None: chosen by the length of the frame
	Value    uint64 // its bits
	Min, Max int    // taken if the frame has so many bytes; Max 0: no upper bound
	Body     Body   // without parts if the alternative is that nothing follows
}

// Fits reports whether a case that is chosen by length is taken in a frame of so many bytes.
func (c *Case) Fits(bytes int) bool { return bytes >= c.Min && (c.Max == 0 || bytes <= c.Max) }

// Linked reports whether the part is a list whose elements say where the next one is.
func (p *Part) Linked() bool { return p.List != nil && p.List.Linked }

// Hoisted reports whether the fields of a group stand in the scope around it: the group has no bytes of its own, and items outside it
// carry its fields.
func (f *Field) Hoisted() bool {
	g, ok := f.Schema.Type.(*schema.Group)
	return ok && hoisted(g)
}

func hoisted(g *schema.Group) bool { return len(g.Struct.Wire) == 0 && len(g.Struct.Variants) == 0 }

// Source is about how many bytes of definition the message was made of: names, types and comments, each once however often a struct
// is used. What is written about a message has a budget that is a multiple of it.
func (m *Message) Source() int { return m.source }
