package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/filter"
	"wirebench/codec/transport"
	"wirebench/server/access"
	"wirebench/server/admit"
	"wirebench/server/captures"
	"wirebench/server/frames"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Bounds of one answer. They count what is sent: decompressed values may be a thousand times longer than the bytes of their frame.
const (
	maxFramesBytes = 8 << 20
	maxValueBytes  = 1 << 19 // of the values of a frame
)

// captureProblem converts an error of captures to an error with a status.
func captureProblem(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return huma.Error404NotFound("no such capture")
	case errors.Is(err, captures.ErrProtocol):
		return huma.Error422UnprocessableEntity(err.Error())
	case errors.Is(err, captures.ErrTooMany):
		return huma.Error503ServiceUnavailable(err.Error())
	}
	return StoreProblem(err)
}

type capturesOutput struct{ Body CaptureList }

// CaptureList lists the captures of a workspace.
type CaptureList struct {
	Captures []store.Capture            `json:"captures" doc:"the newest first"`
	Tag      string                     `json:"tag,omitempty" doc:"of a brief list: differs whenever the list differs"`
	Quota    int64                      `json:"quota,omitempty" doc:"bytes that the captures of the project may take together; omitted where there is no bound"`
	Counts   map[string]captures.Counts `json:"counts,omitempty" doc:"of a brief list: what the captures have, by id, of those that were read since the server started and have not changed"`

	Same bool `json:"same,omitempty" doc:"the brief list has not changed since known; its captures are omitted"`
}

type listCapturesInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Since     string `query:"since" maxLength:"100" doc:"only the capture with this id and those added after it or in the same second"`
	Brief     bool   `query:"brief" doc:"all captures without their notes, for polling; changes of the folder by other programs may appear some seconds later. since is ignored"`
	Known     string `query:"known" maxLength:"100" doc:"tag of a brief list: if it is still current, the list is omitted"`
}

// listCaptures lists the captures of a workspace.
func (s *API) listCaptures(_ context.Context, in *listCapturesInput) (*capturesOutput, error) {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return nil, err
	}
	out := &capturesOutput{}
	out.Body.Quota = ws.Captures.Quota()
	if in.Brief {
		all, tag, err := s.Captures.Brief(ws.Captures)
		if err != nil {
			return nil, captureProblem(err)
		}
		counts := s.Captures.Counts(ws.Workspace, all)
		tag = taggedCounts(tag, counts)
		out.Body.Captures, out.Body.Tag, out.Body.Counts, out.Body.Same = all, tag, counts, tag == in.Known
		if out.Body.Same {
			out.Body.Captures, out.Body.Counts = []store.Capture{}, nil
		}
		return out, nil
	}
	if out.Body.Captures, err = ws.Captures.ListSince(in.Since); err != nil {
		return nil, captureProblem(err)
	}
	if out.Body.Captures == nil {
		out.Body.Captures = []store.Capture{}
	}
	return out, nil
}

// taggedCounts returns a tag that also changes with counts.
func taggedCounts(tag string, counts map[string]captures.Counts) string {
	text, _ := json.Marshal(counts) // its keys are sorted
	sum := sha256.Sum256(append(text, tag...))
	return hex.EncodeToString(sum[:12])
}

// withCaptures returns a workspace that stores captures.
func (s *API) withCaptures(name string) (*space, error) {
	ws, err := s.workspaceNamed(name)
	if err == nil && ws.Captures == nil {
		err = huma.Error404NotFound("this project does not store captures")
	}
	return ws, err
}

// captureAt returns a capture and its workspace, with the library as the capture is read with.
func (s *API) captureAt(at CapturePath) (*space, store.Capture, error) {
	ws, err := s.withCaptures(at.Workspace)
	if err != nil {
		return nil, store.Capture{}, err
	}
	x, err := ws.Captures.Get(at.ID)
	if err != nil {
		return nil, store.Capture{}, captureProblem(err)
	}
	ws.Snapshot = ws.For(x)
	return ws, x, nil
}

type addCaptureInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Name      string `query:"name" required:"true" maxLength:"200" doc:"of the file"`
	Framing   string `query:"framing" maxLength:"200" doc:"framing of a file of raw bytes: whole, fixed:40, prefixed:2le@4+self+keep, delimited:0d0a, envelope, each with +c2s or +s2c"`
	RawRequest
}

type captureOutput struct {
	Status   int
	Location string `header:"Location" doc:"of a new capture"`
	Body     store.Capture
}

// addCapture stores a file unchanged. It refuses one that can be read neither as a capture nor as a text of a conversation.
func (s *API) addCapture(_ context.Context, in *addCaptureInput) (*captureOutput, error) {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return nil, err
	}
	if in.Framing != "" {
		if in.Framing, err = parseFraming(in.Framing); err != nil {
			return nil, err
		}
	}
	file := in.large(store.MaxCaptureBytes)
	if in.Framing == "" {
		file, err = onlyCapture(file)
	}
	var x store.Capture
	if err == nil {
		x, err = ws.Captures.AddFramed(in.Name, in.Framing, time.Now(), file)
	}
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return nil, bodyError(large)
		}
		return nil, captureProblem(err)
	}
	x = captures.TakeTold(ws.Captures, x)
	s.Captures.ForgetBrief(ws.Captures)
	return &captureOutput{http.StatusCreated, addressBelow(ws.Name, "captures", x.ID), x}, nil
}

// CapturePath is the workspace and capture in the path of a request.
type CapturePath struct {
	Workspace string `path:"project" doc:"name of the project"`
	ID        string `path:"id" maxLength:"100" doc:"of the capture"`
}

// dropCapture deletes a capture.
func (s *API) dropCapture(_ context.Context, in *CapturePath) (*struct{}, error) {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return nil, err
	}
	if s.Captures.Runs(ws.Name, in.ID) {
		return nil, huma.Error409Conflict("its listener is still running: stop it first")
	}
	if s.Captures.Writes(ws.Name, in.ID) {
		return nil, errWritten
	}
	if err := ws.Captures.Remove(in.ID); err != nil {
		return nil, captureProblem(err)
	}
	s.Captures.Drop(ws.Name, in.ID)
	s.Captures.ForgetBrief(ws.Captures)
	return nil, nil
}

type captureInput struct {
	CapturePath
	Accept string `header:"Accept" hidden:"true"`
}

// readCapture answers with the file, or with its description.
func (s *API) readCapture(ctx context.Context, in *captureInput) (*huma.StreamResponse, error) {
	ws, x, err := s.captureAt(in.CapturePath)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(in.Accept, "application/json") {
		return &huma.StreamResponse{Body: func(ctx huma.Context) {
			ctx.SetHeader("Content-Type", "application/json")
			ctx.SetHeader("Vary", "Accept")
			_ = json.NewEncoder(ctx.BodyWriter()).Encode(x)
		}}, nil
	}
	if err := ws.mayHaveFile(ctx); err != nil {
		return nil, err
	}
	file, err := ws.Captures.Open(in.ID)
	if err != nil {
		return nil, captureProblem(err)
	}
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		defer file.Close()
		ctx.SetHeader("Content-Type", "application/octet-stream")
		ctx.SetHeader("Content-Disposition", attachment(x.Name))
		ctx.SetHeader("Vary", "Accept")
		if ctx.Method() == http.MethodHead {
			return
		}
		_, _ = io.Copy(ctx.BodyWriter(), file)
	}}, nil
}

// mayHaveFile returns why somebody may not have the file of a capture, which has all values.
func (ws *space) mayHaveFile(ctx context.Context) error {
	if why := access.From(ctx).Refusal("secret values", ws.Name); why != "" && ws.HasSecrets() {
		return huma.Error403Forbidden("the file may have values of fields marked @secret and " + why + "; an export replaces them")
	}
	return nil
}

