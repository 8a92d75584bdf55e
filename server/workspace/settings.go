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

// settingsFile is where the settings of a workspace are kept.
const settingsFile = "settings.json"

// maxConstants bounds the constants of a workspace.
const maxConstants = 10_000

// UserSettings are what people choose for a workspace. What is empty is as the program was started.
type UserSettings struct {
	Map       string            `json:"map,omitempty" maxLength:"500" doc:"file of the library with the codes of messages"`
	Constants map[string]string `json:"constants,omitempty" doc:"values of named constants"`
	Options   map[string]string `json:"-"` // values of options of dialects, by name; in JSON each is a member beside the others
}

// plainSettings are the settings without the options, as package json writes them.
type plainSettings UserSettings

// MarshalJSON writes the options as members, for which schema.Option has a text.
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

// UnmarshalJSON reads the members that are known, and no others.
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

// SettingNames are the members of settings in JSON.
func SettingNames() []string {
	names := []string{"constants", "map"}
	for _, o := range defs.Options() {
		names = append(names, o.Name)
	}
	return names
}

// Set chooses the value of an option; "" is as the program was started.
func (u *UserSettings) Set(option, value string) {
	if u.Options == nil {
		u.Options = map[string]string{}
	}
	u.Options[option] = value
}

// apply puts the settings over those that the program was started with.
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
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal(was.Text, &all) // it was read above, or set aside
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
