package relay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/server/captures"
	"wirebench/server/live"
	"wirebench/server/proxy"
	"wirebench/server/settings"
	"wirebench/server/store"
	"wirebench/server/supervise"
	"wirebench/server/workspace"
)

// Bounds of running traffic.
const (
	liveMemory    = 256 << 20   // bytes of frames of one session; the oldest are discarded
	maxEvents     = 200         // per response
	maxOpenListed = 100         // connections per response
	samplePause   = time.Second // minimum time between two comparisons of the counters of running traffic
)

// Config configures a session. It has the same form in a request, on the command line and in a file.
type Config struct {
	Workspace string `json:"workspace,omitempty" doc:"project that shows the frames; in a request the one of the URL"`
	Name      string `json:"name,omitempty" maxLength:"200" doc:"display name"`
	Listen    string `json:"listen,omitempty" doc:"IP:port or :port"`
	Upstream  string `json:"upstream,omitempty" doc:"host:port, or tls:host:port if the connection to it is encrypted; socks5 or redirect: each client says where to, and the list of allowed upstreams judges it. socks5 is for CONNECT where the protocol runs over TCP, and for UDP ASSOCIATE where it runs over UDP; redirect is for TCP"`
	Password  string `json:"password,omitempty" maxLength:"255" doc:"of clients of socks5; needed where other machines reach the listener. It is not stored"`
	Operate   bool   `json:"operate,omitempty" doc:"messages can be held, changed and injected when enabled"`
	Keys      string `json:"keys,omitempty" maxLength:"1048576" doc:"keys of encrypted connections, one a line: CLIENT-SERVER or *, protocol, key. They are kept with the recording"`
	Ports     int    `json:"ports,omitempty" minimum:"0" maximum:"16" doc:"number of consecutive ports; 0 = the number of ports of a server of this protocol"`

	Idle        string `json:"idle,omitempty" maxLength:"20" doc:"time without a byte after which a connection ends, such as 10m; default: that of the server, 2h for TCP and 3m for UDP"`
	PerAddress  int    `json:"per_address,omitempty" minimum:"0" maximum:"65536" doc:"concurrent connections of one address; default: that of the server, 64"`
	Connections int    `json:"connections,omitempty" minimum:"0" maximum:"65536" doc:"concurrent connections in all; over UDP, addresses of clients. Default: that of the server, 1024"`

	Again string `json:"again,omitempty" maxLength:"100" doc:"id of a capture whose listener is started again: with its addresses, settings, keys and rules; listen, upstream and the like are not needed then"`

	Settings settings.Settings `json:"settings,omitzero" doc:"settings that override those of the project. They are kept with the recording, and can be changed there"`

	limited bool // see StartFor
}

// MostIdle is the longest time that a connection may be idle.
const MostIdle = 7 * 24 * time.Hour

// limits returns the limits of a session: its own, otherwise those of the server.
func (c *Config) limits(of proxy.Limits) (proxy.Limits, error) {
	if c.Idle != "" {
		idle, err := time.ParseDuration(c.Idle)
		if err != nil || idle < time.Second || idle > MostIdle {
			return of, fmt.Errorf("idle: %q is not a time between 1s and 168h, such as 10m", c.Idle)
		}
		of.Idle = idle
	}
	if c.PerAddress < 0 || c.PerAddress > proxy.MostConns {
		return of, fmt.Errorf("per_address: %d is not between 0 and %d", c.PerAddress, proxy.MostConns)
	}
	if c.Connections < 0 || c.Connections > proxy.MostConns {
		return of, fmt.Errorf("connections: %d is not between 0 and %d", c.Connections, proxy.MostConns)
	}
	of.PerSource, of.Conns = cmp.Or(c.PerAddress, of.PerSource), cmp.Or(c.Connections, of.Conns)
	return of, nil
}

// Info describes a session.
type Info struct {
	ID        string `json:"id" doc:"also the id of the capture that records it"`
	Collector string `json:"collector,omitempty" doc:"the host that runs it, if it is not this one"`
	proxy.State
	Events []proxy.Event     `json:"events" doc:"latest events, oldest first; problems are kept longer than others"`
	Conns  []proxy.ConnState `json:"conns" doc:"open connections, oldest first"`
}

// Set is the set of running sessions.
type Set struct {
	proxy    *proxy.Proxy
	captures *captures.Set
	opts     Options

	watched watchers // by pages

	mu       sync.Mutex
	sessions []*Session

	Demo     func(ctx context.Context, dialect string) (*Game, error) // starts a demo game; nil if there is none
	closing  atomic.Bool                                              // the server ends: listeners without traffic stay, to be started again
	starting sync.Mutex                                               // serializes starting demo games: at most one per workspace
	demos    map[string]string                                        // ids of demo sessions by workspace
}

