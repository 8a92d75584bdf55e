package replay

import (
	"encoding/json"
	"time"
)

// Bounds of a report. What is beyond them is counted.
const (
	maxResults    = 20_000
	maxDiffs      = 64     // of a step
	maxDiffsInAll = 20_000 // of a report
	maxNotes      = 100
	maxUnexpected = 100
	maxShown      = 200 // bytes of a value
)

// Report is what became of a script.
type Report struct {
	OK         bool                       `json:"ok" doc:"every step was done, with no difference that counts"`
	Play       string                     `json:"play" enum:"client,server"`
	Started    time.Time                  `json:"started"`
	Took       Duration                   `json:"took"`
	Sent       int                        `json:"sent" doc:"messages of steps"`
	Received   int                        `json:"received" doc:"all messages"`
	Matched    int                        `json:"matched" doc:"of them, by a step"`
	Different  int                        `json:"different" doc:"of those that matched"`
	Missing    int                        `json:"missing" doc:"expected, and did not come"`
	Ignored    int                        `json:"ignored"`
	Keepalive  int                        `json:"keepalive" doc:"sent beside the steps"`
	Answered   int                        `json:"answered" doc:"of those that came, by keepalives"`
	Unexpected int                        `json:"unexpected" doc:"came, and no step expected them"`
	Extra      []Seen                     `json:"extra,omitempty" doc:"the first of the unexpected ones"`
	Stopped    string                     `json:"stopped,omitempty" doc:"why it ended before the last step"`
	Notes      []string                   `json:"notes,omitempty"`
	Vars       map[string]json.RawMessage `json:"vars,omitempty" doc:"values at the end"`
	Results    []Result                   `json:"results"`
	LeftOut    int                        `json:"left_out,omitempty" doc:"results that are not listed"`
}

// Seen is a message that came.
type Seen struct {
	At      Duration `json:"at" doc:"since the start"`
	Message string   `json:"message" doc:"its name, or its code"`
	Bytes   int      `json:"bytes"`
}

// Status is how a step went.
type Status string

// The statuses.
const (
	Done      Status = "ok"
	Different Status = "different"
	Missing   Status = "missing" // nothing that was expected came in time
	Absent    Status = "absent"  // the same, of a step that is optional
	Failed    Status = "failed"  // it could not be sent
)

// Result is how one step went, each time it was done.
type Result struct {
	Step    string                     `json:"step" doc:"3; in a loop 3.1#7: the first step of the loop at 3, the seventh time"`
	Kind    string                     `json:"kind" enum:"send,expect"`
	Status  Status                     `json:"status" enum:"ok,different,missing,absent,failed"`
	Message string                     `json:"message,omitempty"`
	At      Duration                   `json:"at" doc:"since the start: when it was sent, or came"`
	Took    Duration                   `json:"took" doc:"since the step before"`
	Bytes   int                        `json:"bytes,omitempty"`
	Lifted  map[string]json.RawMessage `json:"lifted,omitempty"`
	Diffs   []Difference               `json:"differences,omitempty"`
	More    int                        `json:"more,omitempty" doc:"differences that are not listed"`
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
