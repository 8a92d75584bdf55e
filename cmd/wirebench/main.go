// Command wirebench is a workbench for binary protocols: a server with a page, and the same engine on the command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// Exit statuses.
const (
	exitOK    = 0
	exitInput = 1 // the input has errors: in a definition, a message, a check
	exitUsage = 2 // wrong usage or an unreadable file
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs one command line and returns its exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cmd := newRoot()
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	out := &output{w: stdout}
	cmd.SetOut(out)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	if out.err != nil && (err == nil || errors.Is(err, errInput)) {
		err = out.err // a truncated output must not look complete
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errInput):
		return exitInput
	case errors.Is(err, syscall.EPIPE):
		return exitOK // the reader has closed the pipe
	}
	text := err.Error()
	if len(text) > maxError {
		text = strings.ToValidUTF8(text[:maxError], "") + "..."
	}
	fmt.Fprintf(stderr, "wirebench: %s\n", text)
	return exitUsage
}

// maxError bounds the error message printed; an error may contain an argument as long as a file.
const maxError = 4 << 10 // bytes

// output is standard output. It remembers the first write error, so that commands need not check each write.
type output struct {
	w   io.Writer
	err error // the first
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// errInput ends a run whose input has errors, after they have been printed.
var errInput = errors.New("the input has errors")
