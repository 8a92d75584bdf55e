package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/server/live"
	"wirebench/server/proxy"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

const (
	proxyMemory   = 256 << 20       // bytes of frames waiting to be printed
	proxyFileSize = 1 << 30         // bytes of a recording, approximately, before the next file begins
	proxyAllSize  = 64 << 30        // bytes of all files of a recording
	proxyPatience = 2 * time.Second // for connections to close
	spoolMemory   = 64 << 20        // bytes
	spoolFile     = 1 << 30         // bytes
)

// proxyRun is the proxy command: a session, its listing, its recording and its pusher.
type proxyRun struct {
	lister   frameLister
	listen   string
	upstream string
	password string // of clients of socks5
	ports    int
	allow    []string
	record   string
	limitFlags
	to, token string
	project   string // of the workbench at to
	spool     string
	spoolSize int64

	cmd     *cobra.Command
	session *proxy.Session
	first   *os.File // of the recording, created before the start
	pusher  *pusher
	waiting *spool

	told map[happening]int // count of an event when it was printed

	said   sync.Mutex
	status bool // the status line is shown: standard error is a terminal
	drawn  bool
	events int
	line   string
	before proxy.State // at drawAt
	drawAt time.Time
}

func newProxy() *cobra.Command {
	l := &libraryFlags{}
	r := &proxyRun{}
	var groups, kinds []string
	expression, keys := "", ""
	cmd := &cobra.Command{
		Use:   "proxy --listen ADDR --upstream ADDR",
		Short: "Relay between a client and a server, and list the traffic",
		Long: `Proxy accepts clients, connects each to the upstream, and relays their traffic. It
never changes or delays the traffic. Frames are listed as they arrive, in the
format of "wirebench frames".

--record writes all packets to a pcapng file, and continues in FILE-2.pcapng after
1 GiB. --to pushes them to another workbench, as a growing capture. While that
workbench is unreachable, packets wait in a spool; when the spool is full, pushing
stops and relaying continues.

--upstream allows its own address; --allow allows more, for example other ports of
the same host. Link-local, metadata, multicast and reserved addresses are always
refused.

Ctrl+C ends the proxy and gives connections two seconds to close and pending
packets ten seconds to be pushed; a second Ctrl+C exits immediately. The proxy also
ends when its output is closed, as by "| head".

Exit status: 0 ended by the user, 2 wrong usage or no listener.`,
		Example: `  wirebench proxy --protocol tera --listen 127.0.0.1:17801 --upstream 127.0.0.1:7801
  wirebench proxy --protocol subspace --listen :5000 --upstream zone.example:5000 --json --value > log.jsonl
  wirebench proxy --protocol muta --listen :4000 --upstream 10.0.0.5:4000 --filter "say" --record session.pcapng`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f := &r.lister
			for _, g := range groups {
				rule, ok := protocols.ParseRule(g)
				if !ok {
					return fmt.Errorf("--group %s: must be [PORT/][c2s=|s2c=]GROUP", g)
				}
				f.env.Rules = append(f.env.Rules, rule)
			}
			for _, k := range kinds {
				if !slices.Contains(kindNames, k) {
					return fmt.Errorf("--kind %s: must be one of %s", k, strings.Join(kindNames, ", "))
				}
			}
			f.kinds = kinds
			if err := f.known(cmd, "", keys); err != nil {
				return err
			}
			snap, err := l.snapshot(cmd)
			if err != nil {
				return err
			}
			filter, mistakes := snap.Filter(expression)
			if len(mistakes) > 0 {
				return wrongFilter(expression, mistakes)
			}
			if text := filter.Rewritten(); text != "" {
				note(cmd, "note: the filter is equivalent to %s", text)
			}
			f.filter, r.cmd = filter, cmd
			f.begin(snap)
			onlyWithJSON(cmd)
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			return r.run(ctx)
		},
	}
	l.add(cmd)
	f := cmd.Flags()
	f.StringVar(&r.listen, "listen", "", "address for clients: IP:PORT or :PORT")
	f.StringVar(&r.upstream, "upstream", "", "address of the server: HOST:PORT, or tls:HOST:PORT if it is encrypted; socks5 (TCP or UDP, as the protocol) or redirect (TCP): each client says where to, within --allow")
	f.StringVar(&r.password, "socks-password", "", "password of clients of --upstream socks5; needed unless --listen is on loopback")
	f.IntVar(&r.ports, "ports", 0, "number of consecutive ports to relay (default: those of the protocol: "+protocolPorts()+")")
	r.limitFlags.add(cmd, "")
	f.StringArrayVar(&r.allow, "allow", nil, "other allowed upstreams: HOST:PORTS or NETWORK:PORTS, ports * or 7000-7999 (repeatable)")
	f.StringVar(&r.record, "record", "", "pcapng file for all packets; it must not exist yet")
	f.StringVar(&expression, "filter", "", "list only matching frames: C_CHAT && .message contains \"hi\", dir == c2s, len > 200 ...")
	f.StringArrayVar(&groups, "group", nil, "message group of a direction and of a server port: 13501/c2s=clmsg (repeatable)")
	f.StringArrayVar(&kinds, "kind", nil, "list only these kinds: "+strings.Join(kindNames, ", ")+" (repeatable)")
	f.StringVar(&keys, "keys", "", "file with keys of encrypted connections; - is standard input")
	f.BoolVar(&r.lister.json, "json", false, "print JSON Lines instead of text")
	f.BoolVar(&r.lister.want.Value, "value", false, "with --json: print the values of each message")
	f.BoolVar(&r.lister.want.Fields, "fields", false, "with --json: print every field with its offset")
	f.StringVar(&r.to, "to", "", "push all packets to the workbench at this address: https://HOST")
	f.StringVar(&r.token, "token", "", "access token of that workbench; set it in the environment to keep it out of process lists")
	f.StringVar(&r.project, "project", "", "project of that workbench (default: the name of the protocol)")
	f.StringVar(&r.spool, "spool", "", "file for packets waiting to be pushed (default: in memory); removed at the end")
	f.Int64Var(&r.spoolSize, "spool-bytes", 0, "maximum number of bytes waiting to be pushed (default: 64 MiB in memory, 1 GiB in a file)")
	complete(cmd, "kind", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return kindNames, cobra.ShellCompDirectiveNoFileComp
	})
	return cmd
}

