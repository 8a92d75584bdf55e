package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/capture"
	"wirebench/codec/transport/protocols"
	"wirebench/server/captures"
	"wirebench/server/store"
)

// frameNotes are notes of frames by their number; null takes one away.
type frameNotes map[string]*string

// Schema describes them: a text of an object that may be null needs telling.
func (frameNotes) Schema(huma.Registry) *huma.Schema {
	most := store.MaxNote
	count := store.MaxNotes
	note := &huma.Schema{Type: huma.TypeString, Nullable: true, MaxLength: &most}
	note.PrecomputeMessages()
	all := &huma.Schema{Type: huma.TypeObject, MaxProperties: &count, Description: "notes of frames by their number; null takes one away", AdditionalProperties: note}
	all.PrecomputeMessages()
	return all
}

type patchCaptureInput struct {
	CapturePath
	Body struct {
		Name    *string    `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Text    *string    `json:"text,omitempty" maxLength:"65536" doc:"of the capture"`
		Mark    []uint64   `json:"mark,omitempty" maxItems:"65536" doc:"numbers of frames to mark"`
		Unmark  []uint64   `json:"unmark,omitempty" maxItems:"65536" doc:"numbers of frames that are no longer marked"`
		Notes   frameNotes `json:"notes,omitempty"`
		Cut     string     `json:"cut,omitempty" maxLength:"100" doc:"which numbers these are: the cut of a list of frames (its websocket tells it), which may read by an unsaved definition; \"\" = those by what is stored"`
		Framing *string    `json:"framing,omitempty" maxLength:"200" doc:"the file is raw bytes that are cut so: whole, fixed:40, prefixed:2le+self+keep, delimited:0d0a, each with +c2s or +s2c; \"\" takes it back"`
		Keys    *string    `json:"keys,omitempty" maxLength:"1048576" doc:"of enciphered connections, each on a line: CLIENT-SERVER or *, the protocol, the key; \"\" takes them back. They are never told again"`
	}
}

type oneCaptureOutput struct{ Body store.Capture }

// patchCapture changes what is known of a capture. All of it is changed, or nothing.
func (s *Server) patchCapture(ctx context.Context, in *patchCaptureInput) (*oneCaptureOutput, error) {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return nil, err
	}
	b := &in.Body
	if (b.Name != nil || b.Framing != nil || b.Keys != nil) && s.captures.Writes(ws.Name, in.ID) {
		return nil, errWritten
	}
	notes, err := numbered(b.Notes)
	if err != nil {
		return nil, err
	}
	if slices.Contains(b.Mark, 0) || slices.Contains(b.Unmark, 0) {
		return nil, huma.Error422UnprocessableEntity("frames are numbered from 1")
	}
	if b.Framing != nil && *b.Framing != "" {
		f, err := parseFraming(*b.Framing)
		if err != nil {
			return nil, err
		}
		*b.Framing = f
	}
	if b.Keys != nil {
		if _, err := protocols.ParseKeys(*b.Keys); err != nil {
			return nil, huma.Error422UnprocessableEntity("keys: " + err.Error())
		}
	}
	var frames captures.Numbering
	if greatest := greatestOf(b.Mark, b.Unmark, slices.Collect(maps.Keys(notes))); greatest > 0 {
		x, err := ws.Captures.Get(in.ID)
		if err != nil {
			return nil, captureProblem(err)
		}
		if frames, err = s.captures.Numbering(ctx, ws.Workspace, ws.Snapshot, x, b.Cut, greatest); err != nil {
			return nil, captureProblem(err)
		}
	}
	x, err := ws.Captures.Edit(in.ID, func(x *store.Capture) error {
		set(&x.Name, b.Name)
		set(&x.Notes.Text, b.Text)
		set(&x.Framing, b.Framing)
		set(&x.Keys, b.Keys)
		frames.Note(&x.Notes, b.Mark, b.Unmark, notes)
		return nil
	})
	if errors.Is(err, store.ErrTooLarge) {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	if err != nil {
		return nil, captureProblem(err)
	}
	if b.Name != nil {
		s.captures.ForgetBrief(ws.Captures)
	}
	return &oneCaptureOutput{x}, nil
}

// greatestOf is the greatest of some numbers, 0 if there are none.
func greatestOf(lists ...[]uint64) (n uint64) {
	for _, list := range lists {
		for _, x := range list {
			n = max(n, x)
		}
	}
	return n
}

func set(to, from *string) {
	if from != nil {
		*to = *from
	}
}

// numbered are notes by the numbers of their frames.
func numbered(in frameNotes) (map[uint64]string, error) {
	out := make(map[uint64]string, len(in))
	for text, note := range in {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || n == 0 {
			return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("notes: %q is no number of a frame", text))
		}
		if out[n] = ""; note != nil {
			out[n] = *note
		}
	}
	return out, nil
}

// parseFraming is a framing in the form in which it is kept.
func parseFraming(text string) (string, error) {
	f, err := capture.ParseFraming(text)
	if err != nil {
		return "", huma.Error422UnprocessableEntity("framing: " + err.Error())
	}
	return f.String(), nil
}
