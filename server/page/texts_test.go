package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wirebench/server/access"
	"wirebench/server/admit"
	"wirebench/server/view"
	"wirebench/server/workspace"
	"wirebench/templates"
)

// typing returns the message of a page with changed controls.
func typing(t testing.TB, set map[string]any) (m Message) {
	t.Helper()
	text, err := json.Marshal(set)
	if err == nil {
		err = json.Unmarshal(text, &m.Set)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// pages returns open pages of one person.
func pages(b *Workbench, n int) (all []*livePage) {
	for range n {
		r := httptest.NewRequest("POST", "/p/one/definitions", nil)
		all = append(all, b.newLivePage(b.Projects.First(), access.As(r, access.Principal{ID: "one", Grants: access.Grants{access.Everywhere: access.Author}})))
	}
	return all
}

// shown is what an analysis has for pages.
func shown(t *view.Text) []any {
	return []any{t.Rows, t.Cells, t.Layout, t.Holes, t.Stale, t.Def.Diagnostics, t.Use.Diagnostics}
}

// Five pages that get the same key presses compile and lay out each version of the text once, and get the same answers; so do pages that get
// them later. A page that asks about its text does not compile it again.
func TestPagesShareTheirText(t *testing.T) {
	b, _, _ := testWorkbench(t)
	all := pages(b, 5)
	used := map[*workspace.Definition]bool{}
	var texts int
	for i := range 8 {
		text := fmt.Sprintf("string channel_name\nuint16 password%d\nbyte more\n", i)
		if i%3 == 2 {
			text += "unheard of\n"
		}
		answers := make([]string, len(all))
		var typed sync.WaitGroup
		for k, l := range all {
			get := func() {
				out, err := l.work(t.Context(), typing(t, map[string]any{"message": "C_JOIN.1", "definition": text}))
				if err != nil {
					t.Error(err)
					return
				}
				said, _ := json.Marshal(out)
				answers[k] = string(said)
			}
			if k < 3 {
				typed.Go(get)
			} else {
				typed.Wait()
				get()
			}
		}
		if texts++; i%3 == 2 {
			texts++ // also without its line with a mistake
		}
		for k, l := range all {
			if answers[k] != answers[0] {
				t.Errorf("version %d: page %d is told %s, the first one %s", i, k, answers[k], answers[0])
			}
			p := l.begun(&templates.Workbench{})
			p.open()
			used[p.def], used[p.use] = true, true
			fresh, err := view.Of(view.Asked{Snap: p.ws.Snapshot, Name: "C_JOIN.1", Text: text, Good: p.good})
			if err != nil || fresh.Def == p.def {
				t.Error("the test does not see that a text is compiled again")
			}
			if diff := cmp.Diff(shown(fresh), shown(p.text)); diff != "" {
				t.Errorf("version %d was changed by its pages:\n%s", i, diff)
			}
		}
	}
	if len(used) != texts {
		t.Errorf("%d texts were compiled, of %d", len(used), texts)
	}
}

// A text that is known costs its person as much as any other: it waits for memory of the budget.
func TestKnownTextsWaitForTheBudget(t *testing.T) {
	b, _, _ := testWorkbench(t)
	all := pages(b, 2)
	m := typing(t, map[string]any{"message": "C_JOIN.1", "definition": "byte x\n"})
	if _, err := all[0].work(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	full, err := b.Budget.Acquire(t.Context(), "another", admit.Layout, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := all[1].work(ctx, m); !errors.Is(err, context.Canceled) {
		t.Errorf("it does not wait: %v", err)
	}
}
