package filter

// Bounds of a filter.
const (
	MaxText    = 8192 // bytes
	maxDepth   = 64
	maxRegexp  = 1000    // bytes of a regular expression
	maxPattern = 256     // bytes of a pattern
	maxConds   = 1 << 18 // comparisons of all messages together

	maxProgram  = 2500  // instructions of one regular expression
	maxPrograms = 10000 // of all regular expressions of a filter
)

// kind is the kind of a syntax node.
type kind uint8

const (
	nOr kind = iota
	nXor
	nAnd
	nNot
	nCompare  // kids: left, right; op
	nIn       // kids: left, then the items; negated
	nContains // kids: left, right
	nMatches  // kids: left, right (a string)
	nRange    // kids: from, to; only in a set
	nAdd
	nSub
	nMul
	nDiv
	nMod
	nBits // &
	nNeg
	nInt
	nFloat
	nText
	nBytes // pattern
	nTrue
	nFalse
	nPath
	nCall  // name, kids
	nValue // $name, with parts after it for $sel
	nWords // bare text with spaces, before it is rewritten
)

// quant is a quantifier before a comparison.
type quant uint8

const (
	quantNone quant = iota
	quantAny
	quantAll
)

// cmpOp is a comparison.
type cmpOp uint8

const (
	opEq cmpOp = iota
	opNe
	opGt
	opGe
	opLt
	opLe
)

func (o cmpOp) String() string { return [...]string{"==", "!=", ">", ">=", "<", "<="}[o] }

// swapped returns the comparison with its sides exchanged.
func (o cmpOp) swapped() cmpOp { return [...]cmpOp{opEq, opNe, opLt, opLe, opGt, opGe}[o] }

// node is a syntax node of a filter.
type node struct {
	kind       kind
	start, end int // bytes of the text
	kids       []*node
	quant      quant
	op         cmpOp
	negated    bool // "not in"
	short      short

	integer uint64 // nInt
	float   float64
	text    string // nText, nWords; the name of nCall and nValue
	bytes   pattern

	raw   bool // nPath: the bytes of it
	parts []part
}

// part is a name of a path with its brackets.
type part struct {
	name       string // empty for the first part of a path that starts with a dot
	start, end int
	glob       bool
	index      []bracket
}

// bracket is the contents of [ ].
type bracket struct {
	start, end int
	form       bracketForm
	at, to     int       // at: from the end if negative; to: length, or the last one
	more       []bracket // several
}

type bracketForm uint8

const (
	oneOf   bracketForm = iota // [i]
	allOf                      // [*]
	length                     // [i:n]
	upTo                       // [i-j]
	onward                     // [i:]
	several                    // [i,j:n], one after another
)

// Mistake is an error in the text of a filter.
type Mistake struct {
	Start   int    `json:"start" doc:"bytes of the text, counted from 0"`
	End     int    `json:"end" doc:"the first byte after it"`
	Message string `json:"message"`
	Help    string `json:"help,omitempty" doc:"what to write instead"`
}
