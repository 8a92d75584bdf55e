package relay

import (
	"sync/atomic"

	"wirebench/codec"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// definitions are those by which running traffic is cut into messages: as they are at each moment, since traffic outlives them.
// But while a file has mistakes that had none, all are as they were before: a stream whose messages have no length loses its place with
// the first of them that nothing defines.
type definitions struct {
	ws   *workspace.Workspace
	used atomic.Pointer[goodSnapshot]
}

// goodSnapshot is what counts instead of a snapshot: itself, or the last one without new mistakes.
type goodSnapshot struct{ seen, good *workspace.Snapshot }

// now is the snapshot that counts.
func (c *definitions) now() *workspace.Snapshot {
	now, used := c.ws.Now(), c.used.Load()
	if used != nil && used.seen == now {
		return used.good
	}
	good := now
	if used != nil && newlyBroken(used.good, now) {
		good = used.good
	}
	c.used.Store(&goodSnapshot{now, good})
	return good
}

// newlyBroken reports whether a file has errors that had none before.
func newlyBroken(before, now *workspace.Snapshot) bool {
	broken := func(list diag.List) map[string]bool {
		names := map[string]bool{}
		for _, d := range list {
			if d.Severity == diag.Error && d.Span.File != nil {
				names[d.Span.File.Name] = true
			}
		}
		return names
	}
	was := broken(before.Diagnostics())
	for name := range broken(now.Diagnostics()) {
		if !was[name] && before.File(name) != nil {
			return true
		}
	}
	return false
}

func (c *definitions) Frame(group string) *schema.Message { return c.now().Frame(group) }

func (c *definitions) Lookup(key schema.Key) *schema.Message             { return c.now().Lookup(key) }
func (c *definitions) Groups() []string                                  { return c.now().Groups() }
func (c *definitions) Program(m *schema.Message) (*codec.Program, error) { return c.now().Program(m) }
