package store

import (
	"context"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Delays before changes of captures are reported.
const (
	followSoon  = 100 * time.Millisecond // captures added, deleted or described
	followLater = 5 * time.Second        // growth; also the polling interval where the system reports no changes
)

// Follow calls changed when any program adds or deletes captures or changes their descriptions, and grown when one extends captures, until the
// context is done. Several changes are reported as one; growth is reported every few seconds.
func (c *Captures) Follow(ctx context.Context, changed, grown func()) {
	own, stop := c.Changed("")
	defer stop()
	watcher, err := c.dir.newWatcher()
	if err == nil {
		defer watcher.Close()
		err = watcher.Add(c.dir.path)
	}
	var events chan fsnotify.Event
	var lost chan error
	var look <-chan time.Time
	if err == nil {
		events, lost = watcher.Events, watcher.Errors
	} else {
		c.dir.log.Warn("the system does not report changes of the captures; polling them", "folder", c.dir.path, "every", followLater, "reason", err)
		ticker := time.NewTicker(followLater)
		defer ticker.Stop()
		look = ticker.C
	}
	var soon, later, growing <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-own:
			if soon == nil {
				soon = time.After(followSoon)
			}
		case <-lost: // events
			if later == nil {
				later = time.After(followLater)
			}
		case e := <-events:
			switch {
			case strings.HasSuffix(e.Name, temporaryEnd):
			case e.Has(fsnotify.Write) && strings.HasSuffix(e.Name, captureEnding):
				if growing == nil {
					growing = time.After(followLater)
				}
			case soon == nil:
				soon = time.After(followSoon)
			}
		case <-soon:
			soon = nil
			changed()
		case <-later:
			later = nil
			changed()
		case <-growing:
			growing = nil
			grown()
		case <-look:
			changed()
		}
	}
}
