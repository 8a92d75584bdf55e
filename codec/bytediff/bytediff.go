// Package bytediff compares two byte strings. It does no I/O.
package bytediff

// Run is a pair of corresponding ranges of two byte strings.
type Run struct {
	Kind       RunKind
	A, ASize   int // offset and number of bytes in a
	B, BSize   int
	Unresolved bool // changed: the comparison was abandoned
}

// RunKind is the kind of a difference.
type RunKind uint8

// The kinds of runs.
const (
	Equal    RunKind = iota // equal in both
	Changed                 // different bytes
	Inserted                // only in b
	Removed                 // only in a
)

func (k RunKind) String() string { return [...]string{"equal", "changed", "inserted", "removed"}[k] }

const (
	maxEdits    = 1024    // maximum number of inserted and removed bytes considered
	maxDiffWork = 1 << 26 // maximum number of steps
	maxRuns     = 1 << 16
)

// Of returns the difference between two byte strings with the fewest inserted and removed bytes; for strings of equal length it
// compares the bytes at each offset if that changes no more. The runs cover both strings, and adjacent runs have different kinds. If the
// comparison would take too much work, a single Unresolved run covers everything between the equal start and the equal end.
func Of(a, b []byte) []Run {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	d := &differ{a: a, b: b}
	d.equal(start)
	d.middle(len(a)-end, len(b)-end)
	d.equal(end)
	return d.runs
}

// differ compares two strings; runs covers them up to x and y.
type differ struct {
	a, b []byte
	x, y int
	runs []Run
}

func (d *differ) equal(n int) {
	if n == 0 {
		return
	}
	if k := len(d.runs) - 1; k >= 0 && d.runs[k].Kind == Equal {
		d.runs[k].ASize += n
		d.runs[k].BSize += n
	} else {
		d.runs = append(d.runs, Run{Kind: Equal, A: d.x, ASize: n, B: d.y, BSize: n})
	}
	d.x, d.y = d.x+n, d.y+n
}

// edit adds a run of removed bytes of a and inserted bytes of b; both together are a change.
func (d *differ) edit(removed, inserted int) {
	if removed+inserted == 0 {
		return
	}
	k := len(d.runs) - 1
	if k < 0 || d.runs[k].Kind == Equal {
		d.runs = append(d.runs, Run{A: d.x, B: d.y})
		k++
	}
	r := &d.runs[k]
	r.ASize += removed
	r.BSize += inserted
	switch {
	case r.BSize == 0:
		r.Kind = Removed
	case r.ASize == 0:
		r.Kind = Inserted
	default:
		r.Kind = Changed
	}
	d.x, d.y = d.x+removed, d.y+inserted
}

// middle compares the remaining bytes up to the given ends.
func (d *differ) middle(endA, endB int) {
	n, m := endA-d.x, endB-d.y
	if n == 0 || m == 0 {
		d.edit(n, m)
		return
	}
	limit := min(maxEdits, max(maxDiffWork/(n+m), 16))
	changed := -1
	if n == m {
		changed = 0
		for i := range n {
			if d.a[d.x+i] != d.b[d.y+i] {
				changed++
			}
		}
		limit = min(limit, changed-1)
	}
	if steps, ok := shortest(d.a[d.x:endA], d.b[d.y:endB], limit); ok {
		for _, s := range steps {
			d.edit(s.removed, s.inserted)
			d.equal(s.equal)
		}
		return
	}
	if changed < 0 {
		d.edit(n, m)
		d.runs[len(d.runs)-1].Unresolved = true
		return
	}
	for i := 0; i < n; {
		if len(d.runs) >= maxRuns {
			d.edit(n-i, n-i)
			d.runs[len(d.runs)-1].Unresolved = true
			return
		}
		k := i
		for k < n && d.a[d.x+k-i] != d.b[d.y+k-i] {
			k++
		}
		d.edit(k-i, k-i)
		i = k
		for k < n && d.a[d.x+k-i] == d.b[d.y+k-i] {
			k++
		}
		d.equal(k - i)
		i = k
	}
}

// step is a number of removed or inserted bytes, followed by equal ones.
type step struct{ removed, inserted, equal int }

// shortest returns a shortest edit script from a to b, if it has at most limit edits: Myers, "An O(ND) Difference Algorithm and Its
// Variations", 1986. Memory grows with the square of the number of edits.
func shortest(a, b []byte, limit int) (steps []step, ok bool) {
	n, m := len(a), len(b)
	if limit < 1 || n-m > limit || m-n > limit {
		return nil, false
	}
	v := make([]int32, 2*limit+3) // by diagonal x-y: the furthest x
	mid := limit + 1
	var trace [][]int32 // v[mid-d:mid+d+1] after d edits
	for edits := 0; edits <= limit; edits++ {
		for k := -edits; k <= edits; k += 2 {
			var x int
			if k == -edits || k != edits && v[mid+k-1] < v[mid+k+1] {
				x = int(v[mid+k+1])
			} else {
				x = int(v[mid+k-1]) + 1
			}
			y := x - k
			if x > n || y > m {
				v[mid+k] = int32(x) // outside: a dead end that still compares as furthest
				continue
			}
			for x < n && y < m && a[x] == b[y] {
				x, y = x+1, y+1
			}
			v[mid+k] = int32(x)
			if x == n && y == m {
				return wayBack(trace, n, m), true
			}
		}
		trace = append(trace, append([]int32(nil), v[mid-edits:mid+edits+1]...))
	}
	return nil, false
}

// wayBack follows the furthest points from the end to the start.
func wayBack(trace [][]int32, n, m int) []step {
	steps := make([]step, 0, len(trace)+1)
	x, y := n, m
	for edits := len(trace); edits > 0; edits-- {
		v := trace[edits-1] // v[k+edits-1]
		at := func(k int) int32 {
			if k < -(edits-1) || k > edits-1 {
				return -1
			}
			return v[k+edits-1]
		}
		k := x - y
		s := step{}
		px, py := 0, 0
		if k == -edits || k != edits && at(k-1) < at(k+1) {
			px = int(at(k + 1))
			py = px - (k + 1)
			s.inserted = 1
		} else {
			px = int(at(k - 1))
			py = px - (k - 1)
			s.removed = 1
		}
		s.equal = x - px - s.removed
		steps = append(steps, s)
		x, y = px, py
	}
	if x > 0 {
		steps = append(steps, step{equal: x})
	}
	for i, j := 0, len(steps)-1; i < j; i, j = i+1, j-1 {
		steps[i], steps[j] = steps[j], steps[i]
	}
	return steps
}
