package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
func bundle(web string) (bundled, error) {
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: web,
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: "src/main.ts", OutputPath: "app"},
			{InputPath: "src/app.css", OutputPath: "app"},
		},
		Outdir:            "out", // never written: only the names of the files are used
		Bundle:            true,
		Format:            api.FormatIIFE,
		Engines:           engines,
		Charset:           api.CharsetUTF8,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsInline,
		Sourcemap:         api.SourceMapNone,
		Metafile:          true,
		LogLevel:          api.LogLevelSilent,
		TsconfigRaw:       `{"compilerOptions":{"strict":true,"target":"ES2023","verbatimModuleSyntax":true}}`,
	})
	if messages := slices.Concat(result.Errors, result.Warnings); len(messages) > 0 {
		text := api.FormatMessages(messages, api.FormatMessagesOptions{})
		return bundled{}, fmt.Errorf("bundle %s:\n%s", web, strings.Join(text, ""))
	}
	out := bundled{
		files:   map[string][]byte{},
		summary: api.AnalyzeMetafile(result.Metafile, api.AnalyzeMetafileOptions{}),
	}
	for _, file := range result.OutputFiles {
		out.files[filepath.Base(file.Path)] = file.Contents
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
