package diag

import (
	"iter"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// Nearest returns the candidate closest to word, for "did you mean": at most a third of the letters may differ, ignoring case. It returns
// "" if no candidate is close enough.
func Nearest(word string, candidates []string) string {
	return NearestOf(word, slices.Values(candidates))
}

// NearestOf is like Nearest, for a sequence. ASCII candidates do not allocate, as there may be thousands.
func NearestOf(word string, candidates iter.Seq[string]) string {
	best, limit := "", len(word)/3+2
	word = strings.ToLower(word)
	letters := lettersOf(word)
	var buffer [maxCompared]byte
	for c := range candidates {
		low := lower(buffer[:0], c)
		if len(low)-len(word) >= limit || len(word)-len(low) >= limit || len(low) > maxCompared || len(word) > maxCompared {
			continue
		}
		// One edit adds at most one letter and removes at most one.
		if (bits.OnesCount64(letters^lettersOf(low))+1)/2 >= limit {
			continue
		}
		if d := distance(word, low, limit); d < limit {
			best, limit = c, d
		}
	}
	return best
}

// maxCompared is the maximum length of compared words in bytes.
const maxCompared = 200

// lower returns s in lower case, in the buffer if s is short and ASCII.
func lower(buffer []byte, s string) []byte {
	if len(s) > cap(buffer) {
		return []byte(strings.ToLower(s))
	}
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return []byte(strings.ToLower(s))
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		buffer = append(buffer, c)
	}
	return buffer
}

// lettersOf returns a set with a bit for each letter of s; some letters share a bit.
func lettersOf[T string | []byte](s T) (set uint64) {
	for i := range len(s) {
		set |= 1 << (s[i] & 63)
	}
	return set
}

// distance returns the edit distance with transpositions (optimal string alignment), or limit if that is less.
func distance(a string, b []byte, limit int) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var rows [3][maxCompared + 1]int16
	prev2, prev, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		prev[j] = int16(j)
	}
	last := 0 // minimum of the previous row
	for i := 1; i <= len(a); i++ {
		row[0] = int16(i)
		least := i
		for j := 1; j <= len(b); j++ {
			cost := int16(1)
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, prev2[j-2]+1)
			}
			row[j], least = d, min(least, int(d))
		}
		if least >= limit && last >= limit {
			return limit
		}
		prev2, prev, row, last = prev, row, prev2, least
	}
	return min(int(prev[len(b)]), limit)
}
