package emit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"wirebench/defs/schema"
)

// A reference for people: an index, the names of values, and for each message a diagram in the manner of the RFCs, 32 bits a row, and
// a table of all that travels, in the order of the wire.

// emitMarkdown writes one file.
func emitMarkdown(s *schema.Schema, o Options) ([]File, []Loss) {
	w := &markdown{anchors: map[string]int{}, enums: map[*schema.Enum]string{}}
	var messages []*schema.Message
	for _, m := range s.Messages {
		if m.Broken || m.Body == nil {
			w.losses = append(w.losses, Loss{Message: messageName(m), Reason: "the definition has errors; the message is left out"})
			continue
		}
		messages = append(messages, m)
	}
	slices.SortStableFunc(messages, func(a, b *schema.Message) int {
		return strings.Compare(a.Key.Group, b.Key.Group)
	})
	for _, heading := range []string{o.name(), "Index"} {
		w.anchor(heading)
	}
	var bodies []string
	var index []indexRow
	for _, m := range messages {
		index = append(index, indexRow{m, w.anchor(messageName(m))})
	}
	w.anchor("Names of values")
	for _, m := range messages {
		body, ok := w.message(m)
		if !ok {
			index = slices.DeleteFunc(index, func(r indexRow) bool { return r.m == m })
			continue
		}
		bodies = append(bodies, "## "+markdownText(messageName(m))+"\n\n"+body)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", markdownText(o.name()))
	b.WriteString("<!--\n" + strings.ReplaceAll(head("", "md", s, w.losses), "-->", "-- >") + "-->\n\n")
	b.WriteString(markdownIntro)
	writeIndex(&b, index)
	b.WriteString(strings.Join(bodies, ""))
	if len(w.enumText) > 0 { // after the messages, so that what a heading is called in links does not depend on them
		b.WriteString("## Names of values\n\n" + strings.Join(w.enumText, ""))
	}
	if len(w.losses) > 0 {
		b.WriteString("## What is not here\n\n")
		for _, l := range w.losses {
			b.WriteString("- " + markdownText(oneLine(l.String())) + "\n")
		}
	}
	return []File{{Name: legal(o.name()) + ".md", Text: strings.TrimRight(b.String(), "\n") + "\n"}}, w.losses
}

const markdownIntro = `Offsets and sizes are bytes unless they say bits; offsets count from the first byte of the message, or of the element in a list.
Numbers are little-endian unless their type says big. Bits of a byte are counted and drawn from the least significant one on. In a diagram "#name" is the count of a part, "@name" its offset.

`

type indexRow struct {
	m      *schema.Message
	anchor string
}

// writeIndex lists the messages by direction and code, those without a code after them by name.
func writeIndex(b *strings.Builder, rows []indexRow) {
	b.WriteString("## Index\n\n| direction | group | code | message | about |\n| --- | --- | --- | --- | --- |\n")
	slices.SortStableFunc(rows, func(x, y indexRow) int {
		switch {
		case x.m.Key.Dir != y.m.Key.Dir:
			return int(x.m.Key.Dir) - int(y.m.Key.Dir)
		case x.m.Key.Group != y.m.Key.Group:
			return strings.Compare(x.m.Key.Group, y.m.Key.Group)
		case x.m.HasKey != y.m.HasKey:
			if x.m.HasKey {
				return -1
			}
			return 1
		case x.m.Key.Code != y.m.Key.Code:
			return int(int64(x.m.Key.Code) - int64(y.m.Key.Code))
		}
		return strings.Compare(x.m.Name, y.m.Name)
	})
	for _, r := range rows {
		code := ""
		if r.m.HasKey {
			code = codeText(r.m.Key.Code)
		}
		doc, _, _ := strings.Cut(strings.TrimSpace(r.m.Doc), "\n")
		fmt.Fprintf(b, "| %s | %s | %s | [%s](#%s) | %s |\n", dirText(r.m.Key.Dir), markdownCell(r.m.Key.Group), code, markdownCell(messageName(r.m)), r.anchor, markdownCell(doc))
	}
	b.WriteByte('\n')
}

func codeText(code uint32) string { return fmt.Sprintf("%d (0x%02X)", code, code) }

func dirText(d schema.Dir) string {
	switch d {
	case schema.ToServer:
		return "to server"
	case schema.ToClient:
		return "to client"
	}
	return "both"
}

// markdown is the document under construction.
type markdown struct {
	anchors  map[string]int
	enums    map[*schema.Enum]string // link to its heading
	enumText []string
	losses   []Loss
	m        *schema.Message
	parts    int // of the message
}

// anchor is the fragment that GitHub and others make of a heading.
func (w *markdown) anchor(title string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(title) {
		switch {
		case c == ' ':
			b.WriteByte('-')
		case c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= utf8.RuneSelf:
			b.WriteRune(c)
		}
	}
	id := b.String()
	n := w.anchors[id]
	if w.anchors[id]++; n > 0 {
		return id + "-" + strconv.Itoa(n)
	}
	return id
}

// markdownText keeps text from being taken for markup.
func markdownText(s string) string {
	var b strings.Builder
	for _, c := range s {
		if strings.ContainsRune("\\`*_[]<>#|~", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// markdownCell is text for one cell of a table.
func markdownCell(s string) string { return markdownText(strings.Join(strings.Fields(s), " ")) }

// mdRow is one part of a message.
type mdRow struct {
	path   string
	name   string // short, for the diagram
	typ    string
	offset string
	bits   int // -1: it depends on the message
	limit  string
	doc    string
	when   string
	elem   []mdRow // of a list
	by     string  // how its size or its place is known
	names  string  // of its values, as Markdown
	moved  bool    // it is reached by an offset
}

// message writes one message. It returns false if it is nested too deeply.
func (w *markdown) message(m *schema.Message) (text string, ok bool) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case impossible:
			w.losses = append(w.losses, Loss{Message: messageName(m), Reason: string(e) + "; the message is left out"})
			text, ok = "", false
		default:
			panic(e)
		}
	}()
	w.m, w.parts = m, 0
	var b strings.Builder
	if m.Doc != "" {
		for line := range strings.SplitSeq(strings.TrimSpace(m.Doc), "\n") {
			b.WriteString(markdownText(strings.TrimSpace(line)) + "\n")
		}
		b.WriteByte('\n')
	}
	l := &mdLayout{w: w, count: map[*schema.Field]string{}, offset: map[*schema.Field]string{}, paths: map[*schema.Field]string{}}
	rows := l.body(m.Body, "", 0)
	facts := []string{"Direction: " + dirText(m.Key.Dir)}
	if m.Key.Group != "" {
		facts = append(facts, "group: "+markdownText(m.Key.Group))
	}
	if m.HasKey {
		facts = append(facts, "code: "+codeText(m.Key.Code))
	}
	facts = append(facts, "size: "+messageSize(m.Body))
	if m.Span.File != nil && m.Span.File.Name != "" {
		facts = append(facts, "from "+markdownText(m.Span.File.Name))
	}
	b.WriteString(strings.Join(facts, ", ") + ".\n\n")
	if len(rows) == 0 {
		b.WriteString("It has no bytes.\n\n")
		return b.String(), true
	}
	b.WriteString("```text\n")
	drawRows(&b, rows)
	b.WriteString("```\n\n")
	b.WriteString("| offset | size | type | name | range | meaning |\n| --- | --- | --- | --- | --- | --- |\n")
	writeRows(&b, rows)
	b.WriteByte('\n')
	return b.String(), true
}

func writeRows(b *strings.Builder, rows []mdRow) {
	for _, r := range rows {
		size := r.sizeText()
		about := []string{}
		for _, text := range []string{r.when, r.by, r.doc} {
			if text != "" {
				about = append(about, markdownCell(text))
			}
		}
		if r.names != "" {
			about = append(about, r.names)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", markdownCell(r.offset), size, markdownCell(r.typ), markdownCell(r.path), markdownCell(r.limit), strings.Join(about, "; "))
		writeRows(b, r.elem)
	}
}

func (r *mdRow) sizeText() string {
	if r.bits < 0 {
		return "varies"
	}
	return bitsText(r.bits)
}

func bitsText(bits int) string {
	switch {
	case bits == 1:
		return "1 bit"
	case bits%8 != 0:
		return fmt.Sprintf("%d bits", bits)
	}
	return strconv.Itoa(bits / 8)
}

// mdLayout walks the items of a message.
type mdLayout struct {
	w      *markdown
	count  map[*schema.Field]string
	offset map[*schema.Field]string
	paths  map[*schema.Field]string
	bits   int
	vars   []string
	elem   bool
	when   string
}

// at is the place that is reached, written as the layout of the workbench writes it: "18 + name", "element + 4".
func (l *mdLayout) at() string {
	var parts []string
	if l.elem {
		parts = append(parts, "element")
	}
	if l.bits > 0 || len(parts) == 0 || len(l.vars) == 0 {
		text := strconv.Itoa(l.bits / 8)
		if r := l.bits % 8; r != 0 {
			text += fmt.Sprintf(" bytes %d bits", r)
		}
		parts = append(parts, text)
	}
	return strings.Join(append(parts, l.vars...), " + ")
}

func (l *mdLayout) bind(fields []*schema.Field, prefix string, depth int) {
	if depth > maxDepth {
		fail("it is nested deeper than %d", maxDepth)
	}
	for _, f := range fields {
		if l.w.parts++; l.w.parts > maxParts {
			fail("there are too many fields")
		}
		l.paths[f] = prefix + f.Name
		if f.Name == "" {
			l.paths[f] = strings.TrimSuffix(prefix, ".")
		}
		if g, ok := f.Type.(*schema.Group); ok && len(g.Struct.Wire) == 0 {
			l.bind(g.Struct.Fields, l.paths[f]+".", depth+1)
		}
	}
}

// path is how the table calls a field.
func (l *mdLayout) path(f *schema.Field) string {
	if p, ok := l.paths[f]; ok {
		return p
	}
	return f.Name
}

func (l *mdLayout) body(s *schema.Struct, prefix string, depth int) []mdRow {
	if depth > maxDepth {
		fail("it is nested deeper than %d", maxDepth)
	}
	l.bind(s.Fields, prefix, depth)
	var rows []mdRow
	when := l.when
	for i := range s.Wire {
		if i >= len(s.Wire)-s.Optional && (l.bits%8 == 0 || len(l.vars) > 0) {
			l.when = "if the message goes on"
		}
		rows = append(rows, l.item(&s.Wire[i], depth)...)
	}
	l.when = when
	if len(s.Variants) == 0 {
		return rows
	}
	bits, vars := l.bits, slices.Clone(l.vars)
	for _, v := range s.Variants {
		if v.Body == nil {
			continue
		}
		l.bits, l.vars, l.when = bits, slices.Clone(vars), l.condition(&v)
		rows = append(rows, l.body(v.Body, prefix, depth+1)...)
	}
	l.bits, l.vars, l.when = bits, append(vars, "alternative"), when
	return rows
}

// condition says when an alternative is taken.
func (l *mdLayout) condition(v *schema.Variant) string {
	switch {
	case v.Field != nil:
		if n, ok := v.Field.Type.(*schema.Number); ok {
			return fmt.Sprintf("if %s is %s", l.path(v.Field), n.Decimal(v.Value))
		}
		return fmt.Sprintf("if %s is %d", l.path(v.Field), v.Value)
	case v.MaxLen == 0:
		return fmt.Sprintf("in messages of %d bytes or more", max(v.MinLen, 0))
	case v.MinLen == v.MaxLen:
		return fmt.Sprintf("in messages of %d bytes", v.MinLen)
	}
	return fmt.Sprintf("in messages of %d to %d bytes", max(v.MinLen, 0), v.MaxLen)
}

// fixed adds a part of known size.
func (l *mdLayout) fixed(r mdRow, bits int) mdRow {
	r.bits, r.offset, r.when = bits, l.at(), l.when
	if r.name == "" {
		r.name = lastName(r.path)
	}
	l.bits += bits
	return r
}

func lastName(path string) string {
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[i+1:]
	}
	return path
}

func uintText(bits int, order schema.Order) string {
	n := schema.Number{Bits: bits, Order: order}
	return n.String()
}

func (l *mdLayout) item(it *schema.Item, depth int) []mdRow {
	book := func(name, doc string) []mdRow {
		return []mdRow{l.fixed(mdRow{path: name, typ: uintText(it.Bits, it.Order), doc: doc}, it.Bits)}
	}
	switch it.Kind {
	case schema.Value:
		return l.value(it.Field, depth)
	case schema.Weave:
		var rows []mdRow
		vars := l.vars
		var after []string
		for _, f := range it.Weave {
			l.vars = vars // they share one place
			inner := l.value(f, depth)
			after = append(after, l.vars[len(vars):]...)
			for i := range inner {
				inner[i].by = strings.TrimPrefix(inner[i].by+"; its elements are written in turns with those beside it", "; ")
			}
			rows = append(rows, inner...)
		}
		l.vars = append(vars[:len(vars):len(vars)], after...)
		return rows
	case schema.Count:
		name := "count of " + l.path(it.Field)
		l.count[it.Field] = name
		e, unit := extentOf(it.Field.Type)
		rows := book(name, map[int]string{0: "number of elements", 1: "bytes", 2: "code units of two bytes"}[unit])
		rows[0].name, rows[0].limit = "#"+lastName(l.path(it.Field)), rangeText(e.Min, e.Max, schema.Unsigned)
		return rows
	case schema.Offset:
		name := "offset of " + l.path(it.Field)
		l.offset[it.Field] = name
		rows := book(name, "where it starts, in bytes from the start of the message")
		rows[0].name = "@" + lastName(l.path(it.Field))
		return rows
	case schema.Here:
		return book("here", "where this element starts")
	case schema.Next:
		return book("next", "where the next element starts, 0 in the last one")
	case schema.Length:
		return book("length", "bytes of the whole message")
	case schema.Code:
		doc := ""
		if l.w.m.HasKey {
			doc = "is " + codeText(l.w.m.Key.Code)
		}
		return book("code", doc)
	case schema.Counter:
		return book("counter", "running number of the message")
	case schema.Check:
		if it.Sum != nil {
			l.w.losses = append(l.w.losses, Loss{Message: messageName(l.w.m), Field: "checksum", Reason: "how the checksum is computed is not said"})
		}
		return book("checksum", "over the whole message")
	case schema.Const:
		r := l.fixed(mdRow{path: "constant", name: hexText(it.Bytes), typ: "bytes", limit: hexText(it.Bytes)}, 8*len(it.Bytes))
		return []mdRow{r}
	case schema.Pad:
		return []mdRow{l.fixed(mdRow{path: "padding", typ: "bits", doc: "no meaning"}, it.Bits)}
	}
	fail("it has an item of an unknown kind")
	return nil
}

func hexText(b []byte) string {
	if len(b) > 16 {
		return fmt.Sprintf("% x and so on", b[:16])
	}
	return fmt.Sprintf("% x", b)
}

// rangeText is a range for people; a constant without a value stands with its name.
func rangeText(lo, hi *schema.Limit, kind schema.NumKind) string {
	one := func(l *schema.Limit) string {
		switch {
		case l.Const != "":
			return l.Const
		case kind == schema.Float:
			return strconv.FormatFloat(l.Float, 'g', -1, 64)
		}
		return limitText(l, kind)
	}
	switch {
	case lo != nil && hi != nil && one(lo) == one(hi):
		return one(lo)
	case lo != nil && hi != nil:
		return one(lo) + " to " + one(hi)
	case lo != nil:
		return one(lo) + " or more"
	case hi != nil:
		return "up to " + one(hi)
	}
	return ""
}

func (l *mdLayout) value(f *schema.Field, depth int) []mdRow {
	r := mdRow{path: l.path(f), typ: f.TypeText, doc: f.Doc}
	if f.Same != nil {
		r.doc = strings.TrimSuffix("the same value once more; "+r.doc, "; ")
	}
	switch t := f.Type.(type) {
	case *schema.Number:
		if r.typ == "" || t.Order == schema.Big && !strings.Contains(r.typ, "big") {
			r.typ = (&schema.Number{Bits: t.Bits, Kind: t.Kind, Order: t.Order}).String()
		}
		r.limit = rangeText(t.Min, t.Max, t.Kind)
		if t.Scale != 0 {
			r.by = fmt.Sprintf("shown times %s", strconv.FormatFloat(t.Scale, 'g', -1, 64))
		}
		if t.Kind == schema.Bool && t.Bits > 1 {
			r.by = "0 is false, all else is true"
		}
		if t.Enum != nil {
			r.names = "named in " + l.w.enum(t, f.Name)
		}
		return []mdRow{l.fixed(r, t.Bits)}
	case *schema.Packed:
		if r.by = packedText(t); r.typ == "" {
			r.typ = "parts of " + uintText(t.Bits, t.Order)
		}
		return []mdRow{l.fixed(r, t.Bits)}
	case *schema.Group:
		if len(t.Struct.Wire) == 0 && len(t.Struct.Variants) == 0 {
			return nil
		}
		old := map[*schema.Field]string{}
		for _, inner := range t.Struct.Fields {
			if p, ok := l.paths[inner]; ok {
				old[inner] = p
			}
		}
		rows := l.body(t.Struct, r.path+".", depth+1)
		for inner, p := range old {
			l.paths[inner] = p
		}
		if len(rows) > 0 && f.Doc != "" {
			rows[0].doc = strings.TrimSuffix(f.Doc+"; "+rows[0].doc, "; ")
		}
		return rows
	}
	e, unit := extentOf(f.Type)
	r.limit = rangeText(e.Min, e.Max, schema.Unsigned)
	if r.limit != "" {
		r.limit += map[int]string{0: " elements", 1: " bytes", 2: " units"}[unit]
	}
	switch e.Size {
	case schema.Fixed:
		r.by = map[int]string{0: fmt.Sprintf("%d elements", e.N)}[unit]
	case schema.Counted:
		r.by = "as many as its count"
	case schema.Terminated:
		r.by = "ends with a zero"
	case schema.ToEnd:
		r.by = "to the end of the message"
	}
	if l.offset[f] != "" {
		r.by = "starts at its offset; " + r.by
		r.moved = true
	}
	switch t := f.Type.(type) {
	case *schema.Text:
		if r.typ == "" {
			r.typ = "text"
		}
		r.typ += " (" + t.Charset.String() + ")"
		if e.Size == schema.Fixed {
			r.by = ""
			if t.Min == nil {
				r.by = "up to its first zero"
			}
			return []mdRow{l.fixed(r, max(e.N, 0)*unit*8)}
		}
	case *schema.Blob:
		if r.typ == "" {
			r.typ = "bytes"
		}
		if t.Nested {
			r.doc = strings.TrimSuffix("a message of its own; "+r.doc, "; ")
		}
		if e.Size == schema.Fixed {
			r.by = ""
			return []mdRow{l.fixed(r, max(e.N, 0)*8)}
		}
	case *schema.List:
		if r.typ == "" {
			r.typ = "list"
		}
		if t.Linked {
			r.by += "; each element tells where the next one is"
		}
		inner := &mdLayout{w: l.w, count: map[*schema.Field]string{}, offset: map[*schema.Field]string{}, paths: map[*schema.Field]string{}, elem: true}
		r.elem = inner.body(t.Elem, r.path+"[].", depth+1)
	default:
		fail("the field %q has no type", f.Name)
	}
	if least, most := typeBits(f.Type, depth); least == most {
		return []mdRow{l.fixed(r, int(least))}
	}
	r.name, r.offset, r.bits, r.when = lastName(r.path), l.at(), -1, l.when
	after := r.path
	if i := strings.LastIndex(after, "[]."); i >= 0 && l.elem {
		after = after[i+3:]
	}
	l.vars = append(l.vars[:len(l.vars):len(l.vars)], after)
	return []mdRow{r}
}

// packedText lists the parts of each form.
func packedText(p *schema.Packed) string {
	var forms []string
	for i := range p.Forms {
		form := &p.Forms[i]
		var parts []string
		for _, part := range form.Parts {
			at := fmt.Sprintf("bit %d", part.Shift)
			if part.Bits > 1 {
				at = fmt.Sprintf("bits %d to %d", part.Shift, part.Shift+part.Bits-1)
			}
			parts = append(parts, part.Name+" "+at)
		}
		text := strings.Join(parts, ", ")
		if len(p.Forms) > 1 && form.When != "" {
			text = "if " + form.When + ": " + text
		}
		forms = append(forms, text)
	}
	return strings.Join(forms, "; ")
}

// enum writes the names of a number's values once and returns a link to them.
func (w *markdown) enum(n *schema.Number, field string) string {
	if link := w.enums[n.Enum]; link != "" {
		return link
	}
	name := n.Enum.Name
	if name == "" {
		name = field + " of " + messageName(w.m)
	}
	w.enums[n.Enum] = "[" + markdownText(name) + "](#" + w.anchor(name) + ")"
	var b strings.Builder
	b.WriteString("### " + markdownText(name) + "\n\n| value | name |\n| --- | --- |\n")
	for _, v := range n.Enum.Values {
		text := n.Decimal(v.Value)
		fmt.Fprintf(&b, "| %s | %s |\n", text, markdownCell(v.Name))
	}
	b.WriteByte('\n')
	w.enumText = append(w.enumText, b.String())
	return w.enums[n.Enum]
}

// messageSize is the size of a message in words.
func messageSize(s *schema.Struct) string {
	least, most := structBits(s, 0)
	least = (least + 7) / 8
	switch most = (most + 7) / 8; {
	case most >= noLimit/8 && least == 1:
		return "1 byte or more"
	case most >= noLimit/8:
		return fmt.Sprintf("%d bytes or more", least)
	case most != least:
		return fmt.Sprintf("%d to %d bytes", least, most)
	case least == 1:
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", least)
}

// noLimit is a number of bits that no message has.
const noLimit = 1 << 40

// structBits is the least and the largest number of bits of a struct. Limits that are constants without a value are none.
func structBits(s *schema.Struct, depth int) (least, most int64) {
	if depth > maxDepth {
		fail("it is nested deeper than %d", maxDepth)
	}
	for i := range s.Wire {
		it := &s.Wire[i]
		lo, hi := int64(it.Bits), int64(it.Bits)
		switch it.Kind {
		case schema.Value:
			lo, hi = typeBits(it.Field.Type, depth)
		case schema.Const:
			lo = 8 * int64(len(it.Bytes))
			hi = lo
		case schema.Weave:
			for _, f := range it.Weave {
				a, b := typeBits(f.Type, depth)
				lo, hi = lo+a, hi+b
			}
		}
		if i >= len(s.Wire)-s.Optional {
			lo = 0
		}
		least, most = least+lo, min(most+hi, noLimit)
	}
	first, last := int64(-1), int64(0)
	for _, v := range s.Variants {
		lo, hi := int64(0), int64(0)
		if v.Body != nil {
			lo, hi = structBits(v.Body, depth+1)
		}
		if first < 0 || lo < first {
			first = lo
		}
		last = max(last, hi)
	}
	return min(least+max(first, 0), noLimit), min(most+last, noLimit)
}

func typeBits(t schema.Type, depth int) (least, most int64) {
	lo, hi := int64(0), int64(0) // of a unit
	switch t := t.(type) {
	case *schema.Number:
		return int64(t.Bits), int64(t.Bits)
	case *schema.Packed:
		return int64(t.Bits), int64(t.Bits)
	case *schema.Group:
		return structBits(t.Struct, depth+1)
	case *schema.Text:
		lo, hi = int64(8*t.Charset.Unit()), int64(8*t.Charset.Unit())
		if t.Size == schema.Terminated {
			return lo, noLimit
		}
	case *schema.Blob:
		lo, hi = 8, 8
	case *schema.List:
		lo, hi = structBits(t.Elem, depth+1)
	}
	e, _ := extentOf(t)
	if e.Size == schema.Fixed {
		n := int64(max(e.N, 0))
		return times(lo, n), times(hi, n)
	}
	if least = 0; e.Min != nil && e.Min.Const == "" {
		least = times(lo, int64(min(e.Min.Uint, noLimit)))
	}
	if e.Max == nil || e.Max.Const != "" {
		return least, noLimit
	}
	return least, times(hi, int64(min(e.Max.Uint, noLimit)))
}

func times(bits, n int64) int64 {
	if bits > 0 && n > noLimit/bits {
		return noLimit
	}
	return min(bits*n, noLimit)
}
