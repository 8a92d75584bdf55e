package corpus

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Guess is a likely interpretation of bytes of messages without a definition. Confidence is the share of messages, or of steps between
// messages, that support it; Why gives the reason in words.
type Guess struct {
	Offset     int     // bytes from the start of the message
	Size       int     // bytes
	Name       string  // "length", "counter", "offset", "text", "float"
	Type       string  // "u8", "u16", "u32", "f32", "ascii", "utf16"
	Confidence float64 // 0 to 1
	Why        string
}

const (
	maxJudged  = 1 << 16 // maximum number of messages used for guesses
	leastProof = 16      // minimum number of messages, or steps, for a guess
	surely     = 0.95    // minimum share that must support a guess
	maxGuesses = 32
)

// numberAt holds the evidence about the little-endian numbers at an offset.
type numberAt struct {
	n       uint64
	prev    uint32
	steps   [3]uint64 // as 1, 2 and 4 bytes: one more than in the previous message
	all     [3]uint64 // equal to the size of the message
	rest    [3]uint64 // equal to the number of bytes after it
	text    uint64    // as 2 bytes: the offset of characters
	floats  uint64    // as 4 bytes: a plausible float other than 0
	zeros   uint64    // as 4 bytes: 0
	whole   uint64    // floats without a fraction
	n4      uint64    // messages with 4 bytes there
	targets targets
}

// targets holds a few of the distinct values of offsets.
type targets struct {
	seen [4]uint16
	n    int
}

func (t *targets) add(v uint16) {
	if t.n < len(t.seen) && !slices.Contains(t.seen[:t.n], v) {
		t.seen[t.n] = v
		t.n++
	}
}

var widths = [3]int{1, 2, 4}

// judge updates the evidence with a message.
func (b *Bytes) judge(data []byte) {
	head := min(len(data), MaxOffset)
	for len(b.guesses) < head {
		b.guesses = append(b.guesses, numberAt{})
	}
	for i := range head {
		g := &b.guesses[i]
		var v uint32
		if i+4 <= len(data) {
			v = binary.LittleEndian.Uint32(data[i:])
			g.float(v)
		} else {
			for k, c := range data[i:] {
				v |= uint32(c) << (8 * k)
			}
		}
		left := len(data) - i
		for w, size := range widths {
			if size > left {
				break
			}
			mask := uint32(math.MaxUint32) >> (32 - 8*size)
			x := v & mask
			if g.n > 0 && x == (g.prev+1)&mask {
				g.steps[w]++
			}
			if uint64(x) == uint64(len(data)) {
				g.all[w]++
			}
			if uint64(x) == uint64(left-size) {
				g.rest[w]++
			}
		}
		if to := int(v & 0xffff); left >= 2 && to >= i+2 && to < len(data) && startsText(data[to:]) {
			g.text++
			g.targets.add(uint16(to))
		}
		g.prev = v
		g.n++
	}
}

func (g *numberAt) float(v uint32) {
	g.n4++
	if v == 0 {
		g.zeros++
		return
	}
	f := math.Float32frombits(v)
	if a := math.Abs(float64(f)); a >= 1e-4 && a <= 1e7 {
		g.floats++
		if f == float32(math.Trunc(float64(f))) {
			g.whole++
		}
	}
}

// startsText reports whether b starts with UTF-16 characters: at least two, or one and a zero.
func startsText(b []byte) bool {
	return len(b) >= 4 && printable(b[0]) && b[1] == 0 && (printable(b[2]) || b[2] == 0) && b[3] == 0
}

func printable(c byte) bool { return c >= 0x20 && c < 0x7f }

// Guesses returns likely interpretations of parts of the messages. They are few and do not overlap. They are derived from the first 65,536
// messages.
func (b *Bytes) Guesses() []Guess {
	if b.messages < leastProof {
		return nil
	}
	found := b.texts()
	for i := range b.guesses {
		found = b.numbers(found, i)
	}
	slices.SortStableFunc(found, func(x, y Guess) int {
		return cmp.Or(cmp.Compare(rankOf[y.Name], rankOf[x.Name]), cmp.Compare(y.Confidence, x.Confidence), cmp.Compare(y.Size, x.Size), cmp.Compare(x.Offset, y.Offset))
	})
	var taken [MaxOffset + 4]bool
	var out []Guess
	for _, g := range found {
		if len(out) == maxGuesses || slices.Contains(taken[g.Offset:g.Offset+g.Size], true) {
			continue
		}
		for i := range g.Size {
			taken[g.Offset+i] = true
		}
		out = append(out, g)
	}
	slices.SortFunc(out, func(x, y Guess) int { return x.Offset - y.Offset })
	return out
}

// rankOf is the precedence of overlapping guesses: higher if coincidence is less likely.
var rankOf = map[string]int{"length": 5, "counter": 4, "text": 3, "offset": 2, "float": 1}

