package page

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"wirebench/server/socket"
)

// Topics of notifications. Those about a single object end in its id, as in "held:ID".
const (
	TopicCaptures  = "captures"  // the list of captures
	TopicListeners = "listeners" // running listeners, and their counters
	TopicHeld      = "held:"     // held messages of a session
	TopicReplay    = "replay:"   // state of a replay
	TopicProjects  = "projects"  // the list of projects
	TopicPeople    = "people"    // who edits which definitions; api.TopicThreads is one more
)

// Bounds of notifications.
const (
	pushPause = 100 * time.Millisecond // between two messages to one page
)

// Pushes notifies the open pages of a workspace of changes. Nothing is sent while nothing changes.
type Pushes struct {
	mu    sync.Mutex
	pages map[*pushedPage]struct{}
}

// pushedPage is a page that receives notifications.
type pushedPage struct {
	ws   string
	wake chan struct{}

	mu     sync.Mutex
	topics []string // changed since the last notification
}

// Tell reports a change of a topic of a project to its pages.
func (p *Pushes) Tell(ws, topic string) {
	p.tell(topic, func(page *pushedPage) bool { return page.ws == ws })
}

// TellAll reports a change of a topic to the pages of all projects.
func (p *Pushes) TellAll(topic string) { p.tell(topic, func(*pushedPage) bool { return true }) }

func (p *Pushes) tell(topic string, to func(*pushedPage) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for page := range p.pages {
		if !to(page) {
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

// join registers a page, until leave.
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

// Count returns the number of registered pages.
func (p *Pushes) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pages)
}

// Pushed is a notification.
type Pushed struct {
	Changed []string `json:"changed"` // topics
}

// Channel returns the channel for notifications to the pages of a workspace.
func (p *Pushes) Channel(ws string) socket.Kind {
	return socket.Kind{Serve: func(ctx context.Context, c *socket.Channel, _ json.RawMessage) error {
		page, leave := p.join(ws)
		defer leave()
		return page.run(ctx, c)
	}}
}

// run sends notifications until the context is done.
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
		if len(topics) == 0 { // sent with the previous message
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
