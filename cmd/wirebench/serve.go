package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"wirebench/defs"
	"wirebench/defs/library"
	"wirebench/defs/source"
	"wirebench/server"
	"wirebench/server/access"
	"wirebench/server/proxy"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

const defaultListen = "127.0.0.1:8080"

func newServe() *cobra.Command {
	l, relay := &libraryFlags{}, &proxyFlags{}
	listen, data, tokens := "", "", access.Tokens{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start the server (the default command)",
		Long: `Serve starts the workbench, its pages and its API, at --listen. Definitions,
messages, captures and settings are files in --data; the first start fills it with
samples.

A loopback address needs no access token. On any other address --token sets it;
without the flag serve prints a random token.

Users may start listeners that relay to this machine and to the upstreams allowed
by --allow-upstream. --proxy starts a listener at once and allows its upstream.

Ctrl+C shuts the server down and gives open requests five seconds to finish; a
second Ctrl+C exits immediately.`,
		Example: `  wirebench serve --library mine
  wirebench serve --listen :8080 --data /srv/wirebench --allow-upstream 10.0.0.0/8:7000-7999
  wirebench serve --proxy 'tera=127.0.0.1:17801>game.example:7801'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			cmd.SetContext(ctx)
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			kept, err := store.OpenData(data, log)
			if err != nil {
				return fmt.Errorf("%w (--data)", err)
			}
			defer kept.Close()
			spaces, err := workspaces(cmd, l, kept, log)
			if err != nil {
				return err
			}
			return serve(cmd, listen, tokens, spaces, relay, log)
		},
	}
	l.add(cmd)
	relay.add(cmd)
	cmd.Flags().StringVar(&listen, "listen", defaultListen, "address to listen on")
	cmd.Flags().StringVar(&tokens.Operator, "token", "", "access token (default: none on a loopback address without --viewer-token, otherwise a random one, which is printed)")
	cmd.Flags().StringVar(&tokens.Viewer, "viewer-token", "", "second access token, for read-only access")
	cmd.Flags().StringVar(&data, "data", "./wirebench-data", "directory for definitions, samples and settings")
	return cmd
}

// workspaces opens a workspace for each dialect. The definitions of --library are edited in place; those of the other dialects are in the
// data directory, which is filled with the built-in definitions when it is created.
func workspaces(cmd *cobra.Command, l *libraryFlags, data *store.Data, log *slog.Logger) ([]*workspace.Workspace, error) {
	o, err := l.options()
	if err != nil {
		return nil, err
	}
	own, folder := "", ""
	if len(l.dirs) > 0 {
		if folder, own, err = l.folder(cmd); err != nil {
			return nil, err
		}
	}
	var codes *source.File
	if l.codeMap != "" {
		text, err := os.ReadFile(l.codeMap)
		if err != nil {
			return nil, fmt.Errorf("--map: %w", err)
		}
		codes = source.New(l.codeMap, string(text))
	}
	var out []*workspace.Workspace
	for _, d := range defs.Dialects {
		c := workspace.Config{Name: d.Name, Title: d.Title, Dialect: d.Name, Options: o, Log: log}
		home, err := data.Dir(d.Name)
		if err != nil {
			return nil, fmt.Errorf("keep data in %s: %w (--data)", data.Path(), err)
		}
		c.Home = home
		if c.Captures, err = data.Captures(d.Name, "captures"); err != nil {
			return nil, fmt.Errorf("keep captures in %s: %w (--data)", data.Path(), err)
		}
		if d.Name == own { // other programs may write there, too
			c.Codes = codes
			if c.Files, err = store.Open(folder, store.WithLog(log)); err != nil {
				return nil, fmt.Errorf("open library %s: %w", folder, err)
			}
		} else {
			if err := seed(data.Path(d.Name, "definitions"), d.Name, c.Captures); err != nil {
				return nil, fmt.Errorf("keep data in %s: %w (--data)", data.Path(), err)
			}
			if c.Files, err = data.Dir(d.Name, "definitions"); err != nil {
				return nil, fmt.Errorf("open library: %w", err)
			}
		}
		w, err := workspace.Open(c)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// folder returns the directory of --library and its dialect.
func (l *libraryFlags) folder(cmd *cobra.Command) (dir, protocol string, err error) {
	if len(l.dirs) > 1 {
		return "", "", errors.New("the server edits one directory: give --library once")
	}
	dir = l.dirs[0]
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return "", "", fmt.Errorf("--library %s: the server edits a directory, and this is a file", dir)
	}
	snap, err := l.snapshot(cmd)
	if err != nil {
		return "", "", err
	}
	return dir, snap.Dialect.Name, nil
}

// seed creates the directory of a protocol's definitions with the built-in definitions and samples, and adds the sample capture. An
// existing directory is left unchanged, even if it is empty. The directory is created under a temporary name, so that a crash leaves no
// incomplete one.
func seed(dir, protocol string, captures *store.Captures) error {
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fsys, ok := library.Dialect(protocol)
	if !ok {
		return os.MkdirAll(dir, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	made, err := os.MkdirTemp(filepath.Dir(dir), ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(made)
	if err := copyLibrary(made, protocol, fsys); err != nil {
		return err
	}
	if err := os.Chmod(made, 0o755); err != nil {
		return err
	}
	if err := addRecording(captures, protocol); err != nil { // first: after a crash behind the rename it would never be added
		return err
	}
	return os.Rename(made, dir)
}

// addRecording adds the sample capture of a protocol, with its notes, unless there are captures already.
func addRecording(captures *store.Captures, protocol string) error {
	r, ok := library.Recorded(protocol)
	if !ok {
		return nil
	}
	if have, err := captures.List(); err != nil || len(have) > 0 {
		return err
	}
	var notes store.Notes
	if err := json.Unmarshal(r.Notes, &notes); err != nil {
		return fmt.Errorf("notes of the sample capture of %s: %w", protocol, err)
	}
	notes.Noted = store.ByNumber(notes.Marked, notes.Frames)
	x, err := captures.Add(r.Name, time.Now(), bytes.NewReader(r.Data))
	if err != nil {
		return err
	}
	_, err = captures.Note(x.ID, func(n *store.Notes) { *n = notes })
	return err
}

// copyLibrary writes a library, with each sample beside its definition.
func copyLibrary(dir, protocol string, fsys fs.FS) error {
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if ext := path.Ext(name); ext != ".def" && ext != ".map" {
			return nil
		}
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
	if err != nil {
		return err
	}
	d, err := store.Open(dir)
	if err != nil {
		return err
	}
	w, err := workspace.Open(workspace.Config{Name: protocol, Dialect: protocol, Files: d})
	if err != nil {
		return err
	}
	for _, s := range library.Samples(protocol) {
		m, err := w.Now().Find(s.Message)
		if err != nil {
			return err
		}
		if err := w.AddSample(m.Span.File.Name, workspace.Sample{Message: s.Message, Hex: s.Hex, About: s.About}); err != nil {
			return err
		}
	}
	return nil
}

// serve serves until the context ends, then shuts down.
func serve(cmd *cobra.Command, listen string, tokens access.Tokens, spaces []*workspace.Workspace, relay *proxyFlags, log *slog.Logger) error {
	host, _, err := splitAddress(listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", listen, err)
	}
	if tokens.Viewer != "" && tokens.Viewer == tokens.Operator {
		return errors.New("--viewer-token and --token must differ")
	}
	upstreams, relayed, err := relay.read()
	if err != nil {
		return err
	}
	if err := checkProxies(relayed, spaces); err != nil {
		return err
	}
	warnInVain(cmd, upstreams.Entries())
	ln, err := net.Listen("tcp", listen) // first: the proxy must not connect to this address
	if err != nil {
		return fmt.Errorf("--listen: %w", proxy.ListenProblem(err))
	}
	defer ln.Close()
	cfg := server.Config{Workspaces: spaces, Log: log, Version: version(), Upstreams: upstreams, Own: own(ln), Demo: demoGame}
	if loopback(host) {
		cfg.Hosts = []string{"localhost", "127.0.0.1", "::1"}
	}
	if tokens.Operator == "" && (tokens.Viewer != "" || !loopback(host)) {
		tokens.Operator = rand.Text()
		note(cmd, "The access token is %s", tokens.Operator)
	}
	cfg.Tokens = tokens
	pages, err := server.New(cfg)
	if err != nil {
		return err
	}
	defer pages.Close() // idempotent
	srv := server.NewHTTPServer(pages)
	watching, stop := context.WithCancel(cmd.Context())
	var watchers sync.WaitGroup
	defer watchers.Wait()
	defer stop()
	for _, w := range spaces {
		watchers.Go(func() {
			if err := w.Run(watching); err != nil && watching.Err() == nil {
				log.Error("changes on disk are no longer followed", "workspace", w.Name, "error", err)
			}
		})
	}
	note(cmd, "Wirebench is at http://%s", ln.Addr())
	if err := startProxies(cmd, pages, relayed); err != nil {
		note(cmd, "%v", err)
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve: %w", err)
	case <-cmd.Context().Done():
	}
	if err := shutDown(srv, pages); err != nil {
		note(cmd, "Shutdown incomplete after %v: %v", shutdownTime, err)
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// shutdownTime bounds the shutdown as a whole; connections still open are then closed.
const shutdownTime = 5 * time.Second

// shutDown refuses new requests and, concurrently, lets open requests finish and ends the pages and the proxies, whose connections do not
// belong to the HTTP server.
func shutDown(srv *http.Server, pages *server.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	var both sync.WaitGroup
	var requests error
	both.Go(func() {
		if requests = srv.Shutdown(ctx); requests != nil {
			_ = srv.Close()
			requests = fmt.Errorf("requests: %w", requests)
		}
	})
	err := pages.Shutdown(ctx)
	both.Wait()
	return errors.Join(err, requests)
}

// loopback reports whether a host is localhost or a loopback address.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
