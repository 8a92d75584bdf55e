package value

import (
	"fmt"
	"slices"
	"strings"

	"wirebench/codec"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
)

// ValueError is one value that cannot be encoded.
type ValueError struct {
	Path    string // path of the field: members[0].player_id; empty for the entire value
	Code    string // stable identifier: "unknown-field", "wrong-kind", "out-of-range", ...
	Message string // contains the value and the limit
	Offset  int    // in bytes from the start of the JSON text
}

func (e ValueError) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

// ValueErrors lists the errors of a value, at most maxValueErrors.
type ValueErrors []ValueError

const maxValueErrors = 100

func (e ValueErrors) Error() string {
	var b strings.Builder
	for i, v := range e {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(v.Error())
	}
	return b.String()
}

// ParseJSON sets dst to a record to encode, from a JSON object of values. Missing and null values are zero or empty; unknown fields, values
// of the wrong kind and numbers that do not fit are errors. The values of numbers that are computed and not sent are ignored: they are
// computed again, so that other values can be changed alone. dst.Data is not a message: Encode produces it. The error is a *SyntaxError or
// ValueErrors.
func ParseJSON(dst *codec.Record, p *codec.Program, text []byte) error {
	size, err := parseJSON(dst, p, text, unknownEnd)
	if _, tail, ok := p.Whole(); err == nil && ok { // as if nothing at positions made it longer
		_, err = parseJSON(dst, p, text, size-tail)
	}
	return err
}

// ParseJSONOf is ParseJSON for a message of a size in bytes without its tail, on which values may depend.
func ParseJSONOf(dst *codec.Record, p *codec.Program, text []byte, size int) error {
	_, err := parseJSON(dst, p, text, uint64(size))
	return err
}

// parseJSON returns the size of the message without contents at positions, too.
func parseJSON(dst *codec.Record, p *codec.Program, text []byte, whole uint64) (size uint64, err error) {
	dst.Reset(p)
	if err := p.Resolved(); err != nil {
		return 0, err
	}
	mem := scratchOf(dst)
	s := scanner{text: text, toks: mem.toks[:0]}
	ok := s.document()
	mem.toks = s.toks
	if !ok {
		return 0, s.err
	}
	v := valuer{p: p, plans: plansOf(p), r: dst, text: text, toks: s.toks, slots: mem.slots[:0], data: mem.data[:0], path: mem.path[:0], regs: mem.regs}
	if v.regs = slices.Grow(v.regs[:0], p.Registers())[:p.Registers()]; len(v.regs) > 0 {
		clear(v.regs)
	}
	if reg, _, ok := p.Whole(); ok {
		v.regs[reg] = whole
	}
	switch s.toks[0].kind {
	case tokObject:
		v.body(0, uint16(len(p.Ops)), 0, 0)
	default:
		v.fail(0, "wrong-kind", "%s where an object of fields is expected", s.toks[0].kind)
	}
	v.unused()
	mem.slots, mem.data, mem.path, mem.regs = v.slots[:0], v.data, v.path[:0], v.regs
	dst.Data = v.data
	if len(v.errs) > 0 {
		dst.Nodes = dst.Nodes[:0]
		return 0, v.errs
	}
	if p.Rereads() {
		size = v.here()
	}
	return size, nil
}

// pathPart is a step of a path: the element of a list; inside a group or a choice with elem inField; or inside a group that is nested in
// itself with inCall.
type pathPart struct {
	field uint16
	elem  int32
	group uint16 // inCall: the field of the group that is read again
}

const (
	inCall  = -2
	inField = -3
)

// valuer converts tokens to nodes and their bytes, in the order of the ops.
type valuer struct {
	p     *codec.Program
	plans *plans
	r     *codec.Record
	text  []byte
	toks  []token
	slots []int32 // by step of the bodies in progress: token of its value, -1 if missing
	data  []byte
	path  []pathPart // elements around the value
	ends  int        // bytes of terminators, which are not in data
	blank int        // bytes, or elements without bytes, that the text does not contain
	seen  int        // unsuccessful comparisons of names
	errs  ValueErrors

	key   int32  // of the element that is built, if keyed is set: see schema.List.Keyed
	keyed string // the field that has its value
	high  uint64 // the upper bits of the number of schema.Long that was read last

	regs    []uint64
	depth   int // of calls
	pos     position
	from    uint64         // where the innermost group with a size begins
	limits  []uint64       // where the groups around end, see limit
	pending []pendingKey   // members of choices without a name
	used    map[int32]bool // the keys that an alternative has read
}

