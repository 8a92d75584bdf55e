package runs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"wirebench/codec/transport/protocols"
	"wirebench/server/proxy"
	"wirebench/server/relay"
	"wirebench/server/replay"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// patience limits the time to connect to the server.
const patience = 30 * time.Second

// Run is one run of a script.
type Run struct {
	ws       string
	snap     *workspace.Snapshot // as it was at the start
	protocol protocols.Protocol
	cfg      Config
	env      *protocols.Env
	script   *replay.Script
	stop     context.CancelFunc
	done     chan struct{} // closed at the end
	captures *store.Captures
	like     store.Capture // name, settings and keys of the replayed capture
	log      *slog.Logger
	changed  func() // called when its state changes; may be nil

	// One of these is set, until play takes it.
	target   proxy.Target
	listener net.Listener
	packets  net.PacketConn

	mu      sync.Mutex
	info    Info // ID, To, Listen and other fields known at the start do not change
	results []Result
	memory  int // approximate size of the results in bytes
}

func (x *Run) network() string {
	if x.protocol.Streams {
		return "tcp"
	}
	return "udp"
}

// ID identifies the run.
func (x *Run) ID() string { return x.info.ID }

// Stop stops the run. Its results stay.
func (x *Run) Stop() { x.stop() }

// Done is closed when the run has ended.
func (x *Run) Done() <-chan struct{} { return x.done }

// Ended reports whether the run has ended.
func (x *Run) Ended() bool {
	select {
	case <-x.done:
		return true
	default:
		return false
	}
}

// open resolves and checks the server's address, or starts to listen.
func (x *Run) open(ctx context.Context, p *relay.Set) (err error) {
	if x.cfg.To != "" {
		if x.target, err = p.Target(ctx, x.cfg.To); err != nil {
			return err
		}
		return nil
	}
	// The listener does not authenticate clients, so only programs of this machine may connect; others go through a listener of the
	// proxy.
	at, err := netip.ParseAddrPort(x.cfg.Listen)
	if err != nil {
		return fmt.Errorf(`"listen": %q is not IP:port, such as 127.0.0.1:0`, x.cfg.Listen)
	}
	if !at.Addr().Unmap().IsLoopback() {
		return fmt.Errorf(`"listen": %s %w`, at.Addr(), ErrNotLoopback)
	}
	var lc net.ListenConfig
	if x.protocol.Streams {
		if x.listener, err = lc.Listen(ctx, "tcp", at.String()); err == nil {
			x.info.Listen = x.listener.Addr().String()
		}
	} else if x.packets, err = lc.ListenPacket(ctx, "udp", at.String()); err == nil {
		x.info.Listen = x.packets.LocalAddr().String()
	}
	if err != nil {
		return proxy.ListenProblem(err)
	}
	return nil
}

// close stops listening.
func (x *Run) close() {
	if x.listener != nil {
		x.listener.Close()
	}
	if x.packets != nil {
		x.packets.Close()
	}
}

// play runs the script until its end or until the context is done.
func (x *Run) play(ctx context.Context) {
	most := time.Duration(x.cfg.Seconds) * time.Second
	limited, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("time limit reached: %s", most))
	defer cancel()
	var report *replay.Report
	err := supervise.Do("replay", func() (err error) {
		report, err = x.converse(limited)
		return err
	})
	if fault := (*supervise.Fault)(nil); err != nil && limited.Err() != nil && !errors.As(err, &fault) {
		err = errors.New(stopCause(limited))
	}
	defer x.tell()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.info.State, x.info.Done = "done", true
	if err != nil {
		x.info.Error = err.Error()
		return
	}
	if report.Stopped != "" && limited.Err() != nil {
		report.Stopped = stopCause(limited)
	}
	x.info.Report = reportOf(report)
}

// stopCause returns the reason why a context is done.
func stopCause(ctx context.Context) string {
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause.Error()
	}
	return "stopped"
}

