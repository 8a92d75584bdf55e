package page

import "hash/maphash"

// drawn is an element of a list as HTML, with its hash.
type drawn struct {
	sum  uint64
	html string
}

// ListChange is what has to be done to the children of an element: first those that are other ones in place, by their number, then
// Remove of them from At on give way to New.
type ListChange struct {
	ID     string         `json:"id"`
	Change map[int]string `json:"change,omitempty"`
	At     int            `json:"at"`
	Remove int            `json:"remove,omitempty"`
	New    []string       `json:"new,omitempty"`
}

// ListPatch makes another list of the one that the page has: Remove of its elements from At on give way to New.
type ListPatch[T any] struct {
	At     int `json:"at"`
	Remove int `json:"remove,omitempty"` // -1 for all
	New    []T `json:"new,omitempty"`
}

// sentLists are the hashes of the elements that a page has, by list.
type sentLists map[string][]uint64

// differs says in which part a list differs from the one that the page has: remove elements from at on give way to those up to end. remove
// is -1 where nobody knows what the page has: it was loaded with something.
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

// patched is what makes the items of the list that the page has, nil if they are the same.
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

// change says what makes of the list that the page has the one that was drawn, nil for nothing. Elements stand where they stood if
// there are as many as before; else those between the same start and the same end are new.
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
