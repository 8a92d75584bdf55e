package api

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/redact"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/access"
	"wirebench/server/frames"
	"wirebench/server/live"
	"wirebench/server/publish"
	"wirebench/server/workspace"
)

// CapsuleList is the capsules of a project.
type CapsuleList struct {
	Capsules []workspace.CapsuleInfo `json:"capsules" doc:"the newest first"`
}

type capsulesOutput struct{ Body CapsuleList }

// listCapsules lists the capsules.
func (s *API) listCapsules(_ context.Context, in *workspaceInput) (*capsulesOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	list, err := ws.Capsules()
	if list == nil {
		list = []workspace.CapsuleInfo{}
	}
	return &capsulesOutput{CapsuleList{list}}, StoreProblem(err)
}

// CapsuleBody says what a capsule is to have.
type CapsuleBody struct {
	Title     string `json:"title,omitempty" maxLength:"200"`
	Note      string `json:"note,omitempty" maxLength:"20000"`
	Name      string `json:"name,omitempty" maxLength:"200" doc:"of the person, where people do not sign in"`
	Capture   string `json:"capture,omitempty" maxLength:"100" doc:"id of the capture that has the frames"`
	Frames    string `json:"frames,omitempty" maxLength:"65536" doc:"these frames, by number or identity: 1,2,5-9,17:0:0"`
	Filter    string `json:"filter,omitempty" maxLength:"8192" doc:"frames that match this filter"`
	Hex       string `json:"hex,omitempty" maxLength:"2097152" doc:"one message, instead of frames of a capture"`
	Message   string `json:"message,omitempty" maxLength:"500" doc:"its definition"`
	Text      string `json:"text,omitempty" doc:"the text of the definition of message, if it is not the stored one"`
	Rules     string `json:"rules,omitempty" maxLength:"40000" doc:"further secret fields, a rule per line: name, *.path.name or type:string"`
	Secrets   bool   `json:"secrets,omitempty" doc:"values of fields marked @secret stay, and bytes that are no message; needs the role author"`
	Addresses bool   `json:"addresses,omitempty" doc:"with the addresses of connections"`
	Notes     bool   `json:"notes,omitempty" doc:"with the notes on frames"`
	Preview   bool   `json:"preview,omitempty" doc:"only say what it would have"`
}

// MadeCapsule is a capsule, or what one would have.
type MadeCapsule struct {
	ID      string           `json:"id,omitempty" doc:"absent for a preview"`
	Page    string           `json:"page,omitempty" doc:"path of the page"`
	Preview *publish.Preview `json:"preview"`
}

type capsuleInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Body      CapsuleBody
}

type capsuleOutput struct{ Body MadeCapsule }

// makeCapsule makes a capsule.
func (s *API) makeCapsule(ctx context.Context, in *capsuleInput) (*capsuleOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	b := in.Body
	if why := access.From(ctx).Refusal("secret values", ws.Workspace.Name); b.Secrets && why != "" {
		return nil, huma.Error403Forbidden("a page with secret values " + why)
	}
	rules, err := redact.ParseRules(b.Rules)
	if err != nil {
		return nil, huma.Error422UnprocessableEntity("rules: " + err.Error())
	}
	var list []publish.Frame
	var snap *workspace.Snapshot
	switch {
	case b.Hex != "":
		snap, list, err = oneMessage(ws, &b)
	case b.Capture == "":
		return nil, huma.Error422UnprocessableEntity("a capsule is of frames of a capture, or of one message")
	default:
		snap, list, err = s.chosenFrames(ctx, ws, &b)
	}
	if err != nil {
		return nil, err
	}
	c, preview, err := publish.NewCapsule(snap, list, publish.CapsuleSpec{
		Title: b.Title, Note: b.Note, By: author(ctx, b.Name), At: time.Now(), Rules: rules, Secrets: b.Secrets, Addresses: b.Addresses, Notes: b.Notes,
	})
	if err != nil {
		return nil, StoreProblem(err)
	}
	out := &capsuleOutput{MadeCapsule{Preview: preview}}
	if b.Preview {
		return out, nil
	}
	text, err := c.JSON()
	if err != nil {
		return nil, StoreProblem(err)
	}
	out.Body.ID = publish.ID(text)
	out.Body.Page = "/p/" + ws.Workspace.Name + "/capsules/" + out.Body.ID
	return out, StoreProblem(ws.AddCapsule(workspace.CapsuleInfo{ID: out.Body.ID, Title: c.Title, By: c.By, Frames: len(c.Frames)}, text))
}

