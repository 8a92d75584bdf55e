package codec

import (
	"sync/atomic"

	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/wire"
)

// Program is one message compiled to a flat list of ops. It is immutable and may be shared by all goroutines.
type Program struct {
	Message    *schema.Message
	Fields     []FieldInfo // preorder
	Unresolved []string    // constants without a value: layout works, Decode and Encode fail

	wire   *wire.Message
	Ops    []Op
	Blocks []Block
	whole  []*Block // by op: the block that its nodes consist of, or nil
	regs   int
	regAt  []place // by register: width and byte order of its number

	header  uint32 // bytes of frame bookkeeping at the start; no offset points into them
	minSize uint64 // bytes of the smallest message
	largest int64  // bits of the largest message; 0: there is no limit
	length  place  // of the frame's length, key, counter and checksum; bits 0 = none
	key     place
	keyVar  bool // the key has a variable size, and is an op of its own
	keyOp   uint16
	tail    uint32 // bytes of the last op, a block at the end of the frame; 0: it has no such block
	counter place
	check   place
	sum     schema.Checksum

	Simple   bool   // one block, then contents without contents of their own: see quick.go
	Lone     bool   // simple, and only the block
	Frame16  bool   // the frame starts with its length and optionally its key, 16 bits each, little-endian
	Head     uint32 // bytes of the first block, if simple
	First    *Block // the first block, if simple
	Contents []Content
	Straight []Segment           // of a message that is not simple: see straight.go; nil for others
	keyMask  uint32              // all bits if the message carries its key
	byLength bool                // some alternatives are selected by the length of the frame
	odd      bool                // some block has odd items
	padded   bool                // some block has padding
	setFirst bool                // each register is set before it is used, so that they need not be cleared
	packed   bool                // see Packed
	reread   bool                // what Encode made is decoded again: it sets nodes, and proves that computed sizes and positions are right
	holders  []holder            // by field: what holds its value
	looks    bool                // has groups whose contents may be bytes of others
	gaps     bool                // see KeepsGaps
	wholeReg uint16              // register of the byte at which the contents end, or noIndex
	beginReg uint16              // of that at which those behind a header begin
	nested   bool                // has ops with bodies of their own or of variable size, which can make more nodes per byte
	regVar   []bool              // by register: its number has a variable size
	regNum   []*schema.Number    // by register: that of a count or size that is not a plain unsigned number
	cleared  [][]uint16          // by Op.clears: the registers that its alternatives set, and that alternatives or expressions depend on
	selects  []bool              // by register: alternatives or expressions depend on it
	calls    map[uint16][]uint16 // by OpGroup that is called: the registers that its body sets
	jumps    []jumpTable
	tags     []tagTable
	memo     atomic.Value
}

// holder is the op of a field's value, and its item in the block of the op.
type holder struct{ op, item uint16 }

// FieldInfo is one field of a Program.
type FieldInfo struct {
	Name   string // as in values and paths: empty for the value of a bare list element, name#1 where a later field has the same name
	Type   string // as written in the definition
	Doc    string
	Span   source.Span
	Schema *schema.Field
	Parent int // index of the enclosing field, -1 at the top
	End    int // index of the first field not inside this one
	InList bool
}

// noIndex marks an absent field, register or step.
const noIndex = 0xffff

// NoField means that bits belong to no field of the definition.
const NoField = noIndex

// place is the position of a bookkeeping number.
type place struct {
	off   uint32 // bits from frame start, or from the start of its block
	bits  uint8
	order schema.Order
}

type OpCode uint8

const (
	OpBlock OpCode = iota
	OpText
	OpBlob
	OpList
	OpWeave   // followed by its lists, which are ops of the same body
	OpVariant // followed by its cases
	OpCase    // followed by its body
	OpVar     // one number in a variable number of bytes; its item is the only one of its block
	OpGroup   // followed by its body
	OpCall    // reads the body of an enclosing OpGroup again
	OpLet     // computes a register
	OpShown   // computes a number, which is shown; its item is the only one of its block
	OpAlign   // padding up to a multiple of Unit bytes
	OpTagged  // followed by its lists, which are ops of the same body
)

