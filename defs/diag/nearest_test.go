package diag

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// plain returns the edit distance by its definition, without optimizations.
func plain(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0:
				rows[i][j] = j
			case j == 0:
				rows[i][j] = i
			default:
				cost := 1
				if a[i-1] == b[j-1] {
					cost = 0
				}
				rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
				}
			}
		}
	}
	return rows[len(a)][len(b)]
}

// TestNearestIsThatOfTheDefinition checks that the optimizations do not change results.
func TestNearestIsThatOfTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		b := make([]byte, r.IntN(12))
		for i := range b {
			b[i] = "abAB_1\xc4"[r.IntN(7)]
		}
		return string(b)
	}
	for range 20000 {
		w, all := word(), []string{word(), word(), word(), word()}
		want, limit := "", len(w)/3+2
		for _, c := range all {
			if d := plain(strings.ToLower(w), strings.ToLower(c)); d < limit {
				want, limit = c, d
			}
		}
		if got := Nearest(w, all); got != want {
			t.Fatalf("near to %q of %q is %q, not %q", w, all, got, want)
		}
	}
}

func TestNearestAllocatesNothingForACandidate(t *testing.T) {
	all := slices.Repeat([]string{"S_MESSAGE", "C_OTHER_MESSAGE"}, 1000)
	if n := testing.AllocsPerRun(5, func() { Nearest("s_mesage_of", all) }); n > 10 {
		t.Errorf("%v allocations", n)
	}
}
