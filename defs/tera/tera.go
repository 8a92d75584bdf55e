package tera

import (
	"cmp"
	"slices"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Parse reads a set of definitions. Of the options it uses Patch, Platform, Integrity, Truncate, SkillBits and Codes.
//
// Only files named *.def are read. The messages come sorted by name and version; schema.Link is left to the caller. The schema
// is usable whatever the diagnostics say: a message with errors is Broken and has what could be understood.
func Parse(files []*source.File, o schema.Options) (*schema.Schema, diag.List) {
	set := newFileSet(files)
	l := lowerer{o: o, set: set}
	s := &schema.Schema{Codes: o.Codes}
	var unnamed []*source.File
	for _, f := range set.files {
		name, ok := ParseFileName(f.Name)
		if !ok {
			unnamed = append(unnamed, f)
			continue
		}
		t := set.tree(f)
		l.diags = append(l.diags, t.diags...)
		m := l.message(t, name)
		if set.use(f, name, o.Platform) {
			s.Messages = append(s.Messages, m)
		}
	}
	l.diags = append(l.diags, set.diags...)
	for _, f := range unnamed {
		// What other files include may have any name.
		if t := set.trees[f]; t != nil {
			l.diags = append(l.diags, t.diags...)
		} else {
			l.diags.Add(badFileName(f))
		}
	}
	slices.SortFunc(s.Messages, func(a, b *schema.Message) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	l.diags.Sort()
	return s, l.diags
}

// fileSet is the files that are read together.
type fileSet struct {
	files  []*source.File // the *.def files, sorted by name
	trees  map[*source.File]*tree
	byBase map[string][]*source.File // made when the first @include comes
	chosen map[FileName]*source.File // the file for every name and version, with Platform ""
	diags  diag.List
}

// newFileSet picks the definitions out of files. Of two for the same message and version the first in order of file names
// counts, unless a later one is for this platform.
func newFileSet(files []*source.File) *fileSet {
	set := &fileSet{trees: make(map[*source.File]*tree, len(files))}
	for _, f := range files {
		if strings.HasSuffix(f.Name, ".def") {
			set.files = append(set.files, f)
		}
	}
	slices.SortStableFunc(set.files, func(a, b *source.File) int { return strings.Compare(a.Name, b.Name) })
	return set
}

// choose decides which file stands for each message.
func (s *fileSet) choose(platform string) {
	s.chosen = make(map[FileName]*source.File, len(s.files))
	seen := make(map[FileName]*source.File, len(s.files))
	for _, f := range s.files {
		name, ok := ParseFileName(f.Name)
		if !ok {
			continue
		}
		if first := seen[name]; first != nil {
			s.diags.Add(sameDefinition(f, first))
			continue
		}
		seen[name] = f
		key := FileName{Name: name.Name, Version: name.Version}
		switch {
		case name.Platform == "" && s.chosen[key] == nil, name.Platform != "" && name.Platform == platform:
			s.chosen[key] = f
		}
	}
}

// use reports whether a file stands for its message on this platform.
func (s *fileSet) use(f *source.File, name FileName, platform string) bool {
	if s.chosen == nil {
		s.choose(platform)
	}
	name.Platform = ""
	return s.chosen[name] == f
}

// tree reads a file once.
func (s *fileSet) tree(f *source.File) *tree {
	t := s.trees[f]
	if t == nil {
		t = parseTree(f)
		s.trees[f] = t
	}
	return t
}

// include finds a file by its name without folders; among several the one in the same folder. It returns nil if there is none.
func (s *fileSet) include(name string, from *source.File) *tree {
	if s.byBase == nil {
		s.byBase = make(map[string][]*source.File, len(s.files))
		for _, f := range s.files {
			base := baseName(f.Name)
			s.byBase[base] = append(s.byBase[base], f)
		}
	}
	candidates := s.byBase[baseName(name)]
	if len(candidates) == 0 {
		return nil
	}
	folder := strings.TrimSuffix(from.Name, baseName(from.Name))
	for _, f := range candidates {
		if f.Name == folder+baseName(f.Name) {
			return s.tree(f)
		}
	}
	return s.tree(candidates[0])
}

// near is a file that a wrong name may have meant, or "".
func (s *fileSet) near(name string) string {
	const enough = 2000 // more are not compared
	var names []string
	for _, f := range s.files[:min(len(s.files), enough)] {
		names = append(names, baseName(f.Name))
	}
	return diag.Nearest(name, names)
}
