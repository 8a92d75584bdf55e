package protobuf

import (
	"path"
	"strings"

	"github.com/bufbuild/protocompile/ast"
	"github.com/bufbuild/protocompile/options"
	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/types/descriptorpb"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// Limits of a file.
const (
	maxMistakes = 100
	maxText     = 8 << 20
	maxDepth    = 100   // of brackets
	maxFields   = 10000 // of a message
)

// tree is the parse tree of one file.
type tree struct {
	file   *source.File
	result parser.Result // nil: the file could not be read
	decls  []*decl       // messages and enums, also inner ones, in the order of the file
	byName map[string]*decl
	diags  diag.List
	own    bool // built in: its places are not those of a file of the project
}

// decl is a message or an enum.
type decl struct {
	tree    *tree
	full    string // with the package: "harbor.Ship.Crate"
	name    string // without it: "Ship_Crate"
	message *descriptorpb.DescriptorProto
	enum    *descriptorpb.EnumDescriptorProto
	outer   *decl
	entry   bool // of a map
}

// Names returns the names by which other files find this one: its own, as that of an import, and those of its types.
func (t *tree) Names() []string {
	names := []string{fileKey(t.file.Name)}
	for _, d := range t.decls {
		if !d.entry {
			names = append(names, typeKey(d.full), nameKey(d.name))
		}
	}
	return names
}

func fileKey(name string) string { return "file " + path.Base(name) }
func typeKey(full string) string { return "type " + full }
func nameKey(name string) string { return "name " + name }

// parse parses a file. It never fails: what cannot be read is missing.
func parse(f *source.File) (t *tree) {
	t = &tree{file: f, byName: map[string]*decl{}}
	if len(f.Text) > maxText {
		t.report(tooLong(f.Line(1)))
		return t
	}
	if at, deep := deepest(f.Text); deep {
		t.report(tooDeep(f.LineAt(at)))
		return t
	}
	if !t.read() {
		t.result, t.decls, t.byName = nil, nil, map[string]*decl{}
		if !t.diags.HasErrors() {
			t.report(notRead(f.Line(1)))
		}
	}
	return t
}

// read parses and checks the text. It returns false if the library gives up: it panics for some texts that it does not expect.
func (t *tree) read() (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	h := reporter.NewHandler(reporter.NewReporter(
		func(err reporter.ErrorWithPos) error {
			if len(t.diags) > maxMistakes {
				return err
			}
			t.report(badProto(t.span(err), err.Unwrap().Error()))
			return nil
		},
		func(err reporter.ErrorWithPos) {
			if why := err.Unwrap().Error(); !strings.HasPrefix(why, "no syntax specified") {
				t.report(doubtful(t.span(err), why))
			}
		},
	))
	file, _ := parser.Parse(t.file.Name, strings.NewReader(t.file.Text), h)
	if file == nil {
		return false
	}
	t.result, _ = parser.ResultFromAST(file, true, h)
	if t.result == nil {
		return false
	}
	_, _ = options.InterpretUnlinkedOptions(t.result) // those that are not known stay as they are
	d := t.result.FileDescriptorProto()
	prefix := ""
	if d.GetPackage() != "" {
		prefix = d.GetPackage() + "."
	}
	t.declare(nil, prefix, "", d.GetMessageType(), d.GetEnumType())
	return true
}

func (t *tree) report(d diag.Diagnostic) { text.Add(&t.diags, d, maxMistakes) }

// declare notes types, and those in them.
func (t *tree) declare(outer *decl, prefix, short string, messages []*descriptorpb.DescriptorProto, enums []*descriptorpb.EnumDescriptorProto) {
	add := func(d *decl) {
		t.decls = append(t.decls, d)
		if t.byName[d.full] == nil {
			t.byName[d.full] = d
		}
	}
	for _, m := range messages {
		d := &decl{tree: t, full: prefix + m.GetName(), name: short + m.GetName(), message: m, outer: outer, entry: m.GetOptions().GetMapEntry()}
		add(d)
		t.declare(d, d.full+".", d.name+"_", m.GetNestedType(), m.GetEnumType())
	}
	for _, e := range enums {
		add(&decl{tree: t, full: prefix + e.GetName(), name: short + e.GetName(), enum: e, outer: outer})
	}
}

// span returns a place that the library reports.
func (t *tree) span(at ast.SourceSpan) source.Span {
	from, to := at.Start().Offset, at.End().Offset
	if at.Start().Line == 0 {
		return t.file.Line(1)
	}
	size := len(t.file.Text)
	from = min(max(from, 0), size)
	to = min(max(to+1, from), size)
	if to > t.file.LineAt(from).End {
		to = max(from, t.file.LineAt(from).End)
	}
	return source.Span{File: t.file, Start: from, End: to}
}

// place returns the place of a node, in its first line; the zero Span in a file that is built in.
func (t *tree) place(n ast.Node) source.Span {
	if t.own || n == nil || t.result.AST() == nil {
		return source.Span{}
	}
	return t.span(t.result.AST().NodeInfo(n))
}

// doc returns the comments of a node: those before it, and the one behind it.
func (t *tree) doc(n ast.Node) string {
	if n == nil || t.result.AST() == nil {
		return ""
	}
	info := t.result.AST().NodeInfo(n)
	var lines []string
	for _, of := range []ast.Comments{info.LeadingComments(), info.TrailingComments()} {
		for i := range of.Len() {
			lines = append(lines, plain(of.Index(i).RawText())...)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// plain returns the lines of a comment without its marks.
func plain(comment string) (lines []string) {
	comment = strings.TrimSuffix(strings.TrimPrefix(comment, "/*"), "*/")
	for line := range strings.Lines(source.UnixLines(comment)) {
		line = strings.TrimSpace(line)
		line = strings.TrimPrefix(strings.TrimPrefix(line, "//"), "*")
		lines = append(lines, strings.TrimSpace(strings.TrimLeft(line, "/")))
	}
	return lines
}

// deepest returns the first place at which brackets are nested too deeply. Those in texts and comments do not count.
func deepest(s string) (at int, deep bool) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '{', '[', '<', '(':
			if depth++; depth > maxDepth {
				return i, true
			}
		case '}', ']', '>', ')':
			depth = max(depth-1, 0)
		case '"', '\'':
			for i++; i < len(s) && s[i] != c && s[i] != '\n'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case '/':
			switch {
			case strings.HasPrefix(s[i:], "//"):
				for i < len(s) && s[i] != '\n' {
					i++
				}
			case strings.HasPrefix(s[i:], "/*"):
				end := strings.Index(s[i+2:], "*/")
				if end < 0 {
					return 0, false
				}
				i += end + 3
			}
		}
	}
	return 0, false
}
