package frames

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"wirebench/codec"
	"wirebench/codec/bytediff"
	"wirebench/codec/corpus"
	"wirebench/codec/transport"
	"wirebench/server/live"
)

// Bounds of a table of fields.
const (
	maxTableFrames  = 1 << 20 // frames included in the statistics
	maxTableSorted  = 1 << 18
	maxTableColumns = 256
	maxByteColumns  = 96
	maxTableRows    = 500
)

// TableQuery selects rows of the table of a type.
type TableQuery struct {
	Type  string `json:"type"` // filter for the frames of a type, as in rows
	From  int    `json:"from"`
	Count int    `json:"count"`
	Sort  string `json:"sort"` // path of a column; "" sorts by number
	Desc  bool   `json:"desc"`

	Groups []string `json:"groups,omitempty"` // for frames without a definition: bytes read as one value, 4:u16le
}

// DiffQuery selects two frames to compare, by number.
type DiffQuery struct {
	A int `json:"a"`
	B int `json:"b"`
}

// Table is the table of the fields of a type: statistics of each field, and the values of some frames.
type Table struct {
	Type    string        `json:"type" doc:"the filter of the request"`
	Total   int           `json:"total" doc:"frames of the type"`
	Done    bool          `json:"done" doc:"the capture has been read completely"`
	Bad     int           `json:"bad" doc:"frames that do not conform to the definition"`
	Columns []tableColumn `json:"columns" doc:"fields, or bytes without a definition"`
	Rows    []tableRow    `json:"rows"`
	Note    string        `json:"note,omitempty" doc:"reason why frames or bytes are missing"`
}

// tableColumn is a field of the frames of a type, or one byte of those without a definition.
type tableColumn struct {
	Path     string     `json:"path"`
	Filter   string     `json:"filter" doc:"name in filters"`
	Type     string     `json:"type" doc:"as in the definition; hex for a byte, and for a group of bytes the name of its type"`
	Distinct int        `json:"distinct" doc:"different values"`
	More     bool       `json:"more,omitempty" doc:"there are more distinct values than counted"`
	Min      string     `json:"min"`
	Max      string     `json:"max"`
	Constant bool       `json:"constant,omitempty"`
	Rising   bool       `json:"rising,omitempty"`
	Trend    string     `json:"trend,omitempty" doc:"change of the value from frame to frame"`
	Entropy  float64    `json:"entropy" doc:"bits"`
	Top      []tableTop `json:"top" ts:"[text: string, count: number, literal: string][]" doc:"the most frequent values, each as [text, count, filter literal]"`
	Present  uint64     `json:"present" doc:"frames that contain the field"`
	Guess    string     `json:"guess,omitempty" doc:"for bytes without a definition: a field that may begin here, and the reason"`
	As       string     `json:"as,omitempty" doc:"for a guess: the group of bytes that shows it, without its offset"`
}

// tableTop is a value, its count and its literal in filters, "" if it has none: ["Lann", 40, "\"Lann\""].
type tableTop [3]any

type tableRow struct {
	N     int      `json:"n"`
	T     int64    `json:"t"`
	Cells []string `json:"cells"`
}

// fieldTable is the table of a type, computed once for a list.
type fieldTable struct {
	kind    string
	fit     int // number of frames in the list when it was computed
	frames  []int
	columns []tableColumn
	program *codec.Program // nil for a table of bytes
	asked   []string       // groups of bytes as requested
	groups  []*byteGroup
	bad     int
	note    string

	sort  string
	desc  bool
	order []int // indexes of frames
}

// tables caches the last table that a page has requested.
type tables struct {
	mu   sync.Mutex
	last *fieldTable
}

