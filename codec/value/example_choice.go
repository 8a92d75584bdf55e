package value

import (
	"bytes"
	"maps"
	"math"

	"wirebench/defs/schema"
)

// choices are the values so far that alternatives and sizes depend on, and those to prefer.
type choices struct {
	values  map[*schema.Field]uint64 // bits; of lists the number of elements
	texts   map[*schema.Field]string
	hints   map[*schema.Field][]uint64 // bits that select alternatives
	words   map[*schema.Field][]string // texts that do
	small   map[*schema.Field]bool     // numbers that sizes are computed from
	avoided map[*schema.Field]uint64   // first bytes of elements that would end their list
	depth   int                        // of groups in themselves
	tries   int                        // elements that did not fit a condition
	failed  bool                       // values contradict each other
}

// The nesting of groups in themselves: beyond the first depth their values are the smallest, beyond the second there are none.
const (
	deepExample    = 4
	deepestExample = 60
)

// maxExampleUnits limits computed numbers of units.
const maxExampleUnits = 1000

// begin starts the next message.
func (x *exampler) begin(least bool) {
	x.least, x.out, x.units = least, x.out[:0], 1000
	x.values, x.texts = map[*schema.Field]uint64{}, map[*schema.Field]string{}
	x.depth, x.tries, x.failed = 0, 0, false
}

// findHints determines the values that make a difference.
func (x *exampler) findHints(s *schema.Struct) {
	x.hints, x.words = map[*schema.Field][]uint64{}, map[*schema.Field][]string{}
	x.small, x.avoided = map[*schema.Field]bool{}, map[*schema.Field]uint64{}
	seen := map[*schema.Struct]bool{}
	var walk func(s *schema.Struct)
	var small func(f *schema.Field)
	small = func(f *schema.Field) {
		x.small[f] = true
		if n, ok := f.Type.(*schema.Number); ok {
			n.Expr.Fields(small)
		}
	}
	extent := func(e schema.Extent) {
		if e.Size != schema.Ending {
			e.Expr.Fields(small)
		}
	}
	walk = func(s *schema.Struct) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		for _, f := range s.Fields {
			switch t := f.Type.(type) {
			case *schema.Text:
				extent(t.Extent)
			case *schema.Blob:
				extent(t.Extent)
			case *schema.List:
				extent(t.Extent)
				if f := firstField(t.Elem); t.Size == schema.Until && f != nil {
					x.avoided[f] = uint64(t.End)
				}
				if t.Size == schema.Ending {
					x.hintExpr(t.Expr)
				}
				walk(t.Elem)
			case *schema.Group:
				walk(t.Struct)
			case *schema.Choice:
				x.hint(t)
				for i := range t.Cases {
					walk(t.Cases[i].Body)
				}
			}
		}
		for i := range s.Variants {
			walk(s.Variants[i].Body)
		}
	}
	walk(s)
}

// firstField returns the field that begins with the first byte of a struct, inside groups; nil if it is not a value.
func firstField(s *schema.Struct) *schema.Field {
	for depth := 0; depth < deepExample && len(s.Wire) > 0 && s.Wire[0].Kind == schema.Value; depth++ {
		g, ok := s.Wire[0].Field.Type.(*schema.Group)
		if !ok {
			return s.Wire[0].Field
		}
		s = g.Struct
	}
	return nil
}

// hint adds the values that select the alternatives of a choice.
func (x *exampler) hint(c *schema.Choice) {
	if c.On == nil {
		return
	}
	if c.On.Op == schema.Ref && c.On.Part == "" {
		for _, a := range c.Cases {
			switch {
			case a.Text != nil:
				x.words[c.On.Field] = append(x.words[c.On.Field], *a.Text)
			case !a.Else:
				x.hints[c.On.Field] = append(x.hints[c.On.Field], a.Value)
			}
		}
		return
	}
	x.hintExpr(c.On)
}

