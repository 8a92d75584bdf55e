package api

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"wirebench/codec/transport"
	"wirebench/server/access"
	"wirebench/server/captures"
	"wirebench/server/live"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

type proposalsOutput struct{ Body ProposalList }

// ProposalList lists the proposals for a capture.
type ProposalList struct {
	Proposals []captures.Proposal `json:"proposals" doc:"apply the settings of one with PATCH of the capture"`
	Dismissed []string            `json:"dismissed" doc:"ids of proposals that were dismissed and are omitted"`
}

// proposalsOf lists the proposals for a capture. It waits a while for the file to be read.
func (s *API) proposalsOf(ctx context.Context, in *CapturePath) (*proposalsOutput, error) {
	ws, x, err := s.captureAt(*in)
	if err != nil {
		return nil, err
	}
	open, err := s.Captures.Use(ws.Workspace, ws.Snapshot, x)
	if err != nil {
		return nil, captureProblem(err)
	}
	defer s.Captures.LetGo(open)
	whole, err := open.Wait(ctx)
	if err != nil {
		return nil, err
	}
	var same []*workspace.Workspace // other projects with this protocol
	for _, w := range s.Projects.Seen(access.From(ctx).Sees).All() {
		if w != ws.Workspace && w.Dialect == ws.Dialect.Name && w.Captures != nil {
			same = append(same, w)
		}
	}
	all := captures.Propose(ctx, ws.Workspace, x, open, same)
	if here, few := fewMessages(open.Log()); whole && few && !open.Running() {
		found, err := s.elsewhere(ctx, ws, x)
		if err != nil {
			return nil, err
		}
		if other := proposeProtocols(found, here); len(other) > 0 {
			// Frames of another protocol look encrypted; keys would be for nothing.
			all = append(other, slices.DeleteFunc(all, func(p captures.Proposal) bool { return p.Kind == "keys" })...)
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

// fewMessages counts the messages of a log. few reports that they have at most a tenth of its bytes: some bytes of another protocol can look
// like a message.
func fewMessages(log *live.Log) (n int, few bool) {
	var messages, all int64 // bytes
	log.Each(log.Base(), log.Len(), func(_ int, e live.Entry, _ []byte) bool {
		all += int64(e.Len)
		if e.Kind == transport.Message {
			n++
			messages += int64(e.Len)
		}
		return n <= manyMessages
	})
	return n, n <= manyMessages && messages*10 <= all
}

// Bounds of proposing another protocol.
const (
	manyMessages  = 100 // in a capture that is of its protocol in any case
	fewestOfOther = 3   // messages that are evidence for another protocol
	leastOfOther  = 25  // percent of the bytes that it must explain: bytes of any protocol can look like some messages
)

// proposeProtocols proposes the projects whose protocols find clearly more messages than the n found here, the one that explains most first.
func proposeProtocols(found []Elsewhere, n int) (out []captures.Proposal) {
	slices.SortStableFunc(found, func(a, b Elsewhere) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(b.Frames, a.Frames))
	})
	here := "no messages here"
	if n == 1 {
		here = "1 message here"
	} else if n > 1 {
		here = fmt.Sprintf("%d messages here", n)
	}
	for _, e := range found {
		if e.Frames < fewestOfOther || e.Frames < 3*n || e.Share < leastOfOther || e.Share*2 < found[0].Share {
			continue
		}
		out = append(out, captures.Proposal{
			ID: "open:" + e.Name, Kind: "open", Text: "open it in " + e.Title, Project: e.Name,
			Evidence: fmt.Sprintf("%s; the protocol of %s finds %d in its first part, %d %% of its bytes", here, e.Title, e.Frames, e.Share),
		})
	}
	return out
}

// dismiss adds and removes dismissed proposals.
func dismiss(x *store.Capture, add, remove []string) {
	x.Dismissed = slices.DeleteFunc(slices.Clone(x.Dismissed), func(id string) bool { return slices.Contains(remove, id) || slices.Contains(add, id) })
	x.Dismissed = append(x.Dismissed, add...)
	x.Dismissed = x.Dismissed[max(0, len(x.Dismissed)-store.MaxDismissed):]
}