// Options holds the dependencies of a Set.
type Options struct {
	Upstreams *proxy.Upstreams          // allowed upstreams
	Own       func() []netip.AddrPort   // addresses on which the workbench itself listens
	Captures  *captures.Set             // shows the frames of the sessions
	Kept      func(project string) Kept // where the recordings are; nil keeps them as captures of the workspace
	FileBytes int64                     // see proxy.Record
	Ports     Ports                     // on which users may listen
	Limits    proxy.Limits              // of all sessions, unless their Config has others

	// Changed is called when a session of a workspace starts or ends, Moved when one changes its state while a page watches. Held is called
	// when the held messages of a session have changed.
	Changed func(ws string)
	Moved   func(ws string)
	Held    func(ws, id string)
}

// New returns a set without sessions.
func New(opts Options) *Set {
	return &Set{proxy: proxy.New(proxy.Options{Upstreams: opts.Upstreams, Own: opts.Own}), captures: opts.Captures, opts: opts, demos: map[string]string{}}
}

// Close ends all sessions; connections are cut when the context is done.
func (p *Set) Close(ctx context.Context) error { return p.proxy.Close(ctx) }

// Ending tells that the server ends: recordings without traffic stay from now on, so that their listeners can be started again.
func (p *Set) Ending() { p.closing.Store(true) }

// Target returns the target of a replay: an allowed upstream, or a listener of the proxy.
func (p *Set) Target(ctx context.Context, text string) (proxy.Target, error) {
	return p.proxy.Target(ctx, text)
}

// Allowed returns the allowed upstreams.
func (p *Set) Allowed() []string { return p.opts.Upstreams.Entries() }

// Refused returns the events of refused sessions of a workspace, oldest first.
func (p *Set) Refused(ws string) []proxy.Event { return p.proxy.Events(ws, 0) }

// RecordError reports that the recording could not be created.
type RecordError struct{ Err error }

func (e *RecordError) Error() string { return e.Err.Error() }
func (e *RecordError) Unwrap() error { return e.Err }

// Session is a session of the proxy in a workspace.
type Session struct {
	*proxy.Session
	ID        string // also the id of the capture that records it
	Workspace *workspace.Workspace

	read    *decoding
	kept    Kept
	gone    chan struct{} // closed once the session is not in the set any more
	rulesMu sync.Mutex
	written []Rule // the rules as entered
}

// StartFor is Start for a user, who may listen only on some ports.
func (p *Set) StartFor(ctx context.Context, ws *workspace.Workspace, cfg Config) (*Session, error) {
	cfg.limited = true
	return p.Start(ctx, ws, cfg)
}

// Ports returns the ports on which users may listen.
func (p *Set) Ports() Ports { return p.opts.Ports }

