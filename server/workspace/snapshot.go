package workspace

import (
	"fmt"
	"strings"
	"sync"

	"wirebench/codec"
	"wirebench/defs"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// Settings are what the meaning of a library depends on beside its text.
type Settings struct {
	Dialect string // "" = told by the files
	Options schema.Options
	Codes   *source.File // code map; nil = the one of the library, if it has exactly one
}

// Snapshot is what a library means. It is immutable and may be used by all goroutines.
type Snapshot struct {
	Dialect     defs.Dialect
	Library     *Library
	Schema      *schema.Schema
	Diagnostics diag.List
	Options     schema.Options
	CodeMap     string // name of the code map in use, "" if none
	ID          string // of a workspace's snapshot: no other has the same

	mu       sync.Mutex
	programs map[*schema.Message]compiled
	long     map[*schema.Message]*schema.Message // with the longer header
	nothing  *codec.Program                      // of a message without fields
	same     map[versionKey][]*schema.Message    // messages of one name and version, made when they are first asked for
	frames   map[string]*schema.Message          // what tells the code of a group's messages, nil if nothing does
}

type compiled struct {
	program *codec.Program
	err     error
}

// Build makes a snapshot. Mistakes in definitions are diagnostics; the error is about the settings.
func Build(lib *Library, set Settings) (*Snapshot, error) {
	dialect := set.Dialect
	if dialect == "" {
		found := lib.Dialects()
		if len(found) > 1 {
			return nil, fmt.Errorf("the library has definitions of several protocols (%s): choose one", strings.Join(found, ", "))
		}
		if len(found) == 1 {
			dialect = found[0]
		} else {
			dialect = defs.Dialects[0].Name
		}
	}
	d, ok := defs.Find(dialect)
	if !ok {
		return nil, fmt.Errorf("definitions of protocol %q cannot be read yet", dialect)
	}
	s := &Snapshot{Dialect: d, Library: lib, Options: set.Options, programs: map[*schema.Message]compiled{}}
	var diags diag.List
	switch m := set.Codes; {
	case m != nil:
		s.Options.Codes, diags = defs.ParseCodeMap(m)
		s.CodeMap = m.Name
	case len(lib.Maps) == 1:
		s.Options.Codes, diags = defs.ParseCodeMap(lib.Maps[0])
		s.CodeMap = lib.Maps[0].Name
	}
	s.Schema, s.Diagnostics = defs.Load(lib.Only(dialect), dialect, s.Options)
	s.Diagnostics = append(diags, s.Diagnostics...)
	return s, nil
}

// Program compiles a message, once.
func (s *Snapshot) Program(m *schema.Message) (*codec.Program, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.programs[m]
	if !ok {
		c.program, c.err = codec.Compile(m)
		s.programs[m] = c
	}
	return c.program, c.err
}

// NotFoundError is a message that the library does not have.
type NotFoundError struct {
	Name string // as asked for
	Near string // a name of the library that is like it, "" if none is
	In   bool   // a group or a direction was asked for, too
}

func (e *NotFoundError) Error() string {
	if e.In && e.Near == "" {
		return fmt.Sprintf("no definition of %q in that group and direction", e.Name)
	}
	if e.Near != "" {
		return fmt.Sprintf("no definition of %q; did you mean %q?", e.Name, e.Near)
	}
	return fmt.Sprintf("no definition of %q", e.Name)
}
