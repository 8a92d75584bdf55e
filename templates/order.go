package templates

import (
	"slices"

	"wirebench/codec/view"
)

// writtenOrder returns the rows of a layout in the order of the definition's lines, each with its nested rows. A row without a line stays
// after its predecessor.
func writtenOrder(rows []view.LayoutRow) []view.LayoutRow {
	if len(rows) == 0 {
		return rows
	}
	type branch struct {
		line int
		rows []view.LayoutRow
	}
	depth := rows[0].Depth
	var branches []branch
	for _, r := range rows {
		if r.Depth <= depth || len(branches) == 0 {
			line := r.Line
			if line == 0 && len(branches) > 0 {
				line = branches[len(branches)-1].line
			}
			branches = append(branches, branch{line, []view.LayoutRow{r}})
			continue
		}
		last := &branches[len(branches)-1]
		last.rows = append(last.rows, r)
	}
	slices.SortStableFunc(branches, func(a, b branch) int { return a.line - b.line })
	out := make([]view.LayoutRow, 0, len(rows))
	for _, b := range branches {
		out = append(out, b.rows[0])
		out = append(out, writtenOrder(b.rows[1:])...)
	}
	return out
}

// reordered reports whether the order of the fields in the definition differs from the wire order.
func reordered(rows []view.LayoutRow) bool {
	for i, r := range writtenOrder(rows) {
		if o := rows[i]; o.Path != r.Path || o.Role != r.Role {
			return true
		}
	}
	return false
}
