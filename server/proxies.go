package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/defs/schema"
	"wirebench/server/captures"
	"wirebench/server/live"
	"wirebench/server/proxy"
	"wirebench/server/workspace"
)

// Bounds of running traffic.
const (
	liveMemory    = 256 << 20 // bytes of frames of one session; the oldest give way
	maxEvents     = 200       // in one answer
	maxOpenListed = 100       // connections in one answer
	stopPatience  = 5 * time.Second
)

// ProxyConfig says what is relayed. It is the same in a request, on the command line and in a file.
type ProxyConfig struct {
	Workspace string `json:"workspace,omitempty" doc:"where its frames are shown; in a request that of the address"`
	Name      string `json:"name,omitempty" maxLength:"200" doc:"for people"`
	Listen    string `json:"listen" doc:"IP:port or :port"`
	Upstream  string `json:"upstream" doc:"host:port"`
	Operate   bool   `json:"operate,omitempty" doc:"its messages can be held, changed and sent, once that is turned on"`
	Ports     int    `json:"ports,omitempty" minimum:"0" maximum:"16" doc:"how many ports that follow one another; 0 = as many as a server of this protocol has"`
}

// ProxyInfo is a session of the proxy.
type ProxyInfo struct {
	ID string `json:"id" doc:"also of the capture that records it"`
	proxy.State
	Events []proxy.Event     `json:"events" doc:"the last ones, the oldest first"`
	Conns  []proxy.ConnState `json:"conns" doc:"connections that are open, the oldest first"`
}

// proxySet is the running sessions.
type proxySet struct {
	proxy    *proxy.Proxy
	captures *captures.Set
	pushes   *pushes

	mu       sync.Mutex
	sessions []*liveSession
}

// liveSession is a session of the proxy in a workspace.
type liveSession struct {
	*proxy.Session
	id string
	ws *workspace.Workspace

	rulesMu sync.Mutex
	written []ruleBody // the rules as they were written
}

// start begins a session: its frames are those of a capture that is being recorded.
func (p *proxySet) start(ctx context.Context, ws *workspace.Workspace, cfg ProxyConfig) (*liveSession, error) {
	protocol, ok := protocols.Of(ws.Now().Dialect.Name)
	if !ok || ws.Captures == nil {
		return nil, huma.Error422UnprocessableEntity("this workspace has no protocol that is relayed")
	}
	ports := cfg.Ports
	if ports == 0 {
		ports = protocol.Ports
	}
	pairs, err := proxy.Consecutive(cfg.Listen, cfg.Upstream, ports)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	name := cmp.Or(cfg.Name, cfg.Upstream)
	now := time.Now()
	title := "live " + name + now.Format(" 15:04") // the same listener is started again and again
	x, file, err := ws.Captures.Record(title, now)
	if err != nil {
		return nil, captureProblem(err)
	}
	part := p.captures.Part(ws.Name)
	create := func(n int) (string, io.WriteCloser, error) {
		if n == 1 {
			return x.Name, file, nil
		}
		y, next, err := ws.Captures.Record(fmt.Sprintf("%s, part %d", title, n), time.Now())
		if err == nil {
			part.Is(y.ID)
		}
		return y.Name, next, err
	}
	log := live.NewRolling(liveMemory)
	env := &protocols.Env{Definitions: &current{ws: ws}, Options: ws.Now().Options.Values}
	network := "udp"
	if protocol.Streams {
		network = "tcp"
	}
	relay := proxy.Config{
		Name: name, Owner: ws.Name, Network: network, Pairs: pairs, Log: log, Record: &proxy.Record{Create: create},
		Transport: func(c transport.Conn) transport.Transport {
			return protocol.New(env.For(c.Name(), c.Session), c.Server.Port())
		},
	}
	if cfg.Operate {
		relay.Rewriter = func(c transport.Conn) transport.Rewriter {
			return protocol.Rewriter(env.For(c.Name(), c.Session), c.Server.Port())
		}
		relay.Record.Cut = func() string { return captures.CutBy(ws.Now()) }
		relay.Identify = func(c transport.Conn, f *transport.Frame) { identify(ws.Now(), env, c, f) }
	}
	s, err := p.proxy.Start(ctx, relay)
	if err != nil {
		file.Close()
		_ = ws.Captures.Remove(x.ID)
		return nil, proxyProblem(err)
	}
	done := make(chan struct{})
	one := &liveSession{Session: s, id: x.ID, ws: ws}
	p.captures.Live(ws.Name, x.ID, log, done)
	p.mu.Lock()
	p.sessions = append(p.sessions, one)
	p.mu.Unlock()
	p.captures.Go(func() { p.follow(one) })
	p.captures.Go(func() {
		changed, stop := ws.Changed()
		defer stop()
		for running := true; running; {
			select {
			case <-changed:
				log.Touch() // whoever follows with a filter has to compile it anew
			case <-s.Done():
				running = false
			}
		}
		_ = file.Close() // a recording without packets never took it
		close(done)
		part.Is("")
		p.forgetEmpty(one)
		p.captures.Ended(ws.Name, x.ID)
		p.mu.Lock()
		p.sessions = slices.DeleteFunc(p.sessions, func(x *liveSession) bool { return x == one })
		p.mu.Unlock()
		p.pushes.tell(ws.Name, topicListeners)
	})
	return one, nil
}

