package build

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/defs/text"
	"wirebench/defs/wire"
)

// compareFiles orders files by name, files of the same name by time of addition.
func compareFiles(a, b *File) int {
	if c := strings.Compare(a.Source.Name, b.Source.Name); c != 0 {
		return c
	}
	return cmp.Compare(a.seq, b.seq)
}

// compareStanding orders messages by file and position.
func (s *Set) compareStanding(a, b *schema.Message) int {
	if a.Span.File != b.Span.File {
		return compareFiles(s.of.get(a.Span.File), s.of.get(b.Span.File))
	}
	return cmp.Compare(a.Span.Start, b.Span.Start)
}

func (s *Set) compare(a, b *schema.Message) int {
	if s.rules.Compare != nil {
		return s.rules.Compare(a, b)
	}
	return s.compareStanding(a, b)
}

// Files yields the files in the order of their names.
func (s *Set) Files() iter.Seq[*File] { return s.files.all(compareFiles) }

// File returns the compiled file, nil if it is not in the set.
func (s *Set) File(f *source.File) *File { return s.of.get(f) }

// Uses returns the files that the messages of a file depend on.
func (s *Set) Uses(f *source.File) []*source.File {
	if file := s.of.get(f); file != nil {
		return file.uses
	}
	return nil
}

// FileNamed returns the first file of a name, nil if there is none.
func (s *Set) FileNamed(name string) *source.File {
	for _, f := range s.based.get(path.Base(name)) {
		if f.Source.Name == name {
			return f.Source
		}
	}
	return nil
}

// FilesBased returns the files of a base name, in all folders.
func (s *Set) FilesBased(base string) []*File { return s.based.get(base) }

// Messages yields all messages in order.
func (s *Set) Messages() iter.Seq[*schema.Message] { return s.messages.all(s.compare) }

// Len returns the number of messages.
func (s *Set) Len() int { return s.messages.len() }

// MessagesOf returns the messages of a file that Rules.Choose keeps, in the order of the file.
func (s *Set) MessagesOf(f *source.File) []*schema.Message {
	file := s.of.get(f)
	if file == nil {
		return nil
	}
	if s.rules.Choose == nil {
		return file.Messages
	}
	out := make([]*schema.Message, 0, len(file.Messages))
	for _, m := range file.Messages {
		if s.chosen.get(identityOf(m)).message == m {
			out = append(out, m)
		}
	}
	return out
}

// Named returns the messages of a name in order.
func (s *Set) Named(name string) []*schema.Message { return s.byName.get(name) }

// Lookup returns the message of frames with this key, or nil. A key of unknown direction also finds a message for a single direction, if
// the other direction has none on the same code.
func (s *Set) Lookup(key schema.Key) *schema.Message {
	l := s.linked.get(key.Address())
	return l.Lookup(key.Dir)
}

// InGroup returns the number of messages with a code of a group.
func (s *Set) InGroup(group string) int {
	list := s.groups.get(group)
	return list.len()
}

// Groups returns the names of the groups that have messages with codes, in the order of the messages.
func (s *Set) Groups() []string {
	type group struct {
		name  string
		first *schema.Message
	}
	var found []group
	for name, list := range s.groups.all() {
		for m := range list.all(s.compare) {
			found = append(found, group{name, m})
			break
		}
	}
	slices.SortFunc(found, func(a, b group) int { return s.compare(a.first, b.first) })
	out := make([]string, len(found))
	for i, g := range found {
		out[i] = g.name
	}
	return out
}

// Keyed yields the messages of a group that have codes, in order.
func (s *Set) Keyed(group string) iter.Seq[*schema.Message] {
	list := s.groups.get(group)
	return list.all(s.compare)
}

// Schema returns the schema of the set. It is made by the first call.
func (s *Set) Schema() *schema.Schema {
	s.once.Do(func() {
		out := &schema.Schema{Messages: slices.AppendSeq(make([]*schema.Message, 0, s.Len()), s.Messages())}
		if s.rules.Codes {
			out.Codes = s.options.Codes
		}
		schema.Link(out)
		s.schema = out
	})
	return s.schema
}

// Diagnostics returns the diagnostics of all files, sorted. The list is made by the first call.
func (s *Set) Diagnostics() diag.List {
	s.said.once.Do(func() {
		for f := range s.Files() {
			s.said.list = append(s.said.list, s.DiagnosticsOf(f.Source)...)
		}
		s.said.list.Sort()
	})
	return s.said.list
}

// DiagnosticsOf returns the diagnostics of one file, sorted.
func (s *Set) DiagnosticsOf(of *source.File) diag.List {
	f := s.of.get(of)
	if f == nil {
		return nil
	}
	users := s.users.get(of)
	used := users.len() > 0
	out := f.diagnosticsOf(of, used)
	for user := range users.all(compareFiles) {
		if user != f && len(user.Diagnostics) > 0 {
			out = append(out, user.diagnosticsOf(of, true)...)
		}
	}
	out = append(out, f.uncompilable()...)
	for i, m := range f.Messages {
		before := f.Messages[:i]
		if s.rules.Choose != nil {
			id := identityOf(m)
			if list := s.chosen.get(id).diagnostics; list != nil && !slices.ContainsFunc(before, func(o *schema.Message) bool { return identityOf(o) == id }) {
				out = append(out, list.Of(of)...)
			}
		}
		if m.HasKey {
			at := m.Key.Address()
			if list := s.linked.get(at).Diagnostics; list != nil && !slices.ContainsFunc(before, func(o *schema.Message) bool { return o.HasKey && o.Key.Address() == at }) {
				out = append(out, list.Of(of)...)
			}
		}
	}
	if s.rules.Finish != nil {
		for i, d := range out {
			out[i] = s.rules.Finish(d, s.near.to)
		}
	}
	out.Sort()
	return out
}

// uncompilable returns an error for each message that is without one and that has no wire layout: what has no error compiles.
func (f *File) uncompilable() diag.List {
	f.laidOut.Do(func() {
		for _, m := range f.Messages {
			if m.Broken {
				continue
			}
			if _, err := wire.Compile(m); err != nil {
				f.impossible.Add(text.Mistake("not-compiled", m.Span, text.Printable(err.Error()), "a part of the definition cannot be combined with the others in this way"))
			}
		}
	})
	return f.impossible
}

// nearNames finds the file name closest to a word, and caches it. Sets with the same file names share it.
type nearNames struct {
	of    *Set
	mu    sync.Mutex
	found map[string]string
}

func (n *nearNames) to(word string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	near, ok := n.found[word]
	if !ok {
		near = diag.NearestOf(word, n.names)
		if n.found == nil {
			n.found = map[string]string{}
		}
		n.found[word] = near
	}
	return near
}

// names yields the base names of the first 2000 files.
func (n *nearNames) names(yield func(string) bool) {
	left := 2000
	for f := range n.of.Files() {
		if left--; left < 0 || !yield(path.Base(f.Source.Name)) {
			return
		}
	}
}
