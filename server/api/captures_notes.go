package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/capture"
	"wirebench/codec/transport"
	"wirebench/codec/transport/protocols"
	"wirebench/server/access"
	"wirebench/server/captures"
	"wirebench/server/store"
)

// frameName refers to a frame in a request by its number or its identity, PACKET:OFFSET:NTH.
type frameName struct{ store.FrameName }

const frameNameDoc = "a frame: its number, from 1, or its identity, PACKET:OFFSET:NTH"

// UnmarshalText accepts both.
func (f *frameName) UnmarshalText(text []byte) (err error) {
	if n, e := strconv.ParseUint(string(text), 10, 32); e == nil {
		if f.FrameName = (store.FrameName{N: n, ByNumber: true}); n == 0 {
			return errors.New("frames are numbered from 1")
		}
		return nil
	}
	f.FrameName = store.FrameName{}
	if f.ID, err = transport.ParseFrameID(string(text)); err != nil {
		return fmt.Errorf("%.40q is neither a number nor an identity of a frame", text)
	}
	return nil
}

// UnmarshalJSON accepts a JSON number, too.
func (f *frameName) UnmarshalJSON(text []byte) error {
	return f.UnmarshalText(bytes.Trim(text, `"`))
}

// Schema describes the string or number.
func (frameName) Schema(huma.Registry) *huma.Schema {
	number, id := &huma.Schema{Type: huma.TypeInteger}, &huma.Schema{Type: huma.TypeString, MaxLength: new(int)}
	*id.MaxLength = 40
	one := &huma.Schema{OneOf: []*huma.Schema{number, id}, Description: frameNameDoc}
	for _, s := range []*huma.Schema{number, id, one} {
		s.PrecomputeMessages()
	}
	return one
}

// numberIn returns the number of the frame in an open capture.
func (f frameName) numberIn(o *captures.Capture) (int, error) {
	n := f.N
	if !f.ByNumber {
		n = o.Number(f.ID)
	}
	if n == 0 {
		return 0, huma.Error404NotFound("no frame " + f.ID.String())
	}
	return int(n), nil
}

// frameNotes maps frames to notes; null removes a note.
type frameNotes map[string]*string

// Schema describes the object, whose values may be null.
func (frameNotes) Schema(huma.Registry) *huma.Schema {
	most := store.MaxNote
	count := store.MaxNotes
	note := &huma.Schema{Type: huma.TypeString, Nullable: true, MaxLength: &most}
	note.PrecomputeMessages()
	all := &huma.Schema{Type: huma.TypeObject, MaxProperties: &count, Description: "notes of frames by number or identity; null removes a note", AdditionalProperties: note}
	all.PrecomputeMessages()
	return all
}

