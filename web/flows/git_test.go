package flows

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"wirebench/defs/tooltest"
	"wirebench/web/browsertest"
)

// gitIn runs git as a user does.
func gitIn(t *testing.T, dir string, args ...string) string {
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

// Changes since the last commit are seen as text and as layout, and committed; what the remote has is pulled into the open page, and where both
// sides have changed a place, one chooses.
func TestFlowGit(t *testing.T) {
	t.Parallel()
	tooltest.Path(t, "git")
	f, _, dir := begin(t, map[string]string{"C_JOIN.1.def": "uint32 id\n", "C_LEAVE.1.def": "byte why\n", "protocol.1.map": "C_JOIN 1\nC_LEAVE 2\n"}, "/p/one/definitions/C_JOIN.1")
	open := func() {
		t.Helper()
		f.press("Ctrl+K")
		f.page().Fill("combobox", "Go to anything", "> git: changes")
		f.page().Press("Enter")
	}
	open()
	f.shows(".git-dialog .operate-says", "in no git repository")
	f.press("Escape")

	gitIn(t, dir, "init", "--quiet", "--initial-branch=main")
	gitIn(t, dir, "add", ".")
	gitIn(t, dir, "commit", "--quiet", "-m", "first")
	upstream := filepath.Join(t.TempDir(), "upstream")
	gitIn(t, dir, "clone", "--quiet", dir, upstream)
	gitIn(t, dir, "remote", "add", "origin", upstream)

	f.caret(1)
	f.press("Enter")
	f.types("byte level")
	f.press("Ctrl+S")
	f.saved()
	open()
	f.shows(".git-dialog", "first")
	f.is("the change", `document.querySelectorAll(".git-dialog .history-row").length === 1 && document.querySelector(".git-dialog .compare-body").textContent.includes("byte level")`)
	f.page().Fill("textbox", "Message of the commit", "Add the level")
	f.look("git")
	f.axe("changes since the last commit")
	f.page().Click("button", "Commit 1 file")
	f.shows(".git-dialog", "Nothing has changed")
	if said := gitIn(t, dir, "log", "-1", "--format=%s", "--name-only"); !strings.Contains(said, "Add the level") || !strings.Contains(said, "C_JOIN.1.def") || strings.Contains(said, "samples") {
		t.Error(said)
	}
	f.press("Escape")

	// The remote has another text at the same place.
	if err := os.WriteFile(filepath.Join(upstream, "C_JOIN.1.def"), []byte("uint32 id\nuint16 theirs\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	gitIn(t, upstream, "commit", "--quiet", "-am", "theirs")
	open()
	f.page().Click("button", "Pull from origin")
	f.shows(".git-dialog .operate-says", "Both sides have changed")
	f.is("both texts", `document.querySelector(".git-dialog .compare-body").textContent.includes("uint16 theirs") && document.querySelector(".git-dialog .compare-body").textContent.includes("byte level")`)
	f.look("git-conflict")
	f.axe("a conflict")
	f.page().Click("radio", "theirs")
	f.page().Click("button", "Merge with these")
	f.shows(".git-dialog .operate-says", "Took over 1 commit, merged")
	f.press("Escape")
	f.has("uint32 id\nuint16 theirs\n")
	if said := gitIn(t, dir, "status", "--porcelain"); strings.Contains(said, ".def") {
		t.Error(said)
	}
}

// Where definitions are in a repository, the bar has the branch and the number of files that are not committed, as they change, and opens the
// dialog. A server without git says so.
func TestFlowGitBar(t *testing.T) {
	tooltest.Path(t, "git")
	f, _, dir := begin(t, map[string]string{"C_JOIN.1.def": "uint32 id\n", "protocol.1.map": "C_JOIN 1\n"}, "/p/one/definitions/C_JOIN.1")
	p := f.page()
	if n := p.Count("button", "Git…"); n != 0 {
		t.Errorf("%d controls of git without a repository", n)
	}
	gitIn(t, dir, "init", "--quiet", "--initial-branch=main")
	gitIn(t, dir, "add", ".")
	gitIn(t, dir, "commit", "--quiet", "-m", "first")
	f.reload()
	p.Visible("button", "Git: main")
	f.is("the title", `document.querySelector("#git").title.startsWith("main: everything is committed")`)
	const right = `document.querySelector("#git").getBoundingClientRect().right`
	was := browsertest.Value[float64](t, f.ctx, right)
	f.caret(1)
	f.press("Enter")
	f.types("byte level")
	f.saves()
	p.Visible("button", "Git: main 1 not committed")
	if now := browsertest.Value[float64](t, f.ctx, right); now != was {
		t.Errorf("what is beside the control has moved: %v → %v", was, now)
	}
	f.look("git-bar")
	f.axe("a project in a git repository")
	p.Click("button", "Git: main 1 not committed")
	p.In("Git").Fill("textbox", "Message of the commit", "Add the level")
	p.In("Git").Click("button", "Commit 1 file")
	f.shows(".git-dialog", "Nothing has changed")
	f.press("Escape")
	p.Visible("button", "Git: main")

	t.Setenv("PATH", t.TempDir())
	f.reload()
	p.Visible("button", "Git: main")
	f.is("the title", `document.querySelector("#git").title.includes("no git program")`)
	p.Click("button", "Git: main")
	f.shows(".git-dialog .operate-says", "this server has no git program")
	f.look("git-missing")
	f.axe("a server without git")
}
