package workspace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"wirebench/defs/source"
	"wirebench/server/store"
)

// Purged says what Purge has removed, and what has copies that it does not reach.
type Purged struct {
	Revisions   int           `json:"revisions" doc:"of the history"`
	Steps       int           `json:"steps" doc:"changes of several files that can no longer be undone, or not for this definition"`
	Suggestions int           `json:"suggestions" doc:"suggestions without their texts, or with the present text as their base"`
	Quotes      int           `json:"quotes" doc:"earlier lines that comments showed"`
	Capsules    []CapsuleInfo `json:"capsules" doc:"shared pages that had an earlier text; they are deleted"`
	Stays       []string      `json:"stays" doc:"where copies may be that the server does not reach"`

	Names []string `json:"-"` // of the definition: the present one, then earlier ones
}

// Purge removes the earlier texts of a definition, for what must not stay: from its history, the journal, suggestions and comments, and with
// the capsules that have them. The present text stays, and what people wrote in comments.
func (w *Workspace) Purge(file string) (*Purged, error) {
	if _, err := w.wholeHistory(file); err != nil {
		return nil, err
	}
	out := &Purged{Capsules: []CapsuleInfo{}, Stays: []string{}}
	w.mu.Lock()
	names := w.namesOf(file, w.steps())
	w.mu.Unlock()
	out.Names = names
	for _, name := range names {
		if err := w.purgeHistory(name, out); err != nil {
			return nil, err
		}
	}
	if err := w.purgeThreads(names, out); err != nil {
		return nil, err
	}
	if err := w.purgeCapsules(names, out); err != nil {
		return nil, err
	}
	if err := w.purgeAside(names, out); err != nil {
		return nil, err
	}
	return out, w.purgeSteps(names, out) // last: it has the earlier names, which a repeated Purge needs if the program ends before
}

// purgeAside deletes what was kept aside of damaged histories and steps, and names what was kept aside of other files.
func (w *Workspace) purgeAside(names []string, out *Purged) error {
	for _, folder := range []string{".", journalFolder, historyFolder} {
		all, err := w.Home.Below(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, name := range all {
			of, _, aside := strings.Cut(name, store.DamagedEnding)
			history, isHistory := strings.CutPrefix(of, historyFolder+"/")
			switch {
			case !aside || folder == "." && strings.Contains(name, "/"):
			case folder == journalFolder || isHistory && slices.Contains(names, strings.TrimSuffix(history, historyEnding)):
				if err := w.Home.Remove(name, nil); err != nil {
					return err
				}
			case folder == ".":
				out.Stays = append(out.Stays, name+" in the folder of the project, which keeps a damaged file")
			}
		}
	}
	return nil
}

// purgeSteps takes a definition out of the steps of the journal. A step that renamed it goes as a whole, after all others, the oldest first.
func (w *Workspace) purgeSteps(names []string, out *Purged) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.steps()
	at := make([]int, len(list))
	for i := range at {
		at[i] = len(list) - 1 - i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(min(len(list[a].Renamed), 1), min(len(list[b].Renamed), 1)) })
	gone, changed := map[string]bool{}, false
	for _, i := range at {
		s := &list[i]
		changes, err := w.changesOf(s.ID)
		if err == nil && !slices.ContainsFunc(changes, func(c change) bool { return slices.Contains(names, c.name) }) {
			if len(changes) != s.Files { // the program ended during another Purge
				s.describe(changes, s.Size)
				changed = true
			}
			continue
		}
		// A damaged one may have any text.
		out.Steps++
		left := slices.DeleteFunc(changes, func(c change) bool { return slices.Contains(names, c.name) })
		var packed []byte
		if err == nil && len(left) > 0 && len(s.Renamed) == 0 {
			packed, err = pack(left)
		}
		if err != nil || packed == nil {
			if err := w.Home.Remove(stepFile(s.ID), nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			gone[s.ID] = true
			continue
		}
		if _, err := w.Home.Write(stepFile(s.ID), packed, nil); err != nil {
			return err
		}
		s.describe(left, len(packed))
	}
	if out.Steps == 0 && !changed {
		return nil
	}
	return w.keepSteps(slices.DeleteFunc(list, func(s kept) bool { return gone[s.ID] }))
}

