package codec

import (
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
	ops    []op
	blocks []block
	whole  []*block // by op: the block that its nodes are, if they are one
	plans  []plan   // of the bodies, 0 is the message's
	regs   int
	regAt  []place // by register: width and order of its number

	header  uint32 // bytes of frame bookkeeping at the start; no offset points into them
	minSize uint64 // bytes of the smallest message
	length  place  // of the frame's length, key, counter and checksum; bits 0 = none
	key     place
	counter place
	check   place
	sum     schema.Checksum

	simple   bool   // one block, then contents that have none of their own: see quick.go
	lone     bool   // simple, and nothing but the block
	frame16  bool   // the frame starts with its length and its key, or with its length alone, 16 bits each, little-endian
	head     uint32 // bytes of the first block, if simple
	first    *block // it
	contents []content
	keyMask  uint32 // all bits if the message carries its key
	byLength bool   // some alternatives are chosen by the length of the frame
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

type opcode uint8

const (
	opBlock opcode = iota
	opText
	opBlob
	opList
	opWeave   // followed by its lists, which are ops of the same body
	opVariant // followed by its cases
	opCase    // followed by its body
)

// op is one item of variable size, or a run of items of fixed size.
type op struct {
	code     opcode
	size     schema.Size
	unit     uint8 // bytes of a unit of text or blob
	linked   bool  // list: elements are chained
	optional bool  // block: may be missing when the frame ends before it
	plain    bool  // list: an element is one block and nothing else
	field    uint16
	block    uint16 // opBlock, and plain lists: index into blocks
	plan     uint16 // list and case: plan of its body
	count    uint16 // registers, noIndex if none
	offset   uint16
	next     uint16
	end      uint16 // index of the first op after its body
	n        uint32 // fixed number of units
	stride   uint32 // bits of an element, if all have the same size; else 0
	here     place  // linked lists: within the element's first block
	nextAt   place
	next16   bool // nextAt is 16 bits, little-endian, at a whole byte
	kind     NodeKind
	set      schema.Charset // of a text
	bare     bool           // a list whose elements are shown as single values
	minUnits uint64
	maxUnits uint64 // legal numbers of units; maxUnits ^0 = no limit
	minElem  uint32 // bytes of the smallest element
	slot     uint16 // step of the body's plan that holds its value
	when     when
}

// when is the condition of a variant.
type when struct {
	reg      uint16 // noIndex: by length
	value    uint64
	min, max uint32 // bytes of the frame; max 0 = no upper bound
}

// block is a run of items of fixed size.
type block struct {
	bits   uint32
	cost   uint32 // what reading it takes from the budget: its bytes, or its fields if they take none
	items  []item
	rows   []row    // of items: what AppendLeaves needs
	reach  uint32   // bytes from its start that its loads read: its own, but at least eight
	slow   []uint16 // items whose numbers take more than a load and a mask
	loads  []load
	checks []uint16 // items whose value can be illegal
	plan   []uint16 // items with a value, for encoding
}

// item is one run of bits inside a block.
type item struct {
	off   uint32 // bits from the start of the block
	bits  uint32
	role  Role
	form  form
	order schema.Order
	field uint16
	slot  uint16 // step of the body's plan that holds its value
	peek  peek   // numbers
	typ   schema.Type
	num   *schema.Number
	bytes []byte // Const
}

// form is how the bits of an item are shown.
type form uint8

const (
	formNone   form = iota
	formUint        // up to 32 bits
	formInt         // up to 32 bits
	formUint64      // up to 64 bits, a string in JSON
	formInt64
	formBool
	formFloat32
	formFloat64
	formScaled // any number with a scale
	formBitfield
	formText  // fixed text, cut at its first zero
	formChars // fixed text of which every unit counts
	formBlob
)

// isNumber reports whether the bits are one number.
func (f form) isNumber() bool { return f >= formUint && f <= formBitfield }

// load copies a bookkeeping number to a register when its block is decoded.
type load struct {
	reg      uint16
	unit     bool // a number of units: judged against the limits
	kind     Role
	field    uint16
	off      uint32
	bits     uint8
	order    schema.Order
	peek     peek
	minUnits uint64
	maxUnits uint64
	minElem  uint64 // bytes a unit takes at least
}

// plan is the order in which people read the fields of one body.
type plan struct {
	steps []step
	runs  []run
	flat  bool   // all fields are plain numbers, in one run
	tail  string // flat: what closes the object, after the run
	nodes int    // number of node-making ops of the body
}

// run is steps one after another whose values are in one block. What is written between the values is always the same.
type run struct {
	block uint16
	next  uint16 // the step after the last value
	room  int    // bytes that may be written, if all values are numbers; else 0
	parts []part
}

// part is a value of a run and what is written before it: a comma, names and braces.
type part struct {
	text string
	head [partHead]byte // the start of text, copied at once
	item uint16
	form form // what the item says of its number, once more
	bits uint8
	peek peek
}

// partHead is as long as most names with their quotes, comma and colon.
const partHead = 32

type stepKind uint8

const (
	stepItem stepKind = iota
	stepContent
	stepOpen // of a group
	stepClose
	stepVariant
)

// step is one thing to write, or to look for, in an object.
type step struct {
	kind  stepKind
	field uint16
	name  string // as in the definition
	lead  string // `,"name":`
	frag  string // the same without the comma
	node  uint16 // which of the body's nodes holds it; stepOpen: the first that holds any of it, noIndex if none does
	item  uint16 // stepItem: which item of its block
	block uint16
	op    uint16 // stepContent and stepVariant
	end   uint16 // stepOpen: its stepClose
	run   uint16 // index of the run that starts here, noIndex if none does
	same  uint16 // the step that holds the value, if a later field has the same name; else noIndex
}

// Wire is what the program was compiled from.
func (p *Program) Wire() *wire.Message { return p.wire }

// NeedsCode reports whether the message carries its key, so that Encode must be told it.
func (p *Program) NeedsCode() bool { return p.key.bits != 0 }