// maxBlank limits the bytes, or elements without bytes, that only the definition requires.
const maxBlank = 1 << 20

// maxBuilt returns the maximum number of bytes of a message built from a text of the given length.
func maxBuilt(text int) int { return min(codec.MaxMessage, 1<<25+64*text) }

// tooLarge reports whether the message exceeds the limits. It adds an error the first time.
func (v *valuer) tooLarge() bool {
	if len(v.data) <= maxBuilt(len(v.text)) && v.blank <= maxBlank {
		return false
	}
	if n := len(v.errs); n == 0 || v.errs[n-1].Code != "too-large" {
		v.fail(0, "too-large", "the message would have more than %d bytes", max(len(v.data), v.blank))
	}
	return true
}

func (v *valuer) fail(tok int32, code, format string, args ...any) {
	v.failAt(tok, noIndex, "", code, format, args...)
}

// failAt adds an error about a field; name is added to its path.
func (v *valuer) failAt(tok int32, field uint16, name, code, format string, args ...any) {
	if len(v.errs) >= maxValueErrors {
		return
	}
	indexes := make([]int32, 0, len(v.path))
	inner, base := uint16(noIndex), -1
	var path []byte
	for _, s := range v.path {
		switch inner = s.field; s.elem {
		case inField:
		case inCall:
			path = v.p.AppendBelow(path, base, s.field, indexes)
			inner, base, indexes = s.group, int(s.group), indexes[:0]
		default:
			indexes = append(indexes, s.elem)
		}
	}
	if field == noIndex {
		field = inner
	}
	path = v.p.AppendBelow(path, base, field, indexes)
	if name != "" {
		if len(path) > 0 {
			path = append(path, '.')
		}
		path = append(path, name...)
	}
	at := 0
	if tok >= 0 && int(tok) < len(v.toks) {
		at = int(v.toks[tok].start)
	}
	v.errs = append(v.errs, ValueError{Path: string(path), Code: code, Message: fmt.Sprintf(format, args...), Offset: at})
}

// show returns the text of a value for an error message.
func (v *valuer) show(tok int32) string {
	t := v.toks[tok]
	s := string(v.text[t.start:t.end])
	if t.kind == tokString {
		s = `"` + s + `"`
	}
	if len(s) > 60 {
		s = s[:57] + "..."
	}
	return strings.ToValidUTF8(s, "")
}

func (v *valuer) node(n codec.Node) int {
	n.After = uint32(len(v.r.Nodes) + 1)
	v.r.Nodes = append(v.r.Nodes, n)
	return len(v.r.Nodes) - 1
}

// body builds one instance of a body from an object; obj is -1 if every field is missing.
func (v *valuer) body(pc, end, pi uint16, obj int32) {
	base := v.open(pi)
	if obj >= 0 {
		v.fill(pi, base, 0, uint16(len(v.plans.bodies[pi].steps)), obj)
	}
	v.build(pc, end, pi, base, obj)
	v.slots = v.slots[:base]
}

// open reserves the slots of a body.
func (v *valuer) open(pi uint16) int {
	base := len(v.slots)
	for range v.plans.bodies[pi].steps {
		v.slots = append(v.slots, -1)
	}
	return base
}