// hintExpr adds the numbers in an expression to the hints of the fields in it.
func (x *exampler) hintExpr(on *schema.Expr) {
	var literals []uint64
	var find func(e *schema.Expr)
	find = func(e *schema.Expr) {
		if e.Op == schema.Literal {
			literals = append(literals, uint64(e.Int))
		}
		for _, a := range e.Args {
			find(a)
		}
	}
	find(on)
	on.Fields(func(f *schema.Field) { x.hints[f] = append(x.hints[f], literals...) })
}

// field writes the value of a field, and notes it.
func (x *exampler) field(f *schema.Field) {
	start := len(x.out)
	switch t := f.Type.(type) {
	case *schema.Number:
		if t.Kind == schema.Float || t.Scale != 0 {
			x.number(t)
			return
		}
		raw := uint64(0)
		if t.Expr == nil {
			raw = x.chosen(f, t)
		} else if raw = uint64(x.eval(t.Expr)) & schema.Mask(t.Bits); t.Kind == schema.Bool && raw != 0 {
			raw = 1
		}
		if x.values[f] = raw; t.Kind == schema.Bool {
			x.add("%v", raw != 0)
		} else {
			x.shown(t, raw)
		}
	case *schema.Bitfield:
		x.values[f] = x.bitfield(t)
	case *schema.Text:
		if x.texts[f] = ""; x.null(t.Extent) {
			return
		}
		if words := x.words[f]; len(words) > 0 && t.Size != schema.Computed && x.rng.IntN(4) > 0 {
			word := words[x.rng.IntN(len(words))]
			x.texts[f] = word
			x.add("%s", quoteName(word))
			return
		}
		x.value(t)
		x.texts[f] = string(bytes.Trim(x.out[start:], `"`))
	case *schema.List:
		if x.values[f] = math.MaxUint64; x.null(t.Extent) {
			return
		}
		x.values[f] = uint64(x.list(t))
	case *schema.Blob:
		if !x.null(t.Extent) {
			x.value(t)
		}
	default:
		x.value(t)
	}
}

// null writes null in place of contents that may be missing, at times.
func (x *exampler) null(e schema.Extent) bool {
	if !e.Null || e.Size != schema.Counted || !x.least && x.rng.IntN(3) > 0 {
		return false
	}
	x.add("null")
	return true
}

// chosen returns the bits of an integer, often of one that selects an alternative.
func (x *exampler) chosen(f *schema.Field, n *schema.Number) uint64 {
	raw := x.raw(n)
	switch hints := x.hints[f]; {
	case x.small[f]:
		if raw = uint64(x.rng.IntN(6)); x.least {
			raw = 0
		}
		raw = uint64(int64(raw)-n.Add) & schema.Mask(n.Bits)
	case len(hints) > 0 && n.Kind == schema.Bool && !x.least:
		raw = x.rng.Uint64()
	case len(hints) > 0 && !x.least && x.rng.IntN(8) > 0:
		raw = hints[x.rng.IntN(len(hints))] & schema.Mask(n.Bits)
	case n.Enum != nil && n.Enum.Shown && len(n.Enum.Values) > 0 && !x.least && x.rng.IntN(2) > 0:
		raw = n.Enum.Values[x.rng.IntN(len(n.Enum.Values))].Value & schema.Mask(n.Bits)
	}
	if end, ok := x.avoided[f]; ok && raw&0xff == end {
		raw ^= 1
	}
	if n.Kind == schema.Bool {
		return raw & 1
	}
	return raw
}

// choose returns the alternative that the values so far select, or one of those of a choice of its own; nil if none applies.
func (x *exampler) choose(c *schema.Choice) *schema.Alternative {
	for i := range c.Cases {
		x.forget(c.Cases[i].Body, 0)
	}
	if c.On == nil {
		k := x.rng.IntN(len(c.Cases))
		if x.least {
			for k = 0; k < len(c.Cases)-1 && c.Cases[k].Body != nil; k++ {
			}
		}
		return &c.Cases[k]
	}
	text := ""
	if c.On.Op == schema.Ref {
		text = x.texts[c.On.Field]
	}
	v := x.eval(c.On)
	if c.On.Op == schema.Ref && c.On.Part == "" {
		v = int64(x.values[c.On.Field])
	}
	for i := range c.Cases {
		a := &c.Cases[i]
		if a.Else || a.Text != nil && *a.Text == text || a.Text == nil && a.Value == uint64(v) {
			return a
		}
	}
	return nil
}

