package flows

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"wirebench/defs/tooltest"
	"wirebench/server/access"
	"wirebench/server/rooms"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

const (
	randomSeed  = "WIREBENCH_RANDOM_SEED"  // of TestFlowRandom; 0 for another one each time
	randomSteps = "WIREBENCH_RANDOM_STEPS" // of TestFlowRandom
)

// crowd is three pages of two people, one of which loses its connection at times, and a stranger.
type crowd struct {
	*testing.T
	r        *rand.Rand
	gate     *gate
	server   *served
	dir      string
	stranger *http.Cookie
	hasGit   bool
	pages    []flow
	closed   []string // by page: the address that is opened next, of one that was closed
	away     bool     // the first page has no connection
	typed    map[string]fate
	copied   map[string]bool   // lines that a checkout may have brought back to a file while another definition has them
	deleted  map[string]string // files that another program has deleted, and will write again
	n, names int
	log      []string
	output   servertest.Log // of the server
}

// fate is what is to become of a line that was typed.
type fate int

const (
	stays   fate = iota // it is somewhere
	without             // another program has taken it out of the file: it may be in the text
	removed             // a person has removed it: it may be in the text if that was done without a connection
)

// Whatever people do in three pages, and other programs with the files, and wherever the server is killed: each line that somebody has typed and
// nobody has removed is there exactly once, in the text of a definition, saved or not, or in a suggestion. No text has any line twice.
func TestFlowRandom(t *testing.T) {
	t.Parallel()
	seed, steps := uint64(1), 120
	if n, err := strconv.ParseUint(os.Getenv(randomSeed), 10, 64); err == nil {
		if seed = n; n == 0 {
			seed = uint64(time.Now().UnixNano())
		}
	}
	if n, err := strconv.Atoi(os.Getenv(randomSteps)); err == nil {
		steps = n
	}
	c := newCrowd(t, seed)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d:\n%s\nthe server said:\n%s", seed, strings.Join(c.log, "\n"), c.output.String())
			for i, f := range c.pages {
				said := ""
				_ = chromedp.Run(f.ctx, chromedp.Evaluate(`location.href + " " + document.querySelector("#room-bar")?.dataset.state + " " + document.querySelector("#room-bar")?.innerText`, &said))
				t.Logf("page %d: %s", i, said)
			}
			for name, text := range c.files() {
				t.Logf("the file %s:\n%s", name, text)
			}
		}
	})
	for range steps {
		c.step()
	}
	c.check()
}

func newCrowd(t *testing.T, seed uint64) *crowd {
	t.Helper()
	browsertest.Require(t)
	dir := servertest.WriteFiles(t, map[string]string{
		"C_A.1.def": "uint32 a_first\nuint32 a_second\nuint32 a_third\n",
		"C_B.1.def": "uint32 b_first\nuint32 b_second\nuint32 b_third\n",
	})
	c := &crowd{
		T: t, r: rand.New(rand.NewPCG(seed, 3)), dir: dir, closed: make([]string, 3),
		typed: map[string]fate{}, copied: map[string]bool{}, deleted: map[string]string{},
	}
	if _, ok := tooltest.Look(t, "git"); ok {
		c.hasGit = true
		gitIn(t, dir, "init", "--quiet", "--initial-branch=main")
		gitIn(t, dir, "add", ".")
		gitIn(t, dir, "commit", "--quiet", "-m", "first")
		gitIn(t, dir, "branch", "other")
	}
	people := accountsOf(t, dir)
	join := func(name string, g access.Grants) *http.Cookie {
		t.Helper()
		_, invitation, err := people.Invite(access.Principal{}, name, g)
		if err != nil {
			t.Fatal(err)
		}
		id, err := people.Accept(invitation, strings.ToLower(name), name, "a long password of "+name)
		if err != nil {
			t.Fatal(err)
		}
		session, err := people.Begin(id, "", "")
		if err != nil {
			t.Fatal(err)
		}
		return &http.Cookie{Name: access.CookieName(""), Value: session}
	}
	ann, ben := join("Ann", access.Grants{"one": access.Author}), join("Ben", access.Grants{"one": access.Author})
	c.stranger = join("Eve", access.Grants{"two": access.Author})
	c.server = startServed(t, dir, &c.output)
	t.Cleanup(func() { c.server.kill() })
	c.gate = newGate(t, c.server)
	allowed := regexp.MustCompile(`^(WebSocket connection to .* failed|Failed to load resource)|Close received after close`)
	for i, cookie := range []*http.Cookie{ann, ben, ann} {
		host := c.gate.other
		if i == 0 {
			host = c.gate.URL
		}
		f := flow{t, browsertest.OpenAllowing(t, host+"/p/one/definitions/C_A.1", "form[action='/access']", allowed)}
		browsertest.Run(t, f.ctx, network.SetCookie(cookie.Name, cookie.Value).WithURL(host))
		f.goes(host + "/p/one/definitions/C_A.1")
		c.pages = append(c.pages, f)
	}
	for _, f := range c.pages {
		f.together()
	}
	return c
}

