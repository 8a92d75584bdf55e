package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"wirebench/codec/corpus"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/frames"
	"wirebench/server/workspace"
)

// columnNames are the columns that every frame has, in the order of the help text.
var columnNames = []string{"n", "time", "t", "dir", "conn", "proto", "kind", "name", "code", "len", "status", "flags", "note", "info", "hex"}

// frameColumns prints frames as lines of values, separated by tabs.
type frameColumns struct {
	names []string
	paths []string // of fields, for each column; "" for one of columnNames
	cells map[*schema.Message]*corpus.Cells
	texts []string // of the fields of the last frame
	start time.Time
}

// parseColumns reads a list of columns: names, and fields as in filters.
func parseColumns(list string) (*frameColumns, error) {
	c := &frameColumns{names: strings.Split(list, ","), cells: map[*schema.Message]*corpus.Cells{}}
	c.paths = make([]string, len(c.names))
	for i, name := range c.names {
		name = strings.TrimSpace(name)
		c.names[i] = name
		switch {
		case slices.Contains(columnNames, name):
		case strings.Contains(name, "."): // .field or MESSAGE.field
			c.paths[i] = name
		default:
			return nil, fmt.Errorf("--columns: no column %q; the columns are %s, and fields: .name or MESSAGE.name", name, strings.Join(columnNames, ", "))
		}
	}
	return c, nil
}

func (c *frameColumns) appendHead(dst []byte) []byte {
	return append(append(dst, strings.Join(c.names, "\t")...), '\n')
}

// appendLine appends the values of a frame.
func (c *frameColumns) appendLine(dst []byte, f *frameLister, x *transport.Frame, in workspace.Listed) []byte {
	c.texts = c.texts[:0]
	rec := f.reading.Shown()
	if rec != nil {
		m := rec.Program.Message
		of, ok := c.cells[m]
		if !ok {
			below := make([]string, len(c.paths))
			for i, path := range c.paths {
				below[i] = frames.BelowMessage(path, m)
			}
			of = corpus.NewCells(rec.Program, below)
			c.cells[m] = of
		}
		c.texts = of.Append(c.texts, rec)
	}
	for i, name := range c.names {
		if i > 0 {
			dst = append(dst, '\t')
		}
		if c.paths[i] != "" {
			if rec != nil {
				dst = appendPrintable(dst, c.texts[i])
			}
			continue
		}
		switch name {
		case "n":
			dst = strconv.AppendUint(dst, uint64(x.N), 10)
		case "time":
			if !x.At.IsZero() {
				dst = f.write.AppendTime(dst, x.At)
			}
		case "t":
			if !x.At.IsZero() {
				dst = strconv.AppendFloat(dst, x.At.Sub(c.start).Seconds(), 'f', 6, 64)
			}
		case "dir":
			dst = append(dst, x.Dir.String()...)
		case "conn":
			dst = appendPrintable(dst, in.Conn)
		case "proto":
			dst = append(dst, x.Conn.Proto.String()...)
		case "kind":
			dst = append(dst, x.Kind.String()...)
		case "name":
			dst = appendPrintable(dst, f.reading.Name())
		case "code":
			if x.HasKey {
				dst = strconv.AppendUint(dst, uint64(x.Key.Code), 10)
			}
		case "len":
			dst = strconv.AppendInt(dst, int64(len(x.Bytes)), 10)
		case "status":
			dst = append(dst, f.status(x)...)
		case "flags":
			dst = append(dst, strings.Join(x.Marks.Flags(), ",")...)
		case "note":
			dst = appendPrintable(dst, x.Note)
		case "info":
			from := len(dst)
			dst = f.printableFrom(frames.AppendInfo(dst, x, f.reading.Record()), from)
		case "hex":
			dst = hex.AppendEncode(dst, x.Bytes)
		}
	}
	return append(dst, '\n')
}

// printableFrom makes a text printable from a position on.
func (f *frameLister) printableFrom(text []byte, from int) []byte {
	if isPlain(text[from:]) {
		return text
	}
	f.info = append(f.info[:0], text[from:]...)
	return appendPrintable(text[:from], f.info)
}

// isPlain reports whether a text consists of printable ASCII characters.
func isPlain(text []byte) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	odd := uint64(0) // looked at once, as nearly all texts are plain
	for ; len(text) >= 8; text = text[8:] {
		w := binary.LittleEndian.Uint64(text)
		odd |= w | (w - 0x20*ones) | (w + ones)
	}
	for _, c := range text {
		w := uint64(c)
		odd |= w | (w - 0x20) | (w + 1)
	}
	return odd&tops == 0
}

// appendPrintable appends a text as printable returns it.
func appendPrintable[T string | []byte](dst []byte, text T) []byte {
	for start, i := 0, 0; ; {
		for i < len(text) && text[i]-0x20 < 0x7F-0x20 {
			i++
		}
		if dst = append(dst, text[start:i]...); i == len(text) {
			return dst
		}
		r, n := utf8.DecodeRuneInString(string(text[i:min(len(text), i+utf8.UTFMax)]))
		if r < 0x20 || r >= 0x7F && r < 0xA0 {
			r = '·'
		}
		dst = utf8.AppendRune(dst, r)
		i += n
		start = i
	}
}