// check validates the flags of relaying.
func (r *proxyRun) check(protocol protocols.Protocol) error {
	if r.listen == "" || r.upstream == "" {
		return errors.New("--listen and --upstream are required")
	}
	if r.to == "" && (given(r.cmd, "token") || r.project != "" || r.spool != "" || r.spoolSize != 0) {
		return errors.New("--token, --project, --spool and --spool-bytes need --to")
	}
	if r.spoolSize < 0 || r.spoolSize > 0 && r.spoolSize < 1<<20 {
		return fmt.Errorf("--spool-bytes %d: must be %d or more", r.spoolSize, 1<<20)
	}
	if _, _, err := splitAddress(r.listen); err != nil {
		return fmt.Errorf("--listen %s: %w", shown(r.listen), err)
	}
	if r.ports < 0 || r.ports > proxy.MaxPairs {
		return fmt.Errorf("--ports %d: must be 1 to %d", r.ports, proxy.MaxPairs)
	}
	if r.ports == 0 {
		r.ports = len(protocol.Ports)
	}
	return nil
}

// protocolPorts lists the number of server ports of each protocol, and their purposes.
func protocolPorts() string {
	var all []string
	for _, p := range protocols.Protocols {
		all = append(all, fmt.Sprintf("%d for %s, %s", len(p.Ports), p.Dialect, strings.Join(p.Ports, " and ")))
	}
	return strings.Join(all, "; ")
}

