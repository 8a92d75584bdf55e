package browsertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

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

// Axe checks the page with the rules of axe-core; those about colors, which take most of the time, only with colors, and then in both themes.
// It reports violations, each once a page. Of a page with a modal dialog or a menu it checks that alone.
func Axe(t *testing.T, ctx context.Context, state string, colors bool) {
	t.Helper()
	source, err := axeSource()
	if err != nil {
		if os.Getenv("WIREBENCH_BROWSER") == "required" {
			t.Fatal("axe-core is missing: npm ci in web/")
		}
		t.Skip("axe-core is not installed: npm ci in web/")
	}
	if !Value[bool](t, ctx, `"axe" in window`) {
		Run(t, ctx, chromedp.Evaluate(source+";undefined", nil))
	}
	themes := []struct{ name, rules string }{{"light", `{}`}, {"dark", `{runOnly: ["color-contrast", "link-in-text-block"]}`}}
	if !colors {
		themes = themes[:1]
		themes[0].rules = `{rules: {"color-contrast": {enabled: false}}}`
	}
	for _, theme := range themes {
		media := emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: theme.name}, {Name: "prefers-reduced-motion", Value: "reduce"},
		})
		var found []string
		// What is behind a modal dialog cannot be reached; it and what is behind a menu are checked without these.
		const report = `axe.run([...document.querySelectorAll("dialog:modal")].at(-1) ?? document.querySelector(".pop:has([role^=menuitem])") ?? document, Object.assign(%s, {resultTypes: ["violations"]})).then((r) => r.violations.map((v) => [v, v.nodes.filter((n) => { const key = v.id + n.target; const seen = (window.axeSeen ??= new Set()).has(key); axeSeen.add(key); return !seen; })])
			.filter(([, nodes]) => nodes.length > 0).map(([v, nodes]) => v.id + " (" + v.help + ")\n" + nodes.slice(0, 6).map((n) => "    " + n.target.join(" ") + "\n      " + n.html.slice(0, 200) + "\n      " + n.failureSummary.replaceAll("\n", " ").slice(0, 300)).join("\n")))`
		Run(t, ctx, media, Painted(), chromedp.Evaluate(fmt.Sprintf(report, theme.rules), &found, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
		for _, v := range found {
			t.Errorf("%s, %s: %s", state, theme.name, strings.TrimSpace(v))
		}
	}
}
