package logs

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestFlood: what is left out of a flood is counted, and said by the next line with its message; other messages are not concerned.
func TestFlood(t *testing.T) {
	var text strings.Builder
	log, err := New(&text, "info", "json")
	if err != nil {
		t.Fatal(err)
	}
	b, now := log.Handler().(*handler).bounds, time.Now()
	b.now = func() time.Time { return now }
	const n = 3 * atOnce
	for range n {
		log.With("part", 1).Info("flood")
		log.Debug("below the level")
	}
	log.Error("other")
	now = now.Add(time.Second)
	log.Info("flood")
	var lines []struct {
		Msg  string
		Left int `json:"left out before"`
		Part int
	}
	for line := range strings.Lines(text.String()) {
		x := lines[:0:0]
		x = append(x, struct {
			Msg  string
			Left int `json:"left out before"`
			Part int
		}{})
		if err := json.Unmarshal([]byte(line), &x[0]); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, x...)
	}
	if len(lines) != atOnce+2 || lines[0].Part != 1 || lines[atOnce].Msg != "other" || lines[atOnce+1].Left != n-atOnce {
		t.Errorf("%d lines, the last are %+v", len(lines), lines[len(lines)-2:])
	}
	c, ok := CountsOf(log)
	if !ok || c.LeftOut != n-atOnce || c.Lines[slog.LevelInfo] != n+1 || c.Lines[slog.LevelError] != 1 || c.Lines[slog.LevelDebug] != 0 {
		t.Errorf("%+v", c)
	}
	for i := range 2 * maxKinds { // messages that somebody chooses take no memory
		log.Info(strings.Repeat("x", i))
	}
	if len(b.kinds) > maxKinds+1 {
		t.Errorf("%d kinds", len(b.kinds))
	}
}

// TestNames: each name that is offered works, and no other.
func TestNames(t *testing.T) {
	for _, level := range append(Levels(), "trace") {
		for _, format := range append(Formats(), "xml") {
			if _, err := New(&strings.Builder{}, level, format); (err == nil) != (level != "trace" && format != "xml") {
				t.Error(level, format, err)
			}
		}
	}
}