// lines returns new lines, which are to be there in the end.
func (c *crowd) lines(n int) string {
	var out strings.Builder
	for range n {
		c.n++
		line := fmt.Sprintf("byte f%d_", c.n)
		c.typed[line] = stays
		fmt.Fprintln(&out, line)
	}
	return out.String()
}

// said notes what is done.
func (c *crowd) said(format string, args ...any) {
	c.log = append(c.log, fmt.Sprintf("%d: ", len(c.log))+fmt.Sprintf(format, args...))
}

// step does something in a page, or with the files.
func (c *crowd) step() {
	i, n := c.r.IntN(len(c.pages)), c.r.IntN(1000)
	f, isAway := c.pages[i], i == 0 && c.away
	at := "closed"
	if c.closed[i] == "" {
		at = c.at(f)
	}
	does := func(format string, args ...any) { c.said("page %d, %s: "+format, append([]any{i, at}, args...)...) }
	switch {
	case n < 40: // any time
		if c.away = !c.away; c.away {
			c.gate.shut()
		} else {
			c.gate.open()
		}
		does("the first page is away: %v", c.away)
	case n < 90:
		c.outside()
	case n < 110:
		c.deletes()
	case n < 135:
		c.writesAgain()
	case n < 150:
		c.checkout()
	case n < 165:
		c.tries()
	case c.closed[i] != "":
		if !isAway {
			does("is opened again")
			c.reopens(i)
		}
	case n < 190:
		c.closes(i)
		does("is closed at %s", c.closed[i])
	case n < 560:
		lines := c.lines(1 + c.r.IntN(2))
		does("types %q", lines)
		f.inserts(lines, c.r.Float64())
	case n < 580:
		lines := c.lines(20 + c.r.IntN(30))
		does("pastes %q", lines)
		f.inserts(lines, c.r.Float64())
	case n < 650:
		line := f.removes(c.r.Float64())
		does("removes %q", line)
		if line != "" {
			c.typed[line] = removed
		}
	case isAway:
	case n < 730:
		does("saves")
		c.settle() // what others type after that is not saved
		f.press("Ctrl+S")
		f.lacks("#definition-head .unsaved")
	case n < 840:
		does("opens %s", c.switches(f, c.r.Float64()))
	case f.gone(): // there is nothing to come back to
		does("opens %s instead of what is gone", c.switches(f, c.r.Float64()))
	case n < 900:
		does("reloads")
		f.reload()
		f.is("the editor", `document.querySelector(".definition-editor .cm-content") !== null`)
		f.joined()
	case n < 920:
		name := c.name("N")
		does("begins %s", name)
		c.begins(f, name)
	case n < 950:
		name := c.name("R")
		does("renames it to %s", name)
		c.renames(f, name)
	case n < 980:
		takes := c.r.IntN(2) == 0
		does("opens a link with a text, and takes it: %v", takes)
		c.opensLink(f, takes)
	default:
		c.kills(f, does)
	}
}

