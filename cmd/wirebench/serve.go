package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"wirebench/defs"
	"wirebench/defs/library"
	"wirebench/server"
	"wirebench/server/workspace"
)

const defaultListen = "127.0.0.1:8080"

func newServe() *cobra.Command {
	l := &libraryFlags{}
	listen, data, token := "", "", ""
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start the server (what wirebench does without a command)",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			spaces, err := workspaces(cmd, l)
			if err != nil {
				return err
			}
			return serve(cmd, listen, token, spaces)
		},
	}
	l.add(cmd)
	cmd.Flags().StringVar(&listen, "listen", defaultListen, "address to listen on")
	cmd.Flags().StringVar(&token, "token", "", "access token (default: none on a loopback address, else one made up and printed)")
	cmd.Flags().StringVar(&data, "data", "./wirebench-data", "directory for data; this version stores none")
	return cmd
}

// workspaces are those of the protocols that can be read, with the definitions that ship with the program, or with those of
// --library for its protocol.
func workspaces(cmd *cobra.Command, l *libraryFlags) ([]server.Workspace, error) {
	var out []server.Workspace
	var own *workspace.Snapshot
	if len(l.dirs) > 0 {
		var err error
		if own, err = l.snapshot(cmd); err != nil {
			return nil, err
		}
	}
	o, err := l.options()
	if err != nil {
		return nil, err
	}
	for _, d := range defs.Dialects {
		ws := server.Workspace{Name: d.Name, Title: d.Title, Snapshot: own}
		if own == nil || own.Dialect.Name != d.Name {
			lib, err := builtIn(d.Name)
			if err != nil {
				return nil, err
			}
			if ws.Snapshot, err = workspace.Build(lib, workspace.Settings{Dialect: d.Name, Options: o}); err != nil {
				return nil, err
			}
			for _, s := range library.Samples(d.Name) {
				ws.Samples = append(ws.Samples, server.Sample{Message: s.Message, Hex: s.Hex, About: s.About})
			}
		}
		out = append(out, ws)
	}
	return out, nil
}

// serve listens until the context ends, then lets open requests finish.
func serve(cmd *cobra.Command, listen, token string, spaces []server.Workspace) error {
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", listen, err)
	}
	cfg := server.Config{Workspaces: spaces, Log: log, Version: version()}
	if loopback(host) {
		cfg.Hosts = []string{"localhost", "127.0.0.1", "::1"}
	}
	handler, err := server.New(cfg)
	if err != nil {
		return err
	}
	if token == "" && !loopback(host) {
		token = rand.Text()
		note(cmd, "The access token is %s", token)
	}
	if token != "" {
		handler = server.RequireToken(token, handler)
	}
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	srv := server.NewHTTPServer(handler)
	note(cmd, "Wirebench is at http://%s", ln.Addr())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve: %w", err)
	case <-cmd.Context().Done():
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err = srv.Shutdown(ctx)
	if e := <-done; !errors.Is(e, http.ErrServerClosed) && err == nil {
		err = e
	}
	return err
}

// loopback reports whether an address is of this machine alone.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
