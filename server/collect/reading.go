package collect

import (
	"context"
	"encoding/json"
	"time"

	"wirebench/server/relay"
	"wirebench/server/settings"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// read is the operation by which a workbench tells a collector how a listener reads its traffic. Its body is a reading.
const read = "read"

// reading is how messages are read beside the definitions of the project: by the settings and keys of their capture. A workbench sends it to the collector
// that records the capture, if messages are held there, and nobody else hears it.
type reading struct {
	Settings settings.Settings `json:"settings,omitzero"`
	Keys     string            `json:"keys,omitempty"`
}

// rev returns which reading it is; "" if nothing is set.
func (r reading) rev() string {
	if r.Keys == "" && r.Settings.Key() == (settings.Settings{}).Key() {
		return ""
	}
	text, _ := json.Marshal(r) // of texts
	return string(store.RevisionOf(text))
}

// read changes how a listener reads its traffic.
func (c *Collector) read(one *relay.Session, body []byte) error {
	var now reading
	if err := json.Unmarshal(body, &now); err != nil {
		return err
	}
	if err := one.Read(now.Settings, now.Keys); err != nil {
		return err
	}
	c.mu.Lock()
	c.readings[one.ID] = now.rev()
	c.mu.Unlock()
	return nil
}

// tellReading tells a collector how a listener reads its traffic, if it does not know yet. The listener says what it knows with each state, so what is lost
// on the way is sent again.
func (r *Receiver) tellReading(ctx context.Context, ws *workspace.Workspace, id string, work *supervise.Group) {
	r.mu.Lock()
	x := r.remotes[id]
	rests := x == nil || x.project != ws.Name || x.Info.Operate == nil || time.Since(x.checked) < stateEvery/2
	if !rests {
		x.checked = time.Now()
	}
	r.mu.Unlock()
	if rests {
		return
	}
	capture, err := ws.Captures.Get(id)
	if err != nil || capture.Collected == nil || capture.Collected.By != x.Info.Collector { // there is no traffic yet, or its keys are not for this collector
		return
	}
	now := reading{capture.Settings, capture.Keys}
	rev := now.rev()
	r.mu.Lock()
	told := x.Reading == rev
	r.mu.Unlock()
	if told {
		return
	}
	failed := func(err error) {
		r.Log.Warn("a collector does not read messages by the settings and keys of their capture", "project", ws.Name, "capture", id, "collector", x.Info.Collector, "error", err)
	}
	work.Go("collectors", failed, func() {
		asking, stop := context.WithTimeout(ctx, callTime)
		defer stop()
		body, _ := json.Marshal(now) // of texts
		_, err := request(asking, r.conn, controlPrefix+x.Info.Collector, call{ws.Name, id, read, "", body})
		if err == nil || asking.Err() != nil {
			return
		}
		r.mu.Lock()
		x := r.remotes[id]
		known := x != nil && x.refused == rev
		if x != nil {
			x.refused = rev
		}
		r.mu.Unlock()
		if !known { // it is asked again: its definitions may be older
			failed(err)
		}
	})
}
