package server

import (
	"bytes"
	"cmp"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"wirebench/server/access"
	"wirebench/server/api"
	"wirebench/server/servertest"
)

// A client reaches every operation with all of its parameters: the address leads to its row, and no parameter is unknown.
func TestClientReachesEveryOperation(t *testing.T) {
	s := captureServer(t, "tera", map[string]string{"C_JOIN.1.def": "int32 id\n"})
	reached := ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached = r.Method + " " + s.router.Find(chi.NewRouteContext(), r.Method, cmp.Or(r.URL.RawPath, r.URL.Path))
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	c := &api.Client{Base: srv.URL, HTTP: srv.Client()}
	asked := 0
	for _, g := range c.Groups() {
		for _, o := range g.Operations {
			given := url.Values{}
			for _, p := range o.Parameters {
				given.Set(p.Name, map[string]string{"project": "one", "file": "sub/C_JOIN.1.def", "at": "2026-03-01T18:04:05Z", "n": "1", "integer": "1", "boolean": "true"}[cmp.Or(map[bool]string{true: p.Name}[p.In == "path"], p.Schema.Type)])
				if given.Get(p.Name) == "" {
					given.Set(p.Name, "xyz/ä")
				}
			}
			body := api.Body{}
			if o.RequestBody != nil {
				body = api.JSONBody(map[string]string{})
			}
			err := c.Call(t.Context(), o.OperationID, given, body, nil)
			if o.OperationID == "live" {
				if err == nil || !strings.Contains(err.Error(), "websocket") {
					t.Errorf("live: %v", err)
				}
				continue
			}
			var refused *api.RefusedError
			switch asked++; {
			case reached != o.Needs.Name:
				t.Errorf("%s leads to %s", o.OperationID, reached)
			case errors.As(err, &refused) && (refused.Status == http.StatusMethodNotAllowed || strings.Contains(err.Error(), "unknown") || strings.Contains(err.Error(), "no route")):
				t.Errorf("%s: %v", o.OperationID, err)
			case err != nil && refused == nil:
				t.Errorf("%s: %v", o.OperationID, err)
			}
		}
	}
	if asked < 100 {
		t.Errorf("%d operations", asked)
	}
}

// What is wrong with a call is said before it is sent, or as the server says it; a token is sent.
func TestClientErrors(t *testing.T) {
	s := captureServer(t, "tera", map[string]string{"C_JOIN.1.def": "int32 id\n"})
	srv := httptest.NewServer(access.NewDoor(access.Config{Tokens: servertest.Tokens}).Guard(s))
	t.Cleanup(srv.Close)
	for _, c := range []struct {
		token, id string
		given     url.Values
		body      api.Body
		want      string // in the error; "" for none
	}{
		{servertest.Tokens.Viewer, "captures", url.Values{"project": {"one"}}, api.Body{}, ""},
		{servertest.Tokens.Viewer, "capture", url.Values{"project": {"one"}}, api.Body{}, "needs id"},
		{servertest.Tokens.Viewer, "captrues", nil, api.Body{}, `did you mean "captures"?`},
		{servertest.Tokens.Viewer, "captures", url.Values{"project": {"one"}, "breif": {"true"}}, api.Body{}, `did you mean "brief"?`},
		{servertest.Tokens.Viewer, "captures", url.Values{"project": {"two"}}, api.Body{}, "project two not found"},
		{servertest.Tokens.Viewer, "drop-capture", url.Values{"project": {"one"}, "id": {"x"}}, api.Body{}, "needs the role author"},
		{servertest.Tokens.Viewer, "decode", url.Values{"project": {"one"}}, api.JSONBody(map[string]int{"hex": 1}), "body.hex: expected string"},
		{servertest.Tokens.Viewer, "decode", url.Values{"project": {"one"}}, api.JSONBody(func() {}), "unsupported type"},
		{"", "captures", url.Values{"project": {"one"}}, api.Body{}, "token"},
		{"wrong", "captures", url.Values{"project": {"one"}}, api.Body{}, "token"},
	} {
		client := &api.Client{Base: srv.URL, Token: c.token, HTTP: srv.Client()}
		var answer api.CaptureList
		err := client.Call(t.Context(), c.id, c.given, c.body, &answer)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %s", c.id, c.given, err, c.want)
		}
	}
}

// An answer in memory is bounded, whatever a server sends.
func TestClientTakesNoEndlessAnswer(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for chunk := make([]byte, 1<<20); r.Context().Err() == nil; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	t.Cleanup(srv.Close)
	client := &api.Client{Base: srv.URL, HTTP: srv.Client()}
	var answer bytes.Buffer
	if err := client.Call(t.Context(), "definitions-zip", url.Values{"project": {"one"}}, api.Body{}, &answer); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("%v after %d bytes", err, answer.Len())
	}
}