// forget removes the values of an alternative, which an earlier element may have had.
func (x *exampler) forget(s *schema.Struct, depth int) {
	if s == nil || depth > deepExample {
		return
	}
	for _, f := range s.Fields {
		delete(x.values, f)
		delete(x.texts, f)
		switch t := f.Type.(type) {
		case *schema.Group:
			x.forget(t.Struct, depth+1)
		case *schema.Choice:
			for i := range t.Cases {
				x.forget(t.Cases[i].Body, depth+1)
			}
		}
	}
}

// body writes an object, or the value of the only field.
func (x *exampler) body(s *schema.Struct, bare bool) {
	if bare && len(s.Fields) > 0 {
		x.field(s.Fields[0])
	} else {
		x.object(s)
	}
}

// inner writes a group with a body of its own. A group in itself does not change the values around it.
func (x *exampler) inner(g *schema.Group) {
	if x.failed || g.Sized && g.Null && (x.least || x.rng.IntN(3) == 0) { // after a failure the rest does not matter
		x.add("null")
		return
	}
	least := x.least
	if g.Own {
		values, texts := maps.Clone(x.values), maps.Clone(x.texts)
		x.depth++
		defer func() {
			x.values, x.texts, x.least = values, texts, least
			x.depth--
		}()
		if x.least = least || x.depth > deepExample; x.depth > deepestExample {
			x.failed = true
			x.add("null")
			return
		}
	}
	x.body(g.Struct, g.Bare)
}

// maxEndTries is the number of elements that are tried for one place of a list that a condition ends; in a message, eight times as many.
const maxEndTries = 60

// ending writes the elements of a list that ends with one that meets a condition, and returns their number.
func (x *exampler) ending(t *schema.List) int {
	x.out = append(x.out, '[')
	want := 1
	if !x.least {
		want += x.rng.IntN(4)
	}
	n, met := 0, false
	for ; !met && !x.failed; n++ {
		if n > 0 {
			x.out = append(x.out, ',')
		}
		out, units, least := len(x.out), x.units, x.least
		for try := 0; ; try++ {
			x.out, x.units = x.out[:out], units
			x.body(t.Elem, t.Bare)
			if met = x.eval(t.Expr) != 0; met == (n+1 >= want) || x.failed {
				break
			}
			if x.tries++; x.tries > 8*maxEndTries {
				x.failed = true
			}
			if x.least = false; try == maxEndTries {
				break
			}
		}
		x.least = least
	}
	x.out = append(x.out, ']')
	return n
}

// computed returns a computed number of units.
func (x *exampler) computed(e *schema.Expr) int {
	n := x.eval(e)
	if n < 0 || n > maxExampleUnits {
		x.failed = true
		return 0
	}
	return int(n)
}

// eval computes an expression from the values so far.
func (x *exampler) eval(e *schema.Expr) int64 {
	if e.Op > schema.If || len(e.Args) > 0 && e.Op != schema.If && e.Args[0].Kind() != schema.IntExpr {
		x.failed = true // it depends on positions, on texts or on other elements
		return 0
	}
	switch e.Op {
	case schema.Literal:
		return e.Int
	case schema.Ref:
		raw := x.values[e.Field]
		switch t := e.Field.Type.(type) {
		case *schema.Number:
			if t.Kind == schema.Signed {
				return t.Int(raw)
			}
			return int64(raw) + t.Add
		case *schema.Bitfield:
			if p := t.Forms[0].Part(e.Part); e.Part != "" && p != nil {
				return int64(p.Value(raw))
			}
		}
		return int64(raw)
	case schema.If:
		if x.eval(e.Args[0]) != 0 {
			return x.eval(e.Args[1])
		}
		return x.eval(e.Args[2])
	}
	b := int64(0)
	if len(e.Args) > 1 {
		b = x.eval(e.Args[1])
	}
	return e.Op.Apply(x.eval(e.Args[0]), b)
}
