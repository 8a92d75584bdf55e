package relay

import (
	"strings"
	"testing"
	"time"

	"wirebench/server/proxy"
)

// TestLimitsOfListeners checks that a listener's own limits override those of the server.
func TestLimitsOfListeners(t *testing.T) {
	server := proxy.Limits{Idle: time.Minute, PerSource: 7, Dial: time.Second}
	for _, c := range []struct {
		cfg  Config
		idle time.Duration
		most int
		why  string
	}{
		{Config{}, time.Minute, 7, ""},
		{Config{Idle: "10m"}, 10 * time.Minute, 7, ""},
		{Config{PerAddress: 500}, time.Minute, 500, ""},
		{Config{Idle: "168h", PerAddress: 1}, MostIdle, 1, ""},
		{Config{Idle: "169h"}, 0, 0, "idle: "},
		{Config{Idle: "0s"}, 0, 0, "idle: "},
		{Config{Idle: "soon"}, 0, 0, "idle: "},
		{Config{PerAddress: -1}, 0, 0, "per_address: "},
	} {
		got, err := c.cfg.limits(server)
		switch {
		case c.why != "":
			if err == nil || !strings.HasPrefix(err.Error(), c.why) {
				t.Errorf("%+v: %v, want an error about %s", c.cfg, err, c.why)
			}
		case err != nil || got.Idle != c.idle || got.PerSource != c.most || got.Dial != time.Second:
			t.Errorf("%+v: %+v, %v", c.cfg, got, err)
		}
	}
}

// TestRuleTitles checks that no id of a rule is shown.
func TestRuleTitles(t *testing.T) {
	for want, r := range map[string]Rule{
		"no gold":      {ID: "KX7", Name: "no gold", Action: "drop", Filter: "S_CHAT"},
		"drop S_CHAT":  {ID: "KX7", Action: "drop", Filter: "S_CHAT"},
		"note a  b":    {ID: "KX7", Name: "note a  b", Action: "note", Filter: "c"},
		"delay a && b": {ID: "KX7", Action: "delay", Filter: " a\n&& b "},
	} {
		if got := r.title(); got != want {
			t.Errorf("%+v has the title %q, want %q", r, got, want)
		}
	}
	long := Rule{Action: "drop", Filter: strings.Repeat("len > 1 || ", 700)}
	if got := long.title(); len(got) > 100 {
		t.Errorf("a title has %d bytes", len(got))
	}
}
