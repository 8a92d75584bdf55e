package page

import "hash/maphash"

// drawn is a rendered element of a list, with its hash.
type drawn struct {
	sum  uint64
	html string
}

// ListChange is a change of the children of an element: first Change replaces children by index, then New replaces Remove of them from At
// on.
type ListChange struct {
	ID     string         `json:"id"`
	Change map[int]string `json:"change,omitempty"`
	At     int            `json:"at"`
	Remove int            `json:"remove,omitempty"`
	New    []string       `json:"new,omitempty"`
}

// ListPatch is a change of a list of the page: New replaces Remove of its elements from At on.
type ListPatch[T any] struct {
	At     int `json:"at"`
	Remove int `json:"remove,omitempty"` // -1 for all
	New    []T `json:"new,omitempty"`
}

// sentLists holds the hashes of the elements that a page has, by list.
type sentLists map[string][]uint64

// differs compares a list with the one of the page: elements [at, end) replace remove elements from at on. remove is -1 if the list of the
// page is unknown, because it came with the page.
func (s sentLists) differs(id string, sums []uint64) (at, end, remove int) {
	old, known := s[id]
	s[id] = sums
	if !known {
		return 0, len(sums), -1
	}
	last := 0
	for at < min(len(old), len(sums)) && old[at] == sums[at] {
		at++
	}
	for last < min(len(old), len(sums))-at && old[len(old)-1-last] == sums[len(sums)-1-last] {
		last++
	}
	return at, len(sums) - last, len(old) - at - last
}

// patched returns the change that makes the list of the page equal to items, nil if it is equal.
func patched[T comparable](l *livePage, id string, items []T) *ListPatch[T] {
	sums := make([]uint64, len(items))
	for i, x := range items {
		sums[i] = maphash.Comparable(l.seed, x)
	}
	at, end, remove := l.lists.differs(id, sums)
	if remove == 0 && at == end {
		return nil
	}
	return &ListPatch[T]{at, remove, items[at:end]}
}

// change returns the change from the list of the page to the rendered one, nil if they are equal. If the number of elements is the same
// they are replaced in place; otherwise the elements between the common start and end are replaced.
func (s sentLists) change(id string, items []drawn) *ListChange {
	old, known := s[id]
	sums := make([]uint64, len(items))
	for i, x := range items {
		sums[i] = x.sum
	}
	out := &ListChange{ID: id}
	at, end, remove := s.differs(id, sums)
	if known && len(old) == len(items) {
		for i := at; i < end; i++ {
			if old[i] != sums[i] {
				if out.Change == nil {
					out.Change = map[int]string{}
				}
				out.Change[i] = items[i].html
			}
		}
		if out.Change == nil {
			return nil
		}
		return out
	}
	out.At, out.Remove = at, remove
	for _, x := range items[at:end] {
		out.New = append(out.New, x.html)
	}
	return out
}
