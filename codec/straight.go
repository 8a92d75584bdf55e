package codec

import (
	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// A Segment is a part of a message of a straight program: blocks, and contents whose number of units is a number in an earlier block, one after
// another. So all segments are located without decoding.
type Segment struct {
	Op       uint16
	Kind     NodeKind // NodeBlock, NodeText, NodeBlob or NodeList
	Block    *Block   // NodeBlock
	Size     uint64   // NodeBlock: its bytes
	Each     uint64   // contents: bytes of a unit
	Of       int      // contents: the segment with the number of units, which Count reads; -1: the byte End ends them
	Count    Peek
	Min, Max uint64 // contents: legal numbers of units
	End      byte
}

// findStraight determines the segments of a program, if it is straight and not simple.
func (p *Program) findStraight() {
	if p.Simple || len(p.Ops) == 0 || p.Ops[0].Code != OpBlock || len(p.Unresolved) > 0 || p.tail > 0 || p.packed {
		return
	}
	type number struct {
		of   int
		peek Peek
	}
	numbers := map[uint16]number{} // by register
	var segments []Segment
	for i := 0; i < len(p.Ops); i = int(p.Ops[i].End) {
		o := &p.Ops[i]
		if o.Optional {
			return
		}
		s := Segment{Op: uint16(i), Kind: o.kind, Each: uint64(o.Unit), Min: o.MinUnits, Max: o.MaxUnits}
		switch o.Code {
		case OpBlock:
			b := &p.Blocks[o.Block]
			s.Kind, s.Block, s.Size = NodeBlock, b, uint64(b.Bits/8)
			for k := range b.Loads {
				if l := &b.Loads[k]; l.Bits <= 32 && l.num == nil && !l.peek.Slow {
					numbers[l.Reg] = number{len(segments), l.peek}
				}
			}
			segments = append(segments, s)
			continue
		case OpLet:
			if n, ok := numbers[plainRef(o.expr)]; ok {
				numbers[o.reg] = n
			}
			continue
		case OpText, OpBlob:
		case OpList:
			if !o.Plain || o.Linked || o.node != noIndex || o.index != noIndex {
				return
			}
			if b := &p.Blocks[o.Block]; len(b.Checks) > 0 || b.Bits == 0 {
				return
			}
			s.Each = uint64(o.Stride / 8)
		default:
			return
		}
		if o.expr != nil || o.offset != noIndex || o.lax || o.keep || o.with || o.trim || o.null {
			return
		}
		n, known := numbers[o.count]
		switch {
		case (o.Size == schema.Counted || o.Size == schema.Computed) && known:
			s.Of, s.Count = n.of, n.peek
		case o.Size == schema.Terminated && o.Unit == 1 && o.Code != OpList:
			s.Of, s.End = -1, o.End0
		default:
			return
		}
		segments = append(segments, s)
	}
	p.Straight = segments
}

// plainRef returns the register of an expression that is one unsigned number, or noIndex.
func plainRef(x wire.Expr) uint16 {
	if len(x) != 1 {
		return noIndex
	}
	if s := &x[0]; s.Op == schema.Ref && s.Kind == schema.IntExpr && s.Part == nil && s.Num == nil && s.Bits == 0 && s.Add == 0 && !s.Truth && !s.Listed {
		return uint16(s.Reg)
	}
	return noIndex
}
