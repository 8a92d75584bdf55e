package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Bounds of calls.
const (
	callTime    = 20 * time.Second
	networkTime = 2 * time.Minute
	maxOutput   = 16 << 20
	maxFiles    = 5000
	maxMessage  = 16 << 10 // bytes of the message of a commit
	maxName     = 100
)

// Error reports why git cannot do something, for people.
type Error struct{ Reason string }

func (e *Error) Error() string { return e.Reason }

// ErrNone reports that a folder is in no repository.
var ErrNone = errors.New("the definitions are in no git repository")

// ErrMissing reports that a folder is in a repository, but that the server cannot use it.
var ErrMissing = errors.New("this server has no git program")

// Repo is the part of a repository below a folder. One call runs at a time.
type Repo struct {
	dir    string // the folder
	prefix string // from the top of the repository to it, with slashes; "" or ending in "/"
	remote string // "" for none

	mu    sync.Mutex
	last  *Status   // of the last call of Status
	begun time.Time // when that call began to look
}

// Open returns the repository that a folder is in. remote is the name of the remote from which Pull takes, "" for none.
func Open(ctx context.Context, dir, remote string) (*Repo, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || dotGit(dir, "") == "" {
		return nil, ErrNone
	}
	r := &Repo{dir: dir, remote: remote}
	if err := r.harmless(ctx); err != nil {
		return nil, err
	}
	out, err := r.run(ctx, nil, "rev-parse", "--show-prefix", "--is-inside-work-tree")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(out), "\n")
	if len(lines) < 2 || lines[1] != "true" {
		return nil, ErrNone
	}
	r.prefix = lines[0]
	if remote != "" && (!nameOfRemote.MatchString(remote)) {
		return nil, &Error{fmt.Sprintf("%q is not the name of a remote", remote)}
	}
	return r, nil
}

var nameOfRemote = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// dotGit returns the .git of a folder or of one above it, up to the folder top if that is one of them; "" if none has one.
func dotGit(dir, top string) string {
	for {
		at := filepath.Join(dir, ".git")
		if _, err := os.Lstat(at); err == nil {
			return at
		}
		up := filepath.Dir(dir)
		if up == dir || dir == top {
			return ""
		}
		dir = up
	}
}

func isMissing() bool {
	_, err := exec.LookPath("git")
	return err != nil
}

// Here is the repository of a folder, as far as its files tell without git.
type Here struct {
	Branch  string // "" without one
	Missing bool   // the server has no git program
}

// Look returns the repository that a folder is in, nil for none. Repositories above the folder top do not count, if it is one above dir: a data
// folder may lie in a repository of something else.
func Look(dir, top string) *Here {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil
	}
	if real, err := filepath.EvalSymlinks(top); err == nil {
		top = real
	}
	at := dotGit(dir, top)
	if at == "" {
		return nil
	}
	h := &Here{Missing: isMissing()}
	if text, err := os.ReadFile(at); err == nil { // of a work tree: the repository is elsewhere
		to := strings.TrimPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(at), to)
		}
		at = to
	}
	head, _ := os.ReadFile(filepath.Join(at, "HEAD"))
	if branch, ok := strings.CutPrefix(string(head), "ref: refs/heads/"); ok {
		h.Branch = shown(strings.TrimSpace(branch))
	}
	return h
}

// harmlessNames are the settings that a repository may have: none of them runs a program, or leads elsewhere.
var harmlessNames = regexp.MustCompile(`^(core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|abbrev|quotepath|hidedotfiles|protectntfs|protecthfs|compression|bigfilethreshold)|remote\.[^\n]+\.(url|pushurl|fetch|tagopt|prune)|branch\.[^\n]+\.(remote|merge|rebase|description)|user\.(name|email)|pull\.(rebase|ff)|push\.default|init\.defaultbranch|gc\.auto|extensions\.(objectformat|partialclone)|index\.version|status\..*|color\..*|advice\..*|i18n\..*)$`)

