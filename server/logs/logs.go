// Package logs makes the log of a server: lines of text or of JSON, of which a flood is bounded and counted.
package logs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
)

// Bounds of lines with the same message, which are of the program and therefore few.
const (
	perSecond = 1000
	atOnce    = 2000
	maxKinds  = 1 << 10 // messages that are told apart
)

// Formats are the forms of lines.
func Formats() []string { return []string{"text", "json"} }

// Levels are the names of levels, the lowest first.
func Levels() []string { return []string{"debug", "info", "warn", "error"} }

// New returns a log that writes lines from a level on to w. Of lines with one message more than 1,000 a second are left out, after 2,000 at once; the
// next one says how many. The error names a level or format that does not exist.
func New(w io.Writer, level, format string) (*slog.Logger, error) {
	var from slog.Level
	if err := from.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("unknown level %q: debug, info, warn or error", level)
	}
	o := &slog.HandlerOptions{Level: from}
	b := &bounds{now: time.Now, kinds: map[string]*kind{}, lines: map[slog.Level]int64{}}
	switch format {
	case "text":
		return slog.New(&handler{slog.NewTextHandler(w, o), b}), nil
	case "json":
		return slog.New(&handler{slog.NewJSONHandler(w, o), b}), nil
	}
	return nil, fmt.Errorf("unknown format %q: text or json", format)
}

// Counts are the lines of a log so far.
type Counts struct {
	Lines   map[slog.Level]int64 // by level; those left out are among them
	LeftOut int64
}

// CountsOf returns the counts of a log made by New; ok is false for another one.
func CountsOf(log *slog.Logger) (c Counts, ok bool) {
	h, ok := log.Handler().(*handler)
	if !ok {
		return c, false
	}
	h.bounds.mu.Lock()
	defer h.bounds.mu.Unlock()
	c = Counts{map[slog.Level]int64{}, h.bounds.leftOut}
	for level, n := range h.bounds.lines {
		c.Lines[level] = n
	}
	return c, true
}

// handler is a handler with bounds, which those derived from it share.
type handler struct {
	slog.Handler
	bounds *bounds
}

type bounds struct {
	now func() time.Time

	mu      sync.Mutex
	kinds   map[string]*kind
	lines   map[slog.Level]int64
	leftOut int64
}

// kind is the allowance of lines with one message.
type kind struct {
	left float64
	at   time.Time
	out  int // left out since the last line
}

// Handle implements slog.Handler.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	out, ok := h.bounds.take(r.Level, r.Message)
	if !ok {
		return nil
	}
	if out > 0 {
		r = r.Clone()
		r.Add("left out before", out)
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.Handler.WithAttrs(attrs), h.bounds}
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.Handler.WithGroup(name), h.bounds}
}

// take counts a line, and reports whether it is written, and how many like it were left out before.
func (b *bounds) take(level slog.Level, message string) (out int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines[level]++
	k, now := b.kinds[message], b.now()
	if k == nil {
		if len(b.kinds) >= maxKinds {
			message = ""
		}
		if k = b.kinds[message]; k == nil {
			k = &kind{left: atOnce, at: now}
			b.kinds[message] = k
		}
	}
	k.left = min(k.left+max(now.Sub(k.at), 0).Seconds()*perSecond, atOnce)
	if k.at = now; k.left < 1 {
		k.out++
		b.leftOut++
		return 0, false
	}
	out, k.out = k.out, 0
	k.left--
	return out, true
}
