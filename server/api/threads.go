package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/defs"
	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/server/access"
	"wirebench/server/admit"
	"wirebench/server/rooms"
	"wirebench/server/workspace"
)

// ThreadList is the comments and suggestions of a project.
type ThreadList struct {
	Threads []workspace.Thread `json:"threads" doc:"the newest change first"`
	Open    int                `json:"open" doc:"how many are open, of the whole project"`
	You     string             `json:"you" doc:"the name of the person who asks; empty if they have none"`
}

type threadsInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	File      string `query:"file" maxLength:"500" doc:"only those on this definition"`
	Capture   string `query:"capture" maxLength:"100" doc:"only those on bytes of this capture"`
	Closed    bool   `query:"closed" doc:"also those that are resolved, accepted or declined"`
	Mine      bool   `query:"mine" doc:"only those that concern the person who asks"`
	Name      string `query:"name" maxLength:"200" doc:"of that person, where people do not sign in"`
}

type threadsOutput struct{ Body ThreadList }

// listThreads lists comments and suggestions.
func (s *API) listThreads(ctx context.Context, in *threadsInput) (*threadsOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	all, err := ws.Threads()
	if err != nil {
		return nil, StoreProblem(err)
	}
	out := &threadsOutput{ThreadList{Threads: []workspace.Thread{}}}
	if access.From(ctx).ID != "" || in.Name != "" {
		out.Body.You = author(ctx, in.Name)
	}
	concerns := workspace.Concerning(out.Body.You, access.From(ctx).Lacks(s.byID["accept-suggestion"].Needs, ws.Workspace.Name) == "")
	for _, x := range all {
		x.Concerns = concerns(x)
		if x.Open {
			out.Body.Open++
		}
		if (x.Open || in.Closed) && (x.Concerns || !in.Mine) && (in.File == "" || x.File == in.File) && (in.Capture == "" || x.Capture == in.Capture) {
			out.Body.Threads = append(out.Body.Threads, x)
		}
	}
	return out, nil
}

// author returns the name of the person of a request; without accounts people choose theirs.
func author(ctx context.Context, chosen string) string {
	if who := access.From(ctx); who.ID != "" {
		return who.Name
	}
	return rooms.ChosenName(chosen)
}

// SuggestBody is what a suggestion consists of: a text, or codes.
type SuggestBody struct {
	Base  string                `json:"base,omitempty" doc:"the text that was changed; empty for a new file"`
	Text  string                `json:"text,omitempty" doc:"the text that is suggested"`
	Codes []workspace.GivenCode `json:"codes,omitempty" maxItems:"5000" doc:"instead of texts: codes of messages, for the code map file, or the one in use, or a new one"`
}

// BeginBody is what a comment or a suggestion is begun with.
type BeginBody struct {
	Name    string       `json:"name,omitempty" maxLength:"200" doc:"of the person, where people do not sign in"`
	Text    string       `json:"text" maxLength:"8000" doc:"the comment, or why the text is suggested"`
	File    string       `json:"file,omitempty" maxLength:"500" doc:"the definition"`
	Line    int          `json:"line,omitempty" doc:"of the stored text, from 1"`
	Suggest *SuggestBody `json:"suggest,omitempty" doc:"a suggestion; line may be missing. A file that does not exist is made when the suggestion is accepted"`
	Capture string       `json:"capture,omitempty" maxLength:"100" doc:"id of a capture, instead of a definition"`
	Frame   int          `json:"frame,omitempty" minimum:"1" doc:"number of the frame"`
	Offset  int          `json:"offset,omitempty" minimum:"0" doc:"of its bytes"`
	Length  int          `json:"length,omitempty" minimum:"0" doc:"bytes"`
}

type beginInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Body      BeginBody
}

type threadOutput struct{ Body workspace.Thread }

// beginThread begins a comment or a suggestion.
func (s *API) beginThread(ctx context.Context, in *beginInput) (*threadOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	b := in.Body
	n := workspace.NewThread{Line: b.Line, Text: b.Text, Capture: b.Capture, Frame: b.Frame, Offset: b.Offset, Length: b.Length}
	if b.Suggest != nil {
		n.Suggestion = &workspace.Suggestion{Base: b.Suggest.Base, Text: b.Suggest.Text}
	}
	switch {
	case b.Suggest != nil && len(b.Suggest.Codes) > 0:
		if b.Suggest.Base+b.Suggest.Text != "" {
			return nil, huma.Error422UnprocessableEntity("a suggestion has either a text or codes")
		}
		if n.File, n.Suggestion, err = ws.SuggestCodes(workspace.GivenCodes{Codes: b.Suggest.Codes, Map: b.File}); err != nil {
			return nil, StoreProblem(err)
		}
	case b.File != "":
		f, err := ws.fileNamed(b.File)
		switch {
		case err == nil:
			n.File = f.Name
		case b.Suggest != nil && b.Suggest.Base == "" && is404(err):
			n.File = b.File
		default:
			return nil, err
		}
	case b.Capture == "" || b.Frame == 0:
		return nil, huma.Error422UnprocessableEntity("a comment is on a line of a file, or on a frame of a capture")
	default:
		if ws.Captures == nil {
			return nil, huma.Error404NotFound("the project has no captures")
		}
		if _, err := ws.Captures.Get(b.Capture); err != nil {
			return nil, StoreProblem(err)
		}
	}
	return s.thread(ws)(ws.Begin(author(ctx, b.Name), n))
}