// upstreams returns the allowed upstreams of the command line.
func (r *proxyRun) upstreams() (*proxy.Upstreams, error) {
	allow := slices.Concat(proxy.DefaultUpstreams, r.allow)
	if proxy.IsChosen(r.upstream) {
		warnInVain(r.cmd, r.allow)
		up, err := proxy.NewUpstreams(allow, nil)
		if err != nil {
			return nil, fmt.Errorf("--allow: %w", err)
		}
		return up, nil
	}
	host, port, err := splitAddress(strings.TrimPrefix(r.upstream, proxy.TLS))
	if err != nil {
		return nil, fmt.Errorf("--upstream %s: %w", r.upstream, err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return nil, fmt.Errorf("--upstream %s: the port must be 1 to 65535", r.upstream)
	}
	if r.ports > 1 {
		port = fmt.Sprintf("%d-%d", n, int(n)+r.ports-1)
	}
	warnInVain(r.cmd, r.allow)
	up, err := proxy.NewUpstreams(append(allow, net.JoinHostPort(host, port)), nil)
	if err != nil {
		return nil, fmt.Errorf("--allow: %w", err)
	}
	return up, nil
}

// run relays until the context ends.
func (r *proxyRun) run(ctx context.Context) (err error) {
	f := &r.lister
	f.env.Definitions, f.env.Options, f.env.Envelope = f.snap, f.snap.Options.Values, f.snap.Envelope
	f.out = bufio.NewWriterSize(r.cmd.OutOrStdout(), 1<<16)
	protocol, ok := f.snap.Protocol()
	if !ok {
		return fmt.Errorf("traffic of protocol %s cannot be read", f.snap.Dialect.Name)
	}
	if err := r.check(protocol); err != nil {
		return err
	}
	up, err := r.upstreams()
	if err != nil {
		return err
	}
	pairs, err := proxy.Consecutive(r.listen, r.upstream, r.ports)
	if err != nil {
		return err
	}
	limits, err := r.limits()
	if err != nil {
		return err
	}
	cfg := proxy.Config{Name: r.upstream, Network: protocol.Network(), Pairs: pairs, Limits: limits, Password: r.password, Log: live.NewRolling(proxyMemory), Transport: func(c transport.Conn) transport.Transport {
		return protocol.New(f.env.For(c.Name(), c.Session), c.Server.Port())
	}}
	pushed, err := r.outputs(&cfg)
	defer r.closeOutputs()
	if err != nil {
		return err
	}
	p := proxy.New(proxy.Options{Upstreams: up})
	r.session, err = p.Start(ctx, cfg)
	if err != nil {
		return proxy.ListenProblem(err)
	}
	for _, pair := range r.session.State().Pairs {
		note(r.cmd, "%s is relayed to %s", pair.Listen, pair.Upstream)
	}
	r.status = terminal(r.cmd.ErrOrStderr())

	pushing, stopPushing := context.WithCancel(context.Background())
	var work supervise.Group
	defer work.Wait()
	defer stopPushing()
	if pushed {
		work.Go("push", func(err error) { note(r.cmd, "%v", err) }, func() { r.pusher.run(pushing) })
	}
	listing, stopListing := context.WithCancel(context.Background())
	defer stopListing()
	listed := make(chan error, 1)
	supervise.Go("list", func(err error) { listed <- err }, func() { listed <- r.list(listing, cfg.Log) })
	var failed error
	select {
	case <-ctx.Done():
	case failed = <-listed:
	}
	patience, cancel := context.WithTimeout(context.Background(), proxyPatience)
	defer cancel()
	_ = r.session.Stop(patience) // reset connections are among its events
	if failed == nil {
		failed = <-listed
	}
	r.erase()
	if pushed {
		r.waiting.close()
		timer := supervise.Later(pushFarewell, "push", stopPushing)
		defer timer.Stop()
		work.Wait()
	}
	r.tellEvents()
	r.tellAgain()
	r.summary()
	return failed
}

// outputs opens the recording and the spool, and reports whether packets are pushed.
func (r *proxyRun) outputs(cfg *proxy.Config) (pushed bool, err error) {
	if r.record == "" && r.to == "" {
		return false, nil
	}
	if r.record != "" {
		if r.first, err = os.OpenFile(r.record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return false, fmt.Errorf("--record: %w", err)
		}
	}
	if r.to != "" {
		size, file := r.spoolSize, (*os.File)(nil)
		if size == 0 {
			size = spoolMemory
		}
		if r.spool != "" {
			if r.spoolSize == 0 {
				size = spoolFile
			}
			if file, err = os.OpenFile(r.spool, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
				return false, fmt.Errorf("--spool: %w", err)
			}
		}
		r.waiting = newSpool(size, file)
		if r.pusher, err = newPusher(r.to, r.token, cmp.Or(r.project, r.lister.snap.Dialect.Name), time.Now(), r.waiting, r.note); err != nil {
			return false, fmt.Errorf("--to: %w", err)
		}
	}
	cfg.Record = &proxy.Record{FileBytes: proxyFileSize, Bytes: proxyAllSize, Room: r.room, Create: func(n int) (string, io.WriteCloser, error) {
		out := &recording{part: n, spool: r.waiting, note: r.note}
		name := r.record
		switch {
		case r.record != "" && n == 1:
			out.file, r.first = r.first, nil
		case r.record != "":
			ext := filepath.Ext(name)
			name = strings.TrimSuffix(name, ext) + "-" + strconv.Itoa(n) + ext
			var err error
			if out.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil && r.waiting == nil {
				return name, nil, err
			} else if err != nil {
				r.note("recording has stopped: %v; pushing continues", err)
			}
		}
		return name, out, nil
	}}
	return r.pusher != nil, nil
}

// room returns an error if the disk has no room for the recording. Pushing needs none.
func (r *proxyRun) room(resume bool) error {
	if r.record == "" || r.waiting != nil {
		return nil
	}
	return store.Room(filepath.Dir(r.record), resume)
}

// closeOutputs removes an unused recording, and the spool.
func (r *proxyRun) closeOutputs() {
	if r.first != nil {
		r.first.Close()
		os.Remove(r.record)
	}
	if r.waiting != nil && r.waiting.file != nil {
		r.waiting.file.Close()
		os.Remove(r.spool)
	}
}

// recording is a file of the recording, on disk, in the spool, or both.
type recording struct {
	file  *os.File // nil: not on the disk
	good  int64
	spool *spool // nil: not pushed
	part  int
	note  func(string, ...any)
}

// Write writes whole blocks. After a disk error data is still pushed.
func (w *recording) Write(data []byte) (int, error) {
	if w.file != nil {
		n, err := w.file.Write(data)
		if err != nil && w.spool == nil {
			return n, err
		}
		if err != nil {
			w.note("recording has stopped: %v; pushing continues", err)
			_ = w.file.Truncate(w.good)
			_ = w.file.Close()
			w.file = nil
		}
		w.good += int64(n)
	}
	if w.spool != nil {
		if err := w.spool.add(w.part, data); err != nil {
			w.note("pushing of this capture has stopped: %v; relaying continues", err)
		}
	}
	return len(data), nil
}

// Truncate removes an incomplete block.
func (w *recording) Truncate(size int64) error {
	if w.file == nil {
		return nil
	}
	return w.file.Truncate(size)
}

// Sync flushes the file to the disk.
func (w *recording) Sync() error {
	if w.file == nil {
		return nil
	}
	return w.file.Sync()
}

// Discard closes and removes a file without data.
func (w *recording) Discard() {
	if w.file != nil {
		w.file.Close()
		os.Remove(w.file.Name())
	}
}

// Close closes the file.
func (w *recording) Close() error {
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}

// list prints frames until the log ends. The error concerns the output.
func (r *proxyRun) list(ctx context.Context, log *live.Log) error {
	f := &r.lister
	reader := log.Follow(0)
	conns := log.ConnReader()
	var x transport.Frame
	missed := 0
	for {
		wait, cancel := ctx, context.CancelFunc(func() {})
		if r.status {
			wait, cancel = context.WithTimeout(ctx, time.Second)
		}
		b, err := reader.Next(wait)
		cancel()
		if err != nil && (ctx.Err() != nil || errors.Is(err, io.EOF)) {
			return f.out.Flush()
		}
		r.erase()
		r.tellEvents()
		if err == nil {
			if missed += b.Missed; b.Missed > 0 {
				r.note("%d frames were not listed: they arrived too fast", missed)
			}
			log.Each(b.From, b.To, func(i int, e live.Entry, data []byte) bool {
				r.frame(log, i, conns.Of(e), e, data, &x)
				return true
			})
			if err := f.out.Flush(); err != nil {
				return err
			}
		}
		r.draw()
	}
}

// frame lists a frame that matches the filter.
func (r *proxyRun) frame(log *live.Log, i int, c *live.Conn, e live.Entry, data []byte, x *transport.Frame) {
	f := &r.lister
	log.Frame(i, e, data, x)
	unnumbered := func(s transport.Source) bool { return s.Packet == 0 } // without a recording packets have no numbers
	if slices.ContainsFunc(x.From, unnumbered) {
		x.From = slices.DeleteFunc(slices.Clone(x.From), unnumbered)
	}
	f.list(x, workspace.Listed{Conn: c.Name, Session: c.Session}, c.Stream, c.Proto)
}

// note prints a line, clearing the status line.
func (r *proxyRun) note(format string, args ...any) {
	r.said.Lock()
	defer r.said.Unlock()
	if r.drawn {
		fmt.Fprint(r.cmd.ErrOrStderr(), "\r\x1b[K")
		r.drawn = false
	}
	note(r.cmd, format, args...)
}

// happening identifies an event. Its number does not: it changes when the event is repeated.
type happening struct {
	first int64 // nanoseconds since 1970
	text  string
}

// tellEvents prints new warnings and errors. A repeated event is printed once: an unreachable server is reported for the first client, not
// for each of its attempts.
func (r *proxyRun) tellEvents() {
	if len(r.told) > maxTold { // the session has forgotten these events, so they are not repeated
		kept := map[happening]int{}
		for _, e := range r.session.Events(0) {
			if n, ok := r.told[happeningOf(e)]; ok {
				kept[happeningOf(e)] = n
			}
		}
		r.told = kept
	}
	for _, e := range r.session.Events(r.events) {
		r.events = max(r.events, e.N)
		if _, ok := r.told[happeningOf(e)]; ok || e.Severity == proxy.Info {
			continue
		}
		if r.told == nil {
			r.told = map[happening]int{}
		}
		r.told[happeningOf(e)] = e.Count
		r.note("%s: %s%s", e.Severity, printable(e.Text), times(e.Count))
	}
}

// maxTold bounds the remembered events; the session keeps fewer.
const maxTold = 1000

func happeningOf(e proxy.Event) happening { return happening{e.At.UnixNano(), e.Text} }

// times returns the count of a repeated event, "" for n of 1.
func times(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d times)", n)
}

