package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"wirebench/server/access"
	"wirebench/server/api"
	"wirebench/server/page"
	"wirebench/server/socket"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
	"wirebench/server/wsconn"
)

// pageSocket serves the websocket of an open page, with these channels:
//
//	page    receives changes by the user, sends the affected parts of the page
//	pushed  sends what has changed on the server, and the listeners
//	frames  a list of the frames of a capture
//	text    the text of a definition that several people edit
func (s *Server) pageSocket(w http.ResponseWriter, r *http.Request) {
	ws := s.Projects.Find(chi.URLParam(r, "project"))
	if ws == nil {
		s.notFound(w, r)
		return
	}
	conn, err := wsconn.Accept(w, r, page.MaxMessage+1<<10)
	if err != nil {
		s.Log.Info("page refused", "error", err)
		return
	}
	defer conn.Drop()
	ctx, release := s.budget.WithWorkload(context.Background(), access.Of(r).Key()) // not the request's context, which ends with the upgrade
	defer release()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.endWith(ws, cancel)()
	defer s.endWithout(access.Of(r), ws.Name, conn, cancel)()
	if err := s.pages.Add(conn, cancel, socket.Owner{Key: access.Of(r).Key(), Operator: access.Of(r).May("last connections", ws.Name)}); err != nil {
		conn.Close(err.Error())
		return
	}
	defer s.pages.Remove(conn)
	kinds := map[string]socket.Kind{
		"page":   s.workbench.Channel(ws, r),
		"pushed": s.pushes.Channel(ws.Name, func() *api.ListenerList { return s.api.Listeners(ws.Name) }, func() func() { return s.relays.Watch(ws.Name) }),
		"text":   s.textChannel(ws, access.Of(r)),
		"frames": {Limit: maxListMessage, Part: "list", Serve: s.framesChannel(ws, access.Of(r).Key())},
	}
	for name, most := range map[string]int{"page": 2, "pushed": 2, "text": 8, "frames": 4} { // a page needs one; it may close one and open another
		kind := kinds[name]
		kind.Most = most
		kinds[name] = kind
	}
	panes := kinds["page"]
	serve := panes.Serve
	panes.Serve = func(ctx context.Context, c *socket.Channel, with json.RawMessage) error {
		leave, err := s.panes.enter(access.Of(r).Key(), fmt.Sprintf("%p", c))
		if err != nil {
			return err
		}
		defer leave()
		return serve(ctx, c, with)
	}
	kinds["page"] = panes
	maps.DeleteFunc(kinds, func(name string, _ socket.Kind) bool {
		return !access.Of(r).May("channel "+name, ws.Name) || name == "frames" && ws.Captures == nil
	})
	if err := socket.Serve(ctx, conn, kinds, s.pages.Queued(conn)); !wsconn.Gone(err) && !errors.Is(err, context.Canceled) {
		s.Log.Info("page ended", "error", err)
	}
}

// endWith calls cancel when the project of a workspace is closed, until stop is called.
func (s *Server) endWith(ws *workspace.Workspace, cancel func()) (stop func()) {
	done := make(chan struct{})
	supervise.Go("page", func(error) { cancel() }, func() {
		select {
		case <-s.Projects.Closed(ws):
			cancel()
		case <-done:
		}
	})
	return func() { close(done) }
}

// closeTime is the time for the client to take the reason for which its connection ends.
const closeTime = time.Second

// endWithout ends a connection as soon as its principal may not read the project any more, or has another role there: the page is then loaded
// anew, with what the new role allows. What it sends meanwhile is refused; see access.Principal.MayNow.
func (s *Server) endWithout(who access.Principal, ws string, conn *wsconn.Conn, cancel func()) (stop func()) {
	return who.Watch(func(now access.Principal) bool { return now.In(ws) == who.In(ws) }, func() {
		supervise.Later(closeTime, "access", cancel)
		s.captures.Go("access", nil, func() { conn.Close("your access has changed: load the page again") })
	})
}
