package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Conflict is a file that both sides have changed at one place.
type Conflict struct {
	File   string `json:"file"`
	Ours   string `json:"ours" doc:"the text here"`
	Theirs string `json:"theirs" doc:"the text of the remote"`
	Base   string `json:"base" doc:"the text that both come from"`
}

// Pulled is what a pull has done.
type Pulled struct {
	Commits   int        `json:"commits" doc:"taken over"`
	Merged    bool       `json:"merged,omitempty" doc:"by a merge"`
	Conflicts []Conflict `json:"conflicts,omitempty" doc:"nothing was changed: pull again with a choice for each file"`
}

// Choices say for files with a conflict which text they get.
type Choices map[string]string

// Pull takes the commits of the branch from the remote. Files that are changed here and there must be committed first. Conflicts leave
// everything as it is, unless choices has a text for each of them.
func (r *Repo) Pull(ctx context.Context, by Person, choices Choices) (*Pulled, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.remote == "" {
		return nil, &Error{"no remote is chosen: start the server with --git-remote"}
	}
	if err := r.harmless(ctx); err != nil {
		return nil, err
	}
	out, err := r.run(ctx, nil, "symbolic-ref", "--quiet", "--short", "HEAD")
	branch := strings.TrimSpace(string(out))
	if err != nil || branch == "" || strings.HasPrefix(branch, "-") {
		return nil, &Error{"no branch is checked out"}
	}
	if _, err := r.call(ctx, networkTime, nil, nil, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--", r.remote, "refs/heads/"+branch); err != nil {
		return nil, err
	}
	count, err := r.run(ctx, nil, "rev-list", "--count", "HEAD..FETCH_HEAD")
	if err != nil {
		return nil, err
	}
	p := &Pulled{}
	if _, err := fmt.Sscan(string(count), &p.Commits); err != nil || p.Commits == 0 {
		return p, err
	}
	to := "FETCH_HEAD"
	if _, err := r.run(ctx, nil, "merge-base", "--is-ancestor", "HEAD", "FETCH_HEAD"); err != nil {
		if to, p.Conflicts, err = r.merged(ctx, by, choices); err != nil {
			return nil, err
		}
		if len(p.Conflicts) > 0 {
			p.Commits = 0
			return p, nil
		}
		p.Merged = true
	}
	if _, err := r.call(ctx, callTime, nil, by.env(), "merge", "--quiet", "--ff-only", "--no-verify", "--no-autostash", to); err != nil {
		if files := r.blocking(ctx, to); len(files) > 0 {
			return nil, &Error{"commit these first, which the remote has changed, too: " + strings.Join(files, ", ")}
		}
		return nil, err
	}
	return p, nil
}

// blocking returns the files with changes that are not committed and differ between HEAD and a commit.
func (r *Repo) blocking(ctx context.Context, to string) []string {
	changed, err := r.run(ctx, nil, "diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "HEAD", to)
	if err != nil {
		return nil
	}
	s, err := r.status(ctx, func(string) bool { return true })
	if err != nil {
		return nil
	}
	var out []string
	for file := range strings.SplitSeq(string(changed), "\x00") {
		file, inside := strings.CutPrefix(file, r.prefix)
		if inside && slices.ContainsFunc(s.Changes, func(c Change) bool { return c.File == file }) && len(out) < 10 {
			out = append(out, shown(file))
		}
	}
	return out
}

// merged makes a commit that merges FETCH_HEAD, without a change of the folder; or it returns the conflicts.
func (r *Repo) merged(ctx context.Context, by Person, choices Choices) (commit string, conflicts []Conflict, err error) {
	out, err := r.callIn(ctx, r.top(), callTime, nil, nil, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "HEAD", "FETCH_HEAD")
	var no *failed
	if err != nil && (!errors.As(err, &no) || len(out) == 0) {
		return "", nil, err
	}
	parts := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	tree := parts[0]
	if len(parts) > 1 {
		if tree, conflicts, err = r.resolve(ctx, tree, parts[1:], choices); err != nil || len(conflicts) > 0 {
			return "", conflicts, err
		}
	}
	made, err := r.call(ctx, callTime, strings.NewReader("Merge of the branch of the remote\n"), by.env(), "commit-tree", "-p", "HEAD", "-p", "FETCH_HEAD", tree)
	return strings.TrimSpace(string(made)), nil, err
}

// resolve replaces files with conflicts in a tree by what was chosen; without choices it returns the conflicts.
func (r *Repo) resolve(ctx context.Context, tree string, files []string, choices Choices) (resolved string, conflicts []Conflict, err error) {
	base, err := r.run(ctx, nil, "merge-base", "HEAD", "FETCH_HEAD")
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "wirebench-index-*")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(dir)
	index := filepath.Join(dir, "index")
	env := []string{"GIT_INDEX_FILE=" + index}
	if _, err := r.call(ctx, callTime, nil, env, "read-tree", tree); err != nil {
		return "", nil, err
	}
	for _, whole := range files {
		file, inside := strings.CutPrefix(whole, r.prefix)
		if !inside {
			return "", nil, &Error{fmt.Sprintf("%s, which is not part of the project, has a conflict: merge it with git", shown(whole))}
		}
		text, chosen := choices[file]
		if !chosen {
			c := Conflict{File: file}
			for _, side := range []struct {
				commit string
				into   *string
			}{{"HEAD", &c.Ours}, {"FETCH_HEAD", &c.Theirs}, {strings.TrimSpace(string(base)), &c.Base}} {
				if *side.into, err = r.text(ctx, side.commit, file); err != nil {
					return "", nil, err
				}
			}
			conflicts = append(conflicts, c)
			continue
		}
		blob, err := r.call(ctx, callTime, strings.NewReader(text), nil, "hash-object", "-w", "--no-filters", "--stdin")
		if err != nil {
			return "", nil, err
		}
		if _, err := r.call(ctx, callTime, nil, env, "update-index", "--add", "--cacheinfo", "100644,"+strings.TrimSpace(string(blob))+","+whole); err != nil {
			return "", nil, err
		}
	}
	if len(conflicts) > 0 {
		return "", conflicts, nil
	}
	out, err := r.call(ctx, callTime, nil, env, "write-tree")
	return strings.TrimSpace(string(out)), nil, err
}
