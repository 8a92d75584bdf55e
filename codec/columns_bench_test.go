package codec_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"wirebench/codec"
	"wirebench/codec/columns"
	"wirebench/defs/benchtest"
)

// columnJob reads all messages of a shape into columns as a capture is read: they are sorted by their code until a block is full,
// then the columns of each kind of message are filled, used and forgotten.
type columnJob struct {
	s       *shape
	data    []byte         // all messages
	spans   []columns.Span // each
	columns [5]columns.Set
	sorted  [5][]columns.Span
	block   int // bytes
}

func newColumnJob(s *shape, block int, choose func(c *columns.Set, p *codec.Program)) *columnJob {
	j := &columnJob{s: s, block: block}
	for _, b := range s.messages {
		j.spans = append(j.spans, columns.Span{Off: uint32(len(j.data)), Len: uint32(len(b))})
		j.data = append(j.data, b...)
	}
	for code, p := range s.programs {
		if p != nil {
			choose(&j.columns[code], p)
		}
	}
	return j
}

func (j *columnJob) flush() {
	for code := range j.sorted {
		if len(j.sorted[code]) == 0 {
			continue
		}
		c := &j.columns[code]
		c.Reset()
		if n := c.Append(j.s.programs[code], j.data, j.sorted[code]); n != len(j.sorted[code]) {
			panic(fmt.Sprintf("%d of %d messages", n, len(j.sorted[code])))
		}
		j.sorted[code] = j.sorted[code][:0]
	}
}

func (j *columnJob) run() {
	size := 0
	for _, b := range j.spans {
		code := codeOf(j.data[b.Off:])
		j.sorted[code] = append(j.sorted[code], b)
		if size += int(b.Len); size >= j.block {
			j.flush()
			size = 0
		}
	}
	j.flush()
}

func allColumns(c *columns.Set, p *codec.Program) { c.SelectAll(p) }

// firstColumn chooses one field, as a filter does.
func firstColumn(c *columns.Set, p *codec.Program) { c.Select(p, 0) }

// BenchmarkMustColumns compares columns with code written by hand that reads the same messages one by one, interleaved, and takes the
// least time of many rounds of each. The ratio that must not be exceeded is 1.5 over the mix (X), and 2.2 for any shape: it fails
// then, after more rounds.
func BenchmarkMustColumns(b *testing.B) {
	for _, s := range shapes(b) {
		all, one := newColumnJob(&s, 1<<15, allColumns), newColumnJob(&s, 1<<15, firstColumn)
		jobs := []func(){all.run, one.run, func() {
			for _, m := range s.messages {
				s.hand.read(m)
			}
		}}
		best := make([]float64, len(jobs))
		for i, j := range jobs {
			best[i] = math.Inf(1)
			j()
		}
		limit := 2.2
		if s.name == "X" {
			limit = 1.5
		}
		const rounds, more = 41, 5
		for k := 0; k < rounds || k < more*rounds && best[0]/best[2] > limit; k++ {
			for i, j := range jobs {
				start := time.Now()
				for range 2 {
					j()
				}
				best[i] = min(best[i], float64(time.Since(start).Nanoseconds())/float64(2*len(s.messages)))
			}
		}
		ratio := best[0] / best[2]
		var line strings.Builder
		fmt.Fprintf(&line, "%s: all %.1f/%.1f = %.2f", s.name, best[0], best[2], ratio)
		fmt.Fprintf(&line, "  one field %.1f = %.2f", best[1], best[1]/best[2])
		b.Log(line.String())
		benchtest.Within(b, s.name+"-columns-times-hand", ratio, limit)
		b.ReportMetric(best[1]/best[2], s.name+"-field")
	}
	b.ReportMetric(0, "ns/op")
}
