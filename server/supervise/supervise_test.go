package supervise_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"wirebench/server/supervise"
)

// TestFault checks that a panic ends its own goroutine: it becomes an error, is counted each time, and its stack is logged once.
func TestFault(t *testing.T) {
	var log bytes.Buffer
	supervise.LogTo(slog.New(slog.NewTextHandler(&log, nil)))
	defer supervise.LogTo(nil)
	before := supervise.Counts()["list"]
	var none []int
	var g supervise.Group
	ended := make(chan error, 20)
	for range 10 {
		g.Go("list", func(err error) { ended <- err; panic("in the end of it") }, func() { _ = none[len(none)-1] })
	}
	g.Go("list", func(err error) { t.Error("ended without a panic:", err) }, func() {})
	g.Wait()
	for range 10 {
		var f *supervise.Fault
		if err := <-ended; !errors.As(err, &f) || !strings.Contains(err.Error(), "this list ended by a fault of the program: runtime error: index out of range") {
			t.Fatal(err)
		}
	}
	if n := supervise.Counts()["list"] - before; n != 20 {
		t.Errorf("%d faults are counted, want those of 10 goroutines and of their ends", n)
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 2 || !strings.Contains(log.String(), "TestFault") {
		t.Errorf("%d lines, want one of each place with its stack:\n%s", n, &log)
	}
}

// TestFaultElsewhere checks the other ways to start a goroutine, and values that are no errors.
func TestFaultElsewhere(t *testing.T) {
	count := func() int64 { return supervise.Counts()["timer"] }
	before := count()
	supervise.Later(time.Nanosecond, "timer", func() { panic(nil) })
	ctx, cancel := context.WithCancel(t.Context())
	supervise.After(ctx, "timer", func() { panic(errors.New("x")) })
	cancel()
	done := make(chan error)
	supervise.Go("timer", func(err error) { done <- err }, func() { panic(7) })
	if err := <-done; !strings.Contains(err.Error(), "program: 7;") {
		t.Error(err)
	}
	for count() != before+3 {
		runtime.Gosched()
	}
	want := errors.New("plain")
	if err := supervise.Do("timer", func() error { return want }); err != want {
		t.Error(err)
	}
}

// TestGoexit checks that runtime.Goexit, which ends a goroutine of a test, is no fault.
func TestGoexit(t *testing.T) {
	before := supervise.Counts()["test"]
	var g supervise.Group
	g.Go("test", func(error) { t.Error("ended") }, runtime.Goexit)
	g.Wait()
	if n := supervise.Counts()["test"]; n != before {
		t.Error(n)
	}
}
