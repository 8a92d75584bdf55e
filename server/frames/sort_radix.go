package frames

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
)

func keyOfRow(r *sortRow) uint64 { return r.key }

// fewRows are sorted by comparing.
const fewRows = 64

// radixSort sorts rows by a number, those with the same stay in their order. spare is as long as rows.
func radixSort(rows, spare []sortRow, key func(*sortRow) uint64) {
	if len(rows) < 2 {
		return
	}
	sorted, first, differ, last := true, key(&rows[0]), uint64(0), uint64(0)
	for i := range rows {
		k := key(&rows[i])
		sorted = sorted && k >= last
		differ |= k ^ first
		last = k
	}
	if sorted {
		return
	}
	if len(rows) <= 4*fewRows {
		slices.SortStableFunc(rows, func(a, b sortRow) int {
			switch x, y := key(&a), key(&b); {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
		return
	}
	from, to := rows, spare
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xff == 0 { // all have the same there
			continue
		}
		var at [256]int
		for i := range from {
			at[byte(key(&from[i])>>shift)]++
		}
		sum := 0
		for i, n := range at {
			at[i], sum = sum, sum+n
		}
		for i := range from {
			k := byte(key(&from[i]) >> shift)
			to[at[k]] = from[i]
			at[k]++
		}
		from, to = to, from
	}
	if &from[0] != &rows[0] {
		copy(rows, from)
	}
}

// sortTexts sorts rows by their texts from a byte on, of which the key has the first eight: by these, and then those that have them in
// common by what follows, at most maxSortText/8 times.
func (s *sorter) sortTexts(ctx context.Context, rows, spare []sortRow, from int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	radixSort(rows, spare, keyOfRow)
	for a := 0; a < len(rows); {
		b, same := a+1, true
		for ; b < len(rows) && rows[b].key == rows[a].key; b++ {
			same = same && rows[b].at == rows[a].at
		}
		if run := rows[a:b]; !same && from+8 < s.most {
			if len(run) <= fewRows {
				slices.SortStableFunc(run, func(x, y sortRow) int {
					c := bytes.Compare(s.rest(x.at, from+8), s.rest(y.at, from+8))
					if s.desc {
						c = -c
					}
					return c
				})
			} else {
				for i := range run {
					run[i].key = s.next(run[i].at, from+8)
				}
				if err := s.sortTexts(ctx, run, spare[a:b], from+8); err != nil {
					return err
				}
			}
		}
		a = b
	}
	return nil
}

// rest are the bytes of a text from one on.
func (s *sorter) rest(at uint32, from int) []byte {
	if at == atText {
		return nil
	}
	block := s.blocks[at>>blockBits]
	off := int(at & (1<<blockBits - 1))
	n := int(binary.LittleEndian.Uint16(block[off:]))
	return block[off+2:][min(from, n):n]
}

// next are the next eight bytes of a text as a key.
func (s *sorter) next(at uint32, from int) uint64 {
	k := firstEight(s.rest(at, from))
	if s.desc {
		k = ^k
	}
	return k
}

// firstEight are the first bytes of a text as a number, with zeros where it is shorter.
func firstEight(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var k uint64
	for i, c := range b {
		k |= uint64(c) << (56 - 8*i)
	}
	return k
}
