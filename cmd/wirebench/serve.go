package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"wirebench/defs/source"
	"wirebench/server"
	"wirebench/server/access"
	"wirebench/server/cluster"
	"wirebench/server/collect"
	"wirebench/server/live"
	"wirebench/server/logs"
	"wirebench/server/projects"
	"wirebench/server/proxy"
	relays "wirebench/server/relay"
	"wirebench/server/settings"
	"wirebench/server/store"
	"wirebench/server/supervise"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	library                       libraryFlags
	relay                         proxyFlags
	team                          teamFlags
	listen, data, gitRemote, lake string
	lakeEvery                     time.Duration
	captures                      string // where they are kept
	cache                         int64
	disk, quota, quotaOfAll       int64
	bus                           busFlags
	stream                        collect.StreamOptions
	allowed                       []string
	logLevel, logFormat           string
	keep                          settings.Keep
	clusterFlags
}

func newServe() *cobra.Command {
	f := &serveFlags{}
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
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.library.add(cmd)
	f.relay.add(cmd)
	cmd.Flags().StringVar(&f.listen, "listen", defaultListen, "address to listen on")
	f.team.add(cmd)
	cmd.Flags().String("config", "", "TOML file with these flags, such as allow-upstream = [\"game.example:7801\"]; wirebench config prints one")
	cmd.Flags().StringArrayVar(&f.allowed, "allow-library", nil, "directory on this machine below which users may choose the definitions of new projects (repeatable)")
	cmd.Flags().Int64Var(&f.disk, "capture-bytes", 16<<30, "bytes of disk, in --data, that frames of open captures may take when they do not fit in memory; 0 = none")
	cmd.Flags().Int64Var(&f.quota, "project-quota", 0, "bytes that the captures of a project may take; 0 = any number")
	cmd.Flags().Int64Var(&f.quotaOfAll, "total-quota", 0, "bytes that all captures may take; 0 = any number")
	cmd.Flags().StringVar(&f.captures, "captures", "", "folder, or s3://BUCKET/PREFIX, in which complete captures are kept, and from which they are read (default: in --data)")
	cmd.Flags().Int64Var(&f.cache, "captures-cache", 8<<30, "bytes that captures which are in --captures may take in --data; those opened longest ago go first")
	cmd.Flags().StringVar(&f.keep.Age, "keep-captures", "", "age after which captures are removed, such as 12h, 30d or 8w; those with notes, marks, markers or comments stay (default: never)")
	cmd.Flags().Int64Var(&f.keep.Bytes, "keep-captures-bytes", 0, "bytes of the captures of a project beyond which the oldest are removed; those with notes, marks, markers or comments stay; 0 = never")
	f.bus.add(cmd.Flags())
	cmd.Flags().Int64Var(&f.stream.Bytes, "nats-bytes", 4<<30, "bytes of traffic of collectors that NATS keeps until it is received, if it has no stream for them yet")
	cmd.Flags().IntVar(&f.stream.Replicas, "nats-replicas", 1, "NATS servers that have each message of that stream: 1, 3 or 5")
	cmd.Flags().StringVar(&f.gitRemote, "git-remote", "", "remote, such as origin, from which people may pull definitions that are in a git repository; empty = none")
	cmd.Flags().StringVar(&f.lake, "lake", "", "folder, or s3://BUCKET/PREFIX, to which the messages of all captures are written as Parquet files, as they come")
	cmd.Flags().DurationVar(&f.lakeEvery, "lake-every", 5*time.Minute, "time after which new messages are in --lake")
	cmd.Flags().StringVar(&f.logLevel, "log-level", "info", "least level of lines of the log: "+strings.Join(logs.Levels(), ", "))
	cmd.Flags().StringVar(&f.logFormat, "log-format", "text", "form of its lines: "+strings.Join(logs.Formats(), " or "))
	cmd.Flags().StringVar(&f.data, "data", defaultData, "directory for definitions, samples and settings")
	f.clusterFlags.add(cmd)
	return cmd
}

