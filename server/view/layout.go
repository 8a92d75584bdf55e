package view

import (
	"wirebench/codec"
	"wirebench/codec/view"
)

// LayoutRow is a row of a layout. What follows from the row before is missing.
type LayoutRow struct {
	Path    string `json:"path"`
	Role    string `json:"role,omitempty"` // "" for a value
	Type    string `json:"type,omitempty"`
	Family  string `json:"family,omitempty"`  // its color; "" for integers
	Depth   int    `json:"depth,omitempty"`   // number of lists around it
	Bits    int64  `json:"bits"`              // minimum size
	Most    int64  `json:"most,omitempty"`    // maximum size if it is another, -1 if unlimited
	Element bool   `json:"element,omitempty"` // the offset is in an element
	Packed  bool   `json:"packed,omitempty"`  // the offset is in decompressed contents
	After   string `json:"after,omitempty"`   // the variable parts before: " + name"
	Jump    int64  `json:"jump,omitempty"`    // bits between the end of the row before and the offset
	Skip    int    `json:"skip,omitempty"`    // lines between that of the previous row with a line and its own
	Unlined bool   `json:"unlined,omitempty"`
	Note    string `json:"note,omitempty"`
	Doc     string `json:"doc,omitempty"`

	Computed bool `json:"computed,omitempty"` // from other values: it has no bits and no offset
	Placed   bool `json:"placed,omitempty"`   // the offset is in contents at a computed position
}

// Cell is a cell of the diagram of a layout, or a caption above cells. What follows from its row and from the cell before is missing.
type Cell struct {
	Caption string        `json:"caption,omitempty"` // "" for one that a kind describes
	Width   int           `json:"width,omitempty"`   // columns; 0 for a caption
	Row     int           `json:"row,omitempty"`     // rows between the row after that of the previous cell and its own
	Bits    int           `json:"bits,omitempty"`    // number of rows that share these bytes
	Kind    view.CellKind `json:"kind,omitempty" enum:"more,cut,body,pointer,next,tag,list,packed,at,then"`
	Alt     bool          `json:"alt,omitempty"`  // the second tint of its family
	Path    string        `json:"path,omitempty"` // of an element that is drawn by itself
	Bit     int64         `json:"bit,omitempty"`  // and its place in its list
	Text    string        `json:"text,omitempty"`
}

// maxLayout bounds the rows of a layout for a page.
const maxLayout = 5000

// LayoutRows returns the rows of a layout for a page, without the last ones of a very long one.
func LayoutRows(list []view.LayoutRow) []LayoutRow {
	list = list[:min(len(list), maxLayout)]
	out, line := make([]LayoutRow, len(list)), 0
	ends := []int64{0} // by depth: where the next row begins if it follows the one before
	for i := range list {
		r := &list[i]
		for len(ends) <= r.Depth {
			ends = append(ends, 0)
		}
		ends = ends[:r.Depth+1]
		x := LayoutRow{
			Path: r.Path, Role: r.Role, Type: r.Type, Family: string(r.Family), Depth: r.Depth, Bits: r.MinBits,
			Element: r.InElement, Packed: r.InPacked, After: r.After, Jump: r.AtBits - ends[r.Depth], Unlined: r.Line <= 0, Note: r.Note, Doc: r.Doc, Computed: r.Computed(), Placed: r.Placed,
		}
		if x.Role == codec.RoleValue.String() {
			x.Role = ""
		}
		if x.Family == string(view.FamilyInt) {
			x.Family = ""
		}
		if r.MaxBits == nil {
			x.Most = -1
		} else if *r.MaxBits != r.MinBits {
			x.Most = *r.MaxBits
		}
		if !x.Unlined {
			x.Skip, line = r.Line-line-1, r.Line
		}
		out[i], ends[r.Depth] = x, r.AtBits+r.MinBits
	}
	return out
}

// Cells returns the cells of the diagram of a layout for a page.
func Cells(l *view.LayoutInfo) []Cell {
	cells := l.Cells()
	out, next := make([]Cell, 0, len(cells)), 0
	for _, c := range cells {
		x := Cell{Caption: c.Caption, Width: c.Width, Bits: len(c.Bits), Kind: c.Kind, Alt: c.Alt, Path: c.Path, Bit: c.Bit}
		switch {
		case c.Kind == view.CellCut, c.Kind == view.CellTag:
			x.Text = c.Top
		case c.Width == 0 && c.Kind != "":
			x.Caption, x.Text = "", c.Low
		}
		if c.Row >= maxLayout {
			break
		}
		if c.Row >= 0 {
			x.Row = c.Row - next
		}
		if c.Row >= 0 && c.Width > 0 {
			next = c.Row + max(len(c.Bits), 1)
		}
		out = append(out, x)
	}
	return out
}
