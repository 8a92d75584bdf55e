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
	add(api, "PATCH /api/{ws}", "settings", "Change settings: null takes back what was chosen, what is missing stays", s.changeWorkspace, status(400, 403, 413, 507))
}

// MaxSettings bounds what a change of settings may bring, most of it constants.
const MaxSettings = 1 << 20

type workspaceInput struct {
	Workspace string `path:"ws" doc:"name of the workspace"`
}

type workspaceOutput struct{ Body workspaceBody }

type workspaceBody struct {
	Name        string                 `json:"name"`
	Title       string                 `json:"title"`
	Dialect     string                 `json:"dialect" doc:"language of the definitions"`
	Settings    workspace.UserSettings `json:"settings" doc:"what was chosen; what is missing is as the server was started"`
	Maps        []string               `json:"maps" doc:"code maps that can be chosen"`
	Map         string                 `json:"map,omitempty" doc:"code map in use"`
	Definitions int                    `json:"definitions" doc:"how many files"`
	Messages    int                    `json:"messages" doc:"how many, each version for itself"`
	Options     map[string]string      `json:"options" doc:"values of the dialect's options in use"`
}

// readWorkspace says what a workspace is and how it is set.
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

// changeWorkspace changes the settings that the request names, and no others.
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
		return nil, huma.Error400BadRequest("a JSON object with settings is expected")
	}
	if _, err := patchedSettings(ws.UserSettings(), patch); err != nil {
		return nil, err
	}
	var late error // the settings may have been changed since they were looked at
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

// settingsProblem is storeProblem for settings: what is not about the disk is about the settings.
func settingsProblem(err error) error {
	if p := storeProblem(err); statusOf(p) != http.StatusInternalServerError {
		return p
	}
	return huma.Error422UnprocessableEntity(err.Error())
}

// patchedSettings are the settings after a merge patch of RFC 7396.
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

// mergePatch puts a patch over a JSON value: null removes a field, objects are merged, everything else takes the place of what was there.
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
