package flows

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirebench/server"
	"wirebench/server/servertest"
	"wirebench/web/browsertest"
)

const (
	randomSeed  = "WIREBENCH_RANDOM_SEED"  // of TestFlowRandom; 0 for another one each time
	randomSteps = "WIREBENCH_RANDOM_STEPS" // of TestFlowRandom
)

// crowd is three pages, one of which loses its connection at times, on two definitions.
type crowd struct {
	*testing.T
	r     *rand.Rand
	gate  *gate
	s     *server.Server
	dir   string
	pages []flow
	at    []string                   // by page: the definition that is open
	away  bool                       // the first page has no connection
	typed map[string]map[string]bool // by definition: lines that were typed, and whether nobody has removed them
	n     int
	log   []string
}

// Whatever people do in three pages, and other programs with the files, each line that somebody has typed and nobody has removed is in the text of
// all pages exactly once, and in the file after the last save.
func TestFlowRandom(t *testing.T) {
	t.Parallel()
	seed, steps := uint64(1), 150
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
			t.Logf("seed %d:\n%s", seed, strings.Join(c.log, "\n"))
		}
	})
	for range steps {
		c.step()
	}
	c.gate.open()
	for _, name := range []string{"C_A.1", "C_B.1"} {
		c.check(name)
	}
}

func newCrowd(t *testing.T, seed uint64) *crowd {
	const begun = "uint32 first\nuint32 second\nuint32 third\n"
	s, dir := filesServer(t, map[string]string{"C_A.1.def": begun, "C_B.1.def": begun})
	c := &crowd{T: t, r: rand.New(rand.NewPCG(seed, 3)), gate: newGate(t, s), s: s, dir: dir, typed: map[string]map[string]bool{"C_A.1": {}, "C_B.1": {}}}
	lost := regexp.MustCompile(`^(WebSocket connection to .* failed|Failed to load resource)`)
	for _, host := range []string{c.gate.URL, c.gate.other, c.gate.other} {
		c.pages = append(c.pages, flow{t, browsertest.OpenAllowing(t, host+"/p/one/definitions/C_A.1", openSelector, lost)})
		c.at = append(c.at, "C_A.1")
	}
	for _, f := range c.pages {
		f.together()
	}
	return c
}

// lines returns new lines, which are to be there in the end.
func (c *crowd) lines(name string, n int) string {
	var out strings.Builder
	for range n {
		c.n++
		line := fmt.Sprintf("byte f%d_", c.n)
		c.typed[name][line] = true
		fmt.Fprintln(&out, line)
	}
	return out.String()
}

// step does something in a page.
func (c *crowd) step() {
	i := c.r.IntN(len(c.pages))
	f, isAway := c.pages[i], i == 0 && c.away
	does := func(format string, args ...any) {
		c.log = append(c.log, fmt.Sprintf("page %d, %s: ", i, c.at[i])+fmt.Sprintf(format, args...))
	}
	const view = `const view = document.querySelector(".definition-editor .cm-content").cmTile.root.view, doc = view.state.doc; `
	switch n := c.r.IntN(100); {
	case n < 50: // types or pastes
		lines := c.lines(c.at[i], 1+c.r.IntN(2))
		does("types %q", lines)
		f.do(fmt.Sprintf(`{ %s const at = doc.line(1 + Math.floor(%v * doc.lines)).from; view.dispatch({changes: {from: at, insert: %s}, userEvent: "input.paste"}) }`, view, c.r.Float64(), jsText(lines)))
	case n < 58: // removes a line that somebody has typed
		line := browsertest.Value[string](c.T, f.ctx, fmt.Sprintf(`(() => { %s
			const typed = doc.toString().split("\n").map((text, i) => [text, i + 1]).filter(([text]) => text.startsWith("byte f"))
			if (typed.length === 0) return ""
			const [text, n] = typed[Math.floor(%v * typed.length)], line = doc.line(n)
			view.dispatch({changes: {from: line.from, to: Math.min(line.to + 1, doc.length)}, userEvent: "delete"})
			return text
		})()`, view, c.r.Float64()))
		does("removes %q", line)
		delete(c.typed[c.at[i]], line)
	case n < 68 && !isAway:
		does("saves")
		f.press("Ctrl+S")
		f.lacks("#definition-head .unsaved")
	case n < 78 && !isAway:
		to := map[string]string{"C_A.1": "C_B.1", "C_B.1": "C_A.1"}[c.at[i]]
		does("opens %s", to)
		f.together() // else the link is one to another page
		f.open(to)
		c.at[i] = to
		f.together()
	case n < 86 && !isAway:
		does("reloads")
		f.reload()
		f.is("the editor", `document.querySelector(".definition-editor .cm-content") !== null`)
		f.together()
	case n < 92:
		if c.away = !c.away; c.away {
			c.gate.shut()
		} else {
			c.gate.open()
		}
		does("the first page is away: %v", c.away)
	case n < 96:
		name := []string{"C_A.1", "C_B.1"}[c.r.IntN(2)]
		lines := c.lines(name, 1)
		does("another program adds %q to %s", lines, name)
		c.outside(name, lines)
	case !isAway:
		does("opens a link with a text")
		address := browsertest.Value[string](c.T, f.ctx, `location.origin`)
		f.goes(strings.Replace(besideLink(address, "byte linked\n"), "C_JOIN.1", c.at[i], 2))
		f.page().Visible("dialog", "Another text of "+c.at[i])
		f.page().Click("button", "Discard it")
		f.together()
	}
}

// outside adds lines to the file, as another program does.
func (c *crowd) outside(name, lines string) {
	file := filepath.Join(c.dir, name+".def")
	text, err := os.ReadFile(file)
	if err != nil {
		c.Fatal(err)
	}
	all := strings.SplitAfter(string(text), "\n")
	all = slices.Insert(all, c.r.IntN(len(all)), lines)
	servertest.WriteFile(c.T, file, strings.Join(all, ""))
	if err := c.s.Projects.Find("one").Reload(); err != nil {
		c.Fatal(err)
	}
}

// check opens a definition in all pages, saves it, and looks for each line.
func (c *crowd) check(name string) {
	c.Helper()
	for i, f := range c.pages {
		f.together()
		if c.at[i] != name {
			f.open(name)
			c.at[i] = name
			f.together()
		}
	}
	c.pages[1].saves()
	text := browsertest.Value[string](c.T, c.pages[1].ctx, documentText)
	for _, f := range c.pages {
		f.has(text)
	}
	servertest.Stands(c.T, c.dir, name+".def", text)
	for line, stays := range c.typed[name] {
		if n := strings.Count(text, line+"\n"); stays && n != 1 {
			c.Errorf("%s: %q is there %d times\n%s", name, line, n, text)
		}
	}
	if strings.Contains(text, "linked") {
		c.Errorf("%s has the text of a link", name)
	}
}