// forgetEmpty takes away the capture of a session through which nothing has passed, unless somebody has written something about it.
func (p *proxySet) forgetEmpty(one *liveSession) {
	state := one.State()
	if state.Frames > 0 || state.Record.Packets > 0 || state.Record.Missed > 0 {
		return
	}
	all := one.ws.Captures
	x, err := all.Get(one.id)
	n := &x.Notes
	if err != nil || x.Size > 0 || n.Text != "" || len(n.Marked)+len(n.Frames)+len(n.Markers) > 0 {
		return
	}
	_ = all.Remove(one.id) // an empty one that stays does no harm
}

// of are the sessions of a workspace; all of them for "".
func (p *proxySet) of(ws string) []*liveSession {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.sessions), func(s *liveSession) bool { return ws != "" && s.ws.Name != ws })
}

// get is the session of an id, nil if there is none.
func (p *proxySet) get(ws, id string) *liveSession {
	for _, s := range p.of(ws) {
		if s.id == id {
			return s
		}
	}
	return nil
}

// identify says what a message is that a person has made.
func identify(snap *workspace.Snapshot, env *protocols.Env, c transport.Conn, f *transport.Frame) {
	group := ""
	if len(snap.Dialect.Frames) == 0 {
		group = env.Group(c.Server.Port(), f.Dir)
	}
	var rec codec.Record
	if m := snap.ByCode(&rec, f.Bytes, workspace.Request{Dir: f.Dir, Group: group}); m != nil {
		f.Key, f.HasKey = schema.Key{Dir: f.Dir, Group: m.Key.Group, Code: rec.Code}, true
	}
}

// proxyProblem gives an error of the proxy its status.
func proxyProblem(err error) error {
	if errors.Is(err, proxy.ErrRefused) || errors.Is(err, proxy.ErrMoved) {
		return huma.Error403Forbidden(err.Error())
	}
	return huma.Error422UnprocessableEntity(ListenProblem(err).Error())
}

// ListenProblem says in short why something cannot be listened to; other errors stay as they are. The system says the address again, and
// which of its calls has failed.
func ListenProblem(err error) error {
	var op *net.OpError
	var call *os.SyscallError
	if !errors.As(err, &op) || op.Op != "listen" || op.Addr == nil || !errors.As(op.Err, &call) {
		return err
	}
	hint := ""
	switch {
	case errors.Is(call.Err, syscall.EADDRINUSE):
		hint = "; another listener has it, here or in another program"
	case errors.Is(call.Err, syscall.EADDRNOTAVAIL):
		hint = "; this machine has no such address"
	}
	return fmt.Errorf("listen to %s: %w%s", op.Addr, call.Err, hint)
}

func (s *liveSession) info() ProxyInfo {
	events := s.Events(0)
	open, _ := s.Conns()
	if open = open[:min(len(open), maxOpenListed)]; open == nil {
		open = []proxy.ConnState{}
	}
	return ProxyInfo{s.id, s.State(), events[max(len(events)-maxEvents, 0):], open}
}