// Op is one item of variable size, or a run of items of fixed size.
type Op struct {
	Code     OpCode
	Size     schema.Size
	Unit     uint8 // bytes of a unit of text or blob
	Linked   bool  // list: elements are chained
	Optional bool  // block: may be missing if the frame ends before it
	Plain    bool  // list: an element is exactly one block
	Field    uint16
	Block    uint16 // OpBlock, OpVar, OpShown, and plain lists: index into Blocks
	Body     uint16 // list, case and group: number of its body, 0 for the message's; call: of its group
	count    uint16 // registers, noIndex if none
	offset   uint16
	next     uint16
	End      uint16 // index of the first op after its body
	N        uint32 // fixed number of units
	Stride   uint32 // bits of an element, if all have the same size, otherwise 0
	here     place  // linked lists: within the element's first block
	nextAt   place
	next16   bool // nextAt is 16 bits, little-endian, at a whole byte
	kind     NodeKind
	Set      schema.Charset // of a text
	MinUnits uint64
	MaxUnits uint64 // legal numbers of units; MaxUnits ^0 = unlimited
	minElem  uint32 // minimum bytes of an element
	When     When
	End0     byte   // lists with Until: the byte that ends the list
	more     place  // lists with While: within the element's first block
	ended    uint16 // lists with Ending: the register that is not 0 after the last element, or noIndex
	reg      uint16 // OpVar, OpLet, OpShown, OpText: the register that it sets, or noIndex
	at       uint16 // OpGroup: register of the byte at which its contents begin, or noIndex
	in       uint16 // OpGroup with at: the registers of the bytes at which those begin and end in which its contents are, or noIndex: those of the message
	inEnd    uint16
	begin    uint16 // OpGroup with a size or compressed: the registers that it sets to the bytes at which its contents begin and end, or noIndex
	stop     uint16
	size     uint16 // OpGroup: register of its size in bytes, or noIndex
	Present  uint16 // OpVariant: register of its selector, or noIndex
	jump     uint16 // OpVariant: index into the jump tables, or noIndex; OpTagged: into the tag tables
	Group    uint16 // OpCall: the OpGroup
	NullSize bool   // OpGroup: a size of nullSize means null
	nullSize uint64
	Bare     bool           // of a case, a group or a list: shown as the value of the only field
	clears   uint16         // OpVariant: the registers that it clears, an index into Program.cleared, or noIndex
	null     bool           // text, bytes and lists: a count of -1 means null
	packing  schema.Packing // OpGroup
	expr     wire.Expr      // OpLet, OpShown, and OpText and OpBlob that are computed
	node     uint16         // OpList: the registers that it sets to its node and to the number of the element that is read, or noIndex
	index    uint16
	trim     bool // text and bytes: see schema.Extent
	pad      byte
	inner    bool // OpGroup with at: see wire.Part.Inner
	look     bool // OpGroup with at: its contents may be bytes of others
	window   bool // OpGroup: its size is computed
	lax      bool // terminated text and bytes: see schema.Extent
	keep     bool
	once     bool // OpList among tagged ones: see schema.List
	with     bool
}

// Var returns the number of an OpVar or OpShown.
func (p *Program) Var(o *Op) *Item { return &p.Blocks[o.Block].Items[0] }

// When is the condition of a case.
type When struct {
	Reg      uint16 // noIndex: selected by length
	Else     bool   // any value
	Value    uint64
	Text     *string // of a text, in place of Value
	min, max uint32  // bytes of the frame; max 0 = no upper bound
}

// Block is a run of items of fixed size.
type Block struct {
	Bits  uint32
	cost  uint32 // charged to the budget: its bytes, or its fields if they occupy none
	Items []Item
	rows  []row    // of items, for AppendLeaves
	Reach uint32   // bytes from its start covered by its loads: its size, but at least eight
	slow  []uint16 // items whose numbers need more than a load and a mask
	Loads []Load

	pointers []pointer // among the loads

	Checks []uint16 // items whose value can be illegal
	odd    []uint16 // items of which oddItem may say something
	pads   []uint16 // items of padding
}

// Item is one run of bits inside a block.
type Item struct {
	Off   uint32 // bits from the start of the block
	Bits  uint32
	Role  Role
	Form  Form
	Order schema.Order
	Field uint16
	Peek  Peek // numbers
	Type  schema.Type
	Num   *schema.Number
	Var   schema.Varint // of an OpVar; Bits is then the width of the value
	Bytes []byte        // Const
	Tag   uint32        // RoleTag
}

// Computed reports whether the item is a number that is computed, and has no bits in the message.
func (it *Item) Computed() bool { return it.Num != nil && it.Num.Expr != nil }

// Form is how the bits of an item are displayed.
type Form uint8

const (
	FormNone   Form = iota
	FormUint        // up to 32 bits
	FormInt         // up to 32 bits
	FormUint64      // up to 64 bits, a string in JSON
	FormInt64
	FormBool
	FormFloat32
	FormFloat64
	FormFloat16
	FormScaled // any number with a scale
	FormNamed  // an integer of up to 64 bits that is shown by name, or with a number added, or may be absent
	FormBitfield
	FormText  // fixed text, cut at its first zero
	FormChars // fixed text of which all units are significant
	FormBlob
	FormUUID
)

// IsNumber reports whether the bits are one number.
func (f Form) IsNumber() bool { return f >= FormUint && f <= FormBitfield }

// Load copies a bookkeeping number to a register when its block is decoded.
type Load struct {
	Reg      uint16
	unit     bool           // a number of units: checked against the limits
	num      *schema.Number // of a count or size that is not a plain unsigned number; nil otherwise
	null     bool           // a count of -1 means that there are no contents
	kind     Role
	field    uint16
	Off      uint32
	Bits     uint8
	Order    schema.Order
	peek     Peek
	minUnits uint64
	maxUnits uint64
	minElem  uint64 // minimum bytes of a unit
}

// Wire returns the layout that the program was compiled from.
func (p *Program) Wire() *wire.Message { return p.wire }

// NeedsCode reports whether the message carries its key, so that Encode needs Record.Code.
func (p *Program) NeedsCode() bool { return p.key.bits != 0 || p.keyVar }

// HasSession reports whether messages have a counter or a checksum, which depend on the session.
func (p *Program) HasSession() bool { return p.counter.bits != 0 || p.check.bits != 0 }

// Memo returns a value that a package derives from the program, and stores it with the program. make is called on first use; concurrent
// calls may each call make, but all return the same result.
func (p *Program) Memo(make func(*Program) any) any {
	if m := p.memo.Load(); m != nil {
		return m
	}
	p.memo.CompareAndSwap(nil, make(p))
	return p.memo.Load()
}

// Largest returns the bytes of the largest message; 0 if there is no limit.
func (p *Program) Largest() int { return int(min((p.largest+7)/8, MaxMessage)) }

// Tail returns the op of the tail of messages; false if they have none.
func (p *Program) Tail() (op uint16, ok bool) { return uint16(len(p.Ops) - 1), p.tail > 0 }
