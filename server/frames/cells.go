package frames

import (
	"fmt"
	"strings"

	"wirebench/codec"
	"wirebench/codec/corpus"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// CellMaker writes the values of chosen fields of frames. It is for one goroutine.
//
// A field is written as in a filter: C_CHAT.2.message, C_CHAT.message, or .message for that of any message.
type CellMaker struct {
	snap  *workspace.Snapshot
	paths []string
	of    map[*schema.Message]*corpus.Cells
}

func NewCellMaker(snap *workspace.Snapshot, paths []string) *CellMaker {
	return &CellMaker{snap: snap, paths: paths, of: map[*schema.Message]*corpus.Cells{}}
}

// Cells are the texts for a frame that has been decoded by m, nil if no column was chosen.
func (c *CellMaker) Cells(m *RowMaker, f *transport.Frame) []string {
	if len(c.paths) == 0 {
		return nil
	}
	msg := c.snap.FrameMessage(f)
	if msg == nil || m.Rec == nil {
		return make([]string, len(c.paths))
	}
	of, ok := c.of[msg]
	if !ok {
		below := make([]string, len(c.paths))
		for i, path := range c.paths {
			below[i] = belowMessage(path, msg)
		}
		of = corpus.NewCells(m.Rec.Program, below)
		c.of[msg] = of
	}
	return of.Append(nil, m.Rec)
}

// belowMessage is a path without the name of a message; of another message it is one that no field has.
func belowMessage(path string, msg *schema.Message) string {
	if rest, ok := strings.CutPrefix(path, "."); ok {
		return rest
	}
	for _, name := range []string{fmt.Sprintf("%s.%d", msg.Name, msg.Version), msg.Name} {
		if rest, ok := strings.CutPrefix(path, name+"."); ok {
			return rest
		}
	}
	return ""
}

// program is that of a frame's definition, nil if it has none.
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
