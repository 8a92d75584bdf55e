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

// NameMatches reports whether the first name of a path, which may be a pattern, is that of a message.
func NameMatches(pattern, name string) bool { return globMatch(pattern, name) }

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
	start int // as of a hit
}

// site returns the positions of a target in the records of a program.
func (t *target) site(p *codec.Program) (*codec.Site, bool) {
	switch {
	case t.conv == groupConv:
		return p.PresenceSite(t.start-1, t.field, t.index...)
	case t.conv == spanConv:
		return p.GroupSite(t.field, t.index...)
	case t.start > 0:
		return p.SiteIn(uint16(t.start-1), t.field, t.index...)
	}
	return p.Site(t.field, t.index...)
}

// hit is a field reached by the names so far.
type hit struct {
	field int // -1: the message itself
	index []int32
	fixed bool     // the last list has an index
	part  string   // of a bitfield; "" = the field itself
	slice *bracket // of the text or bytes
	start int      // not 0: in a group that contains itself, at all its levels: its field, or that of one call, plus 1; index is for the lists in it
}

// same reports whether two hits are one place.
func (h hit) same(o hit) bool {
	return h.field == o.field && h.start == o.start && h.fixed == o.fixed && h.part == o.part && h.slice == o.slice && slices.Equal(h.index, o.index)
}

// once removes hits that were reached in several ways.
func once(hits []hit) (out []hit) {
	for _, h := range hits {
		if !slices.ContainsFunc(out, h.same) {
			out = append(out, h)
		}
	}
	return out
}

// maxHits bounds the fields that a path reaches in one message.
const maxHits = 1000

// resolve resolves a path in a message. Unless whole is set, a list of single values is its elements. why describes the wrong part if the
// message has no such field.
func (c *compiler) resolve(n *node, parts []part, p *codec.Program, whole bool) (f found, why *wrong) {
	hits := []hit{{field: -1}}
	for i := range parts {
		q := &parts[i]
		var next []hit
		for _, h := range hits {
			for _, v := range valuesOf(p, h, false) {
				next = append(next, inside(p, v, q.name, i == 0 && anyDepth(n))...)
			}
		}
		if next = once(next); len(next) == 0 || len(next) > maxHits {
			return f, &wrong{part: i, known: childNames(p, hits)}
		}
		for k := range q.index {
			b := &q.index[k]
			var stepped []hit
			for _, h := range next {
				stepped = append(stepped, c.into(p, h, b, i == len(parts)-1 && k == len(q.index)-1)...)
			}
			if stepped = once(stepped); len(stepped) == 0 {
				if h := next[0]; h.part == "" && isList(p, h.field) && (!h.fixed || !hasElement(p, h.field)) {
					return f, &wrong{part: i, bracket: b, message: "a part of a list", help: "write [3] for one element, or [*] for any"}
				}
				return f, &wrong{part: i, bracket: b, message: strconv.Quote(q.name) + " is not a list", help: ""}
			}
			next = stepped
		}
		hits = next
	}
	return c.finish(n, f, p, hits, parts, whole)
}

// anyDepth reports whether the first name of a path is that of fields at any depth: .x. Otherwise it is at the top of a message: NAME.x, *.x.
func anyDepth(n *node) bool { return n.kind == nPath && n.parts[0].name == "" }

// into returns what a bracket selects: elements of a list or an array, or a part of a text or of bytes, if the bracket is the last one.
func (c *compiler) into(p *codec.Program, h hit, b *bracket, last bool) (out []hit) {
	if h.slice != nil {
		return nil
	}
	for _, v := range valuesOf(p, h, false) {
		if v.part != "" {
			continue
		}
		if e, ok := intoList(p, v, b); ok {
			out = append(out, e)
		}
		out = append(out, intoArray(p, v, b)...)
	}
	if len(out) > 0 || !last || b.form == allOf || h.part == "" && isList(p, h.field) && (!h.fixed || !hasElement(p, h.field)) {
		return out
	}
	h.slice = b
	return []hit{h}
}

