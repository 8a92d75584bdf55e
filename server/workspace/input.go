package workspace

import (
	"errors"
	"fmt"
	"slices"
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

	name string // of its definition in the text that it is from, "" if it has none

	Was    []byte // original bytes of an edited message
	Edited bool
}

// Use decodes all messages with one definition.
func (j *Input) Use(d *Definition) {
	j.Definition, j.Snap, j.Request.Message = d, d.Snap, d.Message
}

// ReadPaste reads messages from a text of any form.
func (j *Input) ReadPaste(text, form string) error {
	return j.takePaste(j.recognise(text, form))
}

// recognise reads a pasted text. The lengths in the messages decide whether lines of hex are messages, if there are any.
func (j *Input) recognise(text, form string) (*paste.Paste, error) {
	found, err := Recognise(text, form)
	if err != nil || form != "" || j.Snap == nil {
		return found, err
	}
	other := map[string]string{paste.Hex: paste.HexLines, paste.HexLines: paste.Hex}[found.Form]
	if other == "" || !strings.Contains(strings.TrimSpace(text), "\n") || j.areFrames(found) {
		return found, nil
	}
	if again, err := Recognise(text, other); err == nil && j.areFrames(again) {
		return again, nil
	}
	return found, nil
}

// areFrames reports whether all messages have their own length at their start, in a dialect where they have. In one where messages are found
// by what they contain, it reports whether all are.
func (j *Input) areFrames(p *paste.Paste) bool {
	if j.Snap.Dialect.Guess {
		return j.areExact(p)
	}
	frame := j.Snap.Frame("")
	if frame == nil || !slices.ContainsFunc(frame.Body.Wire, func(it schema.Item) bool { return it.Kind == schema.Length }) {
		return false
	}
	prog, err := j.Snap.Program(frame)
	if err != nil {
		return false
	}
	rec := &codec.Record{}
	for _, m := range p.Messages {
		if prog.Decode(rec, m.Bytes); rec.Status() != codec.OK || rec.Used != len(m.Bytes) {
			return false
		}
	}
	return len(p.Messages) > 0
}

// maxExact bounds the messages that areExact decodes.
const maxExact = 200

// areExact reports whether definitions decode all messages without anything left over.
func (j *Input) areExact(p *paste.Paste) bool {
	rec := &codec.Record{}
	for _, m := range p.Messages[:min(len(p.Messages), maxExact)] {
		found := j.Snap.ByCode(rec, m.Bytes, Request{Dir: m.Dir})
		if found == nil {
			return false
		}
		prog, err := j.Snap.Program(found)
		if err != nil {
			return false
		}
		if prog.Decode(rec, j.Snap.Full(found, m.Bytes)); rec.Status() != codec.OK || rec.Unexplained() > 0 {
			return false
		}
	}
	return len(p.Messages) > 0
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
		j.Messages = append(j.Messages, Piece{Data: m.Bytes, Dir: m.Dir, name: j.nameIn(m)})
	}
	return nil
}

// nameIn returns the definition that a log names for a message, "" if it names none of the library. Without a version it is the highest.
func (j *Input) nameIn(m paste.Message) string {
	if m.Name == "" || j.Snap == nil {
		return ""
	}
	name := m.Name
	if m.Version > 0 {
		name = fmt.Sprintf("%s.%d", m.Name, m.Version)
	}
	for _, name := range []string{name, m.Name} {
		if found, err := j.Snap.Find(name); err == nil {
			return j.Snap.NameOf(found)
		}
	}
	return ""
}

// Named returns the definition that the text names for message i, "" if it names none of the library.
func (j *Input) Named(i int) string { return j.Messages[i].name }

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
		c.paste, c.err = j.recognise(text, form)
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
	req.Guess = i < maxGuessed
	if req.Dir == schema.Both {
		req.Dir = m.Dir
	}
	if req.Message == nil && m.name != "" && !req.Unknown {
		req.Message, _ = j.Snap.Find(m.name)
	}
	res := j.Snap.Decode(&j.Rec, m.Data, req)
	if res.Status == "unknown" && req.Dir == schema.Both && j.Likely != schema.Both {
		req.Dir = j.Likely
		res = j.Snap.Decode(&j.Rec, m.Data, req)
	}
	return res
}

// OwnPattern starts a form that is a pattern of the user's own, as a page has it: "pattern:" and the pattern.
const OwnPattern = "pattern:"

// Recognise reads a pasted text, in the given form if form is not empty.
func Recognise(text, form string) (*paste.Paste, error) {
	if pattern, ok := strings.CutPrefix(form, OwnPattern); ok {
		return RecogniseBy(text, "", pattern)
	}
	if form != "" {
		return paste.RecogniseAs(text, form)
	}
	return paste.Recognise(text)
}

// RecogniseBy is Recognise with a user's pattern, if it is not empty.
func RecogniseBy(text, form, pattern string) (*paste.Paste, error) {
	if pattern == "" {
		return Recognise(text, form)
	}
	if form != "" {
		return nil, errors.New("give a form or a pattern, not both")
	}
	p, err := paste.ParsePattern(pattern)
	if err != nil {
		return nil, fmt.Errorf("pattern: %w", err)
	}
	return p.Read(text)
}

// ReadPattern reads messages from a text by a user's pattern.
func (j *Input) ReadPattern(text, form, pattern string) error {
	return j.takePaste(RecogniseBy(text, form, pattern))
}

// Name returns the name under which Find finds the last decoded message, "" if it has no definition.
func (j *Input) Name(res view.Result) string {
	if res.Message == "" {
		return ""
	}
	return j.Snap.NameOf(j.Rec.Program.Message)
}
