package access

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// forwarded opens a log with a sink, and returns what it says of its losses.
func forwarded(t *testing.T, to Sink) (a *Audit, said *strings.Builder, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "audit.jsonl")
	a, err := OpenAudit(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	said = &strings.Builder{}
	a.Forward(to, slog.New(slog.NewTextHandler(said, nil)))
	return a, said, path
}

// lostIn returns the losses that the files of a log say.
func lostIn(path string) (n int) {
	eachEvent(path, func(e Event, _ []byte) {
		if e.Result == "lost" {
			n += e.Count
		}
	})
	return n
}

// Every event is a line of its own in a write of its own, in order, also those that the files only count.
func TestSink(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	a, said, path := forwarded(t, sinkTo(w))
	const n = 3 * changesAtOnce
	for i := range n {
		a.Add(Event{Who: "ann\n", ID: "1", What: "do", On: fmt.Sprint(i)})
	}
	a.Add(Event{Who: "ann", What: "refused", Result: "403"})
	lines := make(chan []Event, 1)
	go func() {
		var all []Event
		for in := bufio.NewScanner(r); in.Scan(); {
			var e Event
			if json.Unmarshal(in.Bytes(), &e) != nil {
				e.What = in.Text()
			}
			all = append(all, e)
		}
		lines <- all
	}()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a.Add(Event{What: "after the end"})
	w.Close()
	all := <-lines
	if len(all) != n+1 || all[n].Result != "403" || said.Len() > 0 || lostIn(path) != 0 {
		t.Fatalf("%d lines, %s", len(all), said)
	}
	for i, e := range all[:n] {
		if e.On != fmt.Sprint(i) || e.What != "do" || strings.Contains(e.Who, "\n") {
			t.Fatalf("line %d: %+v", i, e)
		}
	}
}

// A sink that blocks delays nobody; one that fails loses lines. What is lost is counted, and said once in the log, in the files and, when the sink
// works again, to itself. A flood of refusals leaves room for changes.
func TestSinkFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []Event
		block, broken := make(chan struct{}), true
		a, said, path := forwarded(t, func(line []byte) error {
			<-block
			if broken {
				return errors.New("broken")
			}
			var e Event
			if err := json.Unmarshal(line, &e); err != nil {
				return err
			}
			got = append(got, e)
			return nil
		})
		began := time.Now()
		for range 2 * maxQueued {
			a.Add(Event{Who: "x", What: "guess", Result: "refused"})
		}
		for i := range maxQueued / 4 {
			a.Add(Event{Who: "ann", ID: "1", What: "change", On: fmt.Sprint(i)})
		}
		synctest.Wait()
		if time.Since(began) > 0 {
			t.Error("somebody has waited")
		}
		sent, lost, ok := a.Forwarded()
		if want := int64(2*maxQueued - maxQueued/2 - 1); !ok || sent != 0 || lost < want-1 || lost > want+1 {
			t.Errorf("%d sent, %d lost, not %d", sent, lost, want)
		}
		block <- struct{}{} // one line fails, and it is said
		synctest.Wait()
		if said.String() == "" || lostIn(path) < maxQueued {
			t.Errorf("%s %d", said, lostIn(path))
		}
		broken = false
		close(block)
		synctest.Wait()
		a.Add(Event{Who: "ann", ID: "1", What: "change", On: "last"})
		synctest.Wait()
		changes := 0
		for _, e := range got {
			if e.What == "change" {
				changes++
			}
		}
		if changes != maxQueued/4+1 || got[len(got)-1].On != "last" {
			t.Errorf("%d changes of %d have arrived", changes, maxQueued/4+1)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		sent, lost = int64(len(got)), int64(0)
		for _, e := range got {
			if e.Result == "lost" {
				sent--
				lost += int64(e.Count)
			}
		}
		if total := sent + int64(lostIn(path)); total != 2*maxQueued+maxQueued/4+1 {
			t.Errorf("%d sent and %d said to be lost, of %d", sent, lostIn(path), 2*maxQueued+maxQueued/4+1)
		}
		if lost > int64(lostIn(path)) {
			t.Errorf("the sink was told of %d losses, of %d", lost, lostIn(path))
		}
	})
}

// A sink that never comes back does not keep the program from ending.
func TestSinkNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forever := make(chan struct{})
		a, _, _ := forwarded(t, func([]byte) error { <-forever; return io.ErrClosedPipe })
		for range 10 {
			a.Add(Event{Who: "ann", What: "change"})
		}
		began := time.Now()
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(began); d > sinkEnd+sinkTime {
			t.Error(d)
		}
		close(forever)
		synctest.Wait()
	})
}

// A line that was written in part is ended before the next: nobody reads two as one.
func TestSinkTorn(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	big := sinkTo(w)
	_ = w.SetWriteDeadline(time.Now())
	long := []byte(strings.Repeat("x", 1<<20) + "\n")
	done := make(chan error, 1)
	go func() { done <- big(long) }()
	buf := make([]byte, 1<<16)
	n, _ := io.ReadFull(r, buf) // the rest waits until its time is over
	_ = w.SetWriteDeadline(time.Now().Add(-time.Second))
	if err := <-done; err == nil || n == 0 {
		t.Fatal("the whole line was written")
	}
	go func() { done <- big([]byte("{}\n")); w.Close() }()
	rest, err := io.ReadAll(r)
	if err != nil || <-done != nil || !strings.HasSuffix(string(rest), "\n{}\n") || strings.Count(string(rest), "\n") != 2 {
		t.Errorf("%q %v", rest[max(0, len(rest)-20):], err)
	}
}

func TestParseSink(t *testing.T) {
	for _, name := range []string{"", "fd:", "fd:x", "fd:0", "fd:-1", "fd:99999", "nats://127.0.0.1:4222", "file"} {
		if _, err := ParseSink(name); err == nil {
			t.Errorf("%q is a sink", name)
		}
	}
}
