package access

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/server/answer"
	"wirebench/server/supervise"
)

// ErrEnded is the error of a request or connection whose credential has ended, or grants less than when it began.
var ErrEnded = errors.New("your access has ended or changed: load the page or sign in again")

// lastWords is the time for the answer to a request that has ended.
const lastWords = time.Second

// watches are functions to call after a change of the accounts. The zero value is ready for use.
type watches struct {
	mu  sync.Mutex
	all map[*func()]struct{}
}

func (x *watches) add(f func()) (stop func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all == nil {
		x.all = map[*func()]struct{}{}
	}
	x.all[&f] = struct{}{}
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.all, &f)
	}
}

func (x *watches) tell() {
	x.mu.Lock()
	all := make([]func(), 0, len(x.all))
	for f := range x.all {
		all = append(all, *f)
	}
	x.mu.Unlock()
	for _, f := range all {
		f()
	}
}

// Watch calls end, once, as soon as the credential has ended or keeps returns false for the principal of then, until stop is called. end must
// not block.
func (p Principal) Watch(keeps func(Principal) bool, end func()) (stop func()) {
	if p.current == nil {
		return func() {}
	}
	var once sync.Once
	check := func() {
		fault := supervise.Do("access", func() error {
			if now, ok := p.Now(); !ok || !keeps(now) {
				once.Do(end)
			}
			return nil
		})
		if fault != nil { // what is not known to last has ended
			once.Do(end)
		}
	}
	forget := p.watches.add(check)
	var timer *time.Timer
	if !p.until.IsZero() {
		timer = supervise.Later(time.Until(p.until)+time.Millisecond, "access", check)
	}
	check() // it may have ended since the principal was found
	return func() {
		forget()
		if timer != nil {
			timer.Stop()
		}
	}
}

// hold returns a request that ends when its principal has lost the role which it began with: the body cannot be read any more, the context is
// done, and nothing more is sent. Reading and writing that wait end at once.
func (g Guard) hold(w http.ResponseWriter, r *http.Request, n need) (http.ResponseWriter, *http.Request, func()) {
	p := Of(r)
	if n.Role == Nobody || p.current == nil {
		return w, r, func() {}
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	l := &lasting{ResponseWriter: w}
	had := p.role(n)
	stop := p.Watch(func(now Principal) bool {
		n := n
		if n.named != "" && g.Project != nil {
			n.project = g.Project(n.named)
		}
		return now.role(n) >= had
	}, func() {
		l.end()
		cancel(ErrEnded)
	})
	r = r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &lastingBody{r.Body, l}
	}
	return l, r, func() {
		stop()
		cancel(nil)
	}
}

// lasting is the response of a request that may have to end.
type lasting struct {
	http.ResponseWriter
	ended, hijacked atomic.Bool
	wrote           bool // a header; used by the handler alone
}

func (l *lasting) end() {
	l.ended.Store(true)
	if l.hijacked.Load() {
		return // its connection has a watch of its own
	}
	control := http.NewResponseController(l.ResponseWriter)
	_ = control.SetReadDeadline(time.Unix(1, 0)) // of tests have none
	_ = control.SetWriteDeadline(time.Now().Add(lastWords))
}

func (l *lasting) WriteHeader(status int) {
	if l.ended.Load() && !l.wrote {
		l.refuse()
		return
	}
	if !l.ended.Load() {
		l.wrote = l.wrote || status >= 200
		l.ResponseWriter.WriteHeader(status)
	}
}

func (l *lasting) Write(p []byte) (int, error) {
	if l.ended.Load() {
		if !l.wrote {
			l.refuse()
		}
		return 0, ErrEnded
	}
	l.wrote = true
	return l.ResponseWriter.Write(p)
}

// refuse answers in the place of the handler.
func (l *lasting) refuse() {
	l.wrote = true
	for _, name := range []string{"Content-Length", "Content-Encoding", "Content-Disposition", "Etag"} {
		l.Header().Del(name)
	}
	l.Header().Set("Connection", "close")
	answer.Problem(l.ResponseWriter, http.StatusForbidden, ErrEnded.Error())
}

// Flush is for streams.
func (l *lasting) Flush() {
	if !l.ended.Load() {
		l.wrote = true
		_ = http.NewResponseController(l.ResponseWriter).Flush()
	}
}

// Hijack is for websockets.
func (l *lasting) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	l.hijacked.Store(true)
	if l.ended.Load() {
		return nil, nil, ErrEnded
	}
	return http.NewResponseController(l.ResponseWriter).Hijack()
}

// SetReadDeadline is for http.ResponseController. It does not take back the end.
func (l *lasting) SetReadDeadline(at time.Time) error {
	if l.ended.Load() {
		return ErrEnded
	}
	return http.NewResponseController(l.ResponseWriter).SetReadDeadline(at)
}

// SetWriteDeadline is like SetReadDeadline.
func (l *lasting) SetWriteDeadline(at time.Time) error {
	if l.ended.Load() {
		return ErrEnded
	}
	return http.NewResponseController(l.ResponseWriter).SetWriteDeadline(at)
}

// Unwrap is for http.ResponseController.
func (l *lasting) Unwrap() http.ResponseWriter { return l.ResponseWriter }

// lastingBody is the body of a request that may have to end.
type lastingBody struct {
	io.ReadCloser
	of *lasting
}

func (b *lastingBody) Read(p []byte) (int, error) {
	if b.of.ended.Load() {
		return 0, ErrEnded
	}
	n, err := b.ReadCloser.Read(p)
	if b.of.ended.Load() { // what came with the end does not count
		return 0, ErrEnded
	}
	return n, err
}
