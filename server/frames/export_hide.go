package frames

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"wirebench/codec"
	"wirebench/codec/redact"
	"wirebench/codec/transport"
	"wirebench/server/live"
)

// ErrManySecrets reports that an export has too many secret values to look for their copies.
var ErrManySecrets = errors.New("too many secret values to look for their copies in other places: choose fewer frames")

// errReadable reports that what was written has a secret value, although all places that it could come from were looked through.
var errReadable = errors.New("a secret value could be read in the export")

// wasSecret takes the place of a text that has a secret value.
const wasSecret = "(a replaced value was in this text)"

// Prepare collects the secret values of the selected frames, if they are to be replaced: copies of them may be in any frame, and in names and
// notes. Write calls it unless it was called before.
func (x *Export) Prepare(ctx context.Context) error {
	if !x.Hides() || x.hider != nil {
		return nil
	}
	h := &hider{rows: RowMaker{Snap: x.Snapshot}, redactor: redact.New(), values: &redact.Values{}}
	collector := redact.NewWith(nil, h.values)
	err := x.each(ctx, func(_ int, _ live.Entry, f *transport.Frame) error {
		if f.Kind == transport.Message && h.rows.Decode(f) != nil && collector.Has(h.rows.Rec.Program) {
			h.data, _ = collector.Bytes(h.data, h.rows.Rec)
		}
		if h.values.Full() {
			return ErrManySecrets
		}
		return nil
	})
	if err != nil {
		return err
	}
	x.hider = h
	clean := func(text *string) {
		if h.values.In([]byte(*text)) {
			*text = wasSecret
		}
	}
	clean(&x.Capture.Name)
	notes := &x.Capture.Notes
	clean(&notes.Text)
	notes.Frames = maps.Clone(notes.Frames)
	for n, text := range notes.Frames {
		clean(&text)
		notes.Frames[n] = text
	}
	notes.Markers = slices.Clone(notes.Markers)
	for i := range notes.Markers {
		clean(&notes.Markers[i].Text)
		clean(&notes.Markers[i].Value)
	}
	return nil
}

// hider replaces secret values in frames, and overwrites their copies. Frames other than messages, such as parts of messages and undecoded
// bytes, may contain any value, so their bytes become 0.
type hider struct {
	rows     RowMaker
	redactor *redact.Redactor
	values   *redact.Values
	rec      codec.Record
	data     []byte
	more     []byte
}

func (h *hider) hide(f *transport.Frame) {
	if f.Kind != transport.Message {
		h.data = append(h.data[:0], f.Bytes...)
		clear(h.data)
		f.Bytes = h.data
		return
	}
	if h.rows.Decode(f) == nil {
		h.data = append(h.data[:0], f.Bytes...)
		h.values.Erase(h.data)
		f.Bytes = h.data
		return
	}
	program := h.rows.Rec.Program
	h.data, _ = h.redactor.Bytes(h.data, h.rows.Rec)
	h.rec.Session = h.rows.Rec.Session
	program.Decode(&h.rec, h.data)
	n := 0
	if h.more, n = h.values.EraseIn(h.more, &h.rec); n > 0 {
		h.rec.Session = h.rows.Rec.Session
		if program.Decode(&h.rec, h.more); h.values.ReadsIn(&h.rec) {
			clear(h.more)
		}
	}
	f.Bytes = h.more
}

// checked reads what is written as others would, and fails if a secret value can be read.
type checked struct {
	to     io.Writer
	values *redact.Values
	last   []byte // the end of what was written before
}

func (c *checked) Write(p []byte) (int, error) {
	c.last = append(c.last, p...)
	if c.values.Reads(c.last) {
		return 0, errReadable
	}
	const kept = 8 << 10
	c.last = append(c.last[:0], c.last[max(0, len(c.last)-kept):]...)
	return c.to.Write(p)
}
