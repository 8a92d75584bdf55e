package corpus

import (
	"cmp"
	"math"
	"slices"
)

// Figures are statistics of a sequence of values.
type Figures struct {
	Values   uint64  // number of values
	Distinct int     // number of distinct values that are counted individually
	More     bool    // there are more distinct values than Distinct
	Rest     uint64  // number of values that are not among the Distinct
	Constant bool    // all values are equal; false if there are none
	Trend    Trend   // of numbers, in the order of addition
	Entropy  float64 // in bits, from the frequencies of the values; a lower bound if More
	Min, Max Value   // numbers by value, without NaN; texts and bytes by their first 240 bytes
	MinAt    uint64  // number of the first frame with Min
	MaxAt    uint64
	MinLen   int   // length of the shortest text in UTF-8 characters, or of bytes in bytes; 0 for numbers
	MaxLen   int   //
	Top      []Top // the most frequent, at most 10 of the Distinct
}

// Top is a value and its number of occurrences.
type Top struct {
	Value
	N uint64
}

// maxTop is the maximum number of values in Top.
const maxTop = 10

// Trend describes the changes of a sequence of at least two numbers.
type Trend uint8

// The trends.
const (
	NoTrend         Trend = iota // both rising and falling, or constant
	Rising                       // never falls
	StrictlyRising               // each number is greater than the one before
	Falling                      // never rises
	StrictlyFalling              // each number is less than the one before
)

func (t Trend) String() string {
	return [...]string{"", "rising", "strictly rising", "falling", "strictly falling"}[t]
}

// moves is the set of observed steps from one number to the next.
type moves uint8

const (
	up moves = 1 << iota
	down
	level
	unordered // to or from NaN
)

func (m moves) trend() Trend {
	switch m {
	case up:
		return StrictlyRising
	case up | level:
		return Rising
	case down:
		return StrictlyFalling
	case down | level:
		return Falling
	}
	return NoTrend
}

// entropy returns the entropy in bits. Values not counted individually are treated as one value, which makes the result a lower bound. It
// does not depend on the order of counts.
func entropy(counts []uint64, rest uint64) float64 {
	if rest > 0 {
		counts = append(counts, rest)
	}
	slices.Sort(counts)
	total := 0.0
	for _, n := range counts {
		total += float64(n)
	}
	sum := 0.0
	for _, n := range counts {
		if p := float64(n) / total; p > 0 {
			sum -= p * math.Log2(p)
		}
	}
	return max(sum, 0)
}

// most returns the indexes of the most frequent values; of equally frequent ones, the least come first.
func most(n int, count func(i int) uint64, less func(i, j int) bool) []int {
	var best []int
	for i := range n {
		before := func(j int) bool { // i is before j
			if c := cmp.Compare(count(j), count(i)); c != 0 {
				return c < 0
			}
			return less(i, j)
		}
		if count(i) == 0 || len(best) == maxTop && !before(best[maxTop-1]) {
			continue
		}
		at := len(best)
		for at > 0 && before(best[at-1]) {
			at--
		}
		if best = slices.Insert(best, at, i); len(best) > maxTop {
			best = best[:maxTop]
		}
	}
	return best
}
