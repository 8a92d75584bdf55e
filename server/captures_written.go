package server

import "github.com/danielgtaylor/huma/v2"

// errWritten refuses what must not be done to a part of a recording while it is written.
var errWritten = huma.Error409Conflict("this part of a recording is still being written: stop its listener first, or wait for the next part")

// writtenPart is the part of a running recording that is being written, from the second on: the first one is the running capture itself.
type writtenPart struct {
	set    *captureSet
	ws, id string
	over   bool
}

// is says which part is written from now on, by the id of its capture; "" is none, and none will be.
func (w *writtenPart) is(id string) {
	w.set.mu.Lock()
	defer w.set.mu.Unlock()
	delete(w.set.parts, w.ws+"/"+w.id)
	w.id, w.over = id, w.over || id == ""
	if !w.over {
		w.set.parts[w.ws+"/"+id] = true
	}
}

// writes reports whether a capture is a later part of a recording, and is being written.
func (c *captureSet) writes(ws, id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.parts[ws+"/"+id]
}
