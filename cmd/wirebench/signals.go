package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"wirebench/server/supervise"
)

// untilSignal is for commands that run until they are interrupted: the first Ctrl+C (or SIGTERM) ends the context, so that they can close
// their connections, and a second one ends the program at once. Other commands end at the first. A closed output does not end the
// program either: writing to it returns an error, and the command decides.
//
// Call stop when the command ends.
func untilSignal(ctx context.Context) (told context.Context, stop func()) {
	signal.Ignore(syscall.SIGPIPE)
	told, stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	supervise.After(told, "program", stop)
	return told, stop
}

// atHangup calls f at each SIGHUP, which then does not end the program, until stop is called.
func atHangup(f func()) (stop func()) {
	told, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(told, syscall.SIGHUP)
	supervise.Go("signals", nil, func() {
		for {
			select {
			case <-told:
				f()
			case <-done:
				return
			}
		}
	})
	return func() {
		signal.Stop(told)
		signal.Ignore(syscall.SIGHUP)
		close(done)
	}
}
