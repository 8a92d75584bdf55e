package page

import (
	"fmt"
	"sync"

	"wirebench/server/access"
)

// Bounds of what open pages keep in memory from one message to the next. The factors were measured; see TestPagesHoldABoundedShare.
const (
	maxHeld = 256 << 20 // bytes of one person

	heldBase = 32 << 10 // of a page without texts: the parts it was sent
	heldText = 2        // bytes for each byte of a text: it and what was read from it
)

// held counts what the open pages of each person keep. The zero value is empty.
type held struct {
	most int64 // 0 for maxHeld

	mu sync.Mutex
	of map[string]int64
}

// change replaces what a page keeps. It fails, and changes nothing, if it grows beyond what the person may have.
func (h *held) change(who string, was, now int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	most := h.most
	if most == 0 {
		most = maxHeld
	}
	if now > was && h.of[who]+now-was > most {
		return fmt.Errorf("the definitions and messages of your open pages need more than %d MB of the server's memory: close some pages first; nothing typed here is lost", most>>20)
	}
	if h.of == nil {
		h.of = map[string]int64{}
	}
	if h.of[who] += now - was; h.of[who] == 0 {
		delete(h.of, who)
	}
	return nil
}

// hold charges what the page keeps to its person: its texts, and the newest definition without mistakes, which other pages may share.
func (l *livePage) hold() error {
	f := &l.form
	texts := len(f.definition) + len(f.input) + len(f.value) + len(f.base)
	for _, data := range f.edits {
		texts += len(data)
	}
	now := int64(heldBase + heldText*texts + l.weight)
	if c := f.chosen; c != nil && c.taken != nil {
		now += int64(c.taken.Size())
	}
	if err := l.bench.held.change(access.Of(l.opener).Key(), l.holds, now); err != nil {
		return err
	}
	l.holds = now
	return nil
}

// leave gives back what the page holds.
func (l *livePage) leave() {
	_ = l.bench.held.change(access.Of(l.opener).Key(), l.holds, 0)
	l.holds = 0
	l.bench.texts.Forget(l.snap) // the other pages analyze their text once more
}
