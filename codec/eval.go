package codec

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// Values has what expressions refer to.
type Values struct {
	Program  *Program
	Regs     []uint64
	Data     []byte // that registers of texts, and nodes, refer to
	Nodes    []Node
	At       uint32 // the byte at which the next part begins
	From, To uint64 // the bytes at which those of the innermost group with a size begin and end
	Building bool   // the message is being built: what follows is not known
	Cost     int    // bytes of all texts that were made, and nodes that were looked at
}

// maxText limits the bytes of a text that an expression makes.
const maxText = 1 << 16

// Int computes a number from the registers.
func (v *Values) Int(x wire.Expr) int64 {
	if x.Plain() {
		return eval(x, v.Regs)
	}
	o := v.eval(x)
	return o.n
}

// Float computes a float from the registers.
func (v *Values) Float(x wire.Expr) float64 { return v.eval(x).f }

// Text computes characters in UTF-8, or bytes. The result is valid until data that it may share is overwritten.
func (v *Values) Text(x wire.Expr) []byte { return v.eval(x).s }

// operand is a value of one of the kinds of an expression. An integer is a float, too.
type operand struct {
	n int64
	f float64
	s []byte
}

func (v *Values) eval(x wire.Expr) operand {
	var few [12]operand
	stack := few[:0]
	if len(x) > len(few) {
		stack = make([]operand, 0, len(x))
	}
	for i := range x {
		s := &x[i]
		n := len(stack) - s.Op.Operands()
		stack = append(stack[:n], v.step(s, stack[n:]))
	}
	return stack[0]
}

// step computes a step from its operands.
func (v *Values) step(s *wire.Step, args []operand) (out operand) {
	switch s.Op {
	case schema.Literal:
		out.n = s.Int
	case schema.FloatLiteral:
		return operand{f: s.Float}
	case schema.TextLiteral:
		return operand{s: s.Text}
	case schema.Ref:
		return v.ref(s)
	case schema.Begin, schema.End:
		out.n = int64(v.Regs[s.Reg])
	case schema.Cursor:
		out.n = int64(v.At)
	case schema.From:
		out.n = int64(v.From)
	case schema.To:
		out.n = int64(v.To)
	case schema.Index:
		out.n = int64(v.Regs[s.Reg])
	case schema.Element:
		return v.element(s, args[0].n)
	case schema.Least, schema.Greatest:
		return v.extreme(s)
	case schema.Seek:
		out.n = v.seek(byte(args[0].n), args[1].n)
	case schema.Trimmed:
		out.n = v.trimmed(byte(args[0].n))
	case schema.ByteOf:
		out.s = v.made([]byte{byte(args[0].n)})
	case schema.If:
		if args[0].n != 0 {
			return args[1]
		}
		return args[2]
	default:
		switch s.Of {
		case schema.FloatExpr:
			return floats(s.Op, args)
		case schema.TextExpr:
			return v.texts(s, args)
		}
		switch s.Op {
		case schema.ToInt: // it is one
			out.n = args[0].n
		case schema.ToText:
			out.s = v.made(strconv.AppendInt(nil, args[0].n, 10))
		default:
			b := int64(0)
			if len(args) > 1 {
				b = args[1].n
			}
			out.n = s.Op.Apply(args[0].n, b)
		}
	}
	out.f = float64(out.n)
	return out
}

// made charges a text, and cuts it if it is too long.
func (v *Values) made(text []byte) []byte {
	text = text[:min(len(text), maxText)]
	v.Cost += len(text)
	return text
}

// ref returns the value of a field.
func (v *Values) ref(s *wire.Step) (out operand) {
	raw := v.Regs[s.Reg]
	switch {
	case s.Listed:
		if raw < uint64(len(v.Nodes)) && v.Nodes[raw].Kind == NodeList {
			out.n = int64(v.Nodes[raw].Raw)
		}
		out.f = float64(out.n)
		return out
	case s.Kind == schema.TextExpr:
		out.s = v.textAt(raw, s)
		return out
	}
	return number(s, raw)
}

// number returns the value of the bits of a number.
func number(s *wire.Step, raw uint64) (out operand) {
	if s.Num != nil {
		out.f = s.Num.Float(raw)
		return out
	}
	out.n = refInt(s, raw)
	out.f = float64(out.n)
	return out
}

