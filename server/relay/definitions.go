package relay

import (
	"sync/atomic"

	"wirebench/codec"
	"wirebench/codec/transport/stream"
	"wirebench/defs/diag"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
)

// definitions are the current definitions for splitting running traffic into messages. They follow changes, since traffic
// outlives them. While a file has new errors, the previous definitions stay in use: a stream of messages without a length field loses
// synchronization at the first message without a definition.
type definitions struct {
	now  func() *workspace.Snapshot
	used atomic.Pointer[goodSnapshot]
}

// goodSnapshot holds the last seen snapshot and the one in use: the same, or an earlier one without the new errors.
type goodSnapshot struct{ seen, good *workspace.Snapshot }

// inUse returns the snapshot in use.
func (c *definitions) inUse() *workspace.Snapshot {
	now, used := c.now(), c.used.Load()
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

// newlyBroken reports whether a file without errors has errors now.
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

// Current implements stream.Changing: a segment is read with one state of the definitions.
func (c *definitions) Current() stream.Definitions { return c.inUse() }

func (c *definitions) Frame(group string) *schema.Message { return c.inUse().Frame(group) }

func (c *definitions) Lookup(key schema.Key) *schema.Message { return c.inUse().Lookup(key) }

// Behind implements protocols.Definitions.
func (c *definitions) Behind(h *envelope.Header, m *schema.Message) *schema.Message {
	return c.inUse().Behind(h, m)
}

func (c *definitions) Groups() []string { return c.inUse().Groups() }

func (c *definitions) Program(m *schema.Message) (*codec.Program, error) { return c.inUse().Program(m) }
