package access

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Bounds of the audit log. Refused requests are in a file of their own, and no person has more than a share of that of the changes: nobody can
// push out the entries of others.
const (
	maxAuditBytes  = 32 << 20 // of a file, which is then cut; one older file is kept
	maxAuditField  = 300      // bytes of a text
	changesAtOnce  = 120      // of a person and minute; more are counted
	refusalsAtOnce = 1        // of a person, or an address, and minute; more are counted
	maxCounted     = 1 << 12  // persons and addresses that are counted at once
	maxListedOn    = 5        // of what is counted
)

// Event is a line of the audit log.
type Event struct {
	At     time.Time `json:"at"`
	Who    string    `json:"who" doc:"name of the account or token"`
	ID     string    `json:"id,omitempty" doc:"of the account"`
	From   string    `json:"from,omitempty" doc:"address of the client"`
	What   string    `json:"what" doc:"operation, such as PUT /api/v1/projects/{project}/definitions/{file}"`
	On     string    `json:"on,omitempty" doc:"what it concerned"`
	Result string    `json:"result,omitempty" doc:"\"\" for success, refused, or an HTTP status"`
	Count  int       `json:"count,omitempty" doc:"number of further events like this one in its minute, which have no lines of their own"`
}

// brief cuts a text that somebody has chosen, and says so.
func brief(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

func (e Event) bounded() Event {
	for _, text := range []*string{&e.Who, &e.ID, &e.From, &e.What, &e.On, &e.Result} {
		*text = strings.Map(printable, brief(*text, maxAuditField))
	}
	return e
}

// key identifies the person or address to which an event counts.
func (e Event) key() string { return cmp.Or(e.ID, e.From+" "+e.Who) }

// Audit is the log of who did what: a file of changes and sign-ins, and one of what was refused or failed. A nil Audit logs nothing.
type Audit struct {
	now func() time.Time

	mu       sync.Mutex
	changes  auditFile
	refusals auditFile
	sender   *sender // nil: there is no sink
}

// OpenAudit opens the log at a path, JSON Lines; refusals are in a file whose name ends with .refused. A file with lines that cannot be read
// is kept aside, and named in log; the others stay.
func OpenAudit(path string, log *slog.Logger) (*Audit, error) {
	a := &Audit{now: time.Now}
	for _, name := range []string{path, path + ".1", path + ".refused", path + ".refused.1"} {
		if err := mend(name, log); err != nil {
			return nil, err
		}
	}
	alone := func(do func() error, _ ...AuditChange) error { return do() }
	a.changes = auditFile{path: path, most: maxAuditBytes, atOnce: changesAtOnce, shared: true, keep: alone}
	a.refusals = auditFile{path: path + ".refused", most: maxAuditBytes, atOnce: refusalsAtOnce, keep: alone}
	return a, errors.Join(a.changes.open(), a.refusals.open())
}

// AuditChange is a change of a file of the log, by the name of the file: its bytes from an offset on, all of them, or its end.
type AuditChange struct {
	Name        string
	At          int64
	Data        []byte
	Whole, Gone bool
}

// Keep lets the log keep its changes elsewhere, too: keep is called with each, and calls do once they are kept.
func (a *Audit) Keep(keep func(do func() error, changes ...AuditChange) error) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changes.keep, a.refusals.keep = keep, keep
}

