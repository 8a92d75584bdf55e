package build

import (
	"slices"
	"strings"
	"sync"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Set is a compiled set of files with given options. It is immutable and safe for concurrent use.
type Set struct {
	rules   *Rules
	options schema.Options
	seq     int

	files    sorted[*File]
	of       layered[*source.File, *File]
	based    layered[string, []*File]             // by base name
	provided layered[string, []*File]             // by Tree.Names
	askers   layered[string, sorted[*File]]       // by the names that they looked up
	users    layered[*source.File, sorted[*File]] // by the files that they use
	same     layered[identity, []*schema.Message] // before Rules.Choose
	chosen   layered[identity, choice]            // results of Rules.Choose
	messages sorted[*schema.Message]              // after Rules.Choose
	byName   layered[string, []*schema.Message]   // in order
	linked   layered[schema.Address, schema.Linked]
	groups   layered[string, sorted[*schema.Message]] // messages with codes

	near *nearNames

	once   sync.Once // for schema
	schema *schema.Schema
	said   struct {
		once sync.Once
		list diag.List
	}
}

// identity distinguishes messages.
type identity struct {
	name    string
	version int
	key     schema.Key
	hasKey  bool
}

// choice is a result of Rules.Choose.
type choice struct {
	message     *schema.Message
	diagnostics diag.List
}

// New compiles a set of files.
func New(rules *Rules, files []*source.File, o schema.Options) *Set {
	return (&Set{rules: rules, options: o}).With(nil, files).Merged()
}

// With returns the set with some files removed and others added. To change a file, remove it and add another of the same name.
func (s *Set) With(gone, come []*source.File) *Set {
	next := &Set{
		rules: s.rules, options: s.options, seq: s.seq, files: s.files, of: s.of.fork(), based: s.based.fork(), provided: s.provided.fork(),
		askers: s.askers.fork(), users: s.users.fork(), same: s.same.fork(), chosen: s.chosen.fork(), messages: s.messages,
		byName: s.byName.fork(), linked: s.linked.fork(), groups: s.groups.fork(),
	}
	c := change{Set: next, touched: map[string]bool{}}
	for _, f := range gone {
		if old := next.of.get(f); old != nil {
			c.leave(old)
		}
	}
	var fresh []*File
	for _, f := range come {
		if !s.rules.Reads(f.Name) || next.of.get(f) != nil {
			continue
		}
		file := &File{Source: f, seq: next.seq, tree: s.rules.Parse(f)}
		file.names = file.tree.Names()
		next.seq++
		c.enter(file)
		fresh = append(fresh, file)
	}
	// Files that looked up a name of a changed file are lowered again.
	for name := range c.touched {
		askers := next.askers.get(name)
		for old := range askers.all(compareFiles) {
			if next.of.get(old.Source) != old {
				continue // removed, or already replaced
			}
			again := &File{Source: old.Source, seq: old.seq, tree: old.parsed(s.rules), names: old.names}
			c.replace(old, again)
			fresh = append(fresh, again)
		}
	}
	c.settle()
	for _, f := range fresh {
		f.Lowered = s.rules.Lower(f.tree, s.options, &Among{next, f})
		slices.Sort(f.asked)
		f.asked = slices.Compact(f.asked)
		slices.SortFunc(f.uses, func(a, b *source.File) int { return strings.Compare(a.Name, b.Name) })
		f.uses = slices.Compact(f.uses)
	}
	c.relate(fresh)
	for _, f := range fresh {
		if !c.asked(f) {
			f.tree = nil
		}
	}
	c.link(fresh)
	if next.near = s.near; next.near == nil || c.renamed() {
		next.near = &nearNames{of: next}
	}
	next.merge(maxLayer)
	return next
}

// Merged prepares the set to be the base of many others, by merging its changes into the shared base, and returns it. The set must not
// be in use by others yet.
func (s *Set) Merged() *Set {
	s.merge(maxMerged)
	return s
}

func (s *Set) merge(most int) {
	s.files.merge(most, compareFiles)
	s.of.merge(most)
	s.based.merge(most)
	s.provided.merge(most)
	s.askers.merge(most)
	s.users.merge(most)
	s.same.merge(most)
	s.chosen.merge(most)
	s.messages.merge(most, s.compare)
	s.byName.merge(most)
	s.linked.merge(most)
	s.groups.merge(most)
}
