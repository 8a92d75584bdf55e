package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// closedSets are the types whose constants are all there are: kinds of parts, of ops, of nodes. A switch over one of them names each, or has a
// default, so that no walk forgets a new kind in silence.
var closedSets = []string{"defs/wire.Kind", "codec.OpCode", "codec.NodeKind", "codec/columns.Kind", "codec/parquet.nodeKind"}

// goFile is a parsed file of a package.
type goFile struct {
	pkg  string // "codec/value"
	path string
	ast  *ast.File
}

// goFiles parses the files of all packages, without tests and generated ones.
func goFiles(t *testing.T, set *token.FileSet) (out []goFile) {
	t.Helper()
	for _, root := range []string{"cmd", "codec", "defs", "server"} {
		root = filepath.Join("..", "..", root)
		if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules") {
				return fs.SkipDir
			}
			if d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			f, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			pkg, err := filepath.Rel(filepath.Join("..", ".."), filepath.Dir(path))
			out = append(out, goFile{filepath.ToSlash(pkg), path, f})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// constantsOf returns the names of the constants of a type, which are in one declaration that begins with the type.
func constantsOf(files []goFile, pkg, typ string) (names []string) {
	for _, f := range files {
		if f.pkg != pkg {
			continue
		}
		for _, d := range f.ast.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST || len(g.Specs) == 0 {
				continue
			}
			first, _ := g.Specs[0].(*ast.ValueSpec)
			if id, ok := first.Type.(*ast.Ident); !ok || id.Name != typ {
				continue
			}
			for _, s := range g.Specs {
				for _, n := range s.(*ast.ValueSpec).Names {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}

// open returns what each switch over a set lacks that has no default.
func open(set *token.FileSet, files []goFile, pkg string, constants []string) (out []string, switches int) {
	for _, f := range files {
		qualifier := ""
		for _, imp := range f.ast.Imports {
			if strings.Trim(imp.Path.Value, `"`) == "wirebench/"+pkg {
				qualifier = filepath.Base(pkg)
				if imp.Name != nil {
					qualifier = imp.Name.Name
				}
			}
		}
		if qualifier == "" && f.pkg != pkg {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			s, ok := n.(*ast.SwitchStmt)
			if !ok || s.Tag == nil {
				return true
			}
			named, whole := map[string]bool{}, false
			for _, c := range s.Body.List {
				list := c.(*ast.CaseClause).List
				whole = whole || list == nil
				for _, x := range list {
					name := ""
					switch x := x.(type) {
					case *ast.Ident:
						if f.pkg == pkg {
							name = x.Name
						}
					case *ast.SelectorExpr:
						if id, ok := x.X.(*ast.Ident); ok && id.Name == qualifier {
							name = x.Sel.Name
						}
					}
					if slices.Contains(constants, name) {
						named[name] = true
					}
				}
			}
			if len(named) == 0 {
				return true
			}
			switches++
			var lacks []string
			for _, c := range constants {
				if !named[c] {
					lacks = append(lacks, c)
				}
			}
			if !whole && len(lacks) > 0 {
				out = append(out, fmt.Sprintf("%s lacks %s, and has no default", set.Position(s.Pos()), strings.Join(lacks, ", ")))
			}
			return true
		})
	}
	return out, switches
}

func TestClosedSets(t *testing.T) {
	set := token.NewFileSet()
	files := goFiles(t, set)
	for _, name := range closedSets {
		pkg, typ, _ := strings.Cut(name, ".")
		constants := constantsOf(files, pkg, typ)
		lacking, switches := open(set, files, pkg, constants)
		if len(constants) < 2 || switches == 0 {
			t.Errorf("%s: %d constants, %d switches", name, len(constants), switches)
		}
		for _, l := range lacking {
			t.Errorf("%s: %s", name, l)
		}
	}
}
