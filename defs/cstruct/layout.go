package cstruct

import (
	"strconv"

	"wirebench/defs/source"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// The limits of messages, within those of package codec.
const (
	maxMessage   = 1 << 26 // bytes
	maxFields    = 1 << 13 // of a message, including those of each use of a struct
	maxAllFields = 1 << 17 // of all messages of a file
	maxShapes    = 1 << 14 // structs of a file, including those that it includes and instances of templates
)

// shape is the layout of a struct: that of GCC.
type shape struct {
	record      *record
	name        string
	size, align int // bytes
	data        int // bytes without the padding at the end
	slots       []slot
	broken      bool // an invalid member, and all that follow, are missing
	busy        bool
}

// slot is the place of a member, or of a base.
type slot struct {
	member *member // nil: a base
	t      *typ
	off    int  // bits
	bits   int  // of a bit field, -1: none
	one    bool // the last array, of one element: of old it means any number
}

func (s *slot) name() string {
	if s.member == nil {
		return ""
	}
	return s.member.of.name.text
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// shapeOf returns the layout of a record with the arguments of its template; nil if it has none, which has been reported.
func (u *unit) shapeOf(r *record, params map[string]binding, key string, x *typeExpr, depth int) *shape {
	if s, ok := r.shapes[key]; ok {
		if s.busy {
			u.report(insideItself(x.at, s.name))
			return nil
		}
		return s
	}
	s := &shape{record: r, name: r.typeDef.name, align: 1, busy: true, broken: r.broken}
	if r.shapes == nil {
		r.shapes = map[string]*shape{}
	}
	if r.shapes[key] = s; u.shapes >= maxShapes || depth > maxDepth {
		u.report(tooDeep(x.at))
		s.broken, s.busy = true, false
		return s
	}
	u.shapes++
	l := layouter{unit: u, shape: s, env: env{scope: r.inner, params: params, depth: depth}, limit: 8 * r.pack}
	l.lay()
	s.busy = false
	return s
}

// layouter computes the layout of a struct, in bits.
type layouter struct {
	*unit
	*shape
	env   env
	limit int // of alignments, by #pragma pack; 0: none
	pos   int
	used  int // of a union
}

func (l *layouter) lay() {
	r := l.record
	if r.virtual {
		l.report(virtualFunctions(r.typeDef.at, l.name))
		l.broken = true
		return
	}
	align := 8
	for _, b := range r.bases {
		t := l.resolve(b, env{scope: r.typeDef.scope, params: l.env.params, depth: l.env.depth})
		if t == nil || t.shape == nil {
			if t != nil {
				l.report(notABase(b.at, b.name()))
			}
			l.broken = true
			return
		}
		size := t.shape.size
		if t.shape.record.complex {
			size = t.shape.data
		}
		if len(t.shape.slots) > 0 {
			align = max(align, l.place(t, 0, false))
			l.add(slot{t: t, off: l.pos, bits: -1}, 8*size)
		}
		l.broken = l.broken || t.shape.broken
	}
	for i, m := range r.members {
		if !l.member(m, i == len(r.members)-1, &align) {
			l.broken = true
			break
		}
	}
	if user := l.alignment(r.attrs.align, l.env, true); user > 0 {
		align = max(align, 8*user)
	}
	l.used = max(l.used, l.pos)
	l.data = roundUp(l.used, 8) / 8
	l.align = align / 8
	l.size = roundUp(l.data, l.align)
	if n := len(l.slots); n > 0 && l.size > l.data { // an array of one element before padding is one element
		l.slots[n-1].one = false
	}
	if l.size > maxMessage {
		l.report(badSize(r.typeDef.at, int64(l.size)))
		l.broken = true
	}
}

// place moves to the place of a member of a type, and returns the alignment that it needs.
func (l *layouter) place(t *typ, user int, packed bool) int {
	align := 8 * t.align
	switch {
	case packed && user > 0:
		align = user
	case packed:
		align = 8
	default:
		align = max(align, user)
	}
	if l.limit > 0 {
		align = min(align, l.limit)
	}
	l.pos = roundUp(l.pos, align)
	return align
}

// add adds a slot of some bits.
func (l *layouter) add(s slot, bits int) {
	l.slots = append(l.slots, s)
	l.pos += bits
	if l.used = max(l.used, l.pos); l.record.union {
		l.pos = 0
	}
}

// member places a member. It returns false if its size is unknown.
func (l *layouter) member(m *member, last bool, align *int) bool {
	e := l.env
	t := l.resolve(m.typ, e)
	if t == nil {
		return false
	}
	if m.of.ref {
		l.report(reference(m.at))
		return false
	}
	if t = l.declared(t, &m.of, e, &typeExpr{at: m.at}, true); t == nil {
		return false
	}
	if t.unsized() && !last && !l.record.union {
		l.report(noSize(m.at))
		return false
	}
	if t.kind == voidKind {
		l.report(voidField(m.at))
		return false
	}
	inner := t
	for inner.kind == arrayKind {
		inner = inner.elem
	}
	l.broken = l.broken || inner.shape != nil && inner.shape.broken
	packed := l.record.attrs.packed || m.of.attrs.packed
	user := 8 * l.alignment(m.of.attrs.align, e, false)
	if m.of.bits == nil {
		*align = max(*align, l.place(t, user, packed))
		size := 8 * t.size
		if l.pos+size > 8*maxMessage {
			l.report(badSize(m.at, int64((l.pos+size)/8)))
			return false
		}
		l.add(slot{member: m, t: t, off: l.pos, bits: -1, one: last && len(m.of.dims) == 1 && t.kind == arrayKind && t.n == 1 && !l.record.union}, size)
		if t.kind == pointerKind {
			l.report(pointerField(m.at))
		}
		return true
	}
	width, bad := l.evaluate(m.of.bits, e)
	if bad != nil {
		l.report(*bad)
		return false
	}
	if !t.isInteger() || width < 0 || width > int64(8*t.size) || width == 0 && m.of.name.text != "" || t.kind == boolKind && width > 1 {
		l.report(badBits(m.of.bits.at, width, m.typ.name()))
		return false
	}
	unit := 8 * t.align
	if width == 0 { // the next field begins at the next unit, whatever is packed
		l.pos = roundUp(l.pos, max(unit, user))
		l.used = max(l.used, l.pos)
		if l.record.union {
			l.pos = 0
		}
		return true
	}
	if user > 0 {
		if l.limit > 0 {
			user = min(user, l.limit)
		}
		l.pos = roundUp(l.pos, user)
		*align = max(*align, user)
	}
	if !packed && l.limit == 0 && (l.pos%unit+int(width)+unit-1)/unit > 8*t.size/unit {
		l.pos = roundUp(l.pos, unit) // a field does not lie in more units than its type has
	}
	if m.of.name.text != "" {
		need := unit
		switch {
		case l.limit > 0:
			need = min(need, l.limit)
		case packed:
			need = 8
		}
		*align = max(*align, need)
	}
	l.add(slot{member: m, t: t, off: l.pos, bits: int(width)}, int(width))
	return true
}

// spanOf returns the line of a name, for links between bytes and definition.
func spanOf(at source.Span) source.Span {
	if at.File == nil {
		return at
	}
	return space.Trimmed(at.File.LineAt(at.Start))
}
