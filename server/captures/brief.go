package captures

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"wirebench/server/store"
)

// For how long a brief list holds: pages ask every few seconds, and each time all that is said of all captures is read. A page that is just
// opened asks later than that, so what it was drawn with is in the list.
const (
	briefPause     = 2 * time.Second
	mostBriefPause = 4 * time.Second
)

// briefLists are the captures of each workspace without what people noted, as pages list them: they ask again and again whether that has
// changed, by this server or by anyone who has the folder.
type briefLists struct {
	mu sync.Mutex
	of map[*store.Captures]briefList
}

type briefList struct {
	captures []store.Capture // without notes; the newest first
	tag      string          // another one where anything is other
	until    time.Time
}

// Brief is the list of a folder without what people noted, and a tag that is another one where anything in it is.
func (c *Set) Brief(from *store.Captures) (all []store.Capture, tag string, err error) {
	l, err := c.briefs.get(from)
	return l.captures, l.tag, err
}

// ForgetBrief has the brief list of a folder read anew when it is asked for next: something has been changed here.
func (c *Set) ForgetBrief(of *store.Captures) { c.briefs.forget(of) }

// get is the list of a folder, read anew where it may be old. Reading takes a small part of the time, however many captures there are.
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
		l.captures[i] = store.Capture{ID: x.ID, Name: x.Name, Size: x.Size, Added: x.Added}
		fmt.Fprintf(sum, "%q %q %d %d\n", x.ID, x.Name, x.Size, x.Added.UnixNano())
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
