package page

import (
	"bytes"

	"wirebench/codec"
	"wirebench/defs/schema"
	"wirebench/server/workspace"
	"wirebench/templates"
)

// maxFits is the maximum number of other definitions offered for a message.
const maxFits = 8

// fitCache holds the definitions that explain one message. The library is only searched again for other bytes, or after it has changed.
type fitCache struct {
	snap *workspace.Snapshot
	by   *schema.Message
	dir  schema.Dir
	data []byte
	fits []workspace.Fit

	partial bool // the search took too long; it continues with the next change
}

// offer adds other definitions and settings that explain a message, if its definition does not.
func (p *work) offer(m *templates.Message) {
	c := p.fitted
	if c == nil {
		c = &fitCache{}
	}
	if m.Status == "error" || m.What != "" || m.Status == codec.OK.String() && m.Leftover == 0 && !m.Doubtful() {
		*c = fitCache{} // so that it retains no old library
		return
	}
	j, snap := p.job, p.ws.Snapshot
	req := j.Request
	req.Group = ""
	if req.Message != nil {
		req.Message, _ = snap.Find(m.Name) // of the library: the text of j may be edited
	}
	if c.snap != snap || c.by != req.Message || c.dir != req.Dir || !bytes.Equal(c.data, m.Data) {
		fits, complete := snap.Fits(m.Data, req, maxFits)
		*c = fitCache{snap: snap, by: req.Message, dir: req.Dir, data: m.Data, fits: fits}
		if !complete {
			c.snap = nil
		}
		c.partial = !complete
	}
	m.FitsPartial = c.partial
	for _, f := range c.fits {
		m.Fits = append(m.Fits, templates.Fit{Name: f.Name, Evidence: f.Evidence, Explained: f.Explained, Href: templates.ProjectPath(p.ws.Name, "definitions", f.Name)})
	}
	if d := p.use; d != nil && d.Message != nil && m.Linked {
		if option, value := d.OtherSetting(m.Data, j.Rec.Session); option != "" {
			m.Setting = option + " " + value
		}
	}
}