// tellAgain prints, at the end, the counts of events that were repeated.
func (r *proxyRun) tellAgain() {
	for _, e := range r.session.Events(0) {
		if n, ok := r.told[happeningOf(e)]; ok && e.Count > n {
			r.note("%d times in total: %s", e.Count, printable(e.Text))
		}
	}
}

// draw writes the status line, with new rates once a second.
func (r *proxyRun) draw() {
	if !r.status {
		return
	}
	now := time.Now()
	if seconds := now.Sub(r.drawAt).Seconds(); seconds >= 1 {
		x := r.session.State()
		if r.drawAt.IsZero() {
			seconds = max(now.Sub(x.Started).Seconds(), 0.1)
		}
		rate := func(a, b int64) float64 { return float64(a-b) / seconds }
		r.line = fmt.Sprintf("%d open, %d frames, %.0f frames per second, %.1f kB/s up, %.1f kB/s down", x.Open, x.Frames,
			rate(int64(x.Frames), int64(r.before.Frames)), rate(x.ToServer, r.before.ToServer)/1000, rate(x.ToClient, r.before.ToClient)/1000)
		if r.waiting != nil {
			r.line += fmt.Sprintf(", %d kB to be pushed", r.waiting.waiting()/1000)
		}
		r.drawAt, r.before = now, x
	}
	r.said.Lock()
	defer r.said.Unlock()
	fmt.Fprintf(r.cmd.ErrOrStderr(), "\r\x1b[K%s", r.line)
	r.drawn = true
}

