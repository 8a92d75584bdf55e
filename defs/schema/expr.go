package schema

// Expr is a number computed from earlier values: a size, a count, the selector of a Choice, a Number that is not sent, or a position. It is a tree of at most MaxExpr nodes.
type Expr struct {
	Op    ExprOp
	Int   int64  // Literal
	Field *Field // Ref: a number; a list for its number of elements; for a Choice alone also a text
	Part  string // Ref: the part of a Bitfield
	Args  []*Expr
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
)

var exprOps = [...]struct {
	name string
	args int
}{
	Literal: {"", 0}, Ref: {"", 0}, Not: {"!", 1}, Neg: {"-", 1}, Invert: {"~", 1}, Add: {"+", 2}, Sub: {"-", 2}, Mul: {"*", 2},
	Div: {"/", 2}, Mod: {"%", 2}, BitAnd: {"&", 2}, BitOr: {"|", 2}, BitXor: {"^", 2}, ShiftLeft: {"<<", 2}, ShiftRight: {">>", 2},
	Equal: {"==", 2}, NotEqual: {"!=", 2}, Less: {"<", 2}, LessEqual: {"<=", 2}, Greater: {">", 2}, GreaterEqual: {">=", 2},
	And: {"&&", 2}, Or: {"||", 2}, If: {"?", 3},
}

// Name returns the operator as definitions write it.
func (o ExprOp) Name() string { return exprOps[o].name }

// Operands returns the number of operands.
func (o ExprOp) Operands() int { return exprOps[o].args }

// RefTo returns the expression for the value of a field.
func RefTo(f *Field) *Expr { return &Expr{Op: Ref, Field: f} }

// Fields calls yield with each field that the expression refers to.
func (e *Expr) Fields(yield func(*Field)) {
	if e == nil {
		return
	}
	if e.Op == Ref {
		yield(e.Field)
	}
	for _, a := range e.Args {
		a.Fields(yield)
	}
}

// Size returns the number of nodes.
func (e *Expr) Size() int {
	n := 1
	for _, a := range e.Args {
		n += a.Size()
	}
	return n
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
