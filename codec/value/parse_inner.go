package value

import (
	"math"
	"strings"

	"wirebench/codec"
	"wirebench/defs/schema"
	"wirebench/defs/wire"
)

// maxCalls limits the nesting of groups in themselves, as Decode does.
const maxCalls = 512

// pendingKey is a member of a choice without a name: an error if the selected alternative does not have it.
type pendingKey struct {
	key  int32
	path []pathPart
}

// place returns a copy of the path of the current element.
func (v *valuer) place() []pathPart { return append([]pathPart(nil), v.path...) }

// given reports whether a value is present and not null.
func (v *valuer) given(tok int32) bool { return tok >= 0 && v.toks[tok].kind != tokNull }

// loads sets the registers of a block's numbers from its bytes, and the numbers that select alternatives by their values.
func (v *valuer) loads(b *codec.Block, at uint32, pi uint16, base int, obj int32) {
	for i := range b.Loads {
		l := &b.Loads[i]
		if !v.p.Selects(l.Reg) {
			continue
		}
		switch l.Kind() {
		case codec.RoleValue:
			v.regs[l.Reg] = codec.LoadBits(v.data, at+l.Off, uint32(l.Bits), l.Order)
		case codec.RolePresent:
			v.regs[l.Reg] = v.present(l.Field(), pi, base, obj)
			codec.StoreBits(v.data, at+l.Off, uint32(l.Bits), l.Order, v.regs[l.Reg])
		case codec.RoleCount:
			v.regs[l.Reg] = v.elements(l.Field(), base)
		}
	}
}

// present returns the selector of a choice for its value: 0 for null, the first alternative, and 1 for other values.
func (v *valuer) present(field, pi uint16, base int, obj int32) uint64 {
	s := &v.plans.bodies[pi].steps[v.plans.step[field]]
	given := v.given(v.slots[base+int(v.plans.step[field])])
	if s.anon && s.in != noIndex {
		obj = v.slots[base+int(s.in)]
	}
	if s.anon && v.given(obj) && v.toks[obj].kind == tokObject {
		given = v.hasMember(s.op, obj)
	}
	if given {
		return 1
	}
	return 0
}

// hasMember reports whether an object has a value for a field of an alternative without a name: also null, if the field may be null.
func (v *valuer) hasMember(variant uint16, obj int32) bool {
	for c := variant + 1; c < v.p.Ops[variant].End; c = v.p.Ops[c].End {
		body := v.p.Ops[c].Body
		steps := v.plans.bodies[body].steps
		for k := obj + 1; k < int32(v.toks[obj].after); k = int32(v.toks[k+1].after) {
			switch i := v.find(steps, 0, uint16(len(steps)), 0, k); {
			case i == noIndex:
				if v.given(k+1) && v.plans.bodies[body].anon && v.anonHas(body, 0, uint16(len(steps)), k) {
					return true
				}
			case v.given(k+1) || v.mayBeNull(&steps[i]):
				return true
			}
		}
	}
	return false
}

// mayBeNull reports whether null is a value of a field.
func (v *valuer) mayBeNull(s *step) bool {
	return s.kind == stepInner || s.kind == stepContent && v.p.Ops[s.op].Null()
}

// inOption returns the value in an option that is present: see writer.option.
func (v *valuer) inOption(tok int32) int32 {
	if v.given(tok) && v.toks[tok].kind == tokObject {
		if key := tok + 1; key < int32(v.toks[tok].after) && v.toks[key].start == v.toks[key].end && v.toks[key+1].after == v.toks[tok].after {
			return key + 1
		}
	}
	return tok
}

// elements returns the number of elements of the value of a list; -1 if it is missing.
func (v *valuer) elements(field uint16, base int) uint64 {
	tok := v.slots[base+int(v.plans.step[field])]
	if !v.given(tok) {
		if l, ok := v.p.Fields[field].Schema.Type.(*schema.List); ok && l.Null {
			return math.MaxUint64
		}
		return 0
	}
	return v.length(tok)
}

// length returns the number of units of a value.
func (v *valuer) length(tok int32) (n uint64) {
	t := v.toks[tok]
	switch t.kind {
	case tokArray:
		for k := tok + 1; k < int32(t.after); k = int32(v.toks[k].after) {
			n++
		}
	case tokString:
		n = uint64(t.end - t.start)
	}
	return n
}

