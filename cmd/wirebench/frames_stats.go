package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"wirebench/codec/corpus"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// frameStatistics sums up frames in place of listing them.
type frameStatistics interface {
	add(f *frameLister, x *transport.Frame, in workspace.Listed)
	// rows returns the result as objects with JSON names, in the order of printing.
	rows() []any
	// print writes the result as text; the cells of a line are separated by tabs.
	print(w io.Writer)
}

// statisticsOf are the kinds of statistics by their names.
var statisticsOf = map[string]func() frameStatistics{
	"types":       func() frameStatistics { return &typeStatistics{of: map[string]*typeCount{}} },
	"fields":      func() frameStatistics { return &fieldStatistics{of: map[*schema.Message]*corpus.Table{}} },
	"connections": func() frameStatistics { return &connStatistics{of: map[connKey]*connCount{}} },
	"problems":    func() frameStatistics { return &problemStatistics{} },
}

func statisticsNames() []string { return slices.Sorted(maps.Keys(statisticsOf)) }

// maxCounted bounds the types and the problems that are counted separately: a capture can have any number of names.
const maxCounted = 1 << 16

// printStatistics writes the result as a table or as JSON Lines.
func printStatistics(w io.Writer, s frameStatistics, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		for _, row := range s.rows() {
			if err := e.Encode(row); err != nil {
				return err
			}
		}
		return nil
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	s.print(table)
	return table.Flush()
}

// typeCount counts the frames of a type.
type typeCount struct {
	Name     string `json:"name"`
	Frames   uint64 `json:"frames"`
	Bytes    uint64 `json:"bytes"`
	ToServer uint64 `json:"c2s"` // frames
	ToClient uint64 `json:"s2c"`
	NotOK    uint64 `json:"not_ok"` // with a status other than ok
	First    uint64 `json:"first"`  // number of the first frame
}

type typeStatistics struct{ of map[string]*typeCount }

func (s *typeStatistics) add(f *frameLister, x *transport.Frame, _ workspace.Listed) {
	name := f.reading.Name()
	if m := f.reading.Message(); m != nil && m.Version > 0 {
		name = fmt.Sprintf("%s.%d", m.Name, m.Version)
	}
	c := s.of[name]
	if c == nil {
		if len(s.of) >= maxCounted {
			name = workspace.OtherNames
		}
		if c = s.of[name]; c == nil {
			c = &typeCount{Name: name, First: uint64(x.N)}
			s.of[name] = c
		}
	}
	c.Frames++
	c.Bytes += uint64(len(x.Bytes))
	switch x.Dir {
	case schema.ToServer:
		c.ToServer++
	case schema.ToClient:
		c.ToClient++
	}
	if status := f.status(x); status != "" && status != "ok" {
		c.NotOK++
	}
}

func (s *typeStatistics) sorted() []*typeCount {
	return slices.SortedFunc(maps.Values(s.of), func(a, b *typeCount) int {
		return cmp.Or(cmp.Compare(b.Frames, a.Frames), cmp.Compare(a.Name, b.Name))
	})
}

func (s *typeStatistics) rows() []any { return anys(s.sorted()) }

func (s *typeStatistics) print(w io.Writer) {
	fmt.Fprintln(w, "frames\tbytes\tc2s\ts2c\tnot ok\tfirst\ttype")
	for _, c := range s.sorted() {
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%s\n", c.Frames, c.Bytes, c.ToServer, c.ToClient, c.NotOK, c.First, printable(c.Name))
	}
}

func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, x := range list {
		out[i] = x
	}
	return out
}

type connKey struct {
	name    string
	session int
}

// connCount counts the frames of a connection.
type connCount struct {
	Conn     string  `json:"conn"`
	Session  int     `json:"session"`
	Proto    string  `json:"proto"`
	Frames   uint64  `json:"frames"`
	ToServer uint64  `json:"c2s_bytes"` // of frames
	ToClient uint64  `json:"s2c_bytes"`
	First    uint64  `json:"first"`
	Seconds  float64 `json:"seconds"` // from the first frame to the last

	from, to time.Time
}

type connStatistics struct {
	of    map[connKey]*connCount
	order []*connCount
}

func (s *connStatistics) add(_ *frameLister, x *transport.Frame, in workspace.Listed) {
	key := connKey{in.Conn, in.Session}
	c := s.of[key]
	if c == nil {
		c = &connCount{Conn: in.Conn, Session: in.Session, Proto: x.Conn.Proto.String(), First: uint64(x.N), from: x.At}
		s.of[key] = c
		s.order = append(s.order, c)
	}
	c.Frames++
	if x.Dir == schema.ToServer {
		c.ToServer += uint64(len(x.Bytes))
	} else {
		c.ToClient += uint64(len(x.Bytes))
	}
	if x.At.After(c.to) {
		c.to = x.At
	}
	c.Seconds = max(0, c.to.Sub(c.from).Seconds())
}

