package emit

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"wirebench/defs/schema"
)

// A native target is a programming language. The walker traverses the steps of each message, once for the function that reads it and once
// for the function that writes it. A language provides templates of statements, and methods where templates are insufficient.

// tongue is the methods of a language about values. They return expressions, unless noted otherwise, as those of native do.
type tongue interface {
	dot(base, name string) string          // a member
	mask(v uint64) string                  // a constant of 64 bits
	partNames(t *schema.Bitfield) []string // the identifiers of the parts of a bitfield
}

// native is the methods of a language with a walker.
type native interface {
	tongue
	typ(t schema.Type, r *record) string  // a type; r is the record of its groups and elements
	zero(t schema.Type, r *record) string // a zero value
	value(base string, at path) string    // the value of a member, which may be missing
	quote(s string) string                // a string literal
	constant(n *schema.Number, v uint64) string
	bounds(e schema.Extent) (lo, hi string)
	// inRange returns the condition that a value is legal, "" if all values are. big: its type is an integer of more than 32 bits.
	inRange(n *schema.Number, v string, big bool) string
	signed(bits string, n *schema.Number) string // the lowest bits of an unsigned number of 64 bits as two's complement

	raw(b string, it *item) (bits, wide string)          // an item of the block b as an unsigned number of any type, and of 64 bits
	load(b string, it *item, n *schema.Number) string    // the wire value of a number
	shown(n *schema.Number, value string) string         // the member's value of a wire value
	partOf(t *schema.Bitfield, name, bits string) string // the value of a part, from its bits

	readConst(b string, it *item) // prints
	readFixed(b string, it *item, to string)
	readRun(st *step, to, bytes string)
	makeList(st *step, to, n string)
	newElem(st *step, elem string)     // declares an element without a record
	present(steps []step, base string) // creates the members that the steps read into
	elem(st *step, to, id string) string
	pointer(st *step) string // the type of a pointer to an element, if there are pointers

	float(n *schema.Number, from string) string // the wire value of a float, from the member's value
	bits(t *schema.Bitfield, name, from string, it *item) string
	put(p string, it *item, n *schema.Number, value string) // prints; n is nil for the bits of an unsigned number of 64 bits
	writeConst(p string, it *item)
	writeFixed(p string, it *item, from string)
	run(st *step, base, id string) (n string) // the number of units; it may print declarations for putRun
	putRun(st *step, base, n, id string)
	list(st *step, base, id, index string) (n, elem string) // the number of elements, and an element
	missing(r *record, st *step, base string) string        // the condition that an optional part is missing
}

// prints is the templates of a language. r is the reader and b a block of fixed size; w is the writer and p the position of a block.
type prints struct {
	code   string // term for the code of a message
	typ    string // suffix of the name of a type
	remark string // a comment line, for Sprintf
	equal  string // operator
	sure   string // suffix of an optional member that is known to be present
	wide   string // suffix of a constant of 64 bits
	frame  string // bytes of the frame that is read

	test    string // $cond, after "if"
	comment string // $text, on one line

	count, offset         string // declare $name, which is assigned later
	decl, declAt          string // $decl in a declaration with an assignment
	none                  string // a block without bytes; "" omits it
	skip, take            string // $bytes bytes, as the block b$id
	countRead, offsetRead string // $decl $name, from $raw or $wide. A count has $lo to $hi units of at least $min bytes
	sized                 string // checks all counts of a block
	part                  string // $body, if the message has more bytes; $part to $parts
	assign                string // $value to $to
	checkOn               string // the form of $value whose range is checked
	check, checked        string // refuses a number unless $cond; the value after the check
	bitfield              string // v$id for the bits $raw
	bitfieldOf            string // a part of v$id
	run, ended, rest      string // $n units of $unit bytes at $at, zero-terminated units, units up to the end; with an offset, $suffix is
	// "_at" and $comma is ", $at", otherwise both are empty
	list, linked, toEnd string // $n elements at $at, as a chain, up to the end: $make, $from or empty, $element, $back
	from, stay, back    string // $from and $back of a list with an offset; $from of one without
	element             string // reads $elem, a $record

	here, since       string // the current offset, the offset of elem$id
	some              string // condition that $n is not 0
	grow, growOnly    string // p$id of $bytes zeros
	place             string // $local is $p
	putAt, putAtIf    string // $value at $where after $p, if $cond
	scale             string // v$id of the scaled integer $from
	fits              string // refuses unless $cond
	packing           string // v$id without bits, from $from
	bitfieldFrom      string // the value whose parts are then used
	partFits          string // the condition that $bits, of $from, are in $mask
	partIs            string // the condition that they are $mask
	partBits          string // $bits, shifted
	setPart           string // combines them into v$id
	counted, counting string // checks $n; the value to write for it
	stop, over        string // the message ends here, if $cond; the message must end here
	writeElem         string // $elem, a $record
	prev, later       string // prev$id; the condition that an element is not the first
	elemAt, prevIs    string // elem$id is here; prev$id is elem$id
	loop              string // $body for $n elements
	turns, turn       string // $body as long as a list has elements; if the list does
}

