package captures

// Part returns a marker for the later parts of a running recording.
func (c *Set) Part(ws string) *Part { return &Part{set: c, ws: ws} }

// Part marks the current part of a running recording as being written, from the second part on: the first part is the running capture
// itself.
type Part struct {
	set    *Set
	ws, id string
	over   bool
}

// Is sets the id of the capture that is being written; "" means that none is, nor will be.
func (w *Part) Is(id string) {
	w.set.mu.Lock()
	defer w.set.mu.Unlock()
	delete(w.set.parts, w.ws+"/"+w.id)
	w.id, w.over = id, w.over || id == ""
	if !w.over {
		w.set.parts[w.ws+"/"+id] = true
	}
}

// Writes reports whether a capture is a later part of a recording, and is being written.
func (c *Set) Writes(ws, id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.parts[ws+"/"+id]
}
