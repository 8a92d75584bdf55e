package codec

import "math"

// These functions judge parts of a message and return a ProblemCode. The fast paths give up at a code other than NoProblem; decode, which
// then reads the message again, turns it into a Problem.

// Place judges an offset in a message of which have bytes are present; limit is its length in bytes.
func (p *Program) Place(at, have, limit uint64) ProblemCode {
	switch {
	case at < uint64(p.header):
		return OffsetInHeader
	case at > limit:
		return OffsetOutside
	case at > have:
		return Truncated
	}
	return NoProblem
}

// link judges the offset of the next element of a chain, after elements up to last. Going back is not necessarily a cycle; readers of such
// chains have to remember the elements.
func link(next, last uint64) ProblemCode {
	switch {
	case next == 0:
		return ChainTooShort
	case next <= last:
		return ChainCycle
	}
	return NoProblem
}

// Judge checks a number of units against the legal range.
func Judge(n, least, most uint64) ProblemCode {
	switch {
	case n < least:
		return CountBelow
	case n > most:
		return CountAbove
	}
	return NoProblem
}

// legal judges a value of a block that begins at a bit of data; raw is the value of a number.
func (it *Item) legal(data []byte, block uint32) (code ProblemCode, raw uint64) {
	at := block + it.Off
	if it.Role == RoleConst {
		if string(data[at/8:(at+it.Bits)/8]) != string(it.Bytes) {
			return WrongConstant, 0
		}
		return NoProblem, 0
	}
	if raw = LoadBits(data, at, it.Bits, it.Order); !it.Num.Legal(raw) {
		return ValueOutOfRange, raw
	}
	return NoProblem, raw
}

// alternative returns the selected case of a variant, and its index: by the registers, or by the size of the frame. Without registers it
// skips the cases that depend on one. The registers of texts refer to data.
func (p *Program) alternative(variant uint16, regs []uint64, size uint32, data []byte) (at uint16, k uint64, ok bool) {
	o := &p.Ops[variant]
	if o.jump != noIndex && regs != nil {
		t := &p.jumps[o.jump]
		j := t.other
		if v := regs[p.Ops[variant+1].When.Reg]; v < uint64(len(t.cases)) {
			j = t.cases[v]
		}
		return j.op, uint64(j.index), j.op != 0
	}
	for at = variant + 1; at < o.End; at, k = p.Ops[at].End, k+1 {
		w := &p.Ops[at].When
		switch {
		case w.Reg == noIndex:
			if w.Fits(size) {
				return at, k, true
			}
		case regs == nil:
		case w.Else:
			return at, k, true
		case w.Text != nil:
			from, size := regs[w.Reg]>>32, regs[w.Reg]&math.MaxUint32
			if from+size <= uint64(len(data)) && string(data[from:from+size]) == *w.Text {
				return at, k, true
			}
		case regs[w.Reg] == w.Value:
			return at, k, true
		}
	}
	return 0, 0, false
}

// caseOf returns the case of a variant with a given index.
func (p *Program) caseOf(variant uint16, k uint64) (at uint16, ok bool) {
	for at = variant + 1; at < p.Ops[variant].End; at, k = p.Ops[at].End, k-1 {
		if k == 0 {
			return at, true
		}
	}
	return 0, false
}

// Fits reports whether an alternative is for frames of this size.
func (w *When) Fits(size uint32) bool { return size >= w.min && (w.max == 0 || size <= w.max) }

// lengthFits reports whether the size of the frame makes Decode select the alternative of a node.
func (p *Program) lengthFits(n *Node, size uint32) bool {
	_, first, found := p.alternative(n.Op, nil, size, nil)
	at, ok := p.caseOf(n.Op, n.Raw)
	switch {
	case !ok:
		return !found
	case p.Ops[at].When.Reg != noIndex:
		return !found || first > n.Raw
	}
	return found && first == n.Raw
}
