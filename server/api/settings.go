package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/settings"
)

// MaxSettings limits the body of a change of settings, most of which is constants.
const MaxSettings = 1 << 20

type workspaceInput struct {
	Workspace string `path:"project" doc:"name of the project"`
}

type workspaceOutput struct{ Body ProjectBody }

// ProjectBody describes an open project and its settings.
type ProjectBody struct {
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Dialect     string            `json:"dialect" doc:"language of the definitions"`
	Settings    settings.Settings `json:"settings" ts:"Record<string, unknown>" doc:"chosen settings; missing ones are from the server's flags"`
	Maps        []string          `json:"maps" doc:"available code maps"`
	Map         string            `json:"map,omitempty" doc:"code map in use"`
	Definitions int               `json:"definitions" doc:"number of files"`
	Messages    int               `json:"messages" doc:"number of messages, counting each version"`
	Options     map[string]string `json:"options" doc:"values of the dialect's options in use"`
}

// with returns the workspace with the settings of a request over its own.
func (ws *space) with(over settings.Settings) (*space, error) {
	snap, err := ws.As(over)
	if err == nil {
		err = ws.CheckOver(over, settings.Settings{})
	}
	if err != nil {
		return nil, settingsProblem(err)
	}
	return &space{ws.Workspace, snap}, nil
}

// readWorkspace answers with a workspace and its settings.
func (s *API) readWorkspace(_ context.Context, in *workspaceInput) (*workspaceOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	return &workspaceOutput{ws.describe()}, nil
}

func (ws *space) describe() ProjectBody {
	b := ProjectBody{
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
	Workspace string `path:"project" doc:"name of the project"`
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
	if _, err := ws.UserSettings().Patched(patch); err != nil {
		return nil, settingsProblem(err)
	}
	var late error // the settings may have changed since they were checked
	err = ws.Configure(func(u *settings.Settings) {
		next, err := u.Patched(patch)
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
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return huma.Error422UnprocessableEntity(kindMessage(kind))
	}
	if p := StoreProblem(err); statusOf(p) != http.StatusInternalServerError {
		return p
	}
	return huma.Error422UnprocessableEntity(err.Error())
}
