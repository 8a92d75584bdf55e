package collect

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"wirebench/server/bus"
	"wirebench/server/captures"
	"wirebench/server/proxy"
	"wirebench/server/relay"
	"wirebench/server/store"
	"wirebench/server/supervise"
)

// Options configure a collector.
type Options struct {
	Name       string         // in subjects and on pages; see CheckName
	Data       *store.Data    // its folder, with the spool and what it knows about projects
	SpoolBytes int64          // on disk; see OpenSpool
	Protocol   string         // of a project of which nothing is known yet; "" for that of its name
	Listeners  []relay.Config // what it relays; nothing else, whatever is asked by NATS
	Upstreams  *proxy.Upstreams
	Limits     proxy.Limits
	Bus        bus.Options
	Version    string // of the program
	Log        *slog.Logger

	// Answer executes an operation with a listener, as api.Operate.
	Answer func(one *relay.Session, operation, who string, body []byte) []byte
}

// partBytes is about the size of the captures that a collector makes; a workbench keeps a thousand in a project.
const partBytes = 256 << 20

// farewell is the time for what waits to be published when a collector ends. What is left is published when it starts again.
const farewell = 5 * time.Second

const _ = uint(farewell - 2*longestWait) // one attempt at least falls into it, whatever has failed before

var names = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// CheckName returns an error for a name that a collector cannot have.
func CheckName(name string) error {
	if !names.MatchString(name) {
		return fmt.Errorf("%q must be 1 to 64 letters, digits, - and _", name)
	}
	return nil
}

// Collector runs listeners whose traffic goes to a workbench.
type Collector struct {
	opts      Options
	spool     *Spool
	conn      *nats.Conn
	publisher *Publisher
	captures  *captures.Set // of which it needs the goroutines
	relays    *relay.Set
	projects  map[string]*project
	moved     chan struct{} // has one element when the state of a listener may have changed

	mu       sync.Mutex
	held     map[string]int    // changes of the held messages, by listener
	readings map[string]string // reading.rev, by listener

	stop context.CancelFunc
	work supervise.Group
}

// Start starts a collector: its listeners run when it returns, whether NATS is there or not.
func Start(ctx context.Context, o Options) (_ *Collector, err error) {
	if err := CheckName(o.Name); err != nil {
		return nil, err
	}
	c := &Collector{opts: o, projects: map[string]*project{}, moved: make(chan struct{}, 1), held: map[string]int{}, readings: map[string]string{}}
	running, stop := context.WithCancel(context.Background())
	c.stop = stop
	defer func() {
		if err != nil {
			c.end()
		}
	}()
	if c.spool, err = OpenSpool(o.Data.Path("spool"), o.SpoolBytes); err != nil {
		return nil, err
	}
	if c.conn, err = bus.Connect(o.Bus, "wirebench collect "+o.Name, o.Log); err != nil {
		return nil, err
	}
	if c.publisher, err = NewPublisher(c.spool, o.Name, c.conn, o.Log); err != nil {
		return nil, err
	}
	c.captures = captures.NewSet(nil, nil)
	c.relays = relay.New(relay.Options{
		Upstreams: o.Upstreams, Limits: o.Limits, Captures: c.captures, Kept: c.spool.Of, FileBytes: partBytes,
		Changed: func(string) { c.poke() }, Moved: func(string) { c.poke() },
		Held: func(_, id string) {
			c.mu.Lock()
			c.held[id]++
			c.mu.Unlock()
			c.poke()
		},
	})
	c.work.Go("publisher", func(err error) { o.Log.Error("nothing is published any more", "error", err) }, func() { c.publisher.Run(running) })
	for _, cfg := range o.Listeners {
		p := c.projects[cfg.Workspace]
		if p == nil {
			if p, err = c.openProject(cfg.Workspace); err != nil {
				return nil, err
			}
			c.projects[cfg.Workspace] = p
			c.relays.Watch(p.name) // by pages elsewhere
		}
		if err := p.start(ctx, c, cfg); err != nil {
			return nil, err
		}
	}
	for _, p := range c.projects {
		c.work.Go("definitions", nil, func() { p.follow(running, c) })
	}
	c.work.Go("requests", nil, func() { c.answer(running) })
	c.work.Go("states", nil, func() { c.announce(running) })
	return c, nil
}

// Listeners returns the running listeners.
func (c *Collector) Listeners() []*relay.Session { return c.relays.Of("") }

// Waiting returns what is not published.
func (c *Collector) Waiting() Waiting { return c.spool.Waiting() }

// Published counts what was published.
func (c *Collector) Published() Published { return c.publisher.State() }

// report logs the events of a listener until it ends.
func (c *Collector) report(one *relay.Session) {
	n := 0
	tell := func() {
		for _, e := range one.Events(n) {
			n = max(n, e.N)
			if e.Severity != proxy.Info {
				c.opts.Log.Warn(e.Text, "listener", one.State().Name, "severity", e.Severity)
			}
		}
	}
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		select {
		case <-one.Done():
			tell()
			c.tell(one)
			return
		case <-every.C:
			tell()
		}
	}
}

// Close ends the listeners, as relay.Set.Close does, and publishes what it can in a few seconds. The rest waits for the next start; it
// returns how much that is.
func (c *Collector) Close(ctx context.Context) Waiting {
	_ = c.relays.Close(ctx) // connections that are cut off appear in their events
	for _, one := range c.relays.Of("") {
		_ = one.Stop(ctx)
	}
	patience := time.NewTimer(farewell)
	defer patience.Stop()
	for done := false; !done && c.spool.Waiting().Parts > 0; {
		select {
		case <-patience.C:
			done = true
		case <-time.After(20 * time.Millisecond):
		}
	}
	left := c.spool.Waiting()
	c.end()
	return left
}

// end ends what is left of a collector.
func (c *Collector) end() {
	c.stop()
	if c.relays != nil {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		_ = c.relays.Close(over)
	}
	if c.captures != nil {
		c.captures.Close()
	}
	c.work.Wait()
	if c.conn != nil {
		c.conn.Close()
	}
	if c.spool != nil {
		c.spool.Close()
	}
}

// HostName returns the name of a machine as that of a collector.
func HostName(host string) string {
	out := []byte(host[:min(len(host), 64)])
	for i := range out {
		if !names.Match(out[i : i+1]) {
			out[i] = '-'
		}
	}
	return cmp.Or(string(out), "collector")
}
