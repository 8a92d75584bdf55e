package page

import (
	"context"

	"wirebench/server/frames"
	"wirebench/templates"
)

// HitsAnswer is the response to the action "find".
type HitsAnswer struct {
	N    int         `json:"n"`
	Hits frames.Hits `json:"hits"`
}

// found finds the typed text in the shown message. The argument of the action says what it is: "text", "hex" or "value".
func (l *livePage) found(ctx context.Context) *HitsAnswer {
	p := l.begun(&templates.Workbench{})
	p.form.action = ""
	p.open()
	var data []byte
	if j := p.read(); j != nil && p.form.show < len(j.Messages) {
		data = j.Messages[p.form.show].Data
	}
	query := frames.FindQuery{Text: l.form.typed, As: l.form.arg, Fold: !l.form.exactly}
	return &HitsAnswer{l.n, query.Hits(ctx, p.ws.Snapshot, data)}
}
