package page

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"wirebench/server/api"
	"wirebench/server/socket"
)

// Topics of notifications. Those about a single object end in its id, as in "held:ID".
const (
	TopicCaptures  = "captures"  // the list of captures
	TopicGrowth    = "growth"    // the sizes of captures
	TopicListeners = "listeners" // which listeners run
	TopicTraffic   = "traffic"   // the counters of running listeners
	TopicHeld      = "held:"     // held messages of a session
	TopicReplay    = "replay:"   // state of a replay
	TopicProjects  = "projects"  // the list of projects
	TopicPeople    = "people"    // who edits which definitions; api.TopicThreads and api.TopicGit are others
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
	ws        string
	traffic   bool // it shows that
	listeners func() *api.ListenerList
	wake      chan struct{}

	mu     sync.Mutex
	topics []string // changed since the last notification
}

// Tell reports a change of a topic of a project to its pages.
func (p *Pushes) Tell(ws, topic string) {
	p.tell(topic, func(page *pushedPage) bool {
		return page.ws == ws && (page.traffic || topic != TopicTraffic && topic != TopicGrowth)
	})
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

// join registers a page, until leave. It is told at once which listeners run.
func (p *Pushes) join(page *pushedPage) (leave func()) {
	page.topics, page.wake = []string{TopicListeners}, make(chan struct{}, 1)
	page.wake <- struct{}{}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pages == nil {
		p.pages = map[*pushedPage]struct{}{}
	}
	p.pages[page] = struct{}{}
	return func() {
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
	Changed   []string          `json:"changed"`             // topics
	Listeners *api.ListenerList `json:"listeners,omitempty"` // of now, when they or their traffic have changed
}

// PushedOpened opens the channel of notifications.
type PushedOpened struct {
	Traffic bool `json:"traffic,omitempty"` // the page shows the counters of listeners and the sizes of captures
}

// Channel returns the channel for notifications to the pages of a workspace. Watch registers a page that shows traffic, until leave.
func (p *Pushes) Channel(ws string, listeners func() *api.ListenerList, watch func() (leave func())) socket.Kind {
	return socket.Kind{Serve: func(ctx context.Context, c *socket.Channel, with json.RawMessage) error {
		var opened PushedOpened
		if err := json.Unmarshal(with, &opened); len(with) > 0 && err != nil {
			return err
		}
		page := &pushedPage{ws: ws, traffic: opened.Traffic, listeners: listeners}
		defer p.join(page)()
		if page.traffic {
			defer watch()()
		}
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
		m := Pushed{Changed: topics}
		if slices.Contains(topics, TopicListeners) || slices.Contains(topics, TopicTraffic) {
			m.Listeners = p.listeners()
		}
		if err := c.Send(ctx, m); err != nil {
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