// element returns a value in an element of the list whose node is in a register.
func (v *Values) element(s *wire.Step, index int64) (out operand) {
	list := v.Regs[s.Reg]
	if list >= uint64(len(v.Nodes)) || v.Nodes[list].Kind != NodeList || index < 0 {
		return out
	}
	n, h := &v.Nodes[list], v.Program.holders[s.Inner]
	o := &v.Program.Ops[n.Op]
	if o.Plain && !o.Linked && n.After <= uint32(list)+1 {
		if uint64(index) < n.Raw {
			return v.inBlock(s, &v.Program.Blocks[o.Block].Items[h.item], n.Off+uint32(index)*o.Stride)
		}
		return out
	}
	// The elements and what is in them follow, with those in progress at the end.
	elem := uint32(list) + 1
	for ; index > 0 && elem < uint32(len(v.Nodes)) && v.Nodes[elem].Kind == NodeElem && v.Nodes[elem].Op == n.Op; index-- {
		if v.Cost++; v.Nodes[elem].After <= elem {
			return out
		}
		elem = v.Nodes[elem].After
	}
	if elem >= uint32(len(v.Nodes)) || v.Nodes[elem].Kind != NodeElem || v.Nodes[elem].Op != n.Op {
		return out
	}
	return v.within(s, n.Op, elem)
}

// within returns a value in an element of the list of an op, whose node is given.
func (v *Values) within(s *wire.Step, op uint16, elem uint32) (out operand) {
	h, o := v.Program.holders[s.Inner], &v.Program.Ops[op]
	end := v.Nodes[elem].After
	if end == elem+1 { // it has no contents, or is in progress
		end = uint32(len(v.Nodes))
	}
	if o.Plain {
		return v.inBlock(s, &v.Program.Blocks[o.Block].Items[h.item], v.Nodes[elem].Off)
	}
	for i := elem + 1; i < end; i++ {
		x := &v.Nodes[i]
		v.Cost++
		switch {
		case x.Kind == NodeElem && x.Op == op: // the next one
			return out
		case x.Op != h.op || x.Bad != NoProblem:
		case x.Kind == NodeBlock:
			return v.inBlock(s, &v.Program.Blocks[v.Program.Ops[h.op].Block].Items[h.item], x.Off)
		case x.Kind == NodeVar:
			return number(s, x.Raw)
		case x.Kind == NodeText || x.Kind == NodeBlob:
			out.s = v.textAt(uint64(x.Off/8)<<32|x.Raw*uint64(v.Program.Ops[h.op].Unit), s)
			return out
		}
	}
	return out
}

// inBlock returns the value of an item of a block that begins at a bit.
func (v *Values) inBlock(s *wire.Step, it *Item, at uint32) (out operand) {
	from := at + it.Off
	if uint64(from)+uint64(it.Bits) > uint64(len(v.Data))*8 {
		return out
	}
	if s.Kind != schema.TextExpr {
		return number(s, LoadBits(v.Data, from, it.Bits, it.Order))
	}
	text := v.Data[from/8 : (from+it.Bits)/8]
	if t, ok := it.Type.(*schema.Text); ok && it.Form == FormText {
		text = FixedText(t, text)
	}
	out.s = v.textAt(uint64(from/8)<<32|uint64(len(text)), s)
	return out
}

// refInt returns the integer of a register.
func refInt(s *wire.Step, raw uint64) int64 {
	n := int64(raw)
	switch {
	case s.Part != nil:
		n = int64(s.Part.Value(raw))
	case s.Truth && raw != 0:
		n = 1
	case s.Bits > 0:
		n = schema.SignExtend(raw, s.Bits)
	}
	return n + s.Add
}

// textAt returns a text in UTF-8, or bytes.
func (v *Values) textAt(ref uint64, s *wire.Step) []byte {
	from, size := ref>>32, ref&math.MaxUint32
	if from+size > uint64(len(v.Data)) {
		return nil
	}
	text := v.Data[from:][:size:size]
	if s.Set == schema.UTF8 || s.Bytes {
		return text
	}
	return v.characters(text, s.Set)
}

