package workspace

import (
	"strconv"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// NameOf returns the shortest name by which Find finds a message: NAME, or NAME.VERSION if the dialect has versions, preceded by the
// direction or the group if other messages have the same name: "c2s/chat", "clmsg/login".
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

// qualifier returns the prefix that distinguishes a message from others with its name, "" if there are none or no prefix does.
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

// Find returns the message with a name NAME or NAME.VERSION; without a version, the highest. The name may be preceded by a direction, a
// group or both, each followed by a slash.
func (s *Snapshot) Find(name string) (*schema.Message, error) { return s.FindIn(name, "", schema.Both) }

// FindIn is like Find among the messages of a group and a direction; "" and Both match any.
func (s *Snapshot) FindIn(name, group string, dir schema.Dir) (*schema.Message, error) {
	base := strings.TrimSuffix(strings.TrimSuffix(name, ".def"), s.Dialect.Ext)
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
		if fits(m) && (best == nil || best.Unreadable && !m.Unreadable || best.Unreadable == m.Unreadable && m.Version > best.Version) {
			best = m
		}
	}
	return best
}

// cutVersion splits NAME.VERSION.
func cutVersion(name string) (base string, version int, found bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return name, 0, false
	}
	n, err := strconv.Atoi(name[i+1:])
	return name[:i], n, err == nil
}

// Names returns the names of all messages, as from NameOf, for completion.
func (s *Snapshot) Names() []string {
	out := make([]string, 0, s.Count())
	for m := range s.Messages() {
		out = append(out, s.NameOf(m))
	}
	return out
}

// Beside returns the messages of the file of a message, in textual order.
func (s *Snapshot) Beside(m *schema.Message) []*schema.Message { return s.MessagesOf(m.Span.File) }

// MessagesOf returns the messages of a file, in textual order.
func (s *Snapshot) MessagesOf(f *source.File) []*schema.Message { return s.set.MessagesOf(f) }

// Named returns the messages with a name, of all groups and versions, in the order of the dialect.
func (s *Snapshot) Named(name string) []*schema.Message { return s.set.Named(name) }
