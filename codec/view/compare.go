package view

import (
	"fmt"
	"slices"
	"strings"

	"wirebench/codec"
)

// Compared is a comparison of two layouts, row by row.
type Compared struct {
	Old  ComparedSide  `json:"old"`
	New  ComparedSide  `json:"new"`
	Rows []ComparedRow `json:"rows" doc:"in the order of the new layout; removed rows are after the row that they followed"`
	More int           `json:"more,omitempty" doc:"rows of both layouts that are not compared, because all rows would be far longer than the definitions"`
}

// ComparedSide is one of two layouts.
type ComparedSide struct {
	Message string `json:"message"`
	Version int    `json:"version,omitempty"`
	Size    string `json:"size" doc:"14 bytes, 14 bytes or more"`
}

// Change is what has become of a row.
type Change string

// The changes. A row with several has the last of them in this order.
const (
	ChangeNone    Change = "same"
	ChangeMoved   Change = "moved"
	ChangeRenamed Change = "renamed" // same type and role, in the same place among its neighbors
	ChangeRetyped Change = "retyped" // another type or size
	ChangeAdded   Change = "added"
	ChangeRemoved Change = "removed"
)

// ComparedRow is a part of one or both messages.
type ComparedRow struct {
	Change Change        `json:"change" enum:"same,moved,renamed,retyped,added,removed"`
	Shift  string        `json:"shift,omitempty" doc:"how far it has moved, in bytes, relative to the start of the message or of its element: \"+4\", \"-2\", \"+4 + name\" if the size of a name is before it now"`
	Old    *ComparedPart `json:"old,omitempty" doc:"absent if it was added"`
	New    *ComparedPart `json:"new,omitempty" doc:"absent if it was removed"`
}

// ComparedPart is a row of a layout in a comparison.
type ComparedPart struct {
	Path   string `json:"path"`
	Role   string `json:"role"`
	Depth  int    `json:"depth"`
	Type   string `json:"type"`
	Offset string `json:"offset"`
	Bit    *int64 `json:"bit_offset" doc:"null where it depends on data"`
	Bits   int64  `json:"min_bits"`
	Size   string `json:"size" doc:"in bytes: \"4\", \"2+\", \"3 bits\""`
	Line   int    `json:"line,omitempty"`
	Note   string `json:"note,omitempty"`
}

// Compare aligns two layouts. Rows belong together that have the same path and role; of the others those between the same neighbors that
// have the same type.
func Compare(before, after LayoutInfo) Compared {
	out := Compared{Old: side(before), New: side(after), Rows: make([]ComparedRow, 0, max(len(before.Rows), len(after.Rows))), More: before.More + after.More}
	type key struct {
		path, role, note string
		nth              int
	}
	keysOf := func(rows []LayoutRow) []key {
		keys, seen := make([]key, len(rows)), make(map[key]int, len(rows))
		for i := range rows {
			k := key{path: rows[i].Path, role: rows[i].Role, note: rows[i].Note}
			seen[k]++
			k.nth = seen[k]
			keys[i] = k
		}
		return keys
	}
	olds, news := keysOf(before.Rows), keysOf(after.Rows)
	at := make(map[key]int, len(olds))
	for i, k := range olds {
		at[k] = i
	}
	partner := make([]int, len(news)) // index of the old row, or -1
	kept := make([]bool, len(olds))
	for i, k := range news {
		partner[i] = -1
		if o, ok := at[k]; ok {
			partner[i], kept[o] = o, true
		}
	}
	gone := func(from int) { // the removed rows that follow an old row
		for o := from; o < len(olds) && !kept[o]; o++ {
			out.Rows = append(out.Rows, ComparedRow{Change: ChangeRemoved, Old: part(&before.Rows[o])})
		}
	}
	gone(0)
	for i := range news {
		if o := partner[i]; o >= 0 {
			out.Rows = append(out.Rows, pair(&before.Rows[o], &after.Rows[i]))
			gone(o + 1)
			continue
		}
		out.Rows = append(out.Rows, ComparedRow{Change: ChangeAdded, New: part(&after.Rows[i])})
	}
	out.Rows = renamed(out.Rows, before.Rows, after.Rows, partner)
	return out
}