// Add logs an event. Errors are dropped: a full disk must not stop the server.
func (a *Audit) Add(e Event) {
	if a == nil {
		return
	}
	now := a.now().UTC()
	if e.At.IsZero() {
		e.At = now
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changes.flush(now)
	a.refusals.flush(now)
	e = e.bounded()
	if a.sender != nil {
		a.sender.put(e)
	}
	if e.Result == "" {
		a.changes.add(e, now)
		return
	}
	a.refusals.add(e, now)
}

// Latest returns the last events, newest first: as many changes as refusals, if there are.
func (a *Audit) Latest(most int) []Event {
	if a == nil {
		return []Event{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changes.flush(a.now().UTC())
	a.refusals.flush(a.now().UTC())
	changes, refusals := a.changes.latest(most), a.refusals.latest(most)
	refusals = refusals[:min(len(refusals), max(most/2, most-len(changes)))]
	changes = changes[:min(len(changes), most-len(refusals))]
	out := append(append([]Event{}, changes...), refusals...)
	slices.SortStableFunc(out, func(x, y Event) int { return y.At.Compare(x.At) })
	return out
}

// hasPersons reports whether an account has done something.
func (a *Audit) hasPersons() bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	found := false
	for _, path := range []string{a.changes.path, a.changes.path + ".1"} {
		eachEvent(path, func(e Event, _ []byte) { found = found || e.ID != "" })
	}
	return found
}

// Close closes the log.
func (a *Audit) Close() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	s := a.sender
	a.sender = nil
	a.mu.Unlock()
	if s != nil {
		s.end()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return errors.Join(a.changes.close(), a.refusals.close())
}

// auditFile is a file of events.
type auditFile struct {
	path   string
	most   int64 // bytes
	atOnce int   // events of a person and minute with a line of their own
	shared bool  // when it is full, the entries of those who have most of it go first
	keep   func(do func() error, changes ...AuditChange) error

	file   *os.File
	size   int64
	minute time.Time
	of     map[string]*counted // of the minute
}

// counted is what a person did in a minute.
type counted struct {
	lines int
	more  Event // with Count
	on    []string
}

func (f *auditFile) open() error {
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.file, f.size = file, info.Size()
	return nil
}

func (f *auditFile) close() error {
	if f.file == nil {
		return nil
	}
	f.flush(f.minute.Add(time.Hour))
	err := f.file.Close()
	f.file = nil
	return err
}

// add writes an event, or counts it.
func (f *auditFile) add(e Event, now time.Time) {
	if f.of == nil {
		f.of, f.minute = map[string]*counted{}, now
	}
	key := e.key()
	c := f.of[key]
	if c == nil && len(f.of) >= maxCounted {
		key = "others"
		e.Who, e.ID, e.From = "others", "", ""
		c = f.of[key]
	}
	if c == nil {
		c = &counted{}
		f.of[key] = c
	}
	if c.lines < f.atOnce {
		c.lines++
		f.write(e)
		return
	}
	n := c.more.Count + 1
	c.more = e
	c.more.Count = n
	if on := brief(e.On, maxAuditField/maxListedOn); on != "" && !slices.Contains(c.on, on) {
		if len(c.on) < maxListedOn {
			c.on = append(c.on, on)
		} else {
			c.on[maxListedOn-1] = "…"
		}
	}
}

// flush writes what was counted once its minute is over.
func (f *auditFile) flush(now time.Time) {
	if f.of == nil || now.Sub(f.minute) < time.Minute {
		return
	}
	for _, c := range f.of {
		if c.more.Count > 0 {
			c.more.On = strings.Join(c.on, ", ")
			f.write(c.more.bounded())
		}
	}
	f.of = nil
}

func (f *auditFile) write(e Event) {
	line, err := json.Marshal(e)
	if err != nil || f.file == nil {
		return
	}
	if f.size > f.most {
		f.cut()
		if f.file == nil {
			return
		}
	}
	line = append(line, '\n')
	_ = f.keep(func() error {
		n, err := f.file.Write(line)
		f.size += int64(n)
		return err
	}, AuditChange{Name: filepath.Base(f.path), At: f.size, Data: line})
}

// older makes a text that of the older file, which has all that is not in the newer one from then on.
func (f *auditFile) older(text []byte) {
	older := f.path + ".1"
	_ = f.keep(func() error {
		err := os.WriteFile(older+".new", text, 0o600)
		if err == nil {
			err = os.Rename(older+".new", older)
		}
		if err == nil {
			err = os.Remove(f.path)
		}
		return err
	}, AuditChange{Name: filepath.Base(older), Data: text, Whole: true}, AuditChange{Name: filepath.Base(f.path), Gone: true})
}

// cut moves the events to the older file, which loses some: the oldest ones, or those of whoever has most.
func (f *auditFile) cut() {
	f.file.Close()
	f.file = nil
	older := f.path + ".1"
	if !f.shared {
		if text, err := os.ReadFile(f.path); err == nil {
			f.older(text)
		}
		_ = f.open()
		return
	}
	bytesOf := map[string]int64{}
	each := func(do func(key string, line []byte)) {
		for _, path := range []string{older, f.path} {
			eachEvent(path, func(e Event, line []byte) { do(e.key(), line) })
		}
	}
	each(func(key string, line []byte) { bytesOf[key] += int64(len(line)) + 1 })
	left, share := f.most, int64(0)
	sizes := []int64{}
	for _, n := range bytesOf {
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	for i, n := range sizes { // whoever has less than a fair share leaves the rest to the others
		share = left / int64(len(sizes)-i)
		left -= min(n, share)
	}
	var kept bytes.Buffer
	each(func(key string, line []byte) {
		if bytesOf[key] <= share {
			kept.Write(append(line, '\n'))
		} else {
			bytesOf[key] -= int64(len(line)) + 1 // the oldest ones go
		}
	})
	f.older(kept.Bytes())
	_ = f.open()
}

// latest returns the last events, newest first.
func (f *auditFile) latest(most int) []Event {
	out := []Event{}
	for _, path := range []string{f.path, f.path + ".1"} {
		if len(out) < most {
			out = append(out, lastOf(path, most-len(out))...)
		}
	}
	return out
}

// maxAuditLine is the length from which a line is not one of a log. Earlier versions wrote some without bounds.
const maxAuditLine = 1 << 20

// eachEvent calls do for the events of a file, and their lines. It returns the number of lines that are no events.
func eachEvent(path string, do func(e Event, line []byte)) (damaged int) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // opening a pipe would wait
		return 0
	}
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer file.Close()
	lines := bufio.NewReaderSize(file, maxAuditLine)
	for {
		line, err := lines.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		var e Event
		switch {
		case long:
			damaged++
		case len(line) == 0:
		case json.Unmarshal(line, &e) == nil && !e.At.IsZero():
			do(e, slices.Clone(line))
		default:
			damaged++
		}
		if err != nil {
			return damaged
		}
	}
}

// mend keeps a file with lines that are no events aside, and writes the events to a new one.
func mend(path string, log *slog.Logger) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("not a regular file")
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	var events bytes.Buffer
	damaged := eachEvent(path, func(_ Event, line []byte) { events.Write(append(line, '\n')) })
	if damaged == 0 {
		return nil
	}
	aside := path + ".damaged-" + time.Now().UTC().Format("20060102-150405.000")
	if err := os.WriteFile(path+".new", events.Bytes(), 0o600); err != nil {
		return err
	}
	if err := errors.Join(os.Rename(path, aside), os.Rename(path+".new", path)); err != nil {
		return err
	}
	log.Error("damaged file: it is kept aside, and its lines that can be read stay", "file", path, "lines left out", damaged, "as", aside)
	return nil
}

// lastOf reads the last events of a file, newest first.
func lastOf(path string, most int) (out []Event) {
	eachEvent(path, func(e Event, _ []byte) {
		if out = append(out, e.bounded()); len(out) > 2*most {
			out = slices.Delete(out, 0, most)
		}
	})
	slices.Reverse(out)
	return out[:min(len(out), most)]
}