// namesOf returns the name of a definition and those that it had, by the steps that have renamed it, if no other file has them now.
func (w *Workspace) namesOf(file string, steps []kept) []string {
	names := []string{file}
	for i := 0; i < len(names); i++ {
		for _, s := range steps {
			if len(s.Renamed) == 0 {
				continue
			}
			changes, _ := w.changesOf(s.ID)
			at := slices.IndexFunc(changes, func(c change) bool { return c.name == names[i] })
			if at < 0 {
				continue
			}
			for _, c := range changes {
				was, is := c, changes[at]
				if was.before == nil { // the step was undone
					was, is = is, was
				}
				if was.before != nil && was.after == nil && is.before == nil && bytes.Equal(was.before, is.after) && !slices.Contains(names, c.name) && w.Now().File(c.name) == nil {
					names = append(names, c.name)
				}
			}
		}
	}
	return names
}

func (w *Workspace) purgeHistory(file string, out *Purged) error {
	x, err := w.wholeHistory(file)
	if err != nil {
		return err
	}
	out.Revisions += len(x)
	w.historyMu.Lock()
	defer w.historyMu.Unlock()
	delete(w.history.last, file)
	if err := w.Home.Remove(historyFile(file), nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// purgeThreads removes earlier texts from the threads of a definition: places are in the present text from now on, an open suggestion is one
// for it, and others lose their texts.
func (w *Workspace) purgeThreads(names []string, out *Purged) error {
	snap := w.Now()
	t := &w.threads
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := w.loadThreads(); err != nil {
		return err
	}
	changed, remarks := w.settleThreads(snap), 0
	for _, x := range t.all {
		if !slices.Contains(names, x.File) {
			continue
		}
		changed = true
		remarks += len(x.Remarks)
		if x.Was != "" && (snap.File(x.File) == nil || !strings.Contains(snap.File(x.File).Text, x.Was)) {
			x.Was = ""
			out.Quotes++
		}
		if s := x.Suggestion; s != nil && s.Base+s.Text != "" {
			now, merged := "", ""
			if s.State == "open" {
				var err error
				if now, merged, err = w.merged(x.Thread); err != nil || now == merged {
					now, merged = "", "" // its definition is gone, or has it
				}
			}
			if s.Base != now {
				s.Base, s.Text = now, merged
				out.Suggestions++
			}
			if now == "" && s.State == "open" {
				s.State, x.Open = "declined", false
			}
		}
	}
	for _, name := range names {
		if _, ok := t.text[name]; ok && snap.File(name) == nil {
			delete(t.text, name)
			changed = true
			for _, x := range t.all {
				if x.File == name {
					x.From, x.To = 0, 0
				}
			}
		}
	}
	if remarks > 0 {
		out.Stays = append(out.Stays, "comments on this definition, as people wrote them: delete those that quote it")
	}
	if !changed {
		return nil
	}
	return w.storeThreads()
}

// purgeCapsules deletes the capsules that have an earlier text of a definition.
func (w *Workspace) purgeCapsules(names []string, out *Purged) error {
	snap := w.Now()
	list, err := w.Capsules()
	if err != nil {
		return err
	}
	for _, x := range list {
		text, err := w.Capsule(x.ID)
		if err != nil && !errors.Is(err, ErrNoCapsule) {
			return err
		}
		var has struct {
			Files []struct{ Name, Text string }
		}
		_ = json.Unmarshal(text, &has) // a damaged one cannot be opened
		for _, f := range has.Files {
			now := snap.File(f.Name)
			if slices.Contains(names, f.Name) && (now == nil || source.UnixLines(now.Text) != source.UnixLines(f.Text)) {
				if err := w.DropCapsule(x.ID); err != nil {
					return err
				}
				out.Capsules = append(out.Capsules, x)
				break
			}
		}
	}
	if len(list) > 0 {
		out.Stays = append(out.Stays, "pages of capsules that somebody has saved")
	}
	return nil
}
