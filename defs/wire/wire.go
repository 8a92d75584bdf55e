package wire

import (
	"slices"

	"wirebench/defs/schema"
)

// Limits of a definition. Compile enforces them, so that indexes fit and nesting cannot exhaust the stack.
const (
	MaxFields  = 60000
	MaxParts   = 60000
	MaxCases   = 1000    // of one Choice
	MaxDepth   = 64      // nesting depth of structs
	MaxBlock   = 1 << 26 // bits of a block
	MaxAlign   = 1 << 16 // bits of an alignment
	MaxMessage = 1 << 28 // bytes of a message
)

// None is the index of no field and of no register.
const None = -1

// Message is the wire layout of one kind of message. It is immutable.
type Message struct {
	Schema     *schema.Message
	Fields     []Field // all fields in preorder, including those inside lists, groups and alternatives
	Body       Body
	Regs       []Reg
	Unresolved []string // constants without a value that limit numbers or sizes
	Header     int      // bytes of the header at the start of the frame; offsets into it are invalid

	Length, Code, Counter, Check Place // numbers of the frame's header, in the first block
	Sum                          schema.Checksum
	CodeVar                      bool // the code has a variable size, and is the first part, or the one after a block
	Whole                        int  // register of the byte at which the contents end, None if nothing depends on it
	Begin                        int  // register of the byte at which the contents behind a header begin, None if there is no header or nothing depends on it
	Tail                         int  // bytes of the last part of Body, which stands at the end of the frame: the parts before it end there. 0: none

	source int // see Source
	apart  map[*schema.Struct]bool
}

// Field is one use of a field in the message. Types such as a vector are shared: one schema.Field may be used several times.
type Field struct {
	Schema *schema.Field
	Name   string // in values and paths: as in the definition; of fields with one name all but the last one read are name#1; [0] in an array
	Last   int    // the field of the same name that is read last, None if it is this one
	Parent int    // enclosing list or group, None at the top
	End    int    // the first field that is not inside this one
	InList bool   // Parent is a list
	Again  int    // the enclosing or earlier field whose contents this one has again: it has no fields of its own. None for all others
	Unit   Sum    // text, bytes and lists with a separate part: minimum size of a unit in bits
}

// Body is the contents of a message, of a list's element or of an alternative.
type Body struct {
	Struct *schema.Struct // nil for an empty alternative
	Fields []int          // in the order of the definition, without those of alternatives
	Parts  []Part
	Size
}

// Kind is the kind of a Part.
type Kind uint8

// The kinds of parts.
const (
	Block    Kind = iota // a run of items of fixed size
	Text                 // text of variable size; text of fixed size is an item of a block
	Blob                 // bytes of variable size; likewise
	List                 // elements
	Weave                // several chained lists whose elements Encode interleaves
	Choice               // alternatives; without a field the last part of its body
	Var                  // one number in a variable number of bytes
	Group                // a group with a body of its own
	Call                 // the contents of an enclosing group, again
	Let                  // no bits: sets a register to the value of an expression
	Computed             // no bits: a number, a text or bytes that are computed, and shown
	Align                // padding up to a multiple of Unit bytes from the start of the message
	Tagged               // several lists whose elements begin with their tags, in any order up to the end
)

// Part is a block of items of fixed size, contents of variable size, or a choice.
type Part struct {
	Kind     Kind
	Optional int // 1-based number of the optional item that it belongs to: the message may end before it; 0: always present
	Size

	Items []Item // Block; Var, and Computed with a number: it

	Field         int           // Text, Blob, List, Var, Computed, Group, Call, and a Choice that is a field
	Extent        schema.Extent // number of units
	Unit          int           // Text, Blob: bytes of a unit. Align: bytes
	Count, Offset int           // registers of the number of units and of the offset, or None
	MinUnits      uint64        // legal range of the number of units
	MaxUnits      uint64        // math.MaxUint64: no limit

	List *schema.List // List
	Elem *Body        // List
	Here Place        // chained List: in the first block of an element
	Next Place

	Lists []Part // Weave, Tagged
	Ends  bool   // Tagged: see schema.Item
	Cases []Case // Choice: the first one that applies is used; if none applies, there are no contents

	Reg     int   // Let, Computed, and a Text or Blob that alternatives or expressions depend on: the register that it sets; otherwise None
	Expr    *Expr // Let, Computed; Group: the key of its contents, or nil
	Bytes   int   // Group: register of its size in bytes, or None
	At      int   // Group: register of the byte at which its contents begin, or None: they begin where it is
	In      int   // Group with At: the registers of the bytes at which those begin and end in which its contents are, or None: those of the message
	InEnd   int
	Inner   bool  // Group with At: its contents are in the bytes of the innermost group with a size around, if there is one
	Node    int   // List: the register that it sets to its node, for expressions about its elements, or None
	Index   int   // List: the register that it sets to the number of the element that is read, or None
	Begin   int   // Group with Bytes: the register that it sets to the byte at which its contents begin, or None
	Stop    int   // likewise, to the byte at which they end
	Body    *Body // Group
	Present int   // Choice: register of the Present item, or None
	More    Place // List with While: in the first block of an element
	Ended   int   // List with Ending: the register that an element sets to a number other than 0 if it is the last one, or None
}

