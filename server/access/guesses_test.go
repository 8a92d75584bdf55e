package access

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// guarded is a door with a clock that the test sets.
type guarded struct {
	t   *testing.T
	h   http.Handler
	now *time.Time
	log *bytes.Buffer
}

func newGuarded(t *testing.T) *guarded {
	log := &bytes.Buffer{}
	d := newDoor(testTokens, slog.New(slog.NewTextHandler(log, nil)))
	now := time.Now()
	d.guesses.now = func() time.Time { return now }
	inside := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "inside as "+Of(r).Role.String()) })
	return &guarded{t, d.guard(inside), &now, log}
}

// asks sends a request from an address.
func (g *guarded) asks(from, method, target, form string, header http.Header, cookies ...*http.Cookie) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(form))
	if header != nil {
		r.Header = header
	}
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, c := range cookies {
		r.AddCookie(c)
	}
	r.RemoteAddr = from
	w := httptest.NewRecorder()
	g.h.ServeHTTP(w, r)
	return w
}

// signIn signs in by the form.
func (g *guarded) signIn(from, token string) *httptest.ResponseRecorder {
	return g.asks(from, "POST", "/access", url.Values{"token": {token}, "to": {"/p/x/definitions"}}.Encode(), nil)
}

// A client that guesses has to wait, whichever way the tokens are sent. Clients with a correct token at another address, and those signed
// in at the same address, do not.
func TestGuesses(t *testing.T) {
	ways := map[string]func(g *guarded, from, token string) *httptest.ResponseRecorder{
		"form": (*guarded).signIn,
		"bearer": func(g *guarded, from, token string) *httptest.ResponseRecorder {
			return g.asks(from, "GET", "/api/x", "", carrying(token))
		},
		"cookie": func(g *guarded, from, token string) *httptest.ResponseRecorder {
			return g.asks(from, "GET", "/p/x/definitions", "", nil, &http.Cookie{Name: Cookie, Value: newPass(token, Operator).proof})
		},
	}
	const here, there = "192.0.2.7:5000", "192.0.2.8:5000"
	for name, guess := range ways {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t)
			home := g.signIn(here, "all").Result().Cookies()
			for i := range guessesOfOne {
				if w := guess(g, here, fmt.Sprintf("guess %d", i)); w.Code != 401 {
					t.Fatalf("guess %d: %d", i, w.Code)
				}
			}
			for _, token := range []string{"another", "all", "look"} { // correct ones too: otherwise waiting would be no limit
				w := guess(g, here, token)
				seconds, err := strconv.Atoi(w.Header().Get("Retry-After"))
				if w.Code != 429 || err != nil || seconds < 1 || seconds > 30 || !strings.Contains(w.Body.String(), fmt.Sprintf("%d s", seconds)) {
					t.Fatalf("%s: %d %v %s", token, w.Code, w.Header(), w.Body)
				}
			}
			if w := guess(g, "192.0.2.7:6000", "all"); w.Code != 429 {
				t.Errorf("from another port: %d", w.Code)
			}
			if w := guess(g, there, "all"); w.Code == 429 || w.Code == 401 {
				t.Errorf("the right token from another address: %d", w.Code)
			}
			if w := g.asks(here, "GET", "/p/x/definitions", "", nil, home...); w.Body.String() != "inside as operator" {
				t.Errorf("signed in before: %d %s", w.Code, w.Body)
			}
			if w := g.asks(here, "GET", "/static/app.css", "", carrying("x")); w.Code != 200 {
				t.Errorf("the files of the sign-in page: %d", w.Code)
			}
			if w := g.asks(here, "GET", "/p/x/definitions", "", nil); w.Code != 401 {
				t.Errorf("without a token: %d", w.Code)
			}
			if !regexp.MustCompile(`level=WARN msg="wrong token" client=192.0.2.7 may_try_in=30s`).MatchString(g.log.String()) {
				t.Errorf("the log has %s", g.log)
			}
			*g.now = g.now.Add(guessOfOneIn)
			if w := guess(g, here, "all"); w.Code == 429 || w.Code == 401 {
				t.Errorf("after the announced delay: %d", w.Code)
			}
			if strings.Contains(g.log.String(), "guess 3") {
				t.Error("tokens are in the log")
			}
		})
	}
}

