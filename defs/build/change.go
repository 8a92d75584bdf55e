package build

import (
	"path"
	"slices"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
)

// change is a set under construction and its differences from the previous one.
type change struct {
	*Set
	gone, come []*File         // files before and after the change
	touched    map[string]bool // names that changed files provide or provided
}

// leave removes a file.
func (c *change) leave(f *File) {
	c.gone = append(c.gone, f)
	c.of.remove(f.Source)
	c.names(f, func(list []*File) []*File { return without(list, f) })
}

// enter adds a file.
func (c *change) enter(f *File) {
	c.come = append(c.come, f)
	c.of.set(f.Source, f)
	c.names(f, func(list []*File) []*File { return with(list, f, compareFiles) })
}

// names edits the lists of files for the names of a file.
func (c *change) names(f *File, edit func([]*File) []*File) {
	update(&c.based, path.Base(f.Source.Name), edit)
	for _, name := range f.names {
		c.touched[name] = true
		update(&c.provided, name, edit)
	}
}

// replace replaces a file by its copy, which is to be lowered again.
func (c *change) replace(old, again *File) {
	c.gone, c.come = append(c.gone, old), append(c.come, again)
	c.of.set(again.Source, again)
	swap := func(list []*File) []*File { return with(without(list, old), again, compareFiles) }
	update(&c.based, path.Base(again.Source.Name), swap)
	for _, name := range again.names {
		update(&c.provided, name, swap)
	}
}

// asked reports whether another file looked up a name of this one.
func (c *change) asked(f *File) bool {
	for _, name := range f.names {
		askers := c.askers.get(name)
		for other := range askers.all(compareFiles) {
			if other != f {
				return true
			}
		}
	}
	return false
}

// settle updates the list of files.
func (c *change) settle() { c.files = c.files.change(c.gone, c.come, compareFiles) }

// renamed reports whether the set of file names changed.
func (c *change) renamed() bool {
	count := map[string]int{}
	for _, f := range c.come {
		count[f.Source.Name]++
	}
	for _, f := range c.gone {
		count[f.Source.Name]--
	}
	for _, n := range count {
		if n != 0 {
			return true
		}
	}
	return false
}

// edits are elements to remove from lists and to add to them, by the keys of the lists.
type edits[K comparable, T any] struct {
	gone, come map[K][]T
}

func (e *edits[K, T]) add(to *map[K][]T, k K, t T) {
	if *to == nil {
		*to = map[K][]T{}
	}
	(*to)[k] = append((*to)[k], t)
}

// keys calls f once for each key.
func (e *edits[K, T]) keys(f func(k K, gone, come []T)) {
	for k, gone := range e.gone {
		f(k, gone, e.come[k])
	}
	for k, come := range e.come {
		if _, done := e.gone[k]; !done {
			f(k, nil, come)
		}
	}
}

// relate records the names that files look up and the files that they use.
func (c *change) relate(fresh []*File) {
	var asks edits[string, *File]
	var uses edits[*source.File, *File]
	for _, f := range c.gone {
		for _, name := range f.asked {
			asks.add(&asks.gone, name, f)
		}
		for _, of := range f.uses {
			uses.add(&uses.gone, of, f)
		}
	}
	for _, f := range fresh {
		for _, name := range f.asked {
			asks.add(&asks.come, name, f)
		}
		for _, of := range f.uses {
			uses.add(&uses.come, of, f)
		}
	}
	asks.keys(func(name string, gone, come []*File) { updateSorted(&c.askers, name, gone, come, compareFiles) })
	uses.keys(func(of *source.File, gone, come []*File) { updateSorted(&c.users, of, gone, come, compareFiles) })
}

