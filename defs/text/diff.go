package text

// Edit is a line of a comparison of two texts: of the old one (Old > 0), of the new one, or of both. Lines count from 1.
type Edit struct{ Old, New int }

// maxEdits bounds the differing lines that Diff aligns exactly; texts that differ in more are compared as a whole.
const maxEdits = 1000

// Diff aligns the lines of two texts with the fewest differing lines (E. Myers, An O(ND) Difference Algorithm and Its Variations, 1986).
func Diff(before, after []string) []Edit {
	var out []Edit
	first := 0
	for first < len(before) && first < len(after) && before[first] == after[first] {
		first++
		out = append(out, Edit{first, first})
	}
	last := 0
	for last < len(before)-first && last < len(after)-first && before[len(before)-1-last] == after[len(after)-1-last] {
		last++
	}
	a, b := before[first:len(before)-last], after[first:len(after)-last]
	for _, e := range diff(a, b) {
		if e.Old > 0 {
			e.Old += first
		}
		if e.New > 0 {
			e.New += first
		}
		out = append(out, e)
	}
	for i := last; i > 0; i-- {
		out = append(out, Edit{len(before) - i + 1, len(after) - i + 1})
	}
	return out
}

// diff is Diff without the common start and end.
func diff(a, b []string) []Edit {
	n, m := len(a), len(b)
	limit := min(n+m, maxEdits)
	v := make([]int, 2*limit+3) // v[k+limit+1] is the furthest line of a on diagonal k
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, append([]int(nil), v[limit+1-d:limit+2+d]...))
		for k := -d; k <= d; k += 2 {
			x := v[k+limit] + 1
			if k == -d || k != d && v[k+limit] < v[k+limit+2] {
				x = v[k+limit+2]
			}
			for x < n && x-k < m && a[x] == b[x-k] {
				x++
			}
			v[k+limit+1] = x
			if x >= n && x-k >= m {
				return back(trace, n, m)
			}
		}
	}
	out := make([]Edit, 0, n+m)
	for i := range a {
		out = append(out, Edit{Old: i + 1})
	}
	for i := range b {
		out = append(out, Edit{New: i + 1})
	}
	return out
}

// back follows the steps from the ends of both texts to their starts.
func back(trace [][]int, x, y int) []Edit {
	var out []Edit
	for d := len(trace) - 1; d > 0; d-- {
		v := trace[d] // before step d: v[k+d] for k from -d to d
		k := x - y
		prev := k - 1
		if k == -d || k != d && v[k-1+d] < v[k+1+d] {
			prev = k + 1
		}
		px := v[prev+d]
		py := px - prev
		step := Edit{New: py + 1}
		sx, sy := px, py+1
		if prev < k {
			step, sx, sy = Edit{Old: px + 1}, px+1, py
		}
		for x > sx && y > sy {
			out = append(out, Edit{x, y})
			x, y = x-1, y-1
		}
		out = append(out, step)
		x, y = px, py
	}
	for x > 0 && y > 0 {
		out = append(out, Edit{x, y})
		x, y = x-1, y-1
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}