// Repeating an old token does not count as guessing; a browser with an old cookie can sign in.
func TestOldToken(t *testing.T) {
	g := newGuarded(t)
	const from = "192.0.2.7:5000"
	for i := range 10 * guessesOfOne {
		if w := g.asks(from, "GET", "/api/x", "", carrying("old")); w.Code != 401 {
			t.Fatalf("%d: %d", i, w.Code)
		}
		if w := g.asks(from, "GET", "/p/x/definitions", "", nil, &http.Cookie{Name: Cookie, Value: newPass("old", Operator).proof}); w.Code != 401 {
			t.Fatalf("%d: %d", i, w.Code)
		}
	}
	if w := g.signIn(from, "all"); w.Code != 303 {
		t.Errorf("sign in: %d", w.Code)
	}
}

// The total number of guesses from many addresses is bounded, and a new address with the correct token gets in.
func TestGuessesOfMany(t *testing.T) {
	g := newGuarded(t)
	tried := 0
	for i := range 50 {
		for k := range guessesOfOne {
			if w := g.signIn(fmt.Sprintf("198.51.100.%d:1", i), fmt.Sprintf("guess %d %d", i, k)); w.Code == 401 {
				tried++
			}
		}
	}
	if tried < guessesOfAll || tried > guessesOfAll+50 {
		t.Errorf("%d guesses were looked at", tried)
	}
	if w := g.signIn("203.0.113.1:1", "all"); w.Code != 303 {
		t.Errorf("the right token from a new address: %d", w.Code)
	}
	// An IPv6 network counts as one address.
	g = newGuarded(t)
	for i := range guessesOfOne {
		g.signIn(fmt.Sprintf("[2001:db8:1:2::%x]:1", i+1), fmt.Sprintf("guess %d", i))
	}
	if w := g.signIn("[2001:db8:1:2:ffff::9]:1", "x"); w.Code != 429 {
		t.Errorf("another address of the network: %d", w.Code)
	}
	if w := g.signIn("[2001:db8:1:3::1]:1", "x"); w.Code != 401 {
		t.Errorf("another network: %d", w.Code)
	}
}

// The number of remembered addresses is bounded.
func TestGuessersAreForgotten(t *testing.T) {
	now := time.Now()
	g := newGuesses(nil, func() time.Time { return now })
	for i := range 3 * maxGuessers {
		g.try(strconv.Itoa(i), []string{"x"}, func() bool { return false })
		if len(g.of) > maxGuessers {
			t.Fatalf("%d addresses", len(g.of))
		}
	}
	now = now.Add(time.Hour)
	g.try("new", []string{"x"}, func() bool { return false })
	if len(g.of) != 1 {
		t.Errorf("%d addresses after an hour", len(g.of))
	}
}

// Signing out deletes the cookie; a page of another site cannot cause it.
func TestSignOut(t *testing.T) {
	g := newGuarded(t)
	const from = "192.0.2.7:5000"
	have := g.signIn(from, "look").Result().Cookies()
	w := g.asks(from, "POST", "/access/out", "", nil, have...)
	gone := w.Result().Cookies()
	if w.Code != 303 || w.Header().Get("Location") != "/access" || len(gone) != 1 || gone[0].Name != Cookie || gone[0].MaxAge >= 0 || gone[0].Value != "" || gone[0].Path != have[0].Path {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := g.asks(from, "POST", "/access/out", "", http.Header{"Sec-Fetch-Site": {"cross-site"}}, have...); w.Code != 403 || len(w.Result().Cookies()) > 0 {
		t.Errorf("another site: %d %v", w.Code, w.Header())
	}
	if w := g.asks(from, "GET", "/access/out", "", nil, have...); len(w.Result().Cookies()) > 0 {
		t.Errorf("a link signs out: %v", w.Header())
	}
}

// A cookie of an earlier run of the program stays valid, and is sealed anew.
func TestCookieOfBefore(t *testing.T) {
	before, g := newGuarded(t), newGuarded(t)
	const from = "192.0.2.7:5000"
	old := before.signIn(from, "all").Result().Cookies()
	w := g.asks(from, "GET", "/p/x/definitions", "", nil, old...)
	if w.Body.String() != "inside as operator" || len(w.Result().Cookies()) != 1 {
		t.Fatalf("%d %s %v", w.Code, w.Body, w.Header())
	}
	if again := g.asks(from, "GET", "/p/x/definitions", "", nil, w.Result().Cookies()...); again.Body.String() != "inside as operator" || len(again.Result().Cookies()) != 0 {
		t.Errorf("%d %s %v", again.Code, again.Body, again.Header())
	}
}
