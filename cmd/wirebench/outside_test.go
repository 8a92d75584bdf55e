package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// reasons are the reasons for which a test may be skipped: a tool or a right that the machine does not have, a kind of run, or a wish of
// whoever runs it. Data is none: tests take theirs from defs/corpora, or from testdata.
var reasons = regexp.MustCompile(`is not installed|with -short$|race detector|WIREBENCH_[A-Z]+( is|=)|is not set|with -figures|takes some seconds` +
	`|^no IPv6|^no symbolic links|no network of its own|needs root|needs the right|this system lets no test|files have no modes|need Linux` +
	`|does not report drops|has no watcher left|the port |the address is not free|^mount: |this machine is too slow|^it is started by |^for TestBasePath$`)

// outside lists what makes the verdict of a test depend on what is beside the repository: a path that leaves it, or a skip for another
// reason than a permitted one. name is the path of the file in the repository.
func outside(name string, file *ast.File) (out []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if n.Kind != token.STRING || err != nil {
				return true
			}
			up := path.Join(path.Dir(name), text)
			if strings.HasPrefix(text, "../") && strings.HasPrefix(up, "../") || strings.Contains(text, "shared/corpora") {
				out = append(out, name+" names "+text+", outside the repository")
			}
		case *ast.CallExpr:
			f, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := f.X.(*ast.Ident)
			if ok && x.Name == "exec" && f.Sel.Name == "LookPath" && strings.HasSuffix(name, "_test.go") {
				out = append(out, name+" looks for a program: use package tooltest")
			}
			if !ok || !strings.HasPrefix(f.Sel.Name, "Skip") || !slices.Contains([]string{"t", "b", "f", "tb", "tooltest"}, x.Name) {
				return true
			}
			why := ""
			for _, arg := range n.Args {
				ast.Inspect(arg, func(n ast.Node) bool {
					if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
						text, _ := strconv.Unquote(s.Value)
						why += text
					}
					return true
				})
			}
			if number := len(n.Args) == 1 && why == "" && f.Sel.Name == "Skip"; number && strings.HasSuffix(name, "codec/transport/tera/cipher_test.go") {
				return true // of the keystream
			}
			if !reasons.MatchString(why) && !strings.HasPrefix(name, "defs/tooltest/") {
				out = append(out, name+" skips a test for no permitted reason: "+strconv.Quote(why))
			}
		}
		return true
	})
	return out
}

// The verdict of no test depends on what is beside the repository.
func TestNothingOutsideDecides(t *testing.T) {
	root := os.DirFS("../..")
	files := 0
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git") {
			return fs.SkipDir
		}
		// Helpers of tests are in packages of their own.
		if !strings.HasSuffix(name, ".go") || !strings.HasSuffix(name, "_test.go") && !regexp.MustCompile(`test/|^defs/corpora/`).MatchString(name) || name == "cmd/wirebench/outside_test.go" {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		for _, o := range outside(name, file) {
			t.Error(o)
		}
		return nil
	})
	if err != nil || files < 300 {
		t.Errorf("%d files: %v", files, err)
	}
}

// What was in the tests before is found.
func TestOutsideIsFound(t *testing.T) {
	for text, want := range map[string]int{
		`const corpus = "../../shared/corpora/tera"`:                            1,
		`const corpora = "../../../shared/corpora"`:                             1,
		`func f() { t.Skip("the corpora are not here") }`:                       1,
		`func f() { tb.Skip("the corpora are not beside the repository: ", x)}`: 1,
		`func f() { t.Skip(err) }`:                                              1,
		`func f() { b.SkipNow() }`:                                              1,
		`func f() { tooltest.Skip(t, "the corpora are not here") }`:             1,
		`func f() { exec.LookPath("tshark") }`:                                  1,
		`const near = "../testdata/x"`:                                          0,
		`func f() { t.Skip("tshark is not installed"); c.Skip(5) }`:             0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "codec/x_test.go", "package x\n"+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := outside("codec/x_test.go", file); len(got) != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
