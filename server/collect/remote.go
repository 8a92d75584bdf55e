package collect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"wirebench/server/bus"
	"wirebench/server/proxy"
	"wirebench/server/relay"
	"wirebench/server/settings"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// maxRemote is the number of listeners of collectors in a project.
const maxRemote = 1000

// remote is a listener of a collector.
type remote struct {
	state
	project string
	seen    time.Time

	checked time.Time // when its reading was compared with that of the capture
	refused string    // the last reading that it did not take
}

// Listeners implements api.Remote.
func (r *Receiver) Listeners(project string) []relay.Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []relay.Info
	for _, x := range r.remotes {
		if x.project == project {
			out = append(out, x.Info)
		}
	}
	slices.SortFunc(out, func(a, b relay.Info) int {
		return cmp.Or(strings.Compare(a.Collector, b.Collector), strings.Compare(a.ID, b.ID))
	})
	return out
}

// Call implements api.Remote.
func (r *Receiver) Call(project, id, operation, who string, body []byte) (answer []byte, ok bool, err error) {
	r.mu.Lock()
	x := r.remotes[id]
	r.mu.Unlock()
	if x == nil || x.project != project {
		return nil, false, nil
	}
	ctx, stop := context.WithTimeout(context.Background(), callTime)
	defer stop()
	answer, err = request(ctx, r.conn, controlPrefix+x.Info.Collector, call{project, id, operation, who, body})
	if err != nil {
		err = fmt.Errorf("collector %s: %w", x.Info.Collector, err)
	}
	return answer, true, err
}

// watch follows the listeners of collectors in a project.
func (r *Receiver) watch(ctx context.Context, ws *workspace.Workspace, work *supervise.Group) error {
	project := ws.Name
	return serve(ctx, r.conn, statePrefix+bus.Token(project)+".*", func(m *nats.Msg) {
		by := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
		var now state
		err := json.Unmarshal(m.Data, &now)
		if err == nil && (!store.IsCaptureID(now.Info.ID) || CheckName(by) != nil) {
			err = errors.New("it has no id")
		}
		if err != nil {
			r.count.Refused.Add(1)
			r.Log.Warn("the state of a listener is refused", "project", project, "collector", by, "bytes", len(m.Data), "reason", err)
			return
		}
		now.Info.Collector = by
		now.Info.Name += " (" + by + ")"
		if now.Info.Events == nil {
			now.Info.Events = []proxy.Event{}
		}
		if now.Info.Conns == nil {
			now.Info.Conns = []proxy.ConnState{}
		}
		r.mu.Lock()
		was := r.remotes[now.Info.ID]
		refused := was != nil && (was.project != project || was.Info.Collector != by) || was == nil && len(r.remotes) >= maxRemote
		switch {
		case refused:
		case now.Info.Running:
			x := &remote{state: now, project: project, seen: time.Now()}
			if was != nil {
				x.checked, x.refused = was.checked, was.refused
			}
			r.remotes[now.Info.ID] = x
		default:
			delete(r.remotes, now.Info.ID)
		}
		r.mu.Unlock()
		switch {
		case refused:
			r.count.Refused.Add(1)
		case (was == nil) == now.Info.Running:
			r.Changed(project)
		case was != nil && !reflect.DeepEqual(was.Info, now.Info):
			r.Moved(project)
		}
		if !refused && (was == nil || was.Held != now.Held || !reflect.DeepEqual(was.Info.Operate, now.Info.Operate)) {
			r.Held(project, now.Info.ID)
		}
		r.tellReading(ctx, ws, now.Info.ID, work)
	})
}

// forget removes the listeners of collectors that have said nothing for some time, until the context is done; then all of the project.
func (r *Receiver) forget(ctx context.Context, project string) {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		over := false
		select {
		case <-ctx.Done():
			over = true
		case <-every.C:
		}
		gone := false
		r.mu.Lock()
		for id, x := range r.remotes {
			if x.project == project && (over || time.Since(x.seen) > stateLasts) {
				delete(r.remotes, id)
				gone = true
			}
		}
		r.mu.Unlock()
		if over {
			return
		}
		if gone {
			r.Changed(project)
		}
	}
}

// tellProject answers the questions of collectors about a project.
func (r *Receiver) tellProject(ctx context.Context, ws *workspace.Workspace) error {
	return serve(ctx, r.conn, projectPrefix+bus.Token(ws.Name), func(m *nats.Msg) {
		var q question
		var out []byte
		err := json.Unmarshal(m.Data, &q)
		switch {
		case err != nil:
		case q.File != "":
			var f store.File
			f, err = ws.Files.Read(q.File)
			out = f.Text
		default:
			out, err = contentsOf(ws)
		}
		reply(m, r.conn.MaxPayload(), out, err)
	})
}

func contentsOf(ws *workspace.Workspace) ([]byte, error) {
	files, _, err := ws.Files.List()
	if err != nil {
		return nil, err
	}
	all := settings.Settings{Options: ws.Options.Values, Constants: ws.Options.Constants} // of the server
	x := contents{Protocol: ws.Dialect, Title: ws.Title(), Settings: ws.UserSettings().Over(all), Files: map[string]string{}}
	for _, f := range files {
		x.Files[f.Name] = string(f.Revision)
	}
	return json.Marshal(x)
}

// tellChanges tells collectors that definitions or settings of a project have changed.
func (r *Receiver) tellChanges(ctx context.Context, ws *workspace.Workspace) {
	changed, stop := ws.Changed()
	defer stop()
	for {
		_ = r.conn.Publish(changedPrefix+bus.Token(ws.Name), nil) // collectors ask now and then, too
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// attend does for the collectors of a project what is not about its traffic, until the context is done.
func (r *Receiver) attend(ctx context.Context, ws *workspace.Workspace, work *supervise.Group) {
	failed := func(err error) {
		if err != nil && ctx.Err() == nil {
			r.Log.Error("collectors of a project are not heard any more", "project", ws.Name, "error", err)
		}
	}
	work.Go("collectors", failed, func() { failed(r.watch(ctx, ws, work)) })
	work.Go("collectors", failed, func() { failed(r.tellProject(ctx, ws)) })
	work.Go("collectors", failed, func() { r.forget(ctx, ws.Name) })
	work.Go("collectors", failed, func() { r.tellChanges(ctx, ws) })
}
