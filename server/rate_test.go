package server

import (
	"net/http/httptest"
	"strings"
	"testing"

	"wirebench/server/access"
	"wirebench/server/servertest"
)

func TestTooManyRequests(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	s.Door = access.NewDoor(access.Config{Tokens: servertest.Tokens})
	h := s.Door.Guard(s)
	ask := func(token string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", "/api/v1/projects", nil)
		r.Header = carrying(token)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	var w *httptest.ResponseRecorder
	for range rateAtOnce + ratePerSecond*20 {
		if w = ask("all"); w.Code != 200 {
			break
		}
	}
	if w.Code != 429 || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "slow down") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