// harmless refuses a repository whose configuration could run programs.
func (r *Repo) harmless(ctx context.Context) error {
	out, err := r.run(ctx, nil, "config", "--local", "--no-includes", "--list", "--name-only", "-z")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" && !harmlessNames.MatchString(name) {
			return &Error{fmt.Sprintf("git is not used here: the configuration of the repository sets %s", shown(name))}
		}
	}
	return nil
}

func shown(text string) string {
	r := []rune(strings.Map(func(c rune) rune {
		if c < ' ' || c == utf8.RuneError {
			return '?'
		}
		return c
	}, text))
	return string(r[:min(len(r), 200)])
}

// settings apply to every call.
var settings = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=", "core.pager=cat", "core.editor=true", "core.attributesFile=/dev/null", "core.excludesFile=/dev/null", "core.sshCommand=ssh -o BatchMode=yes",
	"core.askPass=", "core.gitProxy=", "core.alternateRefsCommand=", "core.untrackedCache=false", "credential.helper=", "protocol.ext.allow=never", "protocol.fd.allow=never",
	"commit.gpgSign=false", "tag.gpgSign=false", "gc.auto=0", "maintenance.auto=false", "submodule.recurse=false", "fetch.recurseSubmodules=false", "diff.external=", "merge.tool=", "rerere.enabled=false",
	"fetch.fsckObjects=true", "transfer.fsckObjects=true",
}

// run calls git in the folder, and returns what it prints.
func (r *Repo) run(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	return r.call(ctx, callTime, in, nil, args...)
}

func (r *Repo) call(ctx context.Context, most time.Duration, in io.Reader, env []string, args ...string) ([]byte, error) {
	return r.callIn(ctx, r.dir, most, in, env, args...)
}

// top is the folder at the top of the repository.
func (r *Repo) top() string {
	return filepath.FromSlash(strings.TrimSuffix(filepath.ToSlash(r.dir)+"/", r.prefix))
}

func (r *Repo) callIn(ctx context.Context, dir string, most time.Duration, in io.Reader, env []string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	all := []string{"--no-pager", "--literal-pathspecs", "--no-optional-locks"}
	for _, s := range settings {
		all = append(all, "-c", s)
	}
	cmd := exec.CommandContext(ctx, "git", append(all, args...)...)
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = dir, in, 2*time.Second
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "SSH_AUTH_SOCK=" + os.Getenv("SSH_AUTH_SOCK"), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "SSH_ASKPASS=true",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=https:http:ssh:git:file", "GIT_CEILING_DIRECTORIES=", "GIT_NO_REPLACE_OBJECTS=1",
	}, env...)
	own(cmd)
	var out, said limited
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, &Error{fmt.Sprintf("git %s takes too long", args[0])}
	case out.full:
		return nil, &Error{fmt.Sprintf("git %s prints more than %d MiB", args[0], maxOutput>>20)}
	case err != nil:
		why := strings.TrimSpace(said.String())
		if lines := strings.Split(why, "\n"); len(lines) > 4 {
			why = strings.Join(lines[:4], "\n")
		}
		return out.Bytes(), &failed{args[0], r.clean(why), err}
	}
	return out.Bytes(), nil
}

// clean takes the path of the server out of what git says.
func (r *Repo) clean(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, r.dir, "the folder"), filepath.Clean(r.top()), "the repository")
}

// failed is a call with another exit status than 0.
type failed struct {
	what, said string
	err        error
}

func (f *failed) Error() string {
	if f.said == "" {
		return "git " + f.what + ": " + f.err.Error()
	}
	return "git " + f.what + ": " + f.said
}

func (f *failed) Unwrap() error { return &Error{f.Error()} }

// limited is a buffer that takes at most maxOutput bytes.
type limited struct {
	bytes.Buffer
	full bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxOutput {
		l.full = true
		return len(p), nil
	}
	return l.Buffer.Write(p)
}

// Change is a file that differs from the last commit.
type Change struct {
	File string `json:"file" doc:"as in the project"`
	Kind string `json:"kind" enum:"added,changed,deleted,conflict"`
}

