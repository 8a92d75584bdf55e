package cstruct

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// unit is one file with all that it includes, and with files of the project that define names that it uses without including them.
type unit struct {
	main    *tree
	among   *build.Among // nil: the file alone
	options schema.Options
	model   model
	order   schema.Order

	root    *scope
	pp      *preprocessor
	records []*record
	asserts []assertion
	inside  bool // a record is being read
	loaded  map[*source.File]bool
	nested  map[string]*typeDef // types inside records, which in C are visible outside
	walked  int                 // records in nested
	told    map[*record]bool    // functions of it have been mentioned
	shapes  int

	diags  diag.List
	seen   map[string]bool
	hidden *diag.Diagnostic // the first error of another file
	fields int              // of all messages
}

// assertion is a static_assert.
type assertion struct {
	x     *expr
	at    source.Span
	scope *scope
}

func newUnit(t *tree, among *build.Among) *unit {
	u := &unit{main: t, among: among, root: &scope{}, model: models[0], loaded: map[*source.File]bool{}, nested: map[string]*typeDef{}, told: map[*record]bool{}, seen: map[string]bool{}}
	u.pp = &preprocessor{u: u, macros: map[string]*macro{}, once: map[*source.File]bool{}, warned: map[string]bool{}}
	return u
}

// define defines a macro of the compiler, or a constant of the settings.
func (u *unit) define(name, value string) {
	t := &tree{file: source.New("(settings)", value)}
	lex(t)
	u.pp.macros[name] = &macro{at: t.tokens[0].at, body: t.tokens[:len(t.tokens)-1]}
}

// read reads the declarations of a file and of those that it includes.
func (u *unit) read(t *tree) {
	u.loaded[t.file] = true
	u.pp.out, u.pp.pack, u.pp.packs = nil, 0, nil
	u.pp.read(t)
	p := &parser{u: u, toks: u.pp.out}
	p.file()
}

// report adds a diagnostic of the file; those of other files are theirs.
func (u *unit) report(d diag.Diagnostic) {
	switch {
	case d.Code == "":
	case d.Span.File != u.main.file:
		if d.Severity == diag.Error && u.hidden == nil {
			u.hidden = &d
		}
	default:
		key := d.Code + "\x00" + d.Message + "\x00" + string(rune(d.Span.Start))
		if !u.seen[key] {
			u.seen[key] = true
			text.Add(&u.diags, d, maxMistakes)
		}
	}
}

// silent returns a diagnostic that is not shown: the mistake has been reported.
func (u *unit) silent(at source.Span) *diag.Diagnostic { return &diag.Diagnostic{Span: at} }

// skipped notes a function of a record, once.
func (u *unit) skipped(r *record, at source.Span) {
	if !u.told[r] {
		u.told[r] = true
		u.report(functionSkipped(at))
	}
}

// names returns the names by which other files find a file.
func (u *unit) names(f *source.File) []string {
	names := []string{fileKey(f.Name)}
	for name, m := range u.pp.macros {
		if m.at.File == f && len(m.body) > 0 {
			names = append(names, name)
		}
	}
	var walk func(s *scope, depth int)
	inner := map[*scope]bool{}
	for _, r := range u.records {
		inner[r.inner] = true
	}
	walk = func(s *scope, depth int) {
		if depth > maxDepth || inner[s] {
			return
		}
		for _, name := range slices.Concat(keys(s.types), keys(s.consts), keys(s.refs)) {
			names = append(names, name, s.qualified(name))
		}
		for _, k := range s.kids {
			walk(k, depth+1)
		}
	}
	walk(u.root, 0)
	slices.Sort(names)
	return slices.Compact(names)
}

// fileKey is the name by which a file is found as one that is included.
func fileKey(name string) string { return "file:" + strings.ToLower(path.Base(name)) }

// fileNamed returns the file of the project that an #include of another file means; nil if there is none.
func (u *unit) fileNamed(name string, in *source.File) *tree {
	if u.among == nil {
		return nil
	}
	var best *build.File
	score := 0
	for _, f := range u.among.Named(fileKey(name)) {
		n := 1
		switch clean := path.Clean(name); {
		case f.Source.Name == path.Join(path.Dir(in.Name), name):
			n = 4
		case f.Source.Name == clean || strings.HasSuffix(f.Source.Name, "/"+clean):
			n = 3
		case strings.HasSuffix("/"+clean, "/"+f.Source.Name):
			n = 2
		}
		if n > score {
			best, score = f, n
		}
	}
	if best == nil || best.Source == u.main.file {
		return nil
	}
	return u.tree(best)
}

func (u *unit) tree(f *build.File) *tree {
	if !u.loaded[f.Source] {
		u.among.Use(f)
		u.loaded[f.Source] = true
	}
	return u.among.Tree(f).(*tree)
}