// characters converts a text to UTF-8.
func (v *Values) characters(text []byte, set schema.Charset) []byte {
	if set == schema.UTF8 {
		return text
	}
	var out []byte
	for len(text) > 0 && len(out) < maxText {
		r, n := rune(text[0]), 1
		switch {
		case set.Unit() == 2 && len(text) < 2:
			return v.made(out)
		case set == schema.UTF16LE:
			r, n = rune(text[0])|rune(text[1])<<8, 2
		case set == schema.UTF16BE:
			r, n = rune(text[1])|rune(text[0])<<8, 2
		case set.Table():
			r, n = set.Next(text)
		}
		if text = text[n:]; n == 2 && utf16.IsSurrogate(r) && len(text) >= 2 {
			low := rune(text[0]) | rune(text[1])<<8
			if set == schema.UTF16BE {
				low = rune(text[1]) | rune(text[0])<<8
			}
			if both := utf16.DecodeRune(r, low); both != utf8.RuneError {
				r, text = both, text[2:]
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return v.made(out)
}

func floats(op schema.ExprOp, args []operand) (out operand) {
	a := args[0].f
	b := 0.0
	if len(args) > 1 {
		b = args[1].f
	}
	truth := func(t bool) {
		if t {
			out.n = 1
		}
	}
	switch op {
	case schema.Neg:
		out.f = -a
	case schema.Add:
		out.f = a + b
	case schema.Sub:
		out.f = a - b
	case schema.Mul:
		out.f = a * b
	case schema.Div:
		out.f = a / b
	case schema.Mod:
		if out.f = math.Mod(a, b); out.f != 0 && (out.f < 0) != (b < 0) {
			out.f += b
		}
	case schema.Equal:
		truth(a == b)
	case schema.NotEqual:
		truth(a != b)
	case schema.Less:
		truth(a < b)
	case schema.LessEqual:
		truth(a <= b)
	case schema.Greater:
		truth(a > b)
	case schema.GreaterEqual:
		truth(a >= b)
	case schema.ToInt:
		switch {
		case a >= math.MaxInt64:
			out.n = math.MaxInt64
		case a <= math.MinInt64:
			out.n = math.MinInt64
		case a == a:
			out.n = int64(a)
		}
	}
	if op < schema.Add || op > schema.Mod {
		if op != schema.Neg {
			out.f = float64(out.n)
		}
	}
	return out
}

func (v *Values) texts(s *wire.Step, args []operand) (out operand) {
	a := args[0].s
	n := 0
	if len(args) > 1 {
		n = bytes.Compare(a, args[1].s)
	}
	truth := func(t bool) {
		if t {
			out.n = 1
		}
	}
	switch s.Op {
	case schema.Add:
		out.s = v.made(append(append(make([]byte, 0, len(a)+len(args[1].s)), a...), args[1].s...))
	case schema.Equal:
		truth(n == 0)
	case schema.NotEqual:
		truth(n != 0)
	case schema.Less:
		truth(n < 0)
	case schema.LessEqual:
		truth(n <= 0)
	case schema.Greater:
		truth(n > 0)
	case schema.GreaterEqual:
		truth(n >= 0)
	case schema.LengthOf:
		if out.n = int64(len(a)); !s.Bytes {
			out.n = int64(utf8.RuneCount(a))
		}
	case schema.ToInt:
		if base := args[1].n; base >= 2 && base <= 36 {
			out.n, _ = strconv.ParseInt(string(a), int(base), 64)
		}
	case schema.Slice:
		out.s = slice(a, args[1].n, args[2].n, s.Bytes)
	case schema.Reverse:
		out.s = v.made(reversed(a, s.Bytes))
	case schema.ByteAt:
		if i := args[1].n; i >= 0 && i < int64(len(a)) {
			out.n = int64(a[i])
		}
	case schema.Characters:
		out.s = v.characters(a, s.Set)
	}
	out.f = float64(out.n)
	return out
}

// slice returns the characters, or bytes, of a text from one up to another.
func slice(text []byte, from, to int64, isBytes bool) []byte {
	if isBytes {
		to = min(max(to, 0), int64(len(text)))
		return text[min(max(from, 0), to):to]
	}
	begin, end, i := len(text), len(text), int64(0)
	for at := 0; at < len(text); i++ {
		if i == from {
			begin = at
		}
		if i == to {
			end = at
			break
		}
		_, n := utf8.DecodeRune(text[at:])
		at += n
	}
	if from <= 0 {
		begin = 0
	}
	if to <= 0 {
		end = 0
	}
	return text[min(begin, end):end]
}

// reversed returns a copy of a text with its characters, or bytes, in the opposite order.
func reversed(text []byte, isBytes bool) []byte {
	out := make([]byte, len(text))
	for at := len(text); len(text) > 0; {
		n := 1
		if !isBytes {
			_, n = utf8.DecodeRune(text)
		}
		at -= n
		copy(out[at:], text[:n])
		text = text[n:]
	}
	return out
}

// eval computes an expression of integers from the registers.
func eval(x wire.Expr, regs []uint64) int64 {
	if len(x) <= 16 {
		var stack [16]int64
		return evalOn(stack[:], x, regs)
	}
	var stack [schema.MaxExpr]int64
	return evalOn(stack[:], x, regs)
}

// evalOn is eval with a stack that has room for all steps.
func evalOn(stack []int64, x wire.Expr, regs []uint64) int64 {
	n := 0
	for i := range x {
		s := &x[i]
		switch s.Op {
		case schema.Literal:
			stack[n] = s.Int
			n++
		case schema.Ref, schema.Begin, schema.End, schema.Index:
			stack[n] = refInt(s, regs[s.Reg])
			n++
		case schema.If:
			n -= 2
			if stack[n-1] != 0 {
				stack[n-1] = stack[n]
			} else {
				stack[n-1] = stack[n+1]
			}
		default:
			if s.Op.Operands() == 1 {
				stack[n-1] = s.Op.Apply(stack[n-1], 0)
				break
			}
			n--
			stack[n-1] = s.Op.Apply(stack[n-1], stack[n])
		}
	}
	return stack[0]
}
