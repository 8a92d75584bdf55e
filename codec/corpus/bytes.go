package corpus

import (
	"fmt"
	"strconv"
)

// MaxOffset is the number of bytes at the start of each message that a Bytes analyzes.
const MaxOffset = 512

// Bytes collects statistics of messages without a definition, by byte offset. The zero value is empty.
type Bytes struct {
	messages uint64
	minSize  int
	maxSize  int
	at       []byteAt
	guesses  []numberAt // by offset, from the first maxJudged messages
}

type byteAt struct {
	counts [256]uint64
	n      uint64
	moves  moves
	prev   byte
	minAt  uint64
	maxAt  uint64
	least  byte
	most   byte
}

// ByteColumn holds the statistics of one byte offset.
type ByteColumn struct {
	Offset int    // bytes from the start of the message
	Frames uint64 // number of messages that are long enough
	Figures
}

// Add adds a message, frame n of its capture. It does not retain the bytes.
func (b *Bytes) Add(n uint64, data []byte) {
	if b.messages == 0 {
		b.minSize = len(data)
	}
	b.minSize, b.maxSize = min(b.minSize, len(data)), max(b.maxSize, len(data))
	b.messages++
	head := data[:min(len(data), MaxOffset)]
	for len(b.at) < len(head) {
		b.at = append(b.at, byteAt{})
	}
	for i, v := range head {
		b.at[i].add(n, v)
	}
	if b.messages <= maxJudged {
		b.judge(data)
	}
}

func (a *byteAt) add(frame uint64, v byte) {
	a.counts[v]++
	a.n++
	if a.n == 1 {
		a.least, a.most, a.minAt, a.maxAt, a.prev = v, v, frame, frame, v
		return
	}
	switch {
	case v == a.prev:
		a.moves |= level
		return
	case v > a.prev:
		a.moves |= up
	default:
		a.moves |= down
	}
	a.prev = v
	if v < a.least {
		a.least, a.minAt = v, frame
	}
	if v > a.most {
		a.most, a.maxAt = v, frame
	}
}

// Messages returns the number of messages added.
func (b *Bytes) Messages() uint64 { return b.messages }

// Sizes returns the lengths of the shortest and the longest message, in bytes.
func (b *Bytes) Sizes() (least, most int) { return b.minSize, b.maxSize }

// Columns returns the statistics of all offsets so far.
func (b *Bytes) Columns() []ByteColumn {
	out := make([]ByteColumn, 0, len(b.at))
	for i := range b.at {
		out = append(out, b.at[i].figures(i))
	}
	return out
}

func (a *byteAt) figures(offset int) ByteColumn {
	c := ByteColumn{Offset: offset, Frames: a.n}
	f := &c.Figures
	f.Values, f.Trend = a.n, a.moves.trend()
	f.Min, f.Max, f.MinAt, f.MaxAt = byteValue(a.least), byteValue(a.most), a.minAt, a.maxAt
	counts := a.counts
	for _, n := range counts {
		if n > 0 {
			f.Distinct++
		}
	}
	for _, i := range most(256, func(i int) uint64 { return a.counts[i] }, func(i, j int) bool { return i < j }) {
		f.Top = append(f.Top, Top{byteValue(byte(i)), a.counts[i]})
	}
	f.finish(counts[:])
	return c
}

// byteValue returns a byte in hex for display, and in decimal for comparison with bytes[i] in a filter.
func byteValue(v byte) Value { return Value{fmt.Sprintf("%02x", v), strconv.Itoa(int(v))} }