// counted returns the bits of a number that is missing, and that determines the number of units of another step of the body pi.
func (v *valuer) counted(it *codec.Item, pi, step uint16, base int) uint64 {
	tok, field := v.slots[base+int(step)], v.plans.bodies[pi].steps[step].field
	n := uint64(0)
	if v.given(tok) {
		n = v.length(tok)
	}
	of := v.p.Fields[field].Schema.Type
	if n > 0 && v.toks[tok].kind == tokString {
		switch t := of.(type) {
		case *schema.Blob:
			n /= 2
		case *schema.Text:
			mark := len(v.data)
			n = uint64(v.appendUnits(it.Field, tok, t.Charset, false))
			v.data = v.data[:mark]
		}
	}
	extent, _ := wire.ExtentOf(of)
	units, ok := extent.Expr.Solve(int64(n))
	switch {
	case !ok:
		v.failAt(tok, it.Field, "", "wrong-size", "no value of the field gives a count of %d", n)
		return 0
	case it.Num == nil:
		return uint64(units)
	}
	raw, ok := it.Num.RawUnits(units)
	if !ok {
		v.failAt(tok, it.Field, "", "out-of-range", "%d does not fit %s", units, it.Num.Name())
		return 0
	}
	return raw
}

// null adds the node of contents that are null.
func (v *valuer) null(o *codec.Op, pc uint16, tok int32) bool {
	if !o.Null() || v.given(tok) {
		return false
	}
	v.node(codec.Node{Off: uint32(len(v.data)) * 8, Op: pc, Kind: codec.NodeNull})
	return true
}

// varint adds a number in a variable number of bytes. That of a count or a size is set by Encode.
func (v *valuer) varint(o *codec.Op, pc, pi uint16, base int, obj int32) {
	it := v.p.Var(o)
	raw := uint64(0)
	switch it.Role {
	case codec.RolePresent:
		raw = v.present(it.Field, pi, base, obj)
	case codec.RoleTag:
		raw = uint64(it.Tag)
	case codec.RoleValue:
		k := v.plans.slots[pc]
		s, tok := &v.plans.bodies[pi].steps[k], v.slots[base+int(k)]
		v.high = 0
		switch {
		case v.given(tok) && it.Form == codec.FormBitfield:
			raw = v.bitfield(it, tok)
		case v.given(tok):
			raw = v.number(it, tok)
		case s.units != noIndex:
			raw = v.counted(it, pi, s.units, base)
		}
		if it.Num != nil && (it.Num.Min != nil || it.Num.Max != nil) && !it.Num.Legal(raw) {
			v.failAt(tok, it.Field, "", "out-of-range", "%s is outside the legal range %s", it.Num.Decimal(raw), rangeText(it.Num))
		}
		v.otherTag(pc, raw, tok)
		if v.high > 0 {
			v.long(o, pc, it, tok, raw)
			return
		}
	}
	reg, ok := o.Register()
	switch {
	case !ok || !v.p.Selects(reg):
	case it.Role == codec.RoleCount:
		v.regs[reg] = v.elements(it.Field, base)
	default:
		v.regs[reg] = raw
	}
	v.node(codec.Node{Raw: raw, Off: uint32(len(v.data)) * 8, Op: pc, Kind: codec.NodeVar})
}

// long adds a number of more than 64 bits, whose bytes are those of its node.
func (v *valuer) long(o *codec.Op, pc uint16, it *codec.Item, tok int32, raw uint64) {
	if reg, ok := o.Register(); ok {
		if v.regs[reg] = raw; it.Form != codec.FormBitfield {
			v.failAt(tok, it.Field, "", "out-of-range", "%s has more than 64 bits, but other fields depend on it", v.show(tok))
		}
	}
	at := uint32(len(v.data)) * 8
	v.data = codec.AppendLong(v.data, v.high, raw)
	v.node(codec.Node{Raw: raw, Off: at, Len: uint32(len(v.data))*8 - at, Op: pc, Kind: codec.NodeVar})
}