// erase clears the status line before other output.
func (r *proxyRun) erase() {
	r.said.Lock()
	defer r.said.Unlock()
	if r.drawn {
		fmt.Fprint(r.cmd.ErrOrStderr(), "\r\x1b[K")
		r.drawn = false
	}
}

// summary prints the totals and the losses.
func (r *proxyRun) summary() {
	x := r.session.State()
	r.note("connections: %d; frames: %d; bytes to the server: %d, to the client: %d", x.Total, x.Frames, x.ToServer, x.ToClient)
	if x.Lost > 0 || x.Unseen > 0 || x.Unlogged > 0 {
		r.note("not observed, as the traffic was too fast: %d bytes, %d connections, %d frames", x.Lost, x.Unseen, x.Unlogged)
	}
	if x.Strays > 0 {
		r.note("dropped datagrams of SOCKS5 clients: %d", x.Strays)
	}
	if x.Record.Missed > 0 {
		r.note("%s", strings.TrimSuffix(fmt.Sprintf("%d packets are not recorded: %s", x.Record.Missed, x.Record.Why), ": "))
	}
	if r.waiting != nil {
		if n := r.waiting.lost(); n > 0 {
			r.note("%d bytes were not pushed", n)
		}
	}
}

// terminal reports whether w is a terminal.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isTerminal(f)
}
