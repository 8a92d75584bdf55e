package collect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"wirebench/codec/filter"
	"wirebench/codec/transport/protocols"
	"wirebench/defs"
	"wirebench/server/bus"
	"wirebench/server/relay"
	"wirebench/server/settings"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// project is what a collector knows about a project: the definitions and settings of the workbench, in a folder of its own, so that they are
// there when it starts without NATS.
type project struct {
	name     string
	home     *store.Dir
	files    *store.Dir
	ws       *workspace.Workspace // nil: its protocol is not known yet
	waiting  []relay.Config       // listeners that need the definitions
	protocol string

	syncing sync.Mutex // held by sync
}

// protocolFile has the protocol of a project.
const protocolFile = "project.json"

// openProject opens what is known about a project.
func (c *Collector) openProject(name string) (*project, error) {
	p := &project{name: name, protocol: c.opts.Protocol}
	var err error
	if p.home, err = c.opts.Data.Dir("projects", bus.Token(name)); err != nil {
		return nil, err
	}
	if p.files, err = c.opts.Data.Dir("projects", bus.Token(name), "definitions"); err != nil {
		return nil, err
	}
	var told contents
	if _, err := p.home.Load(protocolFile, store.JSON(&told)); err == nil {
		p.protocol = told.Protocol
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if _, ok := defs.Find(name); ok && p.protocol == "" {
		p.protocol = name
	}
	return p, p.open(c)
}

// open opens the workspace, if the protocol is known.
func (p *project) open(c *Collector) (err error) {
	if p.protocol == "" {
		return nil
	}
	p.ws, err = workspace.Open(workspace.Config{Name: p.name, FirstTitle: p.name, Dialect: p.protocol, Files: p.files, Home: p.home, Log: c.opts.Log})
	return err
}

// start starts a listener, or keeps it until more is known about the project.
func (p *project) start(ctx context.Context, c *Collector, cfg relay.Config) error {
	if p.ws == nil {
		p.waiting = append(p.waiting, cfg)
		c.opts.Log.Warn("a listener waits until NATS tells the protocol of its project; --protocol starts it without", "project", p.name, "listen", cfg.Listen)
		return nil
	}
	one, err := c.relays.Start(ctx, p.ws, cfg)
	if errors.Is(err, protocols.ErrNoEnvelope) {
		p.waiting = append(p.waiting, cfg)
		c.opts.Log.Warn("a listener waits until NATS tells how the messages of its project travel", "project", p.name, "listen", cfg.Listen)
		return nil
	}
	if err != nil {
		return fmt.Errorf("relay %s to %s: %w", cfg.Listen, cfg.Upstream, err)
	}
	for _, pair := range one.State().Pairs {
		c.opts.Log.Info(fmt.Sprintf("%s is relayed to %s", pair.Listen, pair.Upstream), "project", p.name)
	}
	p.restoreRules(one, cfg)
	c.work.Go("events", nil, func() { c.report(one) })
	return nil
}

// rules are those of a listener, as a file.
type rules struct {
	Language int          `json:"language"` // of their filters
	Rules    []relay.Rule `json:"rules"`
}

// rulesFile returns the name of the file with the rules of a listener.
func rulesFile(listen string) string { return "rules-" + bus.Token(listen) + ".json" }

// restoreRules gives a listener the rules that it had when it was last running.
func (p *project) restoreRules(one *relay.Session, cfg relay.Config) {
	var all rules
	if _, err := p.home.Load(rulesFile(cfg.Listen), store.JSON(&all)); err == nil && len(all.Rules) > 0 && cfg.Operate {
		one.RestoreRules(all.Language, all.Rules)
	}
}

// keepRules stores the rules of a listener for the next start.
func (p *project) keepRules(c *Collector, one *relay.Session) {
	x, err := c.spool.Of(p.name).Get(one.ID)
	if err != nil || x.Listener == nil {
		return
	}
	text, err := json.Marshal(rules{filter.Version, one.WrittenRules()})
	if err == nil {
		_, err = p.home.Write(rulesFile(x.Listener.Listen), text, nil)
	}
	if err != nil {
		one.Warn("the rules are not kept for the next start: %v", err)
	}
}

// follow keeps what is known about a project up to date, until the context is done.
func (p *project) follow(ctx context.Context, c *Collector) {
	sub, err := c.conn.SubscribeSync(changedPrefix + bus.Token(p.name))
	if err != nil {
		c.opts.Log.Error("changes of definitions are not followed", "project", p.name, "error", err)
		return
	}
	defer func() { _ = sub.Unsubscribe() }()
	told := ""
	for ctx.Err() == nil {
		err := p.sync(ctx, c)
		if err != nil && ctx.Err() == nil && !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, context.DeadlineExceeded) && err.Error() != told {
			c.opts.Log.Warn("the definitions are not up to date", "project", p.name, "error", err)
			told = err.Error()
		}
		wait := syncEvery
		if err != nil {
			wait = stateEvery
		}
		waiting, stop := context.WithTimeout(ctx, wait)
		_, _ = sub.NextMsgWithContext(waiting)
		stop()
		for { // several changes are one
			if n, _, err := sub.Pending(); err != nil || n == 0 {
				break
			}
			if _, err := sub.NextMsg(time.Millisecond); err != nil {
				break
			}
		}
	}
}

