package frames

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/server/live"
	"wirebench/server/workspace"
)

// Queries of a list, and their results. "pos" is a position in the filtered and sorted list, from 0; "n" is the number of a frame in the
// capture, from 1. Times are microseconds since 1970.

// MissingError reports that a frame does not exist, or is no longer in memory.
type MissingError struct{ what string }

func (e *MissingError) Error() string { return e.what }

func missing(format string, args ...any) error { return &MissingError{fmt.Sprintf(format, args...)} }

// RowsQuery selects rows by position.
type RowsQuery struct {
	From  int `json:"from"`
	Count int `json:"count"`
}

// FindQuery searches for the next matching frame after a position, or the previous one before it.
type FindQuery struct {
	Text string `json:"text"`
	As   string `json:"as"` // "filter", "text", "regex", "hex" or "value"
	From int    `json:"from"`
	Back bool   `json:"back"`
	Fold bool   `json:"fold,omitempty"` // ignore case
}

// StepQuery searches for the next frame that has a property in common with frame N.
type StepQuery struct {
	N    int    `json:"n"`
	By   string `json:"by"` // "type", "conn", "mark", "note" or "problem"
	Back bool   `json:"back"`
}

// Rows are some rows of a list.
type Rows struct {
	Order int   `json:"order" doc:"increases with each change of the order of the list"`
	From  int   `json:"from" doc:"position of the first row"`
	Rows  []Row `json:"rows"`
}

