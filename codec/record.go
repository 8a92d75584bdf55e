package codec

// Record is one message, decoded or about to be encoded. Its memory is reused by the next Decode, Encode or ParseJSON into it; to retain a
// message, retain Data and decode it again. A Record serves one goroutine at a time.
type Record struct {
	Program  *Program
	Data     []byte // decoded: owned by the caller, not copied; with decompressed contents, a copy with them behind the message: see Packs
	Nodes    []Node // in the order of the ops, preorder: the descendants of node i are Nodes[i+1:Nodes[i].After]
	Problems []Problem
	Used     int    // bytes of Data that belong to the message; the rest belongs to another one
	Short    bool   // the message is incomplete: more bytes are needed
	Illegal  bool   // no continuation could make it valid
	Code     uint32 // the key, as read or to be written
	Session  Session
	Filled   int // bytes at the end of Data that are not in the message, and count as 0; set after Decode, which clears it

	Packs []Pack // decompressed contents behind the message in Data, by position

	Scratch any // memory that another package attaches to the record

	regs    []uint64
	saved   []uint64 // registers around calls
	fixups  []uint32
	threads []thread

	occurrences []occurrence // of elements in progress

	placed  []placed
	moved   []uint32  // by node before its move: its index after it
	spare   []Node    // memory of Nodes before a move
	clashes []clash   // while encoding, see there
	keys    []packKey // by node
	voids   []Range   // while encoding: the bytes, not bits, that fill groups up
	owned   []bool    // by byte, once contents are placed: it belongs to something
	overlay []byte    // memory for contents that are placed
	leaves  []Leaf
	spans   []span
	odd     []Problem
	own     []byte // memory of Data while encoding
	laid    int    // see Laid
	plain   []byte // memory of Data with decompressed contents
}

// Session holds the state that frame bookkeeping depends on, for protocols that have any.
type Session struct {
	Counter  uint32 // Encode: the message's sequence number
	Key      uint32 // of the checksum
	KeyKnown bool   // Decode verifies the checksum; without a key it is only shown. Encode always uses Key
}

// Range is a range of bits in a message.
type Range struct {
	Off uint32 // bits from frame start
	Len uint32 // bits
}

// End returns the first bit after the range.
func (r Range) End() uint32 { return r.Off + r.Len }

// Node is one part of a message, read in one step. It has no pointers.
type Node struct {
	Raw uint64 // text, blob, list: number of units present. Variant: index of the case. Var: the bits of the value.
	// Group with a position: the position, in bytes
	Off   uint32 // bits from frame start
	Len   uint32 // bits
	After uint32 // index of the first node not inside this one
	Op    uint16 // op that produced it
	Kind  NodeKind
	Bad   ProblemCode // 0 = valid
}

// Range returns the node's position and size.
func (n Node) Range() Range { return Range{n.Off, n.Len} }

// NodeKind is the kind of a Node.
type NodeKind uint8

// The kinds of nodes.
const (
	NodeBlock   NodeKind = iota // a run of fixed-size fields
	NodeText                    // characters and the terminator, if any
	NodeBlob                    // bytes
	NodeList                    // elements: its NodeElems, or none if all have one size and are adjacent
	NodeElem                    // an element; of a plain list also its block
	NodeVariant                 // an alternative
	NodeVar                     // a number in a variable number of bytes, which is none for one that is computed
	NodeGroup                   // a group with a body of its own
	NodeEnd                     // the byte that ends the list before it
	NodeNull                    // text, bytes or a list that is null
	NodeAlign                   // padding, maybe empty
)

// Role is the purpose of some bits of a message.
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
	RoleGap // bits that the definition does not cover
	RoleCounter
	RoleCheck
	RoleBytes   // size of a group
	RolePresent // selector of a choice
	RoleMore    // whether another element follows
	RoleEnd     // byte that ends a list
	RolePacked  // compressed bytes of a group
	RoleTag     // tag of an element
)

func (r Role) String() string {
	return [...]string{"value", "count", "offset", "here", "next", "length", "code", "const", "pad", "gap", "counter", "check", "bytes", "present", "more", "end", "packed", "tag"}[r]
}

// Status is the result of decoding.
type Status uint8

// The statuses.
const (
	OK         Status = iota
	Incomplete        // more bytes could complete it
	Illegal           // no continuation could
)

func (s Status) String() string { return [...]string{"ok", "incomplete", "illegal"}[s] }

// Status returns the result of decoding.
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
	r.Used, r.Short, r.Illegal, r.Code, r.Filled, r.Packs = 0, false, false, 0, 0, r.Packs[:0]
	r.keys = r.keys[:0]
	if cap(r.regs) < p.regs {
		r.regs = make([]uint64, p.regs)
	}
	r.regs = r.regs[:p.regs]
}

// Laid returns the number of bytes that the last Encode into the record has laid out before the tail, also if it failed.
func (r *Record) Laid() int { return r.laid }

// load reads a bookkeeping number relative to base bits.
func (pl place) load(data []byte, base uint32) uint64 {
	return LoadBits(data, base+pl.off, uint32(pl.bits), pl.order)
}

func (pl place) store(data []byte, base uint32, v uint64) {
	StoreBits(data, base+pl.off, uint32(pl.bits), pl.order, v)
}

func (pl place) fits(v uint64) bool { return pl.bits >= 64 || v>>pl.bits == 0 }