func (s *connStatistics) rows() []any { return anys(s.order) }

func (s *connStatistics) print(w io.Writer) {
	fmt.Fprintln(w, "frames\tc2s bytes\ts2c bytes\tseconds\tfirst\tproto\tconnection")
	for _, c := range s.order {
		name := c.Conn
		if c.Session > 1 {
			name += fmt.Sprintf("#%d", c.Session)
		}
		fmt.Fprintf(w, "%d\t%d\t%d\t%.3f\t%d\t%s\t%s\n", c.Frames, c.ToServer, c.ToClient, c.Seconds, c.First, c.Proto, printable(name))
	}
}

type problemStatistics struct{ workspace.Problems }

func (s *problemStatistics) add(f *frameLister, _ *transport.Frame, _ workspace.Listed) {
	s.Add(f.reading)
}

func (s *problemStatistics) rows() []any { return anys(s.Sorted()) }

func (s *problemStatistics) print(w io.Writer) {
	list := s.Sorted()
	if len(list) == 0 {
		fmt.Fprintln(w, "no problems")
		return
	}
	fmt.Fprintln(w, "frames\tfirst\ttype\tproblem\tfield\texample")
	for _, c := range list {
		fmt.Fprintf(w, "%d\t%d\t%s\t%s\t%s\t%s\n", c.Frames, c.First, printable(c.Name), c.Code, printable(c.Path), printable(c.Message))
	}
}

// fieldCount is the summary of a field over all frames of a message.
type fieldCount struct {
	Name     string `json:"name"`
	Path     string `json:"path"`
	Type     string `json:"type"`
	Frames   uint64 `json:"frames"`
	Values   uint64 `json:"values"`
	Distinct int    `json:"distinct"` // at least, if more
	More     bool   `json:"more,omitempty"`
	Min      string `json:"min"`
	Max      string `json:"max"`
	Top      string `json:"most_frequent"`
	Trend    string `json:"trend,omitempty"`
}

type fieldStatistics struct {
	of map[*schema.Message]*corpus.Table
}

func (s *fieldStatistics) add(f *frameLister, x *transport.Frame, _ workspace.Listed) {
	rec := f.reading.Record()
	if rec == nil {
		return
	}
	m := f.reading.Message()
	t := s.of[m]
	if t == nil {
		t = corpus.NewTable(rec.Program)
		s.of[m] = t
	}
	t.AddRecord(uint64(x.N), rec)
}

func (s *fieldStatistics) list() (out []fieldCount) {
	for _, m := range slices.SortedFunc(maps.Keys(s.of), func(a, b *schema.Message) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	}) {
		name := m.Name
		if m.Version > 0 {
			name = fmt.Sprintf("%s.%d", m.Name, m.Version)
		}
		for _, c := range s.of[m].Columns() {
			row := fieldCount{
				Name: name, Path: c.Path, Type: c.Type, Frames: c.Frames, Values: c.Values, Distinct: c.Distinct, More: c.More,
				Min: c.Min.Text, Max: c.Max.Text,
			}
			if c.Len {
				row.Path = "len(" + c.Path + ")"
			}
			if len(c.Top) > 0 {
				row.Top = c.Top[0].Text
			}
			if c.Trend != corpus.NoTrend {
				row.Trend = c.Trend.String()
			}
			out = append(out, row)
		}
	}
	return out
}

func (s *fieldStatistics) rows() []any { return anys(s.list()) }

func (s *fieldStatistics) print(w io.Writer) {
	before := ""
	for _, c := range s.list() {
		if c.Name != before {
			if before != "" {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "%s\ttype\tframes\tvalues\tdistinct\tleast\tgreatest\tmost frequent\n", printable(c.Name))
			before = c.Name
		}
		more := ""
		if c.More {
			more = "+"
		}
		fmt.Fprintf(w, "  %s\t%s\t%d\t%d\t%d%s\t%s\t%s\t%s\n", printable(c.Path), c.Type, c.Frames, c.Values, c.Distinct, more, cell(c.Min), cell(c.Max), cell(c.Top))
	}
}

// cell shortens a value to the width of a column.
func cell(text string) string {
	const most = 32
	if runes := []rune(printable(text)); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return printable(text)
}