// at returns the name of the open definition.
func (c *crowd) at(f flow) string {
	return browsertest.Value[string](c.T, f.ctx, `new URLSearchParams(location.search).get("new") ?? decodeURIComponent(location.pathname.replace(/^.*\//, ""))`)
}

const editorView = `const view = document.querySelector(".definition-editor .cm-content").cmTile.root.view, doc = view.state.doc; `

// inserts inserts lines somewhere.
func (f flow) inserts(lines string, where float64) {
	f.Helper()
	f.do(fmt.Sprintf(`{ %s const at = doc.line(1 + Math.floor(%v * doc.lines)).from; view.dispatch({changes: {from: at, insert: %s}, userEvent: "input.paste"}) }`, editorView, where, jsText(lines)))
}

// removes removes a line that somebody has typed, and returns it.
func (f flow) removes(which float64) (line string) {
	f.Helper()
	return browsertest.Value[string](f.T, f.ctx, fmt.Sprintf(`(() => { %s
		const typed = doc.toString().split("\n").map((text, i) => [text, i + 1]).filter(([text]) => text.startsWith("byte f"))
		if (typed.length === 0) return ""
		const [text, n] = typed[Math.floor(%v * typed.length)], line = doc.line(n)
		view.dispatch({changes: {from: line.from, to: Math.min(line.to + 1, doc.length)}, userEvent: "delete"})
		return text
	})()`, editorView, which))
}

// switches opens a definition of the list, which changes while others rename.
func (c *crowd) switches(f flow, which float64) (name string) {
	c.Helper()
	f.joined() // else the link is one to another page
	const links = `[...document.querySelectorAll("#rail-list a[href*='/definitions']")].filter((a) => /C_\w+\.\d/.test(a.href)).sort((a, b) => a.href < b.href ? -1 : 1)`
	name = browsertest.Value[string](c.T, f.ctx, fmt.Sprintf(`(() => {
		const all = %s, to = all[Math.floor(%v * all.length)]
		to?.click()
		return to?.href.replace(/^.*[\/=]/, "") ?? ""
	})()`, links, which))
	if name != "" {
		f.shows("#definition-head", name+".def")
		f.is("the editor", `document.querySelector(".definition-editor .cm-content") !== null`)
	}
	f.joined()
	return name
}

// closes closes a page, as the browser does.
func (c *crowd) closes(i int) {
	c.Helper()
	f := c.pages[i]
	c.closed[i] = browsertest.Value[string](c.T, f.ctx, `location.origin + location.pathname + location.search`)
	f.blank()
}

// blank leaves the page.
func (f flow) blank() {
	f.Helper()
	f.visit("about:blank", "html")
}

// settle waits until all that was typed in pages with a connection is in the rooms.
func (c *crowd) settle() {
	c.Helper()
	for i, f := range c.pages {
		if c.closed[i] == "" && !(i == 0 && c.away) {
			f.joined()
		}
	}
}

// joined waits until all that was typed in a page is in the room of its definition. That of a file that was deleted, or is of another branch, has
// none, if all of it was saved.
func (f flow) joined() {
	f.Helper()
	f.is("in its room", `document.querySelector("#room-bar").dataset.state === "open" || `+isGone)
}

const isGone = `(document.querySelector("#room-bar")?.dataset.state === "" && document.querySelector("#definition-notes")?.innerText.includes("no longer on disk") === true)`

// gone reports whether the file of the open definition is gone.
func (f flow) gone() bool { return browsertest.Value[bool](f.T, f.ctx, isGone) }

