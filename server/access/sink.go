package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"wirebench/server/supervise"
)

// Sink takes a line of the audit log somewhere else: JSON, with a line end, which it may keep. It may take a while. If it returns an error the line is
// lost, which is counted and said. One goroutine calls it.
type Sink func(line []byte) error

// Bounds of a sink.
const (
	maxQueued  = 4096 // lines that wait; refusals fill at most half of it
	sinkTime   = 5 * time.Second
	sinkEnd    = 2 * time.Second // for what waits when the log is closed
	sinkReport = time.Minute     // between two reports of losses
)

// sender sends the lines of a log to a sink.
type sender struct {
	audit *Audit
	to    Sink
	log   *slog.Logger
	queue chan []byte
	done  chan struct{}

	sent, lost atomic.Int64
	ending     atomic.Bool // what still waits is lost
	said       int64       // losses that were reported
	why        error       // of the last one
	at         time.Time   // of the last report
}

// Forward sends each further event of the log to a sink, those included that are only counted in its files. Nothing waits for the sink: what it does
// not take in time is lost, and counted in [Audit.Forwarded], in log, and in the files.
func (a *Audit) Forward(to Sink, log *slog.Logger) {
	s := &sender{audit: a, to: to, log: log, queue: make(chan []byte, maxQueued), done: make(chan struct{})}
	a.mu.Lock()
	a.sender = s
	a.mu.Unlock()
	supervise.Go("audit sink", nil, func() {
		defer close(s.done)
		s.run()
	})
}

// Forwarded returns how many events a sink has taken, and how many are lost; ok is false if there is none.
func (a *Audit) Forwarded() (sent, lost int64, ok bool) {
	if a == nil {
		return 0, 0, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sender == nil {
		return 0, 0, false
	}
	return a.sender.sent.Load(), a.sender.lost.Load(), true
}

// put adds an event to those that wait. The caller holds the lock of the log.
func (s *sender) put(e Event) {
	line, err := json.Marshal(e)
	if err != nil || e.Result != "" && len(s.queue) >= maxQueued/2 {
		s.lost.Add(1)
		return
	}
	select {
	case s.queue <- append(line, '\n'):
	default:
		s.lost.Add(1)
	}
}

// run sends until the queue is closed.
func (s *sender) run() {
	tick := time.NewTicker(sinkReport)
	defer tick.Stop()
	for {
		select {
		case line, ok := <-s.queue:
			if !ok {
				s.report()
				return
			}
			s.send(line)
		case <-tick.C:
			s.report()
		}
	}
}

// send sends a line. After losses, the first line that is taken again is followed by one that says how many.
func (s *sender) send(line []byte) {
	err := errors.New("the program has ended")
	if !s.ending.Load() {
		err = supervise.Do("audit sink", func() error { return s.to(line) })
	}
	if err != nil {
		s.lost.Add(1)
		if s.why = err; time.Since(s.at) >= sinkReport {
			s.report()
		}
		return
	}
	s.sent.Add(1)
	if n := s.lost.Load() - s.said; n > 0 {
		if line, err := json.Marshal(s.loss(n)); err == nil {
			_ = s.to(append(line, '\n'))
		}
		s.report()
	}
}

// loss is the event of lost events.
func (s *sender) loss(n int64) Event {
	return Event{At: time.Now().UTC(), Who: "Wirebench", What: "send the audit log", On: fmt.Sprint(s.why), Result: "lost", Count: int(n)}.bounded()
}

// report says losses in the log and in the files of the audit log.
func (s *sender) report() {
	n := s.lost.Load() - s.said
	if n == 0 {
		return
	}
	if s.why == nil {
		s.why = errors.New("it is too slow")
	}
	s.log.Error("events of the audit log are lost to its sink", "events", n, "error", s.why)
	s.audit.mu.Lock()
	s.audit.changes.write(s.loss(n))
	s.audit.mu.Unlock()
	s.said, s.at, s.why = s.said+n, time.Now(), nil
}

// end sends what waits, for a while.
func (s *sender) end() {
	close(s.queue)
	late := supervise.Later(sinkEnd, "audit sink", func() { s.ending.Store(true) })
	defer late.Stop()
	select {
	case <-s.done:
	case <-time.After(sinkEnd + sinkTime): // it blocks for ever, and ends with the program
		s.log.Error("the sink of the audit log does not end", "waiting", len(s.queue))
	}
}

// ParseSink opens the sink of a name: fd:N is a file descriptor that whoever has started the program has opened for it, such as a pipe; each write has
// one line.
func ParseSink(name string) (Sink, error) {
	number, ok := strings.CutPrefix(name, "fd:")
	if !ok {
		return nil, fmt.Errorf("%q is no sink such as fd:3", name)
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > 1<<20 {
		return nil, fmt.Errorf("%q is no file descriptor such as fd:3", name)
	}
	f, err := openDescriptor(n, name)
	if err != nil {
		return nil, err
	}
	return sinkTo(f), nil
}

// sinkTo returns the sink that writes to a file. A line that was written in part is ended before the next one.
func sinkTo(f *os.File) Sink {
	torn := false
	return func(line []byte) error {
		_ = f.SetWriteDeadline(time.Now().Add(sinkTime)) // an error: the file is none that can block, or blocks for ever
		if torn {
			line = append([]byte{'\n'}, line...)
		}
		n, err := f.Write(line)
		torn = err != nil && (n > 0 && n < len(line) || torn && n == 0)
		return err
	}
}
