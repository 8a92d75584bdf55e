package workspace

import (
	"fmt"
	"strings"

	"wirebench/codec"
	"wirebench/codec/paste"
	"wirebench/codec/scan"
	"wirebench/codec/view"
	"wirebench/defs/schema"
)

// Bounds of the messages of one input.
const (
	maxMessages = 10_000
	MaxDescribe = 1 << 20 // bytes of a message whose fields are listed
)

// Input is the messages of a request, and what to decode them with.
type Input struct {
	Snap       *Snapshot
	Request    Request
	Definition *Definition // the one named or given, nil if the code of each message chooses
	Messages   []Piece
	Paste      *paste.Paste
	PasteErr   error
	Rec        codec.Record
	Likely     schema.Dir // of messages whose code has a meaning in both directions
}

// Piece is the bytes of one message, or why there are none.
type Piece struct {
	Data []byte
	Dir  schema.Dir
	err  error
	code string // of err, for programs

	Was    []byte // of a message whose bytes were changed: what they were
	Edited bool
}

// Use decodes all messages by one definition.
func (j *Input) Use(d *Definition) {
	j.Definition, j.Snap, j.Request.Message = d, d.Snap, d.Message
}

// ReadPaste takes the messages out of a text of any form.
func (j *Input) ReadPaste(text, form string) error {
	return j.takePaste(Recognise(text, form))
}

func (j *Input) takePaste(paste *paste.Paste, err error) error {
	j.Paste, j.PasteErr = paste, err
	if j.PasteErr != nil {
		j.Messages = []Piece{{err: j.PasteErr, code: "not-recognised"}}
		return nil
	}
	if len(j.Paste.Messages) > maxMessages {
		return fmt.Errorf("%d messages; one request may have %d", len(j.Paste.Messages), maxMessages)
	}
	for _, m := range j.Paste.Messages {
		j.Messages = append(j.Messages, Piece{Data: m.Bytes, Dir: m.Dir})
	}
	return nil
}

// PasteCache remembers what a text was taken for: a page asks for the same again on each change of something else.
type PasteCache struct {
	text, form string
	paste      *paste.Paste
	err        error
}

// ReadPasteOnce is readPaste that asks the cache first. Messages are copied when they are changed, never in place.
func (j *Input) ReadPasteOnce(c *PasteCache, text, form string) error {
	if c == nil {
		return j.ReadPaste(text, form)
	}
	if c.paste == nil && c.err == nil || c.text != text || c.form != form {
		c.text, c.form = text, form
		c.paste, c.err = Recognise(text, form)
	}
	return j.takePaste(c.paste, c.err)
}

// ReadLines takes one message from each line of hex.
func (j *Input) ReadLines(text string) error {
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
		j.Messages = append(j.Messages, Piece{Data: data, err: err, code: "not-hex"})
	}
	return nil
}

// Decode decodes message i. The job's record is left with its program, if it was decoded at all.
func (j *Input) Decode(i int) view.Result {
	m := j.Messages[i]
	if m.err != nil {
		return ErrorResult(m.code, m.err.Error())
	}
	if j.Request.Fields && len(m.Data) > MaxDescribe {
		return ErrorResult("too-large", fmt.Sprintf("the message has %d bytes; fields are listed for up to %d", len(m.Data), MaxDescribe))
	}
	if j.Definition != nil && j.Definition.Program == nil {
		return ErrorResult("no-definition", "the text does not define a message; see its diagnostics")
	}
	req := j.Request
	if req.Dir == schema.Both {
		req.Dir = m.Dir
	}
	res := j.Snap.Decode(&j.Rec, m.Data, req)
	if res.Status == "unknown" && req.Dir == schema.Both && j.Likely != schema.Both {
		req.Dir = j.Likely
		res = j.Snap.Decode(&j.Rec, m.Data, req)
	}
	return res
}

// Recognise reads a pasted text, as the given form if there is one.
func Recognise(text, form string) (*paste.Paste, error) {
	if form != "" {
		return paste.RecogniseAs(text, form)
	}
	return paste.Recognise(text)
}

// Name is what the message that was decoded last is found by, "" if it has no definition.
func (j *Input) Name(res view.Result) string {
	if res.Message == "" {
		return ""
	}
	return j.Snap.NameOf(j.Rec.Program.Message)
}
