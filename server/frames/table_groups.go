package frames

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec"
	"wirebench/codec/corpus"
	"wirebench/defs/schema"
	"wirebench/server/live"
)

// Bounds of groups of bytes.
const (
	maxGroups    = 32
	maxGroupText = 64 // bytes of a text of fixed size
)

// groupTypes are the numbers as which bytes can be read. The names are those of functions in filters.
var groupTypes = map[string]schema.Number{
	"u8": {Bits: 8}, "i8": {Bits: 8, Kind: schema.Signed},
	"u16le": {Bits: 16}, "u16be": {Bits: 16, Order: schema.Big},
	"i16le": {Bits: 16, Kind: schema.Signed}, "i16be": {Bits: 16, Kind: schema.Signed, Order: schema.Big},
	"u32le": {Bits: 32}, "u32be": {Bits: 32, Order: schema.Big},
	"i32le": {Bits: 32, Kind: schema.Signed}, "i32be": {Bits: 32, Kind: schema.Signed, Order: schema.Big},
	"u64le": {Bits: 64}, "u64be": {Bits: 64, Order: schema.Big},
	"i64le": {Bits: 64, Kind: schema.Signed}, "i64be": {Bits: 64, Kind: schema.Signed, Order: schema.Big},
	"f32": {Bits: 32, Kind: schema.Float}, "f32be": {Bits: 32, Kind: schema.Float, Order: schema.Big},
	"f64": {Bits: 64, Kind: schema.Float}, "f64be": {Bits: 64, Kind: schema.Float, Order: schema.Big},
}

// byteGroup is a run of bytes, in messages without a definition, that a table shows as one value.
type byteGroup struct {
	at, end int // in bytes; a text up to a zero ends where the next group starts
	as      string
	filter  string
	program *codec.Program
	feed    *columnFeed
}

// parseGroups parses groups such as 4:u16le, 8:text and 8:utf16 (up to a zero), 8:text:16 and 8:utf16:16 (16 bytes).
func parseGroups(texts []string) ([]*byteGroup, error) {
	if len(texts) > maxGroups {
		return nil, fmt.Errorf("at most %d groups of bytes", maxGroups)
	}
	var out []*byteGroup
	for _, text := range texts {
		at, as, _ := strings.Cut(text, ":")
		n, err := strconv.Atoi(at)
		g := &byteGroup{at: n, as: as}
		if err != nil || n < 0 || n >= maxByteColumns {
			return nil, fmt.Errorf("group %q: the offset must be 0 to %d", text, maxByteColumns-1)
		}
		var of schema.Type
		if of, g.end = g.typeOf(); of == nil {
			return nil, fmt.Errorf("group %q: the type must be text, text:16 (bytes), utf16, utf16:16 or a number such as u16le", text)
		}
		m := &schema.Message{Name: "bytes", Body: &schema.Struct{}}
		if n > 0 {
			before := &schema.Field{Name: "before", Type: &schema.Blob{Extent: schema.Extent{N: n}}}
			m.Body.Fields, m.Body.Wire = append(m.Body.Fields, before), append(m.Body.Wire, schema.Item{Field: before})
		}
		value := &schema.Field{Name: "value", Type: of, TypeText: as}
		m.Body.Fields, m.Body.Wire = append(m.Body.Fields, value), append(m.Body.Wire, schema.Item{Field: value})
		if g.program, err = codec.Compile(m); err != nil {
			return nil, err
		}
		g.feed = newColumnFeed(g.program)
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b *byteGroup) int { return cmp.Compare(a.at, b.at) })
	for i, g := range out {
		next := maxByteColumns
		if i+1 < len(out) {
			next = out[i+1].at
		}
		if g.end == 0 {
			g.end = next
		}
		if i+1 < len(out) && (g.end > next || g.at == next) {
			return nil, fmt.Errorf("the groups at %d and %d overlap", g.at, next)
		}
	}
	return out, nil
}

// typeOf returns the type, and the end in bytes of a type of fixed size. It sets the expression for filters.
func (g *byteGroup) typeOf() (of schema.Type, end int) {
	if n, ok := groupTypes[g.as]; ok {
		size := n.Bits / 8
		g.filter = fmt.Sprintf("%s(bytes[%d:%d])", g.as, g.at, size)
		return &n, g.at + size
	}
	g.filter = fmt.Sprintf("bytes[%d:]", g.at)
	kind, size, fixed := strings.Cut(g.as, ":")
	text := &schema.Text{Charset: schema.UTF8, Extent: schema.Extent{Size: schema.Terminated}}
	switch kind {
	case "text":
	case "utf16":
		text.Charset = schema.UTF16LE
	default:
		return nil, 0
	}
	if !fixed {
		return text, 0
	}
	unit := text.Charset.Unit()
	n, err := strconv.Atoi(size)
	if err != nil || n < 1 || n > maxGroupText || n%unit != 0 {
		return nil, 0
	}
	text.Extent = schema.Extent{N: n / unit}
	g.filter = fmt.Sprintf("bytes[%d:%d]", g.at, n)
	return text, g.at + n
}

// column returns the column of the group, after all messages have been added.
func (g *byteGroup) column() tableColumn {
	g.feed.flush()
	for _, c := range g.feed.table.Columns() {
		if c.Path == "value" {
			col := newTableColumn(bytePath(g.at), g.filter, g.as, &c.Figures, c.Frames)
			if c.Text {
				for i := range col.Top {
					col.Top[i][2] = "" // it is a part of the bytes, and not equal to them
				}
			}
			return col
		}
	}
	return tableColumn{Path: bytePath(g.at), Filter: g.filter, Type: g.as, Top: []tableTop{}}
}

// cell returns a function that formats the value in a message.
func (g *byteGroup) cell() func(data []byte) string {
	cells, rec := corpus.NewCells(g.program, []string{"value"}), codec.Record{}
	return func(data []byte) string {
		g.program.Decode(&rec, data)
		return cells.Append(nil, &rec)[0]
	}
}

// guessedGroup returns the group of bytes that shows a guess.
func guessedGroup(g corpus.Guess) string {
	switch g.Type {
	case "u16", "u32":
		return g.Type + "le"
	case "ascii":
		return fmt.Sprintf("text:%d", min(g.Size, maxGroupText))
	case "utf16":
		return fmt.Sprintf("utf16:%d", min(g.Size, maxGroupText))
	}
	return g.Type
}

func bytePath(at int) string { return fmt.Sprintf("0x%02X", at) }

// addGroups adds a frame without a definition to the groups.
func addGroups(groups []*byteGroup, i int, e live.Entry, block []byte) {
	for _, g := range groups {
		g.feed.add(i, e, block)
	}
}
