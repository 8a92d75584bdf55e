package workspace

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"

	"wirebench/codec"
	"wirebench/codec/redact"
	"wirebench/codec/transport/protocols"
	"wirebench/defs"
	"wirebench/defs/build"
	"wirebench/defs/diag"
	"wirebench/defs/envelope"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/server/settings"
)

// Settings determine the meaning of a library beside its text.
type Settings struct {
	Dialect string // "" detects it from the files
	Options schema.Options
	Codes   *source.File // code map; nil selects the one of the library, if it has exactly one
	Traffic Traffic

	Envelope string // text that says how messages travel, for a library without one
}

// Traffic says how captured traffic becomes messages.
type Traffic struct {
	Ports []uint16         // of servers; none: a server is the end that did not open the connection
	Rules []protocols.Rule // groups of messages by port and direction
	Dir   schema.Dir       // of messages whose direction a file does not tell
}

// IsZero reports whether nothing is chosen.
func (t Traffic) IsZero() bool { return len(t.Ports) == 0 && len(t.Rules) == 0 && t.Dir == schema.Both }

// Snapshot is the meaning of a library. It is immutable and safe for concurrent use. Two snapshots that differ in a few files share
// everything else, including programs.
type Snapshot struct {
	Dialect defs.Dialect
	Library *Library // for a draft: the library without it
	Options schema.Options
	CodeMap string // name of the code map in use, "" if none
	ID      string // unique among the snapshots of workspaces
	Traffic Traffic

	Envelope     *envelope.Envelope // how messages travel; nil if the dialect says so, or if it is not known
	EnvelopeFile *source.File       // its text; not a file of the library if it was found in traffic
	Carried      bool               // it names the carrier of the dialect, and so says what the dialect says

	chosen    settings.Settings // of the workspace
	set       *build.Set
	draft     bool                    // Library lacks the file added by With
	beside    diag.List               // diagnostics of the code map and of other files beside the definitions
	others    map[string]*source.File // files of the library outside of set, by name: maps, and definitions of other dialects
	codeNames *codeNames
	drafts    drafts

	mu      sync.Mutex
	loose   map[*schema.Message]compiled         // programs of messages without a file
	frames  map[string]*schema.Message           // common starts of the messages of groups, nil if there is none
	behind  map[headed]*schema.Message           // messages with the header of the envelope
	headers map[*schema.Message]*envelope.Header // of these messages
}

type compiled struct {
	program *codec.Program
	err     error
}

// Build returns a snapshot. Mistakes in definitions are diagnostics; errors are about the settings.
func Build(lib *Library, set Settings) (*Snapshot, error) { return rebuild(lib, set, nil) }

// rebuild is Build that reuses the unchanged parts of an earlier snapshot.
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
	s := &Snapshot{Dialect: d, Library: lib, Options: set.Options, Traffic: set.Traffic}
	switch m := set.Codes; {
	case m != nil:
		s.Options.Codes, s.beside = defs.ParseCodeMap(m)
		s.CodeMap = m.Name
	case len(lib.Maps) == 1:
		s.Options.Codes, s.beside = defs.ParseCodeMap(lib.Maps[0])
		s.CodeMap = lib.Maps[0].Name
	}
	var wrong diag.List
	s.Options.Validity, wrong = defs.ParseValidity(lib.Valid)
	s.beside = append(s.beside, wrong...)
	switch {
	case len(lib.Envelopes) > 0 && s.takesEnvelope():
		s.EnvelopeFile = lib.Envelopes[0]
	case set.Envelope != "":
		s.EnvelopeFile = source.New(EnvelopeName, set.Envelope)
	}
	s.codeNames = &codeNames{codes: s.Options.Codes}
	files := lib.Only(dialect)
	if earlier != nil && earlier.Dialect.Name == dialect && reflect.DeepEqual(earlier.Options, s.Options) {
		s.set = earlier.set.With(difference(earlier.set, files)).Merged()
	} else {
		s.set = build.New(d.Rules, files, s.Options)
	}
	if s.EnvelopeFile != nil {
		s.beside = append(s.beside, s.setEnvelope(s.EnvelopeFile)...)
	}
	s.others = map[string]*source.File{}
	for _, f := range lib.All() {
		if s.set.File(f) == nil {
			s.others[f.Name] = f
		}
	}
	return s, nil
}

// difference returns the files to remove from a set and to add to it to get the given files.
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

// Reading returns a text that differs between snapshots with other settings for splitting captures into messages, and is the same for all
// versions of the definitions and of code maps.
func (s *Snapshot) Reading() string {
	text := fmt.Sprintf("%v %v", s.Options.Values, s.Traffic)
	if s.EnvelopeFile != nil {
		text += s.EnvelopeFile.Text
	}
	return text
}

// Env returns the environment of transports of the snapshot, without keys.
func (s *Snapshot) Env() *protocols.Env {
	return &protocols.Env{Definitions: s, Options: s.Options.Values, Rules: s.Traffic.Rules, Envelope: s.Envelope}
}

// Protocol returns how the messages of the definitions are transported. ok is false if that is not known.
func (s *Snapshot) Protocol() (p protocols.Protocol, ok bool) {
	p, ok = protocols.Of(s.Dialect.Name)
	return p.With(s.Env()), ok
}

// HasSecrets reports whether a definition marks fields as secret: package redact.
func (s *Snapshot) HasSecrets() bool {
	return slices.ContainsFunc(s.Library.Files, func(f *source.File) bool { return strings.Contains(f.Text, redact.Mark) })
}

// Schema returns all messages as one value. It is computed on first use, at a cost that depends on the whole library.
func (s *Snapshot) Schema() *schema.Schema { return s.set.Schema() }

// Messages yields all messages, in the order of the dialect.
func (s *Snapshot) Messages() iter.Seq[*schema.Message] { return s.set.Messages() }

// Count returns the number of messages.
func (s *Snapshot) Count() int { return s.set.Len() }

// Diagnostics returns the diagnostics of all files, sorted, those of the code map and of other files beside the definitions first. They are computed on first use.
func (s *Snapshot) Diagnostics() diag.List { return slices.Concat(s.beside, s.set.Diagnostics()) }

// DiagnosticsOf returns the diagnostics of one file.
func (s *Snapshot) DiagnosticsOf(f *source.File) diag.List {
	if list := s.beside.Of(f); len(list) > 0 {
		return list
	}
	return s.set.DiagnosticsOf(f)
}

// Program returns the program of a message. It is compiled once.
func (s *Snapshot) Program(m *schema.Message) (*codec.Program, error) {
	if f := s.set.File(m.Span.File); f != nil && (s.Envelope == nil || m.AlternateOf == nil) {
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

// codeNames maps codes to names of a code map.
type codeNames struct {
	codes map[string]uint32
	once  sync.Once
	names map[uint32]string // of several names for a code the first in alphabetical order
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

// CodeName returns the name of the code map for a code.
func (s *Snapshot) CodeName(code uint32) (name string, ok bool) { return s.codeNames.of(code) }

// NotFoundError reports that the library has no message with a name.
type NotFoundError struct {
	Name string // as requested
	In   bool   // the request has a group or a direction, too

	near func() string
}

// NotFound returns the error for a name. near returns a similar name.
func NotFound(name string, near func() string) *NotFoundError {
	return &NotFoundError{Name: name, near: near}
}

// Near returns a name of the library that is similar to the requested one, "" if there is none. Computing it takes a while.
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
