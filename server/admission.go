package server

import (
	"context"
	"errors"
	"math"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/access"
	"wirebench/server/admit"
	"wirebench/server/answer"
)

// What work takes at most, in bytes of memory for each byte of its input, as measured with inputs that are as bad as can be. It is an
// estimate to bound all work together; what one piece of it may take is bounded elsewhere.
const (
	perDecoded  = 256 // of a text of messages: each byte may be fields of its own, with a path, a value and their JSON
	perValue    = 64  // of JSON to encode
	perCompiled = 100 // of the text of a definition
	perEmitted  = 100 // of the text of a definition that is written as code
	perPasted   = 32  // of a text that is recognised
	perUploaded = 4   // of a form
	perListed   = 4   // of the frames of a capture, for each: its place in a list
	perSorted   = 48  // likewise, for a list that is sorted: rows and keys, twice

	smallWork = 1 << 20   // at least
	largeWork = 512 << 20 // at most
)

// Bounds of the budget of all work.
const (
	leastBudget = 256 << 20
	mostBudget  = 2 << 30
)

// defaultBudget is a quarter of the memory that there is, within bounds: of the machine, of the container, or as GOMEMLIMIT says.
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

// workload is what one request has been admitted for, until its answer is written.
type workload struct {
	budget *admit.Budget
	client string

	mu   sync.Mutex
	held []*admit.Ticket
}

type workloadKey struct{}

// counted gives each request its workload, and releases it when the answer is written.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l := &workload{budget: s.budget, client: access.Of(r).Client}
		defer l.release()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), workloadKey{}, l)))
	})
}

func (l *workload) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.held {
		t.Release()
	}
	l.held = nil
}

// admitted waits until there is memory for the work of a request, which the request then has until its answer is written. size bytes of input
// take each bytes of memory each. The error is one of the API.
func admitted(ctx context.Context, kind admit.Kind, size, each int) error {
	l, ok := ctx.Value(workloadKey{}).(*workload)
	if !ok {
		return nil // not of a request
	}
	t, err := l.budget.Acquire(ctx, l.client, kind, workOf(size, each))
	if err != nil {
		return busy(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = append(l.held, t)
	return nil
}

func workOf(size, each int) int64 { return min(smallWork+int64(size)*int64(each), largeWork) }

// busy gives an error of the budget its status, and says when to come again.
func busy(err error) error {
	var full *admit.BusyError
	if !errors.As(err, &full) {
		return huma.Error503ServiceUnavailable("the request was given up")
	}
	return huma.ErrorWithHeaders(huma.Error503ServiceUnavailable(full.Error()), http.Header{"Retry-After": {strconv.Itoa(answer.Seconds(full.Retry))}})
}

// work is what a form of the page may take.
func (f *pageForm) work() (admit.Kind, int64) {
	size := workOf(len(f.definition), perCompiled) + workOf(len(f.input), perDecoded) + workOf(len(f.value), perValue)
	switch {
	case f.action == "emit":
		return admit.Emit, size
	case f.input != "":
		return admit.Decode, size
	}
	return admit.Layout, size
}

// textsOf are the bytes of the definitions that are to be written as code.
func (ws *space) textsOf(messages []string, file string) (n int) {
	for _, f := range ws.Library.Files {
		switch {
		case file != "" && f.Name == file, file == "" && len(messages) == 0:
			n += len(f.Text)
		}
	}
	for _, name := range messages {
		if m, err := ws.Find(name); err == nil {
			n += len(m.Span.File.Text)
		}
	}
	return n
}
