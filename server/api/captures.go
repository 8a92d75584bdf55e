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
	"wirebench/server/retain"
	"wirebench/server/settings"
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
	case errors.Is(err, captures.ErrTooMany), errors.Is(err, store.ErrAway):
		return huma.Error503ServiceUnavailable(err.Error())
	}
	return StoreProblem(err)
}

type capturesOutput struct{ Body CaptureList }

// CaptureList lists the captures of a workspace.
type CaptureList struct {
	Captures []store.Capture            `json:"captures" doc:"the newest first"`
	Tag      string                     `json:"tag,omitempty" doc:"of a brief list: differs whenever the list differs"`
	Kept     *Kept                      `json:"kept,omitempty" doc:"of a brief list: how long captures stay; omitted where they stay for ever and none has gone"`
	Lake     string                     `json:"lake,omitempty" doc:"of a brief list: what the lake has of the project, in words; omitted if the server keeps none"`
	Quota    int64                      `json:"quota,omitempty" doc:"bytes that the captures of the project may take together; omitted where there is no bound"`
	Counts   map[string]captures.Counts `json:"counts,omitempty" doc:"of a brief list: what the captures have, by id, of those that were read since the server started and have not changed"`

	Same bool `json:"same,omitempty" doc:"the brief list has not changed since known; its captures are omitted"`
}

// Kept says how long the captures of a project stay, in words.
type Kept struct {
	Text    string   `json:"text"`
	Removed []string `json:"removed,omitempty" doc:"the last captures that were removed, the newest first: when, which, and why"`
}

// kept returns what a list of captures says of those that go; nil if there are none.
func (s *API) kept(ws *workspace.Workspace) *Kept {
	p, ok := s.Retention.Last(ws)
	if !ok {
		return nil
	}
	k := &Kept{Text: p.Text(time.Now())}
	for _, x := range p.Removed[:min(len(p.Removed), mostRemoved)] {
		why := map[string]string{retain.ForAge: "it was too old", retain.ForBytes: "there was no room"}[x.Why]
		k.Removed = append(k.Removed, fmt.Sprintf("%s: %s, %d KiB; %s", x.At.Format(time.DateTime), x.Name, (x.Size+1023)>>10, why))
	}
	return k
}

// mostRemoved is the number of removed captures that a list names.
const mostRemoved = 20

type retentionInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Age       string `query:"age" maxLength:"20" doc:"try another age, such as 30d, without changing anything"`
	Bytes     int64  `query:"bytes" minimum:"0" doc:"try another number of bytes"`
}

type retentionOutput struct{ Body retain.Plan }

// retention says which captures go, and which have gone.
func (s *API) retention(_ context.Context, in *retentionInput) (*retentionOutput, error) {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return nil, err
	}
	try := (*settings.Keep)(nil)
	if in.Age != "" || in.Bytes > 0 {
		if _, err := settings.ParseAge(in.Age); err != nil {
			return nil, huma.Error422UnprocessableEntity(err.Error())
		}
		try = &settings.Keep{Age: in.Age, Bytes: in.Bytes}
	}
	p, err := s.Retention.Of(ws.Workspace, try)
	return &retentionOutput{p}, StoreProblem(err)
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
		out.Body.Kept = s.kept(ws.Workspace)
		if s.Lake != nil {
			if n, ok := s.Lake.Numbers(ws.Name); ok {
				out.Body.Lake = n.Text()
			}
		}
		tag = taggedCounts(tag, counts, out.Body.Kept, out.Body.Lake)
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

// taggedCounts returns a tag that also changes with counts, and with what is said of captures that go and of the lake.
func taggedCounts(tag string, counts map[string]captures.Counts, kept *Kept, lake string) string {
	text, _ := json.Marshal([]any{counts, kept, lake}) // its keys are sorted
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
		if _, err := io.Copy(ctx.BodyWriter(), file); err != nil && ctx.Context().Err() == nil {
			s.Log.Warn("download", "capture", in.ID, "error", err)
			panic(http.ErrAbortHandler) // so that the client does not take a part of the file for all of it
		}
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
	o, err := s.Captures.Use(ws.Workspace, ws.Snapshot, x)
	if err != nil {
		return nil, captureProblem(err)
	}
	defer s.Captures.LetGo(o)
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
