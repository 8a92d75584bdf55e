package page

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"wirebench/server/socket"
)

// Topics of which pages are told when they have changed. Those of one thing have its id behind them, as "held:ID".
const (
	TopicCaptures  = "captures"  // the list of captures
	TopicListeners = "listeners" // what runs, and how much of it has passed
	TopicHeld      = "held:"     // the messages of a session that wait for a person
	TopicReplay    = "replay:"   // how a replay stands
)

// Bounds of telling.
const (
	pushPause = 100 * time.Millisecond // between two messages to one page
)

// Pushes tells the open pages of a workspace what has changed of what they show. Nothing is sent while nothing changes.
type Pushes struct {
	mu    sync.Mutex
	pages map[*pushedPage]struct{}
}

// pushedPage is a page that is told.
type pushedPage struct {
	ws   string
	wake chan struct{}

	mu     sync.Mutex
	topics []string // that have changed since the page was told last
}

// Tell says that a topic of a workspace has changed.
func (p *Pushes) Tell(ws, topic string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for page := range p.pages {
		if page.ws != ws {
			continue
		}
		page.mu.Lock()
		if !slices.Contains(page.topics, topic) {
			page.topics = append(page.topics, topic)
		}
		page.mu.Unlock()
		select {
		case page.wake <- struct{}{}:
		default:
		}
	}
}

// join makes a page one that is told, until leave.
func (p *Pushes) join(ws string) (page *pushedPage, leave func()) {
	page = &pushedPage{ws: ws, wake: make(chan struct{}, 1)}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pages == nil {
		p.pages = map[*pushedPage]struct{}{}
	}
	p.pages[page] = struct{}{}
	return page, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.pages, page)
	}
}

// Count is the number of pages that are told.
func (p *Pushes) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pages)
}

// Pushed is the message by which a page is told.
type Pushed struct {
	Changed []string `json:"changed"` // topics
}

// Channel is the channel by which a page of a workspace is told.
func (p *Pushes) Channel(ws string) socket.Kind {
	return socket.Kind{Serve: func(ctx context.Context, c *socket.Channel, _ json.RawMessage) error {
		page, leave := p.join(ws)
		defer leave()
		return page.run(ctx, c)
	}}
}

// run tells a page until the context ends.
func (p *pushedPage) run(ctx context.Context, c *socket.Channel) error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.wake:
		}
		p.mu.Lock()
		topics := p.topics
		p.topics = nil
		p.mu.Unlock()
		if len(topics) == 0 { // what woke this has been told with the last message
			continue
		}
		if err := c.Send(ctx, Pushed{topics}); err != nil {
			return err
		}
		pause.Reset(pushPause)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-pause.C:
		}
	}
}
