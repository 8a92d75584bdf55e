package view

// Compat is what a change of a definition means for messages of before, and for programs that know the earlier one.
type Compat string

// The kinds of changes.
const (
	CompatSame     Compat = "same"     // every field has the same bytes; names and comments may differ
	CompatExtended Compat = "extended" // only fields after all others, or in places of their own, are new
	CompatBroken   Compat = "broken"   // a field has other bytes, another type, or is gone
)

// Compat judges a comparison. For a broken layout, where is the first row that breaks it, otherwise for an extended one the first new row.
//
// A part that is found by its offset in the message may move: readers of before find it, too. Padding and constants count as fields.
func (c *Compared) Compat() (kind Compat, where *ComparedRow) {
	pointed := map[string]bool{} // paths of parts that are found by an offset, in both
	for i := range c.Rows {
		if r := &c.Rows[i]; r.Old != nil && r.New != nil && r.Old.Role == "offset" && r.New.Role == "offset" {
			pointed[r.New.Path] = true
		}
	}
	kind = CompatSame
	for i := range c.Rows {
		r := &c.Rows[i]
		switch {
		case r.Change == ChangeRemoved, r.Change == ChangeRetyped, r.Shift != "" && !pointed[r.New.Path]:
			return CompatBroken, r
		case r.Change == ChangeAdded && kind == CompatSame:
			kind, where = CompatExtended, r
		}
	}
	if c.More > 0 && kind == CompatSame { // rows that were not compared
		return CompatBroken, nil
	}
	return kind, where
}