// teller writes the types of a language.
type teller struct {
	code
	plan    *plan
	tongue  tongue
	say     *prints
	top     *names
	types   map[*record]string
	fields  map[*member]string
	parts   map[*record]string // names of the members with the number of optional parts
	choices map[*record]string
	enums   map[*schema.Enum]string // where the names of values were written, if they are many
	loops   int
}

// walker writes the functions of a language.
type walker struct {
	teller
	lang native
}

func newTeller(p *plan, say *prints, reserved []string) teller {
	return teller{
		plan: p, say: say, top: newNames(false, reserved...), types: map[*record]string{}, fields: map[*member]string{},
		parts: map[*record]string{}, choices: map[*record]string{}, enums: map[*schema.Enum]string{},
	}
}

// fresh returns a function that returns a number for new variables, which is allocated by its first call.
func (w *teller) fresh() func() string {
	id := ""
	return func() string {
		if id == "" {
			w.loops++
			id = strconv.Itoa(w.loops)
		}
		return id
	}
}

func (w *walker) blank() { w.line("") }

// place returns the expression that a value is read into.
func (w *walker) place(base string, at path) string {
	for i, m := range at {
		if m == nil {
			continue
		}
		base = w.lang.dot(base, w.fields[m])
		if i < len(at)-1 && (m.part > 0 || m.alt) {
			base += w.say.sure
		}
	}
	return base
}

func (w *walker) shift(bits int) string { return strconv.Itoa(bits) + w.say.wide }

// native reports whether an item is an aligned number of 8, 16, 32 or 64 bits, and returns its byte order.
func (it *item) native() (order string, ok bool) {
	return map[bool]string{true: "Big", false: "Little"}[it.order == schema.Big], it.off%8 == 0 && isNative(it.bits)
}

func where(it *item) string {
	return fmt.Sprintf("%d, %d, %v", it.off, it.bits, it.order == schema.Big)
}

// putAt writes a number afterwards: at a position, if a condition holds.
func (w *walker) putAt(p, cond string, it *item, value, label string) {
	text := w.say.putAt
	if cond != "" {
		text = w.say.putAtIf
	}
	w.print(text, vars{"p": p, "cond": cond, "where": where(it), "value": value, "label": w.lang.quote(label)})
}

// branch is one of several alternatives.
type branch struct {
	cond, comment string
	body          func()
}

// branches writes alternatives. total: the last one is unconditional.
func (w *teller) branches(list []branch, total bool) {
	for i, b := range list {
		v := vars{"cond": b.cond, "text": b.comment}
		word := map[bool]string{true: "if ", false: "} else if "}[i == 0]
		head := word + expand(w.say.test, v) + " {"
		if b.comment != "" {
			head += expand(w.say.comment, v)
		}
		if total && i == len(list)-1 {
			head = strings.TrimSuffix(word, "if ") + "{"
		}
		w.open("%s", head)
		b.body()
		w.depth--
	}
	w.line("}")
}

