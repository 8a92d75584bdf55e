package codec

// Judging says what is wrong with a part of a message, as a code. The quick walks give up at a code; decode, which reads the same
// message again then, makes a Problem of it.

// place judges an offset in a message of which have bytes are there, and limit would be by its length.
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

// link judges the place that an element of a chain names as that of the next, after elements up to last. Going back need not be a
// circle: who reads such chains has to remember the elements.
func link(next, last uint64) ProblemCode {
	switch {
	case next == 0:
		return ChainTooShort
	case next <= last:
		return ChainCycle
	}
	return NoProblem
}

// number judges a number of units by the legal ones.
func Judge(n, least, most uint64) ProblemCode {
	switch {
	case n < least:
		return CountBelow
	case n > most:
		return CountAbove
	}
	return NoProblem
}

// legal judges a value of a block that begins at a bit of data; raw are the bits of a number.
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

// alternative finds the case of a variant that is taken, and how many are before it: by the registers, or by the size of the frame.
// Without registers it passes over the cases that ask one.
func (p *Program) alternative(variant uint16, regs []uint64, size uint32) (at uint16, k uint64, ok bool) {
	for at = variant + 1; at < p.Ops[variant].End; at, k = p.Ops[at].End, k+1 {
		w := &p.Ops[at].When
		if w.Reg != noIndex && regs != nil && regs[w.Reg] == w.Value || w.Reg == noIndex && w.Fits(size) {
			return at, k, true
		}
	}
	return 0, 0, false
}

// caseOf finds a case of a variant by how many are before it.
func (p *Program) caseOf(variant uint16, k uint64) (at uint16, ok bool) {
	for at = variant + 1; at < p.Ops[variant].End; at, k = p.Ops[at].End, k-1 {
		if k == 0 {
			return at, true
		}
	}
	return 0, false
}

// fits reports whether a frame has the length that an alternative is for.
func (w *When) Fits(size uint32) bool { return size >= w.min && (w.max == 0 || size <= w.max) }

// lengthFits reports whether a frame of this size leads Decode to the alternative of a node.
func (p *Program) lengthFits(n *Node, size uint32) bool {
	_, first, found := p.alternative(n.Op, nil, size)
	at, ok := p.caseOf(n.Op, n.Raw)
	switch {
	case !ok:
		return !found
	case p.Ops[at].When.Reg != noIndex:
		return !found || first > n.Raw
	}
	return found && first == n.Raw
}
