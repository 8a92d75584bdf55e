package workspace

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"

	"wirebench/codec"
	"wirebench/defs"
	"wirebench/defs/build"
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

// Snapshot is what a library means. It is immutable and may be used by all goroutines. One that differs from another in a few files
// shares everything else with it, programs too.
type Snapshot struct {
	Dialect defs.Dialect
	Library *Library // of a draft: that which the draft is not stored in
	Options schema.Options
	CodeMap string // name of the code map in use, "" if none
	ID      string // of a workspace's snapshot: no other has the same

	set       *build.Set
	draft     bool                    // Library is without what With has put in
	ofMap     diag.List               // of the code map
	others    map[string]*source.File // files of the library that are not in the set, by name: maps, and definitions of other dialects
	codeNames *codeNames
	drafts    drafts

	mu     sync.Mutex
	loose  map[*schema.Message]compiled // programs of messages that are in no file
	frames map[string]*schema.Message   // what tells the code of a group's messages, nil if nothing does
}

type compiled struct {
	program *codec.Program
	err     error
}

// Build makes a snapshot. Mistakes in definitions are diagnostics; the error is about the settings.
func Build(lib *Library, set Settings) (*Snapshot, error) { return rebuild(lib, set, nil) }

// rebuild is Build that takes over from an earlier snapshot what did not change.
func rebuild(lib *Library, set Settings, earlier *Snapshot) (*Snapshot, error) {
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
		return nil, fmt.Errorf("unsupported protocol %q", dialect)
	}
	s := &Snapshot{Dialect: d, Library: lib, Options: set.Options}
	switch m := set.Codes; {
	case m != nil:
		s.Options.Codes, s.ofMap = defs.ParseCodeMap(m)
		s.CodeMap = m.Name
	case len(lib.Maps) == 1:
		s.Options.Codes, s.ofMap = defs.ParseCodeMap(lib.Maps[0])
		s.CodeMap = lib.Maps[0].Name
	}
	s.codeNames = &codeNames{codes: s.Options.Codes}
	files := lib.Only(dialect)
	if earlier != nil && earlier.Dialect.Name == dialect && reflect.DeepEqual(earlier.Options, s.Options) {
		s.set = earlier.set.With(difference(earlier.set, files)).Merged()
	} else {
		s.set = build.New(d.Rules, files, s.Options)
	}
	s.others = map[string]*source.File{}
	for _, f := range lib.all() {
		if s.set.File(f) == nil {
			s.others[f.Name] = f
		}
	}
	return s, nil
}

// difference is how files differ from those of a set.
func difference(set *build.Set, files []*source.File) (gone, come []*source.File) {
	now := make(map[*source.File]bool, len(files))
	for _, f := range files {
		now[f] = true
		if set.File(f) == nil {
			come = append(come, f)
		}
	}
	for f := range set.Files() {
		if !now[f.Source] {
			gone = append(gone, f.Source)
		}
	}
	return gone, come
}

// Schema is all messages as one value, made when it is first asked for: a cost of the whole library, which a draft does not have otherwise.
func (s *Snapshot) Schema() *schema.Schema { return s.set.Schema() }

// Messages yields all messages, in the order of the dialect.
func (s *Snapshot) Messages() iter.Seq[*schema.Message] { return s.set.Messages() }

// Count is the number of messages.
func (s *Snapshot) Count() int { return s.set.Len() }

// Diagnostics are those of the code map and of all files, sorted, made when they are first asked for.
func (s *Snapshot) Diagnostics() diag.List { return slices.Concat(s.ofMap, s.set.Diagnostics()) }

// DiagnosticsOf are those of one file.
func (s *Snapshot) DiagnosticsOf(f *source.File) diag.List {
	if list := s.ofMap.Of(f); len(list) > 0 {
		return list
	}
	return s.set.DiagnosticsOf(f)
}

// Program compiles a message, once.
func (s *Snapshot) Program(m *schema.Message) (*codec.Program, error) {
	if f := s.set.File(m.Span.File); f != nil {
		known, ok := f.Memo.Load(m)
		if !ok {
			var c compiled
			c.program, c.err = codec.Compile(m)
			known, _ = f.Memo.LoadOrStore(m, c)
		}
		c := known.(compiled)
		return c.program, c.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.loose[m]
	if !ok {
		c.program, c.err = codec.Compile(m)
		if s.loose == nil {
			s.loose = map[*schema.Message]compiled{}
		}
		s.loose[m] = c
	}
	return c.program, c.err
}

// codeNames finds names of a code map by their codes.
type codeNames struct {
	codes map[string]uint32
	once  sync.Once
	names map[uint32]string // of several names the first one in the alphabet
}

func (c *codeNames) of(code uint32) (name string, ok bool) {
	c.once.Do(func() {
		c.names = make(map[uint32]string, len(c.codes))
		for name, code := range c.codes {
			if old, ok := c.names[code]; !ok || name < old {
				c.names[code] = name
			}
		}
	})
	name, ok = c.names[code]
	return name, ok
}

// NotFoundError is a message that the library does not have.
type NotFoundError struct {
	Name string // as asked for
	In   bool   // a group or a direction was asked for, too

	near func() string
}

// NotFound is the error for a name, with what finds a name that is like it.
func NotFound(name string, near func() string) *NotFoundError {
	return &NotFoundError{Name: name, near: near}
}

// Near is a name of the library that is like the one asked for, "" if none is. To find it takes a while.
func (e *NotFoundError) Near() string { return e.near() }

func (e *NotFoundError) Error() string {
	near := e.Near()
	if e.In && near == "" {
		return fmt.Sprintf("no definition of %q in that group and direction", e.Name)
	}
	if near != "" {
		return fmt.Sprintf("no definition of %q; did you mean %q?", e.Name, near)
	}
	return fmt.Sprintf("no definition of %q", e.Name)
}
