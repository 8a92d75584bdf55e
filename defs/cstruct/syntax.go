package cstruct

import (
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// The limits of a header, with what it includes.
const (
	maxMistakes = 100     // diagnostics of a file
	maxTokens   = 1 << 18 // after macros are expanded
	maxUses     = 1 << 15 // of macros
	maxDepth    = 60      // nesting of structs, expressions, macros and included files
)

// tree is the tokens of one file, and the names that it defines. It is immutable after parseTree.
type tree struct {
	file   *source.File
	tokens []token // the last one is the end
	names  []string
	diags  diag.List
}

func (t *tree) report(d diag.Diagnostic) { text.Add(&t.diags, d, maxMistakes) }

// scope is a namespace, or the inside of a struct or of an enum class.
type scope struct {
	name   string
	up     *scope
	kids   map[string]*scope
	types  map[string]*typeDef
	consts map[string]*constant
	using  [][]string          // namespaces
	refs   map[string][]string // names of others that are names here, too
	notes  notes
}

// kid returns the scope of a name inside s.
func (s *scope) kid(name string) *scope {
	k := s.kids[name]
	if k == nil {
		k = &scope{name: name, up: s}
		if s.kids == nil {
			s.kids = map[string]*scope{}
		}
		s.kids[name] = k
	}
	return k
}

func (s *scope) define(d *typeDef) {
	if s.types == nil {
		s.types = map[string]*typeDef{}
	}
	s.types[d.name] = d
}

func (s *scope) constant(name string, c *constant) {
	if s.consts == nil {
		s.consts = map[string]*constant{}
	}
	s.consts[name] = c
}

// refer makes a name of another scope one of s.
func (s *scope) refer(path []string) {
	if s.refs == nil {
		s.refs = map[string][]string{}
	}
	s.refs[path[len(path)-1]] = path
}

// qualified returns the name of something in s, with all namespaces.
func (s *scope) qualified(name string) string {
	for ; s != nil; s = s.up {
		if s.name != "" {
			name = s.name + "::" + name
		}
	}
	return "::" + name
}

// typeDef is a named type: a struct, an enum, or another name of a type.
type typeDef struct {
	name   string
	at     source.Span // its name
	scope  *scope
	record *record
	enum   *enum
	alias  *typeExpr // with of
	of     declarator
	params []string // of an alias template
}

// record is a struct, a class or a union.
type record struct {
	typeDef *typeDef
	union   bool
	whole   bool        // has contents
	text    source.Span // from its first word to its end
	params  []string
	bases   []*typeExpr
	members []*member
	inner   *scope
	attrs   attrs
	pack    int
	virtual bool
	complex bool // has bases or constructors: a class that derives from it may use the padding at its end
	broken  bool // a part could not be read
	top     bool // is not inside another one
	notes   notes
	shapes  map[string]*shape
}

// enum is an enumeration.
type enum struct {
	typeDef *typeDef
	name    string
	typ     *typeExpr // as written after ":"; nil: int, or what the values need
	packed  bool
	values  []*constant
	notes   notes
	kind    *typ
}

// constant is a name with a value: of an enum, or a constant variable.
type constant struct {
	name  string
	at    source.Span
	x     *expr     // nil: one more than the one before
	prev  *constant // of an enum
	enum  *enum
	scope *scope
	busy  bool
	done  bool
	value int64
	bad   *diag.Diagnostic
}

// member is a field of a record, or several of them in one without a name.
type member struct {
	typ   *typeExpr
	of    declarator
	at    source.Span // its name; for one without a name, its type
	notes notes
}

// declarator is what follows a type: a name, with pointers and dimensions.
type declarator struct {
	name     token
	pointer  bool
	ref      bool
	function bool
	dims     []*expr // nil: without a number
	bits     *expr
	init     *expr
	attrs    attrs
}

// attrs are the attributes that change the layout.
type attrs struct {
	packed bool
	align  []*expr // a nil one is the largest alignment
}

// typeExpr is a type as written.
type typeExpr struct {
	at      source.Span
	prim    string // "unsigned long"; "": named
	path    []string
	args    []*typeExpr // of a template; nil: none
	pointer bool
	value   *expr // of an argument of a template that may be a number
	def     *typeDef
}

// name returns the type as text.
func (t *typeExpr) name() string {
	switch {
	case t.prim != "":
		return t.prim
	case len(t.path) > 0:
		return strings.Join(t.path, "::")
	case t.def != nil && t.def.enum != nil:
		return "enum"
	case t.def != nil && t.def.record.union:
		return "union"
	case t.def != nil:
		return "struct"
	}
	return "?"
}

// expr is a constant expression.
type expr struct {
	op   string // "number", "name", "sizeof", "alignof", "offsetof", "cast", or an operator
	at   source.Span
	n    int64
	path []string
	typ  *typeExpr
	args []*expr
}

func (x *expr) name() string { return strings.Join(x.path, "::") }

// parseTree splits a file into tokens, and finds the names that it defines.
func parseTree(f *source.File) *tree {
	t := &tree{file: f}
	lex(t)
	u := newUnit(t, nil)
	u.read(t)
	t.names = u.names(f)
	return t
}

// Names returns the names by which other files find this one: that of the file, and those that it defines.
func (t *tree) Names() []string { return t.names }
