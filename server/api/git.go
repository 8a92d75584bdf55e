package api

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/access"
	"wirebench/server/git"
	"wirebench/server/history"
	"wirebench/server/rooms"
	"wirebench/server/workspace"
)

// folderOf returns the folder of the definitions of a workspace, "" if they are in none, and the one above which no repository counts: that of
// the project, if the definitions are in it.
func folderOf(ws *workspace.Workspace) (dir, top string) {
	in, ok := ws.Files.(interface{ Path(name string) string })
	if !ok {
		return "", ""
	}
	if ws.Home != nil {
		top = ws.Home.Path("")
	}
	return in.Path(""), top
}

// GitOf returns the repository that the definitions of a workspace are in, nil for none.
func (s *API) GitOf(ws *workspace.Workspace) *git.Here {
	dir, top := folderOf(ws)
	if dir == "" {
		return nil
	}
	return git.Look(dir, top)
}

// TopicGit is the topic of changes of files that may be in a git repository, and of its commits.
const TopicGit = "git"

// repo returns the repository of a workspace.
func (s *API) repo(ctx context.Context, name string) (*space, *git.Repo, error) {
	ws, err := s.workspaceNamed(name)
	if err != nil {
		return nil, nil, err
	}
	switch here := s.GitOf(ws.Workspace); {
	case here == nil:
		return ws, nil, git.ErrNone
	case here.Missing:
		return ws, nil, git.ErrMissing
	}
	dir, _ := folderOf(ws.Workspace)
	if known, ok := s.repos.Load(dir); ok {
		return ws, known.(*git.Repo), nil
	}
	r, err := git.Open(ctx, dir, s.GitRemote)
	if err != nil {
		return ws, nil, err
	}
	known, _ := s.repos.LoadOrStore(dir, r)
	return ws, known.(*git.Repo), nil
}

type gitOutput struct{ Body *git.Status }

// gitStatus returns the state of the repository.
func (s *API) gitStatus(ctx context.Context, in *workspaceInput) (*gitOutput, error) {
	ws, r, err := s.repo(ctx, in.Workspace)
	if none := errors.Is(err, git.ErrNone); ws != nil && (none || errors.Is(err, git.ErrMissing)) {
		return &gitOutput{&git.Status{None: none, Missing: !none, Changes: []git.Change{}}}, nil
	}
	if err != nil {
		return nil, StoreProblem(err)
	}
	out, err := r.Status(ctx, workspace.IsLibraryFile)
	return &gitOutput{out}, StoreProblem(err)
}

type gitTextInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	File      string `query:"file" required:"true" maxLength:"500"`
}

type gitTextOutput struct {
	Body struct {
		Text string `json:"text" doc:"empty if it was not there"`
	}
}

// gitText returns a definition as it was at the last commit.
func (s *API) gitText(ctx context.Context, in *gitTextInput) (*gitTextOutput, error) {
	_, r, err := s.repo(ctx, in.Workspace)
	if err != nil {
		return nil, StoreProblem(err)
	}
	if !workspace.IsLibraryFile(in.File) {
		return nil, huma.Error404NotFound("not a definition: " + in.File)
	}
	out := &gitTextOutput{}
	out.Body.Text, err = r.Text(ctx, "HEAD", in.File)
	return out, StoreProblem(err)
}

// CommitBody is what is to be committed.
type CommitBody struct {
	Files   []string `json:"files" maxItems:"5000"`
	Message string   `json:"message" maxLength:"16384"`
	Name    string   `json:"name,omitempty" maxLength:"200" doc:"of the person, where people do not sign in"`
}

type commitInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Body      CommitBody
}

// gitCommit commits files.
func (s *API) gitCommit(ctx context.Context, in *commitInput) (*gitOutput, error) {
	ws, r, err := s.repo(ctx, in.Workspace)
	if err != nil {
		return nil, StoreProblem(err)
	}
	for _, f := range in.Body.Files {
		if !workspace.IsLibraryFile(f) {
			return nil, huma.Error422UnprocessableEntity("not a file of the project: " + f)
		}
	}
	by := git.Person{Name: author(ctx, in.Body.Name)}
	s.Rooms.Settle(ws.Workspace)
	if err := r.Commit(ctx, in.Body.Files, in.Body.Message, by, s.coAuthors(ctx, ws, r, in.Body.Files, by.Name)); err != nil {
		return nil, StoreProblem(err)
	}
	s.Tell(ws.Workspace.Name, TopicGit)
	out, err := r.Status(ctx, workspace.IsLibraryFile)
	return &gitOutput{out}, StoreProblem(err)
}

// maxCoAuthors bounds the people named in a commit.
const maxCoAuthors = 20

// coAuthors returns who else has changed files since their last commits.
func (s *API) coAuthors(ctx context.Context, ws *space, r *git.Repo, files []string, but string) (out []git.Person) {
	seen := map[string]bool{but: true, history.Outside: true, rooms.ChosenName(""): true}
	begun := time.Now()
	for _, f := range files {
		if time.Since(begun) > 2*time.Second { // of thousands of files
			return out
		}
		past, err := ws.History.Of(f)
		if err != nil || len(past) == 0 {
			continue
		}
		since := r.Since(ctx, f)
		for _, x := range past {
			if !x.At.After(since) {
				break
			}
			for _, who := range x.Who {
				if !seen[who] && len(out) < maxCoAuthors {
					seen[who] = true
					out = append(out, git.Person{Name: who})
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b git.Person) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// PullBody has the texts of files that both sides have changed.
type PullBody struct {
	Name    string            `json:"name,omitempty" maxLength:"200" doc:"of the person, where people do not sign in"`
	Choices map[string]string `json:"choices,omitempty" doc:"texts of files with a conflict"`
}

type pullInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Body      PullBody
}

type pullOutput struct{ Body *git.Pulled }

// gitPull takes the commits of the remote.
func (s *API) gitPull(ctx context.Context, in *pullInput) (*pullOutput, error) {
	ws, r, err := s.repo(ctx, in.Workspace)
	if err != nil {
		return nil, StoreProblem(err)
	}
	s.Rooms.Settle(ws.Workspace)
	by := git.Person{Name: author(ctx, in.Body.Name)}
	if access.From(ctx).ID == "" && in.Body.Name == "" {
		by.Name = "Wirebench"
	}
	out, err := r.Pull(ctx, by, in.Body.Choices)
	if err != nil {
		return nil, StoreProblem(err)
	}
	if out.Commits > 0 {
		if err := ws.Reload(); err != nil {
			s.Log.Error("reload the library", "project", ws.Workspace.Name, "error", err)
		}
	}
	s.Tell(ws.Workspace.Name, TopicGit)
	return &pullOutput{out}, nil
}
