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

// The table that an export writes, with commas or tabs. It has no more of a frame than its columns; those of fields are passed over.

var (
	ownColumns  = []string{"n", "time", "conn", "dir", "kind", "code", "message", "status", "len", "hex"}
	toldColumns = []string{"flags", "via", "note", "marked", "remark"} // at the end; older tables have none
)

// ownTable reads the rows of such a table.
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

// next is the next row behind the head, and its cells of toldColumns, if it has them.
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

// plainCell is a cell without the apostrophe that keeps spreadsheets from taking it for a formula.
func plainCell(cell string) string {
	if rest, ok := strings.CutPrefix(cell, "'"); ok && rest != "" && strings.ContainsRune("=+-@\t\r", rune(rest[0])) {
		return rest
	}
	return cell
}

// listCell are the values of a cell, which stand with a comma between.
func listCell(cell string) []string {
	if cell == "" {
		return nil
	}
	return strings.Split(plainCell(cell), ",")
}

// tableTold is what a table tells of what people said.
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

// ownComma is what parts the cells of such a table; 0 of others.
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
				l.tornAt(t.rows.InputOffset(), "a table is read up to "+strconv.Itoa(maxLogWhole>>20)+" MiB")
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
