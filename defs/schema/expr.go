package schema

// Expr is a value computed from earlier ones: a size, a count, the selector of a Choice, a position, or a value that is not sent. It is a tree of
// at most MaxExpr nodes.
type Expr struct {
	Op    ExprOp
	Int   int64   // Literal
	Float float64 // FloatLiteral
	Text  string  // TextLiteral: characters in UTF-8, or bytes
	Bytes bool    // TextLiteral: it is bytes, of which some operations count each
	Field *Field  // Ref: a number, a text or bytes; a list for its number of elements. Begin and End: a group with a size, or nil. Index, Element, Least, Greatest: a list
	Inner *Field  // Element, Least, Greatest: a number, a text or bytes in an element, not in a list inside it
	Part  string  // Ref: the part of a Bitfield
	Set   Charset // Characters
	Args  []*Expr
}

// ExprKind is the kind of value of an Expr.
type ExprKind uint8

// The kinds of values.
const (
	IntExpr   ExprKind = iota // an integer of 64 bits; 0 or 1 for a truth value
	FloatExpr                 // of 64 bits
	TextExpr                  // characters in UTF-8, or bytes
)

// Kind returns the kind of value.
func (e *Expr) Kind() ExprKind {
	switch e.Op {
	case FloatLiteral:
		return FloatExpr
	case TextLiteral, ToText, Slice, Reverse, Characters, ByteOf:
		return TextExpr
	case Ref, Element, Least, Greatest:
		f := e.Field
		if e.Op != Ref {
			f = e.Inner
		}
		switch t := f.Type.(type) {
		case *Number:
			if t.Kind == Float || t.Scale != 0 {
				return FloatExpr
			}
		case *Text, *Blob:
			return TextExpr
		}
	case Neg:
		return e.Args[0].Kind()
	case Add, Sub, Mul, Div, Mod:
		return max(e.Args[0].Kind(), e.Args[1].Kind())
	case If:
		return max(e.Args[1].Kind(), e.Args[2].Kind())
	}
	return IntExpr
}

// MaxExpr is the maximum number of nodes of an Expr.
const MaxExpr = 256

// ExprOp is an operation of an Expr. Comparisons and logic give 0 or 1; arithmetic is that of int64, and wraps around.
type ExprOp uint8

// The operations.
const (
	Literal ExprOp = iota
	Ref
	Not
	Neg
	Invert // bitwise complement
	Add
	Sub
	Mul
	Div // rounds down; 0 if the divisor is 0
	Mod // has the sign of the divisor; 0 if the divisor is 0
	BitAnd
	BitOr
	BitXor
	ShiftLeft
	ShiftRight // arithmetic
	Equal
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	And
	Or
	If // Args: condition, value if it is not 0, value otherwise

	FloatLiteral
	TextLiteral
	Begin      // the byte of the message at which the bytes of a group with a size begin, which is around or earlier; of no group: those of the contents, see Message.Front
	End        // the byte at which they end; of no group: those of the message, without its tail
	From       // the byte at which the bytes of the innermost group with a size around begin; those of the contents, without one
	To         // likewise, at which they end
	Cursor     // the byte at which the next part begins
	Index      // the number of the current element of a list around, from 0
	Element    // a value in the element with a number, from 0, of an earlier list, or of one around; 0 or "" if there is none
	LengthOf   // of a text: its number of characters; of bytes
	ToInt      // of a number: without its fraction; of a text: in the base of the second operand, 0 if it is no number
	ToText     // of an integer, in decimal
	Slice      // of a text: from a character up to another one
	Reverse    // of a text
	ByteAt     // of bytes: the one with an index, 0 if there is none
	Characters // of bytes, in the encoding Set
	ByteOf     // of an integer: a byte with its low bits
	Least      // the smallest of the values in the elements of an earlier list, as of Element; 0 or "" without elements
	Greatest   // the largest
	Seek       // the number of bytes from the next part up to a byte of a value, see SeekWith and SeekMust
	Trimmed    // the number of bytes from the next part up to the last run of a byte, which goes on to where the bytes around end
)

// The second operand of Seek. Without the byte up to where the bytes around end.
const (
	SeekWith = 1 << iota // the byte is counted, too
	SeekMust             // without the byte one more than there is
)

var exprOps = [...]struct {
	name string
	args int
}{
	Literal: {"", 0}, Ref: {"", 0}, Not: {"!", 1}, Neg: {"-", 1}, Invert: {"~", 1}, Add: {"+", 2}, Sub: {"-", 2}, Mul: {"*", 2},
	Div: {"/", 2}, Mod: {"%", 2}, BitAnd: {"&", 2}, BitOr: {"|", 2}, BitXor: {"^", 2}, ShiftLeft: {"<<", 2}, ShiftRight: {">>", 2},
	Equal: {"==", 2}, NotEqual: {"!=", 2}, Less: {"<", 2}, LessEqual: {"<=", 2}, Greater: {">", 2}, GreaterEqual: {">=", 2},
	And: {"&&", 2}, Or: {"||", 2}, If: {"?", 3},
	FloatLiteral: {"", 0}, TextLiteral: {"", 0}, Begin: {"begin", 0}, End: {"end", 0}, From: {"from", 0}, To: {"to", 0}, Cursor: {"cursor", 0}, Index: {"index", 0}, Element: {"element", 1},
	LengthOf: {"length", 1}, ToInt: {"int", 2}, ToText: {"text", 1}, Slice: {"slice", 3}, Reverse: {"reverse", 1}, ByteAt: {"byte", 2},
	Characters: {"characters", 1}, ByteOf: {"byte of", 1}, Least: {"least", 0}, Greatest: {"greatest", 0}, Seek: {"seek", 2}, Trimmed: {"trimmed", 1},
}

