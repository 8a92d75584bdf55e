package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// supervisor is the only package that starts goroutines: see its documentation.
const supervisor = "server/supervise"

// recovers lists the functions that recover from a panic themselves, with the reason.
var recovers = map[string]string{
	"server/safety.go recovered":        "the handler of a request answers it with an error",
	"server/proxy/rules.go rescue":      "a filter or a rule fails for one message, a transport for one connection",
	"defs/emit/compile.go try":          "a message that a target cannot have is left out; other panics go on",
	"defs/wire/compile.go CompileApart": "mistakes deep in a definition; other panics go on",
	"defs/kaitai/expr.go parse":         "mistakes deep in an expression; other panics go on",
	"defs/kaitai/lower.go caught":       "what a field of a format cannot be; other panics go on",
	"defs/kaitai/node.go read":          "the package for YAML panics for some texts",
	"defs/protobuf/parse.go read":       "the package for the language panics for some texts",
	"defs/protobuf/sets.go ReadSet":     "the packages for the language expect what a compiler wrote",
	"server/supervise/supervise.go Do":  "the mechanism",
}

// unsupervised returns the places in a tree that start goroutines outside of the supervisor, and those that recover and are not in the list.
// Packages below codec and defs start none at all. What only tests use is not of the program.
func unsupervised(t *testing.T, root fs.FS) (found []string) {
	t.Helper()
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "node_modules" || entry.Name() == ".git") {
			return fs.SkipDir
		}
		ours := under(name, "server") && !under(name, "server/servertest") || under(name, "cmd/wirebench") || under(name, "codec") || under(name, "defs") || under(name, "templates")
		if entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || !ours {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, 0)
		if err != nil {
			return err
		}
		in := ""
		add := func(n ast.Node, what string) {
			found = append(found, name+":"+strconv.Itoa(set.Position(n.Pos()).Line)+" "+what)
		}
		pure := under(name, "codec") || under(name, "defs") || under(name, "templates")
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				in = f.Name.Name
			}
			ast.Inspect(d, func(n ast.Node) bool {
				switch x := n.(type) {
				case *ast.GoStmt:
					if path.Dir(name) != supervisor {
						add(x, "starts a goroutine")
					}
				case *ast.ImportSpec:
					if strings.Contains(x.Path.Value, "errgroup") || pure && strings.Contains(x.Path.Value, supervisor) {
						add(x, "imports "+x.Path.Value)
					}
				case *ast.SelectorExpr:
					if of, ok := x.X.(*ast.Ident); ok && pure && of.Name == "sync" && x.Sel.Name == "WaitGroup" {
						add(x, "waits for goroutines")
					}
				case *ast.CallExpr:
					switch f := x.Fun.(type) {
					case *ast.Ident:
						if _, known := recovers[name+" "+in]; f.Name == "recover" && len(x.Args) == 0 && !known {
							add(x, "recovers")
						}
					case *ast.SelectorExpr:
						switch of, _ := f.X.(*ast.Ident); {
						case path.Dir(name) == supervisor:
						case f.Sel.Name == "AfterFunc":
							add(x, "starts a goroutine by AfterFunc")
						case f.Sel.Name == "Go" && len(x.Args) != 3 && !pure: // in pure packages it is a method of their own
							add(x, "starts a goroutine by Go")
						case f.Sel.Name == "Serve" && of != nil && of.Name == "http":
							add(x, "serves HTTP without the server's handler")
						}
					}
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestSupervised checks that a panic ends one thing alone, wherever it happens: every goroutine is started by the supervisor.
func TestSupervised(t *testing.T) {
	root := os.DirFS("../..")
	lookAtTree(t, root)
	for _, place := range unsupervised(t, root) {
		t.Error(place)
	}
}

// TestUnsupervised checks each rule with an artificial violation.
func TestUnsupervised(t *testing.T) {
	file := func(body string) *fstest.MapFile { return &fstest.MapFile{Data: []byte("package p\n" + body)} }
	root := fstest.MapFS{
		"server/a.go":              file("func f() { go f() }"),
		"server/b.go":              file("func f() { wg.Go(f) }"),
		"server/c.go":              file("func f() { time.AfterFunc(1, f); defer context.AfterFunc(c, f)() }"),
		"server/d.go":              file("func f() { defer func() { recover() }() }"),
		"server/e.go":              file("func f() { supervise.Go(\"x\", nil, f); g.Go(\"x\", nil, f) }"),
		"server/e_test.go":         file("func f() { go f() }"),
		"server/supervise/s.go":    file("func f() { go f() }"),
		"codec/a.go":               file("var g sync.WaitGroup\nfunc f() { g.Go(f) }"),
		"codec/testdata/a.go":      file("func f() { go f() }"),
		"defs/a.go":                file("func f() { func() { go f() }() }"),
		"cmd/wirebench/demo/a.go":  file("import \"golang.org/x/sync/errgroup\"\nvar x errgroup.Group"),
		"web/build/main.go":        file("func f() { go f() }"),
		"server/proxy/rules.go":    file("func rescue() { recover() }"),
		"server/proxy/recover.go":  file("func (c *clues) f() { c.recover(1); recover := 1; _ = recover }"),
		"cmd/wirebench/listen.go":  file("func f() { http.Serve(l, h) }"),
		"cmd/wirebench/serving.go": file("func f() { srv.Serve(l) }"),
	}
	want := []string{
		"cmd/wirebench/demo/a.go:2 imports \"golang.org/x/sync/errgroup\"",
		"cmd/wirebench/listen.go:2 serves HTTP without the server's handler",
		"codec/a.go:2 waits for goroutines",
		"defs/a.go:2 starts a goroutine",
		"server/a.go:2 starts a goroutine",
		"server/b.go:2 starts a goroutine by Go",
		"server/c.go:2 starts a goroutine by AfterFunc",
		"server/c.go:2 starts a goroutine by AfterFunc",
		"server/d.go:2 recovers",
	}
	got := unsupervised(t, root)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}
