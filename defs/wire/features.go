package wire

import "wirebench/defs/schema"

// Feature is a construct that not every reader or writer of messages supports.
type Feature uint8

// The features.
const (
	VarNumbers  Feature = iota // numbers in a variable number of bytes
	Additions                  // numbers with a constant that is added, or that may be absent
	HalfFloats                 // floats of 16 bits
	TopBits                    // numbers that are not whole bytes, from the most significant bit on
	LooseBits                  // bitfields that leave bits out, or whose parts overlap
	TypedCounts                // counts that are not unsigned numbers of at most 32 bits, and longer codes
	Absence                    // text, bytes and lists that may be absent
	Formulas                   // numbers computed from earlier ones
	EndBytes                   // lists that end with a byte
	MoreFlags                  // lists whose elements say whether another one follows
	Endings                    // lists that end with an element that meets a condition
	Unsent                     // numbers that are computed, and not sent
	Positions                  // contents at computed positions
	Choices                    // fields whose contents depend on earlier values
	SizedGroups                // groups with a size in bytes
	Recursion                  // groups that contain themselves
	Compression                // groups that are compressed
	Windows                    // groups with a computed size, and positions and ends in groups
	Texts                      // expressions over texts, bytes and floats
	Elements                   // expressions with the elements of lists
	Tags                       // lists whose elements are in any order, each with a tag
	LooseEnds                  // bytes up to a certain one, and texts that the end of the message ends, too, or whose end belongs to them or to what follows

	Features // the number of features
)

// String returns the name of the feature, a plural.
func (f Feature) String() string {
	return [...]string{
		"numbers of variable size", "numbers with an added constant or without a value", "floats of 16 bits", "bits from the most significant one on",
		"flags that leave bits out or overlap", "counts other than unsigned numbers of up to 32 bits", "contents that may be absent",
		"sizes and conditions that are computed", "lists that end with a byte", "lists whose elements announce the next one", "lists that end with an element that meets a condition",
		"numbers that are computed and not sent", "contents at a computed position", "fields with alternatives", "groups with a size in bytes", "groups that contain themselves",
		"compressed contents", "groups with a computed size, and positions in groups", "expressions with texts, bytes or floats", "expressions with the elements of lists", "fields in any order, each with a tag", "texts and bytes with other ends than a zero that follows",
	}[f]
}

// Use is a feature of a message, and the first field that uses it; None for one outside of fields.
type Use struct {
	Feature Feature
	Field   int
}

// Features returns the features that the message uses, each with its first use.
func (m *Message) Features() []Use {
	u := &users{m: m}
	for i := range u.first {
		u.first[i] = unused
	}
	u.parts(m.Body.Parts)
	var out []Use
	for f, field := range u.first {
		if field != unused {
			out = append(out, Use{Feature(f), field})
		}
	}
	return out
}

// unused is the first use of a feature that the message does not have.
const unused = -2

type users struct {
	m     *Message
	first [Features]int // by feature
}

func (u *users) use(f Feature, field int) {
	if u.first[f] == unused {
		u.first[f] = field
	}
}

func (u *users) parts(parts []Part) {
	for i := range parts {
		p := &parts[i]
		for k := range p.Items {
			u.item(&p.Items[k])
		}
		u.extent(p)
		switch p.Kind {
		case Let:
			u.use(Formulas, None)
			u.expr(*p.Expr, None)
		case Computed:
			u.use(Unsent, p.Field)
			u.expr(*p.Expr, p.Field)
		case Choice:
			if p.Field != None {
				u.use(Choices, p.Field)
			}
		case Group:
			switch g := u.m.Fields[p.Field].Schema.Type.(*schema.Group); {
			case g.Packed != schema.Unpacked:
				u.use(Compression, p.Field)
			case p.Bytes != None:
				u.use(SizedGroups, p.Field)
			case p.At == None:
				u.use(Recursion, p.Field)
			}
			if p.At != None {
				u.use(Positions, p.Field)
			}
			if p.In != None || p.Inner || p.Begin != None || p.Bytes != None && u.m.Regs[p.Bytes].Expr != nil {
				u.use(Windows, p.Field)
			}
			u.parts(p.Body.Parts)
		case Call:
			u.use(Recursion, p.Field)
		case Block, Text, Blob, List, Weave, Var, Align, Tagged: // what they use is in their items, extents and lists
		}
		u.parts(p.Lists)
		if p.Elem != nil {
			u.parts(p.Elem.Parts)
		}
		for k := range p.Cases {
			u.parts(p.Cases[k].Body.Parts)
		}
	}
}

func (u *users) expr(x Expr, field int) {
	for i := range x {
		switch s := &x[i]; {
		case s.Op == schema.Begin, s.Op == schema.End, s.Op == schema.Cursor, s.Op == schema.From, s.Op == schema.To, s.Op == schema.Seek, s.Op == schema.Trimmed:
			u.use(Windows, field)
		case s.Op == schema.Index, s.Op == schema.Element, s.Op == schema.Least, s.Op == schema.Greatest, s.Listed:
			u.use(Elements, field)
		case s.Kind != schema.IntExpr || s.Of != schema.IntExpr:
			u.use(Texts, field)
		}
	}
}

func (u *users) extent(p *Part) {
	if e := p.Extent; e.Lax || e.Keep || e.With || e.Trim || e.Size == schema.Terminated && p.Kind == Blob {
		u.use(LooseEnds, p.Field)
	}
	if p.Extent.Null {
		u.use(Absence, p.Field)
	}
	switch p.Extent.Size {
	case schema.Computed:
		u.use(Formulas, p.Field)
	case schema.Until:
		u.use(EndBytes, p.Field)
	case schema.While:
		u.use(MoreFlags, p.Field)
	case schema.Ending:
		u.use(Endings, p.Field)
	case schema.Scattered:
		u.use(Tags, p.Field)
	}
}

func (u *users) item(it *Item) {
	if it.Var != schema.Sized {
		u.use(VarNumbers, it.Field)
	}
	if it.Order == schema.Big && it.Kind != schema.Const && (it.Off|it.Bits)%8 != 0 {
		u.use(TopBits, it.Field)
	}
	switch t := it.Type.(type) {
	case *schema.Number:
		if t.Add != 0 || t.Absent {
			u.use(Additions, it.Field)
		}
		if t.Kind == schema.Float && t.Bits == 16 {
			u.use(HalfFloats, it.Field)
		}
		switch {
		case it.Kind == schema.Code && t.Bits > 32, it.Kind == schema.Count && it.Var == schema.Sized && (t.Kind != schema.Unsigned || t.Bits > 32):
			u.use(TypedCounts, it.Field)
		}
	case *schema.Bitfield:
		loose := t.All != ""
		for i := range t.Forms {
			for _, part := range t.Forms[i].Parts {
				loose = loose || part.Mask != 0
			}
		}
		if loose {
			u.use(LooseBits, it.Field)
		}
	}
}
