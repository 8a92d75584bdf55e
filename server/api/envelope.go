package api

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec"
	"wirebench/codec/transport"
	"wirebench/codec/view"
	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/server/access"
	"wirebench/server/admit"
	"wirebench/server/captures"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Bounds of work about envelopes.
const (
	maxCutShown  = 4096 // bytes of a frame
	cutTime      = 5 * time.Second
	envelopeTime = 30 * time.Second
)

type cutInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Body      struct {
		Text    *string `json:"text,omitempty" maxLength:"1048576" doc:"the envelope; default: that of the project"`
		Capture string  `json:"capture,omitempty" maxLength:"100" doc:"id; default: the newest"`
		Limit   int     `json:"limit,omitempty" minimum:"0" maximum:"100" doc:"maximum number of frames; default: 20"`
	}
}

type cutOutput struct{ Body CutReport }

// CutReport reports how an envelope cuts the first part of a capture.
type CutReport struct {
	Capture     string      `json:"capture,omitempty" doc:"id; omitted if the project has none"`
	Name        string      `json:"name,omitempty" doc:"of the capture"`
	Frames      []CutFrame  `json:"frames" doc:"the first ones; none if the envelope has mistakes"`
	Count       int         `json:"count" doc:"frames in the first part of the capture"`
	Exact       int         `json:"exact" doc:"messages that their definition reads exactly"`
	Unknown     int         `json:"unknown" doc:"messages without a definition"`
	Problems    int         `json:"problems" doc:"places where the envelope does not fit"`
	More        bool        `json:"more" doc:"the capture continues after its first part"`
	Diagnostics []diag.Info `json:"diagnostics" doc:"mistakes in the text"`
}

// CutFrame is a frame as an envelope cuts it.
type CutFrame struct {
	Conn    string  `json:"conn"`
	Dir     string  `json:"dir,omitempty" enum:"c2s,s2c"`
	State   string  `json:"state,omitempty" doc:"of the connection: the group of its messages"`
	Kind    string  `json:"kind" doc:"as of a frame: message, problem, opaque"`
	Code    *uint32 `json:"code,omitempty"`
	Message string  `json:"message,omitempty" doc:"name of its definition"`
	Length  int     `json:"length" doc:"bytes of the message"`
	Hex     string  `json:"hex" doc:"its first 4096 bytes"`
	Exact   bool    `json:"exact" doc:"its definition reads it exactly"`
	Status  string  `json:"status,omitempty" enum:"ok,incomplete,illegal,unknown"`
	Problem string  `json:"problem,omitempty" doc:"why it does not fit"`
}

// cutFrames cuts the first part of a capture by an envelope that need not be stored.
func (s *API) cutFrames(ctx context.Context, in *cutInput) (*cutOutput, error) {
	ws, err := s.withCaptures(in.Workspace)
	if err != nil {
		return nil, err
	}
	out := &cutOutput{CutReport{Frames: []CutFrame{}, Diagnostics: []diag.Info{}}}
	x, ok, err := ws.captureOr(in.Body.Capture)
	if err != nil {
		return nil, captureProblem(err)
	}
	if ok {
		out.Body.Capture, out.Body.Name = x.ID, x.Name
		ws.Snapshot = ws.For(x)
	}
	snap := ws.Snapshot
	if t := in.Body.Text; t != nil {
		var wrong diag.List
		if snap, wrong = snap.WithEnvelope(source.UnixLines(*t)); !wrong.HasErrors() {
			wrong = snap.CheckEnvelope(snap.EnvelopeFile)
		}
		out.Body.Diagnostics = infos(wrong)
	}
	if snap.Envelope == nil && !snap.Carried || !ok {
		return out, nil
	}
	if err := admitted(ctx, admit.Find, maxCutShown, admit.PerListed); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, cutTime)
	defer stop()
	limit := in.Body.Limit
	if limit == 0 {
		limit = 20
	}
	read := workspace.NewReading(snap)
	out.Body.More, err = captures.Cut(ctx, ws.Captures, snap, x, func(f *transport.Frame) {
		c := cutFrame(read, f)
		out.Body.count(&c)
		if len(out.Body.Frames) < limit {
			out.Body.Frames = append(out.Body.Frames, c)
		}
	})
	if errors.Is(err, context.DeadlineExceeded) {
		out.Body.More, err = true, nil // what was read in time
	}
	if err != nil && len(out.Body.Frames) == 0 {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	return out, nil
}

// captureOr returns a capture by its id, or the newest one; ok is false if there is none.
func (ws *space) captureOr(id string) (x store.Capture, ok bool, err error) {
	if id != "" {
		x, err = ws.Captures.Get(id)
		return x, err == nil, err
	}
	all, err := ws.Captures.List()
	if err != nil || len(all) == 0 {
		return x, false, err
	}
	return all[0], true, nil
}

// count counts a frame.
func (r *CutReport) count(c *CutFrame) {
	r.Count++
	switch {
	case c.Kind == transport.Problem.String():
		r.Problems++
	case c.Exact:
		r.Exact++
	case c.Status == statusUnknown:
		r.Unknown++
	}
}

// statusUnknown is the status of a message without a definition.
const statusUnknown = "unknown"

