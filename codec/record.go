package codec

// Record is one message, decoded or about to be encoded. Its memory is reused by the next Decode, Encode or ParseJSON into it;
// keep Data and decode again rather than keeping Records. One goroutine at a time.
type Record struct {
	Program  *Program
	Data     []byte // decoded: the caller's, not copied
	Nodes    []Node // in the order of the ops, preorder: a node's inside is Nodes[i+1:Nodes[i].After]
	Problems []Problem
	Used     int    // bytes of Data that belong to the message; what follows is another one's
	Short    bool   // the message is not whole: more bytes would be needed
	Illegal  bool   // no continuation could make it right
	Code     uint32 // the key it carried, or is to carry
	Session  Session

	Scratch any // memory that a package above this one keeps with the record

	regs    []uint64
	fixups  []uint32
	threads []thread
	leaves  []Leaf
	odd     []Problem
	own     []byte // memory of Data while encoding
}

// Session is what the frame bookkeeping depends on beside the message, for protocols that have it.
type Session struct {
	Counter  uint32 // Encode: the message's running number
	Key      uint32 // of the checksum
	KeyKnown bool   // Decode checks the checksum; without a key it is only shown. Encode uses Key as it is
}

// Range is a place in a message.
type Range struct {
	Off uint32 // bits from frame start
	Len uint32 // bits
}

// End is the first bit after the range.
func (r Range) End() uint32 { return r.Off + r.Len }

// Node is one part of a message that was read in one go. It has no pointers.
type Node struct {
	Raw   uint64 // text, blob, list: number of units that are there. Variant: which case, counted from 0
	Off   uint32 // bits from frame start
	Len   uint32 // bits
	After uint32 // index of the first node not inside this one
	Op    uint16 // which op made it
	Kind  NodeKind
	Bad   ProblemCode // 0 = fine
}

// Range is the node's place.
func (n Node) Range() Range { return Range{n.Off, n.Len} }

// NodeKind is what a Node holds.
type NodeKind uint8

// The kinds of nodes.
const (
	NodeBlock   NodeKind = iota // a run of fixed-size fields
	NodeText                    // characters and the terminator, if there is one
	NodeBlob                    // bytes
	NodeList                    // elements: its NodeElems, or none if all have one size and stand side by side
	NodeElem                    // an element; of a plain list also its block
	NodeVariant                 // an alternative
)

// Role says what some bits of a message are for.
type Role uint8

// The roles.
const (
	RoleValue Role = iota
	RoleCount
	RoleOffset
	RoleHere
	RoleNext
	RoleLength
	RoleCode
	RoleConst
	RolePad
	RoleGap // bits that no definition explains
	RoleCounter
	RoleCheck
)

func (r Role) String() string {
	return [...]string{"value", "count", "offset", "here", "next", "length", "code", "const", "pad", "gap", "counter", "check"}[r]
}

// Status says in one word how decoding went.
type Status uint8

// The statuses.
const (
	OK         Status = iota
	Incomplete        // more bytes could make it whole
	Illegal           // no continuation could
)

func (s Status) String() string { return [...]string{"ok", "incomplete", "illegal"}[s] }

// Status says how decoding went.
func (r *Record) Status() Status {
	switch {
	case r.Illegal:
		return Illegal
	case r.Short:
		return Incomplete
	}
	return OK
}

func (r *Record) Reset(p *Program) {
	r.Program, r.Data, r.Nodes, r.Problems = p, nil, r.Nodes[:0], r.Problems[:0]
	r.Used, r.Short, r.Illegal, r.Code = 0, false, false, 0
	if cap(r.regs) < p.regs {
		r.regs = make([]uint64, p.regs)
	}
	r.regs = r.regs[:p.regs]
}

// load reads a bookkeeping number relative to base bits.
func (pl place) load(data []byte, base uint32) uint64 {
	return LoadBits(data, base+pl.off, uint32(pl.bits), pl.order)
}

func (pl place) store(data []byte, base uint32, v uint64) {
	StoreBits(data, base+pl.off, uint32(pl.bits), pl.order, v)
}

func (pl place) fits(v uint64) bool { return pl.bits >= 64 || v>>pl.bits == 0 }
