package build

import (
	"sync"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Rules are what a dialect does to files.
type Rules struct {
	// Reads reports whether a file of this name holds definitions.
	Reads func(name string) bool

	// Parse reads one file by itself.
	Parse func(f *source.File) Tree

	// Lower makes the messages of one file, in their order. What it learns of other files it asks of among.
	Lower func(t Tree, o schema.Options, among *Among) Lowered

	// Compare orders the messages of all files; nil: as the files are named, and in a file as they stand.
	Compare func(a, b *schema.Message) int

	// Choose decides between messages of equal name, version and key, which come in the order of their files: it returns the one that
	// counts, or nil if none does. Without Choose all of them stay.
	Choose func(same []*schema.Message, o schema.Options) (*schema.Message, diag.List)

	// Finish completes a diagnostic when it is shown, with names of files that are near to a word; nil: nothing to complete. It is
	// for what depends on the names of all files, so that a new name does not lower other files again.
	Finish func(d diag.Diagnostic, near func(word string) string) diag.Diagnostic

	// Codes says that the schema has the code map of the options.
	Codes bool
}

// Tree is one file as it is written. It is immutable, and does not depend on options or on other files.
type Tree interface {
	// Names are those by which Among.Named finds the file.
	Names() []string
}

// Lowered is the meaning of one file.
type Lowered struct {
	Messages    []*schema.Message
	Diagnostics diag.List // of parsing and lowering, also in files that this one uses
	Unused      diag.List // replaces Diagnostics while no file uses this one; nil: it need not be used
}

// File is a file of a Set with what was made of it.
type File struct {
	Source *source.File

	// Memo is for callers to keep what they make of the file's messages; it lives as long as they do.
	Memo sync.Map

	Lowered
	seq   int
	tree  Tree     // nil where no other file asked for it: trees are larger than the messages made of them
	names []string // of the tree
	asked []string
	uses  []*source.File
}

// Among is what lowering sees of the other files. It remembers the questions, so that the file is lowered again when an answer changes.
type Among struct {
	set *Set
	of  *File
}

// Named returns the files that have a name, in the order of the files; the file that is being lowered may be among them.
func (a *Among) Named(name string) []*File {
	a.of.asked = append(a.of.asked, name)
	return a.set.provided.get(name)
}

// Tree is what stands in a file.
func (a *Among) Tree(f *File) Tree { return f.parsed(a.set.rules) }

func (f *File) parsed(rules *Rules) Tree {
	if f.tree != nil {
		return f.tree
	}
	return rules.Parse(f.Source)
}

// Use says that the contents of a file became part of the one that is being lowered.
func (a *Among) Use(f *File) { a.of.uses = append(a.of.uses, f.Source) }