// Start starts a session, whose traffic is recorded as a capture.
func (p *Set) Start(ctx context.Context, ws *workspace.Workspace, cfg Config) (*Session, error) {
	protocol, ok := ws.Now().Protocol()
	kept := p.kept(ws)
	if !ok || kept == nil {
		return nil, errors.New("the protocol of this project cannot be relayed")
	}
	var rules []Rule
	var was *store.Listener
	if cfg.Again != "" {
		x, err := kept.Get(cfg.Again)
		if err != nil || x.Listener == nil {
			return nil, fmt.Errorf("capture %q was not recorded by a listener of this version", cfg.Again)
		}
		if x.Collected != nil {
			return nil, fmt.Errorf("capture %q was recorded by a listener of collector %s: start it there", cfg.Again, x.Collected.By)
		}
		l := x.Listener
		was = l
		cfg.Name, cfg.Listen, cfg.Upstream, cfg.Ports, cfg.Operate, cfg.Settings, cfg.Keys = l.Name, l.Listen, l.Upstream, l.Ports, l.Operate, x.Settings, x.Keys
		cfg.Idle, cfg.PerAddress, cfg.Connections = l.Idle, l.PerAddress, l.Connections
		if len(l.Rules) > 0 {
			if err := json.Unmarshal(l.Rules, &rules); err != nil {
				return nil, fmt.Errorf("the rules of capture %q: %w", cfg.Again, err)
			}
		}
	}
	if snap := ws.For(store.Capture{Settings: cfg.Settings}); protocol.Enveloped && snap.Envelope == nil {
		if f := snap.BadEnvelope(); f != nil {
			return nil, fmt.Errorf("the envelope %s has mistakes: %s", f.Name, snap.DiagnosticsOf(f)[0])
		}
		return nil, protocols.ErrNoEnvelope
	} else if snap.Envelope != nil {
		protocol, _ = snap.Protocol()
	}
	ports := cfg.Ports
	if ports == 0 {
		ports = len(protocol.Ports)
	}
	limits, err := cfg.limits(p.opts.Limits)
	if err != nil {
		return nil, err
	}
	pairs, err := proxy.Consecutive(cfg.Listen, cfg.Upstream, ports)
	if err != nil {
		return nil, err
	}
	if cfg.limited {
		if err := p.opts.Ports.check(pairs); err != nil {
			return nil, err
		}
	}
	read, err := newDecoding(ws, cfg)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(cfg.Name, cfg.Upstream)
	now := time.Now()
	title := "live " + name + now.Format(" 15:04") // a listener may be started several times
	like := read.recording(title)
	like.Listener = &store.Listener{Name: cfg.Name, Listen: cfg.Listen, Upstream: cfg.Upstream, Ports: cfg.Ports, Operate: cfg.Operate, Idle: cfg.Idle, PerAddress: cfg.PerAddress, Connections: cfg.Connections}
	x, file, err := kept.Record(like, now)
	if err != nil {
		return nil, &RecordError{err}
	}
	part := p.captures.Part(ws.Name)
	parts := recordings{in: kept, ids: []string{x.ID}}
	create := func(n int) (string, io.WriteCloser, error) {
		if n == 1 {
			return x.Name, firstFile{file}, nil
		}
		y, next, err := kept.Record(read.recording(fmt.Sprintf("%s, part %d", title, n)), time.Now())
		if err != nil {
			return "", nil, err
		}
		part.Is(y.ID)
		parts.add(y.ID)
		return y.Name, next, nil
	}
	log := live.NewRolling(liveMemory)
	network := "udp"
	if protocol.Streams {
		network = "tcp"
	}
	through := proxy.Config{
		Name: name, Owner: ws.Name, Network: network, Pairs: pairs, Log: log, Limits: limits,
		Password: cfg.Password, RelayPorts: [2]uint16{p.opts.Ports.First, p.opts.Ports.Last},
		Record: &proxy.Record{Create: create, Room: kept.Room, FileBytes: p.opts.FileBytes},
		Transport: func(c transport.Conn) transport.Transport {
			return protocol.New(read.env().For(c.Name(), c.Session), c.Server.Port())
		},
	}
	if cfg.Operate {
		through.Rewriter = func(c transport.Conn) transport.Rewriter {
			return protocol.Rewriter(read.env().For(c.Name(), c.Session), c.Server.Port())
		}
		through.Record.Cut = func() string { return captures.CutBy(read.now()) }
		through.Identify = func(c transport.Conn, f *transport.Frame) { identify(read.now(), c, f) }
	}
	s, err := p.proxy.Start(ctx, through)
	if err != nil {
		file.Close()
		_ = kept.Remove(x.ID)
		return nil, proxy.ListenProblem(err)
	}
	done := make(chan struct{})
	one := &Session{Session: s, ID: x.ID, Workspace: ws, read: read, kept: kept, gone: make(chan struct{})}
	if len(rules) > 0 && cfg.Operate {
		one.RestoreRules(was.Language, rules)
	}
	p.captures.Live(ws.Name, x.ID, log, done)
	p.mu.Lock()
	p.sessions = append(p.sessions, one)
	p.mu.Unlock()
	p.captures.Go("listener", one.Fail, func() {
		follow(one, p.watched.of(ws.Name), func() { p.opts.Held(ws.Name, one.ID) }, func() { p.opts.Changed(ws.Name) }, func() { p.opts.Moved(ws.Name) })
	})
	noted, stopNotes := kept.Changed(x.ID)
	p.captures.Go("listener", nil, func() {
		err := supervise.Do("listener", func() error {
			one.adapt(noted)
			return nil
		})
		if stopNotes(); err != nil {
			one.Fail(err)
			<-s.Done()
		}
		_ = file.Close() // the recorder does not close a file without packets
		parts.lack(s.State().Record.Missed)
		close(done)
		part.Is("")
		p.forgetEmpty(one)
		p.captures.Ended(ws.Name, x.ID)
		p.mu.Lock()
		p.sessions = slices.DeleteFunc(p.sessions, func(x *Session) bool { return x == one })
		p.mu.Unlock()
		close(one.gone)
		p.opts.Changed(ws.Name)
	})
	return one, nil
}

