package captures

import (
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// maxCounted bounds the readings whose counts are kept; above it those of all are forgotten.
const maxCounted = 1 << 14

// Counts says what a capture had when it was last read as it is read now.
type Counts struct {
	Frames   int    `json:"frames"`
	Problems int    `json:"problems" doc:"frames of kind problem: missing or malformed bytes"`
	Note     string `json:"note,omitempty" doc:"why frames of the file are missing"`

	size int64 // of the file
}

// count keeps the counts of a capture that was read to its end.
func (c *Set) count(reading string, o *Capture) {
	size, _ := o.Progress()
	n := Counts{Frames: o.log.Len() - max(o.Packets(), 0), Problems: int(o.problems.Load()), size: size}
	if o.err != nil {
		n.Note = o.err.Error()
	} else {
		n.Note = o.sum.Incomplete()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil || len(c.counts) >= maxCounted {
		c.counts = map[string]Counts{}
	}
	c.counts[reading] = n
}

// Counts returns the counts of captures by their ids. Those that were not read since the program started, or would be read otherwise now, or
// have grown, are left out: nothing is read here.
func (c *Set) Counts(ws *workspace.Workspace, all []store.Capture) map[string]Counts {
	out := map[string]Counts{}
	for _, x := range all {
		reading := Reading(ws.Name, ws.For(x), x)
		c.mu.Lock()
		n, ok := c.counts[reading]
		c.mu.Unlock()
		if ok && n.size == x.Size {
			out[x.ID] = n
		}
	}
	return out
}
