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

// fitCache holds the definitions that explain one message. The library is only searched again for other bytes or after it has changed.
type fitCache struct {
	snap *workspace.Snapshot
	by   *schema.Message
	data []byte
	fits []workspace.Fit
}

// offer adds other definitions and settings that explain a message, if its definition does not.
func (p *work) offer(m *templates.Message) {
	j := p.job
	if p.view.Capture != nil || m.Status == "error" || m.What != "" || m.Status == codec.OK.String() && m.Leftover == 0 {
		return
	}
	snap, req := p.ws.Snapshot, j.Request
	by := req.Message
	if by != nil {
		// The library's own message of that name: j may use a text that is being edited.
		by, _ = snap.Find(m.Name)
	}
	req.Message, req.Group = by, ""
	c := p.fitted
	if c == nil {
		c = &fitCache{}
	}
	if c.snap != snap || c.by != by || !bytes.Equal(c.data, m.Data) {
		*c = fitCache{snap, by, m.Data, snap.Fits(m.Data, req, maxFits)}
	}
	for _, f := range c.fits {
		m.Fits = append(m.Fits, templates.Fit{Name: f.Name, Evidence: f.Evidence})
	}
	if d := p.use; d != nil && d.Message != nil && m.Linked {
		if option, value := d.OtherSetting(m.Data, j.Rec.Session); option != "" {
			m.Setting = option + " " + value
		}
	}
}
