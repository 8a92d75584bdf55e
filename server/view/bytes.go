package view

import "wirebench/server/workspace"

// What an analysis keeps in memory, in bytes. The numbers were measured; see TestCacheIsBounded.
const (
	perDraft = 16 << 10 // for an edited text: its snapshot
	perByte  = 2        // for each byte of an edited text
	perWrong = 25       // and for each byte of one with mistakes: its tree, and they
	perPart  = 1100     // for each row of a layout: in the tree and the program of an edited text
	perField = 3000     // for each field of a program without a layout, of which lists of texts need most
	perRow   = 450      // for each row of a layout
	perCell  = 190      // for each cell of a diagram
)

// Held returns about how many bytes the definition of the text keeps in memory; 0 for a stored one, which its library has.
func (t *Text) Held() int { return t.held(t.Def) }

func (t *Text) held(def *workspace.Definition) int {
	if def == nil || !def.Edited {
		return 0
	}
	n := perDraft + perByte*len(def.File.Text)
	if t.Layout != nil && def == t.Use {
		return n + perPart*(len(t.Layout.Rows)+t.Layout.More)
	}
	if n += perWrong * len(def.File.Text); def.Program != nil {
		n += perField * len(def.Program.Fields)
	}
	return n
}

// bytes returns about how many bytes the analysis keeps in memory; at least 1.
func (t *Text) bytes() int {
	n := 1 + t.held(t.Def) + perCell*len(t.Cells)
	if t.Use != t.Def {
		n += t.held(t.Use)
	}
	if t.Layout != nil {
		n += perRow * len(t.Layout.Rows)
	}
	return n
}
