package page

import "hash/maphash"

// ListPatch is a change of a list of the page: New replaces Remove of its elements from At on. A list may have several patches, in ascending
// order; At counts in the list before all of them.
type ListPatch[T any] struct {
	At     int `json:"at"`
	Remove int `json:"remove,omitempty"` // -1 for all
	New    []T `json:"new,omitempty"`
}

// sentLists holds the hashes of the elements that a page has, by list.
type sentLists map[string][]uint32

// patched returns the changes that make the list of the page equal to items, nil if it is equal.
func patched[T comparable](l *livePage, id string, items []T) []ListPatch[T] {
	return patchedApart(l, id, items, minCommon)
}

// patchedApart is patched with the least number of elements between two changes; fewer are sent again.
func patchedApart[T comparable](l *livePage, id string, items []T, apart int) []ListPatch[T] {
	sums := make([]uint32, len(items))
	for i, x := range items {
		sums[i] = uint32(maphash.Comparable(l.seed, x))
	}
	old, known := l.lists[id]
	l.lists[id] = sums
	if !known {
		return []ListPatch[T]{{0, -1, items}} // the list of the page came with the page
	}
	var out []ListPatch[T]
	for _, h := range hunks(old, sums, apart) {
		out = append(out, ListPatch[T]{h.at, h.remove, items[h.from:h.to]})
	}
	return out
}

// hunk is a difference of two lists: elements [from, to) of the new one replace remove elements of the old one, from at on.
type hunk struct{ at, remove, from, to int }

// Bounds of the comparison of two lists.
const (
	maxDifferent = 300 // elements; lists that differ more are replaced between their common start and end
	minCommon    = 3   // elements between two changes
	commonCells  = 12  // cells between two changes: a plain one is a letter
)

// hunks compares two lists: a shortest edit script by Myers's algorithm.
func hunks(old, now []uint32, apart int) []hunk {
	start, end := 0, 0
	for start < min(len(old), len(now)) && old[start] == now[start] {
		start++
	}
	for end < min(len(old), len(now))-start && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	a, b := old[start:len(old)-end], now[start:len(now)-end]
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	var out []hunk
	i, j := 0, 0 // compared so far
	add := func(toI, toJ int) {
		if i == toI && j == toJ {
			return
		}
		if last := len(out) - 1; last >= 0 && start+i-(out[last].at+out[last].remove) < apart {
			out[last].remove, out[last].to = start+toI-out[last].at, start+toJ
			return
		}
		out = append(out, hunk{start + i, toI - i, start + j, start + toJ})
	}
	for _, s := range stretches(a, b) {
		add(s.i, s.j)
		i, j = s.i+s.n, s.j+s.n
	}
	add(len(a), len(b))
	return out
}

// stretch is n equal elements at i of one list and at j of the other.
type stretch struct{ i, j, n int }

// stretches returns the common elements of two lists, in order; none if the lists differ too much.
func stretches(a, b []uint32) []stretch {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	var trace [][]int32 // by number of differences d: the furthest index in a on diagonals -d, -d+2, ..., d
	furthest := func(d, k int) int { return int(trace[d][(k+d)/2]) }
	step := func(d, k int) (x int, down bool) { // the start of the diagonal, and whether an element of b was inserted before
		if k == -d || k != d && furthest(d-1, k-1) < furthest(d-1, k+1) {
			return furthest(d-1, k+1), true
		}
		return furthest(d-1, k-1) + 1, false
	}
	for d := 0; d <= min(len(a)+len(b), maxDifferent); d++ {
		row := make([]int32, d+1)
		for k := -d; k <= d; k += 2 {
			x := 0
			if d > 0 {
				x, _ = step(d, k)
			}
			for x < len(a) && x-k < len(b) && x-k >= 0 && a[x] == b[x-k] {
				x++
			}
			row[(k+d)/2] = int32(x)
			if x >= len(a) && x-k >= len(b) {
				trace = append(trace, row)
				return walkBack(len(a), len(b), d, furthest, step)
			}
		}
		trace = append(trace, row)
	}
	return nil
}

// walkBack follows the path of stretches from its end.
func walkBack(x, y, d int, furthest func(d, k int) int, step func(d, k int) (int, bool)) []stretch {
	var out []stretch
	for ; d >= 0; d-- {
		k, from, down := x-y, 0, false
		if d > 0 {
			from, down = step(d, k)
		}
		if n := x - from; n > 0 {
			out = append(out, stretch{from, from - k, n})
		}
		if x, y = from, from-k; down {
			y--
		} else {
			x--
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}
