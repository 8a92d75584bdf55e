package build

import (
	"sync"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Rules are the functions of a dialect that compile files.
type Rules struct {
	// Reads reports whether a file of this name contains definitions.
	Reads func(name string) bool

	// Parse parses a file, independently of other files.
	Parse func(f *source.File) Tree

	// Lower compiles the messages of one file, in order. It accesses other files through among.
	Lower func(t Tree, o schema.Options, among *Among) Lowered

	// Compare orders the messages of all files; nil: by file name, then by position in the file.
	Compare func(a, b *schema.Message) int

	// Choose chooses between messages of equal name, version and key, given in the order of their files: it returns the one to keep, or
	// nil for none. Without Choose all of them are kept.
	Choose func(same []*schema.Message, o schema.Options) (*schema.Message, diag.List)

	// Finish completes a diagnostic when it is shown; near returns the file name closest to a word. Nil: diagnostics are complete. It is
	// for suggestions that depend on the names of all files, so that a new name does not cause other files to be lowered again.
	Finish func(d diag.Diagnostic, near func(word string) string) diag.Diagnostic

	// Codes reports whether the schema has the code map of the options.
	Codes bool
}

// Tree is the parse tree of one file. It is immutable, and does not depend on options or on other files.
type Tree interface {
	// Names returns the names by which Among.Named finds the file.
	Names() []string
}

// Lowered is the meaning of one file.
type Lowered struct {
	Messages    []*schema.Message
	Diagnostics diag.List // of parsing and lowering, including those about files that this one uses
	Unused      diag.List // replaces Diagnostics if no file uses this one; nil: no replacement
}

// File is a compiled file of a Set.
type File struct {
	Source *source.File

	// Memo is for data that callers derive from the file's messages; it has the same lifetime.
	Memo sync.Map

	Lowered
	seq   int
	tree  Tree     // nil if no other file looked it up: trees are larger than their messages
	names []string // of the tree
	asked []string
	uses  []*source.File

	laidOut    sync.Once // for impossible
	impossible diag.List // see uncompilable
}

// Among gives lowering access to the other files. It records the lookups, so that the file is lowered again when a result changes.
type Among struct {
	set *Set
	of  *File
}

// Named returns the files that provide a name, in order; the file that is being lowered may be among them.
func (a *Among) Named(name string) []*File {
	a.of.asked = append(a.of.asked, name)
	return a.set.provided.get(name)
}

// Tree returns the parse tree of a file.
func (a *Among) Tree(f *File) Tree { return f.parsed(a.set.rules) }

func (f *File) parsed(rules *Rules) Tree {
	if f.tree != nil {
		return f.tree
	}
	return rules.Parse(f.Source)
}

// Use records that the contents of a file are part of the file that is being lowered.
func (a *Among) Use(f *File) { a.of.uses = append(a.of.uses, f.Source) }
