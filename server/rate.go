package server

import (
	"fmt"
	"net/http"
	"strconv"

	"wirebench/server/access"
	"wirebench/server/answer"
)

// Bounds of the requests of one person to a server where people sign in. Pages with many captures and scripts stay far below.
const (
	ratePerSecond = 200
	rateAtOnce    = 2000
)

// rated refuses the requests of somebody who sends too many. A server for this machine alone has no bound.
func (s *Server) rated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Door == nil || isProbe(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		who := access.Of(r).Key()
		if wait := s.rates.Wait(who); wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(answer.Seconds(wait)))
			problem(w, http.StatusTooManyRequests, fmt.Sprintf("more than %d requests a second: slow down", ratePerSecond))
			return
		}
		s.rates.Spend(who, 1)
		next.ServeHTTP(w, r)
	})
}
