package frames

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
	"wirebench/server/workspace"
)

// Problems are the problems of the frames of a list.
type Problems struct {
	Frames int          `json:"frames" doc:"frames that have a problem"`
	Rows   []ProblemRow `json:"rows" doc:"the most frequent first"`
	More   int          `json:"more,omitempty" doc:"problems that are not in rows"`
}

// ProblemRow is a problem of the frames of one type.
type ProblemRow struct {
	workspace.ProblemCount
	Filter string `json:"filter" doc:"finds the frames of the type with problems of this kind"`
}

// maxProblemRows is the maximum number of rows of Problems.
const maxProblemRows = 1000

// Problems counts the problems of the frames of the list, by type of frame.
func (l *List) Problems(ctx context.Context) (*Problems, error) {
	out := &Problems{Rows: []ProblemRow{}}
	var counts workspace.Problems
	var f transport.Frame
	read := workspace.NewReading(l.snap)
	err := l.eachOf(ctx, func(i int, e live.Entry, block []byte) bool {
		l.log.Frame(i, e, entryData(e, block), &f)
		read.Take(&f)
		if counts.Add(read) {
			out.Frames++
		}
		return true
	})
	all := counts.Sorted()
	out.More = max(0, len(all)-maxProblemRows)
	for _, c := range all[:min(len(all), maxProblemRows)] {
		out.Rows = append(out.Rows, ProblemRow{*c, problemFilter(c)})
	}
	return out, err
}

// problemFilter returns a filter for the frames of a problem.
func problemFilter(c *workspace.ProblemCount) string {
	switch {
	case c.Code == "transport":
		return "kind == problem"
	case strings.HasPrefix(c.Name, "? 0x"):
		return "op == " + strings.TrimPrefix(c.Name, "? ")
	case c.Code == "unknown-message":
		return "state == unknown && name == " + strconv.Quote(c.Name)
	case c.Name == workspace.OtherNames:
		return "state != clean"
	case c.Warning:
		return "name == " + strconv.Quote(c.Name) + " && state != clean"
	}
	return "name == " + strconv.Quote(c.Name) + " && err == " + strconv.Quote(c.Code)
}

// Conns are the connections of the frames of a list.
type Conns struct {
	Rows []*ConnRow `json:"rows" doc:"in the order of their first frames"`
	More int        `json:"more,omitempty" doc:"connections that are not in rows"`

	Ends     []*EndRow `json:"ends,omitempty" doc:"the ends of the connections, if they are wanted"`
	MoreEnds int       `json:"more_ends,omitempty" doc:"ends that are not among them"`
}

// ConnRow is a connection. Times are microseconds since 1970.
type ConnRow struct {
	Index    int    `json:"index" doc:"of the connection in the state of the list"`
	Stream   int    `json:"stream" doc:"number of the connection, from 0, as in filters"`
	Name     string `json:"name" doc:"client-server, each address:port"`
	Session  int    `json:"session,omitempty" doc:"of sessions that reuse the addresses; 0 is the first"`
	Proto    string `json:"proto"`
	ToServer int    `json:"c2s" doc:"frames of the client"`
	ToClient int    `json:"s2c" doc:"frames of the server"`
	Sent     int64  `json:"c2s_bytes" doc:"bytes of the frames"`
	Received int64  `json:"s2c_bytes"`
	Bad      int    `json:"bad,omitempty" doc:"problems of the transport"`
	First    int    `json:"first" doc:"number of its first frame in the list, from 1"`
	From     int64  `json:"from"`
	To       int64  `json:"to"`
}

// maxConnRows is the maximum number of rows of Conns.
const maxConnRows = 5000

// ConnsQuery selects the frames that count.
type ConnsQuery struct {
	Listed bool   `json:"listed,omitempty"` // only those of the list
	Ends   string `json:"ends,omitempty"`   // also the ends of the connections, by "port" or "address"
}