// reopens opens a page that was closed.
func (c *crowd) reopens(i int) {
	c.Helper()
	f := c.pages[i]
	f.goes(c.closed[i])
	c.closed[i] = ""
	f.is("the editor", `document.querySelector(".definition-editor .cm-content") !== null`)
	f.joined()
}

// origin returns the address of the server for a page.
func (f flow) origin() string { return browsertest.Value[string](f.T, f.ctx, `location.origin`) }

// name returns a new name of a definition.
func (c *crowd) name(kind string) string {
	c.names++
	return fmt.Sprintf("C_%s%d.1", kind, c.names)
}

// begins begins a definition.
func (c *crowd) begins(f flow, name string) {
	c.Helper()
	f.joined()
	f.goes(f.origin() + "/p/one/definitions?new=" + name)
	f.shows("#definition-head", name+".def")
	f.is("the editor", `document.querySelector(".definition-editor .cm-content") !== null`)
	f.inserts(c.lines(1), 0.99)
	f.joined()
}

// renames gives the open definition another name.
func (c *crowd) renames(f flow, name string) {
	c.Helper()
	f.joined()
	if browsertest.Value[bool](c.T, f.ctx, `document.querySelector("#name")?.checkVisibility() === true`) {
		f.rename(name)
	} else {
		f.do(`document.querySelector("#definition-title").dispatchEvent(new MouseEvent("dblclick", {bubbles: true}))`)
		f.page().Fill("textbox", "New name, with its version", name)
		f.page().Press("Enter")
	}
	f.shows("#definition-head", name+".def")
	f.joined()
}

// opensLink opens a link with another text from another site, and discards it, or takes it and takes that back.
func (c *crowd) opensLink(f flow, takes bool) {
	c.Helper()
	f.joined()
	name := c.at(f)
	to := browsertest.Value[string](c.T, f.ctx, `location.origin + location.pathname + location.search`)
	f.goes(to + "#" + url.Values{"w": {"one"}, "d": {name}, "text": {"byte linked\n"}}.Encode())
	f.page().Visible("dialog", "Another text of "+name)
	if !takes {
		f.page().Click("button", "Discard it")
		f.joined()
		return
	}
	f.joined()
	f.page().Click("button", "Take it")
	f.is("it is taken", documentText+`.includes("byte linked")`)
	f.press("Ctrl+Z")
	f.is("it is taken back", `!`+documentText+`.includes("byte linked")`)
	f.joined()
}

// files returns the texts of the files by name.
func (c *crowd) files() map[string]string {
	c.Helper()
	names, err := filepath.Glob(filepath.Join(c.dir, "*.def"))
	if err != nil {
		c.Fatal(err)
	}
	all := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			c.Fatal(err)
		}
		all[filepath.Base(name)] = string(text)
	}
	return all
}

// some returns one of some names, "" if there are none.
func (c *crowd) some(names map[string]string) string {
	at := c.r.Float64()
	if len(names) == 0 {
		return ""
	}
	all := make([]string, 0, len(names))
	for name := range names {
		all = append(all, name)
	}
	slices.Sort(all)
	return all[int(at*float64(len(all)))]
}

// outside adds a line to a file, as another program does.
func (c *crowd) outside() {
	c.Helper()
	if name := c.some(c.files()); name != "" {
		line := c.writes(name, c.files()[name])
		c.said("another program adds %q to %s", line, name)
		c.server.reload(c.T)
	}
}

// writes writes a text with another line to a file.
func (c *crowd) writes(name, text string) (line string) {
	c.Helper()
	line = c.lines(1)
	all := strings.SplitAfter(text, "\n")
	all = slices.Insert(all, c.r.IntN(len(all)), line)
	servertest.WriteFile(c.T, filepath.Join(c.dir, name), strings.Join(all, ""))
	return line
}

// become sets what is to become of the lines of a text, unless a person has removed them.
func (c *crowd) become(text string, what fate) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if was, ok := c.typed[line]; ok && was != removed {
			c.typed[line] = what
		}
	}
}

