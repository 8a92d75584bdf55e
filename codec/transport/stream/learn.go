package stream

import (
	"fmt"
	"regexp"
	"strconv"
)

// Bounds of the sizes that are learnt in a direction.
const (
	maxLearnt = 256      // codes
	maxGuess  = 64 << 10 // bytes of a message
	sure      = 3        // messages in a row of the same size after which it is used
)

// learnt are the sizes of messages whose codes have none in the envelope: what was skipped, each time, up to the next messages that fit.
type learnt map[uint64]*guess

// guess is what is known about the size of the messages of a code.
type guess struct {
	size    int // bytes of the last ones
	agreed  int // messages in a row that had it
	skipped int // messages in all
}

// learn takes a size that a message of a code had, as far as the next messages show.
func (l *learnt) learn(code uint64, size int) {
	if *l == nil {
		*l = learnt{}
	}
	g := (*l)[code]
	if g == nil {
		if len(*l) == maxLearnt || size > maxGuess {
			return
		}
		g = new(guess)
		(*l)[code] = g
	}
	if g.skipped++; g.size != size {
		g.size, g.agreed = size, 0
	}
	g.agreed++
}

// doubt forgets that messages of a code have a size, as what follows one was no message.
func (l learnt) doubt(code uint64) {
	if g := l[code]; g != nil {
		g.agreed = 0
	}
}

// apply cuts a frame without a size if that of its code is certain. b begins with it.
func (l learnt) apply(x *frame, b []byte) {
	if x.fault != codeUnsized {
		return
	}
	g := l[uint64(x.v)]
	if g == nil || g.agreed < sure {
		return
	}
	if *x = (frame{total: g.size, learnt: true, v: x.v}); len(b) < g.size {
		*x = frame{need: g.size, known: true}
	}
}

// text proposes a line of the envelope.
func (l learnt) text(code uint64) string {
	g := l[code]
	if g == nil || g.agreed < 2 {
		return ""
	}
	return fmt.Sprintf("the last %d of %d messages of code %d had %s: %d = %d", g.agreed, g.skipped, code, sizeText(g.size), code, g.size)
}

// Learnt is a size in the note of a frame.
type Learnt struct {
	Code     uint64
	Size     int // bytes
	Agreed   int // messages in a row that had it
	Evidence string
}

var learntText = regexp.MustCompile(`the last (\d+) of \d+ messages of code (\d+) had [\d,]+ bytes?: \d+ = (\d+)`)

// LearntFrom returns the size that a note proposes. ok is false if it proposes none, or one that is not certain yet.
func LearntFrom(note string) (l Learnt, ok bool) {
	m := learntText.FindStringSubmatch(note)
	if m == nil {
		return l, false
	}
	l.Evidence = m[0][:len(m[0])-len(": "+m[2]+" = "+m[3])]
	l.Agreed, _ = strconv.Atoi(m[1])
	l.Code, _ = strconv.ParseUint(m[2], 10, 64)
	l.Size, _ = strconv.Atoi(m[3])
	return l, l.Agreed >= sure
}