// Rows returns rows of the list. They may be fewer than requested.
func (l *List) Rows(ctx context.Context, a RowsQuery) Rows {
	from := min(max(a.From, 0), math.MaxInt32)
	out := Rows{l.Turns, from, []Row{}}
	m := RowMaker{Snap: l.snap}
	cells := NewCellMaker(l.columns)
	var hit *workspace.FrameFilter
	if l.hit != nil {
		hit = l.hit.Again().Until(ctx)
	}
	colors := make([]colorRule, len(l.colors))
	for i, c := range l.colors {
		colors[i] = colorRule{c.fits.Again().Until(ctx), c.hue, c.text}
	}
	log, before := l.log, int64(0)
	if e, _, ok := log.Get(l.index(from - 1)); ok {
		before = e.At
	}
	conns, gone := log.ConnReader(), false
	var f transport.Frame
	for _, i := range l.listed(from, min(a.Count, maxRowsAtOnce)) {
		if ctx.Err() != nil {
			break
		}
		e, data, ok := log.Get(i)
		if !ok {
			gone = true
			out.Rows = append(out.Rows, Row{N: i + 1, T: before / 1000, Kind: "control", Type: "n == 0", Info: "no longer in memory; see the recording"})
			continue
		}
		log.Frame(i, e, data, &f)
		row := m.row(i, e, &f)
		if l.Order != nil { // the previous row is not the previous frame then
			before = l.timeBefore(i)
		}
		if before != 0 && e.At != 0 && !gone { // else the difference is unknown
			row.D = (e.At - before) / 1000
		}
		before, gone = e.At, false
		row.Cells = cells.Cells(&m)
		if hit != nil || len(colors) > 0 {
			where := l.View.where(i, e, conns.Of(e))
			row.Hit = hit != nil && hit.FitsReading(where, m.read)
			for _, c := range colors {
				if c.fits.FitsReading(where, m.read) {
					row.Hue = c.hue
					break
				}
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// Found is a place in the list.
type Found struct {
	Pos      int           `json:"pos" doc:"position in the list, from 0; -1 if there is none"`
	N        int           `json:"n" doc:"number of the frame, from 1; 0 if there is none"`
	Meant    int           `json:"meant,omitempty" doc:"for a frame named in another list: its number in this one, where it may be hidden"`
	At       *[2]int       `json:"at,omitempty" doc:"matching bytes of the frame, start and end; missing if the match is not in the bytes"`
	Mistakes []ViewMistake `json:"mistakes,omitempty"`
}

// Found returns the frame at a position.
func (l *List) Found(pos int) Found {
	if i := l.index(pos); i >= 0 {
		return Found{Pos: pos, N: i + 1}
	}
	return Found{Pos: -1}
}

// AsFilter converts the search to a filter.
func (a *FindQuery) AsFilter() string {
	text := a.Text
	if strings.TrimSpace(text) == "" {
		return ""
	}
	switch q := strconv.Quote(text); a.As {
	case "text": // its bytes are searched separately
		if a.Fold {
			q = strconv.Quote("(?i)" + regexp.QuoteMeta(text))
			return "info matches " + q + " || name matches " + q
		}
		return "info contains " + q + " || name contains " + q
	case "regex":
		return "info matches " + q + " || name matches " + q
	case "hex":
		return "bytes contains x" + q
	case "value":
		return "= " + text
	}
	return text
}

// Find searches for the next matching frame, wrapping around at the end of the list.
func (l *List) Find(ctx context.Context, a *FindQuery) (Found, error) {
	text := a.AsFilter()
	if text == "" {
		return Found{Pos: -1}, nil
	}
	f, mistakes := l.snap.Filter(text)
	if len(mistakes) > 0 {
		return Found{Pos: -1, Mistakes: a.mistakes(mistakesIn("find", 0, text, mistakes))}, nil
	}
	f.Until(ctx)
	var frame transport.Frame
	conns := l.log.ConnReader()
	seek, start, end := a.needle(), 0, 0
	pos, err := l.search(ctx, a.From, a.Back, func(i int, e live.Entry, data []byte) bool {
		if start, end = seek.in(ctx, data); a.As == "text" && start >= 0 {
			return true
		}
		l.log.Frame(i, e, data, &frame)
		return f.Fits(l.View.where(i, e, conns.Of(e)), &frame)
	})
	found := l.Found(pos)
	if found.Pos >= 0 && start < 0 {
		i := l.index(pos)
		if e, data, ok := l.log.Get(i); ok {
			l.log.Frame(i, e, data, &frame)
			start, end = a.hit(ctx, &RowMaker{Snap: l.snap}, f, &frame)
		}
	}
	if found.Pos >= 0 && start >= 0 {
		found.At = &[2]int{start, end}
	}
	return found, err
}

// search returns the next position in the list for which fits returns true, -1 if there is none. It wraps around at the end.
func (l *List) search(ctx context.Context, from int, back bool, fits func(i int, e live.Entry, data []byte) bool) (int, error) {
	fit := l.Fit()
	first, again := from+1, 0
	if back {
		first, again = from-1, fit-1
	}
	for _, start := range []int{first, again} {
		found := -1
		if start >= fit && back {
			start = fit - 1
		}
		err := l.each(ctx, start, back, func(pos, i int, e live.Entry, data []byte) bool {
			if fits(i, e, data) {
				found = pos
			}
			return found < 0
		})
		if err == nil && found < 0 {
			err = ctx.Err()
		}
		if found >= 0 || err != nil {
			return found, err
		}
	}
	return -1, nil
}

// Step searches for the next frame that has a property in common with another frame.
func (l *List) Step(ctx context.Context, a *StepQuery) (Found, error) {
	log := l.log
	if a.N < 1 || a.N > log.Len() {
		return Found{}, missing("frame %d does not exist", a.N)
	}
	at, _, ok := log.Get(a.N - 1)
	if !ok && a.By != "mark" && a.By != "note" && a.By != "problem" {
		return Found{}, missing("frame %d is no longer in memory", a.N)
	}
	group, name := log.Group(at), log.Name(at)
	notes := l.notes()
	pos := l.Position(a.N - 1)
	if !a.Back && l.index(pos) != a.N-1 {
		pos-- // the frame itself is not in the list
	}
	found, err := l.search(ctx, pos, a.Back, func(i int, e live.Entry, _ []byte) bool {
		switch a.By {
		case "conn":
			return e.Conn == at.Conn
		case "mark":
			return notes.marked[uint64(i+1)]
		case "note":
			return notes.Frames[uint64(i+1)] != ""
		case "problem":
			return e.Kind == transport.Problem
		}
		return e.Kind == at.Kind && e.HasKey == at.HasKey && e.Code == at.Code && e.Dir == at.Dir && log.Group(e) == group && log.Name(e) == name
	})
	return l.Found(found), err
}

// typeRow holds the statistics of the frames of a type.
type typeRow struct {
	Type    string  `json:"type" doc:"filter for the frames of the type"`
	Name    string  `json:"name,omitempty"`
	Known   string  `json:"known,omitempty" doc:"without a definition: the name of its code in the code map"`
	Ver     int     `json:"ver,omitempty"`
	Code    *uint32 `json:"code,omitempty"`
	Dir     string  `json:"dir,omitempty" ts:"'c2s' | 's2c' | ''"`
	Group   string  `json:"group,omitempty"`
	Kind    string  `json:"kind"`
	Count   int     `json:"count"`
	Bytes   int64   `json:"bytes"`
	Min     int     `json:"min"`
	Max     int     `json:"max"`
	First   int64   `json:"first" doc:"microseconds since 1970"`
	Last    int64   `json:"last"`
	Bad     int     `json:"bad" doc:"frames that do not conform to the definition"`
	Defined bool    `json:"defined"`
}

// Types lists the types of the frames of a list.
type Types struct {
	Total int        `json:"total" doc:"frames"`
	Rows  []*typeRow `json:"rows" doc:"most frequent types first"`

	Lengths []LengthRow `json:"lengths" doc:"the frames by their length; lengths without a frame are left out"`
}

// MaxTypes is the maximum number of types that are distinguished.
const MaxTypes = 20_000

// Types counts the frames of the list by their type.
func (l *List) Types(ctx context.Context) (*Types, error) {
	type known struct {
		*typeRow                // several types have one if only their headers differ
		program  *codec.Program // nil if there is none, or a broken one
	}
	type sameType struct {
		name, dir, kind, group string
		version                int
	}
	rows := map[sameType]*typeRow{}
	out := &Types{Rows: []*typeRow{}}
	all := newByType[known](l.log, l.snap)
	m := RowMaker{Snap: l.snap}
	var rec codec.Record
	var sizes lengths
	err := l.eachOf(ctx, func(i int, e live.Entry, block []byte) bool {
		sizes.add(e)
		data := entryData(e, block)
		t := all.of(e, data)
		if t == nil {
			t = &known{}
			if !all.put(e, data, t) {
				return true
			}
			var f transport.Frame
			l.log.Frame(i, e, data, &f)
			t.typeRow = &typeRow{Dir: f.Dir.String(), Group: f.Key.Group, Kind: f.Kind.String(), Min: len(data), First: e.At / 1000}
			if f.HasKey {
				code := f.Key.Code
				t.Code = &code
			}
			msg := l.snap.FrameMessage(&f)
			t.program = frameProgram(l.snap, &f)
			t.Type = m.TypeOf(msg, &f)
			if msg != nil {
				t.Name, t.Defined = msg.Name, true
				if l.snap.Dialect.Versions {
					t.Ver = msg.Version
				}
			} else if t.Known = m.nameOf(&f); t.Known == "" && t.Code != nil && !l.snap.Dialect.Versions {
				t.Known, _ = l.snap.CodeName(*t.Code)
			}
			is := sameType{t.Type, t.Dir, t.Kind, t.Group, t.Ver}
			if same := rows[is]; same != nil {
				t.typeRow = same
			} else {
				rows[is] = t.typeRow
				out.Rows = append(out.Rows, t.typeRow)
			}
		}
		out.Total++
		t.Count++
		t.Bytes += int64(len(data))
		t.Min, t.Max, t.Last = min(t.Min, len(data)), max(t.Max, len(data)), e.At/1000
		if t.program != nil {
			if t.program.Decode(&rec, data); rec.Status() != codec.OK {
				t.Bad++
			}
		}
		return true
	})
	slices.SortStableFunc(out.Rows, func(a, b *typeRow) int { return b.Count - a.Count })
	out.Lengths = sizes.rows()
	return out, err
}

// maxRowsAtOnce bounds the rows of one result.
const maxRowsAtOnce = 500

var errNothing = missing("no frame in the list has that type")
