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

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"wirebench/codec/transport"
	"wirebench/server/api"
	"wirebench/server/frames"
	"wirebench/server/live"
	"wirebench/server/relay"
	"wirebench/server/socket"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/wsconn"
)

// Bounds of a live stream.
const (
	maxLiveFrames = 500         // in one message
	liveWriteTime = time.Minute // for one message to be taken. A program that is busy for so long is told what it missed; then it is gone
)

// liveBatch is a message of a live stream: frames that are new.
type liveBatch struct {
	Session  string                `json:"session" doc:"id of the capture that records it"`
	Frames   []workspace.FrameInfo `json:"frames" doc:"those that fit"`
	Next     int                   `json:"next" doc:"give it as since, to go on after these"`
	Missed   int                   `json:"missed,omitempty" doc:"so many were skipped before these: this reader was too slow, or they were not kept"`
	Mistakes *[]frames.ViewMistake `json:"mistakes,omitempty" doc:"definitions have changed so that the filter is none any more: why, with places in UTF-16 code units; nothing fits from here on. [] = it is one again. Missing = as before"`
}

// describeLive puts the stream into the document: it is no route of JSON, and its messages are.
func describeLive(rows huma.API) {
	query := func(name, about string, kind string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: about, Schema: &huma.Schema{Type: kind}}
	}
	body := api.SchemaOf[liveBatch](rows, "LiveBatch")
	refusal := func(status int) *huma.Response {
		return &huma.Response{Description: http.StatusText(status), Content: map[string]*huma.MediaType{"application/problem+json": {Schema: api.SchemaOf[huma.ErrorModel](rows, "ErrorModel")}}}
	}
	rows.OpenAPI().Paths["/ws/{ws}/live"] = &huma.PathItem{Get: &huma.Operation{
		OperationID: "live", Method: http.MethodGet, Path: "/ws/{ws}/live",
		Summary:     "The frames of running traffic as they come, by a websocket: each of its messages is one of these",
		Description: "Who reads too slowly is told how many frames were missed. Who takes nothing for a minute loses the connection without a word, since nothing more fits into it: since goes on from there.",
		Parameters: []*huma.Param{
			{Name: "ws", In: "path", Required: true, Description: "name of the workspace", Schema: &huma.Schema{Type: huma.TypeString}},
			query("session", "id of the session; without it the one that was started last", huma.TypeString),
			query("filter", "only frames that fit this filter", huma.TypeString),
			query("since", "the frames after the one of this number, which must be one of the session; without it those that are new from now on", huma.TypeInteger),
			query("value", "any text: with the values of messages", huma.TypeString),
		},
		Responses: map[string]*huma.Response{
			"101": {Description: http.StatusText(http.StatusSwitchingProtocols), Content: map[string]*huma.MediaType{"application/json": {Schema: body}}},
			"404": refusal(http.StatusNotFound), "422": refusal(http.StatusUnprocessableEntity),
		},
	}}
}

// liveSocket streams the frames of running traffic: of ?session=, or of the session that was started last. They are those that fit
// ?filter=, the ones after the frame of the number ?since=, or those that are new from now on.
func (s *Server) liveSocket(w http.ResponseWriter, r *http.Request) {
	ws, err := s.workspaceNamed(chi.URLParam(r, "ws"))
	if err != nil {
		problem(w, http.StatusNotFound, err.Error())
		return
	}
	q := r.URL.Query()
	all := s.relays.Of(ws.Name)
	var one *relay.Session
	for _, x := range all {
		if id := q.Get("session"); id == "" || id == x.ID {
			one = x
		}
	}
	switch {
	case one == nil && len(all) == 0:
		problem(w, http.StatusNotFound, "nothing is running here; POST /api/"+ws.Name+"/proxies starts a listener")
		return
	case one == nil:
		problem(w, http.StatusNotFound, "there is no such session, or it has ended; GET /api/"+ws.Name+"/proxies lists those that run")
		return
	}
	since := -1
	if text := q.Get("since"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			problem(w, http.StatusUnprocessableEntity, "since is the number of a frame, or 0")
			return
		}
		if have := one.Log().Len(); n > have { // of another session: going on with the next frame would hide all before it
			problem(w, http.StatusUnprocessableEntity, fmt.Sprintf("since is %d, and the session %s has %d frames: that number is of another one", n, one.ID, have))
			return
		}
		since = n
	}
	filter := q.Get("filter")
	if _, mistakes := ws.Now().Filter(filter); len(mistakes) > 0 {
		problem(w, http.StatusUnprocessableEntity, "the filter is wrong: "+mistakes[0].Message)
		return
	}
	conn, err := wsconn.Accept(w, r, 1<<10)
	if err != nil {
		s.Log.Info("live stream refused", "error", err)
		return
	}
	defer conn.Drop()
	ctx, cancel := context.WithCancel(context.Background()) // not the request's: that one ends with the upgrade
	defer cancel()
	if err := s.pages.Add(conn, cancel); err != nil {
		conn.Close(err.Error())
		return
	}
	defer s.pages.Remove(conn)
	s.captures.Go(func() { _ = conn.Ping(ctx) })
	s.captures.Go(func() {
		defer cancel()
		_, _ = conn.Read(ctx) // nothing is said: this ends when the other side leaves
	})
	err = streamFrames(ctx, conn, one, filter, since, q.Get("value") != "")
	if errors.Is(err, io.EOF) {
		conn.Close("the session has ended")
		return
	}
	if err != nil && ctx.Err() == nil && !wsconn.Gone(err) {
		s.Log.Info("live stream ended", "error", err)
	}
}

// streamFrames sends batches until the session or the context ends. The filter is compiled anew when the definitions change, and one that
// cannot be used then is told: silence would look as if nothing came.
func streamFrames(ctx context.Context, conn *wsconn.Conn, one *relay.Session, filter string, since int, value bool) error {
	log := one.Log()
	reader := log.Follow(since)
	var view *frames.View
	var read *workspace.Reading
	var f transport.Frame
	conns := log.ConnReader()
	told := []frames.ViewMistake{} // of the filter
	for {
		b, err := reader.Next(ctx)
		if err != nil {
			return err
		}
		if now := one.Workspace.Now(); view == nil || view.Snapshot != now {
			view = frames.NewView(log, now, frames.ViewSpec{Filter: filter}, store.Notes{})
			view.Until(ctx)
			read = workspace.NewReading(now)
		}
		batch := liveBatch{Session: one.ID, Frames: []workspace.FrameInfo{}, Next: b.To, Missed: b.Missed}
		expected := b.From // what the log lets go while others are sent is passed over
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
		skip := func(to int) (err error) { // behind the frames that stand before what is missed
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
			if !view.Has(i, e, conn, read) { // nothing is, where the definitions have changed and it is no filter of theirs
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
