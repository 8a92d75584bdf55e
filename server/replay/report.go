package replay

import (
	"encoding/json"
	"time"
)

// Limits of a report. Excess entries are counted.
const (
	maxResults    = 20_000
	maxDiffs      = 64     // of a step
	maxDiffsInAll = 20_000 // of a report
	maxNotes      = 100
	maxUnexpected = 100
	maxShown      = 200 // bytes of a value
)

// Report is the result of a script.
type Report struct {
	OK         bool                       `json:"ok" doc:"every step was done, without differences that count"`
	Play       string                     `json:"play" enum:"client,server"`
	Started    time.Time                  `json:"started"`
	Took       Duration                   `json:"took"`
	Sent       int                        `json:"sent" doc:"messages sent by steps"`
	Received   int                        `json:"received" doc:"all messages received"`
	Matched    int                        `json:"matched" doc:"received messages that a step expected"`
	Different  int                        `json:"different" doc:"matched messages with differences"`
	Missing    int                        `json:"missing" doc:"expected messages that did not arrive"`
	Ignored    int                        `json:"ignored"`
	Keepalive  int                        `json:"keepalive" doc:"keepalives sent"`
	Answered   int                        `json:"answered" doc:"received messages answered by keepalives"`
	Unexpected int                        `json:"unexpected" doc:"received messages that no step expected"`
	Extra      []Seen                     `json:"extra,omitempty" doc:"the first of the unexpected ones"`
	Stopped    string                     `json:"stopped,omitempty" doc:"why it ended before the last step"`
	Notes      []string                   `json:"notes,omitempty"`
	Vars       map[string]json.RawMessage `json:"vars,omitempty" doc:"values at the end"`
	Results    []Result                   `json:"results"`
	LeftOut    int                        `json:"left_out,omitempty" doc:"results not listed"`
}

// Seen is a received message.
type Seen struct {
	At      Duration `json:"at" doc:"since the start"`
	Message string   `json:"message" doc:"name or code"`
	Bytes   int      `json:"bytes"`
}

// Status is the outcome of a step.
type Status string

// The statuses.
const (
	Done      Status = "ok"
	Different Status = "different"
	Missing   Status = "missing" // the expected message did not arrive in time
	Absent    Status = "absent"  // likewise, of an optional step
	Failed    Status = "failed"  // it could not be sent
)

// Result is the outcome of one execution of a step.
type Result struct {
	Step    string                     `json:"step" doc:"3; in a loop 3.1#7: the first step of the loop at step 3, seventh iteration"`
	Kind    string                     `json:"kind" enum:"send,expect"`
	Status  Status                     `json:"status" enum:"ok,different,missing,absent,failed"`
	Message string                     `json:"message,omitempty"`
	At      Duration                   `json:"at" doc:"time of sending or arrival since the start"`
	Took    Duration                   `json:"took" doc:"since the previous step"`
	Bytes   int                        `json:"bytes,omitempty"`
	Lifted  map[string]json.RawMessage `json:"lifted,omitempty"`
	Diffs   []Difference               `json:"differences,omitempty"`
	More    int                        `json:"more,omitempty" doc:"differences not listed"`
	Error   string                     `json:"error,omitempty"`
}

// Difference is a field that differs from its expected value.
type Difference struct {
	Path     string `json:"path" doc:"of the field; empty: the whole message"`
	Expected string `json:"expected"`
	Got      string `json:"got"`
}

// add lists a result.
func (r *Report) add(x Result) {
	switch x.Status {
	case Different:
		r.Different++
	case Missing:
		r.Missing++
	}
	if len(r.Results) >= maxResults {
		r.LeftOut++
		return
	}
	r.Results = append(r.Results, x)
}

func (r *Report) note(text string) {
	if len(r.Notes) < maxNotes {
		r.Notes = append(r.Notes, text)
	}
}
