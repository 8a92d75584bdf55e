package codec

import (
	"bytes"
	"math"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// UnknownEnd is where bytes end that are still being built, for expressions: beyond every message.
const UnknownEnd = math.MaxInt64 / 2

// ahead returns the bytes from the next part up to where those around end.
func (v *Values) ahead() []byte {
	from, to := uint64(v.At), min(v.To, uint64(len(v.Data)))
	return v.Data[min(from, to):to]
}

// seek returns the number of bytes up to one of a value.
func (v *Values) seek(b byte, how int64) int64 {
	if v.Building {
		return UnknownEnd
	}
	rest := v.ahead()
	n, found := bytes.IndexByte(rest, b), true
	if n < 0 {
		n, found = len(rest), false
	}
	v.Cost += n
	if found && how&schema.SeekWith != 0 || !found && how&schema.SeekMust != 0 {
		n++
	}
	return int64(n)
}

// trimmed returns the number of bytes up to padding.
func (v *Values) trimmed(pad byte) int64 {
	if v.Building {
		return UnknownEnd
	}
	rest := v.ahead()
	v.Cost += len(rest)
	for len(rest) > 0 && rest[len(rest)-1] == pad {
		rest = rest[:len(rest)-1]
	}
	return int64(len(rest))
}

// extreme returns the smallest or the largest of the values in the elements of a list that has been read.
func (v *Values) extreme(s *wire.Step) (out operand) {
	list := v.Regs[s.Reg]
	if list >= uint64(len(v.Nodes)) || v.Nodes[list].Kind != NodeList {
		return out
	}
	first := true
	consider := func(x operand) {
		less := x.n < out.n
		switch s.Kind {
		case schema.FloatExpr:
			less = x.f < out.f
		case schema.TextExpr:
			less = bytes.Compare(x.s, out.s) < 0
		}
		if first || less == (s.Op == schema.Least) {
			out, first = x, false
		}
		v.Cost++
	}
	n := &v.Nodes[list]
	if o := &v.Program.Ops[n.Op]; o.Plain && !o.Linked && n.After <= uint32(list)+1 {
		it := &v.Program.Blocks[o.Block].Items[v.Program.holders[s.Inner].item]
		for i := range uint32(n.Raw) {
			consider(v.inBlock(s, it, n.Off+i*o.Stride))
		}
		return out
	}
	for i := uint32(list) + 1; i < min(n.After, uint32(len(v.Nodes))) && v.Nodes[i].Kind == NodeElem; i = v.Nodes[i].After {
		consider(v.within(s, n.Op, i))
		if v.Nodes[i].After <= i {
			break
		}
	}
	return out
}
