package view

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"

	"wirebench/codec"
	"wirebench/codec/value"
)

// Result is a decoded message in the API: the object of decode --json and of POST /api/v1/projects/{project}/decode.
type Result struct {
	Message  string          `json:"message" doc:"name of the definition, empty if there is none"`
	Version  int             `json:"version,omitempty"`
	Code     *uint32         `json:"code,omitempty" doc:"the key that the message carries"`
	Status   string          `json:"status" enum:"ok,incomplete,illegal,unknown,error"`
	Used     int             `json:"used" doc:"bytes that belong to the message"`
	Leftover int             `json:"leftover,omitempty" doc:"bytes that no field explains: between the fields of the message, and after it"`
	Value    json.RawMessage `json:"value,omitempty"`
	Problems []ProblemInfo   `json:"problems"`
	Fields   []FieldValue    `json:"fields,omitempty"`
	Guess    string          `json:"guess,omitempty" doc:"text of the definition that the bytes were guessed to have, with what speaks for each field; value and fields are by it"`
}

// ProblemInfo is a Problem for output.
type ProblemInfo struct {
	Severity  string `json:"severity" enum:"error,warning"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Path      string `json:"path,omitempty"`
	BitOffset uint32 `json:"bit_offset"`
	BitLength uint32 `json:"bit_length"`
	Line      int    `json:"line,omitempty" doc:"1-based, in the definition"`
}

// FieldValue is one run of bits with its position and its line of the definition. The field values of a message cover each of its bits
// once, except for those marked as overlap. Those of decompressed contents, which follow the compressed bytes, have the position of these.
type FieldValue struct {
	Path      string          `json:"path"`
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	BitOffset uint32          `json:"bit_offset"`
	BitLength uint32          `json:"bit_length"`
	Value     json.RawMessage `json:"value"`
	Line      int             `json:"line,omitempty"`
	Overlap   bool            `json:"overlap,omitempty" doc:"some of its bits also belong to an earlier field"`

	Inner *uint32 `json:"contents_bit_offset,omitempty" doc:"position in the decompressed contents of a group; bit_offset and bit_length are then those of its compressed bytes"`

	Field  uint16      `json:"-"` // index into Program.Fields, 0xffff if none
	Depth  int         `json:"-"` // number of fields around it
	Family Family      `json:"-"`
	Text   string      `json:"-"` // the value as displayed
	data   codec.Range // in Record.Data
}

// Of describes the record. fields adds the list of all fields.
func Of(r *codec.Record, fields bool) Result {
	out := Summary(r)
	out.Value = value.AppendJSON(nil, r)
	if fields {
		out.Fields = Fields(r)
	}
	return out
}

// Summary is Of without values.
func Summary(r *codec.Record) Result {
	m := r.Program.Message
	out := Result{Message: m.Name, Version: m.Version, Status: r.Status().String(), Used: r.Used, Leftover: r.Unexplained(), Problems: Problems(r)}
	if r.HasCode() {
		code := r.Code
		out.Code = &code
	}
	return out
}

// Problems returns the problems and warnings of the record, problems first.
func Problems(r *codec.Record) []ProblemInfo {
	all := r.AllProblems()
	out := make([]ProblemInfo, 0, len(all))
	var path []byte
	for _, p := range all {
		path = r.AppendSpotPath(path[:0], p.Spot)
		at := r.Sent(p.Range)
		out = append(out, ProblemInfo{
			Severity: p.Code.Severity().String(), Code: p.Code.String(), Message: p.Message(r), Path: string(path),
			BitOffset: at.Off, BitLength: at.Len, Line: r.Program.Line(p.Field()),
		})
	}
	return out
}

// Fields returns every run of bits of the message in wire order, including gaps.
func Fields(r *codec.Record) []FieldValue {
	leaves := r.AppendLeaves(nil)
	w := r.Paths()
	out := make([]FieldValue, 0, len(leaves)+4)
	var path []byte
	lines := make([]int, len(r.Program.Fields))
	for i := range lines {
		lines[i] = r.Program.Line(uint16(i))
	}
	covered := newCoverage(r.Data[:r.Size()])
	for _, l := range leaves {
		path = w.Append(path[:0], l)
		at := r.Sent(l.Range())
		f := FieldValue{
			Path: string(path), Type: r.TypeName(l), Role: l.Role.String(), BitOffset: at.Off, BitLength: at.Len,
			Value: value.AppendLeaf(nil, r, l), Field: l.Field, Overlap: covered.add(at), Family: FamilyOf(r.Program, l.Field, l.Role),
		}
		f.data = l.Range()
		f.Inner = innerOf(r, f.data)
		f.Text = leafText(r, l, string(f.Value))
		if l.Field != codec.NoField {
			f.Line, f.Depth = lines[l.Field], r.Program.Depth(l.Field)
		} else if l.Role == codec.RoleHere || l.Role == codec.RoleNext {
			f.Depth = w.Depth()
		}
		out = append(out, f)
	}
	for g := range r.Gaps() {
		out = append(out, gap(r, g))
	}
	slices.SortStableFunc(out, func(a, b FieldValue) int { return cmp.Compare(a.BitOffset, b.BitOffset) })
	return out
}

// Rest describes the bytes after the message, which belong to no field. ok is false if there are none.
func Rest(r *codec.Record) (f FieldValue, ok bool) {
	at := r.Rest()
	return gap(r, at), at.Len > 0
}

func gap(r *codec.Record, g codec.Range) FieldValue {
	at := r.Sent(g)
	return FieldValue{
		Role: codec.RoleGap.String(), Type: codec.GapType(g), BitOffset: at.Off, BitLength: at.Len,
		Value: []byte(`"` + hex.EncodeToString(r.Data[g.Off/8:(g.End()+7)/8]) + `"`), Field: codec.NoField, Family: FamilyGap,
		Inner: innerOf(r, g), Overlap: innerOf(r, g) != nil, data: g,
	}
}

// innerOf returns the position of a range in decompressed contents, nil for one that is not in any.
func innerOf(r *codec.Record, at codec.Range) *uint32 {
	if int(at.Off/8) < r.Size() || len(r.Packs) == 0 {
		return nil
	}
	off := at.Off - r.ContentsOf(at)*8
	return &off
}

// coverage records which bits of a message belong to a field.
type coverage struct{ words []uint64 }

func newCoverage(data []byte) *coverage { return &coverage{make([]uint64, (len(data)*8+63)/64)} }

// add marks a range, and reports whether any bit of it was already marked.
func (c *coverage) add(g codec.Range) (overlap bool) {
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