// Item is a run of bits in a block: a value of fixed size, or a count, offset, constant or other part of the encoding.
type Item struct {
	Kind  schema.ItemKind
	Field int // the field whose value, count or offset this is, or None
	Off   int // bits from the start of the block
	Bits  int
	Order schema.Order
	Type  schema.Type // Value: *Number, *Bitfield, or *Text and *Blob of fixed size; the *Number of a count, size or presence that is not a plain unsigned one
	Var   schema.Varint
	Bytes []byte // Const
	Tag   uint32 // Tag
	Reg   int    // the register that it sets, or None
}

// Reg is a number that later parts depend on: a count, an offset, or a value that chooses an alternative.
type Reg struct {
	Kind  schema.ItemKind // Count, Offset, Value, Bytes or Present
	Field int
	Place
	Type schema.Type // *Number or *Bitfield of the number, nil for a plain unsigned one; *Text of a text
	Expr *Expr       // a computed int64, which has no place; nil for a number of the message
}

// Place is the position of a number, in bits from the start of its block. Bits is 0 if there is none.
type Place struct {
	Off, Bits int
	Order     schema.Order
}

// Case is one alternative.
type Case struct {
	Reg      int     // applies if this register has the value; None: depends on the length of the frame
	Value    uint64  // raw bits
	Text     *string // if the register is that of a text, in place of Value
	Else     bool    // applies to any value
	Not      *Case   // Else: the only other alternative, nil if there are several
	Min, Max int     // range of the length of the frame in bytes; Max 0: no upper bound
	Body     Body    // without parts for an empty alternative
	Field    bool    // of a Choice that is a field
	Bare     bool    // shown as the value of its only field
	Name     string  // of the value, for people
}

// Expr is an expression over registers, in postfix order.
type Expr []Step

// Kind returns the kind of value.
func (x Expr) Kind() schema.ExprKind { return x[len(x)-1].Kind }

// Unsure reports whether the value depends on where the message, or a group in progress, ends, or on the bytes that follow. limited: not on where the
// innermost group with a size ends.
func (x Expr) Unsure(limited bool) bool {
	return slices.ContainsFunc(x, func(s Step) bool {
		return s.Op == schema.End || s.Op == schema.To && !limited || s.Op == schema.Seek || s.Op == schema.Trimmed
	})
}

// Plain reports whether the expression has only integers, from registers and literals.
func (x Expr) Plain() bool {
	return !slices.ContainsFunc(x, func(s Step) bool {
		return s.Kind != schema.IntExpr || s.Of != schema.IntExpr || s.Op >= schema.From && s.Op <= schema.Element && s.Op != schema.Index || s.Op >= schema.Least || s.Listed
	})
}

// Step is an operand or an operation of an Expr.
type Step struct {
	Op     schema.ExprOp
	Kind   schema.ExprKind // of its value
	Of     schema.ExprKind // of the operands that an operation compares, adds and so on: those of another kind are converted
	Int    int64           // Literal
	Float  float64         // FloatLiteral
	Text   []byte          // TextLiteral
	Bytes  bool            // the value, or that of the first operand, is bytes rather than characters
	Set    schema.Charset  // Characters, and Ref to a text
	Reg    int             // Ref; Begin, End and Index, None: the message
	Field  int             // likewise
	Inner  int             // Element: the field in the element
	Bits   int             // Ref to a number: its width, if it is signed; otherwise 0
	Add    int64           // Ref to a number: added to it
	Listed bool            // Ref to a list whose number of elements is not sent: that of the node in the register
	Truth  bool            // Ref to a boolean: 1 for every value other than 0
	Num    *schema.Number  // Ref to a float, or to a number with a scale
	Part   *schema.Part    // Ref to a part of a bitfield; nil: all bits
}

// Fits reports whether a case that depends on the length applies to a frame of that many bytes.
func (c *Case) Fits(bytes int) bool { return bytes >= c.Min && (c.Max == 0 || bytes <= c.Max) }

// Packing returns the compression of a part.
func (m *Message) Packing(p *Part) schema.Packing {
	if p.Kind == Group {
		return m.Fields[p.Field].Schema.Type.(*schema.Group).Packed
	}
	return schema.Unpacked
}

// Linked reports whether the part is a list whose elements have the offset of the next one.
func (p *Part) Linked() bool { return p.List != nil && p.List.Linked }

// Hoisted reports whether the fields of a group belong to the enclosing scope: the group has no items, and items of the enclosing struct
// have its fields.
func (f *Field) Hoisted() bool {
	g, ok := f.Schema.Type.(*schema.Group)
	return ok && hoisted(g)
}

func hoisted(g *schema.Group) bool {
	return g.At == nil && len(g.Struct.Wire) == 0 && len(g.Struct.Variants) == 0
}

// Source returns the approximate size of the definition in bytes: names, types and comments, once for each struct however often it is
// used. The size of texts about a message is limited to a multiple of it.
func (m *Message) Source() int { return m.source }