// fill assigns the members of an object to the steps [from, to).
func (v *valuer) fill(pi uint16, base int, from, to uint16, obj int32) {
	steps := v.plans.bodies[pi].steps
	hint := from
	for k := obj + 1; k < int32(v.toks[obj].after) && len(v.errs) < maxValueErrors; {
		key, val := k, k+1
		k = int32(v.toks[val].after)
		i := v.find(steps, from, to, hint, key)
		if i == noIndex {
			if from == 0 && v.variantHas(pi, key) {
				continue // the alternative reads it
			}
			if v.plans.bodies[pi].anon && v.anonHas(pi, from, to, key) {
				v.pending = append(v.pending, pendingKey{key, v.place()})
				continue
			}
			v.unknown(steps, from, to, key)
			continue
		}
		s := &steps[i]
		hint = i + 1
		if s.kind == stepOpen {
			hint = s.end + 1
		}
		if v.slots[base+int(i)] >= 0 {
			v.failAt(key, s.field, "", "duplicate-field", "duplicate field")
			continue
		}
		v.slots[base+int(i)] = val
		if s.kind == stepOpen {
			v.fillGroup(pi, base, i, val)
		}
	}
	v.share(pi, base, from, to)
}

// fillGroup assigns the members of the value of a group.
func (v *valuer) fillGroup(pi uint16, base int, i uint16, val int32) {
	s := &v.plans.bodies[pi].steps[i]
	switch kind := v.toks[val].kind; {
	case kind == tokNull:
	case s.brace == '[':
		v.fillArray(pi, base, i, val)
	case kind == tokObject:
		v.fill(pi, base, i+1, s.end, val)
	default:
		v.failAt(val, s.field, "", "wrong-kind", "%s where an object is expected: %s", v.toks[val].kind, v.show(val))
	}
}

// fillArray assigns the elements of the value of a group that is shown as an array.
func (v *valuer) fillArray(pi uint16, base int, i uint16, val int32) {
	steps := v.plans.bodies[pi].steps
	if v.toks[val].kind != tokArray {
		v.failAt(val, steps[i].field, "", "wrong-kind", "%s where an array is expected: %s", v.toks[val].kind, v.show(val))
		return
	}
	have, want := 0, 0
	elem := val + 1
	for k := i + 1; k < steps[i].end; k++ {
		want++
		if elem < int32(v.toks[val].after) {
			v.slots[base+int(k)] = elem
			if steps[k].kind == stepOpen {
				v.fillGroup(pi, base, k, elem)
			}
			have, elem = have+1, int32(v.toks[elem].after)
		}
		if steps[k].kind == stepOpen {
			k = steps[k].end
		}
	}
	for ; elem < int32(v.toks[val].after); elem = int32(v.toks[elem].after) {
		have++
	}
	if have != want {
		v.failAt(val, steps[i].field, "", "wrong-size", "%d elements where %d are needed", have, want)
	}
}

// share gives the fields [from, to) without a value that of the later field of their name.
func (v *valuer) share(pi uint16, base int, from, to uint16) {
	if !v.plans.bodies[pi].twice {
		return
	}
	steps, slots := v.plans.bodies[pi].steps, v.slots[base:]
	for i := from; i < to; i++ {
		s := &steps[i]
		if s.last != noIndex && (slots[i] < 0 || v.toks[slots[i]].kind == tokNull) && slots[s.last] >= 0 {
			slots[i] = slots[s.last]
			switch last := &steps[s.last]; {
			case s.kind != stepOpen:
			case last.kind == stepOpen && alike(steps[i+1:s.end], steps[s.last+1:last.end]):
				copy(slots[i+1:s.end], slots[s.last+1:last.end])
			default:
				v.fillGroup(pi, base, i, slots[i])
			}
		}
		if s.kind == stepOpen {
			i = s.end
		}
	}
}

// alike reports whether the groups with these steps have the same members.
func alike(a, b []step) bool {
	return slices.EqualFunc(a, b, func(a, b step) bool { return a.kind == b.kind && a.name == b.name })
}

// find returns the step of a key. It starts at hint, the step after the previous one.
func (v *valuer) find(steps []step, from, to, hint uint16, key int32) uint16 {
	match := func(i uint16) bool {
		s := &steps[i]
		return s.kind != stepClose && s.kind != stepVariant && v.keyIs(key, s.name)
	}
	if hint < to && match(hint) {
		return hint
	}
	if v.seen > maxSeen {
		return noIndex
	}
	for i := from; i < to; i++ {
		if match(i) {
			return i
		}
		if v.seen++; v.seen > maxSeen {
			v.fail(key, "too-complex", "too many fields out of order")
			break
		}
		if steps[i].kind == stepOpen {
			i = steps[i].end
		}
	}
	return noIndex
}