// thread returns a function that answers with a thread after a change, and tells the pages.
func (s *API) thread(ws *space) func(x workspace.Thread, err error) (*threadOutput, error) {
	return func(x workspace.Thread, err error) (*threadOutput, error) {
		if err != nil {
			return nil, StoreProblem(err)
		}
		s.Tell(ws.Workspace.Name, TopicThreads)
		return &threadOutput{x}, nil
	}
}

// TopicThreads is the topic of changes of comments and suggestions.
const TopicThreads = "threads"

// ThreadPath is the address of a thread.
type ThreadPath struct {
	Workspace string `path:"project" doc:"name of the project"`
	ID        string `path:"id" maxLength:"40" doc:"of the comment or suggestion"`
}

type answerInput struct {
	ThreadPath
	Body struct {
		Name string `json:"name,omitempty" maxLength:"200" doc:"of the person, where people do not sign in"`
		Text string `json:"text" maxLength:"8000"`
	}
}

// answerThread adds a remark.
func (s *API) answerThread(ctx context.Context, in *answerInput) (*threadOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	return s.thread(ws)(ws.Answer(author(ctx, in.Body.Name), in.ID, in.Body.Text))
}

type resolveInput struct {
	ThreadPath
	Body struct {
		Name string `json:"name,omitempty" maxLength:"200" doc:"of the person, where people do not sign in"`
		Open bool   `json:"open"`
	}
}

// resolveThread closes or opens a thread.
func (s *API) resolveThread(ctx context.Context, in *resolveInput) (*threadOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	return s.thread(ws)(ws.Resolve(author(ctx, in.Body.Name), in.ID, in.Body.Open))
}

type mergedOutput struct {
	Body MergedText
}

// MergedText is what a suggestion would change now.
type MergedText struct {
	Now      string              `json:"now" doc:"the stored text; empty if there is none"`
	Merged   string              `json:"merged" doc:"with the changes of the suggestion; where both changed a place, both texts are there"`
	Compared ComparedDefinitions `json:"compared" doc:"of both; a file without messages, and a new one, has no layout to compare"`
	Mistakes []diag.Info         `json:"mistakes,omitempty" doc:"of the merged text"`
	Named    *int                `json:"named,omitempty" doc:"of a code map: how many messages of the captures have a code that gets a name; absent while captures are read"`
}

// mergedThread returns what a suggestion would change; of one that is closed, what it was to change.
func (s *API) mergedThread(ctx context.Context, in *ThreadPath) (*mergedOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	x, now, merged, err := ws.Merged(in.ID)
	if err != nil {
		return nil, StoreProblem(err)
	}
	if err := admitted(ctx, admit.Layout, len(now)+len(merged), admit.PerCompiled); err != nil {
		return nil, err
	}
	before, after := ws.OpenFile(x.File, now), ws.OpenFile(x.File, merged)
	out := &mergedOutput{MergedText{Now: now, Merged: merged, Mistakes: after.Diagnostics}}
	switch c := &out.Body.Compared; {
	case before.Program == nil:
		c.NoLayout = "the present text has no layout"
	case after.Program == nil:
		c.NoLayout = "the suggested text has no layout"
	}
	out.Body.Compared.fill(before, after)
	if codes := ws.Snapshot.Dialect.Codes; codes != nil && codes.Is(x.File) {
		out.Body.Named = s.named(ctx, ws, before.File, after.File)
	}
	return out, nil
}

// named counts the messages of captures whose codes have a name in one code map and in no other text of it; nil if they are still being read.
func (s *API) named(ctx context.Context, ws *space, before, after *source.File) *int {
	codes := map[uint32]bool{}
	for i, f := range []*source.File{after, before} {
		given, _ := defs.ParseCodeMap(f)
		for _, code := range given {
			codes[code] = i == 0
		}
	}
	board := s.Scores.Of(ws.Workspace)
	for until := time.Now().Add(maxNamed); ; {
		changed := board.Changed()
		if n, whole := board.Coded(func(code uint32) bool { return codes[code] }); whole {
			return &n
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(until)):
			return nil
		}
	}
}

// maxNamed is how long a suggestion for a code map waits for captures to be read.
const maxNamed = 2 * time.Second

type acceptInput struct {
	ThreadPath
	Body struct {
		Name string `json:"name,omitempty" maxLength:"200" doc:"of the person, where people do not sign in"`
	}
}

// acceptThread accepts a suggestion.
func (s *API) acceptThread(ctx context.Context, in *acceptInput) (*threadOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	return s.thread(ws)(ws.Accept(author(ctx, in.Body.Name), in.ID))
}

// dropThread deletes a thread.
func (s *API) dropThread(_ context.Context, in *ThreadPath) (*struct{}, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	if err := ws.Forget(in.ID); err != nil {
		return nil, StoreProblem(err)
	}
	s.Tell(ws.Workspace.Name, TopicThreads)
	return nil, nil
}