// Status is the state of the folder.
type Status struct {
	None      bool     `json:"none,omitempty" doc:"the definitions are in no repository"`
	Missing   bool     `json:"missing,omitempty" doc:"they are in one, but the server has no git program"`
	Branch    string   `json:"branch" doc:"empty without one"`
	Commit    string   `json:"commit,omitempty" doc:"the last one, abbreviated; absent before the first"`
	Subject   string   `json:"subject,omitempty" doc:"of the last commit"`
	Ahead     int      `json:"ahead,omitempty" doc:"commits that the upstream branch does not have, as of the last pull"`
	Behind    int      `json:"behind,omitempty"`
	Remote    string   `json:"remote,omitempty" doc:"from which pull takes"`
	Changes   []Change `json:"changes" doc:"since the last commit"`
	Elsewhere bool     `json:"elsewhere,omitempty" doc:"other parts of the repository have changes, too"`
}

// Status returns the state of the folder; it may not be changed. keep says which files matter, by their names in the folder, and is the same in
// all calls: many pages ask at once after a save, and those that wait share one look.
func (r *Repo) Status(ctx context.Context, keep func(file string) bool) (*Status, error) {
	asked := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil && r.begun.After(asked) {
		return r.last, nil
	}
	begun := time.Now()
	s, err := r.status(ctx, keep)
	r.last, r.begun = s, begun
	return s, err
}

