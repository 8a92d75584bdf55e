package access

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"sync"
	"time"
)

// maxAuditBytes is the size at which the audit log starts a new file; one older file is kept.
const maxAuditBytes = 32 << 20

// Event is a line of the audit log.
type Event struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who" doc:"name of the account or token"`
	ID     string    `json:"id,omitempty" doc:"of the account"`
	From   string    `json:"from,omitempty" doc:"address of the client"`
	What   string    `json:"what" doc:"operation, such as PUT /api/v1/{ws}/definitions/{file}"`
	On     string    `json:"on,omitempty" doc:"what it concerned"`
	Result string    `json:"result,omitempty" doc:"\"\" for success, refused, or an HTTP status"`
}

// Audit is the log of who did what. A nil Audit logs nothing.
type Audit struct {
	mu   sync.Mutex
	path string
	file *os.File
	size int64
}

// OpenAudit opens the log at a path, JSON Lines.
func OpenAudit(path string) (*Audit, error) {
	a := &Audit{path: path}
	return a, a.open()
}

func (a *Audit) open() error {
	f, err := os.OpenFile(a.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	a.file, a.size = f, info.Size()
	return nil
}

// Add logs an event. Errors are dropped: a full disk must not stop the server.
func (a *Audit) Add(e Event) {
	if a == nil {
		return
	}
	if e.At.IsZero() {
		e.At = time.Now().UTC()
	}
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return
	}
	if a.size > maxAuditBytes {
		a.file.Close()
		_ = os.Rename(a.path, a.path+".1")
		if a.open() != nil {
			a.file = nil
			return
		}
	}
	n, _ := a.file.Write(append(line, '\n'))
	a.size += int64(n)
}

// Latest returns the last events, newest first.
func (a *Audit) Latest(most int) []Event {
	out := []Event{}
	if a == nil {
		return out
	}
	for _, path := range []string{a.path, a.path + ".1"} {
		if len(out) < most {
			out = append(out, lastOf(path, most-len(out))...)
		}
	}
	return out
}

// lastOf reads the last events of a file, newest first.
func lastOf(path string, most int) (out []Event) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e Event
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			if out = append(out, e); len(out) > 2*most {
				out = slices.Delete(out, 0, most)
			}
		}
	}
	slices.Reverse(out)
	return out[:min(len(out), most)]
}

// hasPersons reports whether an account has done something.
func (a *Audit) hasPersons() bool {
	if a == nil {
		return false
	}
	for _, path := range []string{a.path, a.path + ".1"} {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e Event
			if json.Unmarshal(lines.Bytes(), &e) == nil && e.ID != "" {
				return true
			}
		}
	}
	return false
}

// Close closes the log.
func (a *Audit) Close() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return nil
	}
	err := a.file.Close()
	a.file = nil
	return err
}
