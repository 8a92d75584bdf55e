package corpus

import (
	"cmp"
	"math"
	"slices"
)

// Figures are statistics of a sequence of values.
type Figures struct {
	Values   uint64  // how many there are
	Distinct int     // different ones among them
	More     bool    // there are more than Distinct, which are not counted one by one
	Rest     uint64  // values that are not among the Distinct
	Constant bool    // all are the same; false of none
	Trend    Trend   // of numbers, in the order in which they came
	Entropy  float64 // bits, of the frequencies of the values; if More, it is at least that
	Min, Max Value   // of numbers by value, NaN left out; of texts and bytes by their first 240 bytes
	MinAt    uint64  // number of the first frame that has Min
	MaxAt    uint64
	MinLen   int   // characters of the shortest text as UTF-8 has them, bytes of bytes; 0 of numbers
	MaxLen   int   //
	Top      []Top // the most frequent, at most 10 of the Distinct
}

// Top is a value and its number of occurrences.
type Top struct {
	Value
	N uint64
}

// maxTop is how many values are shown.
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

// moves are the steps from one number to the next that were seen.
type moves uint8

const (
	up moves = 1 << iota
	down
	level
	unordered // to or from what is no number
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

// entropy is how many bits a value is worth. What is not counted one by one is taken for one value, which makes it the least that it
// can be. The counts come in any order and the sum does not depend on it.
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

// most are the indexes of the values that are there most often; of those as frequent the least come first.
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
