package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilTold is for commands that run until somebody ends them: the first Ctrl+C (or SIGTERM) ends the context, so that they can say
// goodbye, and a second one ends the program at once. All other commands die of the first, as they hold nothing that is worth a goodbye.
// A reader of the output that goes away does not end them either: to write is an error then, and what they relay or serve goes on as far
// as they see fit.
//
// Call stop when the command ends.
func untilTold(ctx context.Context) (told context.Context, stop func()) {
	signal.Ignore(syscall.SIGPIPE)
	told, stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(told, stop)
	return told, stop
}
