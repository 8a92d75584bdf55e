package workspace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"wirebench/codec/transport/protocols"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/server/settings"
	"wirebench/server/store"
)

// settingsFile is the name of the file with the settings of a workspace.
const settingsFile = "settings.json"

// apply sets the chosen values. If the chosen map no longer exists, the library is still usable: the codes are unknown, and the page reports
// it.
func apply(u settings.Settings, set *Settings, lib *Library) error {
	u, err := u.Checked()
	if err != nil {
		return err
	}
	all := u.Over(settings.Settings{Options: set.Options.Values, Constants: set.Options.Constants})
	set.Options.Values, set.Options.Constants = all.Options, all.Constants
	set.Traffic = Traffic{Rules: u.Rules(), Dir: schema.DirNamed(u.Direction)}
	for _, p := range u.Ports {
		set.Traffic.Ports = append(set.Traffic.Ports, uint16(p))
	}
	set.Envelope = u.Envelope
	if f := lib.mapNamed(u.Map); f != nil {
		set.Codes = f
	}
	return nil
}

func (l *Library) mapNamed(name string) *source.File {
	for _, f := range l.Maps {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// UserSettings returns the settings in force.
func (w *Workspace) UserSettings() settings.Settings {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.settings.Clone()
}

// Configure changes the settings and rebuilds the library. change gets a copy of the settings in force.
func (w *Workspace) Configure(change func(*settings.Settings)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.settings
	next := old.Clone()
	change(&next)
	if err := w.Now().check(next, old); err != nil {
		return err
	}
	w.settings = next
	same := next.SameReading(old)
	if !same {
		if _, err := w.build(w.Now().Library); err != nil {
			w.settings = old
			return err
		}
	}
	if w.Home != nil {
		if err := w.writeSettings(&next); err != nil {
			w.settings = old
			return fmt.Errorf("store the settings: %w", err)
		}
	}
	if same {
		return nil
	}
	return w.reload(true)
}

// check checks new settings against the library: their map and groups exist, unless they were chosen before.
func (s *Snapshot) check(next, old settings.Settings) error {
	if next.Map != "" && next.Map != old.Map && s.Library.mapNamed(next.Map) == nil {
		return fmt.Errorf("no code map %q in the library", next.Map)
	}
	known := slices.DeleteFunc(s.Groups(), func(g string) bool { return g == "" })
	for _, r := range next.Rules() {
		switch {
		case slices.Contains(known, r.Group) || slices.ContainsFunc(old.Rules(), func(o protocols.Rule) bool { return o.Group == r.Group }):
		case len(known) == 0:
			return fmt.Errorf("group %.100s: the definitions have no groups", r.Group)
		default:
			return fmt.Errorf("unknown group %.100s; the groups are %s", r.Group, strings.Join(known, ", "))
		}
	}
	return nil
}

// CopySettings copies the stored settings of a workspace to another one that has none.
func CopySettings(from, to Files) error {
	if from == nil {
		return nil
	}
	f, err := from.Read(settingsFile)
	if notThere(err) {
		return nil
	}
	if err == nil {
		_, err = to.Write(settingsFile, f.Text, nil)
	}
	return err
}

// writeSettings stores the settings, and keeps members that other versions of the program have stored.
func (w *Workspace) writeSettings(next *settings.Settings) error {
	was, _, err := w.storedSettings()
	if err != nil && !store.Unusable(err) {
		return err
	}
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal(was.Text, &all) // a damaged one is set aside
	for _, name := range settings.Names() {
		delete(all, name)
	}
	text, err := json.Marshal(next)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err == nil {
		text, err = json.MarshalIndent(all, "", "  ")
	}
	if err != nil {
		return err
	}
	_, err = w.Home.Write(settingsFile, append(text, '\n'), nil)
	return err
}

// readSettings reads the stored settings.
func (w *Workspace) readSettings() {
	if w.Home == nil {
		return
	}
	if _, said, err := w.storedSettings(); err == nil {
		w.settings = said
	}
}

// storedSettings reads the file of the settings. One with invalid values is damaged.
func (w *Workspace) storedSettings() (f store.File, said settings.Settings, err error) {
	f, err = w.Home.Load(settingsFile, func(text []byte) (err error) {
		if err = store.JSON(&said)(text); err == nil {
			said, err = said.Checked()
		}
		return err
	})
	return f, said, err
}

// pathOf returns the path of a file, for the log.
func pathOf(files Files, name string) string {
	if d, ok := files.(interface{ Path(string) string }); ok {
		return d.Path(name)
	}
	return name
}
