package capture

import (
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"strings"
)

// The table that an export writes, with commas or tabs. It has no more of a frame than its columns; those of fields are passed over.

var ownColumns = []string{"n", "time", "conn", "dir", "kind", "code", "message", "status", "len", "hex"}

func sniffOwnTable(head []byte, _ bool) bool { return ownComma(head) != 0 }

// ownComma is what parts the cells of such a table; 0 of others.
func ownComma(head []byte) rune {
	for _, c := range []string{",", "\t"} {
		if bytes.HasPrefix(startsLikeText(head), []byte(strings.Join(ownColumns, c))) {
			return rune(c[0])
		}
	}
	return 0
}

func readOwnTable(l *logReading) {
	rows := csv.NewReader(io.LimitReader(l.in, maxLogWhole))
	if ownComma(l.in.peek(LogHead)) == '\t' {
		rows.Comma = '\t'
	}
	rows.ReuseRecord, rows.FieldsPerRecord = true, -1
	ids := map[string]int64{}
	for first := true; l.more; first = false {
		cells, err := rows.Read()
		if errors.Is(err, io.EOF) {
			if rows.InputOffset() >= maxLogWhole {
				l.tornAt(rows.InputOffset(), "a table is read up to "+strconv.Itoa(maxLogWhole>>20)+" MiB")
			} else {
				l.ended()
			}
			return
		}
		if first {
			continue
		}
		l.record()
		var x ownFrame
		var data []byte
		if err == nil && len(cells) < len(ownColumns) {
			err = errors.New("cells are missing")
		}
		if err == nil {
			x = ownFrame{Time: cells[1], Dir: cells[3], Kind: cells[4], Message: strings.TrimPrefix(cells[6], "'")}
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
			l.tornAt(rows.InputOffset(), "this row is none of a frame")
			return
		}
		l.own(&x, data, ids)
	}
}
