package server

import (
	"fmt"
	"sync"
)

// maxListed is the number of captures that the pages of one person may list at once, so that nobody uses up the open captures.
const maxListed = 24

// lists counts the open lists of frames by person and capture.
type lists struct {
	mu sync.Mutex
	of map[string]map[string]int
}

// enter counts a list, until leave is called.
func (l *lists) enter(who, capture string) (leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[string]map[string]int{}
	}
	mine := l.of[who]
	if mine[capture] == 0 && len(mine) >= maxListed {
		return nil, fmt.Errorf("you have %d captures open in pages: close some first", maxListed)
	}
	if mine == nil {
		mine = map[string]int{}
		l.of[who] = mine
	}
	mine[capture]++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if mine[capture]--; mine[capture] == 0 {
			delete(mine, capture)
		}
		if len(mine) == 0 {
			delete(l.of, who)
		}
	}, nil
}