// Name returns the operator as definitions write it.
func (o ExprOp) Name() string { return exprOps[o].name }

// Operands returns the number of operands.
func (o ExprOp) Operands() int { return exprOps[o].args }

// RefTo returns the expression for the value of a field.
func RefTo(f *Field) *Expr { return &Expr{Op: Ref, Field: f} }

// Uses calls yield with each operation of the expression, the outer ones first.
func (e *Expr) Uses(yield func(*Expr)) {
	if e == nil {
		return
	}
	yield(e)
	for _, a := range e.Args {
		a.Uses(yield)
	}
}

// Fields calls yield with each field whose value the expression refers to.
func (e *Expr) Fields(yield func(*Field)) {
	if e == nil {
		return
	}
	e.Uses(func(x *Expr) {
		if x.Op == Ref {
			yield(x.Field)
		}
	})
}

// Places calls yield with the expressions of a type that decide where contents are and what they are: sizes, counts, positions, keys and
// conditions. The expressions of values that are computed and shown are not among them, unless a value that is not legal is a problem.
func Places(t Type, yield func(*Expr)) {
	switch t := t.(type) {
	case *Number:
		if t.Min != nil || t.Max != nil {
			yield(t.Expr)
		}
	case *Text:
		yield(t.Expr)
	case *Blob:
		yield(t.Expr)
	case *List:
		yield(t.Expr)
	case *Group:
		yield(t.At)
		yield(t.Size)
		yield(t.Key)
	case *Choice:
		yield(t.On)
	}
}

// Made returns the expression of a value that is computed and shown, or nil.
func Made(t Type) *Expr {
	switch t := t.(type) {
	case *Number:
		return t.Expr
	case *Text:
		return t.Value
	case *Blob:
		return t.Value
	}
	return nil
}

// Size returns the number of nodes.
func (e *Expr) Size() int {
	n := 1
	for _, a := range e.Args {
		n += a.Size()
	}
	return n
}

// Solvable returns the number that alone determines the value of the expression by sums, products and quotients with constants, so that Solve
// finds it; nil if there is none.
func (e *Expr) Solvable() *Field {
	var f *Field
	n, plain := 0, true
	e.Uses(func(x *Expr) {
		if x.Op == Ref {
			f, n = x.Field, n+1
		}
		plain = plain && x.Op <= If && x.Kind() == IntExpr
	})
	if n != 1 || !plain || !e.solvable() {
		return nil
	}
	return f
}

func (e *Expr) solvable() bool {
	if e.Op == Ref {
		return e.Part == ""
	}
	x, c, first := e.operands()
	switch e.Op {
	case Add, Sub, Neg:
	case Mul:
		if c == 0 {
			return false
		}
	case Div:
		if !first || c == 0 {
			return false
		}
	default:
		return false
	}
	return x.solvable()
}

// operands returns the operand with a field, whether it is the first one, and the value of the other one.
func (e *Expr) operands() (x *Expr, constant int64, first bool) {
	for i, a := range e.Args {
		has := false
		if a.Fields(func(*Field) { has = true }); has {
			x, first = a, i == 0
		} else {
			constant = a.constant()
		}
	}
	return x, constant, first
}

// constant returns the value of an expression without fields.
func (e *Expr) constant() int64 {
	if e.Op == Literal {
		return e.Int
	}
	var args [3]int64
	for i, a := range e.Args {
		args[i] = a.constant()
	}
	if e.Op == If {
		if args[0] != 0 {
			return args[1]
		}
		return args[2]
	}
	return e.Op.Apply(args[0], args[1])
}

// Solve returns the number for which a Solvable expression has a value; the smallest one of several. ok is false if there is none.
func (e *Expr) Solve(want int64) (v int64, ok bool) {
	if e.Op == Ref {
		return want, true
	}
	x, c, first := e.operands()
	switch {
	case e.Op == Neg:
		want = -want
	case e.Op == Add:
		want -= c
	case e.Op == Sub && first:
		want += c
	case e.Op == Sub:
		want = c - want
	case e.Op == Mul && want%c == 0:
		want /= c
	case e.Op == Div:
		if want *= c; c < 0 {
			want += c + 1
		}
	default:
		return 0, false
	}
	return x.Solve(want)
}

// Apply computes an operation other than Ref, If and Literal from its operands.
func (o ExprOp) Apply(a, b int64) int64 {
	truth := func(t bool) int64 {
		if t {
			return 1
		}
		return 0
	}
	switch o {
	case Not:
		return truth(a == 0)
	case Neg:
		return -a
	case Invert:
		return ^a
	case Add:
		return a + b
	case Sub:
		return a - b
	case Mul:
		return a * b
	case Div:
		if b == 0 {
			return 0
		}
		if b == -1 {
			return -a
		}
		if q := a / b; a%b != 0 && (a < 0) != (b < 0) {
			return q - 1
		} else {
			return q
		}
	case Mod:
		if b == 0 || b == -1 {
			return 0
		}
		m := a % b
		if m != 0 && (m < 0) != (b < 0) {
			m += b
		}
		return m
	case BitAnd:
		return a & b
	case BitOr:
		return a | b
	case BitXor:
		return a ^ b
	case ShiftLeft:
		if b < 0 || b > 63 {
			return 0
		}
		return a << uint(b)
	case ShiftRight:
		return a >> uint(min(uint64(b), 63))
	case Equal:
		return truth(a == b)
	case NotEqual:
		return truth(a != b)
	case Less:
		return truth(a < b)
	case LessEqual:
		return truth(a <= b)
	case Greater:
		return truth(a > b)
	case GreaterEqual:
		return truth(a >= b)
	case And:
		return truth(a != 0 && b != 0)
	case Or:
		return truth(a != 0 || b != 0)
	}
	return 0
}
