package frames

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"sync/atomic"
)

// Texts are sorted in parts, so that their memory has a bound that does not depend on their length: the keys of all rows have the first part
// of their texts. Rows whose parts are equal, and cut, are made again with the next part, and sorted among themselves.

// textParts holds a part of the text of each row.
type textParts struct {
	skip   int      // bytes of a text before the part
	width  int      // maximum bytes of the part
	size   int      // bytes of a block
	blocks [][]byte // each text preceded by two bytes with its length; the first block is not used
	block  *atomic.Int32
}

// newTextParts returns the parts of the texts of n rows from byte skip on, in about most bytes.
func newTextParts(skip, n, most int) textParts {
	width := min(max(most/max(n, 1)-2, minSortPart), maxSortText-skip)
	size := min(n*(width+2), 1<<blockBits) // a text is no longer than a block: the least part and 2 bytes fit both
	return textParts{skip: skip, width: width, size: max(size, width+2), blocks: make([][]byte, 1<<12), block: new(atomic.Int32)}
}

// rest returns the bytes of a part after those in the key.
func (p *textParts) rest(at uint32) []byte {
	if at == atText {
		return nil
	}
	block := p.blocks[at>>blockBits]
	off := at & (1<<blockBits - 1)
	return block[off+2:][8:binary.LittleEndian.Uint16(block[off:])]
}

// continues reports whether the text of a row may continue after its part.
func (p *textParts) continues(r sortRow) bool {
	return p.skip+p.width < maxSortText && r.at > atText && len(p.rest(r.at))+8 >= p.width
}

// span is a range of sorted rows.
type span struct{ from, to int }

// sameSoFar appends the runs of sorted rows whose texts have the same part and may continue. from is added to their positions.
func (p *textParts) sameSoFar(to []span, rows []sortRow, from int) []span {
	for i := 0; i < len(rows); {
		k, one := i+1, true // one: all have the same text, stored once
		for ; k < len(rows) && rows[k].key == rows[i].key && (rows[k].at == rows[i].at || bytes.Equal(p.rest(rows[k].at), p.rest(rows[i].at))); k++ {
			one = one && rows[k].at == rows[i].at
		}
		if !one && p.continues(rows[i]) {
			to = append(to, span{from + i, from + k})
		}
		i = k
	}
	return to
}

// pick is a row whose key is made again.
type pick struct{ frame, row uint32 }

// refine sorts the runs of rows that are equal so far by the next parts of their texts, until they differ or end.
func (s *sorter) refine(ctx context.Context, by keyOf, out []sortRow, same []span) error {
	for len(same) > 0 {
		n := 0
		for _, run := range same {
			n += run.to - run.from
		}
		s.textParts = newTextParts(s.skip+s.width, n, s.maxTexts)
		s.again = make([]pick, 0, n)
		rows := s.rows[:n] // not needed anymore
		for _, run := range same {
			for _, r := range out[run.from:run.to] {
				row := len(s.again)
				rows[row] = sortRow{rank: r.rank, at: atText} // of a frame that was discarded meanwhile
				s.again = append(s.again, pick{s.frames[r.rank], uint32(row)})
			}
		}
		slices.SortFunc(s.again, func(a, b pick) int { return cmp.Compare(a.frame, b.frame) })
		if err := s.eachChunk(ctx, by, n); err != nil {
			return err
		}
		var next []span
		for _, run := range same {
			part := rows[:run.to-run.from]
			rows = rows[len(part):]
			slices.SortFunc(part, func(a, b sortRow) int {
				c := cmp.Or(cmp.Compare(a.key, b.key), bytes.Compare(s.rest(a.at), s.rest(b.at)))
				if s.desc {
					c = -c
				}
				return cmp.Or(c, cmp.Compare(a.rank, b.rank))
			})
			next = s.sameSoFar(next, part, run.from)
			copy(out[run.from:], part)
		}
		same = next
	}
	return ctx.Err()
}