// link replaces the messages of changed files.
func (c *change) link(fresh []*File) {
	var gone, come []*schema.Message
	if c.rules.Choose == nil {
		for _, f := range c.gone {
			gone = append(gone, f.Messages...)
		}
		for _, f := range fresh {
			come = append(come, f.Messages...)
		}
	} else {
		gone, come = c.choose(fresh)
	}
	c.messages = c.messages.change(gone, come, c.compare)

	var named edits[string, *schema.Message]
	var coded edits[schema.Address, *schema.Message]
	var grouped edits[string, *schema.Message]
	note := func(list []*schema.Message, n *map[string][]*schema.Message, a *map[schema.Address][]*schema.Message, g *map[string][]*schema.Message) {
		for _, m := range list {
			named.add(n, m.Name, m)
			if m.HasKey {
				coded.add(a, m.Key.Address(), m)
				grouped.add(g, m.Key.Group, m)
			}
		}
	}
	note(gone, &named.gone, &coded.gone, &grouped.gone)
	note(come, &named.come, &coded.come, &grouped.come)
	named.keys(func(name string, gone, come []*schema.Message) {
		update(&c.byName, name, func(list []*schema.Message) []*schema.Message { return exchange(list, gone, come, c.compare) })
	})
	coded.keys(func(at schema.Address, gone, come []*schema.Message) {
		list := exchange(c.linked.get(at).Messages, gone, come, c.compare)
		if len(list) == 0 {
			c.linked.remove(at)
		} else {
			c.linked.set(at, schema.LinkAddress(list))
		}
	})
	grouped.keys(func(group string, gone, come []*schema.Message) {
		updateSorted(&c.groups, group, gone, come, c.compare)
	})
}

// choose replaces the messages of changed files among those of the same identity. It returns the messages that are no longer chosen, and
// those that are newly chosen.
func (c *change) choose(fresh []*File) (gone, come []*schema.Message) {
	var e edits[identity, *schema.Message]
	for _, f := range c.gone {
		for _, m := range f.Messages {
			e.add(&e.gone, identityOf(m), m)
		}
	}
	for _, f := range fresh {
		for _, m := range f.Messages {
			e.add(&e.come, identityOf(m), m)
		}
	}
	e.keys(func(id identity, out, in []*schema.Message) {
		before := c.chosen.get(id).message
		list := exchange(c.same.get(id), out, in, c.compareStanding)
		var now choice
		if len(list) > 0 {
			now.message, now.diagnostics = c.rules.Choose(list, c.options)
			c.same.set(id, list)
			c.chosen.set(id, now)
		} else {
			c.same.remove(id)
			c.chosen.remove(id)
		}
		if before == now.message {
			return
		}
		if before != nil {
			gone = append(gone, before)
		}
		if now.message != nil {
			come = append(come, now.message)
		}
	})
	return gone, come
}

func identityOf(m *schema.Message) identity { return identity{m.Name, m.Version, m.Key, m.HasKey} }

// with returns a sorted list with t added.
func with[T any](list []T, t T, compare func(a, b T) int) []T {
	i, _ := slices.BinarySearchFunc(list, t, compare)
	out := make([]T, 0, len(list)+1)
	return append(append(append(out, list[:i]...), t), list[i:]...)
}

// without returns a list with t removed.
func without[T comparable](list []T, t T) []T {
	out := make([]T, 0, len(list))
	for _, x := range list {
		if x != t {
			out = append(out, x)
		}
	}
	return out
}

// exchange returns a sorted list with some elements removed and others added.
func exchange[T comparable](list, gone, come []T, compare func(a, b T) int) []T {
	out := make([]T, 0, len(list)+len(come))
	for _, t := range list {
		if !slices.Contains(gone, t) {
			out = append(out, t)
		}
	}
	out = append(out, come...)
	slices.SortStableFunc(out, compare)
	return out
}

// update edits a list of a map; an empty list is removed.
func update[K comparable, T any](m *layered[K, []T], k K, edit func([]T) []T) {
	if list := edit(m.get(k)); len(list) > 0 {
		m.set(k, list)
	} else {
		m.remove(k)
	}
}

func updateSorted[K, T comparable](m *layered[K, sorted[T]], k K, gone, come []T, compare func(a, b T) int) {
	list := m.get(k)
	list = list.change(gone, come, compare)
	list.merge(maxLayer, compare)
	if list.len() > 0 {
		m.set(k, list)
	} else {
		m.remove(k)
	}
}

// diagnosticsOf returns the diagnostics about a file from the lowering of f: about f itself, or about a file that it uses.
func (f *File) diagnosticsOf(of *source.File, used bool) diag.List {
	list := f.Diagnostics
	if !used && f.Unused != nil {
		list = f.Unused
	}
	return list.Of(of)
}
