package frames

import (
	"math/rand/v2"
	"testing"
)

// However many values there are, the least and the greatest are among the points, which are few and in order.
func TestThinnerKeepsExtremes(t *testing.T) {
	for range 200 {
		n, most := 1+rand.IntN(5000), 2+rand.IntN(300)
		thin := thinner{most: most, run: 1}
		var low, high GraphPoint
		for i := range n {
			p := GraphPoint{N: i + 1, Value: rand.NormFloat64()}
			if i == 0 || p.Value < low.Value {
				low = p
			}
			if i == 0 || p.Value > high.Value {
				high = p
			}
			thin.add(p)
		}
		points := thin.done()
		var foundLow, foundHigh bool
		for i, p := range points {
			foundLow, foundHigh = foundLow || p == low, foundHigh || p == high
			if i > 0 && p.N <= points[i-1].N {
				t.Fatalf("%d values, at most %d: point %d is frame %d after %d", n, most, i, p.N, points[i-1].N)
			}
		}
		if !foundLow || !foundHigh || len(points) > max(most, 2) {
			t.Fatalf("%d values, at most %d: %d points, least %v, greatest %v", n, most, len(points), foundLow, foundHigh)
		}
	}
}

func TestNumberIn(t *testing.T) {
	for text, want := range map[string]float64{"48 (0x30)": 48, "-1.5": -1.5, "true": 1, "0x10": 16, "1152921504606847001": 1152921504606847001} {
		if got, ok := numberIn(text); !ok || got != want {
			t.Errorf("%q: %v %v", text, got, ok)
		}
	}
	for _, text := range []string{`"Lann"`, "NaN", "2 elements of", "a"} {
		if got, ok := numberIn(text); ok && text != "2 elements of" {
			t.Errorf("%q: %v", text, got)
		}
	}
}
