package runs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"wirebench/server/replay"
)

// Result is a replay.Result as the API describes it, with the same names. Times are as in 1.5ms.
type Result struct {
	Step    string              `json:"step" doc:"3; in a loop 3.1#7: the first step of the loop at step 3, seventh iteration"`
	Kind    string              `json:"kind" enum:"send,expect"`
	Status  string              `json:"status" enum:"ok,different,missing,absent,failed" doc:"absent: missing, and optional"`
	Message string              `json:"message,omitempty"`
	At      string              `json:"at" doc:"time of sending or arrival since the start, such as 20ms"`
	Took    string              `json:"took" doc:"since the previous step"`
	Bytes   int                 `json:"bytes,omitempty"`
	Lifted  map[string]string   `json:"lifted,omitempty" doc:"values lifted from it, by name, as JSON texts; long ones are truncated"`
	Diffs   []replay.Difference `json:"differences,omitempty"`
	More    int                 `json:"more,omitempty" doc:"differences not listed"`
	Error   string              `json:"error,omitempty"`
}

func resultOf(r replay.Result) Result {
	return Result{
		Step: r.Step, Kind: r.Kind, Status: string(r.Status), Message: r.Message, At: timeText(r.At), Took: timeText(r.Took), Bytes: r.Bytes,
		Lifted: shortValues(r.Lifted), Diffs: r.Diffs, More: r.More, Error: r.Error,
	}
}

// size returns the approximate memory use of a result in bytes.
func (r *Result) size() int {
	n := 256 + len(r.Message) + len(r.Error)
	for _, d := range r.Diffs {
		n += 64 + len(d.Path) + len(d.Expected) + len(d.Got)
	}
	for name, v := range r.Lifted {
		n += 64 + len(name) + len(v)
	}
	return n
}

// Report is a replay.Report as the API describes it; its results are in a separate list.
type Report struct {
	OK         bool              `json:"ok" doc:"every step was done, without differences that count"`
	Started    time.Time         `json:"started"`
	Took       string            `json:"took"`
	Sent       int               `json:"sent" doc:"messages sent by steps"`
	Received   int               `json:"received" doc:"all messages received"`
	Matched    int               `json:"matched" doc:"received messages that a step expected"`
	Different  int               `json:"different" doc:"matched messages with differences"`
	Missing    int               `json:"missing" doc:"expected messages that did not arrive"`
	Ignored    int               `json:"ignored"`
	Keepalive  int               `json:"keepalive" doc:"keepalives sent"`
	Answered   int               `json:"answered" doc:"received messages answered by keepalives"`
	Unexpected int               `json:"unexpected" doc:"received messages that no step expected"`
	Extra      []Seen            `json:"extra,omitempty" doc:"the first of the unexpected ones"`
	Stopped    string            `json:"stopped,omitempty" doc:"why it ended before the last step"`
	Notes      []string          `json:"notes,omitempty"`
	Vars       map[string]string `json:"vars,omitempty" doc:"values at the end, as JSON texts; long ones are truncated"`
}

// Seen is a received message that was not expected.
type Seen struct {
	At      string `json:"at" doc:"since the start"`
	Message string `json:"message" doc:"name or code"`
	Bytes   int    `json:"bytes"`
}

func reportOf(r *replay.Report) *Report {
	out := &Report{
		OK: r.OK, Started: r.Started, Took: timeText(r.Took), Sent: r.Sent, Received: r.Received, Matched: r.Matched, Different: r.Different,
		Missing: r.Missing, Ignored: r.Ignored, Keepalive: r.Keepalive, Answered: r.Answered, Unexpected: r.Unexpected, Stopped: r.Stopped, Notes: r.Notes, Vars: shortValues(r.Vars),
	}
	for _, x := range r.Extra {
		out.Extra = append(out.Extra, Seen{timeText(x.At), x.Message, x.Bytes})
	}
	return out
}

func timeText(d replay.Duration) string { return time.Duration(d).Round(time.Microsecond).String() }

// shortValues returns the first values by name, each truncated. They are texts, as some JSON parsers do not keep all digits of numbers.
func shortValues(values map[string]json.RawMessage) map[string]string {
	if len(values) == 0 {
		return nil
	}
	out := make(map[string]string, min(len(values), maxVars))
	for _, name := range slices.Sorted(maps.Keys(values))[:min(len(values), maxVars)] {
		v := values[name]
		if out[name] = string(v[:min(len(v), maxValue)]); len(v) > maxValue {
			out[name] = strings.ToValidUTF8(out[name], "") + "…"
		}
	}
	return out
}
