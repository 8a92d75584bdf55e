package view

import (
	"hash/maphash"

	"wirebench/codec/bytediff"
)

// ListPatch is a change of a list of the page: New replaces Remove of its elements from At on. A list may have several patches, in ascending
// order; At counts in the list before all of them.
type ListPatch[T any] struct {
	At     int `json:"at"`
	Remove int `json:"remove,omitempty"` // -1 for all
	New    []T `json:"new,omitempty"`
}

// Sums returns the hashes of the elements of a list: a page keeps those instead of the list it has.
func Sums[T comparable](seed maphash.Seed, items []T) []uint32 {
	sums := make([]uint32, len(items))
	for i, x := range items {
		sums[i] = uint32(maphash.Comparable(seed, x))
	}
	return sums
}

// ListPatches returns the changes that make a list with the hashes old equal to items, whose hashes are sums; nil if it is equal.
func ListPatches[T any](old, sums []uint32, items []T) []ListPatch[T] {
	var out []ListPatch[T]
	for _, h := range hunks(old, sums) {
		out = append(out, ListPatch[T]{h.at, h.remove, items[h.from:h.to]})
	}
	return out
}

// apart is the least number of equal elements between two changes: with fewer they become one.
const apart = 3

// hunk is a difference of two lists: elements [from, to) of the new one replace remove elements of the old one, from at on.
type hunk struct{ at, remove, from, to int }

// maxDifferent bounds the comparison of two lists: those that differ in more elements are replaced between their common start and end.
const maxDifferent = 300

// hunks compares two lists: a shortest edit script by Myers's algorithm.
func hunks(old, now []uint32) []hunk {
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

// BytesPatch is a change of the bytes: New replaces Remove of them from At on.
type BytesPatch struct {
	At     int    `json:"at,omitempty"`
	Remove int    `json:"remove,omitempty"` // -1 for all
	New    []byte `json:"new"`              // base64
}

// ChangedBytes returns the change between two messages: the bytes between their common start and end.
func ChangedBytes(was, now []byte) *BytesPatch {
	start, end := 0, 0
	for start < min(len(was), len(now)) && was[start] == now[start] {
		start++
	}
	for end < min(len(was), len(now))-start && was[len(was)-1-end] == now[len(now)-1-end] {
		end++
	}
	return &BytesPatch{start, len(was) - start - end, now[start : len(now)-end]}
}

// Changes returns the changed and inserted ranges of a message, as start and end offsets in bytes. An empty range is the position of removed
// bytes.
func Changes(was, data []byte) [][2]int {
	var out [][2]int
	for _, run := range bytediff.Of(was, data) {
		if run.Kind != bytediff.Equal {
			out = append(out, [2]int{run.B, run.B + run.BSize})
		}
	}
	return out
}
