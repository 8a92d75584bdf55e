package frames

import (
	"strconv"
	"strings"

	"wirebench/codec"
	"wirebench/codec/corpus"
	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// CellMaker formats the values of selected fields of frames. It is for one goroutine.
//
// Fields are named as in filters: C_CHAT.2.message, C_CHAT.message, *.message at the top of any message, or .message at any depth.
type CellMaker struct {
	paths []string
	of    map[*schema.Message]*corpus.Cells
}

func NewCellMaker(paths []string) *CellMaker {
	return &CellMaker{paths: paths, of: map[*schema.Message]*corpus.Cells{}}
}

// Cells returns the texts for the frame that m has decoded last, nil if there are no columns.
func (c *CellMaker) Cells(m *RowMaker) []string {
	if len(c.paths) == 0 {
		return nil
	}
	rec := m.Shown()
	if rec == nil {
		return make([]string, len(c.paths))
	}
	msg := rec.Program.Message
	of, ok := c.of[msg]
	if !ok {
		below := make([]string, len(c.paths))
		for i, path := range c.paths {
			below[i] = BelowMessage(path, msg)
		}
		of = corpus.NewCells(rec.Program, below)
		c.of[msg] = of
	}
	return of.Append(nil, rec)
}

// BelowMessage removes the name of msg, or a pattern that it matches, from a path as corpus.NewCells takes it. For a path of another message
// it returns one that no field has.
func BelowMessage(path string, msg *schema.Message) string {
	head, rest, _ := strings.Cut(path, ".")
	switch {
	case head == "":
		return path
	case filter.NameMatches(head, msg.Name):
		if version, after, ok := strings.Cut(rest, "."); ok && version != "" && strings.Trim(version, "0123456789") == "" {
			if version != strconv.Itoa(msg.Version) {
				return ""
			}
			return after
		}
		return rest
	case head == msg.Key.Group:
		return strings.TrimPrefix(rest, msg.Name+".")
	}
	return ""
}

// frameProgram returns the program of the definition of a frame, nil if it has none.
func frameProgram(snap *workspace.Snapshot, f *transport.Frame) *codec.Program {
	msg := snap.FrameMessage(f)
	if msg == nil {
		return nil
	}
	p, err := snap.Program(msg)
	if err != nil {
		return nil
	}
	return p
}