// sync fetches what has changed in a project.
func (p *project) sync(ctx context.Context, c *Collector) error {
	p.syncing.Lock()
	defer p.syncing.Unlock()
	asking, stop := context.WithTimeout(ctx, askTime)
	defer stop()
	text, err := request(asking, c.conn, projectPrefix+bus.Token(p.name), question{})
	if err != nil {
		return err
	}
	var now contents
	if err := json.Unmarshal(text, &now); err != nil {
		return err
	}
	if _, ok := defs.Find(now.Protocol); !ok {
		return fmt.Errorf("this version does not know the protocol %.100q", now.Protocol)
	}
	have, _, err := p.files.List()
	if err != nil {
		return err
	}
	changed := false
	for _, f := range have {
		rev, ok := now.Files[f.Name]
		if delete(now.Files, f.Name); ok && rev == string(f.Revision) {
			continue
		}
		changed = true
		if !ok {
			err = p.files.Remove(f.Name, nil)
		} else {
			err = p.fetch(asking, c, f.Name)
		}
		if err != nil {
			return err
		}
	}
	for name := range now.Files {
		changed = true
		if err := p.fetch(asking, c, name); err != nil {
			return err
		}
	}
	if p.ws == nil || now.Protocol != p.protocol {
		if _, err := p.home.Write(protocolFile, text, nil); err != nil {
			return err
		}
		if p.ws != nil {
			return fmt.Errorf("the project has protocol %s, and listeners run with %s: start this collector again", now.Protocol, p.protocol)
		}
		p.protocol = now.Protocol
		if err := p.open(c); err != nil {
			return err
		}
	} else if changed {
		if err := p.ws.Reload(); err != nil {
			return err
		}
	}
	if was := p.ws.UserSettings(); was.Key() != now.Settings.Key() {
		if err := p.ws.Configure(func(s *settings.Settings) { *s = now.Settings }); err != nil {
			return err
		}
	}
	waiting := p.waiting
	p.waiting = nil
	for _, cfg := range waiting {
		if err := p.start(ctx, c, cfg); err != nil {
			return err
		}
	}
	return nil
}

// fetch fetches a file.
func (p *project) fetch(ctx context.Context, c *Collector, name string) error {
	text, err := request(ctx, c.conn, projectPrefix+bus.Token(p.name), question{name})
	if err != nil {
		return err
	}
	_, err = p.files.Write(name, bytes.Clone(text), nil)
	return err
}
