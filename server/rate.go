package server

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"wirebench/server/access"
	"wirebench/server/answer"
)

// Bounds of the requests of one person to a server where people sign in. Pages with many captures and scripts stay far below.
const (
	ratePerSecond = 200
	rateAtOnce    = 2000
	maxRated      = 1 << 14 // persons that are remembered
)

// rates bounds the requests of each person. The zero value is ready for use.
type rates struct {
	now func() time.Time

	mu sync.Mutex
	of map[string]*rate
}

// rate is a token bucket.
type rate struct {
	left float64
	at   time.Time
}

// wait returns how long a person has to wait for the next request, 0 if it is permitted.
func (x *rates) wait(who string) time.Duration {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now
	if x.now != nil {
		now = x.now
	}
	at := now()
	if x.of == nil {
		x.of = map[string]*rate{}
	}
	r := x.of[who]
	if r == nil {
		if len(x.of) >= maxRated {
			x.forget(at)
		}
		r = &rate{rateAtOnce, at}
		x.of[who] = r
	}
	r.left = min(r.left+at.Sub(r.at).Seconds()*ratePerSecond, rateAtOnce)
	r.at = at
	if r.left < 1 {
		return time.Duration((1 - r.left) / ratePerSecond * float64(time.Second))
	}
	r.left--
	return 0
}

// forget removes those whose allowance is full again, and a quarter of all if there are few of them: it looks at all, so it must not be needed
// again soon. The caller holds mu.
func (x *rates) forget(at time.Time) {
	for who, r := range x.of {
		if r.left+at.Sub(r.at).Seconds()*ratePerSecond >= rateAtOnce || len(x.of) > maxRated*3/4 {
			delete(x.of, who)
		}
	}
}

// rated refuses the requests of somebody who sends too many. A server for this machine alone has no bound.
func (s *Server) rated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Door == nil || r.URL.Path == "/healthz" {
			next.ServeHTTP(w, r)
			return
		}
		if wait := s.rates.wait(access.Of(r).Key()); wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(answer.Seconds(wait)))
			problem(w, http.StatusTooManyRequests, fmt.Sprintf("more than %d requests a second: slow down", ratePerSecond))
			return
		}
		next.ServeHTTP(w, r)
	})
}
