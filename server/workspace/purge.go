package workspace

import (
	"encoding/json"
	"errors"
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

// Purge removes the earlier texts of a definition, for what must not stay: from its history, the steps, suggestions and comments, and with
// the capsules that have them. The present text stays, and what people wrote in comments.
func (w *Workspace) Purge(file string) (*Purged, error) {
	if _, err := w.History.Of(file); err != nil {
		return nil, err
	}
	out := &Purged{Capsules: []CapsuleInfo{}, Stays: []string{}}
	out.Names = w.History.Names(file, func(name string) bool { return w.Now().File(name) == nil })
	if err := w.purgeThreads(out.Names, out); err != nil {
		return nil, err
	}
	if err := w.purgeCapsules(out.Names, out); err != nil {
		return nil, err
	}
	beside, err := w.Home.Names(".")
	if err != nil {
		return nil, err
	}
	for _, name := range beside {
		if strings.Contains(name, store.DamagedEnding) {
			out.Stays = append(out.Stays, name+" in the folder of the project, which keeps a damaged file")
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	out.Revisions, out.Steps, err = w.History.Forget(out.Names) // last: it has the earlier names, which a repeated Purge needs if the program ends before
	return out, err
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
				if now, merged, err = w.merged(x.Thread); err != nil || now == merged || snap.File(x.File) == nil {
					now, merged = "", "" // its definition is gone, or not there yet, or has it
				}
			}
			if s.Base != now || s.Text != merged {
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