// lengthIs returns the condition of an alternative that depends on the size.
func (w *teller) lengthIs(ch choice, size string) string {
	switch {
	case ch.max == 0 && ch.min == 0:
		return "true"
	case ch.max == 0:
		return fmt.Sprintf("%s >= %d", size, ch.min)
	case ch.max == ch.min:
		return fmt.Sprintf("%s %s %d", size, w.say.equal, ch.min)
	}
	return fmt.Sprintf("%s >= %d && %s <= %d", size, ch.min, size, ch.max)
}

// choose writes a branch for each alternative, by value or by size; when writing, a member has the number of the latter.
func (w *walker) choose(r *record, st *step, base string, reading bool, body func([]step)) {
	var list []branch
	for i, ch := range st.cases {
		cond := ""
		switch {
		case ch.field != nil:
			cond = fmt.Sprintf("%s %s %s", w.lang.value(base, ch.field), w.say.equal, w.lang.constant(ch.typ, ch.value))
		case reading:
			cond = w.lengthIs(ch, w.say.frame)
		default:
			cond = fmt.Sprintf("%s %s %d", w.lang.dot(base, w.choices[r]), w.say.equal, i+1)
		}
		list = append(list, branch{cond, "", func() {
			if reading && r.choice {
				w.print(w.say.assign, vars{"to": w.lang.dot(base, w.choices[r]), "value": i + 1})
			}
			body(ch.steps)
		}})
	}
	w.branches(list, false)
}

// found returns an expression for the alternative of a message of a size, "" if none depends on the size.
func (w *walker) found(m *message, size string) string {
	for i := range m.record.steps {
		if st := &m.record.steps[i]; st.kind == stepChoice && m.record.choice {
			found := "0"
			for k := len(st.cases) - 1; k >= 0; k-- {
				found = fmt.Sprintf("(%s) ? %d : %s", w.lengthIs(st.cases[k], size), k+1, found)
			}
			return found
		}
	}
	return ""
}

func (w *walker) readSteps(r *record, steps []step, base string) {
	for i := range steps { // variables of optional parts are needed by later parts
		for k := range steps[i].items {
			if it := &steps[i].items[k]; steps[i].part > 0 && it.local != nil {
				w.print(map[bool]string{true: w.say.count, false: w.say.offset}[it.kind == schema.Count], vars{"name": it.local.name()})
			}
		}
	}
	for i := 0; i < len(steps); {
		part, end := steps[i].part, i+1
		for end < len(steps) && part > 0 && steps[end].part == part { // a text with its size: both are there or none
			end++
		}
		read := func() {
			for k := i; k < end; k++ {
				w.readStep(r, &steps[k], base)
			}
		}
		if part == 0 {
			read()
		} else {
			w.print(w.say.part, vars{"parts": w.lang.dot(base, w.parts[r]), "part": part, "body": func() {
				w.lang.present(steps[i:end], base)
				read()
			}})
		}
		i = end
	}
}

func (w *walker) readStep(r *record, st *step, base string) {
	switch st.kind {
	case stepBlock:
		w.readBlock(st, base)
	case stepRun:
		v := vars{"at": st.at(), "n": st.units(), "unit": st.unit(), "label": w.lang.quote(st.items[0].label), "suffix": "", "comma": ""}
		if st.offset != nil {
			v["suffix"], v["comma"] = "_at", ", "+st.at()
		}
		text := w.say.run
		switch st.items[0].ext.Size {
		case schema.Terminated:
			text = w.say.ended
		case schema.ToEnd:
			text = w.say.rest
		}
		w.lang.readRun(st, w.place(base, st.path), expand(text, v))
	case stepList:
		w.readList(r, st, base)
	case stepWeave:
		for k := range st.lists {
			w.readList(r, &st.lists[k], base)
		}
	case stepChoice:
		w.choose(r, st, base, true, func(steps []step) {
			w.lang.present(steps, base)
			w.readSteps(r, steps, base)
		})
	}
}

// name returns the variable of a count or an offset.
func (l *local) name() string {
	if l.item.kind == schema.Count {
		return "n" + strconv.Itoa(l.id)
	}
	return "at" + strconv.Itoa(l.id)
}

