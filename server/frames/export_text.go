package frames

import (
	"encoding/csv"
	"encoding/hex"
	"strconv"
	"strings"

	"wirebench/codec/transport"
	"wirebench/codec/value"
	"wirebench/server/live"
	"wirebench/server/workspace"
)

// jsonLines writes the same objects as the command line, with marks and notes.
type jsonLines struct {
	*Export
	conns *live.ConnReader
	read  *workspace.Reading
	write *workspace.FrameWriter
	line  []byte
}

func newJSONLines(x *Export) (exporter, error) {
	return &jsonLines{
		Export: x, conns: x.Log.ConnReader(), read: workspace.NewReading(x.Snapshot), write: workspace.NewFrameWriter(workspace.Want{Value: true}),
	}, nil
}

func (x *jsonLines) frame(n int, e live.Entry, f *transport.Frame) error {
	conn := x.conns.Of(e)
	said, _ := x.said(n)
	x.read.Take(f)
	x.line = x.write.Append(x.line[:0], x.read, workspace.Listed{
		ID: f.ID, Conn: conn.Name, Session: conn.Session, Marked: said.Mark, Remark: said.Note,
	})
	_, err := x.out.Write(x.line)
	return err
}

func (x *jsonLines) end() error { return nil }

// hexLines writes the bytes of messages. Frames selected by number are written whatever their kind.
type hexLines struct{ *Export }

func newHexLines(x *Export) (exporter, error) { return &hexLines{x}, nil }

func (x *hexLines) frame(_ int, _ live.Entry, f *transport.Frame) error {
	if len(f.Bytes) == 0 || f.Kind != transport.Message && x.Chosen == nil {
		return nil
	}
	if _, err := hex.NewEncoder(x.out).Write(f.Bytes); err != nil {
		return err
	}
	return x.out.WriteByte('\n')
}

func (x *hexLines) end() error { return nil }

// table writes a line for each frame. Cells are quoted where necessary (RFC 4180), also if tabs separate them.
//
// A cell that a spreadsheet would take for a formula, since it starts with = + - @, is prefixed with an apostrophe, as spreadsheets
// themselves mark texts; numbers are unchanged. Users who need exact values use jsonl.
type table struct {
	*Export
	conns *live.ConnReader
	cells *CellMaker
	rows  RowMaker
	csv   *csv.Writer
	line  []string
}

// toldColumns come last, after the chosen fields, because programs rely on the positions of the columns before. They are named as in jsonl.
// Multiple values are separated by commas: changes by a proxy, enclosing packets from the outermost, the note of the program, the mark, and
// the note of users.
var toldColumns = []string{"flags", "via", "note", "marked", "remark"}

func newTable(x *Export) (exporter, error) {
	if len(x.Listed) > 0 {
		return newListed(x)
	}
	t := &table{
		Export: x, conns: x.Log.ConnReader(), cells: NewCellMaker(x.Columns), rows: RowMaker{Snap: x.Snapshot},
		csv: csv.NewWriter(x.out),
	}
	if x.Format == "tsv" {
		t.csv.Comma = '\t'
	}
	head := []string{"n", "time", "conn", "dir", "kind", "code", "message", "status", "len", "hex"}
	for _, c := range x.Columns {
		head = append(head, harmless(c))
	}
	head = append(head, toldColumns...)
	if x.Values {
		head = append(head, "values")
	}
	return t, t.csv.Write(head)
}

func (t *table) frame(n int, e live.Entry, f *transport.Frame) error {
	conn := t.conns.Of(e)
	name, code, status := conn.Name, "", ""
	if name == "-" {
		name = "" // unknown addresses
	}
	if conn.Session > 0 {
		name += "#" + strconv.Itoa(conn.Session)
	}
	if f.HasKey {
		code = strconv.FormatUint(uint64(f.Key.Code), 10)
	}
	message := ""
	if m := t.rows.Decode(f); m != nil {
		message, status = t.Snapshot.NameOf(m), t.rows.Rec.Status().String()
	} else if f.Kind == transport.Message {
		status = "unknown"
	}
	t.line = append(
		t.line[:0], strconv.Itoa(n), workspace.TimeText(f.At), name, f.Dir.String(), f.Kind.String(), code, harmless(message), status, strconv.Itoa(len(f.Bytes)), hex.EncodeToString(f.Bytes),
	)
	for _, c := range t.cells.Cells(&t.rows) {
		t.line = append(t.line, harmless(c))
	}
	said, _ := t.said(n)
	marked := ""
	if said.Mark {
		marked = "true"
	}
	t.line = append(t.line, strings.Join(e.Flags.Names(), ","), harmless(strings.Join(f.Via, ",")), harmless(f.Note), marked, harmless(said.Note))
	if t.Values {
		text := ""
		if rec := t.rows.Shown(); rec != nil {
			text = string(value.AppendJSON(nil, rec))
		}
		t.line = append(t.line, text)
	}
	return t.csv.Write(t.line)
}

func (t *table) end() error {
	t.csv.Flush()
	return t.csv.Error()
}

// harmless returns a cell that no spreadsheet takes for a formula.
func harmless(cell string) string {
	if cell == "" || !strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return cell
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil && strings.Trim(cell, "+-0123456789.eE") == "" {
		return cell
	}
	return "'" + cell
}
