package server

import (
	"fmt"
	"sync"
)

// Bounds of what the pages of one person may have open at once, so that nobody uses up what all have.
const (
	maxListed = 24  // captures
	maxTexts  = 200 // texts of definitions
	maxPanes  = 240 // definitions and messages that are shown: each holds its texts, its views and what it has sent, some megabytes

	maxUses = 5 // of each thing, on the average: a team that shares an address has many pages of one capture
)

// lists counts what is open, by person.
type lists struct {
	what string // for messages: captures
	most int

	mu sync.Mutex
	of map[string]map[string]int
}

// enter counts a use of a thing, until leave is called.
func (l *lists) enter(who, thing string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[string]map[string]int{}
	}
	mine := l.of[who]
	uses := 0
	for _, n := range mine {
		uses += n
	}
	if mine[thing] == 0 && len(mine) >= l.most || uses >= maxUses*l.most {
		return nil, fmt.Errorf("you have %d %s open in pages: close some first", l.most, l.what)
	}
	if mine == nil {
		mine = map[string]int{}
		l.of[who] = mine
	}
	mine[thing]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if mine[thing]--; mine[thing] == 0 {
			delete(mine, thing)
		}
		if len(mine) == 0 {
			delete(l.of, who)
		}
	}, nil
}
