package frames

import (
	"bytes"
	"context"
	"strings"
	"time"

	"wirebench/codec/transport"
)

// Bounds of the comparison of many frames.
const (
	maxDiffering = 100             // pairs that are listed, and bytes of each of their values
	maxPairs     = 100_000         // that are compared
	differTime   = 2 * time.Second // for comparing them
)

// DifferingFrames are frames that differ between two lists, of which the first frames are compared, then the second ones, and so on.
type DifferingFrames struct {
	A        int         `json:"a" doc:"frames in this capture"`
	B        int         `json:"b" doc:"frames in the other one"`
	Compared int         `json:"compared" doc:"pairs that were compared: in both captures the first ones, the second ones and so on"`
	Differ   int         `json:"differ" doc:"of these, how many differ"`
	Rows     []Differing `json:"rows" doc:"the first of them, at most 100"`
	Note     string      `json:"note,omitempty" doc:"why not all pairs were compared"`
}

// Differing is a pair of frames with different bytes.
type Differing struct {
	A    int    `json:"a" doc:"number in this capture"`
	B    int    `json:"b" doc:"number in the other one"`
	Path string `json:"path" doc:"the first field that differs, a value before lengths, counts and offsets; places in both frames if they are compared by byte"`
	Was  string `json:"was" doc:"its value in this capture; empty if it has none"`
	Is   string `json:"is" doc:"its value in the other one; empty if it has none"`
	More int    `json:"more,omitempty" doc:"further fields that differ"`
}

// Differ compares the frames of the list with those of another one, in their order.
func (l *List) Differ(ctx context.Context, other *List) (*DifferingFrames, error) {
	until := time.Now().Add(differTime)
	out := &DifferingFrames{A: l.Fit(), B: other.Fit(), Rows: []Differing{}}
	var a, b transport.Frame
	for k := range min(out.A, out.B) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if out.Compared == maxPairs || k%lookEvery == 0 && time.Now().After(until) {
			out.Note = "not all frames were compared, as there are too many"
			break
		}
		if !l.read(l.index(k), &a) || !other.read(other.index(k), &b) {
			continue // it was discarded
		}
		if out.Compared++; bytes.Equal(a.Bytes, b.Bytes) {
			continue
		}
		if out.Differ++; len(out.Rows) == maxDiffering {
			continue
		}
		if time.Now().After(until) { // of pairs that differ, each may take long
			out.Note = "not all frames were compared, as there are too many"
			break
		}
		rows, _, _ := diffRows(frameProgram(l.snap, &a), frameProgram(other.snap, &b), a.Bytes, b.Bytes)
		row, ok := firstOf(rows)
		if !ok || row.Was == row.Is { // they differ where no field of the definition is
			rows, _, _ = diffRows(nil, nil, a.Bytes, b.Bytes)
			row, _ = firstOf(rows)
		}
		row.A, row.B = int(a.N), int(b.N)
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// firstOf describes the first row that differs. ok is false if there is none.
func firstOf(rows []diffRow) (out Differing, ok bool) {
	for _, r := range rows {
		if r.Same {
			continue
		}
		if ok {
			out.More++
		}
		if !ok || computed(out.Path) && !computed(r.Path) {
			out.Path, out.Was, out.Is = r.Path, cutValue(r.A), cutValue(r.B)
		}
		ok = true
	}
	return out, ok
}

// cutValue bounds a value of an answer with many.
func cutValue(text string) string {
	if len(text) <= maxDiffering {
		return text
	}
	return strings.ToValidUTF8(text[:maxDiffering], "") + "…"
}

// computed reports whether a path is of a length, count or offset, which tells less than a value.
func computed(path string) bool { return strings.HasPrefix(path, "[") }

// read reads the frame with an index. ok is false if the log does not have it.
func (l *List) read(i int, f *transport.Frame) (ok bool) {
	e, data, ok := l.log.Get(i)
	if ok {
		l.log.Frame(i, e, data, f)
	}
	return ok
}
