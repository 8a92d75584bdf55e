package server

// drawn is an element of a list as HTML, with its hash.
type drawn struct {
	sum  uint64
	html string
}

// listChange is what has to be done to the children of an element: first those that are other ones in place, by their number, then
// Remove of them from At on give way to New.
type listChange struct {
	ID     string         `json:"id"`
	Change map[int]string `json:"change,omitempty"`
	At     int            `json:"at"`
	Remove int            `json:"remove,omitempty"`
	New    []string       `json:"new,omitempty"`
}

// sentLists are the hashes of the elements that a page has, by list.
type sentLists map[string][]uint64

// change says what makes of the list that the page has the one that was drawn, nil for nothing. Elements stand where they stood if
// there are as many as before; else those between the same start and the same end are new.
func (s sentLists) change(id string, items []drawn) *listChange {
	old, known := s[id]
	sums := make([]uint64, len(items))
	for i, x := range items {
		sums[i] = x.sum
	}
	s[id] = sums
	out := &listChange{ID: id}
	if !known { // the page has what it was loaded with, whatever that is
		out.Remove = -1
		for _, x := range items {
			out.New = append(out.New, x.html)
		}
		return out
	}
	if len(old) == len(items) {
		for i, x := range items {
			if old[i] != x.sum {
				if out.Change == nil {
					out.Change = map[int]string{}
				}
				out.Change[i] = x.html
			}
		}
		if out.Change == nil {
			return nil
		}
		return out
	}
	first, last := 0, 0
	for first < min(len(old), len(items)) && old[first] == items[first].sum {
		first++
	}
	for last < min(len(old), len(items))-first && old[len(old)-1-last] == items[len(items)-1-last].sum {
		last++
	}
	out.At, out.Remove = first, len(old)-first-last
	for _, x := range items[first : len(items)-last] {
		out.New = append(out.New, x.html)
	}
	return out
}
