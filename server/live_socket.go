package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"wirebench/codec/transport"
	"wirebench/server/access"
	"wirebench/server/api"
	"wirebench/server/frames"
	"wirebench/server/live"
	"wirebench/server/relay"
	"wirebench/server/socket"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
	"wirebench/server/wsconn"
)

// Bounds of a live stream.
const (
	maxLiveFrames = 500         // per message
	liveWriteTime = time.Minute // for a message to be taken. A program that is busy for less gets the number of missed frames; after that it is disconnected
)

// liveSocket streams the frames of running traffic: of ?session=, or of the session started last. It sends frames that match ?filter=,
// starting after the frame with the number ?since=, or with new ones.
func (s *Server) liveSocket(w http.ResponseWriter, r *http.Request) {
	ws, err := s.workspaceNamed(chi.URLParam(r, "project"))
	if err != nil {
		problem(w, http.StatusNotFound, err.Error())
		return
	}
	q := r.URL.Query()
	if wrong := api.UnknownParameter(q, "session", "filter", "since", "value"); wrong != "" {
		problem(w, http.StatusUnprocessableEntity, wrong)
		return
	}
	all := s.relays.Of(ws.Name)
	var one *relay.Session
	for _, x := range all {
		if id := q.Get("session"); id == "" || id == x.ID {
			one = x
		}
	}
	switch {
	case one == nil && len(all) == 0:
		problem(w, http.StatusNotFound, "no listener is running here; POST /api/v1/projects/"+ws.Name+"/proxies starts a listener")
		return
	case one == nil:
		problem(w, http.StatusNotFound, "the session does not exist or has ended; GET /api/v1/projects/"+ws.Name+"/proxies lists those that run")
		return
	}
	since := -1
	if text := q.Get("since"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			problem(w, http.StatusUnprocessableEntity, "since must be the number of a frame, or 0")
			return
		}
		if have := one.Log().Len(); n > have { // a number of another session: continuing with the next frame would hide all previous ones
			problem(w, http.StatusUnprocessableEntity, fmt.Sprintf("since is %d, but session %s has only %d frames", n, one.ID, have))
			return
		}
		since = n
	}
	filter := q.Get("filter")
	if _, mistakes := one.Now().Filter(filter); len(mistakes) > 0 {
		problem(w, http.StatusUnprocessableEntity, "invalid filter: "+mistakes[0].Message)
		return
	}
	conn, err := wsconn.Accept(w, r, 1<<10)
	if err != nil {
		s.Log.Info("live stream refused", "error", err)
		return
	}
	defer conn.Drop()
	ctx, cancel := context.WithCancel(context.Background()) // not the request's context, which ends with the upgrade
	defer s.endWith(ws, cancel)()
	defer cancel()
	defer s.endWithout(access.Of(r), ws.Name, conn, cancel)()
	if err := s.pages.Add(conn, cancel, socket.Owner{Key: access.Of(r).Key(), Operator: access.Of(r).May("last connections", ws.Name)}); err != nil {
		conn.Close(err.Error())
		return
	}
	defer s.pages.Remove(conn)
	s.captures.Go("stream", nil, func() { _ = conn.Ping(ctx) })
	s.captures.Go("stream", nil, func() {
		defer cancel()
		_, _ = conn.Read(ctx) // clients send nothing: this returns when the client leaves
	})
	err = supervise.Do("stream", func() error { return streamFrames(ctx, conn, one, filter, since, q.Get("value") != "") })
	if errors.Is(err, io.EOF) {
		conn.Close("the session has ended")
		return
	}
	if fault := (*supervise.Fault)(nil); errors.As(err, &fault) {
		conn.Close("this stream ended by a fault of the program: connect again")
	}
	if err != nil && ctx.Err() == nil && !wsconn.Gone(err) {
		s.Log.Info("live stream ended", "error", err)
	}
}

// streamFrames sends batches until the session ends or the context is done. The filter is compiled again when the definitions change. If it
// has become invalid, the client is notified: silence would look as if there was no traffic.
func streamFrames(ctx context.Context, conn *wsconn.Conn, one *relay.Session, filter string, since int, value bool) error {
	log := one.Log()
	reader := log.Follow(since)
	var view *frames.View
	var read *workspace.Reading
	var f transport.Frame
	conns := log.ConnReader()
	told := []frames.ViewMistake{} // mistakes of the filter already sent
	for {
		b, err := reader.Next(ctx)
		if err != nil {
			return err
		}
		if now := one.Now(); view == nil || view.Snapshot != now {
			view = frames.NewView(log, now, frames.ViewSpec{Filter: filter}, store.Notes{})
			view.Until(ctx)
			read = workspace.NewReading(now)
		}
		batch := api.LiveBatch{Session: one.ID, Frames: []workspace.FrameInfo{}, Next: b.To, Missed: b.Missed}
		expected := b.From // frames discarded while others are sent are skipped
		send := func(next int) error {
			batch.Next = next
			text, err := socket.JSON(batch)
			if err == nil {
				err = conn.WriteWithin(ctx, text, liveWriteTime)
			}
			batch.Frames, batch.Missed, batch.Mistakes = batch.Frames[:0], 0, nil
			return err
		}
		if wrong := append([]frames.ViewMistake{}, view.Mistakes...); !slices.Equal(wrong, told) {
			told, batch.Mistakes = wrong, &wrong
			if err := send(b.From); err != nil {
				return err
			}
		}
		skip := func(to int) (err error) { // sends the frames before the missed ones
			if to > expected && len(batch.Frames) > 0 {
				err = send(expected)
			}
			batch.Missed += to - expected
			return err
		}
		log.Each(b.From, b.To, func(i int, e live.Entry, data []byte) bool {
			if err = skip(i); err != nil {
				return false
			}
			expected = i + 1
			log.Frame(i, e, data, &f)
			read.Take(&f)
			conn := conns.Of(e)
			if !view.Has(i, e, conn, read) { // no frame matches a filter that has become invalid
				return true
			}
			info := read.Describe(workspace.Want{Value: value}, workspace.Listed{Conn: conn.Name, Session: conn.Session})
			if batch.Frames = append(batch.Frames, info); len(batch.Frames) >= maxLiveFrames {
				err = send(i + 1)
			}
			return err == nil
		})
		if err == nil {
			err = skip(b.To)
		}
		if err == nil && (len(batch.Frames) > 0 || batch.Missed > 0) {
			err = send(b.To)
		}
		if err != nil {
			return err
		}
	}
}
