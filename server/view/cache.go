package view

import (
	"maps"
	"sync"

	"wirebench/server/workspace"
)

// Bounds of a cache.
const (
	maxTexts = 64
	maxBytes = 32 << 20
)

// Cache keeps the analyses of texts, so that each version of a text is analyzed once for all pages that show it, even if all ask at once. The
// least recently used go first. The zero value is empty; a nil Cache keeps nothing. It is safe for concurrent use.
type Cache struct {
	mu    sync.Mutex
	texts map[key]*kept
	bytes int
	turn  int // counts uses
}

type key struct {
	Asked
	mended bool
}

type kept struct {
	of    func() (*Text, error) // analyzes it on the first call
	bytes int                   // 0 until then
	turn  int                   // of its last use
}

// Of is Of with the cache.
func (c *Cache) Of(a Asked) (*Text, error) {
	good := a.Good
	a.Good = nil
	t, err := c.once(key{a, false}, func() (*Text, error) { return opened(a) })
	if err != nil || t.Use == nil || !t.Def.Broken() {
		return t, err
	}
	if good == nil || good.File.Name != t.Def.File.Name {
		good = c.stored(a.Snap, t)
	}
	a.Good = good
	return c.once(key{a, true}, func() (*Text, error) { return t.mended(a), nil })
}

// stored returns the stored definition of an edited text, nil if there is none without mistakes.
func (c *Cache) stored(snap *workspace.Snapshot, t *Text) *workspace.Definition {
	if !t.Def.Edited {
		return nil
	}
	a := Asked{Snap: snap, Name: t.Name}
	stored, err := c.once(key{a, false}, func() (*Text, error) { return opened(a) })
	if err != nil || stored.Def.Broken() {
		return nil
	}
	return stored.Def
}

// once returns the kept analysis, or makes it. Others that ask for it meanwhile wait.
func (c *Cache) once(k key, analyze func() (*Text, error)) (t *Text, err error) {
	if c == nil {
		return analyze()
	}
	c.mu.Lock()
	e := c.texts[k]
	if e == nil {
		e = &kept{of: sync.OnceValues(analyze)}
		if c.texts == nil {
			c.texts = map[key]*kept{}
		}
		c.texts[k] = e
	}
	c.turn++
	e.turn = c.turn
	c.mu.Unlock()
	defer func() { c.settle(k, e, t) }() // also after a panic
	return e.of()
}

// settle keeps an analysis within the bounds; one that failed is not kept.
func (c *Cache) settle(k key, e *kept, t *Text) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.texts[k] != e { // forgotten meanwhile
		return
	}
	if t == nil {
		delete(c.texts, k)
		return
	}
	if e.bytes == 0 {
		e.bytes = t.bytes()
		c.bytes += e.bytes
	}
	for len(c.texts) > maxTexts || c.bytes > maxBytes {
		var oldest key
		at := c.turn + 1
		for k, e := range c.texts {
			if e.bytes > 0 && e.turn < at {
				oldest, at = k, e.turn
			}
		}
		if at > c.turn { // all are being made
			return
		}
		c.bytes -= c.texts[oldest].bytes
		delete(c.texts, oldest)
	}
}

// Forget forgets the texts of a snapshot that is no longer shown.
func (c *Cache) Forget(snap *workspace.Snapshot) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.texts, func(k key, e *kept) bool {
		if k.Snap == snap {
			c.bytes -= e.bytes
		}
		return k.Snap == snap
	})
}