type patchCaptureInput struct {
	CapturePath
	Body struct {
		Name     *string       `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Text     *string       `json:"text,omitempty" maxLength:"65536" doc:"of the capture"`
		Keep     *bool         `json:"keep,omitempty" doc:"it is never removed for its age or for room"`
		Mark     []frameName   `json:"mark,omitempty" maxItems:"65536" doc:"frames to mark, by number or identity"`
		Unmark   []frameName   `json:"unmark,omitempty" maxItems:"65536" doc:"frames to unmark, by number or identity"`
		Notes    frameNotes    `json:"notes,omitempty"`
		Framing  *string       `json:"framing,omitempty" maxLength:"200" doc:"framing of a file of raw bytes: whole, fixed:40, prefixed:2le+self+keep, delimited:0d0a, envelope, each with +c2s or +s2c; \"\" removes it"`
		Dismiss  []string      `json:"dismiss,omitempty" maxItems:"100" doc:"ids of proposals to dismiss"`
		Propose  []string      `json:"propose,omitempty" maxItems:"100" doc:"ids of dismissed proposals to make again"`
		Settings settingsPatch `json:"settings,omitempty"`
		Packets  *bool         `json:"packets,omitempty" doc:"list the events of the packets of TCP connections, FIN, RST, retransmissions and losses, as rows of kind packet; frames get other numbers and keep their identities"`
		Keys     *string       `json:"keys,omitempty" maxLength:"1048576" doc:"keys of encrypted connections, one a line: CLIENT-SERVER or *, protocol, key; or a TLS key log (SSLKEYLOGFILE); \"\" removes them. They are write-only"`
	}
}

type oneCaptureOutput struct{ Body store.Capture }

// patchCapture changes the description of a capture: all the fields of the request, or none.
func (s *API) patchCapture(ctx context.Context, in *patchCaptureInput) (*oneCaptureOutput, error) {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return nil, err
	}
	b := &in.Body
	if b.Name != nil || b.Framing != nil || b.Keys != nil || b.Settings.given || b.Packets != nil || len(b.Dismiss)+len(b.Propose) > 0 {
		if why := access.From(ctx).Refusal("capture settings", ws.Name); why != "" {
			return nil, huma.Error403Forbidden("changing the name, keys or settings of a capture " + why + "; marks and notes need commenter")
		}
		if s.Captures.Writes(ws.Name, in.ID) && (b.Name != nil || b.Framing != nil || b.Keys != nil || b.Settings.given || b.Packets != nil) {
			return nil, errWritten
		}
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
	if b.Settings.given {
		if err := s.checkSettings(ws, in.ID, b.Settings); err != nil {
			return nil, err
		}
	}
	var names []*store.FrameName
	for _, list := range [][]frameName{b.Mark, b.Unmark} {
		for i := range list {
			names = append(names, &list[i].FrameName)
		}
	}
	texts, err := notedIn(b.Notes)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity("notes: " + err.Error())
	}
	for i := range texts {
		names = append(names, &texts[i].FrameName)
	}
	var open *captures.Capture
	if len(names) > 0 {
		x, err := ws.Captures.Get(in.ID)
		if err != nil {
			return nil, captureProblem(err)
		}
		open = s.Captures.Name(ctx, ws.Workspace, ws.For(x), x, names)
	}
	x, err := ws.Captures.Edit(in.ID, func(x *store.Capture) error {
		set(&x.Name, b.Name)
		set(&x.Notes.Text, b.Text)
		set(&x.Framing, b.Framing)
		set(&x.Keys, b.Keys)
		set(&x.Packets, b.Packets)
		set(&x.Keep, b.Keep)
		dismiss(x, b.Dismiss, b.Propose)
		if b.Settings.given {
			next, err := b.Settings.apply(x.Settings)
			if err != nil {
				return err
			}
			x.Settings = next
		}
		if open != nil {
			x.Notes = open.Numbered(x.Notes)
		}
		x.Notes.Note(plainNames(b.Mark), plainNames(b.Unmark), texts)
		return nil
	})
	if errors.Is(err, store.ErrTooLarge) {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	if err != nil {
		return nil, captureProblem(err)
	}
	if b.Name != nil || b.Framing != nil || b.Keys != nil || b.Settings.given || b.Packets != nil || b.Keep != nil { // these are listed
		s.Captures.ForgetBrief(ws.Captures)
	}
	return &oneCaptureOutput{x}, nil
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// notedIn are the notes of a request.
func notedIn(in frameNotes) (out []store.FrameNote, err error) {
	for text, note := range in {
		var f frameName
		if err := f.UnmarshalText([]byte(text)); err != nil {
			return nil, err
		}
		x := store.FrameNote{FrameName: f.FrameName}
		set(&x.Text, note)
		out = append(out, x)
	}
	return out, nil
}

func plainNames(in []frameName) (out []store.FrameName) {
	for _, f := range in {
		out = append(out, f.FrameName)
	}
	return out
}

// parseFraming returns a framing in its canonical form.
func parseFraming(text string) (string, error) {
	f, err := capture.ParseFraming(text)
	if err != nil {
		return "", huma.Error422UnprocessableEntity("framing: " + err.Error())
	}
	return f.String(), nil
}