// Conns sums up the connections of the frames of the capture, or of the list.
func (l *List) Conns(ctx context.Context, q ConnsQuery) (*Conns, error) {
	out := &Conns{Rows: []*ConnRow{}}
	of := map[connKey]*ConnRow{}
	conns := l.log.ConnReader()
	more := map[uint32]bool{}
	ends := newEnds(q.Ends)
	one := func(i int, e live.Entry, _ []byte) bool {
		c := conns.Of(e)
		if q.Ends != "" {
			ends.add(i, e, c)
		}
		row := of[connKey{e.Conn, c.Name}]
		if row == nil {
			if len(of) >= maxConnRows {
				more[e.Conn] = true
				return true
			}
			row = &ConnRow{Index: int(e.Conn), Stream: c.Stream, Name: c.Name, Session: c.Session, Proto: c.Proto, First: i + 1, From: e.At / 1000, To: e.At / 1000}
			of[connKey{e.Conn, c.Name}] = row
			out.Rows = append(out.Rows, row)
		}
		switch {
		case e.Kind == transport.Problem:
			row.Bad++
		case e.Dir == schema.ToServer:
			row.ToServer++
			row.Sent += int64(e.Len)
		default:
			row.ToClient++
			row.Received += int64(e.Len)
		}
		row.From, row.To = min(row.From, e.At/1000), max(row.To, e.At/1000)
		return true
	}
	err := error(nil)
	if q.Listed {
		err = l.eachOf(ctx, one)
	} else {
		for i := l.log.Base(); i < l.log.Len() && err == nil; i++ {
			if e := l.log.Entry(i); i >= l.log.Base() && e.Kind != transport.Packet {
				one(i, e, nil)
			}
			if i%lookEvery == 0 {
				err = ctx.Err()
			}
		}
	}
	out.More = len(more)
	if q.Ends != "" {
		out.Ends, out.MoreEnds = ends.rows, len(ends.more)
	}
	return out, err
}

// GraphQuery selects numbers in the fields of frames.
type GraphQuery struct {
	Fields []string `json:"fields"` // C_CHAT.2.message, C_CHAT.message, or .message
	Points int      `json:"points"` // maximum number of a field
}

// Graph holds numbers over time.
type Graph struct {
	Series []*GraphSeries `json:"series"`
}

// GraphSeries are the values of a field, in the order of the frames.
type GraphSeries struct {
	Field  string       `json:"field"`
	Frames int          `json:"frames" doc:"frames that have a number there"`
	Texts  int          `json:"texts,omitempty" doc:"frames that have the field without a number"`
	Points []GraphPoint `json:"points" doc:"all values, or the least and the greatest of each of equally many frames"`
}

// GraphPoint is a value at a time.
type GraphPoint struct {
	N     int     `json:"n" doc:"number of the frame, from 1"`
	T     int64   `json:"t" doc:"microseconds since 1970"`
	Value float64 `json:"value"`
}

// Bounds of a graph.
const (
	maxGraphed = 8
	maxPoints  = 4000
)

// Graph reads numbers over time. Where there are more than the wanted points, it keeps the least and the greatest of each of several runs of
// frames, so that no peak is lost.
func (l *List) Graph(ctx context.Context, q GraphQuery) (*Graph, error) {
	q.Fields = q.Fields[:min(len(q.Fields), maxGraphed)]
	points := min(max(q.Points, 2), maxPoints)
	out := &Graph{Series: []*GraphSeries{}}
	thin := make([]thinner, len(q.Fields))
	for i, path := range q.Fields {
		out.Series = append(out.Series, &GraphSeries{Field: path, Points: []GraphPoint{}})
		thin[i] = thinner{most: points, run: 1}
	}
	if len(q.Fields) == 0 {
		return out, nil
	}
	m := RowMaker{Snap: l.snap}
	cells := NewCellMaker(q.Fields)
	var f transport.Frame
	err := l.eachOf(ctx, func(i int, e live.Entry, block []byte) bool {
		l.log.Frame(i, e, entryData(e, block), &f)
		m.Decode(&f)
		for k, text := range cells.Cells(&m) {
			if text == "" {
				continue
			}
			v, ok := numberIn(text)
			if !ok {
				out.Series[k].Texts++
				continue
			}
			out.Series[k].Frames++
			thin[k].add(GraphPoint{i + 1, e.At / 1000, v})
		}
		return true
	})
	for k := range thin {
		out.Series[k].Points = thin[k].done()
	}
	return out, err
}

// numberIn returns the number that a cell shows: of "48 (0x30)" it is 48, of "true" 1.
func numberIn(text string) (float64, bool) {
	switch text {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	text, _, _ = strings.Cut(text, " ")
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		u, err := strconv.ParseInt(text, 0, 64)
		return float64(u), err == nil
	}
	return v, !math.IsNaN(v) && !math.IsInf(v, 0)
}

// thinner keeps at most so many points: the least and the greatest of each run, which doubles when there are too many.
type thinner struct {
	most, run int
	kept      []GraphPoint // two of each run, in the order of the frames
	low, high GraphPoint
	n         int // in the current run
}

func (t *thinner) add(p GraphPoint) {
	if t.run == 1 {
		if t.kept = append(t.kept, p); len(t.kept) > t.most {
			t.halve()
		}
		return
	}
	if t.n == 0 || p.Value < t.low.Value {
		t.low = p
	}
	if t.n == 0 || p.Value > t.high.Value {
		t.high = p
	}
	if t.n++; t.n == t.run {
		t.end()
	}
}