// at returns the variable with a step's offset, -1 if it is at the current position.
func (st *step) at() string {
	if st.offset == nil {
		return "-1"
	}
	return st.offset.name()
}

// units returns the number of units when reading.
func (st *step) units() string {
	if st.count == nil {
		return strconv.Itoa(st.items[0].ext.N)
	}
	return st.count.name()
}

// unit returns the size of a unit of text or bytes.
func (st *step) unit() int {
	if t, ok := st.typ.(*schema.Text); ok {
		return t.Charset.Unit()
	}
	return 1
}

// used reports whether the bytes of a block are used.
func (w *walker) used(items []item, reading bool) bool {
	for i := range items {
		it := &items[i]
		if it.bits == 0 && w.say.none == "" {
			continue
		}
		switch it.kind {
		case schema.Value, schema.Count, schema.Offset, schema.Const, schema.Counter, schema.Check:
			return true
		case schema.Code:
			if !reading || it.path != nil {
				return true
			}
		}
	}
	return false
}

func (w *walker) readBlock(st *step, base string) {
	id := w.fresh()
	b := w.say.none
	switch v := (vars{"id": id, "bytes": st.bits / 8}); {
	case st.bits == 0 && b == "":
		return
	case st.bits == 0:
	case !w.used(st.items, true):
		w.print(w.say.skip, v)
		return
	default:
		w.print(w.say.take, v)
		b = "b" + id()
	}
	counts := false
	for i := range st.items {
		it := &st.items[i]
		if it.local == nil {
			continue
		}
		raw, wide := w.lang.raw(b, it)
		decl := map[bool]string{true: w.say.decl, false: w.say.declAt}[it.kind == schema.Count]
		if st.part > 0 {
			decl = ""
		}
		v := vars{"decl": decl, "name": it.local.name(), "raw": raw, "wide": wide, "about": oneLine(it.label)}
		if it.kind == schema.Count {
			lo, hi := w.lang.bounds(it.ext)
			w.print(w.say.countRead, v.with(vars{"lo": lo, "hi": hi, "min": it.unit, "label": w.lang.quote(it.label)}))
			counts = true
		} else {
			w.print(w.say.offsetRead, v)
		}
	}
	if counts {
		w.print(w.say.sized, vars{})
	}
	for i := range st.items {
		w.readItem(b, &st.items[i], base)
	}
}

func (w *walker) readItem(b string, it *item, base string) {
	switch {
	case it.kind == schema.Const:
		w.lang.readConst(b, it)
		return
	case it.path == nil || it.local != nil:
		return
	}
	to := w.place(base, it.path)
	switch t := it.typ.(type) {
	case *schema.Number:
		id, value := w.fresh(), w.lang.load(b, it, t)
		v := vars{"id": id, "value": value, "to": to, "label": w.lang.quote(it.label)}
		if w.lang.inRange(t, "", false) != "" {
			v["cond"] = w.lang.inRange(t, expand(w.say.checkOn, v), t.Bits > 32 && t.Kind != schema.Float)
			w.print(w.say.check, v)
			value = expand(w.say.checked, v)
		}
		v["value"] = w.lang.shown(t, value)
		w.print(w.say.assign, v)
	case *schema.Bitfield:
		w.readBitfield(b, it, t, to)
	default:
		w.lang.readFixed(b, it, to)
	}
}

// partsOf calls a function for all parts of a form, in the order of the names, with their expressions in the target.
func (w *teller) partsOf(t *schema.Bitfield, f *schema.Form, base string, call func(name, place string, p schema.Part)) {
	for k, name := range w.tongue.partNames(t) {
		var part schema.Part // without bits, if the form does not have it
		if p := f.Part(t.Names[k]); p != nil {
			part = *p
		}
		call(t.Names[k], w.tongue.dot(base, name), part)
	}
}