// group adds a group with a body of its own.
func (v *valuer) group(o *codec.Op, pc uint16, tok int32) {
	body := pc
	if o.Code == codec.OpCall {
		body = o.Group
		regs := v.p.CallRegisters(body)
		saved := make([]uint64, len(regs))
		for i, r := range regs {
			saved[i] = v.regs[r]
		}
		defer func() {
			for i, r := range regs {
				v.regs[r] = saved[i]
			}
		}()
		if v.depth++; v.depth > maxCalls {
			v.fail(tok, "too-complex", "nested more than %d times", maxCalls)
			return
		}
		defer func() { v.depth-- }()
		v.path = append(v.path, pathPart{field: o.Field, elem: inCall, group: v.p.Ops[body].Field})
		defer func() { v.path = v.path[:len(v.path)-1] }()
	}
	if o.NullSize && !v.given(tok) {
		v.node(codec.Node{Off: uint32(len(v.data)) * 8, Op: pc, Kind: codec.NodeNull})
		return
	}
	if o.NullSize {
		tok = v.inOption(tok)
	}
	at := uint64(0)
	if reg, ok := o.Position(); ok {
		at = v.regs[reg]
	}
	w := v.openWindow(o, tok)
	g := v.node(codec.Node{Off: uint32(len(v.data)) * 8, Op: pc, Kind: codec.NodeGroup})
	if v.p.Ops[body].Packed() {
		vals := v.values()
		v.r.AddKey(&vals, g)
	}
	v.contents(body+1, v.p.Ops[body].End, v.p.Ops[body].Body, o.Bare, v.p.Ops[body].Field, tok)
	n := &v.r.Nodes[g]
	n.Len, n.After = uint32(len(v.data))*8-n.Off, uint32(len(v.r.Nodes))
	n.Raw = at
	v.closeWindow(o, w, g, tok)
}

// contents builds a body from the value of its only field, if it is bare, or from an object.
func (v *valuer) contents(pc, end, pi uint16, bare bool, field uint16, tok int32) {
	base := v.open(pi)
	steps := v.plans.bodies[pi].steps
	obj := int32(-1)
	key, keyed := v.key, v.keyed
	v.keyed = ""
	v.path = append(v.path, pathPart{field: field, elem: inField})
	defer func() { v.path = v.path[:len(v.path)-1] }()
	switch {
	case !v.given(tok):
	case bare && len(steps) > 0:
		v.slots[base] = tok
		if steps[0].kind == stepOpen {
			v.fillGroup(pi, base, 0, tok)
		}
	case v.toks[tok].kind != tokObject:
		v.failAt(tok, field, "", "wrong-kind", "%s where an object is expected: %s", v.toks[tok].kind, v.show(tok))
	default:
		obj = tok
		v.fill(pi, base, 0, uint16(len(steps)), tok)
	}
	for i := range steps {
		switch {
		case keyed == "" || steps[i].name != keyed:
		case v.slots[base+i] >= 0:
			v.failAt(v.slots[base+i], steps[i].field, "", "duplicate-field", "the key of the member is its %s", keyed)
		default:
			v.slots[base+i] = key
		}
	}
	v.build(pc, end, pi, base, obj)
	v.slots = v.slots[:base]
}

// choice adds the alternative that earlier values select.
func (v *valuer) choice(o *codec.Op, pc, pi uint16, base int, obj int32) {
	k := v.plans.slots[pc]
	s, tok := &v.plans.bodies[pi].steps[k], v.slots[base+int(k)]
	n := v.node(codec.Node{Off: uint32(len(v.data)) * 8, Op: pc, Kind: codec.NodeVariant, Raw: math.MaxUint64})
	c, which, ok := v.p.Selected(pc, v.regs, v.data)
	if v.p.Unsure(pc, v.limit() != unknownEnd) {
		c, which, ok = v.byPresence(pc, s, tok, obj, base)
	}
	v.p.Clear(pc, v.regs)
	if ok {
		v.r.Nodes[n].Raw = which
		co := &v.p.Ops[c]
		empty := len(v.plans.bodies[co.Body].steps) == 0
		if o.Present != noIndex {
			if tok = v.inOption(tok); empty && which > 0 && v.given(tok) && v.toks[tok].kind == tokObject && int32(v.toks[tok].after) == tok+1 {
				tok = -1 // {}
			}
		}
		switch {
		case s.anon:
			if s.in != noIndex {
				obj = v.slots[base+int(s.in)]
			}
			v.members(c, co, obj)
		case empty && v.given(tok):
			v.failAt(tok, o.Field, "", "unknown-field", "there is no value here, because of the values before: %s", v.show(tok))
		default:
			v.contents(c+1, co.End, co.Body, co.Bare, o.Field, tok)
		}
	} else if !s.anon && v.given(tok) {
		v.failAt(tok, o.Field, "", "no-alternative", "no alternative of the definition fits the values before: %s", v.show(tok))
	}
	x := &v.r.Nodes[n]
	x.Len, x.After = uint32(len(v.data))*8-x.Off, uint32(len(v.r.Nodes))
}

