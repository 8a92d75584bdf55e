package frames

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"sync/atomic"

	"wirebench/server/supervise"
)

// sortRow is a row that is being sorted.
type sortRow struct {
	key  uint64 // the number, or the first bytes of the text
	rank uint32 // position in the view, from the start
	at   uint32 // for a number, the part that key lacks; else one of the constants below, or the place of the rest of a text
}

// Values of sortRow.at; places are greater than these.
const (
	atMiddle  = 1 << 12    // a number represented exactly by key; an integer beyond 2^53 has its difference to key added
	atText    = 1 << 14    // a text that fits key
	atMissing = ^uint32(0) // no value
	atGone    = atMissing - 1
)

// sortClass is the kind of the value of a row.
type sortClass int

const (
	numberRow sortClass = iota
	textRow
	missingRow
	goneRow // discarded; not in the order
)

func (r sortRow) class() sortClass {
	switch {
	case r.at == atGone:
		return goneRow
	case r.at == atMissing:
		return missingRow
	case r.at < atText:
		return numberRow
	}
	return textRow
}

// sort sorts the rows by their keys. Numbers come before texts; rows without a value come last, in descending order too.
func (s *sorter) sort(ctx context.Context, by keyOf) ([]sortRow, error) {
	classes := []sortClass{numberRow, textRow, missingRow}
	if s.desc {
		classes = []sortClass{textRow, numberRow, missingRow}
	}
	out := make([]sortRow, 0, len(s.rows))
	var ends []int
	for _, class := range classes {
		for _, r := range s.rows {
			if r.class() != class {
				continue
			}
			if s.desc {
				r.key = ^r.key
			}
			out = append(out, r)
		}
		ends = append(ends, len(out))
	}
	var stopped atomic.Bool
	defer supervise.After(ctx, "sorting", func() { stopped.Store(true) })()
	var same []span
	from := 0
	for i, end := range ends {
		s.share(int64(920 + 30*i))
		rows, number := out[from:end], classes[i] == numberRow
		from = end
		if classes[i] == missingRow {
			break
		}
		radixSort(rows, s.rows)
		sortTies(rows, func(a, b sortRow) (c int) {
			switch {
			case stopped.Load():
				return 0 // the remaining steps are fast
			case number:
				c = cmp.Compare(a.at, b.at)
			default:
				c = bytes.Compare(s.rest(a.at), s.rest(b.at))
			}
			if s.desc {
				c = -c
			}
			return cmp.Or(c, cmp.Compare(a.rank, b.rank))
		})
		if !number {
			same = s.sameSoFar(nil, rows, end-len(rows))
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, s.refine(ctx, by, out, same)
}

// radixSort sorts rows by their keys. It is stable. spare must be at least as long as rows.
func radixSort(rows, spare []sortRow) {
	if slices.IsSortedFunc(rows, func(a, b sortRow) int { return cmp.Compare(a.key, b.key) }) {
		return
	}
	differ := uint64(0)
	for i := range rows {
		differ |= rows[i].key ^ rows[0].key
	}
	from, to := rows, spare[:len(rows)]
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xff == 0 { // all rows have the same byte here
			continue
		}
		var at [256]int
		for i := range from {
			at[byte(from[i].key>>shift)]++
		}
		sum := 0
		for i, n := range at {
			at[i], sum = sum, sum+n
		}
		for i := range from {
			k := byte(from[i].key >> shift)
			to[at[k]] = from[i]
			at[k]++
		}
		from, to = to, from
	}
	if &from[0] != &rows[0] {
		copy(rows, from)
	}
}

// sortTies sorts the runs of sorted rows that have the same key but different values.
func sortTies(rows []sortRow, compare func(a, b sortRow) int) {
	for len(rows) > 0 {
		n, same := 1, true
		for ; n < len(rows) && rows[n].key == rows[0].key; n++ {
			same = same && rows[n].at == rows[0].at
		}
		if !same {
			slices.SortFunc(rows[:n], compare)
		}
		rows = rows[n:]
	}
}

// firstEight returns the first bytes of a text as a big-endian number, padded with zeros.
func firstEight(b []byte) uint64 {
	var first [8]byte
	copy(first[:], b)
	return binary.BigEndian.Uint64(first[:])
}