type proxiesOutput struct {
	Body struct {
		Proxies []ProxyInfo   `json:"proxies"`
		Allowed []string      `json:"allowed" doc:"upstreams that may be connected to"`
		Refused []proxy.Event `json:"refused" doc:"sessions that were not let start, the oldest first"`
	}
}

// listProxies lists the running sessions of a workspace.
func (s *Server) listProxies(_ context.Context, in *workspaceInput) (*proxiesOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	out := &proxiesOutput{}
	b := &out.Body
	b.Proxies, b.Allowed, b.Refused = []ProxyInfo{}, s.Upstreams.Entries(), s.proxies.proxy.Events(ws.Name, 0)
	if b.Refused == nil {
		b.Refused = []proxy.Event{}
	}
	for _, one := range s.proxies.of(ws.Name) {
		b.Proxies = append(b.Proxies, one.info())
	}
	return out, nil
}

type startProxyInput struct {
	Workspace string `path:"ws" doc:"name of the workspace"`
	Body      ProxyConfig
}

type proxyOutput struct {
	Status int
	Body   ProxyInfo
}

// startProxy starts a listener.
func (s *Server) startProxy(ctx context.Context, in *startProxyInput) (*proxyOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	one, err := s.proxies.start(ctx, ws.Workspace, in.Body)
	if err != nil {
		return nil, err
	}
	s.Log.Info("proxy started", "workspace", ws.Name, "listen", in.Body.Listen, "upstream", in.Body.Upstream)
	return &proxyOutput{http.StatusCreated, one.info()}, nil
}

// StartProxy starts a listener, as POST /api/{ws}/proxies does. It ends with the server.
func (s *Server) StartProxy(ctx context.Context, cfg ProxyConfig) error {
	ws := s.byName[cfg.Workspace]
	if ws == nil {
		return fmt.Errorf("there is no workspace %q", cfg.Workspace)
	}
	_, err := s.proxies.start(ctx, ws, cfg)
	return err
}

type stopProxiesInput struct {
	Workspace string   `path:"ws" doc:"name of the workspace"`
	IDs       []string `query:"id" required:"true" minItems:"1" doc:"of the listeners"`
}

// stopProxies ends sessions. Their captures stay.
func (s *Server) stopProxies(ctx context.Context, in *stopProxiesInput) (*struct{}, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	var all []*liveSession
	for _, id := range in.IDs {
		one := s.proxies.get(ws.Name, id)
		if one == nil {
			return nil, noSession(id)
		}
		all = append(all, one)
	}
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	var stopping sync.WaitGroup // all at once: each has the whole time
	for _, one := range all {
		stopping.Go(func() {
			_ = one.Stop(ctx) // that connections were cut is one of its events
			s.Log.Info("proxy stopped", "workspace", ws.Name, "name", one.State().Name)
		})
	}
	stopping.Wait()
	return nil, nil
}

// stopProxy ends one session.
func (s *Server) stopProxy(ctx context.Context, in *SessionPath) (*struct{}, error) {
	return s.stopProxies(ctx, &stopProxiesInput{in.Workspace, []string{in.ID}})
}

// readProxy describes one session.
func (s *Server) readProxy(_ context.Context, in *SessionPath) (*proxyOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	one := s.proxies.get(ws.Name, in.ID)
	if one == nil {
		return nil, noSession(in.ID)
	}
	return &proxyOutput{http.StatusOK, one.info()}, nil
}

func noSession(id string) error { return huma.Error404NotFound("there is no session " + id) }

// ParseProxy reads [WORKSPACE=]LISTEN>UPSTREAM, as the command line has it.
func ParseProxy(text string) (cfg ProxyConfig, err error) {
	if ws, rest, ok := strings.Cut(text, "="); ok {
		cfg.Workspace, text = ws, rest
	}
	var ok bool
	if cfg.Listen, cfg.Upstream, ok = strings.Cut(text, ">"); !ok || cfg.Workspace == "" {
		return cfg, fmt.Errorf("%q is not WORKSPACE=LISTEN>UPSTREAM, such as NAME=127.0.0.1:7801>10.0.0.5:7801", text)
	}
	return cfg, nil
}
