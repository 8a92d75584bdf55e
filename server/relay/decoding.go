package relay

import (
	"fmt"
	"sync/atomic"

	"wirebench/codec/transport/protocols"
	"wirebench/defs/envelope"
	"wirebench/server/settings"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// decoding says how the traffic of a session is read: by the settings and keys of its recording, which may change while it runs. Connections
// that are open keep the keys and groups they began with.
type decoding struct {
	ws          *workspace.Workspace
	definitions definitions
	chosen      atomic.Pointer[store.Capture]     // only settings and keys
	last        atomic.Pointer[lastSnapshot]      // of now
	envelope    atomic.Pointer[envelope.Envelope] // the last one without mistakes
}

// lastSnapshot is the result of decoding.now, and what it was made of.
type lastSnapshot struct {
	base   *workspace.Snapshot
	chosen *store.Capture
	snap   *workspace.Snapshot
}

// newDecoding returns the decoding for the configuration of a session.
func newDecoding(ws *workspace.Workspace, cfg Config) (*decoding, error) {
	d := &decoding{ws: ws}
	if err := d.check(cfg.Settings, cfg.Keys); err != nil {
		return nil, err
	}
	d.definitions.now = d.now
	d.chosen.Store(&store.Capture{Settings: cfg.Settings, Keys: cfg.Keys})
	d.env() // remembers the envelope
	return d, nil
}

// check returns what is wrong with settings and keys.
func (d *decoding) check(chosen settings.Settings, keys string) error {
	if err := d.ws.CheckOver(chosen, settings.Settings{}); err != nil {
		return err
	}
	if _, err := protocols.ParseKeys(keys); err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	return nil
}

// recording returns the description of a recording with a name.
func (d *decoding) recording(name string) store.Capture {
	x := *d.chosen.Load()
	x.Name = name
	return x
}

// set takes the settings and keys of the recording, and reports whether messages may be decoded differently.
func (d *decoding) set(x store.Capture) bool {
	was := d.chosen.Swap(&store.Capture{Settings: x.Settings, Keys: x.Keys})
	return was.Settings.Key() != x.Settings.Key()
}

// now returns the current definitions with the settings. It is called for each message.
func (d *decoding) now() *workspace.Snapshot {
	base, chosen := d.ws.Now(), d.chosen.Load()
	if l := d.last.Load(); l != nil && l.base == base && l.chosen == chosen {
		return l.snap
	}
	snap := d.ws.For(*chosen)
	d.last.Store(&lastSnapshot{base, chosen, snap})
	return snap
}

// env returns the environment of the transports of a new connection.
func (d *decoding) env() *protocols.Env {
	snap := d.now()
	env := snap.Env()
	if env.Envelope != nil || snap.Carried {
		d.envelope.Store(env.Envelope)
	} else {
		env.Envelope = d.envelope.Load() // the text is being changed
	}
	env.Definitions = &d.definitions
	env.Keys, _ = protocols.ParseKeys(d.chosen.Load().Keys) // checked when they were set
	return env
}
