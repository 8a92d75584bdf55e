package corpus

import (
	"crypto/sha256"
	"math/bits"
	"math/rand/v2"
)

// MaxDistinct is the maximum number of distinct values of a field that are counted individually.
const MaxDistinct = 1 << 16

const (
	maxMemory  = 64 << 20 // bytes of all counted values of a table
	keptText   = 240      // maximum bytes stored of a text
	firstSlots = 16
	slotBytes  = 16
	textBytes  = 96 // memory of a counted text in addition to its bytes
)

// room is the remaining memory budget for the counts of a table, in bytes.
type room struct{ left int }

func (r *room) take(n int) bool {
	if n > r.left {
		return false
	}
	r.left -= n
	return true
}

// numberCounts counts occurrences of numbers. It is a hash table with open addressing, which is several times as fast as a map. Secret
// seeds prevent chosen numbers from colliding.
type numberCounts struct {
	slots []slot // the length is a power of two
	used  int
	rest  uint64 // occurrences of numbers not counted individually because the table was full
	last  int    // slot of the previous number
	full  bool

	low, high uint64 // bounds of the individually counted numbers
}

type slot struct{ key, n uint64 } // n 0: empty

// seeds are shared by all tables of a process: the results do not depend on them.
var seeds = [2]uint64{rand.Uint64(), rand.Uint64() | 1}

func hash(key uint64) uint64 {
	hi, lo := bits.Mul64(key^seeds[0], seeds[1])
	hi, lo = bits.Mul64(hi^lo^seeds[0], 0x9e3779b97f4a7c15)
	return hi ^ lo
}

// add counts a number that occurs times times in a row.
func (c *numberCounts) add(key, times uint64, r *room) {
	if c.last < len(c.slots) {
		if s := &c.slots[c.last]; s.key == key && s.n > 0 {
			s.n += times
			return
		}
	}
	if c.full && (key < c.low || key > c.high) { // avoid searching for the new values of a rising sequence
		c.rest += times
		return
	}
	if len(c.slots) > 0 {
		i := c.find(key)
		if s := &c.slots[i]; s.n > 0 {
			s.n += times
			c.last = i
			return
		}
	}
	if c.full || !c.fits(r) {
		c.full = true
		c.rest += times
		return
	}
	c.last = c.find(key)
	c.slots[c.last] = slot{key, times}
	if c.used == 0 {
		c.low = key
	}
	c.low, c.high = min(c.low, key), max(c.high, key)
	c.used++
}

// find returns the slot of a key, or the empty slot for it. There is always an empty slot.
func (c *numberCounts) find(key uint64) int {
	mask := len(c.slots) - 1
	i := int(hash(key)) & mask
	for c.slots[i].n > 0 && c.slots[i].key != key {
		i = (i + 1) & mask
	}
	return i
}

// fits makes room for one more key, and reports whether the budget allows it.
func (c *numberCounts) fits(r *room) bool {
	if c.used >= MaxDistinct {
		return false
	}
	if c.used < len(c.slots)/2 {
		return true
	}
	size := max(2*len(c.slots), firstSlots)
	if !r.take((size - len(c.slots)) * slotBytes) {
		return false
	}
	old := c.slots
	c.slots, c.last = make([]slot, size), 0
	for _, s := range old {
		if s.n > 0 {
			c.slots[c.find(s.key)] = s
		}
	}
	return true
}

// mostFor returns the maximum memory for additional numbers, in bytes: fits keeps at least half of the slots empty.
func (c *numberCounts) mostFor(more int) int {
	used := min(c.used+more, MaxDistinct)
	if c.full || used <= len(c.slots)/2 {
		return 0
	}
	return max(4*used, firstSlots) * slotBytes
}

// textCounts counts occurrences of texts or byte strings.
type textCounts struct {
	index map[string]int32 // index into the other slices
	texts []string         // texts, as from keyOf
	n     []uint64
	rest  uint64
	last  int
	full  bool
}

// keyOf returns the key of a text: the text itself, or its start and a hash of all of it. Only the latter is longer than keptText.
func keyOf(buf, text []byte) []byte {
	if len(text) <= keptText {
		return text
	}
	sum := sha256.Sum256(text)
	return append(append(buf[:0], text[:keptText]...), sum[:]...)
}

// add counts a text that occurs times times in a row.
func (c *textCounts) add(key []byte, times uint64, r *room) {
	if c.last < len(c.texts) && c.texts[c.last] == string(key) {
		c.n[c.last] += times
		return
	}
	if i, ok := c.index[string(key)]; ok {
		c.n[i] += times
		c.last = int(i)
		return
	}
	if c.full || len(c.texts) >= MaxDistinct || !r.take(len(key)+textBytes) {
		c.full = true
		c.rest += times
		return
	}
	if c.index == nil {
		c.index = map[string]int32{}
	}
	text := string(key)
	c.last = len(c.texts)
	c.index[text] = int32(c.last)
	c.texts, c.n = append(c.texts, text), append(c.n, times)
}
