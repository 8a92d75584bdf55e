package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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

// importsFile names the scripts that each script of a page imports, so that pages request them at once.
const importsFile = "imports.json"

// bundle builds the files of static/ from the directory web. It writes nothing.
//
// early.js runs before the first drawing. The other scripts are modules: code that several of them need, and code that is imported on demand
// (import("./x")), is in files of chunks/, whose names contain the hash of their content.
func bundle(web string) (bundled, error) {
	out := bundled{files: map[string][]byte{}}
	early := []api.EntryPoint{{InputPath: "src/app/app.css", OutputPath: "app"}}
	modules := []api.EntryPoint{{InputPath: "src/app/main.ts", OutputPath: "app"}}
	for _, name := range []string{"early", "place", "workbench", "capture"} { // a test has main.ts only
		list, entry := &modules, "src/app/"+name+".ts"
		if name == "early" {
			list = &early
		}
		if _, err := os.Stat(filepath.Join(web, entry)); err == nil {
			*list = append(*list, api.EntryPoint{InputPath: entry, OutputPath: name})
		}
	}
	if err := out.build(web, early, api.FormatIIFE); err != nil {
		return bundled{}, err
	}
	if err := out.build(web, modules, api.FormatESModule, ofEarly(web, "kit/sizes")); err != nil {
		return bundled{}, err
	}
	icon, err := os.ReadFile(filepath.Join(web, "src", "app", "favicon.svg"))
	if err != nil {
		return bundled{}, fmt.Errorf("read the icon: %w", err)
	}
	out.files["favicon.svg"] = icon
	return out, nil
}

// stale returns the names of files that the directory static lacks or has with other content, and of old files in chunks/, sorted.
func (b bundled) stale(static string) []string {
	var names []string
	for name, content := range b.files {
		old, err := os.ReadFile(filepath.Join(static, name))
		if err != nil || !bytes.Equal(old, content) {
			names = append(names, name)
		}
	}
	old, _ := os.ReadDir(filepath.Join(static, "chunks")) // there may be none
	for _, file := range old {
		if name := "chunks/" + file.Name(); b.files[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// write writes the named files to static, and removes those that are not in b.
func (b bundled) write(static string, names []string) error {
	var errs []error
	for _, name := range names {
		path := filepath.Join(static, name)
		if b.files[name] == nil {
			errs = append(errs, os.Remove(path))
			continue
		}
		if dir := filepath.Dir(path); dir != filepath.Clean(static) {
			if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				errs = append(errs, err)
			}
		}
		errs = append(errs, os.WriteFile(path, b.files[name], 0o644))
	}
	return errors.Join(errs...)
}

// build bundles files.
func (b *bundled) build(web string, entries []api.EntryPoint, format api.Format, plugins ...api.Plugin) error {
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:       web,
		EntryPointsAdvanced: entries,
		Plugins:             plugins,
		Outdir:              "out", // only for the names of the files; nothing is written
		Bundle:              true,
		Format:              format,
		Splitting:           format == api.FormatESModule,
		ChunkNames:          "chunks/[name]-[hash]",
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
	out := filepath.Join(web, "out")
	for _, file := range result.OutputFiles {
		name, err := filepath.Rel(out, file.Path)
		if err != nil {
			return fmt.Errorf("name of %s: %w", file.Path, err)
		}
		b.files[filepath.ToSlash(name)] = file.Contents
	}
	if format != api.FormatESModule {
		return nil
	}
	imports, err := importsOf(result.Metafile, entries)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(imports, "", "\t")
	if err != nil {
		return fmt.Errorf("write the imports: %w", err)
	}
	b.files[importsFile] = append(text, '\n')
	return nil
}

// importsOf lists the scripts that each entry imports when it is loaded, directly or not, by the names in static/.
func importsOf(metafile string, entries []api.EntryPoint) (map[string][]string, error) {
	var meta struct {
		Outputs map[string]struct {
			Imports []struct{ Path, Kind string }
		}
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return nil, fmt.Errorf("read the imports: %w", err)
	}
	imports := map[string][]string{}
	for _, entry := range entries {
		list := []string{}
		var follow func(name string)
		follow = func(name string) {
			for _, i := range meta.Outputs["out/"+name].Imports {
				to := strings.TrimPrefix(i.Path, "out/")
				if i.Kind == "import-statement" && !slices.Contains(list, to) {
					list = append(list, to)
					follow(to)
				}
			}
		}
		follow(entry.OutputPath + ".js")
		imports[entry.OutputPath+".js"] = list
	}
	return imports, nil
}

// ofEarly makes modules take a module from early.js, which has its state and puts it into the global wirebench. File is its path in src, without
// the extension.
func ofEarly(web, file string) api.Plugin {
	path, module := filepath.Join(web, "src", filepath.FromSlash(file)), file[strings.LastIndexByte(file, '/')+1:]
	return api.Plugin{Name: "early", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: `^\..*/` + module + `$`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
			if filepath.Join(a.ResolveDir, filepath.FromSlash(a.Path)) != path {
				return api.OnResolveResult{}, nil
			}
			return api.OnResolveResult{Path: module, Namespace: "early"}, nil
		})
		b.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "early"}, func(a api.OnLoadArgs) (api.OnLoadResult, error) {
			text := "module.exports = globalThis.wirebench." + a.Path
			return api.OnLoadResult{Contents: &text, Loader: api.LoaderJS}, nil
		})
	}}
}
