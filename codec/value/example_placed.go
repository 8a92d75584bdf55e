package value

import (
	"errors"

	"wirebench/codec"
	"wirebench/defs/schema"
)

// encodePlaced encodes a record. Where contents are laid out at another position than their number says, it changes the number, if the
// position is that number plus, minus or times a constant.
func encodePlaced(p *codec.Program, made, in *codec.Record) error {
	for range min(len(in.Nodes), 200) {
		err := p.EncodeClose(made, in)
		var wrong *codec.PositionError
		if !errors.As(err, &wrong) || !setPosition(p, in, wrong) {
			return err
		}
	}
	return p.EncodeClose(made, in)
}

// setPosition changes the number that the position of contents depends on. It reports whether it did.
func setPosition(p *codec.Program, in *codec.Record, wrong *codec.PositionError) bool {
	group := &in.Nodes[wrong.Node]
	reg, ok := p.Ops[group.Op].Position()
	if !ok || wrong.At == wrong.Want {
		return false
	}
	x, units := *p.Wire().Regs[reg].Expr, int64(wrong.At)
	if len(x) == 3 && x[0].Op == schema.Ref && x[1].Op == schema.Literal {
		switch c := x[1].Int; {
		case x[2].Op == schema.Add:
			units -= c
		case x[2].Op == schema.Sub:
			units += c
		case x[2].Op == schema.Mul && c != 0 && units%c == 0:
			units /= c
		default:
			return false
		}
	} else if len(x) != 1 || x[0].Op != schema.Ref {
		return false
	}
	for i := wrong.Node - 1; i >= 0; i-- {
		n := &in.Nodes[i]
		o := &p.Ops[n.Op]
		if n.Kind != codec.NodeBlock && (n.Kind != codec.NodeVar || o.Code != codec.OpVar) {
			continue
		}
		for k := range p.Blocks[o.Block].Items {
			it := &p.Blocks[o.Block].Items[k]
			if it.Role != codec.RoleValue || int(it.Field) != x[0].Field || it.Num == nil {
				continue
			}
			raw, ok := it.Num.RawUnits(units)
			if !ok {
				return false
			}
			if group.Raw = wrong.At; n.Kind == codec.NodeVar {
				n.Raw = raw
			} else {
				codec.StoreBits(in.Data, n.Off+it.Off, it.Bits, it.Order, raw)
			}
			return true
		}
	}
	return false
}
