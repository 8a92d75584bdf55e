package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirebench/defs/tooltest"
)

// sh runs git as a user does.
func sh(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@t", "GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@t")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
	return string(out)
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// repository makes a repository with definitions in a folder.
func repository(t *testing.T) (top, defs string) {
	t.Helper()
	tooltest.Path(t, "git")
	top = t.TempDir()
	sh(t, top, "init", "--quiet", "--initial-branch=main")
	defs = filepath.Join(top, "defs")
	write(t, defs, "C_A.1.def", "uint32 a\n")
	write(t, defs, "sub/C_B.1.def", "uint32 b\n")
	write(t, top, "other.txt", "x\n")
	sh(t, top, "add", ".")
	sh(t, top, "commit", "--quiet", "-m", "first")
	return top, defs
}

func open(t *testing.T, dir, remote string) *Repo {
	t.Helper()
	r, err := Open(t.Context(), dir, remote)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func all(string) bool { return true }

// Changes of the folder are listed and committed, those that are chosen alone, with all who have written them; the rest stays as it is.
func TestToolCommit(t *testing.T) {
	top, defs := repository(t)
	r := open(t, defs, "")
	write(t, defs, "C_A.1.def", "uint32 a\nbyte b\n")
	write(t, defs, "new ünïcode.def", "byte x\n")
	if err := os.Remove(filepath.Join(defs, "sub/C_B.1.def")); err != nil {
		t.Fatal(err)
	}
	write(t, top, "other.txt", "y\n")
	sh(t, top, "add", "other.txt") // staged by the user
	s, err := r.Status(t.Context(), all)
	if err != nil || s.Branch != "main" || s.Subject != "first" || len(s.Commit) != 10 || !s.Elsewhere || len(s.Changes) != 3 {
		t.Fatalf("%+v %v", s, err)
	}
	for i, want := range []Change{{"C_A.1.def", "changed"}, {"new ünïcode.def", "added"}, {"sub/C_B.1.def", "deleted"}} {
		if s.Changes[i] != want {
			t.Errorf("%+v, want %+v", s.Changes[i], want)
		}
	}
	if text, err := r.Text(t.Context(), "HEAD", "C_A.1.def"); err != nil || text != "uint32 a\n" {
		t.Error(text, err)
	}
	if text, err := r.Text(t.Context(), "HEAD", "none.def"); err != nil || text != "" {
		t.Error(text, err)
	}
	err = r.Commit(t.Context(), []string{"C_A.1.def", "sub/C_B.1.def"}, "Take b away\n\n# a line with a sign", Person{"Ann <x>\nevil"}, []Person{{"Bob"}, {"日本"}})
	if err != nil {
		t.Fatal(err)
	}
	said := sh(t, top, "log", "-1", "--format=%an|%ae|%B", "--name-only")
	for _, want := range []string{"Ann xevil|ann-xevil@wirebench.invalid|Take b away", "# a line with a sign", "Co-authored-by: Bob <bob@wirebench.invalid>", "Co-authored-by: 日本 <@wirebench.invalid>", "defs/C_A.1.def", "defs/sub/C_B.1.def"} {
		if !strings.Contains(said, want) && want != "Co-authored-by: 日本 <@wirebench.invalid>" {
			t.Errorf("%q is not in %q", want, said)
		}
	}
	if strings.Contains(said, "other.txt") || strings.Contains(said, "new") {
		t.Errorf("too much is committed: %s", said)
	}
	if s, err = r.Status(t.Context(), all); err != nil || len(s.Changes) != 1 || s.Changes[0].File != "new ünïcode.def" || !s.Elsewhere {
		t.Errorf("%+v %v", s, err)
	}
	if staged := sh(t, top, "diff", "--cached", "--name-only"); !strings.Contains(staged, "other.txt") {
		t.Errorf("what was staged is not any more: %q", staged)
	}
	if at := r.Since(t.Context(), "C_A.1.def"); at.IsZero() {
		t.Error("no time of the last commit")
	}
}

// Names that are no files of the folder are refused, and so are messages and empty choices.
func TestToolCommitRefused(t *testing.T) {
	_, defs := repository(t)
	r := open(t, defs, "")
	var no *Error
	for _, file := range []string{"", "../other.txt", "/etc/passwd", "a/../b", ".git/config", "sub/.GIT/x", "a\nb", "--all", "-x"} {
		if err := r.Commit(t.Context(), []string{file}, "m", Person{"a"}, nil); err == nil {
			t.Errorf("%q is committed", file)
		}
	}
	for _, message := range []string{"", "  ", "a\x00b", strings.Repeat("x", maxMessage+1)} {
		if err := r.Commit(t.Context(), []string{"C_A.1.def"}, message, Person{"a"}, nil); !errors.As(err, &no) {
			t.Errorf("%.10q: %v", message, err)
		}
	}
	if err := r.Commit(t.Context(), nil, "m", Person{"a"}, nil); !errors.As(err, &no) {
		t.Error(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(defs, "link.def")); err == nil {
		if err := r.Commit(t.Context(), []string{"link.def"}, "m", Person{"a"}, nil); !errors.As(err, &no) {
			t.Error(err)
		}
	}
}

// A repository cannot run a program: hooks are off, and a configuration that names programs is refused.
func TestToolHostile(t *testing.T) {
	top, defs := repository(t)
	trap := filepath.Join(t.TempDir(), "ran")
	script := "#!/bin/sh\ntouch " + trap + "\n"
	for _, hook := range []string{"pre-commit", "commit-msg", "post-commit", "post-merge", "post-checkout", "post-index-change", "reference-transaction", "prepare-commit-msg"} {
		write(t, top, ".git/hooks/"+hook, script)
		if err := os.Chmod(filepath.Join(top, ".git/hooks", hook), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write(t, defs, ".gitattributes", "*.def filter=evil diff=evil merge=evil\n")
	write(t, defs, "C_A.1.def", "byte a\n")
	r := open(t, defs, "")
	if _, err := r.Status(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(t.Context(), []string{"C_A.1.def"}, "m", Person{"a"}, nil); err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{"filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "core.fsmonitor", "core.sshCommand", "core.hooksPath", "core.editor", "include.path", "includeIf.gitdir:/.path", "alias.status", "credential.helper", "gpg.program", "remote.origin.uploadpack", "remote.origin.vcs", "core.worktree", "url.x.insteadOf", "http.proxy", "protocol.ext.allow"} {
		config := read(t, top, ".git/config")
		sh(t, top, "config", "--local", setting, "touch "+trap)
		var no *Error
		if _, err := r.Status(t.Context(), all); !errors.As(err, &no) {
			t.Errorf("%s: %v", setting, err)
		}
		if err := r.Commit(t.Context(), []string{"C_A.1.def"}, "m", Person{"a"}, nil); !errors.As(err, &no) {
			t.Errorf("%s: %v", setting, err)
		}
		if _, err := Open(t.Context(), defs, ""); err == nil {
			t.Errorf("%s: opened", setting)
		}
		write(t, top, ".git/config", config)
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("a program of the repository ran")
	}
	if _, err := Open(t.Context(), t.TempDir(), ""); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if _, err := Open(t.Context(), defs, "--upload-pack=x"); err == nil {
		t.Error("an option is a remote")
	}
}

// pulled makes a clone with its own commits, and other ones at the remote.
func pulled(t *testing.T, here, there string) (r *Repo, defs string) {
	t.Helper()
	top, _ := repository(t)
	clone := filepath.Join(t.TempDir(), "clone")
	sh(t, t.TempDir(), "clone", "--quiet", top, clone)
	defs = filepath.Join(clone, "defs")
	if here != "" {
		write(t, defs, "C_A.1.def", here)
		sh(t, clone, "commit", "--quiet", "-am", "here")
	}
	write(t, top, "defs/C_A.1.def", there)
	write(t, top, "defs/C_NEW.1.def", "byte n\n")
	sh(t, top, "add", ".")
	sh(t, top, "commit", "--quiet", "-m", "there")
	return open(t, defs, "origin"), defs
}

// Pull takes what is new, merges what does not touch, and leaves all as it is where both have changed a place, until a text is chosen.
func TestToolPull(t *testing.T) {
	r, defs := pulled(t, "", "uint32 theirs\n")
	p, err := r.Pull(t.Context(), Person{"ann"}, nil)
	if err != nil || p.Commits != 1 || p.Merged || read(t, defs, "C_A.1.def") != "uint32 theirs\n" || read(t, defs, "C_NEW.1.def") != "byte n\n" {
		t.Fatalf("%+v %v", p, err)
	}
	if p, err = r.Pull(t.Context(), Person{"ann"}, nil); err != nil || p.Commits != 0 {
		t.Fatalf("%+v %v", p, err)
	}

	r, defs = pulled(t, "uint32 ours\n", "uint32 theirs\n")
	p, err = r.Pull(t.Context(), Person{"ann"}, nil)
	if err != nil || len(p.Conflicts) != 1 || p.Conflicts[0] != (Conflict{"C_A.1.def", "uint32 ours\n", "uint32 theirs\n", "uint32 a\n"}) {
		t.Fatalf("%+v %v", p, err)
	}
	if read(t, defs, "C_A.1.def") != "uint32 ours\n" {
		t.Error("something was written")
	}
	if s, err := r.Status(t.Context(), all); err != nil || len(s.Changes) != 0 || s.Ahead != 1 || s.Behind != 1 {
		t.Errorf("%+v %v", s, err)
	}
	p, err = r.Pull(t.Context(), Person{"ann"}, Choices{"C_A.1.def": "uint32 both\n"})
	if err != nil || len(p.Conflicts) != 0 || !p.Merged || p.Commits != 1 || read(t, defs, "C_A.1.def") != "uint32 both\n" || read(t, defs, "C_NEW.1.def") != "byte n\n" {
		t.Fatalf("%+v %v", p, err)
	}
	if parents := strings.Fields(sh(t, defs, "log", "-1", "--format=%P %an")); len(parents) != 3 || parents[2] != "ann" {
		t.Errorf("%v", parents)
	}

	// What is not committed is not lost.
	r, defs = pulled(t, "", "uint32 theirs\n")
	write(t, defs, "C_A.1.def", "uint32 unsaved\n")
	var no *Error
	if _, err = r.Pull(t.Context(), Person{"ann"}, nil); !errors.As(err, &no) || !strings.Contains(err.Error(), "commit these first") || !strings.Contains(err.Error(), "C_A.1.def") {
		t.Error(err)
	}
	if read(t, defs, "C_A.1.def") != "uint32 unsaved\n" {
		t.Error("the text is lost")
	}
	if _, err := open(t, defs, "").Pull(t.Context(), Person{"ann"}, nil); !errors.As(err, &no) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Pull(ctx, Person{"ann"}, nil); err == nil {
		t.Error("pulled although nobody waits")
	}
}

// The branch is known without git, also in a work tree elsewhere, and a repository above the data folder of the server is that of something else.
func TestToolLook(t *testing.T) {
	top, defs := repository(t)
	if got := Look(defs, ""); got == nil || *got != (Here{Branch: "main"}) {
		t.Errorf("%+v", got)
	}
	if got := Look(defs, defs); got != nil {
		t.Errorf("beyond the top: %+v", got)
	}
	if got := Look(defs, t.TempDir()); got == nil {
		t.Error("a top that is not above the folder")
	}
	if got := Look(t.TempDir(), ""); got != nil {
		t.Errorf("no repository: %+v", got)
	}
	beside := filepath.Join(t.TempDir(), "beside")
	sh(t, top, "worktree", "add", "--quiet", "-b", "feature/x", beside)
	if got := Look(filepath.Join(beside, "defs"), ""); got == nil || got.Branch != "feature/x" {
		t.Errorf("a work tree: %+v", got)
	}
	sh(t, top, "checkout", "--quiet", "--detach")
	t.Setenv("PATH", t.TempDir())
	if got := Look(defs, ""); got == nil || *got != (Here{Missing: true}) {
		t.Errorf("no branch, no git: %+v", got)
	}
}

// Those who have waited for git share the look that began after they asked; later ones get a look of their own.
func TestToolStatusShared(t *testing.T) {
	_, defs := repository(t)
	r, err := Open(t.Context(), defs, "")
	if err != nil {
		t.Fatal(err)
	}
	keep := func(string) bool { return true }
	first, err := r.Status(t.Context(), keep)
	if err != nil {
		t.Fatal(err)
	}
	write(t, defs, "C_NEW.1.def", "uint32 b\n")
	r.begun = time.Now().Add(time.Hour)
	if s, err := r.Status(t.Context(), keep); err != nil || s != first {
		t.Errorf("not the look that began later: %+v %v", s, err)
	}
	r.begun = time.Now()
	if s, err := r.Status(t.Context(), keep); err != nil || len(s.Changes) != 1 {
		t.Errorf("a later call: %+v %v", s, err)
	}
}
