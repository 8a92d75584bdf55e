// Command wirebench is a workbench for binary protocols: a server with a page, and the same engine on the command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit statuses.
const (
	exitOK    = 0
	exitInput = 1 // the input has errors: in a definition, a message, a check
	exitUsage = 2 // wrong usage or an unreadable file
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run runs one command line and returns its exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cmd := newRoot()
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errInput):
		return exitInput
	case errors.Is(err, syscall.EPIPE):
		return exitOK // the reader has seen enough
	}
	fmt.Fprintf(stderr, "wirebench: %v\n", err)
	return exitUsage
}

// errInput ends a run whose input has errors; what they are has been said.
var errInput = errors.New("the input has errors")
