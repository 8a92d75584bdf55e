package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"wirebench/defs/source"
	"wirebench/server"
	"wirebench/server/access"
	"wirebench/server/live"
	"wirebench/server/projects"
	"wirebench/server/proxy"
	relays "wirebench/server/relay"
	"wirebench/server/store"
	"wirebench/server/supervise"
)

func newServe() *cobra.Command {
	l, relay := &libraryFlags{}, &proxyFlags{}
	listen, data, gitRemote, team := "", "", "", &teamFlags{}
	var disk, quota, quotaOfAll int64
	var allowed []string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start the server (the default command)",
		Long: `Serve starts the workbench, its pages and its API, at --listen. Definitions,
messages, captures and settings are files in --data; the first start fills it with
samples.

A loopback address needs no access token, unless there are or have been accounts, or
--base-url or --trusted-proxy is given. Otherwise the first start prints the token
of an admin, which stays valid until --token or --token-file sets another. The admin
invites people at /access/people. --tls-cert and --tls-key serve TLS; behind a proxy
that does, give --trusted-proxy and --base-url.

Users may start listeners that relay to this machine and to the upstreams allowed
by --allow-upstream. --proxy starts a listener at once and allows its upstream.

Ctrl+C shuts the server down: open requests have a second to finish, recordings of
listeners are completed within five. A second Ctrl+C exits immediately. SIGHUP reads
the TLS certificate again.`,
		Example: `  wirebench serve --library mine
  wirebench serve --listen :8080 --data /srv/wirebench --allow-upstream 10.0.0.0/8:7000-7999
  wirebench serve --proxy 'tera=127.0.0.1:17801>game.example:7801'`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			signal.Ignore(syscall.SIGHUP) // until atHangup
			cmd.SetContext(ctx)
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
			kept, err := store.OpenData(data, log)
			if err != nil {
				return fmt.Errorf("%w (--data)", err)
			}
			defer kept.Close()
			kept.Limit(&store.Quota{Each: quota, All: quotaOfAll})
			door, err := team.door(kept, log)
			if err != nil {
				return err
			}
			defer door.Audit.Close()
			all, err := openProjects(cmd, l, allowed, kept, log)
			if err != nil {
				return err
			}
			defer all.Close()
			cfg := server.Config{Projects: all, Log: log, Version: version(), Demo: demoGame, GitRemote: gitRemote}
			if cfg.Trusted, err = team.trusted(); err != nil {
				return err
			}
			if disk > 0 {
				cfg.Disk = live.NewDisk(kept.Path(), disk)
			}
			return serve(cmd, listen, team, door, cfg, relay)
		},
	}
	l.add(cmd)
	relay.add(cmd)
	cmd.Flags().StringVar(&listen, "listen", defaultListen, "address to listen on")
	team.add(cmd)
	cmd.Flags().String("config", "", "TOML file with these flags, such as allow-upstream = [\"game.example:7801\"]; wirebench config prints one")
	cmd.Flags().StringArrayVar(&allowed, "allow-library", nil, "directory on this machine below which users may choose the definitions of new projects (repeatable)")
	cmd.Flags().Int64Var(&disk, "capture-bytes", 16<<30, "bytes of disk, in --data, that frames of open captures may take when they do not fit in memory; 0 = none")
	cmd.Flags().Int64Var(&quota, "project-quota", 0, "bytes that the captures of a project may take; 0 = any number")
	cmd.Flags().Int64Var(&quotaOfAll, "total-quota", 0, "bytes that all captures may take; 0 = any number")
	cmd.Flags().StringVar(&gitRemote, "git-remote", "", "remote, such as origin, from which people may pull definitions that are in a git repository; empty = none")
	cmd.Flags().StringVar(&data, "data", defaultData, "directory for definitions, samples and settings")
	return cmd
}

// openProjects opens the projects of the data folder, and those of --library, whose definitions are edited in place.
func openProjects(cmd *cobra.Command, l *libraryFlags, allowed []string, data *store.Data, log *slog.Logger) (*projects.Set, error) {
	o, err := l.options()
	if err != nil {
		return nil, err
	}
	var libraries []projects.Library
	for _, dir := range l.dirs {
		one := *l
		one.dirs = []string{dir}
		x := projects.Library{Dir: dir}
		if x.Protocol, err = one.folder(cmd); err != nil {
			return nil, err
		}
		libraries = append(libraries, x)
	}
	if l.codeMap != "" && len(libraries) > 0 {
		text, err := os.ReadFile(l.codeMap)
		if err != nil {
			return nil, fmt.Errorf("--map: %w", err)
		}
		libraries[0].Codes = source.New(l.codeMap, string(text))
	}
	all, err := projects.OpenData(projects.Options{Data: data, Log: log, Options: o, Allowed: append(slices.Clone(allowed), l.dirs...)}, libraries...)
	if err != nil {
		return nil, fmt.Errorf("open the projects in %s: %w (--data)", data.Path(), err)
	}
	return all, nil
}

