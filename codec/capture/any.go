package capture

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// maxTextBytes bounds a capture that is text.
const maxTextBytes = 64 << 20

// maxRawBytes bounds a raw file, which is in memory as long as it is read.
const maxRawBytes = 64 << 20

// ReadAny reads a capture file or, if it is none, one of the logs that Logs lists, or a text that holds messages: a log that can be pasted
// too, or what a program shows of a conversation. What is in the file decides. proto is what carries the protocol, which logs and texts
// do not tell. With Options.Framing the file is raw bytes, whatever it looks like, or an archive of such files. An archive (SniffArchive) is
// one capture; its files are messages where they are nothing else. The paste is nil for what is no text that can be pasted.
func ReadAny(r io.Reader, opts Options, proto Proto, emit func(Frame)) (Summary, *Paste, error) {
	if opts.Framing != nil {
		in := &input{r: r}
		if kind := SniffArchive(in.peek(LogHead)); kind != "" {
			return readArchive(in, kind, opts, proto, emit)
		}
		sum, err := readRaw(in, opts, proto, emit)
		return sum, nil, err
	}
	var head bytes.Buffer
	sum, err := Read(io.TeeReader(r, &limited{&head, 1 << 20}), opts, emit)
	if !errors.Is(err, ErrFormat) {
		return sum, nil, err
	}
	if kind := SniffArchive(head.Bytes()); kind != "" {
		return readArchive(io.MultiReader(&head, r), kind, opts, proto, emit)
	}
	if sum, ok, e := readLog(&head, r, opts, proto, emit); ok {
		return sum, nil, e
	}
	if SniffCapture(head.Bytes()) == "gzip" {
		if z, e := gzip.NewReader(io.MultiReader(bytes.NewReader(bytes.Clone(head.Bytes())), r)); e == nil {
			head.Reset()
			r = z
		}
	}
	if _, e := io.Copy(&head, io.LimitReader(r, maxTextBytes)); e != nil && !isDamage(e) {
		return sum, nil, e
	}
	paste, e := recogniseFile(head.String(), opts.Key)
	if e != nil {
		return sum, nil, fmt.Errorf("%w, nor a text that holds one: %w", ErrFormat, e)
	}
	if paste.Packets {
		return readPastedPackets(paste, opts, emit), paste, nil
	}
	count := func(f Frame) {
		sum.Frames++
		emit(f)
	}
	ReadPaste(paste, PasteOptions{WholeOptions: WholeOptions{Key: opts.Key, Limit: opts.Limit, Day: opts.Day}, Ports: opts.Ports, Proto: proto, New: opts.New}, count)
	return sum, paste, nil
}

// readRaw reads a file that is cut by a framing.
func readRaw(r io.Reader, opts Options, proto Proto, emit func(Frame)) (Summary, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxRawBytes+1))
	if err != nil {
		return Summary{}, err
	}
	if len(data) > maxRawBytes {
		return Summary{}, fmt.Errorf("%w, and as raw bytes it is more than %d MiB", ErrFormat, maxRawBytes>>20)
	}
	sum := Summary{Format: "raw"}
	conn := &Conn{Proto: proto}
	err = ReadRaw(data, *opts.Framing, WholeOptions{Key: opts.Key, Limit: opts.Limit}, func(f Frame) {
		sum.Frames++
		f.Conn = conn
		emit(f)
	})
	sum.More = opts.Limit > 0 && int64(sum.Frames) >= int64(opts.Limit)
	return sum, err
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
