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
	Unresolved []string    // constants without a value: layout works, Decode and Encode refuse

	wire   *wire.Message
	Ops    []Op
	Blocks []Block
	whole  []*Block // by op: the block that its nodes are, if they are one
	regs   int
	regAt  []place // by register: width and order of its number

	header  uint32 // bytes of frame bookkeeping at the start; no offset points into them
	minSize uint64 // bytes of the smallest message
	length  place  // of the frame's length, key, counter and checksum; bits 0 = none
	key     place
	counter place
	check   place
	sum     schema.Checksum

	Simple   bool   // one block, then contents that have none of their own: see quick.go
	Lone     bool   // simple, and nothing but the block
	Frame16  bool   // the frame starts with its length and its key, or with its length alone, 16 bits each, little-endian
	Head     uint32 // bytes of the first block, if simple
	First    *Block // it
	Contents []Content
	keyMask  uint32 // all bits if the message carries its key
	byLength bool   // some alternatives are chosen by the length of the frame
	memo     atomic.Value
}

// FieldInfo is one field of a Program.
type FieldInfo struct {
	Name   string // empty for the value of a bare list element
	Type   string // as written in the definition
	Doc    string
	Span   source.Span
	Schema *schema.Field
	Parent int // index of the field it is inside, -1 at the top
	End    int // index of the first field not inside this one
	InList bool
}

// noIndex marks an absent field, register or step.
const noIndex = 0xffff

// NoField is the Field of what belongs to no field of the definition.
const NoField = noIndex

// place is where a bookkeeping number stands.
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
)

// op is one item of variable size, or a run of items of fixed size.
type Op struct {
	Code     OpCode
	Size     schema.Size
	Unit     uint8 // bytes of a unit of text or blob
	Linked   bool  // list: elements are chained
	Optional bool  // block: may be missing when the frame ends before it
	Plain    bool  // list: an element is one block and nothing else
	Field    uint16
	Block    uint16 // opBlock, and plain lists: index into blocks
	Body     uint16 // list and case: number of its body. That of the message is 0
	count    uint16 // registers, noIndex if none
	offset   uint16
	next     uint16
	End      uint16 // index of the first op after its body
	N        uint32 // fixed number of units
	Stride   uint32 // bits of an element, if all have the same size; else 0
	here     place  // linked lists: within the element's first block
	nextAt   place
	next16   bool // nextAt is 16 bits, little-endian, at a whole byte
	kind     NodeKind
	Set      schema.Charset // of a text
	Bare     bool           // a list whose elements are shown as single values
	MinUnits uint64
	MaxUnits uint64 // legal numbers of units; maxUnits ^0 = no limit
	minElem  uint32 // bytes of the smallest element
	When     When
}

// when is the condition of a variant.
type When struct {
	Reg      uint16 // noIndex: by length
	Value    uint64
	min, max uint32 // bytes of the frame; max 0 = no upper bound
}

// block is a run of items of fixed size.
type Block struct {
	Bits   uint32
	cost   uint32 // what reading it takes from the budget: its bytes, or its fields if they take none
	Items  []Item
	rows   []row    // of items: what AppendLeaves needs
	Reach  uint32   // bytes from its start that its loads read: its own, but at least eight
	slow   []uint16 // items whose numbers take more than a load and a mask
	Loads  []Load
	Checks []uint16 // items whose value can be illegal
}

// item is one run of bits inside a block.
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
	Bytes []byte // Const
}

// form is how the bits of an item are shown.
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
	FormScaled // any number with a scale
	FormBitfield
	FormText  // fixed text, cut at its first zero
	FormChars // fixed text of which every unit counts
	FormBlob
)

// isNumber reports whether the bits are one number.
func (f Form) IsNumber() bool { return f >= FormUint && f <= FormBitfield }

// load copies a bookkeeping number to a register when its block is decoded.
type Load struct {
	Reg      uint16
	unit     bool // a number of units: judged against the limits
	kind     Role
	field    uint16
	Off      uint32
	Bits     uint8
	Order    schema.Order
	peek     Peek
	minUnits uint64
	maxUnits uint64
	minElem  uint64 // bytes a unit takes at least
}

// Wire is what the program was compiled from.
func (p *Program) Wire() *wire.Message { return p.wire }

// NeedsCode reports whether the message carries its key, so that Encode must be told it.
func (p *Program) NeedsCode() bool { return p.key.bits != 0 }

// Memo is what a package above this one has worked out of the program, and keeps with it. make is called when it is asked for first;
// calls at the same time may each make one, of which one is kept.
func (p *Program) Memo(make func(*Program) any) any {
	if m := p.memo.Load(); m != nil {
		return m
	}
	p.memo.CompareAndSwap(nil, make(p))
	return p.memo.Load()
}