// run serves until the context of the command ends.
func (f *serveFlags) run(cmd *cobra.Command) error {
	if err := f.team.openSink(); err != nil {
		return err
	}
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	signal.Ignore(syscall.SIGHUP) // until atHangup
	cmd.SetContext(ctx)
	log, err := logs.New(cmd.ErrOrStderr(), f.logLevel, f.logFormat)
	if err != nil {
		return fmt.Errorf("--log-level, --log-format: %w", err)
	}
	if f.url != "" {
		return f.inCluster(cmd, log)
	}
	if f.advertise != "" {
		return errors.New("--advertise is for nodes of --cluster")
	}
	kept, err := store.OpenData(f.data, log)
	if err != nil {
		return fmt.Errorf("%w (--data)", err)
	}
	defer kept.Close()
	return f.work(cmd, cmd.Context(), log, kept, nil, nil)
}

// work serves a data folder until the context ends: at an address of its own, or behind the front of a node that leads.
func (f *serveFlags) work(cmd *cobra.Command, ctx context.Context, log *slog.Logger, kept *store.Data, behind *front, of *cluster.Node) error {
	kept.Limit(&store.Quota{Each: f.quota, All: f.quotaOfAll})
	endSink, err := f.team.openBusSink(f.bus.Options, log)
	if err != nil {
		return err
	}
	defer endSink()
	door, err := f.team.door(kept, log)
	if err != nil {
		return err
	}
	defer door.Audit.Close()
	into, err := openLake(ctx, f.lake, f.lakeEvery, kept, log)
	if err != nil {
		return err
	}
	if into != nil {
		defer into.Close()
	}
	closed, err := openCaptures(ctx, f.captures, f.cache, kept, log)
	if err != nil {
		return err
	}
	defer closed()
	all, err := openProjects(cmd, &f.library, f.allowed, kept, log, into != nil)
	if err != nil {
		return err
	}
	defer all.Close()
	cfg := server.Config{Projects: all, Log: log, Version: version(), Demo: demoGame, GitRemote: f.gitRemote, Lake: into, LakeEvery: f.lakeEvery, Place: kept.KeptIn(), Cluster: of}
	if cfg.Trusted, err = f.team.trusted(); err != nil {
		return err
	}
	if _, err := settings.ParseAge(f.keep.Age); err != nil {
		return fmt.Errorf("--keep-captures: %w", err)
	}
	cfg.Keep = f.keep
	if f.bus.URL != "" {
		if err := f.bus.Check(); err != nil {
			return fmt.Errorf("--nats: %w", err)
		}
		cfg.Bus, cfg.Stream = &f.bus.Options, f.stream
	}
	if f.disk > 0 {
		cfg.Disk = live.NewDisk(kept.Path(), f.disk)
	}
	return f.serve(cmd, ctx, door, cfg, behind)
}

// openProjects opens the projects of the data folder, and those of --library, whose definitions are edited in place.
func openProjects(cmd *cobra.Command, l *libraryFlags, allowed []string, data *store.Data, log *slog.Logger, lake bool) (*projects.Set, error) {
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
	all, err := projects.OpenData(projects.Options{Data: data, Log: log, Options: o, Allowed: append(slices.Clone(allowed), l.dirs...), Lake: lake}, libraries...)
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

// front is where clients connect: it outlives what serves them.
type front struct {
	ln      net.Listener
	srv     *http.Server
	tls     *certificate
	handler atomic.Pointer[http.Handler] // nil: nothing serves
	hangup  func()
	done    chan error // gets one value when nothing is accepted any more
}

// openFront listens.
func (f *serveFlags) openFront(log *slog.Logger) (_ *front, err error) {
	host, _, err := splitAddress(f.listen)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w", f.listen, err)
	}
	out := &front{done: make(chan error, 1)}
	if f.team.cert != "" {
		if out.tls, err = openCertificate(f.team.cert, f.team.key, log); err != nil {
			return nil, fmt.Errorf("--tls-cert: %w", err)
		}
	}
	network := "tcp"
	if ip := net.ParseIP(host); ip != nil && ip.To4() != nil { // 0.0.0.0 is IPv4 alone, as it says
		network = "tcp4"
	}
	if out.ln, err = net.Listen(network, f.listen); err != nil {
		return nil, fmt.Errorf("--listen: %w", proxy.ListenProblem(err))
	}
	out.hangup = atHangup(func() {
		if out.tls != nil {
			out.tls.reload()
		}
	})
	return out, nil
}

