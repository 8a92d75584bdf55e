package api

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/defs"
	"wirebench/server/settings"
	"wirebench/server/workspace"
)

// describeSettings completes the schema of settings, in which the options of the dialects are members. Types that contain settings are
// registered after it.
func describeSettings(api huma.API) {
	SchemaOf[settings.Settings](api, "Settings")
	all := api.OpenAPI().Components.Schemas.Map()["Settings"]
	for _, o := range defs.Options() {
		all.Properties[o.Name] = &huma.Schema{Type: huma.TypeString, Description: o.Doc}
		all.Properties[o.Name].PrecomputeMessages()
	}
	all.PrecomputeMessages()
}

// settingsPatch is a merge patch of settings: null resets a setting, or all.
type settingsPatch struct {
	given   bool
	members map[string]any // nil resets all
}

// UnmarshalJSON accepts an object or null.
func (p *settingsPatch) UnmarshalJSON(text []byte) error {
	p.given = true
	return json.Unmarshal(text, &p.members)
}

// Schema describes the patch.
func (settingsPatch) Schema(r huma.Registry) *huma.Schema {
	out := &huma.Schema{Type: huma.TypeObject, Nullable: true, Description: "settings that override those of the project: null resets a setting, missing ones stay; null for all resets all", Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	for name, of := range r.Map()["Settings"].Properties {
		one := *of
		one.Nullable = true
		one.PrecomputeMessages()
		out.Properties[name] = &one
	}
	out.PrecomputeMessages()
	return out
}

// apply returns the settings after the patch.
func (p settingsPatch) apply(to settings.Settings) (settings.Settings, error) {
	if p.members == nil {
		return settings.Settings{}, nil
	}
	return to.Patched(p.members)
}

// checkSettings checks new settings of a capture.
func (s *API) checkSettings(ws *space, id string, patch settingsPatch) error {
	x, err := ws.Captures.Get(id)
	if err != nil {
		return captureProblem(err)
	}
	next, err := patch.apply(x.Settings)
	if err == nil {
		err = ws.CheckOver(next, x.Settings)
	}
	if err != nil {
		return settingsProblem(err)
	}
	return nil
}

type settingsInUseOutput struct{ Body SettingsInUse }

// SettingsInUse describes how messages are decoded, and where the settings come from.
type SettingsInUse struct {
	Settings  settings.Settings `json:"settings" ts:"Record<string, unknown>" doc:"chosen for the capture or the project"`
	Inherited settings.Settings `json:"inherited" ts:"Record<string, unknown>" doc:"for a capture: those of its project, which its own override"`
	Keyed     bool              `json:"keyed" doc:"the capture has keys"`
	Framing   string            `json:"framing,omitempty" doc:"of a capture that is a file of raw bytes"`

	Map          string            `json:"map,omitempty" doc:"code map in use"`
	InheritedMap string            `json:"inherited_map,omitempty" doc:"code map without a choice"`
	Options      []OptionInUse     `json:"options" doc:"options of the protocol"`
	Constants    map[string]string `json:"constants,omitempty" doc:"values of constants in use"`

	Protocol     string   `json:"protocol" doc:"language of the definitions"`
	Codes        bool     `json:"codes" doc:"the protocol has code maps"`
	HasConstants bool     `json:"has_constants" doc:"the protocol has constants whose values are settings"`
	HasKeys      bool     `json:"has_keys" doc:"connections of the protocol may be encrypted"`
	Maps         []string `json:"maps" doc:"available code maps"`
	Groups       []string `json:"groups" doc:"groups of messages in the definitions"`
}

// OptionInUse is an option of the protocol with its value.
type OptionInUse struct {
	Name      string   `json:"name"`
	Title     string   `json:"title"`
	Doc       string   `json:"doc"`
	Choices   []string `json:"choices" doc:"all valid values; empty if any text of a form is valid"`
	Value     string   `json:"value" doc:"value in use"`
	Inherited string   `json:"inherited" doc:"value without a choice"`
}

// inUse describes the settings of a snapshot; base is the one without the chosen settings.
func inUse(snap, base *workspace.Snapshot, chosen settings.Settings) SettingsInUse {
	b := SettingsInUse{
		Settings: chosen, Map: snap.CodeMap, InheritedMap: base.CodeMap, Options: []OptionInUse{}, Constants: snap.Options.Constants, Protocol: snap.Dialect.Name,
		Codes: snap.Dialect.Codes != nil, HasConstants: snap.Dialect.Constants != nil, Maps: []string{}, Groups: []string{},
	}
	protocol, _ := snap.Protocol()
	b.HasKeys = protocol.Key != nil || protocol.Streams // TLS may encrypt any stream
	for _, o := range snap.Dialect.Options {
		b.Options = append(b.Options, OptionInUse{
			Name: o.Name, Title: o.Title, Doc: o.Doc, Choices: append([]string{}, o.Choices()...),
			Value: cmp.Or(snap.Options.Values[o.Name], o.Default), Inherited: cmp.Or(base.Options.Values[o.Name], o.Default),
		})
	}
	for _, f := range snap.Library.Maps {
		b.Maps = append(b.Maps, f.Name)
	}
	for _, g := range snap.Groups() {
		if g != "" {
			b.Groups = append(b.Groups, g)
		}
	}
	return b
}

// settingsOfProject answers with the settings of a project.
func (s *API) settingsOfProject(_ context.Context, in *workspaceInput) (*settingsInUseOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	base, err := ws.Inherited()
	if err != nil {
		return nil, settingsProblem(err)
	}
	return &settingsInUseOutput{inUse(ws.Snapshot, base, ws.UserSettings())}, nil
}

// settingsOfCapture answers with the settings that a capture is decoded with.
func (s *API) settingsOfCapture(_ context.Context, in *CapturePath) (*settingsInUseOutput, error) {
	ws, x, err := s.captureAt(*in)
	if err != nil {
		return nil, err
	}
	b := inUse(ws.Snapshot, ws.Workspace.Now(), x.Settings)
	b.Inherited, b.Keyed, b.Framing = ws.UserSettings(), x.Keyed, x.Framing
	return &settingsInUseOutput{b}, nil
}
