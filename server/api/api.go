package api

import (
	"context"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/access"
	"wirebench/server/admit"
	"wirebench/server/answer"
	"wirebench/server/captures"
	"wirebench/server/cluster"
	"wirebench/server/ingest"
	"wirebench/server/projects"
	"wirebench/server/relay"
	"wirebench/server/retain"
	"wirebench/server/rooms"
	"wirebench/server/runs"
	"wirebench/server/scores"
	"wirebench/server/workspace"
)

// API serves the JSON routes. All fields but Door, Lake and Cluster must be set.
type API struct {
	Projects  *projects.Set
	Captures  *captures.Set
	Relays    *relay.Set
	Remote    Remote // nil: there are no collectors
	Runs      *runs.Set
	Rooms     *rooms.Set
	Scores    *scores.Set
	Retention *retain.Set
	Log       *slog.Logger
	Tell      func(ws, topic string) // tells the pages of a project of a change
	GitRemote string                 // from which pull takes; "" for none
	Door      *access.Door           // nil admits everybody, and there are no accounts
	Lake      *ingest.Feed           // nil if there is none
	Cluster   *cluster.Node          // nil: the server is alone

	groups  []Group // of operations
	byID    map[string]*Operation
	at      map[string]*Operation // by route
	schemas huma.Registry         // of a client

	repos    *sync.Map     // *git.Repo by folder
	clearing chan struct{} // a semaphore of requests that decrypt a capture again
}

// New returns an API with the configuration in x.
func New(a API) *API {
	a.clearing, a.repos, a.byID, a.at = make(chan struct{}, maxClearAtOnce), &sync.Map{}, map[string]*Operation{}, map[string]*Operation{}
	a.groups = a.table()
	for _, g := range a.groups {
		for _, o := range g.Operations {
			a.byID[o.OperationID], a.at[o.Needs.Name] = o, o
		}
	}
	return &a
}

// Limits of request bodies.
const (
	MaxBody      = 8 << 20 // of messages and definitions
	MaxSmallBody = 4 << 20
)

// space is a workspace with one snapshot: a request sees the same library throughout, even while it changes.
type space struct {
	*workspace.Workspace
	*workspace.Snapshot
}

// title returns the display name of the workspace.
func (ws *space) title() string { return ws.Workspace.Title() }

// workspaceNamed finds a workspace.
func (s *API) workspaceNamed(name string) (*space, error) {
	w, err := s.Projects.Get(name)
	if err != nil {
		return nil, huma.Error404NotFound(err.Error())
	}
	return &space{w, w.Now()}, nil
}

// admitted waits until there is memory for the work of a request. The error has an HTTP status.
func admitted(ctx context.Context, kind admit.Kind, size, each int) error {
	return answer.Busy(admit.Wait(ctx, kind, size, each))
}

const (
	judgeTime = 40 * time.Millisecond // of evaluating frames between two checks for cancellation
	stopTime  = 5 * time.Second       // for stopped listeners and replays to end
)

// addressBelow returns the address of a thing of a project.
func addressBelow(project, kind, id string) string {
	return addressOfProject(project) + "/" + kind + "/" + url.PathEscape(id)
}
