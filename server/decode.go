package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"wirebench/codec"
	"wirebench/codec/paste"
	"wirebench/codec/scan"
	"wirebench/codec/view"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/server/admit"
	"wirebench/server/workspace"
)

type decodeInput struct {
	Workspace string `path:"ws"`
	Body      decodeBody
}

type decodeBody struct {
	Message    string `json:"message,omitempty" maxLength:"1000" doc:"NAME or NAME.VERSION; without it the message's own code chooses"`
	Hex        string `json:"hex,omitempty" doc:"one message a line, blanks allowed"`
	Paste      string `json:"paste,omitempty" doc:"any text with bytes in it, instead of hex"`
	Form       string `json:"form,omitempty" doc:"with paste: take it as this form instead of guessing"`
	Definition string `json:"definition,omitempty" maxLength:"1048576" doc:"unsaved text to use instead of the stored definition of message"`
	Dir        string `json:"dir,omitempty" enum:"c2s,s2c" doc:"direction of the messages, where codes depend on it"`
	Group      string `json:"group,omitempty" doc:"group of messages that codes are looked up in"`
}

type decodeOutput struct {
	Body struct {
		Results     []view.Result    `json:"results" doc:"one a message, in order"`
		Paste       *paste.PasteInfo `json:"paste,omitempty" doc:"what the pasted text was taken for"`
		Diagnostics []diag.Info      `json:"diagnostics,omitempty" doc:"of the definition in the request"`
	}
}

func (s *Server) decode(ctx context.Context, in *decodeInput) (*decodeOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	if err := admitted(ctx, admit.Decode, len(in.Body.Hex)+len(in.Body.Paste)+len(in.Body.Definition), perDecoded); err != nil {
		return nil, err
	}
	job, err := ws.decodeJob(in.Body)
	if err != nil {
		return nil, asHTTP(err)
	}
	out := &decodeOutput{}
	out.Body.Results = make([]view.Result, 0, len(job.messages))
	budget := maxFields
	for i := range job.messages {
		res := job.decode(i)
		if budget -= len(res.Fields); budget < 0 {
			return nil, asHTTP(fmt.Errorf("more than %d fields: send fewer messages at once", maxFields))
		}
		out.Body.Results = append(out.Body.Results, res)
	}
	if job.definition != nil && in.Body.Definition != "" {
		out.Body.Diagnostics = job.definition.diagnostics
	}
	if job.paste != nil {
		info := job.paste.Info()
		out.Body.Paste = &info
	}
	return out, nil
}

// Bounds of what one request may ask for.
const (
	maxMessages = 10_000
	maxFields   = 600_000
	maxDescribe = 1 << 20 // bytes of a message whose fields are listed
)

// decodeJob is the messages of a request, and what to decode them with.
type decodeJob struct {
	snap       *workspace.Snapshot
	request    workspace.Request
	definition *definition // the one named or given, nil if the code of each message chooses
	messages   []pieceOfInput
	paste      *paste.Paste
	pasteErr   error
	rec        codec.Record
	likely     schema.Dir // of messages whose code has a meaning in both directions
}

// pieceOfInput is the bytes of one message, or why there are none.
type pieceOfInput struct {
	data []byte
	dir  schema.Dir
	err  error
	code string // of err, for programs

	was    []byte // of a message whose bytes were changed: what they were
	edited bool
}

// decodeJob reads the bytes of all messages of a request. The error is about the request; what is wrong with a message is with it.
func (ws *space) decodeJob(b decodeBody) (*decodeJob, error) {
	if b.Hex != "" && b.Paste != "" {
		return nil, errors.New("either hex or paste, not both")
	}
	j := &decodeJob{snap: ws.Snapshot, request: workspace.Request{Group: b.Group, Dir: schema.DirNamed(b.Dir), Fields: true}}
	if b.Message != "" || b.Definition != "" {
		name := b.Message
		if m, err := ws.FindIn(name, b.Group, schema.DirNamed(b.Dir)); err == nil {
			name = ws.NameOf(m)
		}
		d, err := ws.open(name, b.Definition)
		if err != nil {
			return nil, err
		}
		j.use(d)
	}
	if b.Paste != "" {
		return j, j.readPaste(b.Paste, b.Form)
	}
	return j, j.readLines(b.Hex)
}

// use decodes all messages by one definition.
func (j *decodeJob) use(d *definition) {
	j.definition, j.snap, j.request.Message = d, d.snap, d.message
}

// readPaste takes the messages out of a text of any form.
func (j *decodeJob) readPaste(text, form string) error {
	return j.takePaste(recognise(text, form))
}

func (j *decodeJob) takePaste(paste *paste.Paste, err error) error {
	j.paste, j.pasteErr = paste, err
	if j.pasteErr != nil {
		j.messages = []pieceOfInput{{err: j.pasteErr, code: "not-recognised"}}
		return nil
	}
	if len(j.paste.Messages) > maxMessages {
		return fmt.Errorf("%d messages; one request may have %d", len(j.paste.Messages), maxMessages)
	}
	for _, m := range j.paste.Messages {
		j.messages = append(j.messages, pieceOfInput{data: m.Bytes, dir: m.Dir})
	}
	return nil
}

// pasteCache remembers what a text was taken for: a page asks for the same again on each change of something else.
type pasteCache struct {
	text, form string
	paste      *paste.Paste
	err        error
}

// readPasteOnce is readPaste that asks the cache first. Messages are copied when they are changed, never in place.
func (j *decodeJob) readPasteOnce(c *pasteCache, text, form string) error {
	if c == nil {
		return j.readPaste(text, form)
	}
	if c.paste == nil && c.err == nil || c.text != text || c.form != form {
		c.text, c.form = text, form
		c.paste, c.err = recognise(text, form)
	}
	return j.takePaste(c.paste, c.err)
}

// readLines takes one message from each line of hex.
func (j *decodeJob) readLines(text string) error {
	if text == "" {
		return nil
	}
	n := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if n++; n > maxMessages {
			return fmt.Errorf("more than %d messages", maxMessages)
		}
		data, err := scan.HexLine(line)
		if err != nil {
			err = fmt.Errorf("line %d, %w", n, err)
		}
		j.messages = append(j.messages, pieceOfInput{data: data, err: err, code: "not-hex"})
	}
	return nil
}

// decode decodes message i. The job's record is left with its program, if it was decoded at all.
func (j *decodeJob) decode(i int) view.Result {
	m := j.messages[i]
	if m.err != nil {
		return workspace.ErrorResult(m.code, m.err.Error())
	}
	if j.request.Fields && len(m.data) > maxDescribe {
		return workspace.ErrorResult("too-large", fmt.Sprintf("a message of %d bytes; fields are listed of up to %d", len(m.data), maxDescribe))
	}
	if j.definition != nil && j.definition.program == nil {
		return workspace.ErrorResult("no-definition", "the text defines no message; see its diagnostics")
	}
	req := j.request
	if req.Dir == schema.Both {
		req.Dir = m.dir
	}
	res := j.snap.Decode(&j.rec, m.data, req)
	if res.Status == "unknown" && req.Dir == schema.Both && j.likely != schema.Both {
		req.Dir = j.likely
		res = j.snap.Decode(&j.rec, m.data, req)
	}
	return res
}

// recognise reads a pasted text, as the given form if there is one.
func recognise(text, form string) (*paste.Paste, error) {
	if form != "" {
		return paste.RecogniseAs(text, form)
	}
	return paste.Recognise(text)
}
