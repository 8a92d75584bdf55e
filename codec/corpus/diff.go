package corpus

import (
	"wirebench/codec"
	"wirebench/codec/view"
)

// DiffRow compares a field of two messages.
type DiffRow struct {
	Path     string // with element indexes: members[0].name
	Type     string
	Role     string // "value", or the purpose of bookkeeping: "count", "offset", "length", …
	A, B     string // displayed values
	HasA     bool   // a has the field
	HasB     bool
	Same     bool        // both messages have the field, with the same bits
	InA, InB codec.Range // range of the field in a and in b
	Depth    int         // number of fields around it
}

// MaxDiffMessage is the maximum length of messages that Diff compares, in bytes.
const MaxDiffMessage = 1 << 16

// Diff compares two records of one program field by field, in the order of the bytes of a. Fields that only b has are inserted at their
// position in b. ok is false if a record is larger than MaxDiffMessage or the programs differ: use package bytediff then.
func Diff(a, b *codec.Record) (rows []DiffRow, ok bool) {
	if a.Program == nil || a.Program != b.Program || len(a.Data) > MaxDiffMessage || len(b.Data) > MaxDiffMessage {
		return nil, false
	}
	left, right := fieldsOf(a), fieldsOf(b)
	at := make(map[place]int, len(right))
	for i := range right {
		at[right[i].place] = i
	}
	inA := make(map[place]bool, len(left))
	for i := range left {
		inA[left[i].place] = true
	}
	rows = make([]DiffRow, 0, max(len(left), len(right)))
	next := 0
	onlyB := func(to int) {
		for ; next < to; next++ {
			if f := &right[next]; !inA[f.place] {
				rows = append(rows, DiffRow{Path: f.Path, Type: f.Type, Role: f.Role, B: f.Text, HasB: true, InB: f.at(), Depth: f.Depth})
			}
		}
	}
	for i := range left {
		f := &left[i]
		row := DiffRow{Path: f.Path, Type: f.Type, Role: f.Role, A: f.Text, HasA: true, InA: f.at(), Depth: f.Depth}
		if k, ok := at[f.place]; ok {
			onlyB(k)
			g := &right[k]
			row.B, row.HasB, row.InB = g.Text, true, g.at()
			row.Same = string(f.Value) == string(g.Value)
			next = max(next, k+1)
		}
		rows = append(rows, row)
	}
	onlyB(len(right))
	return rows, true
}

// place identifies a field across two messages.
type place struct {
	path, role string
	nth        int // index among the fields with the same path
}

type diffField struct {
	view.FieldValue
	place
}

func (f *diffField) at() codec.Range { return codec.Range{Off: f.BitOffset, Len: f.BitLength} }

func fieldsOf(r *codec.Record) []diffField {
	values := view.Fields(r)
	out := make([]diffField, len(values))
	count := make(map[place]int, len(values))
	for i := range values {
		p := place{path: values[i].Path, role: values[i].Role}
		n := count[p]
		count[p] = n + 1
		p.nth = n
		out[i] = diffField{values[i], p}
	}
	return out
}
