package protodef_test

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"wirebench/codec"
	"wirebench/defs/protodef"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

func TestScratch(t *testing.T) {
	var files []string
	if dir := os.Getenv("PROTODEF_DIR"); dir != "" {
		filepath.Walk(dir, func(p string, _ os.FileInfo, _ error) error {
			if filepath.Base(p) == "protocol.json" {
				files = append(files, p)
			}
			return nil
		})
	} else {
		files, _ = filepath.Glob("../../../shared/corpora/protodef/*.json")
	}
	sort.Strings(files)
	for _, name := range files {
		text, _ := os.ReadFile(name)
		f := source.New(filepath.Base(name), string(text))
		s, diags := protodef.Parse([]*source.File{f}, schema.Options{})
		errs := 0
		most, deep := 0, 0
		for _, m := range s.Messages {
			p, err := codec.Compile(m)
			if err != nil {
				errs++
				if errs < 4 {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			most = max(most, len(p.Fields))
			deep = max(deep, len(p.Ops))
		}
		if len(diags) > 0 {
			r := diags.Render()
			if len(r) > 1500 {
				r = r[:1500]
			}
			t.Errorf("%s: %d diagnostics\n%s", name, len(diags), r)
		}
		t.Logf("%s: %d messages, %d errors, %d diagnostics, at most %d fields, %d ops", strings.TrimPrefix(name, os.Getenv("PROTODEF_DIR")), len(s.Messages), errs, len(diags), most, deep)
	}
}