// numbers appends the guesses for the numbers at an offset.
func (b *Bytes) numbers(found []Guess, i int) []Guess {
	g := &b.guesses[i]
	if g.n < leastProof {
		return found
	}
	share := func(n, of uint64) float64 { return float64(n) / float64(max(of, 1)) }
	if b.minSize < b.maxSize { // otherwise any constant could be the length
		for w := len(widths) - 1; w >= 0; w-- {
			size := widths[w]
			if b.reaches(i, size) < g.n {
				continue
			}
			guess := Guess{Offset: i, Size: size, Name: "length", Type: fmt.Sprintf("u%d", 8*size)}
			if s := share(g.all[w], g.n); s >= surely && b.varies(i, size) {
				guess.Confidence, guess.Why = s, fmt.Sprintf("it is the size of the message in %s", of(g.all[w], g.n, "message"))
			} else if s := share(g.rest[w], g.n); s >= surely && b.varies(i, size) {
				guess.Confidence, guess.Why = s, fmt.Sprintf("it is the number of bytes after it in %s", of(g.rest[w], g.n, "message"))
			} else {
				continue
			}
			if size == 4 && b.constant(i+2) && b.constant(i+3) {
				continue // as likely two bytes and two others
			}
			found = append(found, guess)
			break
		}
	}
	for w := len(widths) - 1; w >= 0; w-- {
		size := widths[w]
		if s := share(g.steps[w], g.n-1); g.n > leastProof && s >= surely && b.reaches(i, size) >= g.n && !b.constant(i+size-1) {
			why := fmt.Sprintf("it rises by 1 in %s", of(g.steps[w], g.n-1, "step"))
			for k := i + size; k < i+4 && k < len(b.at) && b.constant(k); k++ {
				why = fmt.Sprintf("it rises by 1 in %s; the bytes after it never change, and may belong to it", of(g.steps[w], g.n-1, "step"))
			}
			found = append(found, Guess{i, size, "counter", fmt.Sprintf("u%d", 8*size), s, why})
			break
		}
	}
	if s := share(g.text, g.n); s >= surely && g.targets.n >= 1 && !printable(b.at[i].most) {
		c := s
		if g.targets.n == 1 {
			c /= 2 // a constant offset could be any constant
		}
		found = append(found, Guess{i, 2, "offset", "u16", c, fmt.Sprintf("characters in UTF-16 start where it points in %s", of(g.text, g.n, "message"))})
	}
	if s := share(g.floats, g.n4-g.zeros); g.n4-g.zeros >= leastProof && s >= surely && g.whole < g.floats && b.floatLike(i) {
		found = append(found, Guess{i, 4, "float", "f32", s, fmt.Sprintf("a number between 0.0001 and 10,000,000 in %s that are not 0", of(g.floats, g.n4-g.zeros, "message"))})
	}
	return found
}

// of formats n of all, or all, with a noun.
func of(n, all uint64, what string) string {
	if n == all {
		return fmt.Sprintf("all %d %ss", all, what)
	}
	return fmt.Sprintf("%d of %d %ss", n, all, what)
}

// reaches returns the number of judged messages that contain all bytes of a number.
func (b *Bytes) reaches(i, size int) uint64 {
	if i+size > len(b.guesses) {
		return 0
	}
	return b.guesses[i+size-1].n
}

func (b *Bytes) constant(i int) bool { return i < len(b.at) && b.at[i].least == b.at[i].most }

// varies reports whether any byte of a number varies.
func (b *Bytes) varies(i, size int) bool {
	for k := range size {
		if i+k < len(b.at) && !b.constant(i+k) {
			return true
		}
	}
	return false
}

// floatLike reports whether the low bytes of a float vary more than the high one, unlike those of integers and text.
func (b *Bytes) floatLike(i int) bool {
	if i+4 > len(b.at) {
		return false
	}
	distinct := func(a *byteAt) (n int) {
		for _, c := range a.counts {
			if c > 0 {
				n++
			}
		}
		return n
	}
	return distinct(&b.at[i+1]) >= 8 && distinct(&b.at[i+1]) >= distinct(&b.at[i+3]) && !printable(b.at[i+1].most)
}

// texts returns guesses for runs of characters at a fixed offset.
func (b *Bytes) texts() (found []Guess) {
	share := func(i int, want func(c byte) bool) float64 {
		if i >= len(b.at) || b.at[i].n < leastProof || b.at[i].n < b.messages/2 {
			return 0
		}
		n := uint64(0)
		for c, k := range b.at[i].counts {
			if want(byte(c)) {
				n += k
			}
		}
		return float64(n) / float64(b.at[i].n)
	}
	zero := func(c byte) bool { return c == 0 }
	const least = 4 // characters
	for i := 0; i < len(b.at); {
		c16, n16 := 1.0, 0
		for {
			p, z := share(i+2*n16, printable), share(i+2*n16+1, zero)
			if min(p, z) < surely {
				break
			}
			c16 = min(c16, p, z)
			n16++
		}
		c8, n8 := 1.0, 0
		for {
			p := share(i+n8, printable)
			if p < surely {
				break
			}
			c8 = min(c8, p)
			n8++
		}
		switch {
		case n16 >= least:
			found = append(found, Guess{i, 2 * n16, "text", "utf16", c16, fmt.Sprintf("at least %d characters, each followed by a zero byte", n16)})
			i += 2 * n16
		case n8 >= least:
			found = append(found, Guess{i, n8, "text", "ascii", c8, fmt.Sprintf("at least %d bytes that are printable characters", n8)})
			i += n8
		default:
			i++
		}
	}
	return found
}