// load reads the one other file of the project that defines a name, if there is one: as it would be called in a scope, or any of its last word.
func (u *unit) load(path []string, s *scope) bool {
	if u.among == nil {
		return false
	}
	var names []string
	for at := s; at != nil; at = at.up {
		names = append(names, at.qualified(strings.Join(path, "::")))
	}
	for _, name := range append(names, path[len(path)-1]) {
		var found []*build.File
		for _, f := range u.among.Named(name) {
			if !u.loaded[f.Source] {
				found = append(found, f)
			}
		}
		if len(found) == 0 {
			continue
		}
		if len(found) > 1 {
			return false // it is not known which one is meant
		}
		inside := u.inside
		u.inside = false
		t := u.tree(found[0])
		u.read(t)
		u.inside = inside
		return true
	}
	return false
}

// typeNamed returns the type of a name in a scope; nil if there is none.
func (u *unit) typeNamed(path []string, s *scope) *typeDef {
	if d := lookup(path, s, u.root, func(s *scope, name string) *typeDef { return s.types[name] }); d != nil {
		return d
	}
	if len(path) != 1 {
		return nil
	}
	for ; u.walked < len(u.records); u.walked++ {
		for name, d := range u.records[u.walked].inner.types {
			if u.nested[name] == nil {
				u.nested[name] = d
			}
		}
	}
	return u.nested[path[0]]
}

// constantNamed returns the constant of a name in a scope; nil if there is none.
func (u *unit) constantNamed(path []string, s *scope) *constant {
	find := func() *constant {
		return lookup(path, s, u.root, func(s *scope, name string) *constant { return s.consts[name] })
	}
	c := find()
	if last := path[len(path)-1]; c == nil && u.pp.macros[last] == nil && u.load(path, s) {
		c = find()
	}
	return c
}

// lookup returns what a path names in a scope and those around it, in namespaces that they use, and by names that they refer to.
func lookup[T any](path []string, s, root *scope, of func(s *scope, name string) *T) *T {
	return lookupIn(path, s, root, of, 0)
}

func lookupIn[T any](path []string, s, root *scope, of func(s *scope, name string) *T, depth int) *T {
	if path[0] == "" && len(path) > 1 {
		path, s = path[1:], root
	}
	if s == nil {
		s = root
	}
	last := path[len(path)-1]
	inside := func(s *scope) *T {
		for _, name := range path[:len(path)-1] {
			if s = s.kids[name]; s == nil {
				return nil
			}
		}
		if found := of(s, last); found != nil {
			return found
		}
		if ref := s.refs[last]; ref != nil && depth < maxDepth {
			return lookupIn(ref, s.up, root, of, depth+1)
		}
		for _, other := range s.using {
			if k := s.find(other); k != nil && k != s {
				if found := of(k, last); found != nil {
					return found
				}
			}
		}
		return nil
	}
	for ; s != nil; s = s.up {
		if found := inside(s); found != nil {
			return found
		}
		for _, other := range s.using {
			if k := s.find(other); k != nil && k != s {
				if found := inside(k); found != nil {
					return found
				}
			}
		}
	}
	return nil
}

// find returns the namespace of a path in s and those around it.
func (s *scope) find(path []string) *scope {
	for at := s; at != nil; at = at.up {
		k := at
		for _, name := range path {
			if k != nil && name != "" {
				k = k.kids[name]
			}
		}
		if k != nil && k != at {
			return k
		}
	}
	return nil
}

// constantNames and typeNames return names to suggest in place of a wrong one.
func (u *unit) constantNames() []string {
	return u.candidates(func(s *scope) []string { return keys(s.consts) }, keys(u.pp.macros))
}

func (u *unit) typeNames() []string {
	return u.candidates(func(s *scope) []string { return keys(s.types) }, builtinNames())
}

func keys[T any](m map[string]T) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func (u *unit) candidates(of func(*scope) []string, names []string) []string {
	const enough = 4000
	if len(u.diags) > maxMistakes {
		return nil
	}
	var walk func(s *scope, depth int)
	walk = func(s *scope, depth int) {
		if depth > maxDepth || len(names) > enough {
			return
		}
		names = append(names, of(s)...)
		for _, k := range keys(s.kids) {
			walk(s.kids[k], depth+1)
		}
	}
	walk(u.root, 0)
	return names
}

// meant returns a diagnostic with the nearest of some names.
func (u *unit) meant(d diag.Diagnostic, at source.Span, word string, names []string) diag.Diagnostic {
	if len(word) < 4 || len(word) > 60 {
		return d
	}
	if near := diag.Nearest(word, names); near != "" && near != word {
		d.Help = cmp.Or(`did you mean "`+near+`"?`, d.Help)
		if at.Text() == word {
			return text.Fixed(d, at, near)
		}
	}
	return d
}
