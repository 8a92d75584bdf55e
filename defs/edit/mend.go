package edit

import (
	"slices"
	"strings"
)

// Hole is a line that Mend has replaced, because it has an error.
type Hole struct {
	Line int  // from 1
	Kept bool // the line is as in the good text; otherwise it is empty
}

// Bounds of Mend.
const (
	maxHoles   = 20
	maxCompare = 200 // lines of a changed part
)

// Mend returns a text without the errors of some lines, counted from 1, for showing the rest of it: a line that was in an earlier text
// without errors is as it was there, so that the fields below stay in their places, and a new line is empty. The text has the same number of
// lines. ok is false if too many lines have errors.
func Mend(text, good string, bad []int) (mended string, holes []Hole, ok bool) {
	if len(bad) == 0 || len(bad) > maxHoles {
		return "", nil, false
	}
	lines, was := strings.Split(text, "\n"), strings.Split(good, "\n")
	if good == "" {
		was = nil
	}
	from := match(lines, was)
	for _, n := range bad {
		if n < 1 || n > len(lines) {
			return "", nil, false
		}
		line := ""
		k := from(n - 1)
		if kept := k >= 0 && was[k] != lines[n-1]; kept {
			line = was[k]
		}
		holes = append(holes, Hole{n, line != ""})
		lines[n-1] = line
	}
	return strings.Join(lines, "\n"), holes, true
}

// match returns a function that returns the index of the line of was that a changed line was, or -1.
func match(lines, was []string) func(i int) int {
	first := 0
	for first < min(len(lines), len(was)) && lines[first] == was[first] {
		first++
	}
	last := 0
	for last < min(len(lines), len(was))-first && lines[len(lines)-1-last] == was[len(was)-1-last] {
		last++
	}
	now, then := lines[first:len(lines)-last], was[first:len(was)-last]
	if len(now) == len(then) {
		return func(i int) int {
			if i < first || i >= len(lines)-last {
				return -1
			}
			return i
		}
	}
	if len(now) > maxCompare || len(then) > maxCompare {
		return func(int) int { return -1 }
	}
	// Of several lines the most similar one: each is used once, by the line that resembles it most.
	type pair struct{ i, k, same int }
	var pairs []pair
	for i := range now {
		for k := range then {
			if n := similar(now[i], then[k]); n > 0 {
				pairs = append(pairs, pair{i, k, n})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return b.same - a.same })
	of, taken := map[int]int{}, map[int]bool{}
	for _, p := range pairs {
		if _, done := of[p.i]; !done && !taken[p.k] {
			of[p.i], taken[p.k] = p.k, true
		}
	}
	return func(i int) int {
		if k, ok := of[i-first]; ok {
			return first + k
		}
		return -1
	}
}

// similar returns the number of characters at the start and at the end that two lines share, 0 if these are fewer than half of the longer one.
func similar(a, b string) int {
	short := min(len(a), len(b))
	start, end := 0, 0
	for start < short && a[start] == b[start] {
		start++
	}
	for start+end < short && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	n := start + end
	if 2*n < max(len(a), len(b)) {
		return 0
	}
	return n
}