func (t *thinner) end() {
	if t.n == 0 {
		return
	}
	t.n = 0
	first, second := t.low, t.high
	if first.N > second.N {
		first, second = second, first
	}
	t.kept = append(t.kept, first)
	if second.N != first.N {
		t.kept = append(t.kept, second)
	}
	if len(t.kept) > t.most {
		t.halve()
	}
}

// halve joins runs: of each four points it keeps the least and the greatest.
func (t *thinner) halve() {
	out := t.kept[:0]
	for i := 0; i < len(t.kept); i += 4 {
		four := t.kept[i:min(i+4, len(t.kept))]
		low, high := four[0], four[0]
		for _, p := range four[1:] {
			if p.Value < low.Value {
				low = p
			}
			if p.Value > high.Value {
				high = p
			}
		}
		if low.N > high.N {
			low, high = high, low
		}
		out = append(out, low)
		if low.N != high.N {
			out = append(out, high)
		}
	}
	t.kept = out
	t.run = max(4, t.run*2)
}

func (t *thinner) done() []GraphPoint {
	t.end()
	if t.kept == nil {
		return []GraphPoint{}
	}
	return t.kept
}

// FollowQuery selects frames of a connection, whether or not they are in the list.
type FollowQuery struct {
	N    int  `json:"n"`              // a frame of the connection
	From int  `json:"from,omitempty"` // number of a frame: only it and later ones, or with Back earlier ones
	Back bool `json:"back,omitempty"`
}

// Follow holds the bytes of a conversation in order.
type Follow struct {
	Conn    string        `json:"conn"`
	Session int           `json:"session,omitempty"`
	Parts   []*FollowPart `json:"parts"`
	Before  int           `json:"before,omitempty" doc:"number of the next earlier frame, 0 if there is none"`
	After   int           `json:"after,omitempty" doc:"number of the next later frame, 0 if there is none"`
}

// FollowPart is a frame of a conversation.
type FollowPart struct {
	N    int    `json:"n"`
	T    int64  `json:"t" doc:"microseconds since 1970"`
	Dir  string `json:"dir" ts:"'c2s' | 's2c' | ''"`
	Kind string `json:"kind"`
	Name string `json:"name"`
	Info string `json:"info"`
	Len  int    `json:"len" doc:"bytes of the frame"`
	Hex  string `json:"hex" doc:"its bytes, at most 4,096"`
}

// Bounds of a part of a conversation.
const (
	maxFollowed      = 200
	maxFollowedBytes = 256 << 10
	maxFollowedPart  = 4096
)

// Follow returns a part of the conversation of a frame.
func (l *List) Follow(ctx context.Context, q FollowQuery) (*Follow, error) {
	log := l.log
	at, _, ok := log.Get(q.N - 1)
	if !ok {
		return nil, missing("frame %d is not in memory", q.N)
	}
	conns := log.ConnReader()
	conn := *conns.Of(at)
	out := &Follow{Conn: conn.Name, Session: conn.Session, Parts: []*FollowPart{}}
	m := RowMaker{Snap: l.snap}
	var f transport.Frame
	total := 0
	step, i := 1, max(q.From-1, log.Base())
	if q.Back {
		step, i = -1, min(q.From-1, log.Len()-1)
	}
	for seen := 0; i >= log.Base() && i < log.Len(); i += step {
		if seen++; seen%lookEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e, data, ok := log.Get(i)
		if !ok || e.Conn != at.Conn || !conn.Of(e) || e.Kind == transport.Packet {
			continue
		}
		if len(out.Parts) >= maxFollowed || total >= maxFollowedBytes {
			break
		}
		log.Frame(i, e, data, &f)
		row := m.row(i, e, &f)
		part := f.Bytes[:min(len(f.Bytes), maxFollowedPart)]
		total += len(part)
		name := row.Name
		if name == "" && row.Code != nil {
			name = fmt.Sprintf("? 0x%04X", *row.Code)
		}
		out.Parts = append(out.Parts, &FollowPart{i + 1, e.At / 1000, f.Dir.String(), f.Kind.String(), name, row.Info, len(f.Bytes), hex.EncodeToString(part)})
	}
	next := 0
	if i >= log.Base() && i < log.Len() {
		next = i + 1
	}
	if q.Back {
		for a, b := 0, len(out.Parts)-1; a < b; a, b = a+1, b-1 {
			out.Parts[a], out.Parts[b] = out.Parts[b], out.Parts[a]
		}
		out.Before, out.After = next, q.From+1
		if q.From >= log.Len() {
			out.After = 0
		}
		return out, nil
	}
	out.After = next
	if q.From > log.Base()+1 {
		out.Before = q.From - 1
	}
	return out, nil
}
