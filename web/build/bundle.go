package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// bundled is the content of static/ as web/src gives it.
type bundled struct {
	files   map[string][]byte // by name in static/
	summary string            // what takes the room, for people
}

// engines are the first browsers that have all that the pages use without a fallback; light-dark() in CSS is the youngest.
var engines = []api.Engine{
	{Name: api.EngineChrome, Version: "123"},
	{Name: api.EngineFirefox, Version: "128"},
	{Name: api.EngineSafari, Version: "17.5"},
}

// bundle builds the pages' files from the sources below the directory web. It writes nothing.
//
// app.js is on every page. capture.js is on those that list frames, beside app.js: what both need is in app.js alone, see shared.
func bundle(web string) (bundled, error) {
	out := bundled{files: map[string][]byte{}}
	if err := out.build(web, []api.EntryPoint{{InputPath: "src/main.ts", OutputPath: "app"}, {InputPath: "src/app.css", OutputPath: "app"}}); err != nil {
		return bundled{}, err
	}
	if _, err := os.Stat(filepath.Join(web, "src", "capture.ts")); err == nil {
		plugin, err := shared(web)
		if err != nil {
			return bundled{}, err
		}
		if err := out.build(web, []api.EntryPoint{{InputPath: "src/capture.ts", OutputPath: "capture"}}, plugin); err != nil {
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

// stale names the files that the directory static lacks or holds with other content, sorted.
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

// write writes the named files to the directory static.
func (b bundled) write(static string, names []string) error {
	var errs []error
	for _, name := range names {
		errs = append(errs, os.WriteFile(filepath.Join(static, name), b.files[name], 0o644))
	}
	return errors.Join(errs...)
}

// build bundles some files.
func (b *bundled) build(web string, entries []api.EntryPoint, plugins ...api.Plugin) error {
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:       web,
		EntryPointsAdvanced: entries,
		Plugins:             plugins,
		Outdir:              "out", // never written: only the names of the files are used
		Bundle:              true,
		Format:              api.FormatIIFE,
		Engines:             engines,
		Charset:             api.CharsetUTF8,
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

// shared lets a bundle take the modules that src/shared.ts names from app.js, which has them once for all of a page.
func shared(web string) (api.Plugin, error) {
	src := filepath.Join(web, "src")
	text, err := os.ReadFile(filepath.Join(src, "shared.ts"))
	if err != nil {
		return api.Plugin{}, fmt.Errorf("read what bundles share: %w", err)
	}
	names := map[string]string{} // by path
	for _, m := range sharedImport.FindAllStringSubmatch(string(text), -1) {
		names[filepath.Join(src, filepath.FromSlash(m[2]))] = m[1]
	}
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
	}}, nil
}
