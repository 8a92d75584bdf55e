package logs

import (
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec/pcap"
	"wirebench/codec/scan"
)

// The table of an export, separated by commas or tabs. Only the columns of frames are read; those of fields are skipped.

var (
	ownColumns  = []string{"n", "time", "conn", "dir", "kind", "code", "message", "status", "len", "hex"}
	toldColumns = []string{"flags", "via", "note", "marked", "remark"} // the last columns; older tables do not have them
)

// ownTable reads the rows of an exported table.
type ownTable struct {
	rows *csv.Reader
	tail bool // the table ends with toldColumns
}

func newOwnTable(in *scan.Input) *ownTable {
	t := &ownTable{rows: csv.NewReader(io.LimitReader(in, maxLogWhole))}
	if ownComma(in.Peek(Head)) == '\t' {
		t.rows.Comma = '\t'
	}
	t.rows.ReuseRecord, t.rows.FieldsPerRecord = true, -1
	return t
}

// next returns the next row after the header, and its cells of toldColumns, if it has them.
func (t *ownTable) next() (cells, told []string, err error) {
	for t.rows.InputOffset() == 0 {
		if cells, err = t.rows.Read(); err != nil {
			return nil, nil, err
		}
		n := len(cells) - len(toldColumns)
		t.tail = n >= len(ownColumns) && slices.Equal(cells[n:], toldColumns)
	}
	if cells, err = t.rows.Read(); err == nil && len(cells) < len(ownColumns) {
		err = errors.New("missing cells")
	}
	if n := len(cells) - len(toldColumns); err == nil && t.tail && n >= len(ownColumns) {
		told = cells[n:]
	}
	return cells, told, err
}

// plainCell returns a cell without the apostrophe that prevents spreadsheets from reading it as a formula.
func plainCell(cell string) string {
	if rest, ok := strings.CutPrefix(cell, "'"); ok && rest != "" && strings.ContainsRune("=+-@\t\r", rune(rest[0])) {
		return rest
	}
	return cell
}

// listCell splits a cell of comma-separated values.
func listCell(cell string) []string {
	if cell == "" {
		return nil
	}
	return strings.Split(plainCell(cell), ",")
}

// tableTold reads the marks and notes of a table.
func tableTold(in *scan.Input) (out pcap.CaptureTold) {
	t := newOwnTable(in)
	for n := uint64(1); ; n++ {
		_, told, err := t.next()
		if err != nil {
			return out
		}
		if told != nil && (told[3] != "" || told[4] != "") && len(out.Frames) < pcap.MaxToldFrames {
			out.Frames = append(out.Frames, pcap.FrameTold{N: n, Mark: told[3] != "", Note: plainCell(told[4])})
		}
	}
}

func sniffOwnTable(head []byte, _ bool) bool { return ownComma(head) != 0 }

// ownComma returns the separator of an exported table; 0 for other files.
func ownComma(head []byte) rune {
	for _, c := range []string{",", "\t"} {
		if bytes.HasPrefix(scan.StartsLikeText(head), []byte(strings.Join(ownColumns, c))) {
			return rune(c[0])
		}
	}
	return 0
}

func readOwnTable(l *reading) {
	t := newOwnTable(l.in)
	ids := map[string]int64{}
	for l.more {
		cells, told, err := t.next()
		if errors.Is(err, io.EOF) {
			if t.rows.InputOffset() >= maxLogWhole {
				l.tornAt(t.rows.InputOffset(), "only the first "+strconv.Itoa(maxLogWhole>>20)+" MiB of a table are read")
			} else {
				l.ended()
			}
			return
		}
		l.record()
		var x ownFrame
		var data []byte
		if err == nil {
			x = ownFrame{Time: cells[1], Dir: cells[3], Kind: cells[4], Message: plainCell(cells[6])}
			if told != nil {
				x.Flags, x.Via, x.Note = listCell(told[0]), listCell(told[1]), plainCell(told[2])
			}
			session := ""
			x.Conn, session, _ = strings.Cut(cells[2], "#")
			x.Session, _ = strconv.Atoi(session)
			if code, e := strconv.ParseUint(cells[5], 10, 32); e == nil {
				c := uint32(code)
				x.Code = &c
			}
			data, err = hex.DecodeString(cells[9])
		}
		if err != nil {
			l.tornAt(t.rows.InputOffset(), "not a frame record")
			return
		}
		l.own(&x, data, ids)
	}
}