func (w *walker) readBitfield(b string, it *item, t *schema.Bitfield, to string) {
	raw, wide := w.lang.raw(b, it)
	v := vars{"id": w.fresh(), "raw": raw, "wide": wide, "to": to, "zero": w.lang.zero(t, nil)}
	w.print(w.say.bitfield, v)
	var list []branch
	for i := range t.Forms {
		f := &t.Forms[i]
		list = append(list, branch{w.formIs(f, expand("v$id", v)), oneLine(f.When), func() {
			w.partsOf(t, f, to, func(name, place string, p schema.Part) {
				if p.Bits > 0 {
					part := expand(w.say.bitfieldOf, v.with(vars{"shift": w.shift(p.Shift), "mask": w.lang.mask(schema.Mask(p.Bits))}))
					if p.Ones > 0 {
						part = "(" + part + ") * " + w.lang.mask(schema.Mask(p.Ones))
					}
					w.print(w.say.assign, vars{"to": place, "value": w.lang.partOf(t, name, part)})
				}
			})
		}})
	}
	w.branches(list, true)
}

// formIs returns the condition that a form applies to bits.
func (w *teller) formIs(f *schema.Form, bits string) string {
	return fmt.Sprintf("(%s & %s) %s %s", bits, w.tongue.mask(f.Mask), w.say.equal, w.tongue.mask(f.Match))
}

// record returns the record of a list's elements, or of groups in bare elements.
func (at path) record(t *schema.List, rec *record) *record {
	if rec != nil {
		return rec
	}
	for i := len(at) - 1; i >= 0; i-- {
		if at[i] != nil {
			return at[i].record
		}
	}
	return nil
}

// maskOf returns a mask of bits, 0 for no bits.
func maskOf(bits int) uint64 {
	if bits == 0 {
		return 0
	}
	return schema.Mask(bits)
}

// wide returns the width of the smallest common integer type with at least that many bits.
func wide(bits int) int {
	for _, n := range []int{8, 16, 32} {
		if bits <= n {
			return n
		}
	}
	return 64
}

// exact reports whether a fixed text always has all its characters, possibly zeros.
func exact(t *schema.Text) bool {
	return t.Min != nil && t.Min.Const == "" && t.Min.Uint == uint64(t.N)
}