func (x *front) close() {
	x.hangup()
	x.ln.Close()
}

// local returns what serves here, nil if nothing does.
func (x *front) local() http.Handler {
	if h := x.handler.Load(); h != nil {
		return *h
	}
	return nil
}

// accept begins to serve requests by a handler.
func (x *front) accept(h http.Handler, trusted []netip.Prefix) {
	x.srv = server.NewHTTPServer(h)
	bounded := server.LimitConnections(x.ln, trusted)
	supervise.Go("server", func(err error) { x.done <- err }, func() {
		if x.tls != nil {
			x.srv.TLSConfig = &tls.Config{GetCertificate: x.tls.get}
			x.done <- x.srv.ServeTLS(bounded, "", "")
			return
		}
		x.done <- x.srv.Serve(bounded)
	})
}

// end refuses new requests, and lets open ones finish for a moment.
func (x *front) end(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	if x.srv.Shutdown(ctx) != nil {
		_ = x.srv.Close()
	}
}

// serve serves until the context ends, then shuts down.
func (f *serveFlags) serve(cmd *cobra.Command, ctx context.Context, door *access.Door, cfg server.Config, behind *front) error {
	upstreams, relayed, err := f.relay.read()
	if err != nil {
		return err
	}
	if err := checkProxies(relayed, cfg.Projects); err != nil {
		return err
	}
	if f.relay.ports != "" {
		if cfg.Ports, err = relays.ParsePorts(f.relay.ports); err != nil {
			return fmt.Errorf("--listener-ports %w", err)
		}
	}
	if cfg.RelayLimits, err = f.relay.limits(); err != nil {
		return err
	}
	warnInVain(cmd, upstreams.Entries())
	at := behind
	if at == nil {
		if at, err = f.openFront(cfg.Log); err != nil { // first: the proxy must not connect to this address
			return err
		}
		defer at.close()
	}
	host, _, err := splitAddress(f.listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", f.listen, err)
	}
	cfg.Upstreams, cfg.Own = upstreams, own(at.ln)
	if loopback(host) {
		cfg.Hosts = []string{"localhost", "127.0.0.1", "::1", host}
		if door.Base != nil {
			cfg.Hosts = append(cfg.Hosts, door.Base.Hostname())
		}
	}
	if _, door.Port, _ = net.SplitHostPort(at.ln.Addr().String()); behind != nil {
		door.Port = "cluster" // whoever has signed in has at all nodes
	}
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
	if is := f.team.address(at.ln.Addr()); f.team.base != "" {
		tell(cmd, cfg.Log, "Wirebench is at %s, and listens at %s", is, at.ln.Addr())
	} else {
		tell(cmd, cfg.Log, "Wirebench is at %s", is)
	}
	if err := startProxies(cmd, pages, relayed); err != nil {
		tell(cmd, cfg.Log, "%v", err)
	}
	at.handler.Store(new(http.Handler(pages))) // requests wait for the listeners
	if behind == nil {
		at.accept(pages, cfg.Trusted)
	}
	select {
	case err := <-at.done:
		at.done <- err
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	at.handler.Store(nil)
	if behind != nil {
		at = nil
	}
	if err := shutDown(at, pages); err != nil {
		tell(cmd, cfg.Log, "Shutdown incomplete after %v, not written: %v", shutdownTime, err)
	}
	if at == nil {
		return nil
	}
	if err := <-at.done; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// tell says something to whoever has started the server: as a line of its log where the log is for programs.
func tell(cmd *cobra.Command, log *slog.Logger, format string, args ...any) {
	if cmd.Flag("log-format").Value.String() == "text" {
		note(cmd, format, args...)
		return
	}
	log.Info(fmt.Sprintf(format, args...))
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
// belong to the HTTP server. at is nil where others serve on.
func shutDown(at *front, pages *server.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	var both supervise.Group
	if at != nil {
		both.Go("server", nil, func() { at.end(ctx) })
	}
	err := pages.Shutdown(ctx)
	both.Wait()
	return err
}

// loopback reports whether a host is localhost or a loopback address.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