// wrong describes why a message does not have a path.
type wrong struct {
	part    int
	known   []string // names that are possible there
	bracket *bracket
	message string
	help    string
}

// place is a value that a path reaches, with its type.
type place struct {
	hit
	t    ty
	conv *conv
}

// finish returns targets for the fields of a path. If they have several types, only those of one type: see forms.
func (c *compiler) finish(n *node, f found, p *codec.Program, hits []hit, parts []part, whole bool) (found, *wrong) {
	last := &parts[len(parts)-1]
	var places []place
	var values []hit
	for _, h := range hits {
		values = append(values, valuesOf(p, h, !whole && !n.raw)...)
	}
	for _, h := range once(values) {
		t, conv := typeOfHit(p, h)
		t.label = last.name
		if n.raw && conv == nil {
			if _, ok := p.GroupSite(uint16(h.field)); !ok {
				continue
			}
			conv = spanConv
		}
		places = append(places, place{h, t, conv})
	}
	if len(places) == 0 && n.raw {
		return f, &wrong{part: len(parts) - 1, message: strconv.Quote(last.name) + " has no bytes in one place", help: "name one of its fields"}
	}
	for _, x := range c.ofOneForm(n, places) {
		if x.conv == nil {
			f.targets = c.inGroupOf(f.targets, p, x.hit)
		} else {
			f.targets = append(f.targets, target{uint16(x.field), x.index, x.conv, x.start})
		}
		f.t, f.slice = x.t, x.slice
	}
	if len(f.targets) == 0 {
		return f, &wrong{part: len(parts) - 1, message: strconv.Quote(last.name) + " has no value", help: ""}
	}
	if f.slice != nil && f.t.class != cText && f.t.class != cBytes && !n.raw {
		return f, &wrong{part: len(parts) - 1, bracket: f.slice, message: f.t.says(), help: "brackets take a part of text, bytes and lists; @ before the path means its bytes"}
	}
	return f, nil
}

// typeOfHit returns the type of a place, and the conversion of its bits; nil: it has none of its own.
func typeOfHit(p *codec.Program, h hit) (ty, *conv) {
	schemaField := p.Fields[h.field].Schema
	if h.part != "" {
		return typeOfPart(schemaField.Type.(*schema.Bitfield), h.part)
	}
	t, conv := typeOf(schemaField)
	if h.fixed && t.class == cList { // an element of several fields
		t.class, conv = cGroup, nil
	}
	return t, conv
}

// typeOfPart returns the type of a part of a bitfield.
func typeOfPart(of *schema.Bitfield, name string) (ty, *conv) {
	t := ty{class: cNumber, field: true}
	if name == of.All && of.Var == schema.Long {
		t.class = cText
		return t, &conv{kind: convLong}
	}
	if name == of.All {
		return t, &conv{kind: convUint}
	}
	for _, form := range of.Forms {
		if x := form.Part(name); x != nil && x.Kind == schema.Bool {
			t.class = cBool
		}
	}
	return t, &conv{kind: convPart, bitfield: of, part: name}
}

// form is the choice of one of several types that the occurrences of a path have in a message. A comparison is compiled once for each: every
// occurrence is compared by its own type, and one that cannot have the value does not count.
type form struct {
	of          *node
	chosen, all int
}

// ofOneForm returns the places of the chosen type. If only their number or their bytes matter, it returns all of them.
func (c *compiler) ofOneForm(n *node, places []place) (out []place) {
	if len(places) < 2 || c.counted == n {
		return places
	}
	var first []int // place of each type
	of := make([]int, len(places))
	for i := range places {
		k := slices.IndexFunc(first, func(j int) bool { return c.alike(n, &places[i], &places[j]) })
		if k < 0 {
			k, first = len(first), append(first, i)
		}
		of[i] = k
	}
	if len(first) == 1 {
		return places
	}
	i := slices.IndexFunc(c.forms, func(f form) bool { return f.of == n })
	if i < 0 {
		i, c.forms = len(c.forms), append(c.forms, form{of: n})
	}
	c.forms[i].all = len(first)
	for k := range places {
		if of[k] == c.forms[i].chosen {
			out = append(out, places[k])
		}
	}
	return out
}

