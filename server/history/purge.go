package history

import (
	"slices"
	"strings"

	"wirebench/server/store"
)

// Names returns the name of a definition and those that it had, by the steps that have moved it, if they are free now.
func (h *History) Names(file string, free func(name string) bool) []string {
	names := []string{file}
	for i := 0; i < len(names); i++ {
		for _, s := range h.Steps() {
			changes, _ := h.changesOf(s.ID, false)
			for _, m := range moves(changes, make([]store.Revision, len(changes))) {
				for _, pair := range [][2]string{{m.From, m.To}, {m.To, m.From}} { // the step may have been undone
					if pair[0] == names[i] && !slices.Contains(names, pair[1]) && free(pair[1]) {
						names = append(names, pair[1])
					}
				}
			}
		}
	}
	return names
}

// Forget removes all that the history has of a definition, under all its names: its revisions, what was kept aside of damaged ones and of
// steps, and its part of the steps. It returns how many revisions are gone, and how many steps can no longer be undone, or not for this
// definition. It can be repeated after the program has ended in the middle: the steps, which have the earlier names, go last.
func (h *History) Forget(names []string) (revisions, steps int, err error) {
	for _, name := range names {
		x, err := h.whole(name)
		if err != nil {
			return 0, 0, err
		}
		revisions += len(x)
	}
	h.files.Lock()
	defer h.files.Unlock()
	for _, name := range names {
		delete(h.last, name)
		if err := there(h.Home.Remove(revisionsFile(name), nil)); err != nil {
			return 0, 0, err
		}
	}
	if err := h.forgetAside(names); err != nil {
		return 0, 0, err
	}
	steps, err = h.forgetSteps(names)
	return revisions, steps, err
}

// forgetAside deletes what was kept aside of damaged histories of a definition, and of all steps: a damaged one may have any text.
func (h *History) forgetAside(names []string) error {
	for _, folder := range []string{stepsFolder, revisionsFolder} {
		all, err := h.Home.Below(folder)
		if there(err) != nil {
			return err
		}
		for _, name := range all {
			of, _, aside := strings.Cut(name, store.DamagedEnding)
			if aside && (folder == stepsFolder || slices.ContainsFunc(names, func(n string) bool { return of == revisionsFile(n) })) {
				if err := there(h.Home.Remove(name, nil)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// forgetSteps takes a definition out of the steps. One that moved it goes as a whole, after all others.
func (h *History) forgetSteps(names []string) (n int, err error) {
	list, _ := h.list()
	gone := map[string]bool{}
	for i := range list {
		s := &list[i]
		changes, err := h.changesOf(s.ID, false)
		left := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return slices.Contains(names, c.Name) })
		if err != nil || len(left) < len(changes) { // a damaged one may have any text
			n++
			gone[s.ID] = err != nil || len(left) == 0 || len(moves(changes, make([]store.Revision, len(changes)))) > 0
		}
		if !gone[s.ID] && len(left) != s.Files { // or the program ended during another Forget
			if err := h.pack(&s.Step, left); err != nil {
				return n, err
			}
		}
	}
	if len(list) > 0 {
		err = h.change(func([]kept) []kept { return slices.DeleteFunc(list, func(s kept) bool { return gone[s.ID] }) })
	}
	for id, is := range gone {
		if is && err == nil {
			err = there(h.Home.Remove(stepFile(id), nil))
		}
	}
	return n, err
}

// Check reads all files of the history, so that the log of the store names the damaged ones. each calls its function with the names of the
// files of a folder with an ending, without both.
func (h *History) Check(each func(folder, ending string, read func(name string))) {
	_ = h.Steps()
	each(stepsFolder, stepsEnding, func(id string) { _, _ = h.changesOf(id, false) })
	each(revisionsFolder, revisionsEnding, func(file string) {
		h.files.Lock()
		defer h.files.Unlock()
		_, _, _ = h.read(file)
	})
}