// adapt follows the changes of the definitions and of the notes of the recording, until the session has ended.
func (s *Session) adapt(noted <-chan struct{}) {
	changed, stop := s.Workspace.Changed()
	defer stop()
	for {
		select {
		case <-changed:
			s.Log().Touch() // filters of followers must be compiled again
		case <-noted:
			if x, err := s.kept.Get(s.ID); err == nil {
				s.reread(x)
			}
			continue
		case <-s.Done():
			return
		}
		s.Reconsider() // the filter of the held messages may have another meaning
	}
}

// reread reads messages by other settings and keys.
func (s *Session) reread(by store.Capture) {
	if s.read.set(by) {
		s.Log().Touch()
		s.Reconsider()
	}
}

// Read changes the settings over those of the project, and the keys, by which messages are read, as an edit of the recording does. Connections that are
// open keep theirs. The errors are those of Start.
func (s *Session) Read(by settings.Settings, keys string) error {
	if err := s.read.check(by, keys); err != nil {
		return err
	}
	s.reread(store.Capture{Settings: by, Keys: keys})
	return nil
}

// firstFile is the first file of a recording, whose capture the session is known by: it stays without data, too.
type firstFile struct{ noDiscard }

type noDiscard interface {
	io.WriteCloser
	Truncate(size int64) error
	Sync() error
	Gone() bool
}

// recordings are the captures that record a session.
type recordings struct {
	in  Kept
	mu  sync.Mutex
	ids []string
}

func (r *recordings) add(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids = append(r.ids, id)
}

// lack notes in the captures that packets of the session are in none of them.
func (r *recordings) lack(packets int64) {
	if packets == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range r.ids {
		_, _ = r.in.Edit(id, func(x *store.Capture) error { // of a discarded file, or on a full disk: the events and the next file tell it
			x.Unrecorded = packets
			return nil
		})
	}
}

// Stop ends the session, as that of the proxy; when it returns nil, the session is not in the set any more.
func (s *Session) Stop(ctx context.Context) error {
	if err := s.Session.Stop(ctx); err != nil || s.gone == nil {
		return err
	}
	select {
	case <-s.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// forgetEmpty deletes the capture of a session without traffic, unless it has notes.
func (p *Set) forgetEmpty(one *Session) {
	state := one.State()
	if p.closing.Load() || state.Frames > 0 || state.Record.Packets > 0 || state.Record.Missed > 0 {
		return
	}
	all := one.kept
	x, err := all.Get(one.ID)
	n := &x.Notes
	if err != nil || x.Size > 0 || n.Text != "" || len(n.Noted)+len(n.Markers) > 0 {
		return
	}
	_ = all.Remove(one.ID) // a remaining empty capture does no harm
}

// Of returns the sessions of a workspace, or all sessions for "".
func (p *Set) Of(ws string) []*Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.sessions), func(s *Session) bool { return ws != "" && s.Workspace.Name != ws })
}

// Get returns the session with an id, nil if there is none.
func (p *Set) Get(ws, id string) *Session {
	for _, s := range p.Of(ws) {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// Now returns the current definitions with the settings of the session.
func (s *Session) Now() *workspace.Snapshot {
	if s.read == nil { // not started by Start
		return s.Workspace.Now()
	}
	return s.read.now()
}

// identify sets the key of a message made by a user.
func identify(snap *workspace.Snapshot, c transport.Conn, f *transport.Frame) {
	group := ""
	if len(snap.Dialect.Frames) == 0 {
		group = snap.Env().Group(c.Server.Port(), f.Dir)
	}
	var rec codec.Record
	snap.Identify(&rec, f, group)
}

// Info describes the session.
func (s *Session) Info() Info {
	events := s.Events(0)
	open, _ := s.Conns()
	if open = open[:min(len(open), maxOpenListed)]; open == nil {
		open = []proxy.ConnState{}
	}
	return Info{ID: s.ID, State: s.State(), Events: proxy.Latest(events, maxEvents), Conns: open}
}

// ParseConfig parses [WORKSPACE=]LISTEN>UPSTREAM, the syntax of the command line.
func ParseConfig(text string) (cfg Config, err error) {
	if ws, rest, ok := strings.Cut(text, "="); ok {
		cfg.Workspace, text = ws, rest
	}
	var ok bool
	if cfg.Listen, cfg.Upstream, ok = strings.Cut(text, ">"); !ok || cfg.Workspace == "" {
		return cfg, fmt.Errorf("%q is not WORKSPACE=LISTEN>UPSTREAM, such as NAME=127.0.0.1:7801>10.0.0.5:7801", text)
	}
	return cfg, nil
}
