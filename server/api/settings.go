package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/defs"
	"wirebench/server/workspace"
)

func (s *API) registerSettings(api huma.API) {
	add(api, "GET /api/{ws}", "workspace", "A workspace and its settings", s.readWorkspace)
	add(api, "PATCH /api/{ws}", "settings", "Change settings: null resets a setting, missing ones stay", s.changeWorkspace, status(400, 403, 413, 507))
}

// MaxSettings limits the body of a change of settings, most of which is constants.
const MaxSettings = 1 << 20

type workspaceInput struct {
	Workspace string `path:"ws" doc:"name of the workspace"`
}

type workspaceOutput struct{ Body workspaceBody }

type workspaceBody struct {
	Name        string                 `json:"name"`
	Title       string                 `json:"title"`
	Dialect     string                 `json:"dialect" doc:"language of the definitions"`
	Settings    workspace.UserSettings `json:"settings" doc:"chosen settings; missing ones are from the server's flags"`
	Maps        []string               `json:"maps" doc:"available code maps"`
	Map         string                 `json:"map,omitempty" doc:"code map in use"`
	Definitions int                    `json:"definitions" doc:"number of files"`
	Messages    int                    `json:"messages" doc:"number of messages, counting each version"`
	Options     map[string]string      `json:"options" doc:"values of the dialect's options in use"`
}

// readWorkspace answers with a workspace and its settings.
func (s *API) readWorkspace(_ context.Context, in *workspaceInput) (*workspaceOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	return &workspaceOutput{ws.describe()}, nil
}

func (ws *space) describe() workspaceBody {
	b := workspaceBody{
		Name: ws.Name, Title: ws.title(), Dialect: ws.Snapshot.Dialect.Name, Settings: ws.UserSettings(), Maps: []string{}, Map: ws.CodeMap,
		Definitions: len(ws.Library.Only(ws.Snapshot.Dialect.Name)), Messages: ws.Count(), Options: map[string]string{},
	}
	for _, o := range ws.Snapshot.Dialect.Options {
		b.Options[o.Name] = cmp.Or(ws.Snapshot.Options.Values[o.Name], o.Default)
	}
	for _, f := range ws.Library.Maps {
		b.Maps = append(b.Maps, f.Name)
	}
	return b
}

type settingsInput struct {
	Workspace string `path:"ws" doc:"name of the workspace"`
	RawRequest
}

// changeWorkspace changes only the settings that the request names.
func (s *API) changeWorkspace(_ context.Context, in *settingsInput) (*workspaceOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	body, err := in.body(MaxSettings)
	if err != nil {
		return nil, err
	}
	var patch map[string]any
	if err := json.Unmarshal(body, &patch); err != nil || patch == nil {
		return nil, huma.Error400BadRequest("expected a JSON object of settings")
	}
	if _, err := patchedSettings(ws.UserSettings(), patch); err != nil {
		return nil, err
	}
	var late error // the settings may have changed since they were checked
	err = ws.Configure(func(u *workspace.UserSettings) {
		next, err := patchedSettings(*u, patch)
		if late = err; err == nil {
			*u = next
		}
	})
	if err == nil {
		err = late
	}
	if err != nil {
		return nil, settingsProblem(err)
	}
	return &workspaceOutput{(&space{ws.Workspace, ws.Now()}).describe()}, nil
}

// settingsProblem is storeProblem for settings: errors other than those of the disk are about the settings.
func settingsProblem(err error) error {
	if p := storeProblem(err); statusOf(p) != http.StatusInternalServerError {
		return p
	}
	return huma.Error422UnprocessableEntity(err.Error())
}

// patchedSettings returns the settings after a merge patch (RFC 7396).
func patchedSettings(u workspace.UserSettings, patch map[string]any) (workspace.UserSettings, error) {
	var next workspace.UserSettings
	text, err := json.Marshal(u)
	var now map[string]any
	if err == nil {
		err = json.Unmarshal(text, &now)
	}
	if err == nil {
		text, err = json.Marshal(mergePatch(now, patch))
	}
	if err != nil {
		return next, err
	}
	names := workspace.SettingNames()
	for name := range patch {
		if !slices.Contains(names, name) {
			return next, huma.Error422UnprocessableEntity(fmt.Sprintf("json: unknown field %q", name))
		}
	}
	if err := strictJSON(text, &next); err != nil {
		return next, huma.Error422UnprocessableEntity(err.Error())
	}
	for _, name := range slices.Sorted(maps.Keys(next.Options)) {
		if _, err := defs.CheckOption(name, next.Options[name]); err != nil {
			return next, huma.Error422UnprocessableEntity(name + ": " + err.Error())
		}
	}
	return next, nil
}

// mergePatch applies a patch to a JSON value: null removes a field, objects are merged, other values are replaced.
func mergePatch(now any, patch any) any {
	change, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out := map[string]any{}
	if old, ok := now.(map[string]any); ok {
		for k, v := range old {
			out[k] = v
		}
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
