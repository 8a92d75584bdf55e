package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxTextBytes bounds a capture that is text.
const maxTextBytes = 64 << 20

// ReadAny reads a capture file or, if it is none, a text that holds messages: a log, or what a program shows of a conversation. proto
// is what carries the protocol, which a text does not tell. The text is nil for a capture file.
func ReadAny(r io.Reader, opts Options, proto Proto, emit func(Frame)) (Summary, *Paste, error) {
	var head bytes.Buffer
	sum, err := Read(io.TeeReader(r, &limited{&head, 1 << 20}), opts, emit)
	if !errors.Is(err, ErrFormat) {
		return sum, nil, err
	}
	if _, e := io.Copy(&head, io.LimitReader(r, maxTextBytes)); e != nil {
		return sum, nil, e
	}
	paste, e := Recognise(head.String())
	if e != nil {
		return sum, nil, fmt.Errorf("%w, nor a text that holds one: %w", ErrFormat, e)
	}
	count := func(f Frame) {
		sum.Frames++
		emit(f)
	}
	ReadPaste(paste, PasteOptions{WholeOptions: WholeOptions{Limit: opts.Limit}, Ports: opts.Ports, Proto: proto, New: opts.New}, count)
	return sum, paste, nil
}

// limited keeps the first bytes that are written to it.
type limited struct {
	to   *bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.to.Write(p[:n])
	l.left -= n
	return len(p), nil
}
