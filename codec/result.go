package codec

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
)

// Result is a decoded message as other programs get it: one object of decode --json and of POST /api/{ws}/decode.
type Result struct {
	Message  string          `json:"message" doc:"name of the definition, empty if there is none"`
	Version  int             `json:"version,omitempty"`
	Code     *uint32         `json:"code,omitempty" doc:"the key that the message carries"`
	Status   string          `json:"status" enum:"ok,incomplete,illegal,unknown,error"`
	Used     int             `json:"used" doc:"bytes that belong to the message"`
	Value    json.RawMessage `json:"value,omitempty"`
	Problems []ProblemInfo   `json:"problems"`
	Fields   []FieldValue    `json:"fields,omitempty"`
}

// ProblemInfo is a Problem in words and numbers.
type ProblemInfo struct {
	Severity  string `json:"severity" enum:"error,warning"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Path      string `json:"path,omitempty"`
	BitOffset uint32 `json:"bit_offset"`
	BitLength uint32 `json:"bit_length"`
	Line      int    `json:"line,omitempty" doc:"1-based, in the definition"`
}

// FieldValue is one run of bits with its place and its line of the definition. The field values of a message cover each of its bits
// once, except where one is marked as overlap.
type FieldValue struct {
	Path      string          `json:"path"`
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	BitOffset uint32          `json:"bit_offset"`
	BitLength uint32          `json:"bit_length"`
	Value     json.RawMessage `json:"value"`
	Line      int             `json:"line,omitempty"`
	Overlap   bool            `json:"overlap,omitempty" doc:"some of its bits belong to a field before it too"`

	Field  uint16 `json:"-"` // index into Program.Fields, 0xffff if none
	Depth  int    `json:"-"` // number of fields around it
	Family Family `json:"-"`
	Text   string `json:"-"` // the value as people read it
}

// Result describes the record. fields asks for every field, too.
func (r *Record) Result(fields bool) Result {
	out := r.Summary()
	out.Value = r.AppendJSON(nil)
	if fields {
		out.Fields = r.FieldValues()
	}
	return out
}

// Summary is Result without any values.
func (r *Record) Summary() Result {
	m := r.Program.Message
	out := Result{Message: m.Name, Version: m.Version, Status: r.Status().String(), Used: r.Used, Problems: r.ProblemInfos()}
	if r.HasCode() {
		code := r.Code
		out.Code = &code
	}
	return out
}

// ProblemInfos are the problems and the warnings of the record, the problems first.
func (r *Record) ProblemInfos() []ProblemInfo {
	all := append(r.odd[:0], r.Problems...)
	if r.Program.Message.Broken {
		all = append(all, Problem{Code: DefinitionErrors})
	}
	all = r.AppendWarnings(all)
	r.odd = all[:0]
	out := make([]ProblemInfo, 0, len(all))
	var path []byte
	for _, p := range all {
		path = r.problemPath(path[:0], p.Spot)
		out = append(out, ProblemInfo{
			Severity: p.Code.Severity().String(), Code: p.Code.String(), Message: p.Message(r), Path: string(path),
			BitOffset: p.Range.Off, BitLength: p.Range.Len, Line: r.Program.Line(p.Field()),
		})
	}
	return out
}

func (r *Record) problemPath(dst []byte, at Spot) []byte {
	field := at.Field()
	if n := at.Node(); field == noIndex && n >= 0 && int(n) < len(r.Nodes) {
		field = r.listOf(uint32(n))
	}
	if field == noIndex {
		return dst
	}
	return r.AppendPath(dst, field, at.Node(), at.Elem())
}

// Line is the line of a field's definition, 0 if there is none.
func (p *Program) Line(field uint16) int {
	if field == noIndex || int(field) >= len(p.Fields) {
		return 0
	}
	for f := int(field); f >= 0; f = p.Fields[f].Parent { // the parts of a vector have no line of their own
		if s := p.Fields[f].Span; !s.IsZero() {
			return s.Pos().Line
		}
	}
	return 0
}

// FieldValues lists every run of bits of the message in the order of the wire, gaps included.
func (r *Record) FieldValues() []FieldValue {
	leaves := r.AppendLeaves(nil)
	w := walker{r: r}
	out := make([]FieldValue, 0, len(leaves)+4)
	var path []byte
	lines := make([]int, len(r.Program.Fields))
	for i := range lines {
		lines[i] = r.Program.Line(uint16(i))
	}
	covered := newCoverage(r.Data)
	for _, l := range leaves {
		path = w.path(path[:0], l)
		f := FieldValue{
			Path: string(path), Type: r.TypeName(l), Role: l.Role.String(), BitOffset: l.Off, BitLength: l.Len,
			Value: r.AppendLeafValue(nil, l), Field: l.Field, Overlap: covered.add(l.Range()), Family: r.Program.Family(l.Field, l.Role),
		}
		f.Text = r.humanValue(f)
		if l.Field != noIndex {
			f.Line, f.Depth = lines[l.Field], r.Program.Depth(l.Field)
		} else if l.Role == RoleHere || l.Role == RoleNext {
			f.Depth = len(w.elem)
		}
		out = append(out, f)
	}
	for _, g := range r.Gaps() {
		out = append(out, FieldValue{
			Role: RoleGap.String(), Type: (&item{role: RolePad, bits: g.Len}).typeName(), BitOffset: g.Off, BitLength: g.Len,
			Value: appendHex(nil, r.Data[g.Off/8:(g.End()+7)/8]), Field: noIndex, Family: FamilyGap,
		})
	}
	slices.SortStableFunc(out, func(a, b FieldValue) int { return cmp.Compare(a.BitOffset, b.BitOffset) })
	return out
}

// AppendLeafValue appends the value of a leaf as JSON.
func (r *Record) AppendLeafValue(dst []byte, l Leaf) []byte {
	it := r.item(l)
	if it != nil {
		if it.form == formNone && it.bits <= 64 {
			return (&item{form: formUint64, bits: it.bits}).appendNumber(dst, l.Raw)
		}
		return r.itemValue(dst, it, l.Off-it.off)
	}
	n := &r.Nodes[l.Node]
	return r.content(dst, &r.Program.ops[n.Op], l.Node)
}

// coverage remembers which bits of a message have been explained.
type coverage struct{ words []uint64 }

func newCoverage(data []byte) *coverage { return &coverage{make([]uint64, (len(data)*8+63)/64)} }

// add marks a range, and reports whether any of it was marked before.
func (c *coverage) add(g Range) (overlap bool) {
	for at := g.Off; at < g.End(); {
		i, shift := at/64, at%64
		n := min(64-shift, g.End()-at)
		mask := uint64(math.MaxUint64) >> (64 - n) << shift
		if int(i) >= len(c.words) {
			return overlap
		}
		overlap = overlap || c.words[i]&mask != 0
		c.words[i] |= mask
		at += n
	}
	return overlap
}
