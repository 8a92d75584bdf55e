package captures

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync"
	"time"

	"wirebench/server/store"
)

// Lifetimes of a brief list. Pages ask for it every few seconds, and building it reads the descriptions of all captures. A newly opened
// page asks later than that, so captures it was rendered with are in the list.
const (
	briefPause     = 2 * time.Second
	mostBriefPause = 4 * time.Second
)

// briefLists caches the captures of each workspace without their notes, as pages list them: pages ask repeatedly whether the list was
// changed, by this server or by other programs.
type briefLists struct {
	mu sync.Mutex
	of map[*store.Captures]briefList
}

type briefList struct {
	captures []store.Capture // without notes; newest first
	tag      string          // changes with the list
	until    time.Time
}

// Brief returns the captures of a folder without their notes, newest first, and a tag that changes with the list.
func (c *Set) Brief(from *store.Captures) (all []store.Capture, tag string, err error) {
	l, err := c.briefs.get(from)
	return l.captures, l.tag, err
}

// ForgetBrief discards the brief list of a folder after a change by this server.
func (c *Set) ForgetBrief(of *store.Captures) { c.briefs.forget(of) }

// get returns the list of a folder, and rebuilds it if it has expired. Its lifetime grows with the time that building takes.
func (b *briefLists) get(from *store.Captures) (briefList, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	begun := time.Now()
	if l, ok := b.of[from]; ok && begun.Before(l.until) {
		return l, nil
	}
	all, err := from.List()
	if err != nil {
		return briefList{}, err
	}
	l := briefList{captures: make([]store.Capture, len(all))}
	sum := sha256.New()
	for i, x := range all {
		x.Notes, x.Dismissed = store.Notes{}, nil
		l.captures[i] = x
		if err := json.NewEncoder(sum).Encode(x); err != nil {
			return briefList{}, err
		}
	}
	l.tag = hex.EncodeToString(sum.Sum(nil)[:12])
	now := time.Now()
	l.until = now.Add(min(max(briefPause, 20*now.Sub(begun)), mostBriefPause))
	if b.of == nil {
		b.of = map[*store.Captures]briefList{}
	}
	b.of[from] = l
	return l, nil
}

func (b *briefLists) forget(of *store.Captures) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of, of)
}
