package browsertest

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

//go:embed unseen.js
var unseen string

// axeSource is the script of axe-core, an npm package of web/.
var axeSource = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) { // the tests of a package run in its folder
		if text, err := os.ReadFile(filepath.Join(dir, "web/node_modules/axe-core/axe.min.js")); err == nil {
			return string(text), nil
		}
		if dir == filepath.Dir(dir) {
			return "", os.ErrNotExist
		}
	}
})

// checked are the looks of texts, by theme, whose contrast was measured in this run of the tests.
var checked struct {
	sync.Mutex
	looks map[string]map[string]bool
}

// Axe checks the page with the rules of axe-core; those about colors, which take most of the time, only with colors, and then in both themes.
// Contrast is measured once for each look (unseen.js), in whatever state and test that comes first. Violations are reported once a page. Of a
// page with a modal dialog or a menu it checks that alone.
func Axe(t *testing.T, ctx context.Context, state string, colors bool) {
	t.Helper()
	for _, v := range violations(t, ctx, colors) {
		t.Errorf("%s, %s", state, v)
	}
}

func violations(t *testing.T, ctx context.Context, colors bool) (all []string) {
	t.Helper()
	source, err := axeSource()
	if err != nil {
		if os.Getenv("WIREBENCH_BROWSER") == "required" {
			t.Fatal("axe-core is missing: npm ci in web/")
		}
		t.Skip("axe-core is not installed: npm ci in web/")
	}
	if !Value[bool](t, ctx, `"axe" in window`) {
		Run(t, ctx, chromedp.Evaluate(source+";"+unseen+";undefined", nil))
	}
	const (
		root   = `([...document.querySelectorAll("dialog:modal")].at(-1) ?? document.querySelector(".pop:has([role^=menuitem])") ?? document)`
		report = `axe.run(%s, {%s, resultTypes: ["violations"]}).then((r) => r.violations.map((v) => [v, v.nodes.filter((n) => { const key = v.id + n.target; const seen = (window.axeSeen ??= new Set()).has(key); axeSeen.add(key); return !seen; })])
			.filter(([, nodes]) => nodes.length > 0).map(([v, nodes]) => v.id + " (" + v.help + ")\n" + nodes.slice(0, 6).map((n) => "    " + n.target.join(" ") + "\n      " + n.html.slice(0, 200) + "\n      " + n.failureSummary.replaceAll("\n", " ").slice(0, 300)).join("\n")))`
		contrast = `"color-contrast", "link-in-text-block"`
	)
	awaited := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	themes := []string{"light", "dark"}
	if Value[bool](t, ctx, `matchMedia("(prefers-color-scheme: dark)").matches`) { // to change it is work for the browser
		slices.Reverse(themes)
	}
	if !colors {
		themes = themes[:1]
	}
	for i, theme := range themes {
		Run(t, ctx, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}), Painted())
		var found []string
		if i == 0 {
			Run(t, ctx, chromedp.Evaluate(fmt.Sprintf(report, root, `rules: {"color-contrast": {enabled: false}, "link-in-text-block": {enabled: false}}`), &found, awaited))
		}
		if colors {
			var more []string
			Run(t, ctx, chromedp.Evaluate(fmt.Sprintf(`(window.unseenTexts = unseen(%s, new Set(%s))).length === 0 ? [] : `, root, looks(theme))+ // at once: the page may draw them anew
				fmt.Sprintf(report, `{include: unseenTexts.map((u) => u.element)}`, `runOnly: [`+contrast+`]`), &more, awaited))
			found = append(found, more...)
			see(theme, Value[[]string](t, ctx, `unseenTexts.map((u) => u.look)`))
		}
		for _, v := range found {
			all = append(all, theme+": "+strings.TrimSpace(v))
		}
	}
	return all
}

// looks returns those that were checked in a theme, as JavaScript.
func looks(theme string) string {
	checked.Lock()
	defer checked.Unlock()
	list, _ := json.Marshal(slices.Collect(maps.Keys(checked.looks[theme])))
	return string(list)
}

func see(theme string, looks []string) {
	checked.Lock()
	defer checked.Unlock()
	if checked.looks == nil {
		checked.looks = map[string]map[string]bool{"light": {}, "dark": {}}
	}
	for _, look := range looks {
		checked.looks[theme][look] = true
	}
}