// Table returns rows of the table of a type.
func (l *List) Table(ctx context.Context, a TableQuery) (*Table, error) {
	l.tables.mu.Lock()
	defer l.tables.mu.Unlock()
	fit, _ := l.View.State()
	t := l.tables.last
	if t == nil || t.kind != a.Type || !slices.Equal(t.asked, a.Groups) || t.fit != fit || t.frames[0] < l.log.Base() {
		var err error
		if t, err = l.makeTable(ctx, a.Type, a.Groups); err != nil {
			return nil, err
		}
		t.fit = fit
		l.tables.last = t
	}
	if err := l.sortTable(ctx, t, a.Sort, a.Desc); err != nil {
		return nil, err
	}
	out := &Table{Type: a.Type, Total: len(t.frames), Done: l.Source.Complete(), Bad: t.bad, Columns: t.columns, Rows: []tableRow{}, Note: t.note}
	from := min(max(a.From, 0), len(t.order))
	cells := l.tableCells(t, t.columns)
	for _, k := range t.order[from:min(from+min(max(a.Count, 0), maxTableRows), len(t.order))] {
		i := t.frames[k]
		row := tableRow{N: i + 1, Cells: make([]string, len(t.columns))}
		if e, data, ok := l.log.Get(i); ok {
			row.T, row.Cells = e.At/1000, cells(data)
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// tableType holds the properties common to the frames of a type.
type tableType struct {
	program *codec.Program
	fit     bool // all of them match, because the filter is RowMaker.TypeOf of the type and matches its first frame
	not     bool // none of them matches
}

// makeTable collects the matching frames of the list, and computes their statistics.
func (l *List) makeTable(ctx context.Context, kind string, groups []string) (*fieldTable, error) {
	parsed, err := parseGroups(groups)
	if err != nil {
		return nil, err
	}
	f, mistakes := l.snap.Filter(kind)
	if len(mistakes) > 0 {
		return nil, fmt.Errorf("the type is not a valid filter: %s", mistakes[0].Message)
	}
	f.Until(ctx)
	t := &fieldTable{kind: kind, asked: groups, groups: parsed}
	log, conns := l.log, l.log.ConnReader()
	types := newByType[tableType](log, l.snap)
	var frame transport.Frame
	var fields *columnFeed
	var plain corpus.Bytes
	err = l.eachOf(ctx, func(i int, e live.Entry, block []byte) bool {
		data := entryData(e, block)
		known := types.of(e, data)
		if known == nil || !known.not && !known.fit {
			log.Frame(i, e, data, &frame)
		}
		if known == nil {
			msg := l.snap.FrameMessage(&frame)
			known = &tableType{program: frameProgram(l.snap, &frame), not: !f.CanMatch(msg)}
			if m := (RowMaker{Snap: l.snap}); !known.not && m.TypeOf(msg, &frame) == kind {
				known.fit = f.Fits(l.View.where(i, e, conns.Of(e)), &frame)
			}
			types.put(e, data, known)
		}
		switch {
		case known.not, len(t.frames) > 0 && known.program != t.program: // another message that matches the same filter
			return true
		case !known.fit && !f.Fits(l.View.where(i, e, conns.Of(e)), &frame):
			return true
		}
		if len(t.frames) == 0 && known.program != nil {
			t.program = known.program
			fields = newColumnFeed(t.program)
		}
		t.frames = append(t.frames, i)
		if fields != nil {
			fields.add(i, e, block)
		} else {
			plain.Add(uint64(i+1), data)
			addGroups(t.groups, i, e, block)
		}
		if len(t.frames) == maxTableFrames {
			t.note = fmt.Sprintf("only the first %d frames", maxTableFrames)
			return false
		}
		return true
	})
	switch {
	case err != nil:
		return nil, err
	case len(t.frames) == 0:
		return nil, errNothing
	case t.program == nil:
		t.byteColumns(&plain)
		return t, nil
	}
	fields.flush()
	incomplete, illegal := fields.table.Bad()
	t.bad = int(incomplete + illegal)
	for _, c := range fields.table.Columns() {
		if len(t.columns) == maxTableColumns {
			break
		}
		col := newTableColumn(c.Path, "*."+c.Filter, c.Type, &c.Figures, c.Frames)
		if c.Len {
			if inner, ok := strings.CutPrefix(c.Filter, "len("); ok {
				col.Filter = "len(*." + inner
			}
		}
		t.columns = append(t.columns, col)
	}
	return t, nil
}

func newTableColumn(path, filter, typ string, f *corpus.Figures, present uint64) tableColumn {
	c := tableColumn{
		Path: path, Filter: filter, Type: typ, Distinct: f.Distinct, More: f.More, Min: f.Min.Text, Max: f.Max.Text, Constant: f.Constant,
		Trend: f.Trend.String(), Rising: f.Trend == corpus.Rising || f.Trend == corpus.StrictlyRising, Entropy: f.Entropy, Top: []tableTop{}, Present: present,
	}
	for _, top := range f.Top {
		c.Top = append(c.Top, tableTop{top.Text, top.N, top.Literal})
	}
	return c
}

// byteColumns makes a column for each byte, with guesses of the fields.
func (t *fieldTable) byteColumns(b *corpus.Bytes) {
	guesses, as := map[int][]string{}, map[int]string{}
	for _, g := range b.Guesses() {
		guesses[g.Offset] = append(guesses[g.Offset], fmt.Sprintf("%s %s? %s", g.Type, g.Name, g.Why))
		as[g.Offset] = cmp.Or(as[g.Offset], guessedGroup(g))
	}
	groups := t.groups
	for _, c := range b.Columns() {
		if c.Offset >= maxByteColumns {
			t.note = fmt.Sprintf("only the first %d bytes", maxByteColumns)
			break
		}
		for len(groups) > 0 && c.Offset >= groups[0].end {
			groups = groups[1:]
		}
		if len(groups) > 0 && c.Offset >= groups[0].at {
			if c.Offset == groups[0].at {
				t.columns = append(t.columns, groups[0].column())
			}
			continue
		}
		col := newTableColumn(bytePath(c.Offset), fmt.Sprintf("bytes[%d:1]", c.Offset), "hex", &c.Figures, c.Frames)
		col.Guess, col.As = strings.Join(guesses[c.Offset], "; "), as[c.Offset]
		t.columns = append(t.columns, col)
	}
}

// tableCells returns a function that formats the cells of a message.
func (l *List) tableCells(t *fieldTable, columns []tableColumn) func(data []byte) []string {
	if t.program == nil {
		grouped := map[string]func(data []byte) string{}
		for _, g := range t.groups {
			grouped[bytePath(g.at)] = g.cell()
		}
		return func(data []byte) []string {
			out := make([]string, len(columns))
			for i, c := range columns {
				if cell := grouped[c.Path]; cell != nil {
					out[i] = cell(data)
				} else if at, err := strconv.ParseUint(strings.TrimPrefix(c.Path, "0x"), 16, 32); err == nil && int(at) < len(data) {
					out[i] = hex.EncodeToString(data[at : at+1])
				}
			}
			return out
		}
	}
	paths := make([]string, len(columns))
	for i, c := range columns {
		paths[i] = c.Path
	}
	cells, rec := corpus.NewCells(t.program, paths), codec.Record{}
	return func(data []byte) []string {
		t.program.Decode(&rec, data)
		return cells.Append(nil, &rec)
	}
}

// sortTable sorts the rows by a column, numbers by value.
func (l *List) sortTable(ctx context.Context, t *fieldTable, by string, desc bool) error {
	if t.order != nil && t.sort == by && t.desc == desc {
		return nil
	}
	order := make([]int, len(t.frames))
	for i := range order {
		order[i] = i
	}
	k := slices.IndexFunc(t.columns, func(c tableColumn) bool { return c.Path == by })
	switch {
	case by == "" || by == "n" || k < 0:
		if desc {
			slices.Reverse(order)
		}
	case len(t.frames) > maxTableSorted:
		return fmt.Errorf("%d frames are too many to sort; filter first", len(t.frames))
	default:
		cells := l.tableCells(t, t.columns[k:k+1])
		type key struct {
			number float64
			isNum  bool
			text   string
		}
		keys := make([]key, len(t.frames))
		for i, frame := range t.frames {
			if i%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if _, data, ok := l.log.Get(frame); ok {
				keys[i].text = cells(data)[0]
			}
			n, err := strconv.ParseFloat(keys[i].text, 64)
			keys[i].number, keys[i].isNum = n, err == nil
		}
		slices.SortStableFunc(order, func(x, y int) int {
			a, b := &keys[x], &keys[y]
			c := strings.Compare(a.text, b.text)
			switch {
			case a.isNum && b.isNum:
				c = cmp.Compare(a.number, b.number)
			case a.isNum:
				c = -1
			case b.isNum:
				c = 1
			}
			if desc {
				c = -c
			}
			return c
		})
	}
	t.order, t.sort, t.desc = order, by, desc
	return nil
}

// Diff compares the fields, or runs of bytes, of two frames.
type Diff struct {
	A    int       `json:"a"`
	B    int       `json:"b"`
	Type string    `json:"type"`
	Rows []diffRow `json:"rows"`
	Note string    `json:"note,omitempty"`
}

type diffRow struct {
	Path string `json:"path"`
	Type string `json:"type"`
	A    string `json:"a"`
	B    string `json:"b"`
	Same bool   `json:"same"`
	Only string `json:"only,omitempty" enum:"a,b" doc:"the field exists only in this frame"`
}

// maxDiffBytes is the number of bytes shown of a run.
const maxDiffBytes = 64

// Diff compares two frames: by field if they have the same definition, else by byte.
func (l *List) Diff(a DiffQuery) (*Diff, error) {
	log := l.log
	var frames [2]transport.Frame
	for i, n := range []int{a.A, a.B} {
		if n < 1 || n > log.Len() {
			return nil, missing("frame %d does not exist", n)
		}
		e, data, ok := log.Get(n - 1)
		if !ok {
			return nil, missing("frame %d is no longer in memory", n)
		}
		log.Frame(n-1, e, data, &frames[i])
	}
	out := &Diff{A: a.A, B: a.B}
	out.Rows, out.Type, out.Note = diffRows(frameProgram(l.snap, &frames[0]), frameProgram(l.snap, &frames[1]), frames[0].Bytes, frames[1].Bytes)
	return out, nil
}

// diffRows compares two messages: by field if they have the same program, else by byte. note says why not by field.
func diffRows(p, q *codec.Program, a, b []byte) (out []diffRow, name, note string) {
	out = []diffRow{}
	if p != nil && p == q {
		name = p.Message.Name
		var x, y codec.Record
		p.Decode(&x, a)
		p.Decode(&y, b)
		if rows, ok := corpus.Diff(&x, &y); ok {
			for _, r := range rows {
				row := diffRow{Path: r.Path, Type: r.Type, A: r.A, B: r.B, Same: r.Same}
				if r.Role != "value" {
					row.Path = strings.TrimSpace("[" + r.Path + " " + r.Role + "]")
				}
				switch {
				case !r.HasB:
					row.Only = "a"
				case !r.HasA:
					row.Only = "b"
				}
				out = append(out, row)
			}
			return out, name, ""
		}
		note = "too large to compare by field; compared by byte"
	} else {
		note = "different definitions; compared by byte"
	}
	for _, r := range bytediff.Of(a, b) {
		out = append(out, diffRow{
			Path: fmt.Sprintf("0x%04X, 0x%04X", r.A, r.B), Type: r.Kind.String(), Same: r.Kind == bytediff.Equal,
			A: bytesCell(a[r.A : r.A+r.ASize]), B: bytesCell(b[r.B : r.B+r.BSize]),
		})
	}
	return out, name, note
}

// bytesCell formats bytes in hex; a long run is cut and followed by its length.
func bytesCell(b []byte) string {
	if len(b) <= maxDiffBytes {
		return fmt.Sprintf("% x", b)
	}
	return fmt.Sprintf("% x … %d bytes", b[:maxDiffBytes], len(b))
}