// byPresence returns the alternative of a choice that depends on where bytes end that are being built: one with fields if there are values for
// them, and one without otherwise.
func (v *valuer) byPresence(pc uint16, s *step, tok, obj int32, base int) (c uint16, which uint64, ok bool) {
	given := v.given(tok)
	if s.anon {
		if s.in != noIndex {
			obj = v.slots[base+int(s.in)]
		}
		given = obj >= 0 && v.toks[obj].kind == tokObject && v.hasMember(pc, obj)
	}
	for c = pc + 1; c < v.p.Ops[pc].End; c, which = v.p.Ops[c].End, which+1 {
		if given == (len(v.plans.bodies[v.p.Ops[c].Body].steps) > 0) {
			return c, which, true
		}
	}
	return 0, 0, false
}

// members builds an alternative whose fields are members of an enclosing object.
func (v *valuer) members(c uint16, co *codec.Op, obj int32) {
	inner := v.open(co.Body)
	if obj >= 0 && v.toks[obj].kind == tokObject {
		steps := v.plans.bodies[co.Body].steps
		for k := obj + 1; k < int32(v.toks[obj].after); k = int32(v.toks[k+1].after) {
			i := v.find(steps, 0, uint16(len(steps)), 0, k)
			if i == noIndex {
				continue
			}
			if v.used == nil {
				v.used = map[int32]bool{}
			}
			v.used[k] = true
			v.slots[inner+int(i)] = k + 1
			if steps[i].kind == stepOpen {
				v.fillGroup(co.Body, inner, i, k+1)
			}
		}
	} else {
		obj = -1
	}
	v.build(c+1, co.End, co.Body, inner, obj)
	v.slots = v.slots[:inner]
}

// anonHas reports whether an alternative of a choice without a name has a field, among the steps [from, to) of a body.
func (v *valuer) anonHas(pi, from, to uint16, key int32) bool {
	steps := v.plans.bodies[pi].steps
	for i := from; i < to; i++ {
		s := &steps[i]
		if s.kind == stepOpen {
			i = s.end
			continue
		}
		if s.kind != stepInner || !s.anon {
			continue
		}
		for c := s.op + 1; c < v.p.Ops[s.op].End; c = v.p.Ops[c].End {
			body := v.p.Ops[c].Body
			inner := v.plans.bodies[body].steps
			if v.find(inner, 0, uint16(len(inner)), 0, key) != noIndex || v.plans.bodies[body].anon && v.anonHas(body, 0, uint16(len(inner)), key) {
				return true
			}
		}
	}
	return false
}

// unused reports the members of alternatives that were not selected.
func (v *valuer) unused() {
	for _, p := range v.pending {
		if !v.used[p.key] && v.toks[p.key+1].kind != tokNull {
			v.path = append(v.path[:0], p.path...)
			v.failAt(p.key, noIndex, strings.Trim(v.show(p.key), `"`), "unknown-field", "the chosen alternative does not have this field")
		}
	}
	v.path = v.path[:0]
}

// appendUUID appends the bytes of a UUID: hex digits, with or without hyphens. It returns their number, or -1 after an error.
func (v *valuer) appendUUID(field uint16, tok int32) int {
	t := v.toks[tok]
	if t.kind != tokString {
		v.failAt(tok, field, "", "wrong-kind", "%s where a UUID is expected: %s", t.kind, v.show(tok))
		return -1
	}
	var digits [32]byte
	n := 0
	for _, c := range v.text[t.start:t.end] {
		if c == '-' {
			continue
		}
		if n == len(digits) || unhex(c) < 0 {
			n = -1
			break
		}
		digits[n] = byte(unhex(c))
		n++
	}
	if n != len(digits) {
		v.failAt(tok, field, "", "wrong-kind", "not a UUID of 32 hex digits: %s", v.show(tok))
		return -1
	}
	for i := 0; i < n; i += 2 {
		v.data = append(v.data, digits[i]<<4|digits[i+1])
	}
	return n / 2
}

// goesOnAfter checks the condition that ends a list after element n-1: the last element meets it, and no other one.
func (v *valuer) goesOnAfter(o *codec.Op, tok int32, n uint64, more bool) {
	reg, ok := o.Ended()
	if !ok || len(v.errs) > 0 {
		return
	}
	v.path = append(v.path, pathPart{field: o.Field, elem: int32(n - 1)})
	switch ended := v.regs[reg] != 0; {
	case ended && more:
		v.fail(tok, "early-end", "this element meets the condition that ends the list, but it is not the last one")
	case !ended && !more:
		v.fail(tok, "no-end", "the last element does not meet the condition that ends the list")
	}
	v.path = v.path[:len(v.path)-1]
}