// deletes deletes a file, and writes it again at once or, perhaps, later.
func (c *crowd) deletes() {
	c.Helper()
	all := c.files()
	name, forLong := c.some(all), c.r.IntN(2) == 0
	if name == "" || len(all) < 2 {
		return
	}
	if err := os.Remove(filepath.Join(c.dir, name)); err != nil {
		c.Fatal(err)
	}
	c.server.reload(c.T)
	if !forLong {
		line := c.writes(name, all[name])
		c.said("another program deletes %s and writes it again with %q", name, line)
		c.server.reload(c.T)
		return
	}
	c.said("another program deletes %s", name)
	c.deleted[name] = all[name]
	c.become(all[name], without)
	time.Sleep(1200 * time.Millisecond) // a room waits for a second
}

// writesAgain writes a file that was deleted, unless somebody has saved it meanwhile.
func (c *crowd) writesAgain() {
	c.Helper()
	name := c.some(c.deleted)
	if name == "" {
		return
	}
	text := c.deleted[name]
	delete(c.deleted, name)
	if _, err := os.Stat(filepath.Join(c.dir, name)); err == nil {
		return
	}
	c.become(text, stays)
	line := c.writes(name, text)
	c.said("another program writes %s again with %q", name, line)
	c.server.reload(c.T)
}

// checkout switches the branch of the folder.
func (c *crowd) checkout() {
	c.Helper()
	if !c.hasGit {
		return
	}
	before := c.files()
	gitIn(c.T, c.dir, "add", "--all")
	gitIn(c.T, c.dir, "commit", "--quiet", "--allow-empty", "-m", "x")
	to := map[string]string{"main": "other", "other": "main"}[strings.TrimSpace(gitIn(c.T, c.dir, "rev-parse", "--abbrev-ref", "HEAD"))]
	gitIn(c.T, c.dir, "checkout", "--quiet", to)
	c.said("another program checks out %s", to)
	c.server.reload(c.T)
	after := c.files()
	var was, is strings.Builder
	for name, text := range before {
		was.WriteString(text)
		if _, ok := after[name]; !ok { // if lines of it are not saved, its text stays
			c.copies(text)
		}
	}
	for name, text := range after {
		is.WriteString(text)
		if _, ok := before[name]; !ok {
			c.copies(text)
		}
	}
	c.become(was.String(), without)
	c.become(is.String(), stays)
}

// copies takes that lines may be in the texts of several definitions.
func (c *crowd) copies(text string) {
	for line := range strings.Lines(text) {
		c.copied[strings.TrimSuffix(line, "\n")] = true
	}
}

// tries is what a stranger does: nothing of that is possible.
func (c *crowd) tries() {
	c.Helper()
	c.said("a stranger tries to read and to write")
	for _, x := range [][2]string{
		{"GET", "/p/one/definitions/C_A.1"},
		{"GET", "/api/v1/one/definitions"},
		{"GET", "/ws/one"},
		{"PUT", "/api/v1/one/definitions/C_A.1.def?force=true"},
		{"POST", "/api/v1/one/threads"},
	} {
		r, err := http.NewRequestWithContext(c.Context(), x[0], c.gate.other+x[1], strings.NewReader("byte strange\n"))
		if err != nil {
			c.Fatal(err)
		}
		r.AddCookie(c.stranger)
		r.Header.Set("Content-Type", "text/plain")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			c.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusNotFound && answer.StatusCode != http.StatusForbidden {
			c.Errorf("%v of a stranger: %s", x, answer.Status)
		}
	}
}

