package defs

import (
	"fmt"
	"slices"
	"strings"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Load reads a set of definitions of one dialect and links them. If dialect is "", it is detected from the files, which must all be of
// the same dialect. The schema is usable even if there are diagnostics; without a dialect it is empty.
func Load(files []*source.File, dialect string, o schema.Options) (*schema.Schema, diag.List) {
	var diags diag.List
	if dialect == "" {
		found := detectAll(files)
		switch len(found) {
		case 1:
			dialect = found[0]
		case 0:
			if len(files) > 0 {
				diags.Add(noDialect(files[0]))
			}
			return empty(), diags
		default:
			diags.Add(severalDialects(files[0], found))
			return empty(), diags
		}
	}
	d, ok := Find(dialect)
	if !ok {
		diags.Add(unreadableDialect(dialect, files))
		return empty(), diags
	}
	s := build.New(d.Rules, files, o)
	return s.Schema(), s.Diagnostics()
}

// empty returns a schema without messages.
func empty() *schema.Schema { return &schema.Schema{ByKey: map[schema.Key]*schema.Message{}} }

// detectAll returns the dialects of all files, sorted.
func detectAll(files []*source.File) []string {
	var found []string
	for _, f := range files {
		if name, ok := Detect(f); ok && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// The diagnostics of loading.

func noDialect(f *source.File) diag.Diagnostic {
	return diag.Diagnostic{
		Code:    "no-dialect",
		Message: "these files do not look like definitions",
		Help:    "the supported languages are " + strings.Join(titles(), ", ") + "; specify one",
		Span:    source.Span{File: f},
	}
}

func titles() []string {
	var out []string
	for _, d := range Dialects {
		out = append(out, d.Name+" ("+d.Title+")")
	}
	return out
}

func severalDialects(f *source.File, found []string) diag.Diagnostic {
	return diag.Diagnostic{
		Code:    "several-dialects",
		Message: "the files are in several languages: " + strings.Join(found, ", "),
		Help:    "specify one of them",
		Span:    source.Span{File: f},
	}
}

func unreadableDialect(name string, files []*source.File) diag.Diagnostic {
	known := make([]string, len(Dialects))
	for i, d := range Dialects {
		known[i] = d.Name
	}
	d := diag.Diagnostic{
		Code:    "unknown-dialect",
		Message: fmt.Sprintf("unknown language %q", name),
		Help:    "the supported languages are " + strings.Join(known, ", "),
	}
	if len(files) > 0 {
		d.Span = source.Span{File: files[0]}
	}
	return d
}
