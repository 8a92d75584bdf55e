package filter

import (
	"slices"
	"strconv"
	"strings"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// pathKind is the kind of a path.
type pathKind uint8

const (
	pathFrame    pathKind = iota // of the frame itself
	pathMessage                  // the frame is this message
	pathGroup                    // the frame is of this group
	pathCode                     // the code of a message of this group
	pathLayer                    // core packets around the frame, or the frame itself
	pathInFields                 // a field of messages
	pathWord                     // unknown: a word that may be the name of a value
)

// pathInfo describes a path independently of a message.
type pathInfo struct {
	kind     pathKind
	field    frameField
	messages map[*schema.Message]bool // pathMessage
	codes    []value                  // pathMessage: those without a definition
	layer    *transport.LayerField    // pathLayer
	found    bool                     // some message has it
}

// classify determines the kind of a path.
func (c *compiler) classify(n *node) *pathInfo {
	if info := c.paths[n]; info != nil {
		return info
	}
	info := &pathInfo{kind: pathInFields}
	c.paths[n] = info
	head := &n.parts[0]
	if len(n.parts) == 1 {
		f, reserved := frameFields[head.name]
		switch {
		case reserved && !head.glob && !(f.isWeak(head.name) && c.messageNames[head.name]):
			info.kind, info.field = pathFrame, f
		case c.namesMessage(head, info):
			info.kind = pathMessage
		case c.groups[head.name]:
			info.kind = pathGroup
		default:
			info.kind = pathWord
		}
		return info
	}
	if len(n.parts) == 2 && head.name != "" && n.parts[1].isVersion() && c.isVersion(n, info) {
		info.kind = pathMessage
		return info
	}
	second := &n.parts[1]
	if l := c.layers.Field(second.name); l != nil && len(n.parts) == 2 && head.name == c.layers.Group && len(head.index) == 0 &&
		!c.messageNames[head.name] && !c.groupHas(head.name, second.name) {
		info.kind, info.layer = pathLayer, l
		return info
	}
	if c.groups[head.name] && !c.messageNames[head.name] && len(head.index) == 0 {
		if len(n.parts) == 2 && second.name == "type" && !c.groupHas(head.name, "type") {
			info.kind = pathCode
		} else if len(n.parts) == 2 && !c.groupHas(head.name, second.name) {
			for _, m := range c.messages {
				if m.Key.Group == head.name && m.Name == second.name {
					info.messages = add(info.messages, m)
				}
			}
			if info.messages != nil {
				info.kind = pathMessage
			}
		}
	}
	return info
}

func add(set map[*schema.Message]bool, m *schema.Message) map[*schema.Message]bool {
	if set == nil {
		set = map[*schema.Message]bool{}
	}
	set[m] = true
	return set
}

// namesMessage finds the messages of a name or pattern, and the codes with such a name but no definition.
func (c *compiler) namesMessage(q *part, info *pathInfo) bool {
	if !q.glob && !c.messageNames[q.name] {
		if code, ok := c.codes()[q.name]; ok {
			info.codes = append(info.codes, intValue(int64(code)))
			return true
		}
		return false
	}
	for _, m := range c.messages {
		if q.matches(m.Name) {
			info.messages = add(info.messages, m)
		}
	}
	if q.glob {
		for name, code := range c.codes() {
			if q.matches(name) && !c.messageNames[name] {
				info.codes = append(info.codes, intValue(int64(code)))
			}
		}
	}
	return len(info.messages)+len(info.codes) > 0
}

func (c *compiler) codes() map[string]uint32 {
	if c.env.Schema == nil {
		return nil
	}
	return c.env.Schema.Codes
}

func (q *part) isVersion() bool {
	return q.name != "" && len(q.index) == 0 && strings.Trim(q.name, "0123456789") == ""
}

// isVersion reports whether a path is NAME.2, one version of a message.
func (c *compiler) isVersion(n *node, info *pathInfo) bool {
	for _, m := range c.messages {
		if n.parts[0].matches(m.Name) && strconv.Itoa(m.Version) == n.parts[1].name {
			info.messages = add(info.messages, m)
		}
	}
	return info.messages != nil
}

// groupHas reports whether a message of the group has a field of the name.
func (c *compiler) groupHas(group, field string) bool {
	for _, m := range c.messages {
		if m.Key.Group == group && m.Body != nil && hasField(m.Body, field) {
			return true
		}
	}
	return false
}

// matches compares a name with the part, which may be a pattern.
func (q *part) matches(name string) bool {
	if !q.glob {
		return q.name == name
	}
	return globMatch(q.name, name)
}

// globMatch matches * and ?. It takes time in proportion to the product of both lengths at most.
func globMatch(glob, name string) bool {
	g, i, star, mark := 0, 0, -1, 0
	for i < len(name) {
		switch {
		case g < len(glob) && glob[g] == '*':
			star, mark = g, i
			g++
		case g < len(glob) && (glob[g] == '?' || glob[g] == name[i]):
			g++
			i++
		case star >= 0:
			mark++
			g, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(glob[g:], "*") == ""
}

// hasField reports whether the struct has a top-level field of the name, which may have the number of one of several.
func hasField(s *schema.Struct, name string) bool {
	name, _, _ = strings.Cut(name, "#")
	for f := range s.Members() {
		if f.Name == name {
			return true
		}
	}
	return false
}

// inMessage returns the rest of a path after the name of a message or group. ok is false if the path is not about that message.
func (c *compiler) inMessage(parts []part, m *schema.Message) (rest []part, ok bool) {
	head := &parts[0]
	switch {
	case head.name == "":
		return parts[1:], true
	case head.matches(m.Name):
		rest = parts[1:]
		if len(rest) > 1 && rest[0].isVersion() {
			return rest[1:], rest[0].name == strconv.Itoa(m.Version)
		}
		return rest, len(rest) > 0
	case head.name == m.Key.Group && m.Key.Group != "":
		rest = parts[1:]
		if len(rest) > 1 && rest[0].name == m.Name {
			rest = rest[1:]
		}
		return rest, true
	}
	return nil, false
}

// found is a path resolved in one message.
type found struct {
	targets []target
	t       ty
	slice   *bracket
}

// target is a field of a program.
type target struct {
	field uint16
	index []int32
	conv  *conv
}

// hit is a field reached by the names so far.
type hit struct {
	field int // -1: the message itself
	index []int32
	fixed bool // the last list has an index
}

// resolve resolves a path in a message. Unless whole is set, a list of single values is its elements. why describes the wrong part if the
// message has no such field.
func (c *compiler) resolve(n *node, parts []part, p *codec.Program, whole bool) (f found, why *wrong) {
	hits := []hit{{field: -1}}
	nested := c.nested(n)
	for i := range parts {
		q := &parts[i]
		if f.targets, f.t = bitfieldParts(p, hits, q, i == len(parts)-1); f.targets != nil {
			return f, nil
		}
		var next []hit
		if nested && i == 0 {
			next = anywhere(p, q.name)
		} else {
			for _, h := range hits {
				for _, v := range valuesOf(p, h, false) {
					next = append(next, inside(p, v, q.name)...)
				}
			}
		}
		if len(next) == 0 || len(next) > 1000 {
			return f, &wrong{part: i, known: childNames(p, hits)}
		}
		for k := range q.index {
			b := &q.index[k]
			var stepped []hit
			for _, h := range next {
				for _, h := range valuesOf(p, h, false) {
					if h, ok := intoList(p, h, b); ok {
						stepped = append(stepped, h)
					}
					stepped = append(stepped, intoArray(p, h, b)...)
				}
			}
			if len(stepped) > 0 {
				next = stepped
				continue
			}
			if h := next[0]; isList(p, h.field) && (!h.fixed || !hasElement(p, h.field)) {
				return f, &wrong{part: i, bracket: b, message: "a part of a list", help: "write [3] for one element, or [*] for any"}
			}
			if k < len(q.index)-1 || i < len(parts)-1 || b.form == allOf {
				return f, &wrong{part: i, bracket: b, message: strconv.Quote(q.name) + " is not a list", help: ""}
			}
			f.slice = b
		}
		hits = next
	}
	return c.finish(n, f, p, hits, parts, whole)
}

// wrong describes why a message does not have a path.
type wrong struct {
	part    int
	known   []string // names that are possible there
	bracket *bracket
	message string
	help    string
}

// finish returns targets for the fields of a path. If they have several types, in alternatives, only those of one type: that of a value
// that they are compared with, otherwise that of the first one. Of a condition of its own all of them are.
func (c *compiler) finish(n *node, f found, p *codec.Program, hits []hit, parts []part, whole bool) (found, *wrong) {
	last := &parts[len(parts)-1]
	var values []hit
	for _, h := range hits {
		values = append(values, valuesOf(p, h, !whole && !n.raw)...)
	}
	kind, several := c.classOf(n, p, values)
	for _, h := range values {
		t, conv := typeOf(p.Fields[h.field].Schema)
		t.label = last.name
		if h.fixed && t.class == cList || several && c.at == n { // an element of several fields
			t.class, conv = cGroup, nil
		}
		if several && t.class != kind && c.at != n {
			continue
		}
		if conv == nil && n.raw {
			if _, ok := p.GroupSite(uint16(h.field)); !ok {
				return f, &wrong{part: len(parts) - 1, message: strconv.Quote(last.name) + " has no bytes in one place", help: "name one of its fields"}
			}
			f.targets = append(f.targets, target{uint16(h.field), h.index, spanConv})
		} else if conv == nil {
			f.targets = c.inGroupOf(f.targets, p, h, whole)
		} else {
			f.targets = append(f.targets, target{uint16(h.field), h.index, conv})
		}
		f.t = t
	}
	if len(f.targets) == 0 {
		return f, &wrong{part: len(parts) - 1, message: strconv.Quote(last.name) + " has no value", help: ""}
	}
	if f.slice != nil && f.t.class != cText && f.t.class != cBytes && !n.raw {
		return f, &wrong{part: len(parts) - 1, bracket: f.slice, message: f.t.says(), help: "brackets take a part of text, bytes and lists; @ before the path means its bytes"}
	}
	return f, nil
}

// classOf returns the class of values to compare, and whether they have several.
func (c *compiler) classOf(n *node, p *codec.Program, values []hit) (kind class, several bool) {
	classes := make([]class, len(values))
	for i, h := range values {
		t, _ := typeOf(p.Fields[h.field].Schema)
		if classes[i] = t.class; h.fixed && t.class == cList {
			classes[i] = cGroup
		}
		several = several || classes[i] != classes[0]
	}
	if !several {
		return cNone, false
	}
	for _, want := range c.wanted(n) {
		if slices.Contains(classes, want) {
			return want, true
		}
	}
	return classes[0], true
}

// wanted returns the classes of a value that a path is compared with, the best one first.
func (c *compiler) wanted(n *node) []class {
	if c.at == nil || c.at == n || len(c.at.kids) < 2 {
		return nil
	}
	switch c.at.kind {
	case nContains, nMatches:
		return []class{cText, cBytes}
	case nCompare, nIn:
	default:
		return nil
	}
	other := c.at.kids[1]
	if other == n {
		other = c.at.kids[0]
	}
	switch other.kind {
	case nText:
		return []class{cText, cBytes}
	case nBytes:
		return []class{cBytes, cText}
	case nTrue, nFalse:
		return []class{cBool, cNumber}
	case nInt, nFloat, nNeg, nRange:
		return []class{cNumber, cBool}
	}
	return nil
}

// inGroupOf adds the fields whose presence is that of a group: it is present if something in it is. If it is counted, it is counted once.
func (c *compiler) inGroupOf(targets []target, p *codec.Program, h hit, once bool) []target {
	add := func(k int) bool {
		switch p.Fields[k].Schema.Type.(type) {
		case *schema.Group, *schema.Choice:
			return false
		}
		targets = append(targets, target{uint16(k), h.index, thereConv})
		return true
	}
	from, to := h.field, p.Fields[h.field].End
	if from+1 >= to {
		add(from)
	}
	choice, _ := p.Fields[from].Schema.Type.(*schema.Choice)
	if !once || choice == nil {
		for k := from + 1; k < to; k++ {
			if add(k) && once {
				break
			}
		}
		return targets
	}
	k := from + 1
	for i := range choice.Cases { // one of each alternative
		if b := choice.Cases[i].Body; b != nil && k < to {
			end := k
			for range b.Fields {
				end = p.Fields[min(end, to-1)].End
			}
			for ; k < end && !add(k); k++ {
			}
			k = end
		}
	}
	return targets
}

// valuesOf returns the fields that a path to a field means: in place of a choice, and of a group that is shown as its only value, the
// values of the alternatives that have no names, and the choice if others have. If elements is set, lists of single values are their
// elements.
func valuesOf(p *codec.Program, h hit, elements bool) (out []hit) {
	if h.field < 0 {
		return []hit{h}
	}
	for elements || h.fixed {
		e, ok := element(p, h.field)
		if !ok {
			break
		}
		h.field, h.fixed = e, false
	}
	switch t := p.Fields[h.field].Schema.Type.(type) {
	case *schema.Choice:
	case *schema.Group:
		if !t.Bare {
			return []hit{h}
		}
	default:
		return []hit{h}
	}
	named := false
	for i := h.field + 1; i < p.Fields[h.field].End; i = p.Fields[i].End {
		if named = named || p.Fields[i].Name != ""; p.Fields[i].Name == "" {
			out = append(out, valuesOf(p, hit{field: i, index: h.index}, elements)...)
		}
	}
	if named || out == nil {
		out = append(out, h)
	}
	return out
}

// thereConv is for values of which only the presence matters.
var thereConv = &conv{kind: convUint}

// spanConv is for the bytes of groups.
var spanConv = &conv{kind: convSpan}

// bitfieldParts returns the bitfields among the fields of a path that have a part of this name; nil if there are none.
func bitfieldParts(p *codec.Program, hits []hit, q *part, last bool) (out []target, t ty) {
	if !last || len(q.index) > 0 {
		return nil, t
	}
	t = ty{class: cNumber, field: true, label: q.name}
	for _, h := range hits {
		for _, h := range valuesOf(p, h, true) {
			if h.field < 0 {
				return nil, t
			}
			bitfield, is := p.Fields[h.field].Schema.Type.(*schema.Bitfield)
			if !is || q.name != bitfield.All && !slices.Contains(bitfield.Names, q.name) {
				continue
			}
			c := &conv{kind: convPart, bitfield: bitfield, part: q.name}
			if q.name == bitfield.All {
				c = &conv{kind: convUint}
			}
			out = append(out, target{uint16(h.field), h.index, c})
			for _, form := range bitfield.Forms {
				if x := form.Part(q.name); x != nil && x.Kind == schema.Bool {
					t.class = cBool
				}
			}
		}
	}
	return out, t
}

// children calls yield with the direct children of a field, for a list those of its element.
func children(p *codec.Program, field int, yield func(int)) {
	i, end := 0, len(p.Fields)
	if field >= 0 {
		i, end = field+1, p.Fields[field].End
	}
	for ; i < end; i = p.Fields[i].End {
		if f := &p.Fields[i]; f.Name == "" { // the value of a bare element or alternative, or a choice: its contents instead
			switch f.Schema.Type.(type) {
			case *schema.Group, *schema.Choice:
				children(p, i, yield)
			}
			continue
		}
		yield(i)
	}
}

// inside returns the fields of a name inside a field.
func inside(p *codec.Program, h hit, name string) (out []hit) {
	if h.field >= 0 && isList(p, h.field) && !h.fixed {
		h.index = append(h.index[:len(h.index):len(h.index)], -1)
	}
	children(p, h.field, func(i int) {
		if p.Fields[i].Name == name {
			out = append(out, hit{field: i, index: h.index})
		}
	})
	return out
}

// anywhere returns the fields of a name at any depth, in all elements of lists.
func anywhere(p *codec.Program, name string) (out []hit) {
	var walk func(h hit)
	walk = func(h hit) {
		if h.field >= 0 && isList(p, h.field) {
			h.index = append(h.index[:len(h.index):len(h.index)], -1)
		}
		children(p, h.field, func(i int) {
			if p.Fields[i].Name == name {
				out = append(out, hit{field: i, index: h.index})
			}
			walk(hit{field: i, index: h.index})
		})
	}
	walk(hit{field: -1})
	return out
}

// nested reports whether the first field of a path is at the top of no message that the path names, but inside of one.
func (c *compiler) nested(n *node) bool {
	if n.kind != nPath {
		return false
	}
	if is, ok := c.deep[n]; ok {
		return is
	}
	is := false
	for _, m := range c.messages {
		rest, ok := c.inMessage(n.parts, m)
		if !ok || len(rest) == 0 || m.Body == nil {
			continue
		}
		if hasField(m.Body, rest[0].name) {
			is = false
			break
		}
		is = is || hasInside(m.Body, rest[0].name)
	}
	c.deep[n] = is
	return is
}

// hasInside reports whether a field of the name is in a group, a list or a choice of the struct, at any depth.
func hasInside(s *schema.Struct, name string) bool {
	return hasBelow(s, name, map[*schema.Struct]bool{})
}

func hasBelow(s *schema.Struct, name string, seen map[*schema.Struct]bool) bool {
	if seen[s] {
		return false
	}
	seen[s] = true
	for f := range s.Members() {
		for _, in := range schema.Bodies(f.Type) {
			if hasField(in, name) || hasBelow(in, name, seen) {
				return true
			}
		}
	}
	return false
}

func childNames(p *codec.Program, hits []hit) (names []string) {
	for _, h := range hits {
		if h.field >= 0 {
			for _, v := range valuesOf(p, h, true) {
				if bitfield, ok := p.Fields[v.field].Schema.Type.(*schema.Bitfield); ok {
					if names = append(names, bitfield.Names...); bitfield.All != "" {
						names = append(names, bitfield.All)
					}
				}
			}
		}
		children(p, h.field, func(i int) {
			if name := p.Fields[i].Name; name[0] != '[' {
				names = append(names, name)
			}
		})
	}
	return names
}

func isList(p *codec.Program, field int) bool {
	_, ok := p.Fields[field].Schema.Type.(*schema.List)
	return ok
}

// element returns the element field of a bare list, if its elements are single values or lists.
func element(p *codec.Program, field int) (int, bool) {
	l, ok := p.Fields[field].Schema.Type.(*schema.List)
	if !ok || !l.Bare || field+1 >= p.Fields[field].End {
		return 0, false
	}
	if g, group := p.Fields[field+1].Schema.Type.(*schema.Group); group && !g.Bare {
		return 0, false
	}
	return field + 1, true
}

func hasElement(p *codec.Program, field int) bool {
	e, ok := element(p, field)
	return ok && !isList(p, e)
}

// intoArray selects one field of a group that is shown as an array, or all.
func intoArray(p *codec.Program, h hit, b *bracket) (out []hit) {
	if g, ok := p.Fields[h.field].Schema.Type.(*schema.Group); !ok || !g.Array || b.form != oneOf && b.form != allOf {
		return nil
	}
	n := 0
	children(p, h.field, func(i int) {
		if b.form == allOf || n == b.at {
			out = append(out, hit{field: i, index: h.index})
		}
		n++
	})
	return out
}

// intoList selects one element of a list, or all.
func intoList(p *codec.Program, h hit, b *bracket) (hit, bool) {
	if h.fixed { // of a nested list
		e, ok := element(p, h.field)
		if !ok || !isList(p, e) {
			return h, false
		}
		h.field, h.fixed = e, false
	}
	if !isList(p, h.field) || b.form != oneOf && b.form != allOf || b.at < 0 {
		return h, false
	}
	i := int32(-1)
	if b.form == oneOf {
		i = int32(b.at)
	}
	h.index = append(h.index[:len(h.index):len(h.index)], i)
	h.fixed = true
	return h, true
}
