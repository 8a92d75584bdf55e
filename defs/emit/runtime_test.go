package emit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"

	"wirebench/defs"
	"wirebench/defs/emit"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// declared returns the functions of a file by name, those of the coder as x.name, and what each calls or names.
func declared(t *testing.T, name string, text any, into map[string][]string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		of := fn.Name.Name
		if fn.Recv != nil {
			of = "x." + of
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				into[of] = append(into[of], "x."+n.Sel.Name)
			case *ast.Ident:
				if n != fn.Name {
					into[of] = append(into[of], n.Name)
				}
			}
			return true
		})
	}
}

// TestRuntimeIsUsed: generated code of the definitions of the tests calls every function of the runtime, in turn or at once, or a test of the runtime
// does. Methods of interfaces of the standard library are called by that.
func TestRuntimeIsUsed(t *testing.T) {
	runtime := map[string][]string{}
	files, err := filepath.Glob("runtime/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, name := range files {
		if filepath.Base(name) != "runtime_test.go" {
			declared(t, name, nil, runtime)
		}
	}
	target, _ := emit.Find("go")
	own, tests := map[string]bool{}, map[string][]string{}
	declared(t, "runtime/runtime_test.go", nil, tests)
	for _, uses := range tests {
		for _, u := range uses {
			own[u] = true
		}
	}
	for _, d := range defs.Dialects {
		c, err := txtar.ParseFile(filepath.Join("testdata/lua/parts", d.Name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		if d.Name == "kaitai" {
			more, err := txtar.ParseFile("../kaitai/testdata/peer.txtar")
			if err != nil {
				t.Fatal(err)
			}
			c.Files = append(c.Files, more.Files...)
			more, err = txtar.ParseFile("../kaitai/testdata/types.txtar")
			if err != nil {
				t.Fatal(err)
			}
			c.Files = append(c.Files, more.Files...)
		}
		for _, f := range c.Files {
			s, _ := defs.Load([]*source.File{source.New(f.Name, string(f.Data))}, d.Name, schema.Options{})
			out, _ := target.Emit(s, emit.Options{Name: "parts"})
			code := map[string][]string{}
			declared(t, f.Name, out[0].Text, code)
			for name, uses := range code {
				if _, ok := runtime[name]; !ok {
					for _, u := range uses {
						own[u] = true
					}
				}
			}
		}
	}
	called := []string{"x.Error", "x.Unwrap", "x.String", "x.MarshalJSON", "x.UnmarshalJSON", "x.MarshalText", "x.UnmarshalText"}
	for _, name := range called {
		own[name] = true
	}
	for again := true; again; {
		again = false
		for name, uses := range runtime {
			if !own[name] {
				continue
			}
			for _, u := range uses {
				if _, ok := runtime[u]; ok && !own[u] {
					own[u], again = true, true
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(runtime)) {
		if !own[name] {
			t.Errorf("%s: no code calls it", name)
		}
	}
}
