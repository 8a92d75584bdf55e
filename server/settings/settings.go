// Package settings holds the settings that users choose: of a project, and of a capture or listener, where they override those of the
// project.
package settings

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"wirebench/codec/transport/protocols"
	"wirebench/defs"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
)

// Bounds of settings.
const (
	maxConstants = 10_000
	maxRules     = 100
	maxRule      = 200 // bytes
	maxPorts     = 100
	maxEnvelope  = 100_000 // bytes
)

// Settings are chosen values. A missing one is inherited: by a capture from its project, by a project from the flags of the server.
type Settings struct {
	Map       string            `json:"map,omitempty" maxLength:"500" doc:"file of the library with the codes of messages"`
	Constants map[string]string `json:"constants,omitempty" doc:"values of named constants"`
	Groups    []string          `json:"groups,omitempty" maxItems:"100" doc:"groups of messages by server port and direction: [PORT/][c2s=|s2c=]GROUP; the first that matches applies"`
	Ports     []int             `json:"ports,omitempty" maxItems:"100" doc:"ports of servers, which tell the direction; by default a server is the end that did not open the connection"`
	Direction string            `json:"direction,omitempty" doc:"direction of messages whose direction a file does not tell: c2s or s2c"`
	Envelope  string            `json:"envelope,omitempty" maxLength:"100000" doc:"how messages travel, as found in the traffic; a file of the library that says so applies instead"`
	SaveTyped bool              `json:"save_typed,omitempty" doc:"definitions are saved as people type, when typing rests and they have no errors; of projects"`
	List      *List             `json:"list,omitempty" doc:"how people see lists of frames, and the filters that they have in common; of projects"`
	Keep      *Keep             `json:"keep,omitempty" doc:"how long captures stay; of projects, within what the server keeps"`
	Options   map[string]string `json:"-"` // values of dialect options by name; in JSON members beside the others
}

// plain is Settings without options and methods, for package json.
type plain Settings

// MarshalJSON writes the options as members beside the others.
func (s Settings) MarshalJSON() ([]byte, error) {
	all := map[string]any{}
	for name, value := range s.Options {
		if value != "" {
			all[name] = value
		}
	}
	known, err := json.Marshal(plain(s))
	if err == nil {
		err = json.Unmarshal(known, &all)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// UnmarshalJSON reads the known members and ignores all others.
func (s *Settings) UnmarshalJSON(text []byte) error {
	var p plain
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
	*s = Settings(p)
	return nil
}

// Names returns the names of the JSON members.
func Names() []string {
	names := []string{"constants", "direction", "envelope", "groups", "keep", "list", "map", "ports", "save_typed"}
	for _, o := range defs.Options() {
		names = append(names, o.Name)
	}
	return names
}

// IsZero reports whether everything is inherited.
func (s Settings) IsZero() bool { return s.Key() == "{}" }

// Key returns a text that is the same for equal settings only.
func (s Settings) Key() string {
	text, err := s.MarshalJSON()
	if err != nil {
		panic(err) // texts and numbers only
	}
	return string(text)
}

// Clone returns a copy that shares nothing with s.
func (s Settings) Clone() Settings {
	s.Constants, s.Options, s.Groups, s.Ports = maps.Clone(s.Constants), maps.Clone(s.Options), slices.Clone(s.Groups), slices.Clone(s.Ports)
	return s
}

// Set sets an option; "" makes it inherited.
func (s *Settings) Set(option, value string) {
	if s.Options == nil {
		s.Options = map[string]string{}
	}
	s.Options[option] = value
}

// Over returns base with the values of s in place of its own. Constants are merged.
func (s Settings) Over(base Settings) Settings {
	out := base.Clone()
	out.Map, out.Direction, out.Envelope = cmp.Or(s.Map, out.Map), cmp.Or(s.Direction, out.Direction), cmp.Or(s.Envelope, out.Envelope)
	if len(s.Groups) > 0 {
		out.Groups = s.Groups
	}
	if len(s.Ports) > 0 {
		out.Ports = s.Ports
	}
	out.SaveTyped = s.SaveTyped || out.SaveTyped
	out.Constants, out.Options = merged(out.Constants, s.Constants), merged(out.Options, s.Options)
	return out
}

func merged(base, over map[string]string) map[string]string {
	for name, value := range over {
		if value == "" {
			continue
		}
		if base == nil {
			base = map[string]string{}
		}
		base[name] = value
	}
	return base
}

// Checked returns the settings with the values of options in canonical form. The error names the first invalid value.
func (s Settings) Checked() (Settings, error) {
	out := s.Clone()
	for _, name := range slices.Sorted(maps.Keys(s.Options)) {
		if s.Options[name] == "" {
			continue
		}
		value, err := defs.CheckOption(name, s.Options[name])
		if err != nil {
			return out, fmt.Errorf("%s %q: %w", name, s.Options[name], err)
		}
		out.Options[name] = value
	}
	if err := errors.Join(s.List.check(), s.Keep.check()); err != nil {
		return out, err
	}
	if len(s.Constants) > maxConstants {
		return out, fmt.Errorf("%d constants; at most %d are allowed", len(s.Constants), maxConstants)
	}
	if len(s.Groups) > maxRules || len(s.Ports) > maxPorts {
		return out, fmt.Errorf("at most %d groups and %d ports are allowed", maxRules, maxPorts)
	}
	if len(s.Envelope) > maxEnvelope {
		return out, fmt.Errorf("the envelope has %d bytes; at most %d are allowed", len(s.Envelope), maxEnvelope)
	}
	for _, text := range s.Groups {
		if _, ok := protocols.ParseRule(text); !ok || len(text) > maxRule {
			return out, fmt.Errorf("groups: %.100q is not [PORT/][c2s=|s2c=]GROUP, such as 13501/c2s=clmsg", text)
		}
	}
	for _, p := range s.Ports {
		if p < 1 || p > 65535 {
			return out, fmt.Errorf("ports: %d is not 1 to 65535", p)
		}
	}
	if s.Direction != "" && schema.DirNamed(s.Direction) == schema.Both {
		return out, fmt.Errorf("direction %.100q: it is c2s or s2c", s.Direction)
	}
	return out, nil
}

// Rules returns the groups as rules. Invalid ones are ignored.
func (s Settings) Rules() (rules []protocols.Rule) {
	for _, text := range s.Groups {
		if r, ok := protocols.ParseRule(text); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

// Patched returns the settings after a merge patch (RFC 7396). The error is a *json.UnmarshalTypeError or names the invalid value.
func (s Settings) Patched(patch map[string]any) (next Settings, err error) {
	for name := range patch {
		if !slices.Contains(Names(), name) {
			if near := diag.Nearest(name, Names()); near != "" {
				return next, fmt.Errorf("unknown field %q; did you mean %q?", name, near)
			}
			return next, fmt.Errorf("unknown field %q", name)
		}
	}
	var now map[string]any
	if err := json.Unmarshal([]byte(s.Key()), &now); err != nil {
		return next, err
	}
	text, err := json.Marshal(mergePatch(now, patch))
	if err != nil {
		return next, err
	}
	if err := json.Unmarshal(text, &next); err != nil {
		return next, err
	}
	_, err = next.Checked()
	return next, err // as written
}

// mergePatch applies a patch to a JSON value: null removes a field, objects are merged, other values are replaced.
func mergePatch(now any, patch any) any {
	change, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out := map[string]any{}
	if old, ok := now.(map[string]any); ok {
		maps.Copy(out, old)
	}
	for k, v := range change {
		if v == nil {
			delete(out, k)
			continue
		}
		out[k] = mergePatch(out[k], v)
	}
	return out
}