// kills kills the server while it writes what a page has typed, or saves. Another program may write the file until it is back.
func (c *crowd) kills(f flow, does func(string, ...any)) {
	c.Helper()
	c.settle()
	file := c.at(f) + ".def"
	lines, saves, writes, pause := c.lines(2), c.r.IntN(2) == 0, c.r.IntN(2) == 0, time.Duration(c.r.IntN(10_000))*time.Microsecond
	does("types %q, saves: %v, and the server is killed %v after a write; another program writes: %v", lines, saves, pause, writes)
	watched := filepath.Join(c.dir+".home", "texts", file+".jsonl")
	if saves {
		watched = filepath.Join(c.dir, file)
	}
	if !saves {
		done := c.server.killAfterWrite(watched, pause)
		f.inserts(lines, c.r.Float64())
		<-done
	} else {
		f.inserts(lines, c.r.Float64())
		done := c.server.killAfterWrite(watched, pause)
		f.press("Ctrl+S")
		<-done
	}
	if text, ok := c.files()[file]; ok && writes {
		c.said("it adds %q", c.writes(file, text))
	}
	c.server = startServed(c.T, c.dir, &c.output)
	c.gate.serve(c.server)
	c.settle()
	if saves {
		f.lacks("#definition-head .unsaved")
	}
}

// check compares the pages with each other and with the folders, and looks for each line.
func (c *crowd) check() {
	c.Helper()
	c.gate.open()
	c.away = false
	for i, f := range c.pages {
		if c.closed[i] != "" {
			c.reopens(i)
		}
		f.joined()
	}
	for _, f := range c.pages { // what the first page has typed without a connection is there now
		f.joined()
	}
	f := c.pages[1]
	f.saves()
	shown := map[string]string{}
	servertest.Stands(c.T, c.dir, c.at(f)+".def", browsertest.Value[string](c.T, f.ctx, documentText))
	for i, f := range c.pages {
		text := browsertest.Value[string](c.T, f.ctx, documentText)
		if was, ok := shown[c.at(f)]; ok && was != text {
			c.Errorf("page %d shows another text of %s:\n%s\ninstead of\n%s", i, c.at(f), text, was)
		}
		shown[c.at(f)] = text
	}
	c.server.kill()
	texts, suggested := c.stored()
	for name, text := range shown {
		if got := texts[name+".def"]; got != text {
			c.Errorf("%s: a page shows\n%s\nand the folders have\n%s", name, text, got)
		}
	}
	counts := map[string]int{}
	for name, text := range texts {
		in := map[string]bool{}
		for line := range strings.Lines(text) {
			if line = strings.TrimSuffix(line, "\n"); line == "" {
				continue
			}
			if in[line] {
				c.Errorf("%s has %q twice:\n%s", name, line, text)
			}
			in[line] = true
			counts[line]++
		}
		if strings.Contains(text, "linked") || strings.Contains(text, "strange") {
			c.Errorf("%s has the text of a link or of a stranger:\n%s", name, text)
		}
	}
	for line, what := range c.typed {
		switch n := counts[line]; {
		case n == 0 && what == stays && !strings.Contains(suggested, line+"\n"):
			c.Errorf("%q is lost", line)
		case n > 1 && !c.copied[line]:
			c.Errorf("%q is in %d definitions", line, n)
		}
	}
	if c.Failed() {
		for name, text := range texts {
			c.Logf("%s:\n%s", name, text)
		}
	}
}

// stored returns the texts of the definitions by file, saved or not, and those that are suggested, as the next server would have them.
func (c *crowd) stored() (texts map[string]string, suggested string) {
	c.Helper()
	ws := servertest.OpenWorkspace(c.T, c.dir, nil)
	texts = c.files()
	set := &rooms.Set{}
	for _, file := range set.Begun(ws) {
		texts[file] = ""
	}
	for file := range texts {
		if text, ok := set.Typed(ws, file); ok {
			texts[file] = text
		}
	}
	threads, err := ws.Threads()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Fatal(err)
	}
	for _, x := range threads {
		if x.Suggestion != nil {
			suggested += x.Suggestion.Text + "\n"
		}
	}
	return texts, suggested
}
