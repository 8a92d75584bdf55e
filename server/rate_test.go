package server

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"wirebench/server/access"
)

// Somebody who sends too many requests has to wait, and others need not; the number of remembered persons is bounded.
func TestRates(t *testing.T) {
	now := time.Now()
	x := rates{now: func() time.Time { return now }}
	for i := range rateAtOnce {
		if wait := x.wait("a"); wait > 0 {
			t.Fatalf("request %d waits %v", i, wait)
		}
	}
	if wait := x.wait("a"); wait <= 0 || wait > time.Second {
		t.Errorf("%v", wait)
	}
	if wait := x.wait("b"); wait > 0 {
		t.Errorf("another waits %v", wait)
	}
	now = now.Add(time.Second)
	done := 0
	for x.wait("a") == 0 {
		done++
	}
	if done != ratePerSecond {
		t.Errorf("%d requests after a second", done)
	}
	for i := range 2 * maxRated {
		x.wait(fmt.Sprint(i))
	}
	if len(x.of) > maxRated {
		t.Errorf("%d are remembered", len(x.of))
	}
}

func TestTooManyRequests(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": pingFiles})
	s.Door = access.NewDoor(access.Config{Tokens: testTokens})
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