// maxSeen bounds the search for fields out of the order of the definition.
const maxSeen = 1 << 26

// keyIs compares a key, which may have escapes, with a name.
func (v *valuer) keyIs(key int32, name string) bool {
	t := v.toks[key]
	s := v.text[t.start:t.end]
	if !t.escaped {
		return string(s) == name
	}
	for len(s) > 0 {
		var c rune
		c, s = char(s)
		if !strings.HasPrefix(name, string(c)) {
			return false
		}
		name = name[len(string(c)):]
	}
	return name == ""
}

func (v *valuer) unknown(steps []step, from, to uint16, key int32) {
	if len(v.errs) >= maxValueErrors {
		return
	}
	const most = 500 // names considered for a suggestion
	var names []string
	for i := from; i < to && len(names) < most; i++ {
		if k := steps[i].kind; k != stepClose && k != stepVariant {
			names = append(names, steps[i].name)
		}
		if steps[i].kind == stepOpen {
			i = steps[i].end
		}
	}
	word := string(v.text[v.toks[key].start:v.toks[key].end])
	shown := v.show(key)
	group := uint16(noIndex)
	if from > 0 && steps[from-1].kind == stepOpen {
		group = steps[from-1].field
	}
	help := ""
	if near := diag.Nearest(word, names); near != "" {
		help = fmt.Sprintf("; did you mean %q?", near)
	} else if len(names) == 0 {
		help = "; there are no fields here"
	}
	v.failAt(key, group, strings.Trim(shown, `"`), "unknown-field", "no field has this name%s", help)
}

// build emits the nodes of a body whose slots are filled.
func (v *valuer) build(pc, end, pi uint16, base int, obj int32) {
	nodes := uint16(0) // of this body so far
	for pc < end && len(v.errs) < maxValueErrors && !v.tooLarge() {
		o := &v.p.Ops[pc]
		if o.Optional {
			tail, at := v.tailFrom(pc, end, nodes)
			if !v.goesOn(pi, base, nodes, at) && !v.closes(o, pi, nodes) {
				if tail == end {
					return
				}
				pc, nodes, o = tail, at, &v.p.Ops[tail]
			}
		}
		switch o.Code {
		case codec.OpWeave, codec.OpTagged: // its lists follow
		case codec.OpLet:
			v.let(o)
		default:
			nodes++
		}
		switch o.Code {
		case codec.OpBlock:
			at := uint32(len(v.data)) * 8
			v.node(codec.Node{Off: at, Len: v.p.Blocks[o.Block].Bits, Op: pc, Kind: codec.NodeBlock})
			v.block(o.Block, pi, base)
			v.loads(&v.p.Blocks[o.Block], at, pi, base, obj)
		case codec.OpText, codec.OpBlob:
			if o.Made() != nil {
				v.made(o, pc)
				break
			}
			if o.Code == codec.OpText {
				v.text16(o, pc, v.slots[base+int(v.plans.slots[pc])])
				break
			}
			v.blob(o, pc, v.slots[base+int(v.plans.slots[pc])])
		case codec.OpList:
			v.list(o, pc, v.slots[base+int(v.plans.slots[pc])])
			pc = o.End
			continue
		case codec.OpVariant:
			if o.Field != noIndex {
				v.choice(o, pc, pi, base, obj)
			} else {
				v.variant(o, pc, pi, base, obj)
			}
			pc = o.End
			continue
		case codec.OpVar:
			v.varint(o, pc, pi, base, obj)
		case codec.OpShown: // whatever value is given
			vals := v.values()
			raw := v.p.Show(o, &vals)
			v.node(codec.Node{Raw: raw, Off: uint32(len(v.data)) * 8, Op: pc, Kind: codec.NodeVar})
			if num := v.p.Var(o).Num; (num.Min != nil || num.Max != nil) && !num.Legal(raw) {
				v.failAt(obj, o.Field, "", "out-of-range", "%s is computed, and outside the legal range %s", num.Decimal(raw), rangeText(num))
			}
		case codec.OpAlign:
			v.node(codec.Node{Off: uint32(len(v.data)) * 8, Op: pc, Kind: codec.NodeAlign})
		case codec.OpGroup, codec.OpCall:
			v.group(o, pc, v.slots[base+int(v.plans.slots[pc])])
			pc = o.End
			continue
		case codec.OpWeave, codec.OpCase, codec.OpLet, codec.OpTagged: // they have no node
		}
		pc++
	}
}

