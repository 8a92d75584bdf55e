package frames

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
	"wirebench/server/workspace"
)

// listed writes the columns that a list of frames shows, in its order.
type listed struct {
	*Export
	conns *live.ConnReader
	cells *CellMaker
	rows  RowMaker
	csv   *csv.Writer
	line  []string
	last  int64 // time of the row before, 0 before the first
}

// listedColumns are the fixed columns of a list, by their ids in the page.
var listedColumns = map[string]struct {
	head string
	cell func(x *listed, r *Row, f *transport.Frame) string
}{
	"n":    {"#", func(_ *listed, r *Row, _ *transport.Frame) string { return strconv.Itoa(r.N) }},
	"time": {"Time", func(_ *listed, _ *Row, f *transport.Frame) string { return workspace.TimeText(f.At) }},
	"delta": {"Since the previous row", func(_ *listed, r *Row, _ *transport.Frame) string {
		return strconv.FormatFloat((time.Duration(r.D) * time.Microsecond).Seconds(), 'f', 6, 64)
	}},
	"dir": {"Direction", func(_ *listed, r *Row, _ *transport.Frame) string { return r.Dir }},
	"code": {"Code", func(_ *listed, r *Row, _ *transport.Frame) string {
		if r.Code == nil {
			return ""
		}
		return fmt.Sprintf("0x%04X", *r.Code)
	}},
	"name": {"Name", func(_ *listed, r *Row, _ *transport.Frame) string { return r.Name }},
	"ver": {"Version", func(_ *listed, r *Row, _ *transport.Frame) string {
		if r.Ver == 0 {
			return ""
		}
		return strconv.Itoa(r.Ver)
	}},
	"len":   {"Length", func(_ *listed, r *Row, _ *transport.Frame) string { return strconv.Itoa(r.Len) }},
	"flags": {"Flags", (*listed).flagsOf},
	"info":  {"Info", (*listed).infoOf},
	"conn":  {"Connection", nil}, // of the entry, as are the next two; see frame
	"src":   {"Source", nil},
	"dst":   {"Destination", nil},
	"layers": {"Layers", func(_ *listed, r *Row, _ *transport.Frame) string {
		text := strings.Join(r.Via, " › ")
		for i, n := range r.From {
			if text += ", "; i == 0 {
				text = strings.TrimSuffix(text, ", ") + " of "
			}
			text += strconv.FormatUint(uint64(n), 10)
		}
		return strings.TrimSpace(text)
	}},
}

// flagsOf returns what the list shows as signs, in words.
func (x *listed) flagsOf(r *Row, _ *transport.Frame) string {
	var words []string
	if said, _ := x.said(r.N); said.Mark {
		words = append(words, "marked")
	}
	if r.Kind == transport.Problem.String() || r.isBroken() {
		words = append(words, "problem")
	}
	for _, c := range r.Flags {
		words = append(words, map[rune]string{'*': "injected", '~': "modified", 'X': "dropped"}[c])
	}
	return strings.Join(words, ",")
}

// isBroken reports whether a definition does not explain a row.
func (r *Row) isBroken() bool { return r.Status == "incomplete" || r.Status == "illegal" }

// infoOf returns the Info of the list: the note of a user, the verdict and the values.
func (x *listed) infoOf(r *Row, _ *transport.Frame) string {
	var parts []string
	if said, _ := x.said(r.N); said.Note != "" {
		parts = append(parts, said.Note)
	}
	if r.isBroken() {
		parts = append(parts, r.Status)
	}
	for _, part := range []string{r.Info, r.Note} {
		if part != "" && (len(parts) == 0 || parts[len(parts)-1] != part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " · ")
}

// IsListedColumn reports whether a list can have a column: a fixed one, or "=" and the path of a field.
func IsListedColumn(id string) bool {
	_, fixed := listedColumns[id]
	return fixed || strings.HasPrefix(id, "=") && len(id) > 1
}

func newListed(x *Export) (exporter, error) {
	var head, paths []string
	for _, id := range x.Listed {
		if path, isField := strings.CutPrefix(id, "="); isField {
			paths = append(paths, path)
			head = append(head, harmless(path))
		} else {
			head = append(head, listedColumns[id].head)
		}
	}
	l := &listed{Export: x, conns: x.Log.ConnReader(), cells: NewCellMaker(paths), rows: RowMaker{Snap: x.Snapshot}, csv: csv.NewWriter(x.out)}
	if x.Format == "tsv" {
		l.csv.Comma = '\t'
	}
	return l, l.csv.Write(head)
}

func (x *listed) frame(n int, e live.Entry, f *transport.Frame) error {
	r := x.rows.row(n-1, e, f)
	if x.last != 0 {
		r.D = r.T - x.last
	}
	x.last = r.T
	cells := x.cells.Cells(&x.rows)
	x.line = x.line[:0]
	for _, id := range x.Listed {
		cell := ""
		switch {
		case strings.HasPrefix(id, "="):
			cell, cells = cells[0], cells[1:]
		case id == "src", id == "dst":
			var ends [2]string
			ends[0], ends[1], _ = strings.Cut(x.conns.Of(e).Name, "-")
			side := 0
			if (e.Dir == schema.ToClient) == (id == "src") {
				side = 1
			}
			cell = ends[side]
		case id == "conn":
			conn := x.conns.Of(e)
			if cell = conn.Name; conn.Session > 0 {
				cell += "#" + strconv.Itoa(conn.Session)
			}
		default:
			cell = listedColumns[id].cell(x, &r, f)
		}
		x.line = append(x.line, harmless(cell))
	}
	return x.csv.Write(x.line)
}

func (x *listed) end() error {
	x.csv.Flush()
	return x.csv.Error()
}
