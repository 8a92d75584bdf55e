package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"wirebench/cmd/wirebench/demo"
	"wirebench/cmd/wirebench/demo/regatta"
	"wirebench/server/proxy"
)

func newRegatta() *cobra.Command {
	listen, via, rate := "", "", 0.0
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "regatta",
		Short: "Run the game of the manual's page about a protocol of your own",
		Long: `Regatta starts a server and a client of a protocol that Wirebench has no definitions
of: the page "Your own protocol" of the manual makes them. The client steers and
talks; what the server hears is printed. Messages have a length, those of 128 bytes
and more are compressed, and after the login all are encrypted.

The client connects to the server, or with --via to a listener in front of it, and
tries again each second.`,
		Example: "  wirebench demo regatta --via 127.0.0.1:17910",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for flag, addr := range map[string]string{"listen": listen, "via": via} {
				if addr == "" {
					continue
				}
				host, _, err := splitAddress(addr)
				if err == nil && flag == "listen" && !loopback(host) {
					err = fmt.Errorf("must be a loopback address, such as 127.0.0.1:7910")
				}
				if err != nil {
					return fmt.Errorf("--%s %s: %w", flag, shown(addr), err)
				}
			}
			if !(rate >= demo.MinRate && rate <= demo.MaxRate) { // nor NaN
				return fmt.Errorf("--rate %g: must be %g to %d messages per second", rate, demo.MinRate, demo.MaxRate)
			}
			if limit < 0 {
				return fmt.Errorf("--for %s: must be a duration above 0", limit)
			}
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			if limit > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, limit)
				defer cancel()
			}
			return runRegatta(ctx, cmd, listen, via, time.Duration(float64(time.Second)/rate))
		},
	}
	f := cmd.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:7910", "loopback address of the server")
	f.StringVar(&via, "via", "", "address to which the client connects instead of the server")
	f.Float64Var(&rate, "rate", 2, "messages per second of the client")
	f.DurationVar(&limit, "for", 0, "duration, such as 30s (default: until Ctrl+C)")
	return cmd
}

// runRegatta plays until the context ends.
func runRegatta(ctx context.Context, cmd *cobra.Command, listen, via string, pause time.Duration) error {
	var said sync.Mutex
	say := func(format string, args ...any) {
		said.Lock()
		defer said.Unlock()
		fmt.Fprintf(cmd.OutOrStdout(), format+"\n", args...)
	}
	s, err := regatta.Listen(listen, func(text string) { say("heard: %s", printable(text)) })
	if err != nil {
		return fmt.Errorf("--listen: %w", proxy.ListenProblem(err))
	}
	defer s.Close()
	to := s.Addr
	if via != "" {
		to = via
	}
	_, port, _ := net.SplitHostPort(to)
	say("server at %s, client connects to port %s", s.Addr, port)
	last := ""
	for ctx.Err() == nil {
		var secret [4]byte
		_, _ = rand.Read(secret[:]) // never fails
		if err := regatta.Play(ctx, to, secret, pause); err != nil {
			if why := err.Error(); why != last {
				note(cmd, "%s; the client retries", why)
				last = why
			}
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	return nil
}