// tailFrom returns the op of the tail of a message, and its node in the body of the message, of which pc has the given one; end if the body that
// ends there has no tail.
func (v *valuer) tailFrom(pc, end, node uint16) (op, at uint16) {
	tail, ok := v.p.Tail()
	if !ok || int(end) < len(v.p.Ops) {
		return end, noIndex
	}
	for ; pc < tail; pc = v.p.Ops[pc].End {
		if c := v.p.Ops[pc].Code; c != codec.OpWeave && c != codec.OpTagged && c != codec.OpLet {
			node++
		}
	}
	return tail, node
}

// goesOn reports whether a value exists for any of a body's nodes from the given one on, up to another one.
func (v *valuer) goesOn(pi uint16, base int, node, end uint16) bool {
	for i := range v.plans.bodies[pi].steps {
		s := &v.plans.bodies[pi].steps[i]
		if s.kind == stepVar && v.p.Ops[s.op].Code == codec.OpShown {
			continue
		}
		if tok := v.slots[base+i]; s.node >= node && s.node < end && s.node != noIndex && tok >= 0 && (v.toks[tok].kind != tokNull || v.mayBeNull(s)) {
			return true
		}
	}
	return false
}

// block appends a block with the values of its fields.
func (v *valuer) block(block, pi uint16, base int) {
	b := &v.p.Blocks[block]
	at := uint32(len(v.data)) * 8
	v.data = appendZeros(v.data, int(b.Bits/8))
	for i := range b.Items {
		if it := &b.Items[i]; it.Role == codec.RoleConst {
			copy(v.data[(at+it.Off)/8:], it.Bytes)
		}
	}
	for _, k := range v.plans.items[block] {
		it, tok := &b.Items[k.item], v.slots[base+int(k.step)]
		if s := &v.plans.bodies[pi].steps[k.step]; s.units != noIndex && (tok < 0 || v.toks[tok].kind == tokNull) {
			codec.StoreBits(v.data, at+it.Off, it.Bits, it.Order, v.counted(it, pi, s.units, base))
			continue
		}
		v.item(it, at, tok)
	}
}

func appendZeros(dst []byte, n int) []byte {
	var zeros [64]byte
	for ; n > len(zeros); n -= len(zeros) {
		dst = append(dst, zeros[:]...)
	}
	return append(dst, zeros[:n]...)
}

// item writes the value of a field into its block.
func (v *valuer) item(it *codec.Item, at uint32, tok int32) {
	raw := uint64(0)
	if t, ok := it.Type.(*schema.Text); ok && t.Pad != 0 {
		for i := (at + it.Off) / 8; i < (at+it.Off+it.Bits)/8; i++ {
			v.data[i] = t.Pad
		}
		if !v.given(tok) {
			return
		}
	}
	if tok >= 0 && v.toks[tok].kind != tokNull {
		switch it.Form {
		case codec.FormText, codec.FormChars:
			t := it.Type.(*schema.Text)
			start := (at + it.Off) / 8
			mark := len(v.data)
			n := v.appendUnits(it.Field, tok, t.Charset, false)
			size := int(it.Bits / 8)
			if it.Form == codec.FormChars && n != t.N {
				v.failAt(tok, it.Field, "", "wrong-size", "%d characters where %d are needed", n, t.N)
				v.data = v.data[:mark]
				return
			}
			if n*t.Charset.Unit() > size {
				v.failAt(tok, it.Field, "", "too-long", "%d code units where %d fit", n, size/t.Charset.Unit())
				v.data = v.data[:mark]
				return
			}
			copy(v.data[start:], v.data[mark:])
			v.data = v.data[:mark]
			return
		case codec.FormBlob, codec.FormUUID:
			start := (at + it.Off) / 8
			mark := len(v.data)
			n := 0
			if it.Form == codec.FormUUID {
				n = v.appendUUID(it.Field, tok)
			} else {
				n = v.appendBytes(it.Field, tok)
			}
			if n != int(it.Bits/8) && n >= 0 {
				v.failAt(tok, it.Field, "", "wrong-size", "%d bytes where %d are needed", n, it.Bits/8)
			} else if n >= 0 {
				copy(v.data[start:], v.data[mark:])
			}
			v.data = v.data[:mark]
			return
		case codec.FormBitfield:
			raw = v.bitfield(it, tok)
		default:
			raw = v.number(it, tok)
		}
	}
	if it.Num != nil && (it.Num.Min != nil || it.Num.Max != nil) && !it.Num.Legal(raw) {
		shown := "0 (missing)"
		if tok >= 0 {
			shown = v.show(tok)
		}
		v.failAt(tok, it.Field, "", "out-of-range", "%s is outside the legal range %s", shown, rangeText(it.Num))
	}
	codec.StoreBits(v.data, at+it.Off, it.Bits, it.Order, raw)
}

