package api

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/store"
)

// MarkerPath identifies a marker of a capture by the time when it was set, which is unique. Its frame is not, since several markers may
// precede one frame.
type MarkerPath struct {
	CapturePath
	At string `path:"at" maxLength:"40" doc:"when it was set, as in the at field: 2026-03-01T18:04:05.123456789Z"`
}

type patchMarkerInput struct {
	MarkerPath
	Body struct {
		Text  *string    `json:"text,omitempty" maxLength:"300"`
		Value *string    `json:"value,omitempty" maxLength:"100" doc:"\"\" = none; default: if the value was the end of the old text, the end of the new text"`
		N     *uint64    `json:"n,omitempty" minimum:"1" doc:"number of the first frame after it"`
		ID    *frameName `json:"id,omitempty" doc:"the first frame after it, by identity"`
	}
}

// patchMarker changes a marker.
func (s *API) patchMarker(ctx context.Context, in *patchMarkerInput) (*markerOutput, error) {
	out := &markerOutput{}
	first, named := markerFrame(in.Body.N, in.Body.ID)
	if named {
		ws, x, err := s.captureAt(in.CapturePath)
		if err != nil {
			return nil, err
		}
		s.Captures.Name(ctx, ws.Workspace, ws.Snapshot, x, []*store.FrameName{&first})
	}
	err := s.editMarker(in.MarkerPath, func(all []store.Marker, i int) []store.Marker {
		m, b := &all[i], &in.Body
		if b.Text != nil {
			text := strings.TrimSpace(*b.Text)
			if m.Value == valueIn(m.Text) {
				m.Value = valueIn(text)
			}
			m.Text = text
		}
		if b.Value != nil {
			m.Value = strings.TrimSpace(*b.Value)
		}
		if named {
			m.N, m.ID = first.N, first.ID
		}
		out.Status, out.Body = 200, *m
		return all
	})
	return out, err
}

// dropMarker removes a marker. POST with the same at, n, text and value restores it.
func (s *API) dropMarker(_ context.Context, in *MarkerPath) (*struct{}, error) {
	return nil, s.editMarker(*in, func(all []store.Marker, i int) []store.Marker { return slices.Delete(all, i, i+1) })
}

// editMarker changes the markers of a capture; change gets the index of the marker in the path.
func (s *API) editMarker(in MarkerPath, change func(all []store.Marker, i int) []store.Marker) error {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339Nano, in.At)
	if err != nil {
		return huma.Error422UnprocessableEntity("a marker is identified by its time, such as 2026-03-01T18:04:05.123456789Z")
	}
	_, err = ws.Captures.Edit(in.ID, func(x *store.Capture) error {
		i := markerAt(x.Notes.Markers, at)
		if i < 0 {
			return huma.Error404NotFound("no marker with this time")
		}
		x.Notes.Markers = change(x.Notes.Markers, i)
		return nil
	})
	return markerProblem(err)
}

// markerAt returns the index of the marker that was set at a time, or -1.
func markerAt(all []store.Marker, at time.Time) int {
	return slices.IndexFunc(all, func(m store.Marker) bool { return m.At.Equal(at) })
}

// valueIn returns the part of a text after its last =, or "".
func valueIn(text string) string {
	i := strings.LastIndexByte(text, '=')
	if i < 0 {
		return ""
	}
	return strings.TrimSpace(text[i+1:])
}

// markerProblem converts an error of changing markers to an error with a status.
func markerProblem(err error) error {
	var status huma.StatusError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &status):
		return status
	case errors.Is(err, store.ErrTooLarge):
		return huma.Error422UnprocessableEntity(err.Error())
	}
	return captureProblem(err)
}
