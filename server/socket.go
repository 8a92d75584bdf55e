package server

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"wirebench/server/access"
	"wirebench/server/page"
	"wirebench/server/socket"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
	"wirebench/server/wsconn"
)

// pageSocket serves the websocket of an open page, with these channels:
//
//	page    receives changes by the user, sends the affected parts of the page
//	pushed  sends changes on the server
//	frames  a list of the frames of a capture
//	text    the text of a definition that several people edit
func (s *Server) pageSocket(w http.ResponseWriter, r *http.Request) {
	ws := s.Projects.Find(chi.URLParam(r, "ws"))
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
	supervise.Go("page", func(error) { cancel() }, func() { s.endWithout(ctx, access.Of(r), ws.Name, conn, cancel) })
	if err := s.pages.Add(conn, cancel, socket.Owner{Key: access.Of(r).Key(), Operator: access.Of(r).In(ws.Name) >= access.Operator}); err != nil {
		conn.Close(err.Error())
		return
	}
	defer s.pages.Remove(conn)
	kinds := map[string]socket.Kind{
		"page":   s.workbench.Channel(ws, r),
		"pushed": s.pushed(ws.Name),
		"text":   s.textChannel(ws, access.Of(r)),
		"frames": {Limit: maxListMessage, Part: "list", Serve: s.framesChannel(ws, access.Of(r).Key())},
	}
	maps.DeleteFunc(kinds, func(name string, _ socket.Kind) bool {
		return !access.Of(r).May("channel "+name, ws.Name) || name == "frames" && ws.Captures == nil
	})
	if err := socket.Serve(ctx, conn, kinds); !wsconn.Gone(err) && !errors.Is(err, context.Canceled) {
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

// accessTime is the time between two checks whether a connection may still be open.
const accessTime = 2 * time.Second

// endWithout ends a connection when its principal may not read the project any more, or has another role there: the page is then loaded
// anew, with what the new role allows.
func (s *Server) endWithout(ctx context.Context, who access.Principal, ws string, conn *wsconn.Conn, cancel func()) {
	tick := time.NewTicker(accessTime)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now, ok := who.Now(); !ok || now.In(ws) != who.In(ws) {
			conn.Close("your access has changed: load the page again")
			cancel()
			return
		}
	}
}

// pushed is the channel that notifies a page of changes on the server. While it is open, running traffic is watched.
func (s *Server) pushed(ws string) socket.Kind {
	kind := s.pushes.Channel(ws)
	serve := kind.Serve
	kind.Serve = func(ctx context.Context, c *socket.Channel, with json.RawMessage) error {
		defer s.relays.Watch(ws)()
		return serve(ctx, c, with)
	}
	return kind
}
