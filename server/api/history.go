package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/access"
	"wirebench/server/history"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

type historyInput struct{ FilePath }

type historyOutput struct{ Body HistoryList }

// HistoryList is the history of a definition.
type HistoryList struct {
	File      string                 `json:"file"`
	Revisions []history.PastRevision `json:"revisions" doc:"newest first; the last one is the text before the first change"`
}

// listHistory lists the revisions of a definition.
func (s *API) listHistory(_ context.Context, in *historyInput) (*historyOutput, error) {
	ws, name, err := s.historyOf(in.FilePath)
	if err != nil {
		return nil, err
	}
	out := &historyOutput{Body: HistoryList{File: name}}
	out.Body.Revisions, err = ws.History.Of(name)
	return out, StoreProblem(err)
}

// historyOf returns the workspace and the whole name of a file. The file may have been deleted.
func (s *API) historyOf(at FilePath) (ws *space, name string, err error) {
	if ws, err = s.workspaceNamed(at.Workspace); err != nil {
		return nil, "", err
	}
	f, err := ws.fileNamed(at.File)
	if err == nil {
		return ws, f.Name, nil
	}
	if list, err := ws.History.Of(at.File); err != nil || len(list) == 0 {
		return nil, "", huma.Error404NotFound("no definition, and no history, of " + at.File)
	}
	return ws, at.File, nil
}

type revisionInput struct {
	FilePath
	ID string `path:"id" maxLength:"40" doc:"id of the revision"`
}

type revisionOutput struct {
	Body struct {
		Text string `json:"text" doc:"with LF at the ends of lines"`
	}
}

// readRevision returns the text of a revision.
func (s *API) readRevision(_ context.Context, in *revisionInput) (*revisionOutput, error) {
	ws, name, err := s.historyOf(in.FilePath)
	if err != nil {
		return nil, err
	}
	out := &revisionOutput{}
	out.Body.Text, err = ws.History.Text(name, in.ID)
	return out, StoreProblem(err)
}

type nameRevisionInput struct {
	FilePath
	ID   string `path:"id" maxLength:"40" doc:"id of the revision"`
	Body struct {
		Name string `json:"name" maxLength:"100" doc:"empty to remove the name"`
	}
}

// nameRevision names a revision.
func (s *API) nameRevision(_ context.Context, in *nameRevisionInput) (*struct{}, error) {
	ws, name, err := s.historyOf(in.FilePath)
	if err != nil {
		return nil, err
	}
	return nil, StoreProblem(ws.History.Name(name, in.ID, in.Body.Name))
}

type purgedOutput struct{ Body *workspace.Purged }

// forgetHistory removes the earlier texts of a definition.
func (s *API) forgetHistory(ctx context.Context, in *historyInput) (*purgedOutput, error) {
	ws, name, err := s.historyOf(in.FilePath)
	if err != nil {
		return nil, err
	}
	s.Rooms.Settle(ws.Workspace) // a text that is written afterwards would make a revision of the one before
	out, err := ws.Purge(name)
	if err != nil {
		return nil, StoreProblem(err)
	}
	for _, name := range out.Names {
		if err := s.Rooms.Forget(ws.Workspace, name); err != nil {
			return nil, StoreProblem(err)
		}
	}
	if _, _, err := s.repo(ctx, ws.Workspace.Name); err == nil {
		out.Stays = append(out.Stays, "commits of git")
	}
	out.Stays = append(out.Stays, "backups, and copies made before upgrades in the folder "+store.SetAside, "texts that browsers keep until they are stored")
	return &purgedOutput{out}, nil
}

// authors returns the person of a request, for the history; nil without a name.
func authors(ctx context.Context) []string {
	if name := access.From(ctx).Name; name != "" {
		return []string{name}
	}
	return nil
}