// alike reports whether the same comparison applies to two places.
func (c *compiler) alike(n *node, a, b *place) bool {
	if a.slice != b.slice {
		return false
	}
	if n.raw {
		return true
	}
	if a.t.class != b.t.class || a.t.uuid != b.t.uuid {
		return false
	}
	x, y := a.t.num, b.t.num
	if x == y || c.at == nil || c.at.kind != nCompare && c.at.kind != nIn || !slices.Contains(c.at.kids, n) {
		return true
	}
	return x != nil && y != nil && x.Enum == y.Enum && x.Kind == y.Kind && (x.Kind != schema.Float || x.Bits == y.Bits) && x.Scale == y.Scale && x.Add == y.Add
}

// nextForms chooses the next combination of types.
func (c *compiler) nextForms() bool {
	for i := range c.forms {
		f := &c.forms[i]
		if f.chosen++; f.chosen < f.all {
			return true
		}
		f.chosen = 0
	}
	return false
}

// inGroupOf adds the targets whose presence is that of a group or a choice, each of which is there at most once: of a choice, its alternatives,
// and the values that are shown in place of an alternative.
func (c *compiler) inGroupOf(targets []target, p *codec.Program, h hit) []target {
	choice, _ := p.Fields[h.field].Schema.Type.(*schema.Choice)
	if choice == nil {
		_, empty := p.Fields[h.field].Schema.Type.(*schema.Group)
		conv := thereConv
		if empty || h.field+1 < p.Fields[h.field].End { // with fields inside
			conv = groupConv
		}
		return append(targets, target{uint16(h.field), h.index, conv, h.start})
	}
	if slices.ContainsFunc(choice.Cases, func(x schema.Alternative) bool { return x.Body != nil && !x.Bare }) {
		targets = append(targets, target{uint16(h.field), h.index, groupConv, h.start})
	}
	k := h.field + 1
	for i := range choice.Cases {
		x := &choice.Cases[i]
		if x.Body == nil {
			continue
		}
		if x.Bare && k < p.Fields[h.field].End {
			targets = c.inGroupOf(targets, p, hit{field: k, index: h.index, start: h.start})
		}
		for range x.Body.Fields {
			if k < p.Fields[h.field].End {
				k = p.Fields[k].End
			}
		}
	}
	return targets
}

// valuesOf returns the fields that a path to a field means: in place of a choice, and of a group that is shown as its only value, the
// values of the alternatives that have no names, and the choice if others have. If elements is set, lists of single values are their
// elements.
func valuesOf(p *codec.Program, h hit, elements bool) (out []hit) {
	if h.field < 0 || h.part != "" {
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
			out = append(out, valuesOf(p, hit{field: i, index: h.index, slice: h.slice, start: h.start}, elements)...)
		}
	}
	if named || out == nil {
		out = append(out, h)
	}
	return out
}

// thereConv is for values of which only the presence matters.
var thereConv = &conv{kind: convUint}

// groupConv is for groups of which only the presence matters.
var groupConv = &conv{kind: convUint}

// spanConv is for the bytes of groups.
var spanConv = &conv{kind: convSpan}

// contents calls yield with what is directly in a field, for a list in all its elements. What has no name, such as the value of an
// alternative and an element of a list of lists, is its contents. With deep, the contents of a group that contains itself are those of all its
// levels; those of a field that is such a group again can be told from others at the first name of a path only.
func contents(p *codec.Program, h hit, deep bool, yield func(hit)) {
	if h.field >= 0 {
		switch of, called := p.Called(uint16(h.field)); {
		case !called:
		case deep && h.field == int(of):
			h.start, h.index = h.field+1, nil
		case deep: // found at the levels of the group
			return
		case h.field != int(of):
			if h.start != int(of)+1 || slices.ContainsFunc(h.index, func(i int32) bool { return i >= 0 }) {
				return
			}
			h = hit{field: int(of), start: h.field + 1}
		}
	}
	i, end := 0, len(p.Fields)
	if h.field >= 0 {
		i, end = h.field+1, p.Fields[h.field].End
		if isList(p, h.field) && !h.fixed {
			h.index = append(h.index[:len(h.index):len(h.index)], -1)
		}
	}
	for ; i < end; i = p.Fields[i].End {
		in := hit{field: i, index: h.index, start: h.start}
		if p.Fields[i].Name != "" {
			yield(in)
		} else {
			contents(p, in, deep, yield)
		}
	}
}