// text16 adds a text of variable size.
func (v *valuer) text16(o *codec.Op, pc uint16, tok int32) {
	t := v.p.Fields[o.Field].Schema.Type.(*schema.Text)
	off := uint32(len(v.data)) * 8
	if v.null(o, pc, tok) {
		return
	}
	n := 0
	if tok >= 0 && v.toks[tok].kind != tokNull {
		n = v.appendChars(o.Field, tok, t.Charset, t.Size == schema.Terminated && !t.With, t.End)
	}
	v.units(o, tok, uint64(n+v.padding(o, tok, n)), "characters")
	v.run(o, pc, tok, off, uint64(n), codec.NodeText)
}

// run adds the node of n units of a text or of bytes, which begin at a bit.
func (v *valuer) run(o *codec.Op, pc uint16, tok int32, off uint32, n uint64, kind codec.NodeKind) {
	size := uint32(n) * uint32(o.Unit)
	if _, ok := o.Trim(); ok {
		size = uint32(len(v.data)) - off/8
	}
	if reg, ok := o.Register(); ok {
		v.regs[reg] = uint64(off/8)<<32 | n*uint64(o.Unit)
	}
	if o.Size == schema.Terminated {
		if v.given(tok) && (o.With() || kind == codec.NodeBlob) {
			v.endsRight(o, tok, int(off/8))
		}
		switch {
		case o.Keep() || o.With():
		case !o.Lax():
			v.ends += int(o.Unit)
		case v.here()+uint64(size) < v.limit(): // its end is among its bytes, as it may be missing
			v.data = append(v.data, o.End0)
			if size++; o.Unit == 2 {
				v.data = append(v.data, 0)
				size++
			}
		}
		if pad, ok := o.Trim(); ok && v.limit() != unknownEnd {
			for end := v.limit() - min(v.here(), v.limit()); uint64(size) < end && !v.tooLarge(); size++ {
				v.data = append(v.data, pad)
				v.blank++
			}
		}
	}
	v.node(codec.Node{Raw: n, Off: off, Len: size * 8, Op: pc, Kind: kind})
}

// units checks a number of units.
func (v *valuer) units(o *codec.Op, tok int32, n uint64, what string) {
	switch {
	case n < o.MinUnits:
		v.failAt(tok, o.Field, "", "count-too-small", "%d %s, at least %d are needed", n, what, o.MinUnits)
	case n > o.MaxUnits:
		v.failAt(tok, o.Field, "", "count-too-large", "%d %s, at most %d are allowed", n, what, o.MaxUnits)
	case o.Size == schema.Fixed && n != uint64(o.N):
		v.failAt(tok, o.Field, "", "wrong-size", "%d %s where %d are needed", n, what, o.N)
	case o.Size == schema.Computed:
		if reg, _ := o.Count(); n != v.regs[reg] && !unknown(v.regs[reg]) {
			v.failAt(tok, o.Field, "", "wrong-size", "%d %s where %d are needed by the values before", n, what, int64(v.regs[reg]))
		}
	}
}