// floatText returns a float that round-trips.
func floatText(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// bounds returns the legal range of the number of units; none is the text of a missing upper bound.
func bounds(e schema.Extent, none string) (lo, hi string) {
	lo, hi = "0", none
	if e.Min != nil {
		lo = strconv.FormatUint(e.Min.Uint, 10)
	}
	if e.Max != nil {
		hi = strconv.FormatUint(e.Max.Uint, 10)
	}
	return lo, hi
}

// limits returns the condition that v is within the limits of a number, "" if it has none. Integers have a suffix.
func limits(n *schema.Number, v, suffix string, float func(float64) string) string {
	var parts []string
	limit := func(l *schema.Limit, op string, all uint64) {
		text := ""
		switch {
		case l == nil || n.Kind != schema.Float && n.Kind != schema.Signed && l.Uint == all:
			return
		case n.Kind == schema.Float:
			text = float(l.Float)
		case n.Kind == schema.Signed:
			text = strconv.FormatInt(l.Int, 10) + suffix
		default:
			text = strconv.FormatUint(l.Uint, 10) + suffix
		}
		parts = append(parts, v+" "+op+" "+text)
	}
	limit(n.Min, ">=", 0)
	limit(n.Max, "<=", math.MaxUint64)
	return strings.Join(parts, " && ")
}

// bitfieldNames returns the identifiers of the parts of a bitfield.
func bitfieldNames(t *schema.Bitfield, style func(string) string, taken ...string) []string {
	own := newNames(false, taken...)
	var out []string
	for _, name := range t.Names {
		out = append(out, own.take(style(name)))
	}
	return out
}

// bitfieldPart returns the maximum width of a part, and whether it is a boolean.
func bitfieldPart(t *schema.Bitfield, name string) (bits int, truth bool) {
	for _, f := range t.Forms {
		for _, p := range f.Parts {
			if p.Name == name {
				bits, truth = max(bits, p.Bits, p.Ones), p.Kind == schema.Bool
			}
		}
	}
	return max(bits, 1), truth
}

// listType returns the type of a list.
func (w *walker) listType(st *step) string {
	return w.lang.typ(st.typ, st.path.record(st.typ.(*schema.List), st.rec))
}

// elemType returns the type of a list's elements.
func (w *walker) elemType(st *step) string {
	t := st.typ.(*schema.List)
	if !t.Bare {
		return w.types[st.rec]
	}
	return w.lang.typ(t.Elem.Fields[0].Type, st.path.record(t, st.rec))
}

func (w *walker) readList(r *record, st *step, base string) {
	t := st.typ.(*schema.List)
	id, to, n := w.fresh()(), w.place(base, st.path), st.units()
	elem := w.lang.elem(st, to, id)
	v := vars{
		"id": id, "to": to, "n": n, "at": st.at(), "min": st.min, "label": w.lang.quote(st.items[0].label), "type": w.listType(st), "elem": elem,
		"elemType": w.elemType(st), "pointer": func() string { return w.lang.pointer(st) },
		"make": func() { w.lang.makeList(st, to, n) },
		"element": func() {
			if st.rec != nil {
				w.print(w.say.element, vars{"elem": elem, "record": w.types[st.rec]})
				return
			}
			w.lang.newElem(st, elem)
			w.readSteps(r, st.elem, elem)
		},
	}
	from, back := w.say.from, w.say.back
	if st.offset == nil {
		from, back = w.say.stay, ""
	}
	v["from"], v["back"] = func() { w.print(from, v) }, func() { w.print(back, v) }
	switch {
	case t.Size == schema.ToEnd:
		w.print(w.say.toEnd, v)
	case t.Linked:
		v["next"] = where(st.next)
		w.print(w.say.linked, v)
	default:
		w.print(w.say.list, v)
	}
}

// begins reports whether the message may end before a step.
func begins(steps []step, i int) bool {
	return steps[i].part > 0 && (i == 0 || steps[i-1].part != steps[i].part)
}

func (w *walker) writeSteps(r *record, steps []step, base string) {
	for i := range steps {
		st := &steps[i]
		if begins(steps, i) {
			w.print(w.say.stop, vars{"cond": w.lang.missing(r, st, base)})
		}
		switch st.kind {
		case stepBlock:
			w.writeBlock(st, base)
		case stepRun:
			id := w.fresh()()
			n := w.lang.run(st, base, id)
			w.writePlace(st, n, st.offset)
			w.lang.putRun(st, base, n, id)
		case stepList:
			w.writeList(r, st, base)
		case stepWeave:
			w.writeWeave(r, st, base)
		case stepChoice:
			w.choose(r, st, base, false, func(steps []step) { w.writeSteps(r, steps, base) })
		}
		if st.end {
			w.print(w.say.over, vars{})
		}
	}
}

func (w *walker) writeBlock(st *step, base string) {
	id := w.fresh()
	v := vars{"id": id, "bytes": st.bits / 8}
	switch {
	case st.bits == 0 && w.say.none == "":
		return
	case !w.used(st.items, false):
		w.print(w.say.growOnly, v)
		return
	}
	w.print(w.say.grow, v)
	p := "p" + id()
	for i := range st.items {
		if l := st.items[i].local; l != nil {
			w.print(w.say.place, vars{"local": l.place(), "p": p})
		}
	}
	for i := range st.items {
		w.writeItem(p, &st.items[i], base)
	}
}

// place returns the variable with the position of the block that contains a count or an offset.
func (l *local) place() string { return "q" + strconv.Itoa(l.id) }

func (w *walker) writeItem(p string, it *item, base string) {
	switch {
	case it.kind == schema.Const:
		w.lang.writeConst(p, it)
		return
	case it.kind == schema.Code && it.path == nil:
		w.putAt(p, "", it, w.lang.constant(&schema.Number{Bits: 32}, uint64(it.code)), "code")
		return
	case it.path == nil || it.local != nil:
		return
	}
	from := w.lang.value(base, it.path)
	switch t := it.typ.(type) {
	case *schema.Number:
		w.writeNumber(p, it, t, from)
	case *schema.Bitfield:
		w.writeBitfield(p, it, t, from)
	default:
		w.lang.writeFixed(p, it, from)
	}
}

func (w *walker) writeNumber(p string, it *item, n *schema.Number, from string) {
	label := w.lang.quote(it.label)
	wire, judged, big := n, from, n.Bits > 32
	switch {
	case n.Kind == schema.Float:
		from = w.lang.float(n, from)
		judged, big = from, false
	case n.Scale != 0 && n.Kind != schema.Bool:
		v := vars{
			"id": w.fresh(), "from": from, "inverse": floatText(1 / n.Scale), "bits": n.Bits, "signed": n.Kind == schema.Signed,
			"wrap": n.Wrap, "cut": n.Truncate, "label": label,
		}
		w.print(w.say.scale, v)
		from = expand("v$id", v)
		if judged, big = from, true; n.Kind == schema.Signed {
			judged = w.lang.signed(from, n)
		}
		wire = nil
	}
	if cond := w.lang.inRange(n, judged, big); cond != "" && n.Kind != schema.Bool {
		w.print(w.say.fits, vars{"cond": cond, "label": label})
	}
	w.lang.put(p, it, wire, from)
}

func (w *walker) writeBitfield(p string, it *item, t *schema.Bitfield, from string) {
	id := w.fresh()()
	w.print(w.say.packing, vars{"id": id, "from": from})
	from = expand(w.say.bitfieldFrom, vars{"id": id, "from": from})
	var list []branch
	for i := range t.Forms {
		f := &t.Forms[i]
		var all []string
		w.partsOf(t, f, from, func(name, place string, p schema.Part) {
			if p.Of(f.Mask) != 0 {
				all = append(all, expand(w.say.partBits, vars{"bits": w.lang.bits(t, name, place, it), "shift": w.shift(p.Shift)}))
			}
		})
		if len(all) == 0 {
			all = []string{w.lang.mask(0)}
		}
		cond := w.formIs(f, "("+strings.Join(all, " | ")+")")
		list = append(list, branch{cond, oneLine(f.When), func() {
			w.partsOf(t, f, from, func(name, place string, p schema.Part) {
				v := vars{"id": id, "from": place, "bits": w.lang.bits(t, name, place, it), "shift": w.shift(p.Shift), "label": w.lang.quote(it.label + "." + name)}
				cond := expand(w.say.partFits, v.with(vars{"mask": w.lang.mask(maskOf(p.Bits))}))
				if p.Ones > 0 {
					cond = "(" + cond + " || " + expand(w.say.partIs, v.with(vars{"mask": w.lang.mask(schema.Mask(p.Ones))})) + ")"
				}
				v["cond"] = cond
				w.print(w.say.fits, v)
				if p.Ones > 0 {
					v["bits"] = fmt.Sprintf("(%s & %s)", v["bits"], w.lang.mask(schema.Mask(p.Bits)))
				}
				if p.Bits > 0 {
					w.print(w.say.setPart, v)
				}
			})
		}})
	}
	w.branches(list, true)
	w.lang.put(p, it, nil, "v"+id)
}

// writePlace fills in the count and the offset of the next contents, of n units.
func (w *walker) writePlace(st *step, n string, offset *local) {
	it := &st.items[0]
	lo, hi := w.lang.bounds(it.ext)
	v := vars{"n": n, "lo": lo, "hi": hi, "label": w.lang.quote(it.label)}
	if (it.ext.Min != nil || it.ext.Max != nil) && (st.count == nil || w.say.counting == "$n") {
		w.print(w.say.counted, v)
	}
	if st.count != nil {
		w.putAt(st.count.place(), "", &st.count.item, expand(w.say.counting, v), it.label)
	}
	if t, ok := st.typ.(*schema.List); offset != nil {
		cond := ""
		if ok && t.Linked {
			cond = expand(w.say.some, v)
		}
		w.putAt(offset.place(), cond, &offset.item, w.say.here, it.label)
	}
}

func (w *walker) writeList(r *record, st *step, base string) {
	v := vars{"id": w.fresh()()}
	n, elem := w.lang.list(st, base, expand("$id", v), expand("i$id", v))
	w.writePlace(st, n, st.offset)
	v["n"], v["from"] = n, w.lang.value(base, st.path)
	if st.typ.(*schema.List).Linked {
		w.print(w.say.prev, v)
	}
	v["body"] = func() { w.writeElem(r, st, elem, expand("$id", v), expand("i$id", v)) }
	w.print(w.say.loop, v)
}

// writeElem writes an element; in a chain also its offset, in itself and in the previous element.
func (w *walker) writeElem(r *record, st *step, elem, id, index string) {
	linked := st.typ.(*schema.List).Linked
	v := vars{"id": id, "index": index, "elem": elem}
	if linked {
		w.print(w.say.elemAt, v)
		w.putAt("prev"+id, expand(w.say.later, v), st.next, w.say.here, st.items[0].label)
		w.print(w.say.prevIs, v)
	}
	if st.rec != nil {
		v["record"] = w.types[st.rec]
		w.print(w.say.writeElem, v)
	} else {
		w.writeSteps(r, st.elem, elem)
	}
	if linked && st.here != nil {
		w.putAt("elem"+id, "", st.here, expand(w.say.since, v), st.items[0].label)
	}
}

// writeWeave writes the elements of several lists interleaved.
func (w *walker) writeWeave(r *record, st *step, base string) {
	turn := "i" + w.fresh()()
	var lens, conds []string
	var bodies []func()
	for k := range st.lists {
		l := &st.lists[k]
		v := vars{"id": w.fresh()(), "turn": turn}
		n, elem := w.lang.list(l, base, expand("$id", v), turn)
		v["n"], v["elem"], v["from"] = n, elem, w.lang.value(base, l.path)
		w.print(w.say.prev, v)
		w.writePlace(l, n, nil)
		lens, conds = append(lens, n), append(conds, turn+" < "+n)
		v["body"] = func() {
			w.putAt(l.offset.place(), fmt.Sprintf("%s %s 0", turn, w.say.equal), &l.offset.item, w.say.here, l.items[0].label)
			w.writeElem(r, l, elem, expand("$id", v), turn)
		}
		bodies = append(bodies, func() { w.print(w.say.turn, v) })
	}
	w.print(w.say.turns, vars{"turn": turn, "lens": strings.Join(lens, ", "), "conds": strings.Join(conds, " || "), "body": func() {
		for _, body := range bodies {
			body()
		}
	}})
}

// words returns the comment of a member: its type, its condition, its meaning.
func (w *teller) words(r *record, m *member) string {
	var words []string
	if m.field != nil && m.field.TypeText != "" {
		words = append(words, m.field.TypeText)
	}
	if m.part > 0 && w.parts[r] != "" {
		words = append(words, fmt.Sprintf("present if %s is %d or more", w.parts[r], m.part))
	}
	if m.alt {
		words = append(words, "in some alternatives")
	}
	if m.isBook {
		words = append(words, map[schema.ItemKind]string{
			schema.Code: "the " + w.say.code + " of the message", schema.Counter: "sequence number of the message", schema.Check: "checksum, copied from the wire",
		}[m.book])
	}
	if m.field != nil && m.field.Doc != "" {
		words = append(words, m.field.Doc)
	}
	return oneLine(strings.Join(words, ": "))
}

// named writes the named values of a record's numbers. Those of an enumeration with many values are written once.
func (w *teller) named(r *record, write func(m *member, n *schema.Number, place string)) {
	for _, m := range r.members {
		n, ok := m.typ.(*schema.Number)
		if !ok || n.Enum == nil || len(n.Enum.Values) == 0 || n.Kind == schema.Float || n.Kind == schema.Bool || n.Scale != 0 {
			continue
		}
		place := oneLine(w.tongue.dot(w.types[r]+w.say.typ, w.fields[m]))
		if first := w.enums[n.Enum]; first != "" {
			w.line(w.say.remark, fmt.Sprintf("The named values of %s are those of %s.", place, first))
		} else {
			write(m, n, place)
			if len(n.Enum.Values) > manyValues {
				w.enums[n.Enum] = place
			}
		}
		w.line("")
	}
}

// manyValues is the maximum number of values of an enumeration that is repeated for each field.
const manyValues = 32