// oneMessage is a message by itself.
func oneMessage(ws *space, b *CapsuleBody) (*workspace.Snapshot, []publish.Frame, error) {
	data, err := hex.DecodeString(strings.Join(strings.Fields(b.Hex), ""))
	if err != nil {
		return nil, nil, huma.Error422UnprocessableEntity("hex: " + err.Error())
	}
	x := &transport.Frame{N: 1, Kind: transport.Message, Bytes: data}
	snap := ws.Snapshot
	if b.Message != "" {
		def, err := ws.Open(b.Message, b.Text)
		if err != nil {
			return nil, nil, StoreProblem(err)
		}
		snap = def.Snap
		if m := def.Message; m != nil {
			x.Name, x.Dir, x.Key = snap.NameOf(m), m.Key.Dir, schema.Key{Dir: m.Key.Dir, Group: m.Key.Group}
		}
	}
	return snap, []publish.Frame{{Frame: x}}, nil
}

// chosenFrames are frames of a capture.
func (s *API) chosenFrames(ctx context.Context, ws *space, b *CapsuleBody) (*workspace.Snapshot, []publish.Frame, error) {
	at, of, err := s.captureAt(CapturePath{ws.Workspace.Name, b.Capture})
	if err != nil {
		return nil, nil, err
	}
	if _, mistakes := at.Filter(b.Filter); len(mistakes) > 0 {
		return nil, nil, filterProblem(mistakes)
	}
	open, err := s.Captures.Use(at.Workspace, at.Snapshot, of)
	if err != nil {
		return nil, nil, captureProblem(err)
	}
	defer s.Captures.LetGo(open)
	x := &frames.Export{Capture: of, Snapshot: at.Snapshot, Log: open.Log(), Filter: b.Filter}
	if _, err := exportReady(ctx, x, open); err != nil {
		return nil, nil, err
	}
	chosen, err := frames.ParseRanges(b.Frames, open.Number)
	if err != nil {
		return nil, nil, huma.Error422UnprocessableEntity("frames: " + err.Error())
	}
	var out []publish.Frame
	conns, notes := open.Log().ConnReader(), x.Capture.Notes
	notes.Show()
	err = x.View.Each(ctx, 0, false, func(_, index int, e live.Entry, data []byte) bool {
		if e.Kind == transport.Packet {
			return true
		}
		if b.Frames != "" && !slices.ContainsFunc(chosen, func(r struct{ From, To int }) bool { return index+1 >= r.From && index+1 <= r.To }) {
			return true
		}
		f := &transport.Frame{}
		open.Log().Frame(index, e, slices.Clone(data), f)
		out = append(out, publish.Frame{Frame: f, Conn: conns.Of(e).Name, Remark: notes.Frames[uint64(index+1)]})
		return len(out) <= publish.MaxCapsuleFrames
	})
	return at.Snapshot, out, err
}

// CapsulePath is the address of a capsule.
type CapsulePath struct {
	Workspace string `path:"project" doc:"name of the project"`
	ID        string `path:"id" maxLength:"40" doc:"of the capsule"`
}

type capsuleJSON struct {
	Type string `header:"Content-Type"`
	Body []byte
}

// readCapsule returns a capsule.
func (s *API) readCapsule(_ context.Context, in *CapsulePath) (*capsuleJSON, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	text, err := ws.Capsule(in.ID)
	return &capsuleJSON{"application/json", text}, StoreProblem(err)
}

// dropCapsule deletes a capsule.
func (s *API) dropCapsule(_ context.Context, in *CapsulePath) (*struct{}, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	return nil, StoreProblem(ws.DropCapsule(in.ID))
}
