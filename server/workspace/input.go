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

// Bounds of the messages of a request.
const (
	maxMessages = 10_000
	MaxDescribe = 1 << 20 // bytes of a message with a list of fields
)

// Input holds the messages of a request and the definition to decode them with.
type Input struct {
	Snap       *Snapshot
	Request    Request
	Definition *Definition // nil if the code of each message selects it
	Messages   []Piece
	Paste      *paste.Paste
	PasteErr   error
	Rec        codec.Record
	Likely     schema.Dir // direction of messages whose code has a meaning in both
}

// Piece holds the bytes of one message, or an error.
type Piece struct {
	Data []byte
	Dir  schema.Dir
	err  error
	code string // machine-readable form of err

	Was    []byte // original bytes of an edited message
	Edited bool
}

// Use decodes all messages with one definition.
func (j *Input) Use(d *Definition) {
	j.Definition, j.Snap, j.Request.Message = d, d.Snap, d.Message
}

// ReadPaste reads messages from a text of any form.
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
		return fmt.Errorf("%d messages; a request may have at most %d", len(j.Paste.Messages), maxMessages)
	}
	for _, m := range j.Paste.Messages {
		j.Messages = append(j.Messages, Piece{Data: m.Bytes, Dir: m.Dir})
	}
	return nil
}

// PasteCache caches the last recognized text: a page sends the same text again when only another part has changed.
type PasteCache struct {
	text, form string
	paste      *paste.Paste
	err        error
}

// ReadPasteOnce is ReadPaste with a cache. Messages are copied when they are changed, never changed in place.
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

// ReadLines reads one message from each line of hex.
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

// Decode decodes message i. Rec keeps its program, if it was decoded at all.
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

// Recognise reads a pasted text, in the given form if form is not empty.
func Recognise(text, form string) (*paste.Paste, error) {
	if form != "" {
		return paste.RecogniseAs(text, form)
	}
	return paste.Recognise(text)
}

// Name returns the name under which Find finds the last decoded message, "" if it has no definition.
func (j *Input) Name(res view.Result) string {
	if res.Message == "" {
		return ""
	}
	return j.Snap.NameOf(j.Rec.Program.Message)
}
