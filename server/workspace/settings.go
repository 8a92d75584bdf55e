package workspace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"wirebench/defs"
	"wirebench/defs/source"
	"wirebench/server/store"
)

// settingsFile is where the settings of a workspace are kept.
const settingsFile = "settings.json"

// maxConstants bounds the constants of a workspace.
const maxConstants = 10_000

// UserSettings are what people choose for a workspace. What is empty is as the program was started.
type UserSettings struct {
	Patch     string            `json:"patch,omitempty" maxLength:"20" doc:"game version that definitions depend on, N or N.NN"`
	Map       string            `json:"map,omitempty" maxLength:"500" doc:"file of the library with the codes of messages"`
	Platform  string            `json:"platform,omitempty" enum:",pc,console,classic" doc:"use the definitions made for it"`
	Angle     string            `json:"angle,omitempty" enum:",round,truncate" doc:"how angles are encoded"`
	Constants map[string]string `json:"constants,omitempty" doc:"values of named constants"`
}

// apply puts the settings over those that the program was started with.
func (u *UserSettings) apply(set *Settings, lib *Library) error {
	o := &set.Options
	o.Values = maps.Clone(o.Values)
	for name, value := range map[string]string{"patch": u.Patch, "platform": u.Platform, "angle": u.Angle} {
		if value == "" {
			continue
		}
		read, err := defs.CheckOption(name, value)
		if err != nil {
			return fmt.Errorf("%s %q: %w", name, value, err)
		}
		if o.Values == nil {
			o.Values = map[string]string{}
		}
		o.Values[name] = read
	}
	if len(u.Constants) > maxConstants {
		return fmt.Errorf("%d constants; there may be %d", len(u.Constants), maxConstants)
	}
	if len(u.Constants) > 0 {
		o.Constants = maps.Clone(o.Constants)
		if o.Constants == nil {
			o.Constants = map[string]string{}
		}
		maps.Copy(o.Constants, u.Constants)
	}
	if u.Map != "" {
		if f := lib.mapNamed(u.Map); f != nil {
			set.Codes = f
		}
		// A map that was chosen and is gone is no reason to refuse the library: the codes are then unknown, and the page says so.
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

// UserSettings are those in force.
func (w *Workspace) UserSettings() UserSettings {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.settings
}

// Configure changes the settings and reads the library under them. change gets a copy of those in force.
func (w *Workspace) Configure(change func(*UserSettings)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.settings
	next := old
	next.Constants = maps.Clone(old.Constants)
	change(&next)
	if next.Map != "" && next.Map != old.Map && w.Now().Library.mapNamed(next.Map) == nil {
		return fmt.Errorf("no code map %q in the library", next.Map)
	}
	w.settings = next
	if _, err := w.build(w.Now().Library); err != nil {
		w.settings = old
		return err
	}
	if w.Home != nil {
		if err := w.writeSettings(&next); err != nil {
			w.settings = old
			return fmt.Errorf("keep the settings: %w", err)
		}
	}
	return w.reload(true)
}

// writeSettings keeps the settings, and with them what other versions of the program have kept there. A damaged file is set aside.
func (w *Workspace) writeSettings(next *UserSettings) error {
	was, err := w.Home.Read(settingsFile)
	if err != nil && !notThere(err) {
		return err
	}
	if err == nil && json.Unmarshal(was.Text, &UserSettings{}) != nil {
		if d, ok := w.Home.(interface{ SetAside(string, []byte) error }); ok {
			err = d.SetAside(settingsFile, was.Text)
		}
		if err != nil {
			return err
		}
	}
	text, err := store.MergeJSON(next, was.Text)
	if err != nil {
		return err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err != nil {
		return err
	}
	indented.WriteByte('\n')
	_, err = w.Home.Write(settingsFile, indented.Bytes(), nil)
	return err
}

// readSettings reads the settings that were kept. A damaged file, or one with values that nobody can use, is named in the log and costs what
// it says, not the start.
func (w *Workspace) readSettings() {
	if w.Home == nil {
		return
	}
	f, err := w.Home.Read(settingsFile)
	if notThere(err) {
		return
	}
	var said UserSettings
	if err == nil {
		err = json.Unmarshal(f.Text, &said)
	}
	if err == nil {
		err = said.apply(&Settings{}, &Library{})
	}
	if err != nil {
		w.Log.Error("damaged settings are not used", "workspace", w.Name, "file", pathOf(w.Home, settingsFile), "error", err)
		return
	}
	w.settings = said
}

// pathOf is where a file is, for the log.
func pathOf(files Files, name string) string {
	if d, ok := files.(interface{ Path(string) string }); ok {
		return d.Path(name)
	}
	return name
}
