package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// bundled is the content of static/ built from web/src.
type bundled struct {
	files   map[string][]byte // by name in static/
	summary string            // sizes of the contents, as text
}

// engines are the oldest browsers that support everything the pages use without a fallback; light-dark() in CSS is the newest feature.
var engines = []api.Engine{
	{Name: api.EngineChrome, Version: "123"},
	{Name: api.EngineFirefox, Version: "128"},
	{Name: api.EngineSafari, Version: "17.5"},
}

// scripts are the files that pages load, in loading order.
var scripts = []struct{ name, entry, shares string }{
	{"early", "early.ts", "early.ts"},             // before the first drawing
	{"app", "main.ts", "shared.ts"},               // on every page
	{"capture", "capture.ts", "frames/shared.ts"}, // on pages that list frames
	{"dialogs", "dialogs/script.ts", ""},          // loaded when a dialog is first opened
	{"drawers", "frames/drawers.ts", ""},          // loaded when a drawer is first opened
}

// pages are the scripts that a page loads when it opens, and their maximum size.
var pages = []struct {
	name    string
	scripts []string
	most    int // bytes, gzipped
}{
	{"workbench", []string{"early.js", "app.js"}, 200_000},
	{"capture page", []string{"early.js", "app.js", "capture.js"}, 250_000},
}

// bundle builds the files of static/ from the directory web. It writes nothing.
//
// A script imports modules that earlier scripts of its page contain from them, see shared.
func bundle(web string) (bundled, error) {
	out := bundled{files: map[string][]byte{}}
	if err := out.build(web, []api.EntryPoint{{InputPath: "src/app.css", OutputPath: "app"}}); err != nil {
		return bundled{}, err
	}
	names := map[string]string{}
	for _, s := range scripts {
		if _, err := os.Stat(filepath.Join(web, "src", s.entry)); err != nil && s.name != "app" {
			continue // a test, which is one script
		}
		if err := out.build(web, []api.EntryPoint{{InputPath: "src/" + s.entry, OutputPath: s.name}}, shared(names)); err != nil {
			return bundled{}, err
		}
		if s.shares == "" {
			continue
		}
		if err := sharedBy(filepath.Join(web, "src", filepath.FromSlash(s.shares)), names); err != nil && !errors.Is(err, os.ErrNotExist) {
			return bundled{}, err
		}
	}
	icon, err := os.ReadFile(filepath.Join(web, "src", "favicon.svg"))
	if err != nil {
		return bundled{}, fmt.Errorf("read the icon: %w", err)
	}
	out.files["favicon.svg"] = icon
	return out, nil
}

// stale returns the names of files that the directory static lacks or has with other content, sorted.
func (b bundled) stale(static string) []string {
	var names []string
	for name, content := range b.files {
		old, err := os.ReadFile(filepath.Join(static, name))
		if err != nil || !bytes.Equal(old, content) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// write writes the named files to static.
func (b bundled) write(static string, names []string) error {
	var errs []error
	for _, name := range names {
		errs = append(errs, os.WriteFile(filepath.Join(static, name), b.files[name], 0o644))
	}
	return errors.Join(errs...)
}

// build bundles files.
func (b *bundled) build(web string, entries []api.EntryPoint, plugins ...api.Plugin) error {
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:       web,
		EntryPointsAdvanced: entries,
		Plugins:             plugins,
		Outdir:              "out", // only for the names of the files; nothing is written
		Bundle:              true,
		Format:              api.FormatIIFE,
		Engines:             engines,
		Charset:             api.CharsetUTF8,
		JSXFactory:          "h",
		JSXFragment:         "Fragment",
		MinifyWhitespace:    true,
		MinifyIdentifiers:   true,
		MinifySyntax:        true,
		LegalComments:       api.LegalCommentsInline,
		Sourcemap:           api.SourceMapNone,
		Metafile:            true,
		LogLevel:            api.LogLevelSilent,
		TsconfigRaw:         `{"compilerOptions":{"strict":true,"target":"ES2023","verbatimModuleSyntax":true}}`,
	})
	if messages := slices.Concat(result.Errors, result.Warnings); len(messages) > 0 {
		text := api.FormatMessages(messages, api.FormatMessagesOptions{})
		return fmt.Errorf("bundle %s:\n%s", web, strings.Join(text, ""))
	}
	b.summary += api.AnalyzeMetafile(result.Metafile, api.AnalyzeMetafileOptions{})
	for _, file := range result.OutputFiles {
		b.files[filepath.Base(file.Path)] = file.Contents
	}
	return nil
}

var sharedImport = regexp.MustCompile(`import \* as (\w+) from "\./([^"]+)"`)

// sharedBy adds the modules that file imports as a whole to names, by path: the script of the file shares them.
func sharedBy(file string, names map[string]string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the shared modules: %w", err)
	}
	for _, m := range sharedImport.FindAllStringSubmatch(string(text), -1) {
		names[filepath.Join(filepath.Dir(file), filepath.FromSlash(m[2]))] = m[1]
	}
	return nil
}

// shared makes a script take modules from earlier scripts, which put them into the global wirebench. A page then has one copy.
func shared(names map[string]string) api.Plugin {
	names = maps.Clone(names)
	return api.Plugin{Name: "shared", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: `^\.`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if name := names[filepath.Join(a.ResolveDir, filepath.FromSlash(a.Path))]; name != "" {
				return api.OnResolveResult{Path: name, Namespace: "shared"}, nil
			}
			return api.OnResolveResult{}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "shared"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			module := "module.exports = globalThis.wirebench." + a.Path
			return api.OnLoadResult{Contents: &module, Loader: api.LoaderJS}, nil
		})
	}}
}

// weigh lists the size of the scripts of each page. It fails if a page exceeds its maximum.
func (b bundled) weigh() (string, error) {
	var text strings.Builder
	var err error
	for _, p := range pages {
		sum := 0
		for _, name := range p.scripts {
			n, failed := gzipped(b.files[name])
			if failed != nil {
				return "", failed
			}
			sum += n
		}
		fmt.Fprintf(&text, "%s: %d bytes of JavaScript, gzipped, of %d (%s)\n", p.name, sum, p.most, strings.Join(p.scripts, ", "))
		if sum > p.most {
			err = errors.Join(err, fmt.Errorf("the scripts of %s have %d bytes gzipped; the maximum is %d", p.name, sum, p.most))
		}
	}
	return text.String(), err
}

func gzipped(content []byte) (int, error) {
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return 0, err
	}
	if _, err := z.Write(content); err != nil {
		return 0, err
	}
	if err := z.Close(); err != nil {
		return 0, err
	}
	return buf.Len(), nil
}
