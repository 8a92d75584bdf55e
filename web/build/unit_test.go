package main

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/evanw/esbuild/pkg/api"

	"wirebench/defs/tooltest"
	"wirebench/web/browsertest"
)

// TestBrowserUnit runs web/src/**/*.test.ts in a browser.
func TestBrowserUnit(t *testing.T) {
	web := tooltest.Packages(t, "..", "preact")
	script := bundleTests(t, web)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><body><main id="main">tests</main><script src="/tests.js"></script>`)
		case "/tests.js":
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
			w.Write(script)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	ctx := browsertest.Open(t, srv.URL, "#main")
	var result struct {
		Count  int
		Failed []string
	}
	browsertest.Run(t, ctx, chromedp.Evaluate(`unit.runTests()`, &result, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if result.Count == 0 {
		t.Error("there are no tests")
	}
	for _, f := range result.Failed {
		t.Error(f)
	}
	t.Logf("%d tests", result.Count)
}

// bundleTests bundles all tests into one script, with their runner as the global unit.
func bundleTests(t *testing.T, web string) []byte {
	t.Helper()
	var entry strings.Builder
	err := filepath.WalkDir(filepath.Join(web, "src"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".test.ts") {
			return err
		}
		rel, err := filepath.Rel(filepath.Join(web, "src"), name)
		fmt.Fprintf(&entry, "import %q;\n", "./"+filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	entry.WriteString("export { runTests } from \"./kit/testing\";\n")
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: web,
		Stdin:         &api.StdinOptions{Contents: entry.String(), ResolveDir: filepath.Join(web, "src"), Sourcefile: "all.test.ts", Loader: api.LoaderTS},
		Bundle:        true,
		Format:        api.FormatIIFE,
		GlobalName:    "unit",
		Engines:       engines,
		Charset:       api.CharsetUTF8,
		JSXFactory:    "h",
		JSXFragment:   "Fragment",
		LogLevel:      api.LogLevelSilent,
		TsconfigRaw:   `{"compilerOptions":{"strict":true,"target":"ES2023","verbatimModuleSyntax":true}}`,
	})
	if len(result.Errors) > 0 {
		t.Fatal(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), "\n"))
	}
	return result.OutputFiles[0].Contents
}
