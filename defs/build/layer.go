package build

import (
	"iter"
	"maps"
	"slices"
)

// The number of changes above the base of a map or list, beyond which they are merged into a new base: in any set, and in a set that
// is to be the base of others. Tests reduce them.
var (
	maxLayer  = 256
	maxMerged = 32
)

// layered is a map with cheap small changes: a shared base and the changes above it. Only the set under construction changes its map,
// after fork.
type layered[K comparable, V any] struct {
	base map[K]V
	over map[K]slot[V]
}

// slot is a change of a layered map: a new value, or a removal.
type slot[V any] struct {
	value V
	there bool
}

// fork returns a copy that may be changed without changing m.
func (m layered[K, V]) fork() layered[K, V] {
	m.over = maps.Clone(m.over)
	return m
}

func (m *layered[K, V]) get(k K) V {
	if s, ok := m.over[k]; ok {
		return s.value
	}
	return m.base[k]
}

func (m *layered[K, V]) set(k K, v V) { m.put(k, slot[V]{v, true}) }

func (m *layered[K, V]) remove(k K) { m.put(k, slot[V]{}) }

func (m *layered[K, V]) put(k K, s slot[V]) {
	if m.over == nil {
		m.over = map[K]slot[V]{}
	}
	m.over[k] = s
}

// all yields the entries in no particular order.
func (m *layered[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for k, s := range m.over {
			if s.there && !yield(k, s.value) {
				return
			}
		}
		for k, v := range m.base {
			if _, changed := m.over[k]; !changed && !yield(k, v) {
				return
			}
		}
	}
}

// merge merges the base and the changes into a new base if there are more than most changes.
func (m *layered[K, V]) merge(most int) {
	if len(m.over) <= most {
		return
	}
	base := make(map[K]V, len(m.base)+len(m.over))
	for k, v := range m.all() {
		base[k] = v
	}
	m.base, m.over = base, nil
}

// sorted is the corresponding sorted list: a shared base, removed elements of the base, and additional elements.
type sorted[T comparable] struct {
	base []T
	gone map[T]struct{}
	more []T
}

// change returns the list with some elements removed and others added. compare is called only with elements of the new list.
func (l sorted[T]) change(gone, come []T, compare func(a, b T) int) sorted[T] {
	if len(gone) == 0 && len(come) == 0 {
		return l
	}
	more := make([]T, 0, len(l.more)+len(come))
	out := make(map[T]struct{}, len(gone))
	for _, t := range gone {
		out[t] = struct{}{}
	}
	for _, t := range l.more {
		if _, is := out[t]; is {
			delete(out, t)
		} else {
			more = append(more, t)
		}
	}
	if len(l.base) > 0 {
		for t := range l.gone {
			out[t] = struct{}{}
		}
	}
	more = append(more, come...)
	slices.SortStableFunc(more, compare)
	return sorted[T]{l.base, out, more}
}

// all yields the elements in order.
func (l *sorted[T]) all(compare func(a, b T) int) iter.Seq[T] {
	return func(yield func(T) bool) {
		more := l.more
		for _, t := range l.base {
			if len(l.gone) > 0 {
				if _, gone := l.gone[t]; gone {
					continue
				}
			}
			for len(more) > 0 && compare(more[0], t) < 0 {
				if !yield(more[0]) {
					return
				}
				more = more[1:]
			}
			if !yield(t) {
				return
			}
		}
		for _, t := range more {
			if !yield(t) {
				return
			}
		}
	}
}

func (l *sorted[T]) len() int { return len(l.base) - len(l.gone) + len(l.more) }

// merge is like layered.merge.
func (l *sorted[T]) merge(most int, compare func(a, b T) int) {
	if len(l.gone)+len(l.more) <= most {
		return
	}
	base := make([]T, 0, l.len())
	for t := range l.all(compare) {
		base = append(base, t)
	}
	*l = sorted[T]{base: base}
}