// cutFrame describes a frame.
func cutFrame(read *workspace.Reading, f *transport.Frame) CutFrame {
	c := CutFrame{
		Conn: f.Conn.Name(), Dir: f.Dir.String(), State: f.Key.Group, Kind: f.Kind.String(), Length: len(f.Bytes),
		Hex: hex.EncodeToString(f.Bytes[:min(len(f.Bytes), maxCutShown)]),
	}
	if f.HasKey {
		code := f.Key.Code
		c.Code = &code
	}
	if f.Kind != transport.Message {
		c.Problem = f.Note
		return c
	}
	read.Take(f)
	m, rec := read.Message(), read.Record()
	if m == nil || rec == nil {
		c.Status = statusUnknown
		return c
	}
	c.Message, c.Status = m.Name, rec.Status().String()
	c.Exact = rec.Status() == codec.OK && rec.Used == len(f.Bytes) && rec.Unexplained() == 0 && f.Note == ""
	if all := view.Problems(rec); len(all) > 0 {
		c.Problem = all[0].Message
	} else if n := rec.Unexplained(); n > 0 {
		c.Problem = fmt.Sprintf("its definition leaves %d of %d bytes over", n, len(f.Bytes))
	} else {
		c.Problem = f.Note
	}
	return c
}

// Candidate is an envelope that fits the traffic of a capture.
type Candidate struct {
	Text     string `json:"text"`
	Evidence string `json:"evidence"`
	Likely   bool   `json:"likely" doc:"it consumes nearly all bytes, and the definitions know most of its messages"`
	Used     bool   `json:"used" doc:"the capture is read with it"`
}

type envelopesOutput struct{ Body CandidateList }

// CandidateList lists the envelopes that fit the traffic of a capture.
type CandidateList struct {
	Project    string      `json:"project,omitempty" doc:"file of the project's envelope, which applies to all captures"`
	Own        string      `json:"own,omitempty" doc:"the envelope of the capture"`
	Candidates []Candidate `json:"candidates" doc:"the most likely first"`
}

// envelopesOf looks for envelopes in the traffic of a capture.
func (s *API) envelopesOf(ctx context.Context, in *CapturePath) (*envelopesOutput, error) {
	ws, x, err := s.captureAt(*in)
	if err != nil {
		return nil, err
	}
	if err := admitted(ctx, admit.Find, int(min(x.Size, 16<<20)), 1); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, envelopeTime)
	defer stop()
	found, err := captures.Envelopes(ctx, ws.Captures, ws.Snapshot, x)
	if err != nil {
		return nil, captureProblem(err)
	}
	out := &envelopesOutput{CandidateList{Own: x.Settings.Envelope, Candidates: []Candidate{}}}
	now := ""
	if f := ws.EnvelopeFile; f != nil {
		now = withoutComments(f.Text)
	}
	if list := ws.Library.Envelopes; len(list) > 0 {
		out.Body.Project = list[0].Name
	}
	for _, f := range found {
		out.Body.Candidates = append(out.Body.Candidates, Candidate{f.Comment(x.Name) + f.Text, f.Evidence, f.Likely, withoutComments(f.Text) == now})
	}
	return out, nil
}

type useEnvelopeInput struct {
	CapturePath
	Body struct {
		Text *string            `json:"text,omitempty" maxLength:"100000" doc:"the envelope; default: that of the capture"`
		Size *captures.CodeSize `json:"size,omitempty" doc:"as proposed: is added to the envelope that the project has, instead"`
	}
}

type useEnvelopeOutput struct{ Body UsedEnvelope }

// UsedEnvelope reports the envelope of a project.
type UsedEnvelope struct {
	File     string `json:"file" doc:"name of the envelope"`
	Revision string `json:"revision" doc:"identifies the text; for If-Match"`
}

// useEnvelope stores an envelope for the project, and removes that of the capture.
func (s *API) useEnvelope(ctx context.Context, in *useEnvelopeInput) (*useEnvelopeOutput, error) {
	ws, x, err := s.captureAt(in.CapturePath)
	if err != nil {
		return nil, err
	}
	var who []string
	if name := access.From(ctx).Name; name != "" {
		who = []string{name}
	}
	if in.Body.Size != nil {
		return addSize(ws, who, in.Body.Size)
	}
	text := x.Settings.Envelope
	if in.Body.Text != nil {
		text = source.UnixLines(*in.Body.Text)
	}
	if text == "" {
		return nil, huma.Error422UnprocessableEntity("the capture has no envelope of its own")
	}
	if list := ws.Library.Envelopes; len(list) > 0 {
		return nil, huma.Error409Conflict("the project has an envelope already: " + list[0].Name)
	}
	none := store.Revision("")
	rev, err := ws.SaveBy(who, workspace.EnvelopeName, []byte(text), &none)
	if err != nil {
		return nil, StoreProblem(err)
	}
	_, err = ws.Captures.Edit(x.ID, func(now *store.Capture) error {
		now.Settings.Envelope = ""
		return nil
	})
	if err != nil {
		return nil, captureProblem(err)
	}
	return &useEnvelopeOutput{UsedEnvelope{workspace.EnvelopeName, string(rev)}}, nil
}

// addSize adds the size of the messages of a code to the envelope of a project.
func addSize(ws *space, who []string, size *captures.CodeSize) (*useEnvelopeOutput, error) {
	f := ws.EnvelopeFile
	if f == nil || ws.EnvelopeNamed(f.Name) == nil {
		return nil, huma.Error409Conflict("the project has no envelope")
	}
	text, ok := size.AddTo(f)
	if !ok {
		return nil, huma.Error409Conflict("the envelope " + f.Name + " has no table of codes for the size, or has a size of the code")
	}
	had := workspace.Revision(f)
	rev, err := ws.SaveBy(who, f.Name, []byte(text), &had)
	if err != nil {
		return nil, StoreProblem(err)
	}
	return &useEnvelopeOutput{UsedEnvelope{f.Name, string(rev)}}, nil
}

// withoutComments returns the lines of an envelope that are not comments.
func withoutComments(text string) string {
	out := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line != "" && line[0] != '#' {
			out += line + "\n"
		}
	}
	return out
}
