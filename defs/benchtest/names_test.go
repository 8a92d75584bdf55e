package benchtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folders: .ci/run looks for tests and benchmarks with these names in these folders.
var folders = map[string][]string{
	"TestTool": code, "TestCorpora": code, "BenchmarkMust": code, "Fuzz": code,
	"TestFlow": pages, "TestBrowser": pages,
}

var code, pages = []string{"cmd", "codec", "defs", "server"}, []string{"static", "web"}

// TestNames: a benchmark is named BenchmarkMust... exactly if it has a limit, which Must or Within checks. No other benchmark judges a time by
// itself: it does not call Errorf, which is for limits; Fatal is for what goes wrong. That names TestTool..., TestCorpora..., TestFlow... and
// TestBrowser... are not missing is checked by the packages tooltest, corpora and browsertest.
func TestNames(t *testing.T) {
	musts := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil // a test of the language
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			for prefix, in := range folders {
				if top := strings.Split(filepath.ToSlash(path), "/")[2]; strings.HasPrefix(f.Name.Name, prefix) && !slices.Contains(in, top) {
					t.Errorf("%s: .ci/run does not look for %s here, but in %s", path, f.Name.Name, in)
				}
			}
			limit, judges := false, false
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					x, _ := s.X.(*ast.Ident)
					limit = limit || x != nil && x.Name == "benchtest" && (s.Sel.Name == "Must" || s.Sel.Name == "Within")
					judges = judges || x != nil && x.Name == "b" && s.Sel.Name == "Errorf"
				}
				return true
			})
			must := strings.HasPrefix(f.Name.Name, "BenchmarkMust")
			if must {
				musts++
			}
			switch benchmark := strings.HasPrefix(f.Name.Name, "Benchmark"); {
			case limit && !must:
				t.Errorf("%s: %s has a limit: name it BenchmarkMust...", path, f.Name.Name)
			case must && !limit:
				t.Errorf("%s: %s calls neither benchtest.Must nor benchtest.Within", path, f.Name.Name)
			case benchmark && judges && !must:
				t.Errorf("%s: %s judges what it measures with Errorf: use benchtest.Within, or Fatal for what goes wrong", path, f.Name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if musts < 8 {
		t.Errorf("%d benchmarks with limits found", musts)
	}
}
