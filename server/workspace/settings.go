package workspace

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"wirebench/defs"
	"wirebench/defs/source"
)

// settingsFile is the name of the file with the settings of a workspace.
const settingsFile = "settings.json"

// maxConstants bounds the constants of a workspace.
const maxConstants = 10_000

// UserSettings are the settings that users change. An empty one has its value from the start of the program.
type UserSettings struct {
	Map       string            `json:"map,omitempty" maxLength:"500" doc:"file of the library with the codes of messages"`
	Constants map[string]string `json:"constants,omitempty" doc:"values of named constants"`
	Options   map[string]string `json:"-"` // values of dialect options by name; in JSON members beside the others
}

// plainSettings is UserSettings without options and methods, for package json.
type plainSettings UserSettings

// MarshalJSON writes the options as members beside the others; an option that is not set is written as "".
func (u UserSettings) MarshalJSON() ([]byte, error) {
	all := map[string]any{}
	for name, value := range u.Options {
		if value != "" {
			all[name] = value
		}
	}
	if u.Map != "" {
		all["map"] = u.Map
	}
	if len(u.Constants) > 0 {
		all["constants"] = u.Constants
	}
	return json.Marshal(all)
}

// UnmarshalJSON reads the known members and ignores all others.
func (u *UserSettings) UnmarshalJSON(text []byte) error {
	var p plainSettings
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for _, o := range defs.Options() {
		var value string
		if err := json.Unmarshal([]byte(cmp.Or(string(all[o.Name]), `""`)), &value); err != nil {
			var wrong *json.UnmarshalTypeError
			if errors.As(err, &wrong) {
				wrong.Field = o.Name
			}
			return err
		}
		if value != "" {
			if p.Options == nil {
				p.Options = map[string]string{}
			}
			p.Options[o.Name] = value
		}
	}
	*u = UserSettings(p)
	return nil
}

// SettingNames returns the names of the JSON members of settings.
func SettingNames() []string {
	names := []string{"constants", "map"}
	for _, o := range defs.Options() {
		names = append(names, o.Name)
	}
	return names
}

// Set sets an option; "" restores the value from the start of the program.
func (u *UserSettings) Set(option, value string) {
	if u.Options == nil {
		u.Options = map[string]string{}
	}
	u.Options[option] = value
}

// apply overrides the settings from the start of the program.
func (u *UserSettings) apply(set *Settings, lib *Library) error {
	o := &set.Options
	o.Values = maps.Clone(o.Values)
	for name, value := range u.Options {
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
		return fmt.Errorf("%d constants; at most %d are allowed", len(u.Constants), maxConstants)
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
		// If the chosen map no longer exists, the library is still usable: the codes are unknown, and the page reports it.
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
func (w *Workspace) UserSettings() UserSettings {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.settings
}

// Configure changes the settings and rebuilds the library. change gets a copy of the settings in force.
func (w *Workspace) Configure(change func(*UserSettings)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.settings
	next := old
	next.Constants, next.Options = maps.Clone(old.Constants), maps.Clone(old.Options)
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
			return fmt.Errorf("store the settings: %w", err)
		}
	}
	return w.reload(true)
}

// writeSettings stores the settings, and keeps members that other versions of the program have stored. A damaged file is set aside.
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
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal(was.Text, &all) // valid: it was read above, or set aside
	for _, name := range SettingNames() {
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

// readSettings reads the stored settings. A damaged file, or one with invalid values, is logged and ignored.
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
		w.Log.Error("damaged settings are ignored", "workspace", w.Name, "file", pathOf(w.Home, settingsFile), "error", err)
		return
	}
	w.settings = said
}

// pathOf returns the path of a file, for the log.
func pathOf(files Files, name string) string {
	if d, ok := files.(interface{ Path(string) string }); ok {
		return d.Path(name)
	}
	return name
}
