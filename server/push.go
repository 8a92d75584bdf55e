package server

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"wirebench/server/socket"
	"wirebench/server/workspace"
)

// Topics of which pages are told when they have changed. Those of one thing have its id behind them, as "held:ID".
const (
	topicCaptures  = "captures"  // the list of captures
	topicListeners = "listeners" // what runs, and how much of it has passed
	topicHeld      = "held:"     // the messages of a session that wait for a person
	topicReplay    = "replay:"   // how a replay stands
)

// Bounds of telling.
const (
	pushPause = 100 * time.Millisecond // between two messages to one page
)

// pushes tells the open pages of a workspace what has changed of what they show. Nothing is sent while nothing changes.
type pushes struct {
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

// tell says that a topic of a workspace has changed.
func (p *pushes) tell(ws, topic string) {
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
func (p *pushes) join(ws string) (page *pushedPage, leave func()) {
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

// count is the number of pages that are told.
func (p *pushes) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pages)
}

// pushed is the message by which a page is told.
type pushed struct {
	Changed []string `json:"changed"` // topics
}

// channel serves the channel by which a page of a workspace is told.
func (p *pushes) channel(ws string) func(context.Context, *socket.Channel, json.RawMessage) error {
	return func(ctx context.Context, c *socket.Channel, _ json.RawMessage) error {
		page, leave := p.join(ws)
		defer leave()
		return page.run(ctx, c)
	}
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
		if err := c.Send(ctx, pushed{topics}); err != nil {
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

// followCaptures tells pages of changes of the captures of a workspace, by this server and by other programs, until the context ends.
func (s *Server) followCaptures(ctx context.Context, ws *workspace.Workspace) {
	ws.Captures.Follow(ctx, func() {
		s.captures.ForgetBrief(ws.Captures)
		s.pushes.tell(ws.Name, topicCaptures)
	})
}