// folder returns the dialect of the directory of --library.
func (l *libraryFlags) folder(cmd *cobra.Command) (protocol string, err error) {
	dir := l.dirs[0]
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return "", fmt.Errorf("--library %s: the server edits a directory, and this is a file", dir)
	}
	snap, err := l.snapshot(cmd)
	if err != nil {
		return "", err
	}
	return snap.Dialect.Name, nil
}

// serve serves until the context ends, then shuts down.
func serve(cmd *cobra.Command, listen string, team *teamFlags, door *access.Door, cfg server.Config, relay *proxyFlags) error {
	host, _, err := splitAddress(listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", listen, err)
	}
	upstreams, relayed, err := relay.read()
	if err != nil {
		return err
	}
	if err := checkProxies(relayed, cfg.Projects); err != nil {
		return err
	}
	if relay.ports != "" {
		if cfg.Ports, err = relays.ParsePorts(relay.ports); err != nil {
			return fmt.Errorf("--listener-ports %w", err)
		}
	}
	if cfg.RelayLimits, err = relay.limits(); err != nil {
		return err
	}
	warnInVain(cmd, upstreams.Entries())
	var tlsFiles *certificate
	if team.cert != "" {
		if tlsFiles, err = openCertificate(team.cert, team.key, cfg.Log); err != nil {
			return fmt.Errorf("--tls-cert: %w", err)
		}
	}
	defer atHangup(func() {
		if tlsFiles != nil {
			tlsFiles.reload()
		}
	})()
	network := "tcp"
	if ip := net.ParseIP(host); ip != nil && ip.To4() != nil { // 0.0.0.0 is IPv4 alone, as it says
		network = "tcp4"
	}
	ln, err := net.Listen(network, listen) // first: the proxy must not connect to this address
	if err != nil {
		return fmt.Errorf("--listen: %w", proxy.ListenProblem(err))
	}
	defer ln.Close()
	cfg.Upstreams, cfg.Own = upstreams, own(ln)
	if loopback(host) {
		cfg.Hosts = []string{"localhost", "127.0.0.1", "::1", host}
		if door.Base != nil {
			cfg.Hosts = append(cfg.Hosts, door.Base.Hostname())
		}
	}
	_, door.Port, _ = net.SplitHostPort(ln.Addr().String())
	if err := admitFirst(cmd, door, !door.Guarded(loopback(host))); err != nil {
		return err
	}
	if door.Guarded(loopback(host)) {
		cfg.Door = door
	}
	pages, err := server.New(cfg)
	if err != nil {
		return err
	}
	defer pages.Close() // idempotent
	srv := server.NewHTTPServer(pages)
	if at := team.address(ln.Addr()); team.base != "" {
		note(cmd, "Wirebench is at %s, and listens at %s", at, ln.Addr())
	} else {
		note(cmd, "Wirebench is at %s", at)
	}
	if err := startProxies(cmd, pages, relayed); err != nil {
		note(cmd, "%v", err)
	}
	done := make(chan error, 1)
	bounded := server.LimitConnections(ln, cfg.Trusted)
	supervise.Go("server", func(err error) { done <- err }, func() {
		if tlsFiles != nil {
			srv.TLSConfig = &tls.Config{GetCertificate: tlsFiles.get}
			done <- srv.ServeTLS(bounded, "", "")
			return
		}
		done <- srv.Serve(bounded)
	})
	select {
	case err := <-done:
		return fmt.Errorf("serve: %w", err)
	case <-cmd.Context().Done():
	}
	if err := shutDown(srv, pages); err != nil {
		note(cmd, "Shutdown incomplete after %v, not written: %v", shutdownTime, err)
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// admitFirst makes the token of the first start, where one is needed and none is given.
func admitFirst(cmd *cobra.Command, door *access.Door, open bool) error {
	if open || door.Tokens.Admin != "" || door.Accounts.HasAdmin() {
		return nil
	}
	text, err := door.Accounts.FirstToken(false)
	if err != nil {
		return fmt.Errorf("the access token cannot be stored: %w", err)
	}
	if text != "" {
		note(cmd, "The access token is %s\nIt is shown only now, and stays valid: invite yourself with it at /access/people.", text)
	}
	return nil
}

// shutdownTime bounds the shutdown as a whole. Requests that have not ended after requestTime are cut off: what they were to change has not been
// acknowledged.
const (
	shutdownTime = 5 * time.Second
	requestTime  = 1500 * time.Millisecond
)

// shutDown refuses new requests and, concurrently, lets open requests finish and ends the pages and the proxies, whose connections do not
// belong to the HTTP server.
func shutDown(srv *http.Server, pages *server.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	var both supervise.Group
	both.Go("server", nil, func() {
		ctx, cancel := context.WithTimeout(ctx, requestTime)
		defer cancel()
		if srv.Shutdown(ctx) != nil {
			_ = srv.Close()
		}
	})
	err := pages.Shutdown(ctx)
	both.Wait()
	return err
}

// loopback reports whether a host is localhost or a loopback address.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
