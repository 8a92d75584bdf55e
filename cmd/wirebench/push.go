package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"wirebench/server/supervise"
)

// Bounds of what waits to be pushed.
const (
	pushQueue = 64 << 20              // bytes
	pushRest  = 20 * time.Millisecond // between two looks whether there is room
	pushEnd   = 10 * time.Second      // for the rest, after an interruption
	pushRead  = 256 << 10             // bytes of one read
	pushLast  = time.Second           // after an interruption, for what the program in front writes at its end
)

func newPush() *cobra.Command {
	token, project, name, listen, pattern := "", "", "", "", ""
	cmd := &cobra.Command{
		Use:   "push URL",
		Short: "Push a running capture to a workbench, which shows it live",
		Long: `Push reads a capture from standard input, as tcpdump and dumpcap write it, and sends
it to a workbench while it grows. Pages that have it open follow. Other programs can
push frames as JSON Lines, as "wirebench frames --json" writes them; of a hook the
direction and the bytes are enough. With --listen such programs connect to a socket
of this machine, several at once, until push is interrupted. With --pattern, standard
input is a growing log, and each line that the regular expression matches is a frame.

A lost connection is waited for; meanwhile up to 64 MiB are kept, and then the
program in front waits. The token is best given as WIREBENCH_PUSH_TOKEN.`,
		Example: `  tcpdump -i eth0 -U -w - port 7801 | wirebench push https://wirebench.example --project tera
  tail -F game.log | wirebench push http://127.0.0.1:8080 --project mine --pattern '(?<dir>tx|rx) (?<data>.*)$'
  my-hook | wirebench push http://127.0.0.1:8080 --project mine --name "a hook"
  wirebench push http://127.0.0.1:8080 --project mine --listen unix:/tmp/hook.sock`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if project == "" {
				return errors.New("push needs --project")
			}
			own, err := parsePattern(pattern)
			if err != nil {
				return err
			}
			if own != nil && listen != "" {
				return errors.New("--pattern reads standard input and --listen a socket: give one of them")
			}
			waiting := newSpool(pushQueue, nil)
			p, err := newPusher(args[0], token, project, time.Now(), waiting, func(format string, args ...any) { note(cmd, format, args...) })
			if err != nil {
				return fmt.Errorf("%s: %w", shown(args[0]), err)
			}
			p.name = cmp.Or(name, "pushed"+p.name[len("proxy"):])
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			in := cmd.InOrStdin()
			if own != nil {
				if in, err = newPatternLines(in, own, func(format string, args ...any) { note(cmd, format, args...) }); err != nil {
					return err
				}
			}
			if listen != "" {
				if in, err = listenHooks(ctx, listen, func(format string, args ...any) { note(cmd, format, args...) }); err != nil {
					return fmt.Errorf("--listen: %w", err)
				}
			}
			return pushAll(ctx, in, p)
		},
	}
	f := cmd.Flags()
	f.StringVar(&token, "token", "", "access token of the workbench")
	f.StringVar(&project, "project", "", "project of the workbench")
	f.StringVar(&listen, "listen", "", "read JSON Lines of hooks that connect to unix:PATH or 127.0.0.1:PORT, not standard input")
	f.StringVar(&pattern, "pattern", "", "regular expression for frames in the lines of a log: "+patternUsage)
	f.StringVar(&name, "name", "", "name of the capture (default: pushed, and the time)")
	return cmd
}

// pushAll pushes what it reads until the end.
func pushAll(ctx context.Context, in io.Reader, p *pusher) error {
	pushing, stop := context.WithCancel(context.WithoutCancel(ctx)) // what was read is pushed after an interruption too
	defer stop()
	done := make(chan struct{})
	begun := false
	begin := func(head []byte) {
		begun = true
		if bytes.HasPrefix(bytes.TrimLeft(head, " \r\n\t"), []byte("{")) {
			p.ending = ".jsonl"
		}
		supervise.Go("push", func(err error) { p.note("%v", err) }, func() {
			defer close(done)
			p.run(pushing)
		})
	}
	pieces, ended := make(chan []byte), make(chan struct{})
	defer close(ended)
	var reading, failed error // reading is valid once pieces is closed
	supervise.Go("push", func(err error) { p.note("%v", err) }, func() {
		defer close(pieces)
		buf := make([]byte, pushRead)
		for {
			n, err := in.Read(buf)
			if n > 0 {
				select {
				case pieces <- bytes.Clone(buf[:n]):
				case <-ended:
					return
				}
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					reading = err
				}
				return
			}
		}
	})
	interrupted, last := ctx.Done(), (<-chan time.Time)(nil)
	for more := true; more; {
		select {
		case <-interrupted:
			interrupted, last = nil, time.After(pushLast)
		case <-last:
			more = false
		case <-done:
			return errInput // it has said why
		case data, ok := <-pieces:
			if more = ok; !ok {
				failed = reading
				break
			}
			if !begun {
				begin(data)
			}
			for p.spool.waiting()+int64(len(data)) > pushQueue {
				select {
				case <-time.After(pushRest):
				case <-ctx.Done():
				case <-done:
				}
				if ctx.Err() != nil || isDone(done) {
					return errInput
				}
			}
			if err := p.spool.add(1, data); err != nil {
				return err
			}
		}
	}
	p.spool.close()
	if !begun {
		return errors.Join(failed, errors.New("nothing to push: the input is empty"))
	}
	defer supervise.After(ctx, "push", func() { supervise.Later(pushEnd, "push", stop) })()
	if <-done; p.spool.lost() > 0 {
		return errInput
	}
	return failed
}

func isDone(done chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