// converse connects and runs the script.
func (x *Run) converse(ctx context.Context) (*replay.Report, error) {
	link, port, err := x.connect(ctx)
	if err != nil {
		return nil, err
	}
	like := x.like
	like.Name = "replay of " + like.Name + time.Now().Format(" 15:04")
	link, id, err := recordingOf(link, x.script.Sends(), x.protocol.Streams, like, port, x.captures)
	if err != nil {
		x.log.Warn("the replay is not recorded", "replay", x.ID(), "error", err)
	} else {
		x.mu.Lock()
		x.info.Recording = id
		x.mu.Unlock()
		x.tell()
	}
	end, err := x.protocol.End(x.env, x.script.Sends(), port, protocols.Ends{Plain: x.cfg.Plain, Random: rand.Reader})
	if err != nil {
		link.Close()
		return nil, err
	}
	wire := replay.NewWire(link, end, !x.protocol.Streams)
	defer wire.Close() // the report has the results
	waiting, cancel := ctx, context.CancelFunc(func() {})
	if x.packets == nil { // over UDP the client may come at any time
		waiting, cancel = context.WithTimeout(ctx, patience)
	}
	err = wire.Wait(waiting)
	cancel()
	if err != nil {
		return nil, fmt.Errorf("no connection: %w", err)
	}
	x.becomes("playing")
	return replay.Run(ctx, x.script, wire, replay.Options{
		Definitions: x.snap, Schema: x.snap.Schema(), Layers: x.protocol.Layers, Vars: x.cfg.Vars, Speed: x.cfg.Speed, Tolerance: replay.Tolerance(x.cfg.Tolerance),
		KeepGoing: x.cfg.KeepGoing, Progress: x.add,
	})
}

// connect makes the connection and returns the server's port.
func (x *Run) connect(ctx context.Context) (replay.Link, uint16, error) {
	switch {
	case x.packets != nil:
		return &replay.Server{PacketConn: x.packets}, x.packets.LocalAddr().(*net.UDPAddr).AddrPort().Port(), nil
	case x.listener == nil:
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		c, err := x.target.Dial(ctx, x.network())
		return c, x.target.Port(), err
	}
	defer x.listener.Close() // for one client only
	defer supervise.After(ctx, "replay", func() { x.listener.Close() })()
	c, err := x.listener.Accept()
	if err != nil {
		return nil, 0, err
	}
	x.becomes("connecting")
	return c, x.listener.Addr().(*net.TCPAddr).AddrPort().Port(), nil
}

// tell reports that the state of the run has changed.
func (x *Run) tell() {
	if x.changed != nil {
		x.changed()
	}
}

func (x *Run) becomes(state string) {
	defer x.tell()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.info.State = state
}

// add takes the result of a step.
func (x *Run) add(r replay.Result) {
	one := resultOf(r)
	clear(r.Lifted) // the run's report shares this map and does not need it: drop values that a server made long
	size := one.size()
	defer x.tell()
	x.mu.Lock()
	defer x.mu.Unlock()
	switch r.Status {
	case replay.Different:
		x.info.Different++
	case replay.Missing:
		x.info.Missing++
	case replay.Failed:
		x.info.Failed++
	}
	if x.memory+size > maxMemory || len(x.results) == maxResults {
		x.info.LeftOut++
		return
	}
	x.memory += size
	x.results = append(x.results, one)
}

// Now returns the state of the run.
func (x *Run) Now() Info {
	info, _ := x.From(0, 0)
	return info
}

// From returns the state of the run with some of its results.
func (x *Run) From(from, count int) (Info, []Result) {
	x.mu.Lock()
	defer x.mu.Unlock()
	info := x.info
	info.Total = len(x.results) + x.info.LeftOut
	from = min(from, len(x.results))
	return info, append([]Result{}, x.results[from:min(from+count, len(x.results))]...)
}
