package captures

// Part is the part of a running recording that is to be written, which writes to a capture of its own.
func (c *Set) Part(ws string) *Part { return &Part{set: c, ws: ws} }

// Part is the part of a running recording that is being written, from the second on: the first one is the running capture itself.
type Part struct {
	set    *Set
	ws, id string
	over   bool
}

// Is says which part is written from now on, by the id of its capture; "" is none, and none will be.
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
