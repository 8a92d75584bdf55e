package workspace

import (
	"strconv"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// NameOf is the shortest name that Find knows a message by: NAME, or NAME.VERSION where the dialect has versions, and before it the
// direction or the group where others have the same: "c2s/chat", "clmsg/login".
func (s *Snapshot) NameOf(m *schema.Message) string {
	name := m.Name
	if s.Dialect.Versions {
		name += "." + strconv.Itoa(m.Version)
	}
	if q := s.qualifier(m); q != "" {
		return q + "/" + name
	}
	return name
}

// qualifier tells a message from others of its name, "" if there are none or nothing does.
func (s *Snapshot) qualifier(m *schema.Message) string {
	var same []*schema.Message
	for _, o := range s.set.Named(m.Name) {
		if o.Version == m.Version {
			same = append(same, o)
		}
	}
	if len(same) < 2 {
		return ""
	}
	for _, of := range []func(*schema.Message) string{
		func(m *schema.Message) string { return m.Key.Dir.String() },
		func(m *schema.Message) string { return m.Key.Group },
		func(m *schema.Message) string { return m.Key.Group + "/" + m.Key.Dir.String() },
	} {
		n := 0
		for _, o := range same {
			if of(o) == of(m) {
				n++
			}
		}
		if q := strings.Trim(of(m), "/"); n == 1 && q != "" {
			return q
		}
	}
	return ""
}

// Find returns the message asked for as NAME or NAME.VERSION, without a version the highest. Before it may stand its direction, its
// group or both, each with a slash.
func (s *Snapshot) Find(name string) (*schema.Message, error) { return s.FindIn(name, "", schema.Both) }

// FindIn is Find among the messages of a group and a direction; "" and Both are any.
func (s *Snapshot) FindIn(name, group string, dir schema.Dir) (*schema.Message, error) {
	base := strings.TrimSuffix(name, ".def")
	var of []string
	if i := strings.LastIndexByte(base, '/'); i >= 0 {
		of, base = strings.Split(base[:i], "/"), base[i+1:]
	}
	fits := func(m *schema.Message) bool {
		if group != "" && m.Key.Group != group || dir != schema.Both && m.Key.Dir != schema.Both && m.Key.Dir != dir {
			return false
		}
		for _, q := range of {
			if q != m.Key.Group && q != m.Key.Dir.String() {
				return false
			}
		}
		return true
	}
	if m := s.highest(base, fits); m != nil {
		return m, nil
	}
	plain, version, found := cutVersion(base)
	if found {
		for _, m := range s.set.Named(plain) {
			if m.Version == version && fits(m) {
				return m, nil
			}
		}
	}
	near := func() string {
		return diag.NearestOf(base, func(yield func(string) bool) {
			for m := range s.Messages() {
				name := m.Name
				if found {
					name += "." + strconv.Itoa(m.Version)
				}
				if fits(m) && !yield(name) {
					return
				}
			}
		})
	}
	return nil, &NotFoundError{Name: name, In: group != "" || dir != schema.Both, near: near}
}

func (s *Snapshot) highest(name string, fits func(*schema.Message) bool) *schema.Message {
	var best *schema.Message
	for _, m := range s.set.Named(name) {
		if fits(m) && (best == nil || m.Version > best.Version) {
			best = m
		}
	}
	return best
}

// cutVersion cuts NAME.VERSION.
func cutVersion(name string) (base string, version int, found bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return name, 0, false
	}
	n, err := strconv.Atoi(name[i+1:])
	return name[:i], n, err == nil
}

// Names are the names of all messages, as NameOf has them, for completion.
func (s *Snapshot) Names() []string {
	out := make([]string, 0, s.Count())
	for m := range s.Messages() {
		out = append(out, s.NameOf(m))
	}
	return out
}

// Beside are the messages of a message's file, in the order in which they stand there.
func (s *Snapshot) Beside(m *schema.Message) []*schema.Message { return s.MessagesOf(m.Span.File) }

// MessagesOf are the messages of a file, in the order in which they stand there.
func (s *Snapshot) MessagesOf(f *source.File) []*schema.Message { return s.set.MessagesOf(f) }

// Named are the messages of a name, of all groups and versions, in the order of the dialect.
func (s *Snapshot) Named(name string) []*schema.Message { return s.set.Named(name) }
