package value

import (
	"math"
	"strings"

	"wirebench/codec"
)

// variantHas reports whether an alternative at the end of the body has a field of this name.
func (v *valuer) variantHas(pi uint16, key int32) bool {
	for _, s := range v.plans.bodies[pi].steps {
		if s.kind != stepVariant {
			continue
		}
		for c := s.op + 1; c < v.p.Ops[s.op].End; c = v.p.Ops[c].End {
			steps := v.plans.bodies[v.p.Ops[c].Body].steps
			if v.find(steps, 0, uint16(len(steps)), 0, key) != noIndex {
				return true
			}
		}
	}
	return false
}

// variant adds the alternative that matches the values: the one selected by the switch field, otherwise the first that has all fields and
// the right size.
func (v *valuer) variant(o *codec.Op, pc, pi uint16, base int, obj int32) {
	n := v.node(codec.Node{Off: uint32(len(v.data)) * 8, Op: pc, Kind: codec.NodeVariant, Raw: math.MaxUint64})
	chosen := uint16(noIndex)
	k := uint64(0)
	for c := pc + 1; c < o.End && chosen == noIndex; c, k = v.p.Ops[c].End, k+1 {
		co := &v.p.Ops[c]
		if co.When.Reg != noIndex && v.switchValue(pi, base, co.When.Reg) != co.When.Value {
			continue
		}
		if co.When.Reg == noIndex && !v.hasAll(pi, co.Body, obj) {
			continue
		}
		data, ends, blank, errs, pos := len(v.data), v.ends, v.blank, len(v.errs), position{v.here(), len(v.r.Nodes)}
		inner := v.open(co.Body)
		if obj >= 0 {
			v.fillKnown(co.Body, inner, obj)
		}
		v.build(c+1, co.End, co.Body, inner, obj)
		v.slots = v.slots[:inner]
		if co.When.Reg == noIndex && len(v.path) == 0 && len(v.errs) == errs && !co.When.Fits(uint32(len(v.data)+v.ends)) {
			v.r.Nodes, v.data, v.ends, v.blank, v.pos = v.r.Nodes[:n+1], v.data[:data], ends, blank, pos // another one may match
			continue
		}
		v.r.Nodes[n].Raw, chosen = k, co.Body
	}
	x := &v.r.Nodes[n]
	x.Len, x.After = uint32(len(v.data))*8-x.Off, uint32(len(v.r.Nodes))
	v.leftOut(pi, chosen, obj)
}

// leftOut reports the members of an object that neither the common part nor the chosen alternative has. Members that no alternative has
// were reported before.
func (v *valuer) leftOut(pi, alt uint16, obj int32) {
	if obj < 0 {
		return
	}
	common := v.plans.bodies[pi].steps
	var steps []step
	if alt != noIndex {
		steps = v.plans.bodies[alt].steps
	}
	for k := obj + 1; k < int32(v.toks[obj].after); k = int32(v.toks[k+1].after) {
		if v.find(common, 0, uint16(len(common)), 0, k) != noIndex || v.find(steps, 0, uint16(len(steps)), 0, k) != noIndex || !v.variantHas(pi, k) {
			continue
		}
		name := strings.Trim(v.show(k), `"`)
		if alt == noIndex {
			v.failAt(k, noIndex, name, "no-alternative", "no alternative of the definition fits these fields and their size")
		} else {
			v.failAt(k, noIndex, name, "unknown-field", "the chosen alternative does not have this field")
		}
	}
}

// switchValue returns the raw value of the field that selects among alternatives, from the block built before.
func (v *valuer) switchValue(pi uint16, base int, reg uint16) uint64 {
	for i := len(v.r.Nodes) - 1; i >= 0; i-- {
		n := &v.r.Nodes[i]
		if n.Kind != codec.NodeBlock {
			continue
		}
		b := &v.p.Blocks[v.p.Ops[n.Op].Block]
		for k := range b.Loads {
			if l := &b.Loads[k]; l.Reg == reg {
				return codec.LoadBits(v.data, n.Off+l.Off, uint32(l.Bits), l.Order)
			}
		}
	}
	return 0
}

// hasAll reports whether every member of the object that is not in the common part is a field of the alternative.
func (v *valuer) hasAll(pi, alt uint16, obj int32) bool {
	if obj < 0 {
		return true
	}
	common, steps := v.plans.bodies[pi].steps, v.plans.bodies[alt].steps
	for k := obj + 1; k < int32(v.toks[obj].after); k = int32(v.toks[k+1].after) {
		if v.find(common, 0, uint16(len(common)), 0, k) == noIndex && v.find(steps, 0, uint16(len(steps)), 0, k) == noIndex {
			return false
		}
	}
	return true
}

// fillKnown is fill for an alternative; it skips members of the common part.
func (v *valuer) fillKnown(pi uint16, base int, obj int32) {
	steps := v.plans.bodies[pi].steps
	for k := obj + 1; k < int32(v.toks[obj].after); k = int32(v.toks[k+1].after) {
		i := v.find(steps, 0, uint16(len(steps)), 0, k)
		if i == noIndex {
			continue
		}
		v.slots[base+int(i)] = k + 1
		if steps[i].kind == stepOpen {
			v.fillGroup(pi, base, i, k+1)
		}
	}
	v.share(pi, base, 0, uint16(len(steps)))
}
