package api

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/admit"
	"wirebench/server/answer"
	"wirebench/server/captures"
	"wirebench/server/relay"
	"wirebench/server/workspace"
)

// API is the JSON routes. All fields must be set.
type API struct {
	Workspaces []*workspace.Workspace // each with a name of its own
	Captures   *captures.Set
	Relays     *relay.Set
	Log        *slog.Logger

	// ReplayChanged is called when a replay of a workspace stands otherwise than before.
	ReplayChanged func(ws, id string)

	replays  *replaySet
	clearing chan struct{} // has one for each capture that is deciphered anew
}

// New makes an API of what the exported fields say.
func New(a API) *API {
	a.replays, a.clearing = newReplaySet(), make(chan struct{}, maxClearAtOnce)
	return &a
}

// Bounds of what a request may bring.
const (
	MaxBody      = 8 << 20 // of messages and definitions
	MaxSmallBody = 4 << 20
)

// space is a workspace as it is now: what one request sees stays as it is while the library changes.
type space struct {
	*workspace.Workspace
	*workspace.Snapshot
}

// title is the name of the workspace for people.
func (ws *space) title() string { return ws.Workspace.Title }

// workspaceNamed finds a workspace, or says which there are.
func (s *API) workspaceNamed(name string) (*space, error) {
	var names []string
	for _, w := range s.Workspaces {
		if w.Name == name {
			return &space{w, w.Now()}, nil
		}
		names = append(names, w.Name)
	}
	slices.Sort(names)
	return nil, huma.Error404NotFound(fmt.Sprintf("no workspace %q; there are: %s", name, strings.Join(names, ", ")))
}

// admitted waits until there is memory for the work of a request. The error is one of the API.
func admitted(ctx context.Context, kind admit.Kind, size, each int) error {
	return answer.Busy(admit.Wait(ctx, kind, size, each))
}

const (
	judgeTime = 40 * time.Millisecond // of judging frames, between two looks at whether the request has ended
	stopTime  = 5 * time.Second       // for what is stopped to end
)
