package codec

import (
	"strconv"

	"wirebench/defs/source"
	"wirebench/defs/wire"
)

// AppendFieldPath appends the path of a field without element indexes: members[].player_id.
func (p *Program) AppendFieldPath(dst []byte, field uint16) []byte {
	if field == noIndex {
		return dst
	}
	f := &p.Fields[field]
	if f.Parent >= 0 {
		dst = p.AppendFieldPath(dst, uint16(f.Parent))
		if f.InList && !p.once(f.Parent) {
			dst = append(dst, "[]"...)
		}
		if f.Name != "" && len(dst) > 0 && f.Name[0] != '[' {
			dst = append(dst, '.')
		}
	}
	return append(dst, f.Name...)
}

// AppendPath appends the path of a field in the record, with the indexes of the elements around it: members[0].player_id. node and elem are
// those of its Leaf or Problem.
func (r *Record) AppendPath(dst []byte, field uint16, node, elem int32) []byte {
	var indexes [wire.MaxDepth + 2]int32
	depth, base := 0, -1
	// The elements around the node, outermost first.
	if node >= 0 && int(node) < len(r.Nodes) {
		lo, hi := 0, len(r.Nodes)
		for lo < hi {
			i := lo
			for int(r.Nodes[i].After) <= int(node) {
				i = int(r.Nodes[i].After)
			}
			n := &r.Nodes[i]
			if n.Kind == NodeList && int32(i) != node && depth < len(indexes) {
				k := int32(0)
				e := i + 1
				for int(r.Nodes[e].After) <= int(node) {
					e, k = int(r.Nodes[e].After), k+1
				}
				indexes[depth] = k
				depth++
				i = e
			}
			if int32(i) == node {
				break
			}
			if o := &r.Program.Ops[n.Op]; o.Code == OpCall && n.Kind == NodeGroup {
				dst = r.Program.AppendBelow(dst, base, o.Field, indexes[:depth])
				depth, base = 0, int(r.Program.Ops[o.Group].Field)
			}
			lo, hi = i+1, int(r.Nodes[i].After)
		}
	}
	if elem >= 0 && depth < len(indexes) {
		indexes[depth] = elem
		depth++
	}
	return r.Program.AppendBelow(dst, base, field, indexes[:depth])
}

// AppendBelow appends the path of a field from one that encloses it, whose path is in dst; -1 stands for the message. Missing indexes are
// omitted.
func (p *Program) AppendBelow(dst []byte, base int, field uint16, indexes []int32) []byte {
	if field == noIndex {
		return dst
	}
	var chain [wire.MaxDepth + 2]uint16
	n, begun := 0, base >= 0
	for f := int(field); f >= 0 && f != base && n < len(chain); f = p.Fields[f].Parent {
		chain[n] = uint16(f)
		n++
	}
	used := 0
	for n--; n >= 0; n-- {
		f := &p.Fields[chain[n]]
		if f.InList {
			switch once := p.once(f.Parent); {
			case used >= len(indexes):
				if !once {
					dst = append(dst, "[]"...)
				}
			case once && indexes[used] == 0:
				used++
			default:
				dst = append(dst, '[')
				dst = strconv.AppendInt(dst, int64(indexes[used]), 10)
				dst = append(dst, ']')
				used++
			}
			begun = true
		}
		if f.Name != "" {
			if begun && f.Name[0] != '[' {
				dst = append(dst, '.')
			}
			dst = append(dst, f.Name...)
			begun = true
		}
	}
	if used < len(indexes) && !(indexes[used] == 0 && field != noIndex && p.once(int(field))) { // an element itself
		dst = append(dst, '[')
		dst = strconv.AppendInt(dst, int64(indexes[used]), 10)
		dst = append(dst, ']')
	}
	return dst
}

// AppendSpotPath appends the path of a problem's location, or nothing if it concerns the entire message.
func (r *Record) AppendSpotPath(dst []byte, at Spot) []byte {
	field := at.Field()
	if n := at.Node(); field == noIndex && n >= 0 && int(n) < len(r.Nodes) {
		field = r.ListOf(uint32(n))
	}
	if field == noIndex {
		return dst
	}
	return r.AppendPath(dst, field, at.Node(), at.Elem())
}

// Line returns the line of a field's definition in the file of the message, or 0 if there is none. A field that another file defines has the line
// where that is used.
func (p *Program) Line(field uint16) int {
	if field == noIndex || int(field) >= len(p.Fields) {
		return 0
	}
	for f := int(field); f >= 0; f = p.Fields[f].Parent { // the parts of a vector have no line of their own
		if s := p.Fields[f].Span; !s.IsZero() && p.inFile(s) {
			return s.Pos().Line
		}
	}
	return 0
}

// inFile reports whether a place is in the file of the message.
func (p *Program) inFile(s source.Span) bool {
	own := p.Message.Span.File
	return own == nil || s.File == own || s.File.Name == own.Name
}
