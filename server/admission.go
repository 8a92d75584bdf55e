package server

import (
	"math"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"wirebench/server/access"
)

// Bounds of the memory budget.
const (
	leastBudget = 256 << 20
	mostBudget  = 2 << 30
)

// defaultBudget returns a quarter of the available memory, within bounds: of the machine, of the container, or as set by GOMEMLIMIT.
func defaultBudget() int64 {
	have := int64(math.MaxInt64)
	for _, name := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := os.ReadFile(name); err == nil {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
				have = min(have, n)
			}
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) > 1 && fields[0] == "MemTotal:" {
			if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				have = min(have, n<<10)
			}
		}
	}
	if n := debug.SetMemoryLimit(-1); n > 0 {
		have = min(have, n)
	}
	if have == math.MaxInt64 {
		have = 4 << 30
	}
	return min(max(have/4, leastBudget), mostBudget)
}

// counted gives each request a workload, and releases it when the response has been written.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, release := s.budget.WithWorkload(r.Context(), access.Of(r).Key())
		defer release()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