// appendUnits appends the code units of a string and returns their number.
func (v *valuer) appendUnits(field uint16, tok int32, set schema.Charset, noNul bool) (n int) {
	return v.appendChars(field, tok, set, noNul, 0)
}

// appendChars is appendUnits for text that ends with a unit of value 0, or the byte last.
func (v *valuer) appendChars(field uint16, tok int32, set schema.Charset, noNul bool, last byte) (n int) {
	t := v.toks[tok]
	if t.kind != tokString {
		v.failAt(tok, field, "", "wrong-kind", "%s where text is expected: %s", t.kind, v.show(tok))
		return 0
	}
	s := v.text[t.start:t.end]
	mark := len(v.data)
	for len(s) > 0 {
		var c rune
		c, s = char(s)
		switch {
		case c == rune(last) && noNul:
			if last != 0 {
				v.failAt(tok, field, "", "end-in-text", "the text contains U+%04X, which would end it: %s", last, v.show(tok))
				return 0
			}
			v.failAt(tok, field, "", "nul-in-text", "the text contains a NUL, which would end it: %s", v.show(tok))
			return 0
		case set == schema.UTF16BE:
			if c >= 0x10000 {
				c -= 0x10000
				hi := 0xd800 + c>>10
				v.data = append(v.data, byte(hi>>8), byte(hi))
				c = 0xdc00 + c&0x3ff
			}
			v.data = append(v.data, byte(c>>8), byte(c))
		case set.Table():
			var ok bool
			if v.data, ok = set.Append(v.data, c); !ok {
				v.failAt(tok, field, "", "out-of-range", "%s does not have the character U+%04X", set, c)
				return 0
			}
		case set == schema.UTF16LE && c >= 0x10000:
			c -= 0x10000
			hi, lo := 0xd800+c>>10, 0xdc00+c&0x3ff
			v.data = append(v.data, byte(hi), byte(hi>>8), byte(lo), byte(lo>>8))
		case set == schema.UTF16LE:
			v.data = append(v.data, byte(c), byte(c>>8))
		case set == schema.Latin1 && c > 0xff:
			v.failAt(tok, field, "", "out-of-range", "the character U+%04X does not fit a byte", c)
			return 0
		case set == schema.Latin1:
			v.data = append(v.data, byte(c))
		case c >= 0xdc80 && c <= 0xdcff: // an invalid UTF-8 byte, see appendText
			v.data = append(v.data, byte(c))
		case c >= 0xd800 && c < 0xe000:
			v.failAt(tok, field, "", "out-of-range", "the surrogate U+%04X cannot be encoded as UTF-8", c)
			return 0
		default:
			v.data = append(v.data, string(c)...)
		}
	}
	return (len(v.data) - mark) / set.Unit()
}

func (v *valuer) blob(o *codec.Op, pc uint16, tok int32) {
	off := uint32(len(v.data)) * 8
	if v.null(o, pc, tok) {
		return
	}
	n := 0
	if tok >= 0 && v.toks[tok].kind != tokNull {
		n = max(0, v.appendBytes(o.Field, tok))
	}
	v.units(o, tok, uint64(n+v.padding(o, tok, n)), "bytes")
	v.run(o, pc, tok, off, uint64(n), codec.NodeBlob)
}

// appendBytes appends bytes written in hex. It returns their number, or -1 after an error.
func (v *valuer) appendBytes(field uint16, tok int32) int {
	t := v.toks[tok]
	s := v.text[t.start:t.end]
	if t.kind != tokString {
		v.failAt(tok, field, "", "wrong-kind", "%s where a hex string is expected: %s", t.kind, v.show(tok))
		return -1
	}
	if len(s)%2 != 0 {
		v.failAt(tok, field, "", "wrong-kind", "an odd number of hex digits (%d)", len(s))
		return -1
	}
	for i := 0; i < len(s); i += 2 {
		hi, lo := unhex(s[i]), unhex(s[i+1])
		if hi < 0 || lo < 0 {
			v.failAt(tok, field, "", "wrong-kind", "not hex digits at %d: %q", i, s[i:i+2])
			return -1
		}
		v.data = append(v.data, byte(hi<<4|lo))
	}
	return len(s) / 2
}