func (r *Repo) status(ctx context.Context, keep func(file string) bool) (*Status, error) {
	if err := r.harmless(ctx); err != nil {
		return nil, err
	}
	out, err := r.run(ctx, nil, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--ignore-submodules=all", "--no-renames")
	if err != nil {
		return nil, err
	}
	s := &Status{Remote: r.remote, Changes: []Change{}}
	for part := range strings.SplitSeq(string(out), "\x00") {
		if part == "" {
			continue
		}
		if head, ok := strings.CutPrefix(part, "# "); ok {
			s.head(head)
			continue
		}
		kind, file := changeOf(part)
		file, inside := strings.CutPrefix(file, r.prefix)
		if !inside || kind == "" || !keep(file) {
			s.Elsewhere = s.Elsewhere || kind != ""
			continue
		}
		if len(s.Changes) < maxFiles {
			s.Changes = append(s.Changes, Change{file, kind})
		}
	}
	slices.SortFunc(s.Changes, func(a, b Change) int { return strings.Compare(a.File, b.File) })
	if s.Commit != "" {
		if out, err := r.run(ctx, nil, "log", "-1", "--format=%s", "--no-show-signature"); err == nil {
			s.Subject = shown(strings.TrimSpace(string(out)))
		}
	}
	return s, nil
}

func (s *Status) head(line string) {
	name, value, _ := strings.Cut(line, " ")
	switch name {
	case "branch.oid":
		if value != "(initial)" {
			s.Commit = value[:min(len(value), 10)]
		}
	case "branch.head":
		if value != "(detached)" {
			s.Branch = shown(value)
		}
	case "branch.ab":
		_, _ = fmt.Sscanf(value, "+%d -%d", &s.Ahead, &s.Behind)
	}
}

// changeOf reads a line of status.
func changeOf(line string) (kind, file string) {
	switch {
	case strings.HasPrefix(line, "? "):
		return "added", line[2:]
	case strings.HasPrefix(line, "1 "):
		fields := strings.SplitN(line, " ", 9)
		if len(fields) < 9 {
			return "", ""
		}
		switch xy := fields[1]; {
		case strings.Contains(xy, "D"):
			return "deleted", fields[8]
		case strings.Contains(xy, "A"):
			return "added", fields[8]
		}
		return "changed", fields[8]
	case strings.HasPrefix(line, "u "):
		if fields := strings.SplitN(line, " ", 11); len(fields) == 11 {
			return "conflict", fields[10]
		}
	}
	return "", ""
}

// Text returns a file as it was at a commit, "HEAD" for the last one; "" if it was not there.
func (r *Repo) Text(ctx context.Context, commit, file string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text(ctx, commit, file)
}

func (r *Repo) text(ctx context.Context, commit, file string) (string, error) {
	if err := checkFile(file); err != nil {
		return "", err
	}
	out, err := r.run(ctx, nil, "cat-file", "blob", commit+":"+r.prefix+file)
	var no *failed
	if errors.As(err, &no) {
		return "", nil
	}
	return string(out), err
}

// checkFile refuses names that git, or a folder, would understand in another way.
func checkFile(file string) error {
	if file == "" || path.Clean(file) != file || path.IsAbs(file) || file == ".." || strings.HasPrefix(file, "../") || strings.ContainsAny(file, "\x00\n\r\\") ||
		slices.ContainsFunc(strings.Split(file, "/"), func(part string) bool { return strings.EqualFold(part, ".git") }) {
		return &Error{fmt.Sprintf("%q cannot be the name of a file", shown(file))}
	}
	return nil
}

// Person is an author of a commit.
type Person struct{ Name string }

// ident is a name as git takes it, with an address that leads nowhere: accounts need none.
func (p Person) ident() (name, email string) {
	name = strings.TrimSpace(strings.Map(func(c rune) rune {
		if c < ' ' || c == '<' || c == '>' || c == utf8.RuneError || c >= 0x7f && c < 0xa0 {
			return -1
		}
		return c
	}, p.Name))
	for len(name) > maxName {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	if name == "" {
		name = "somebody"
	}
	local := strings.Map(func(c rune) rune {
		if c < 0x80 && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_') {
			return c
		}
		return '-'
	}, strings.ToLower(name))
	return name, strings.Trim(local, ".-") + "@wirebench.invalid"
}

// env are the variables by which git knows who commits.
func (p Person) env() []string {
	name, email := p.ident()
	return []string{"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email, "GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email}
}

// Since returns the time of the last commit that changed a file, zero if there is none.
func (r *Repo) Since(ctx context.Context, file string) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if checkFile(file) != nil {
		return time.Time{}
	}
	out, err := r.run(ctx, nil, "log", "-1", "--format=%ct", "--", file)
	var seconds int64
	if _, e := fmt.Sscan(string(out), &seconds); err != nil || e != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// Commit commits files as they are in the folder, and nothing else, whatever is staged. others are named as co-authors.
func (r *Repo) Commit(ctx context.Context, files []string, message string, by Person, others []Person) error {
	message = strings.TrimSpace(message)
	switch {
	case message == "":
		return &Error{"a commit has a message"}
	case len(message) > maxMessage || !utf8.ValidString(message) || strings.ContainsFunc(message, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' }):
		return &Error{fmt.Sprintf("the message of a commit is text of at most %d bytes", maxMessage)}
	case len(files) == 0:
		return &Error{"no files are chosen"}
	case len(files) > maxFiles:
		return &Error{fmt.Sprintf("at most %d files at once", maxFiles)}
	}
	for _, f := range files {
		if err := checkFile(f); err != nil {
			return err
		}
		if info, err := os.Lstat(filepath.Join(r.dir, filepath.FromSlash(f))); err == nil && !info.Mode().IsRegular() {
			return &Error{fmt.Sprintf("%s is no regular file", shown(f))}
		}
	}
	if len(others) > 0 {
		message += "\n"
		for _, p := range others {
			name, email := p.ident()
			message += fmt.Sprintf("\nCo-authored-by: %s <%s>", name, email)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.harmless(ctx); err != nil {
		return err
	}
	list := strings.Join(files, "\x00") + "\x00"
	if _, err := r.run(ctx, strings.NewReader(list), "add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
		return err
	}
	said, err := os.CreateTemp("", "wirebench-commit-*")
	if err != nil {
		return err
	}
	defer os.Remove(said.Name())
	_, err = said.WriteString(message + "\n")
	if err = errors.Join(err, said.Close()); err != nil {
		return err
	}
	_, err = r.call(ctx, callTime, strings.NewReader(list), by.env(), "commit", "--quiet", "--no-verify", "--cleanup=whitespace", "--file="+said.Name(), "--only", "--pathspec-from-file=-", "--pathspec-file-nul")
	return err
}
