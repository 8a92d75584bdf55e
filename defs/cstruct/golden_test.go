package cstruct

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"wirebench/codec"
	"wirebench/codec/value"
	"wirebench/defs/defstest"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// TestGolden compiles the files of each case as one set. Settings: those of the options, and consts=NAME:VALUE, code=NAME:CODE.
func TestGolden(t *testing.T) {
	defstest.Run(t, "testdata/*.txtar", []string{"schema", "diagnostics"}, func(t *testing.T, c *defstest.Case) map[string]string {
		o := schema.Options{Values: c.Settings, Constants: map[string]string{}, Codes: map[string]uint32{}}
		if name, number, ok := strings.Cut(c.Settings["consts"], ":"); ok {
			o.Constants[name] = number
		}
		if name, number, ok := strings.Cut(c.Settings["code"], ":"); ok {
			n, err := strconv.ParseUint(number, 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			o.Codes[name] = uint32(n)
		}
		var files []*source.File
		for _, in := range c.Files {
			files = append(files, source.New(in.Name, in.Text))
		}
		s, diags := Parse(files, o)
		checkSchema(t, s, len(diags) > 0 && diags.HasErrors())
		return map[string]string{"schema": s.String(), "diagnostics": diags.Render()}
	})
}

// checkSchema checks that broken messages have a reason, and that all others compile, decode and encode.
func checkSchema(t *testing.T, s *schema.Schema, errors bool) {
	t.Helper()
	for _, m := range s.Messages {
		if m.Broken {
			if !errors {
				t.Errorf("%s is broken without an error", m.Name)
			}
			continue
		}
		p, err := codec.Compile(m)
		if err != nil {
			if !errors {
				t.Errorf("%s: %v", m.Name, err)
			}
			continue
		}
		var rec, in, out codec.Record
		p.Decode(&rec, make([]byte, 64))
		_ = value.AppendJSON(nil, &rec)
		if err := value.ParseJSON(&in, p, []byte("{}")); err != nil {
			continue // such as a count that is not 0
		}
		if err := p.Encode(&out, &in); err != nil {
			continue
		}
		p.Decode(&rec, out.Data)
		if rec.Status() != codec.OK {
			t.Errorf("%s: the bytes of an empty value are %v", m.Name, rec.Problems)
		}
	}
}

// TestEveryCodeHasACase checks that each diagnostic code of messages.go occurs in the cases of TestGolden.
func TestEveryCodeHasACase(t *testing.T) {
	text, err := os.ReadFile("messages.go")
	if err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob("testdata/*.txtar")
	var all strings.Builder
	for _, path := range paths {
		one, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(one)
	}
	for _, m := range regexp.MustCompile(`(?m)^\tcode\w+ += "([a-z-]+)"`).FindAllStringSubmatch(string(text), -1) {
		if code := m[1]; code != "too-large" && !strings.Contains(all.String(), "["+code+"]") { // too-large: TestLimits
			t.Errorf("no case has %s", code)
		}
	}
}

// TestLimits compiles headers that are too large, in little time.
func TestLimits(t *testing.T) {
	for name, text := range map[string]string{
		"nested":     strings.Repeat("struct { ", 500) + "int x;",
		"namespaces": strings.Repeat("namespace a { ", 500),
		"parens":     "struct s { int x[" + strings.Repeat("(", 5000) + "1];};",
		"macros": "#define A0 1 1\n" + func() (s string) {
			for i := 1; i < 60; i++ {
				s += fmt.Sprintf("#define A%d A%d A%d\n", i, i-1, i-1)
			}
			return s + "struct s { int x[A59]; };"
		}(),
		"instances": "template<int N> struct a { a<N+1> x; };\nstruct s { a<0> x; };",
		"doubled": func() (s string) {
			s = "struct s0 { int x; };\n"
			for i := 1; i < 50; i++ {
				s += fmt.Sprintf("struct s%d { s%d a; s%d b; };\n", i, i-1, i-1)
			}
			return s
		}(),
		"array":    "struct s { int x[0x7fffffff]; };",
		"arrays":   "struct s { int x[1000][1000][1000]; };",
		"enum":     "enum e { " + strings.Repeat("A, ", 30000) + "};",
		"constant": "constexpr int a = b; constexpr int b = a; struct s { int x[a]; };",
		"using":    "using a = b; using b = a; struct s { a x; };",
		"fields": "struct s { " + func() (s string) {
			for i := range 9000 {
				s += fmt.Sprintf("int x%d; ", i)
			}
			return s
		}() + "};",
	} {
		t.Run(name, func(t *testing.T) {
			s, diags := Parse([]*source.File{source.New("x.h", text)}, schema.Options{})
			if name != "enum" && !diags.HasErrors() {
				t.Error("no error")
			}
			checkSchema(t, s, true)
		})
	}
}

// TestInclude compiles files that include each other, and files that use names of others without including them.
func TestInclude(t *testing.T) {
	files := []*source.File{
		source.New("a.h", "#include \"b.h\"\nstruct a { b x; };\n"),
		source.New("b.h", "#include \"a.h\"\nstruct b { int y; };\n"),
		source.New("c.h", "struct c { b x[SIZE]; };\n"),
		source.New("sub/d.h", "#define SIZE 3\n"),
	}
	s, diags := Parse(files, schema.Options{})
	if diags.HasErrors() || s.Find("c", 0) == nil || s.Find("c", 0).Broken {
		t.Errorf("%s", diags.Render())
	}
}

// TestLanguage checks that every word has a description.
func TestLanguage(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range Language().Words {
		if seen[w.Name] || len(w.Doc) < 10 || !strings.HasSuffix(w.Doc, ".") && !strings.HasSuffix(w.Doc, "; }") && !strings.Contains(w.Doc, "@") {
			t.Errorf("%q is there twice, or has no sentence: %q", w.Name, w.Doc)
		}
		seen[w.Name] = true
	}
}

// TestBuiltins checks that every name of a builtin type is found, by its size.
func TestBuiltins(t *testing.T) {
	u := newUnit(&tree{file: source.New("x.h", "")}, nil)
	for i := range builtins {
		for _, name := range strings.Split(builtins[i].names, ", ") {
			if x := u.builtinNamed(name); x == nil || builtins[i].size != 0 && x.size != builtins[i].size {
				t.Errorf("%q is %v", name, x)
			}
		}
	}
}

// FuzzParse compiles any text: nothing panics, spans are inside their file, broken messages have a reason, and others compile.
func FuzzParse(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if IsFile(file.Name) {
				f.Add(string(file.Data))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := source.New("x.h", text)
		s, diags := Parse([]*source.File{file}, schema.Options{})
		for _, d := range diags {
			if d.Span.File != file || d.Span.Start < 0 || d.Span.Start > d.Span.End || d.Span.End > len(text) {
				t.Fatalf("%s: span %d..%d of %d bytes", d.Code, d.Span.Start, d.Span.End, len(text))
			}
		}
		checkSchema(t, s, diags.HasErrors())
		for _, m := range s.Messages {
			if m.Body != nil && len(m.Body.Fields) > 0 {
				_, _ = renameField(file, m.Body.Fields[0].Span, "", "other")
				_, _ = removeField(file, m.Body.Fields[0].Span)
			}
		}
	})
}