func (v *valuer) list(o *codec.Op, pc uint16, tok int32) {
	if o.Size == schema.Scattered {
		v.scattered(o, pc, tok)
		return
	}
	if v.null(o, pc, tok) {
		return
	}
	l := v.p.Fields[o.Field].Schema.Type.(*schema.List)
	list := v.node(codec.Node{Off: uint32(len(v.data)) * 8, Op: pc, Kind: codec.NodeList})
	if reg, ok := o.Node(); ok {
		v.regs[reg] = uint64(list)
	}
	n := uint64(0)
	switch {
	case tok < 0 || v.toks[tok].kind == tokNull:
		if o.Size == schema.Fixed { // all zero
			for ; n < uint64(o.N) && !v.tooLarge(); n++ {
				v.blank += max(int(o.Stride/8), 1)
				v.element(o, pc, l, -1, int32(n))
			}
		}
	case v.toks[tok].kind == tokObject && l.Keyed != "":
		for k := tok + 1; k < int32(v.toks[tok].after) && len(v.errs) < maxValueErrors && !v.tooLarge(); k = int32(v.toks[k+1].after) {
			v.key, v.keyed = k, l.Keyed
			v.element(o, pc, l, k+1, int32(n))
			n++
		}
	case v.toks[tok].kind != tokArray:
		v.failAt(tok, o.Field, "", "wrong-kind", "%s where an array is expected: %s", v.toks[tok].kind, v.show(tok))
	default:
		for k := tok + 1; k < int32(v.toks[tok].after) && len(v.errs) < maxValueErrors && !v.tooLarge(); k = int32(v.toks[k].after) {
			v.element(o, pc, l, k, int32(n))
			n++
			v.goesOnAfter(o, k, n, int32(v.toks[k].after) < int32(v.toks[tok].after))
		}
	}
	if _, ok := o.Ended(); ok && n == 0 {
		v.failAt(tok, o.Field, "", "no-end", "there are no elements, but the last one has to meet the condition that ends the list")
	}
	v.units(o, tok, n, "elements")
	if o.Size == schema.Until && v.p.Rereads() {
		v.move(v.here() + 1)
	}
	x := &v.r.Nodes[list]
	x.Raw, x.Len, x.After = n, uint32(len(v.data))*8-x.Off, uint32(len(v.r.Nodes))
}

func (v *valuer) element(o *codec.Op, pc uint16, l *schema.List, tok, index int32) {
	v.path = append(v.path, pathPart{field: o.Field, elem: index})
	defer func() { v.path = v.path[:len(v.path)-1] }()
	if reg, ok := o.Index(); ok {
		v.regs[reg] = uint64(index)
	}
	at := uint32(len(v.data)) * 8
	if !o.Plain || o.Linked {
		e := v.node(codec.Node{Off: at, Op: pc, Kind: codec.NodeElem})
		defer func() {
			n := &v.r.Nodes[e]
			n.Len, n.After = uint32(len(v.data))*8-at, uint32(len(v.r.Nodes))
		}()
	}
	base := v.open(o.Body)
	defer func() { v.slots = v.slots[:base] }()
	steps := v.plans.bodies[o.Body].steps
	obj := int32(-1)
	switch {
	case tok < 0 || v.toks[tok].kind == tokNull:
	case l.Bare && len(steps) > 0:
		v.slots[base] = tok
		if steps[0].kind != stepOpen {
			break
		}
		v.fillGroup(o.Body, base, 0, tok)
	case v.toks[tok].kind != tokObject:
		v.fail(tok, "wrong-kind", "%s where an object is expected: %s", v.toks[tok].kind, v.show(tok))
	default:
		obj = tok
		v.fill(o.Body, base, 0, uint16(len(steps)), tok)
	}
	if o.Plain {
		v.block(o.Block, o.Body, base)
		return
	}
	v.build(pc+1, o.End, o.Body, base, obj)
}
