package api

import (
	"context"
	"fmt"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/transport"
	"wirebench/server/captures"
	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

func (s *API) registerCapturesProposals(api huma.API) {
	add(api, "GET /api/v1/{ws}/captures/{id}/proposals", "proposals", "Better ways to read a capture, with the evidence", s.proposalsOf, status(422, 503))
}

type proposalsOutput struct{ Body ProposalList }

// ProposalList lists the proposals for a capture.
type ProposalList struct {
	Proposals []captures.Proposal `json:"proposals" doc:"apply the settings of one with PATCH of the capture"`
	Dismissed []string            `json:"dismissed" doc:"ids of proposals that were dismissed and are omitted"`
}

// proposalsOf lists what the frames of a capture suggest. It waits a while for the file to be read.
func (s *API) proposalsOf(ctx context.Context, in *CapturePath) (*proposalsOutput, error) {
	ws, x, err := s.captureAt(*in)
	if err != nil {
		return nil, err
	}
	var open *captures.Capture
	for held := false; !held; held = s.Captures.Hold(open) {
		if open, err = s.Captures.Get(ws.Workspace, ws.Snapshot, x); err != nil {
			return nil, captureProblem(err)
		}
	}
	defer s.Captures.LetGo(open)
	whole, err := open.Wait(ctx)
	if err != nil {
		return nil, err
	}
	var same []*workspace.Workspace // other projects with this protocol
	for _, w := range s.Projects.All() {
		if w != ws.Workspace && w.Dialect == ws.Dialect.Name && w.Captures != nil {
			same = append(same, w)
		}
	}
	all := captures.Propose(ctx, ws.Workspace, x, open, same)
	if whole && !open.Running() && !hasMessages(open.Log()) {
		found, err := s.elsewhere(ctx, ws, x)
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			all = append(all, captures.Proposal{
				ID: "open:" + e.Name, Kind: "open", Text: "open it in " + e.Title, Project: e.Name,
				Evidence: fmt.Sprintf("no messages here; the protocol of %s finds %d in its first part", e.Title, e.Frames),
			})
		}
	}
	out := &proposalsOutput{ProposalList{[]captures.Proposal{}, []string{}}}
	for _, p := range all {
		if slices.Contains(x.Dismissed, p.ID) {
			out.Body.Dismissed = append(out.Body.Dismissed, p.ID)
		} else {
			out.Body.Proposals = append(out.Body.Proposals, p)
		}
	}
	return out, nil
}

// hasMessages reports whether a log has a message.
func hasMessages(log *live.Log) (found bool) {
	log.Each(log.Base(), log.Len(), func(_ int, e live.Entry, _ []byte) bool {
		found = e.Kind == transport.Message
		return !found
	})
	return found
}

// dismiss adds and removes dismissed proposals.
func dismiss(x *store.Capture, add, remove []string) {
	x.Dismissed = slices.DeleteFunc(slices.Clone(x.Dismissed), func(id string) bool { return slices.Contains(remove, id) || slices.Contains(add, id) })
	x.Dismissed = append(x.Dismissed, add...)
	x.Dismissed = x.Dismissed[max(0, len(x.Dismissed)-store.MaxDismissed):]
}