// filterProblem returns an error with the mistakes of a filter and their places.
func filterProblem(mistakes []filter.Mistake) error {
	var details []error
	for _, m := range mistakes {
		details = append(details, &huma.ErrorDetail{Location: fmt.Sprintf("query.filter[%d:%d]", m.Start, m.End), Message: m.Message, Value: m.Help})
	}
	return huma.Error422UnprocessableEntity("invalid filter: "+mistakes[0].Message, details...)
}

type framesInput struct {
	CapturePath
	Filter string   `query:"filter" maxLength:"8192" doc:"only frames that match this filter"`
	Kinds  []string `query:"kind" enum:"message,control,opaque,problem" doc:"only these"`
	From   int      `query:"from" minimum:"0" doc:"number of matching frames to skip"`
	Count  int      `query:"count" minimum:"1" maximum:"1000" default:"100" doc:"maximum number listed"`
	Value  bool     `query:"value" doc:"with the values of messages"`
}

type framesOutput struct {
	Body struct {
		Frames []workspace.FrameInfo `json:"frames"`
		Total  int                   `json:"total" doc:"frames of the capture, so far"`
		Fit    int                   `json:"fit" doc:"frames that match the filter and are of these kinds"`
		Done   bool                  `json:"done" doc:"reading has ended"`
		Whole  bool                  `json:"whole" doc:"the file has been read to its end, and all its frames are there; otherwise see note"`
		Read   int64                 `json:"read" doc:"bytes of the file read so far"`
		Size   int64                 `json:"size" doc:"bytes of the file"`
		Note   string                `json:"note,omitempty" doc:"why frames of the file are missing, or why there are none"`
	}
}

// listFrames lists frames of a capture. It waits a while for the file to be read, so that short files are complete.
func (s *API) listFrames(ctx context.Context, in *framesInput) (*framesOutput, error) {
	ws, x, err := s.captureAt(in.CapturePath)
	if err != nil {
		return nil, err
	}
	if _, mistakes := ws.Filter(in.Filter); len(mistakes) > 0 {
		return nil, filterProblem(mistakes)
	}
	o, err := s.Captures.Get(ws.Workspace, ws.Snapshot, x)
	if err != nil {
		return nil, captureProblem(err)
	}
	out := &framesOutput{}
	b := &out.Body
	if b.Done, err = o.Wait(ctx); err != nil {
		return nil, err
	}
	if err := admitted(ctx, admit.Find, o.Log().Len(), admit.PerListed); err != nil {
		return nil, err
	}
	if b.Done {
		b.Note = o.Note()
		b.Whole = o.PartNote() == ""
	}
	b.Total, b.Frames = o.Log().Len(), []workspace.FrameInfo{}
	b.Read, b.Size = o.Progress()
	spec := frames.ViewSpec{Filter: in.Filter}
	if len(in.Kinds) > 0 {
		spec.Chips = append(spec.Chips, "kind in {"+strings.Join(in.Kinds, ",")+"}")
	}
	view := o.View(ws.Snapshot, spec, o.Numbered(x.Notes))
	for !view.Advance(ctx, time.Second) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	b.Fit, _ = view.State()
	conns := o.Log().ConnReader()
	read := workspace.NewReading(ws.Snapshot)
	var f transport.Frame
	left := maxFramesBytes
	for _, i := range view.Rows(in.From, in.Count) {
		e := o.Log().Entry(int(i))
		o.Log().Frame(int(i), e, o.Log().Data(e), &f)
		read.Take(&f)
		conn := conns.Of(e)
		info := read.Describe(workspace.Want{Value: in.Value}, workspace.Listed{ID: f.ID, Conn: conn.Name, Session: conn.Session})
		info.Shorten(maxValueBytes, maxFramesBytes)
		if left -= info.Size(); left < 0 && len(b.Frames) > 0 {
			b.Note = strings.TrimPrefix(b.Note+"; fewer frames than requested, because they are large: continue after the last one", "; ")
			break
		}
		b.Frames = append(b.Frames, info)
	}
	return out, nil
}

// errWritten is the error for changing a part of a recording that is still being written.
var errWritten = huma.Error409Conflict("this part of a recording is still being written: stop its listener first, or wait for the next part")
