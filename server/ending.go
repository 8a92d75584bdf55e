package server

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"wirebench/server/supervise"
)

// bodyTime is the time that clients have for the rest of what they send when the server shuts down.
const bodyTime = time.Second

// errEnding is why the body of a request ends before its end.
var errEnding = errors.New("the server is shutting down")

// sending holds the bodies that clients have not sent whole. A stream has no end, and a client may stop in the middle of a body: the shutdown
// waits for neither.
type sending struct {
	mu    sync.Mutex // held for a moment, and while deadlines are set
	ended bool
	open  map[*sentBody]struct{}
}

// sentBody is the body of a request.
type sentBody struct {
	io.ReadCloser
	in      *sending
	control *http.ResponseController
}

// follow gives the handlers of requests bodies that end with the server.
func (s *sending) follow(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		b := &sentBody{r.Body, s, http.NewResponseController(w)}
		s.mu.Lock()
		if s.open == nil {
			s.open = map[*sentBody]struct{}{}
		}
		s.open[b] = struct{}{}
		s.mu.Unlock()
		defer s.leave(b)
		r.Body = b
		next.ServeHTTP(w, r)
	})
}

// leave forgets a body that has ended, and reports whether the server has.
func (s *sending) leave(b *sentBody) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, b)
	return s.ended
}

func (s *sending) hasEnded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

func (b *sentBody) Read(p []byte) (int, error) {
	if b.in.hasEnded() { // a handler may have set another deadline since
		return 0, errEnding
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil && b.in.leave(b) && !errors.Is(err, io.EOF) {
		err = errEnding
	}
	return n, err
}

// end ends all bodies after bodyTime.
func (s *sending) end() {
	supervise.Later(bodyTime, "request", func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = true
		for b := range s.open {
			_ = b.control.SetReadDeadline(time.Now())
		}
	})
}
