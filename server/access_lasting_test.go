package server

import (
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"wirebench/server/access"
	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/server/wsconn"
)

// endings are the ways in which a credential may end, or grant less, while something of it goes on. A token that expires does so by itself.
var endings = map[string]func(a *access.Accounts, id string, token access.Token) error{
	"account removed":  func(a *access.Accounts, id string, _ access.Token) error { return a.Remove(id) },
	"account disabled": func(a *access.Accounts, id string, _ access.Token) error { return a.Grant(id, everyAuthor, true) },
	"role reduced": func(a *access.Accounts, id string, _ access.Token) error {
		return a.Grant(id, access.Grants{"one": access.Viewer}, false)
	},
	"role elsewhere": func(a *access.Accounts, id string, _ access.Token) error {
		return a.Grant(id, access.Grants{"another": access.Author}, false)
	},
	"token revoked": func(a *access.Accounts, id string, token access.Token) error { return a.Revoke(id, token.ID) },
	"password changed": func(a *access.Accounts, id string, _ access.Token) error {
		return a.SetPassword(id, matrixPassword, "")
	},
	"token expired": func(*access.Accounts, string, access.Token) error { return nil },
}

var everyAuthor = access.Grants{access.Everywhere: access.Author}

// endsWithin is the time in which what goes on must end; it takes milliseconds.
const endsWithin = 20 * time.Second

// What goes on when its credential ends, ends with it: requests whose bodies are still sent or whose answers are still read, and websockets.
// Nothing that is sent later is stored, and nothing more is answered.
func TestLongRequestsEndWithTheirCredential(t *testing.T) {
	for ending, end := range endings {
		t.Run(ending, func(t *testing.T) {
			t.Parallel()
			s := captureServer(t, "tera", servertest.ChatFiles)
			x := servertest.Keep(t, s, "chat.pcapng", servertest.Chat(t, 5))
			m := doorOf(t, s)
			srv := httptest.NewServer(m.h)
			t.Cleanup(func() { s.Close(); srv.Close() })
			id := m.person("long", everyAuthor)
			expires := time.Time{}
			if ending == "token expired" {
				expires = time.Now().Add(8 * time.Second)
			}
			token, secret, err := m.accounts.MakeToken(id, "long", everyAuthor, expires)
			m.must(err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			form := &strings.Builder{}
			parts := multipart.NewWriter(form)
			part, err := parts.CreateFormFile("file", "C_LATER.1.def")
			m.must(err)
			io.WriteString(part, "byte later\n")
			ongoing := map[string]*ongoing{
				"append":  startOngoing(ctx, srv.URL, secret, fmt.Sprintf("POST /api/one/captures/%s/append?offset=%d", x.ID, x.Size), "application/octet-stream", "piece"),
				"capture": startOngoing(ctx, srv.URL, secret, "POST /api/one/captures?name=later.bin", "application/octet-stream", "piece"),
				"upload":  startOngoing(ctx, srv.URL, secret, "POST /api/one/upload", parts.FormDataContentType(), form.String()),
				"save":    startOngoing(ctx, srv.URL, secret, "PUT /api/one/definitions/C_LATER.1.def", "text/plain", "byte later\n"),
				"decode":  startOngoing(ctx, srv.URL, secret, "POST /api/one/decode", "application/json", "{"),
				"stream":  startOngoing(ctx, srv.URL, secret, "POST /api/one/decode", "application/x-ndjson", "00\n"),
			}
			conn, err := wsconn.Dial(ctx, strings.Replace(srv.URL, "http", "ws", 1)+"/ws/one/page", carrying(secret), 64<<20)
			m.must(err)
			defer conn.Drop()
			closed := make(chan struct{})
			go func() {
				for err := error(nil); err == nil; _, err = conn.Read(ctx) {
				}
				close(closed)
			}()
			for name, o := range ongoing {
				if !o.taken(t) {
					t.Fatalf("%s does not go on: %v", name, o.status)
				}
			}
			m.must(end(m.accounts, id, token))
			before := time.Now()
			for name, o := range ongoing {
				select {
				case <-o.done:
				case <-time.After(endsWithin):
					t.Errorf("%s still goes on", name)
				}
				if o.status == http.StatusOK && name != "stream" || o.status == http.StatusCreated {
					t.Errorf("%s: %d %s", name, o.status, o.text)
				}
			}
			select {
			case <-closed:
			case <-time.After(endsWithin):
				t.Error("the page is still open")
			}
			t.Logf("all ended after %v", time.Since(before).Round(time.Millisecond))
			var list struct{ Captures []store.Capture }
			if servertest.Request(t, s, "GET", "/api/one/captures", nil, &list); len(list.Captures) != 1 || list.Captures[0].Size > x.Size+int64(len("piece")) {
				t.Errorf("captures: %+v", list.Captures)
			}
			if code := servertest.Request(t, s, "GET", "/api/one/definitions/C_LATER.1.def", nil, nil); code != http.StatusNotFound {
				t.Errorf("a definition was stored: %d", code)
			}
		})
	}
}

// ongoing is a request whose body has begun.
type ongoing struct {
	in     *io.PipeWriter
	first  chan struct{} // closed when the first part of the body was sent
	done   chan struct{} // closed when the request has ended
	status int           // 0: it has no answer
	text   string
}

// startOngoing sends a request, and the first part of its body; lines follow until the server does not take them any more.
func startOngoing(ctx context.Context, server, token, request, kind, body string) *ongoing {
	r, w := io.Pipe()
	o := &ongoing{in: w, first: make(chan struct{}), done: make(chan struct{})}
	method, path, _ := strings.Cut(request, " ")
	req, err := http.NewRequestWithContext(ctx, method, server+path, r)
	if err != nil {
		panic(err)
	}
	req.Header = carrying(token)
	req.Header.Set("Content-Type", kind)
	go func() {
		_, err := io.WriteString(w, body)
		close(o.first)
		for err == nil { // as a client that does not look at answers
			time.Sleep(20 * time.Millisecond)
			_, err = io.WriteString(w, "\n")
		}
	}()
	go func() {
		defer close(o.done)
		defer r.Close()
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			o.text = err.Error()
			return
		}
		defer res.Body.Close()
		o.status = res.StatusCode
		text, _ := io.ReadAll(res.Body)
		o.text = string(text)
	}()
	return o
}

// taken waits until the request goes on.
func (o *ongoing) taken(t *testing.T) bool {
	t.Helper()
	select {
	case <-o.first:
	case <-o.done:
		return false
	case <-time.After(endsWithin):
		return false
	}
	time.Sleep(50 * time.Millisecond) // for the handler to begin; where it has not, the test is easier
	select {
	case <-o.done:
		return false
	default:
		return true
	}
}

// An answer that is still read ends, too, and a reader that has stopped does not hold it.
func TestLongAnswersEndWithTheirCredential(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	m := doorOf(t, s)
	began, ended := make(chan struct{}), make(chan error, 1)
	h := m.door.Guard(access.Guard{Refused: func(*http.Request) {}}.Permit(s.router)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(began)
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				ended <- err
				return
			}
		}
	})))
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	id := m.person("long", everyAuthor)
	req, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/api/docs", nil)
	m.must(err)
	req.Header = m.token(id, everyAuthor, time.Time{})
	res, err := http.DefaultClient.Do(req)
	m.must(err)
	defer res.Body.Close()
	<-began
	time.Sleep(50 * time.Millisecond) // until the reader, who does not read, holds it
	m.must(m.accounts.Remove(id))
	select {
	case err := <-ended:
		t.Log(err)
	case <-time.After(endsWithin):
		t.Error("the answer goes on")
	}
}
