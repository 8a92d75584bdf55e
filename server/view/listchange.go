package view

import (
	"slices"
	"strings"
	"sync"

	"wirebench/server/workspace"
)

// ListChange makes one list of another.
type ListChange struct {
	State    string              `json:"state"`              // of the new list
	Whole    bool                `json:"whole,omitempty"`    // the other list is empty, whatever the page has
	Versions bool                `json:"versions,omitempty"` // messages have versions
	More     int                 `json:"more,omitempty"`     // names of the library beyond those of the list
	Order    []string            `json:"order,omitempty"`    // ids of the sections, if the new list has others, or in another order
	Sections []ListSectionChange `json:"sections,omitempty"` // new and changed ones
}

// ListSectionChange is a change of a section, or a new section.
type ListSectionChange struct {
	ID    string    `json:"id"`
	Title string    `json:"title,omitempty"` // "" if it is unchanged
	Gone  []string  `json:"gone,omitempty"`  // names of rows
	Rows  []ListPut `json:"rows,omitempty"`  // new and changed ones, in order
}

// ListPut puts a row into a section, after those that are gone have left it: in the place of the row with its name, else at its own place.
type ListPut struct {
	ListRow
	At int `json:"at,omitempty"` // the place of a new row in the new section, from 1; 0 for the end of the rows so far
}

// Since returns the change of an earlier list, or of an empty one if it is nil. The result must not be changed. The last one is cached: pages
// that are open for longer have the same list.
func (l *List) Since(earlier *List) *ListChange {
	if earlier == nil {
		return listChangeOf(nil, l)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.change == nil || l.earlier != earlier.State {
		l.change, l.earlier = listChangeOf(earlier, l), earlier.State
	}
	return l.change
}

// listChangeOf compares two lists.
func listChangeOf(old, now *List) *ListChange {
	c := &ListChange{State: now.State, Versions: now.Versions, More: now.More}
	if old == nil || old.Versions != now.Versions {
		c.Whole, old = true, nil
	}
	had, has := old.held(), now.held()
	if !slices.EqualFunc(had, has, func(a, b ListSection) bool { return a.ID == b.ID }) {
		for _, s := range has {
			c.Order = append(c.Order, s.ID)
		}
		if len(has) == 0 {
			c.Whole = true // nothing is left
		}
	}
	for _, s := range has {
		var before ListSection
		if i := slices.IndexFunc(had, func(x ListSection) bool { return x.ID == s.ID }); i >= 0 {
			before = had[i]
		}
		if x, changed := listSectionChange(before, s); changed {
			c.Sections = append(c.Sections, x)
		}
	}
	return c
}

// listSectionChange compares two states of a section, both in the order of names.
func listSectionChange(old, now ListSection) (c ListSectionChange, changed bool) {
	c.ID = now.ID
	if old.Title != now.Title {
		c.Title = now.Title
	}
	i, j := 0, 0
	for i < len(old.Rows) || j < len(now.Rows) {
		switch order := compareRowsAt(old.Rows, now.Rows, i, j); {
		case order < 0:
			c.Gone = append(c.Gone, old.Rows[i].Name)
			i++
		case order > 0:
			put := ListPut{ListRow: now.Rows[j], At: j + 1}
			if i == len(old.Rows) {
				put.At = 0
			}
			c.Rows = append(c.Rows, put)
			j++
		default:
			if !old.Rows[i].equal(&now.Rows[j]) {
				c.Rows = append(c.Rows, ListPut{ListRow: now.Rows[j]})
			}
			i++
			j++
		}
	}
	return c, c.Title != "" || len(c.Gone)+len(c.Rows) > 0
}

// compareRowsAt compares the names of two rows. The end of a list is after all names.
func compareRowsAt(a, b []ListRow, i, j int) int {
	switch {
	case i == len(a):
		return 1
	case j == len(b):
		return -1
	}
	return strings.Compare(a[i].Name, b[j].Name)
}

// Bounds of the lists that are kept.
const (
	maxKeptLists = 64
	maxKeptRows  = 100_000 // of all but the newest
)

// Lists makes the lists of snapshots: each once for all pages. The zero value is ready for use, and safe for concurrent use.
type Lists struct {
	mu   sync.Mutex
	kept []*keptList // used last is first
}

type keptList struct {
	state string
	list  func() *List // makes it at the first call
	rows  int          // 0 while it is made
}

// Of returns the list of a snapshot.
func (k *Lists) Of(snap *workspace.Snapshot) *List {
	x := k.use(snap.ID)
	if x == nil {
		x = k.add(snap)
	}
	l := x.list()
	k.trim(x, l.Count)
	return l
}

// Known returns the list with a state, nil if it is not kept.
func (k *Lists) Known(state string) *List {
	if x := k.use(state); x != nil {
		return x.list()
	}
	return nil
}

// use returns the kept list with a state, nil if there is none.
func (k *Lists) use(state string) *keptList {
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.kept, func(x *keptList) bool { return x.state == state })
	if i < 0 {
		return nil
	}
	x := k.kept[i]
	copy(k.kept[1:i+1], k.kept[:i])
	k.kept[0] = x
	return x
}

// add keeps a list, unless another call has done so meanwhile.
func (k *Lists) add(snap *workspace.Snapshot) *keptList {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, x := range k.kept {
		if x.state == snap.ID {
			return x
		}
	}
	x := &keptList{state: snap.ID, list: sync.OnceValue(func() *List { return newList(snap) })}
	k.kept = slices.Insert(k.kept, 0, x)
	return x
}

// trim notes the size of a list, and forgets lists that were not used for longest.
func (k *Lists) trim(x *keptList, rows int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	x.rows = rows
	total := 0
	for i, x := range k.kept {
		if total += x.rows; i > 0 && (total > maxKeptRows || i >= maxKeptLists) {
			clear(k.kept[i:])
			k.kept = k.kept[:i]
			return
		}
	}
}
