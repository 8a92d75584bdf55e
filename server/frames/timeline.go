package frames

import (
	"context"
	"strings"
	"time"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/live"
	"wirebench/server/workspace"
)

// Timeline holds the number of frames in consecutive intervals of the same length.
type Timeline struct {
	From     int64           `json:"from" doc:"start of the first interval, microseconds since 1970"`
	Step     int64           `json:"step" doc:"length of an interval, microseconds"`
	C2S      []int           `json:"c2s" doc:"frames of the client"`
	S2C      []int           `json:"s2c" doc:"frames of the server"`
	C2SBytes []int           `json:"c2s_bytes" doc:"bytes of the frames of the client"`
	S2CBytes []int           `json:"s2c_bytes"`
	Bad      []int           `json:"bad" doc:"problems of the transport"`
	Lines    []*TimelineLine `json:"lines" doc:"the frames that match each of the wanted filters"`
}

// TimelineLine counts the frames of the list that match a filter, too.
type TimelineLine struct {
	Filter  string `json:"filter"`
	Frames  []int  `json:"frames"`
	Bytes   []int  `json:"bytes"`
	Mistake string `json:"mistake,omitempty" doc:"why the filter is invalid"`
}

// TimelineQuery selects the intervals of a timeline and its lines.
type TimelineQuery struct {
	Buckets int      `json:"buckets"`           // number of intervals
	Step    int64    `json:"step,omitempty"`    // wanted length of an interval in microseconds, lengthened if there were too many; 0: from their number
	Filters []string `json:"filters,omitempty"` // of lines, at most maxLines
}

// Bounds of a timeline.
const (
	maxBuckets = 4000
	maxLines   = 6
)

// Timeline counts the frames of the list in intervals of time.
func (l *List) Timeline(ctx context.Context, q TimelineQuery) (*Timeline, error) {
	n := min(max(q.Buckets, 1), maxBuckets)
	out := &Timeline{Step: 1, Lines: []*TimelineLine{}}
	var from, to int64
	first := true
	span := func(_, _ int, e live.Entry, _ []byte) bool {
		if e.Kind == transport.Packet {
			return true
		}
		if first || e.At < from {
			from = e.At
		}
		if first || e.At > to {
			to = e.At
		}
		first = false
		return true
	}
	err := l.View.Each(ctx, 0, false, span)
	const micro = int64(time.Microsecond)
	from -= from % micro
	step := ((to-from)/int64(n)/micro + 1) * micro
	if q.Step > 0 && q.Step < int64(1e15) {
		if least := ((to-from)/maxBuckets/micro + 1) * micro; q.Step*micro >= least {
			step = q.Step * micro
			n = int((to-from)/step) + 1
		} else {
			step, n = least, maxBuckets
		}
	}
	out.C2S, out.S2C, out.Bad = make([]int, n), make([]int, n), make([]int, n)
	out.C2SBytes, out.S2CBytes = make([]int, n), make([]int, n)
	var fits []*workspace.FrameFilter
	for _, text := range q.Filters[:min(len(q.Filters), maxLines)] {
		line := &TimelineLine{Filter: text, Frames: make([]int, n), Bytes: make([]int, n)}
		out.Lines = append(out.Lines, line)
		f, mistakes := l.snap.Filter(text)
		if len(mistakes) > 0 {
			line.Mistake = mistakes[0].Message
			if help := mistakes[0].Help; help != "" {
				line.Mistake += " (" + help + ")"
			}
			f = nil
		} else if strings.TrimSpace(text) != "" {
			f = f.Until(ctx)
		}
		fits = append(fits, f)
	}
	if err != nil || first {
		return out, err
	}
	out.From, out.Step = from/micro, step/micro
	var f transport.Frame
	conns := l.log.ConnReader()
	return out, l.View.Each(ctx, 0, false, func(_, i int, e live.Entry, data []byte) bool {
		k := min(max(int((e.At-from)/step), 0), n-1)
		switch {
		case e.Kind == transport.Packet:
			return true
		case e.Kind == transport.Problem:
			out.Bad[k]++
		case e.Dir == schema.ToServer:
			out.C2S[k]++
			out.C2SBytes[k] += int(e.Len)
		default:
			out.S2C[k]++
			out.S2CBytes[k] += int(e.Len)
		}
		if len(fits) > 0 {
			l.log.Frame(i, e, data, &f)
			where := l.View.where(i, e, conns.Of(e))
			for j, fit := range fits {
				if fit != nil && fit.Fits(where, &f) {
					out.Lines[j].Frames[k]++
					out.Lines[j].Bytes[k] += int(e.Len)
				}
			}
		}
		return true
	})
}