// inside returns the fields of a name inside a field, and the parts of the bitfields among its values: at any depth, or directly in it.
func inside(p *codec.Program, h hit, name string, deep bool) (out []hit) {
	if h.part != "" {
		return nil
	}
	if h.field >= 0 {
		for _, v := range valuesOf(p, h, true) {
			if of, ok := p.Fields[v.field].Schema.Type.(*schema.Bitfield); ok && (name == of.All || slices.Contains(of.Names, name)) {
				v.part = name
				out = append(out, v)
			}
		}
	}
	contents(p, h, deep, func(in hit) {
		if p.Fields[in.field].Name == name {
			out = append(out, in)
		}
		if deep {
			out = append(out, inside(p, in, name, true)...)
		}
	})
	return out
}

// mentions reports whether a message may have the first field of the rest of a path: at its top, or for .x at any depth.
func mentions(n *node, rest []part, m *schema.Message) bool {
	return len(rest) > 0 && m.Body != nil && (hasField(m.Body, rest[0].name) || anyDepth(n) && hasInside(m.Body, rest[0].name))
}

// hasInside reports whether a field of the name is in a group, a list, a choice or a bitfield of the struct, at any depth.
func hasInside(s *schema.Struct, name string) bool {
	name, _, _ = strings.Cut(name, "#")
	return hasBelow(s, name, nil)
}

func hasBelow(s *schema.Struct, name string, around []*schema.Struct) bool {
	if slices.Contains(around, s) {
		return false
	}
	for f := range s.Members() {
		if of, ok := f.Type.(*schema.Bitfield); ok && (name == of.All || slices.Contains(of.Names, name)) {
			return true
		}
		for _, in := range schema.Bodies(f.Type) {
			if hasField(in, name) || hasBelow(in, name, append(around, s)) {
				return true
			}
		}
	}
	return false
}

func childNames(p *codec.Program, hits []hit) (names []string) {
	for _, h := range hits {
		if h.part != "" {
			continue
		}
		if h.field >= 0 {
			for _, v := range valuesOf(p, h, true) {
				if bitfield, ok := p.Fields[v.field].Schema.Type.(*schema.Bitfield); ok {
					if names = append(names, bitfield.Names...); bitfield.All != "" {
						names = append(names, bitfield.All)
					}
				}
			}
		}
		contents(p, h, false, func(in hit) {
			if name := p.Fields[in.field].Name; name[0] != '[' {
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
	contents(p, h, false, func(in hit) {
		if b.form == allOf || n == b.at {
			out = append(out, in)
		}
		n++
	})
	return out
}

// intoList selects one element of a list, or all.
func intoList(p *codec.Program, h hit, b *bracket) (hit, bool) {
	if in, ok := onlyArray(p, h.field); ok && !h.fixed { // which is shown as the list
		h.field, h.index = in, append(h.index[:len(h.index):len(h.index)], -1)
	}
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

// onlyArray returns the list in the only element of a list that stands for it.
func onlyArray(p *codec.Program, field int) (inner int, ok bool) {
	l, ok := p.Fields[field].Schema.Type.(*schema.List)
	if !ok || !l.Once {
		return 0, false
	}
	for inner = field + 1; inner < p.Fields[field].End; inner++ {
		if isList(p, inner) {
			return inner, true
		}
		if g, ok := p.Fields[inner].Schema.Type.(*schema.Group); !ok || !g.Bare {
			break
		}
	}
	return 0, false
}