func side(l LayoutInfo) ComparedSide {
	_, size, _ := strings.Cut(l.title(), "  ")
	return ComparedSide{l.Message, l.Version, size}
}

func part(r *LayoutRow) *ComparedPart {
	return &ComparedPart{r.Path, r.Role, r.Depth, r.Type, r.Offset, r.BitOffset, r.MinBits, r.sizeText(), r.Line, r.Note}
}

// pair compares two rows that belong together.
func pair(o, n *LayoutRow) ComparedRow {
	row := ComparedRow{Change: ChangeNone, Shift: shift(o, n), Old: part(o), New: part(n)}
	switch {
	case o.Type != n.Type || o.MinBits != n.MinBits || row.Old.Size != row.New.Size:
		row.Change = ChangeRetyped
	case o.Path != n.Path:
		row.Change = ChangeRenamed
	case row.Shift != "":
		row.Change = ChangeMoved
	}
	return row
}

// renamed joins removed and added rows between the same neighbors that differ in their names only.
func renamed(rows []ComparedRow, olds, news []LayoutRow, partner []int) []ComparedRow {
	byOld, byNew := map[string]*LayoutRow{}, map[string]*LayoutRow{}
	id := func(p *ComparedPart) string { return p.Path + "\n" + p.Role + "\n" + p.Offset + "\n" + p.Note }
	for i := range olds {
		byOld[id(part(&olds[i]))] = &olds[i]
	}
	for i := range news {
		if partner[i] < 0 {
			byNew[id(part(&news[i]))] = &news[i]
		}
	}
	out := rows[:0:0]
	for from := 0; from < len(rows); {
		to := from
		for to < len(rows) && (rows[to].Change == ChangeAdded || rows[to].Change == ChangeRemoved) {
			to++
		}
		if to == from {
			out = append(out, rows[from])
			from++
			continue
		}
		hole := rows[from:to]
		used, next := make([]bool, len(hole)), 0
		for i := range hole {
			if hole[i].Change != ChangeRemoved {
				continue
			}
			o := hole[i].Old
			k := slices.IndexFunc(hole[next:], func(r ComparedRow) bool {
				return r.Change == ChangeAdded && r.New.Type == o.Type && r.New.Role == o.Role && r.New.Depth == o.Depth && r.New.Bits == o.Bits
			})
			if k < 0 {
				continue
			}
			k += next
			if a, b := byOld[id(o)], byNew[id(hole[k].New)]; a != nil && b != nil {
				hole[k], used[i], next = pair(a, b), true, k+1
			}
		}
		for i := range hole {
			if !used[i] {
				out = append(out, hole[i])
			}
		}
		from = to
	}
	return out
}

// shift says how far a row has moved, "" if it has not.
func shift(o, n *LayoutRow) string {
	bits := n.AtBits - o.AtBits
	had, has := behind(o.After), behind(n.After)
	var b strings.Builder
	if bits != 0 {
		b.WriteString(signed(bits))
	}
	term := func(sign string, list, without []string) {
		for _, name := range list {
			if i := slices.Index(without, name); i >= 0 {
				without = slices.Delete(slices.Clone(without), i, i+1)
				continue
			}
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(sign + name)
		}
	}
	term("+ ", has, had)
	term("- ", had, has)
	if o.InElement != n.InElement || o.InPacked != n.InPacked || o.Placed != n.Placed {
		return strings.TrimSpace("from " + o.Offset)
	}
	return b.String()
}

// behind returns the parts of variable size before an offset.
func behind(after string) []string {
	if after == "" {
		return nil
	}
	return strings.Split(strings.TrimPrefix(after, " + "), " + ")
}

// signed formats a number of bits in bytes, with its sign.
func signed(bits int64) string {
	if bits%8 == 0 {
		return fmt.Sprintf("%+d", bits/8)
	}
	return fmt.Sprintf("%+d bits", bits)
}

// ComparePrograms compares the layouts of two programs.
func ComparePrograms(before, after *codec.Program) Compared {
	return Compare(Layout(before), Layout(after))
}
