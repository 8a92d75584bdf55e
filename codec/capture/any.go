package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"wirebench/codec/logs"
	"wirebench/codec/packet"
	"wirebench/codec/paste"
	"wirebench/codec/pcap"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// Options control how a file of any kind is read.
type Options struct {
	packet.Options
	Proto   transport.Proto // transport protocol of the messages, for logs and texts, which do not have it
	Pattern *paste.Pattern  // of the user: the file is a text that it reads; nil for files of known forms
	Framing *Framing        // how messages are delimited, in a raw file or in the connections of a capture; nil: a transport knows, and no file is raw
}

// ReadAny reads a capture, a log, or a text that holds messages, depending on the contents of the file. With Options.Framing it
// frames the connections of a capture with packets; any other file is raw bytes, whatever its contents, or an archive of raw files. Any file
// may be compressed. An archive is one capture; each of its files is a message unless it has another known format. The paste is nil unless the file is a text with messages. The error wraps pcap.ErrFormat or ErrArchive, or is an
// error of r.
func ReadAny(r io.Reader, opts Options, emit func(*transport.Frame)) (packet.Summary, *paste.Paste, error) {
	if opts.Pattern != nil {
		in := scan.NewInput(r)
		pasted, torn, err := readText(peekHead(in), in, opts.Pattern.Read)
		return emitText(pasted, torn, err, packet.Summary{}, opts, emit)
	}
	if opts.Framing != nil {
		return readFramed(scan.NewInput(r), opts, emit)
	}
	var head bytes.Buffer
	sum, err := pcap.Read(io.TeeReader(r, &limited{&head, 1 << 20}), opts.Options, emit)
	if !errors.Is(err, pcap.ErrFormat) {
		return sum, nil, err
	}
	if kind := SniffArchive(head.Bytes()); kind != "" {
		return readArchive(io.MultiReader(&head, r), kind, opts, emit)
	}
	if sum, ok, e := logs.Read(&head, r, opts.Options, opts.Proto, emit); ok {
		return sum, nil, e
	}
	pasted, torn, e := ReadText(head.Bytes(), r, opts.Key)
	var noText *paste.Error
	switch {
	case errors.Is(e, scan.ErrPacked):
		return sum, nil, err // nothing can be unpacked
	case errors.As(e, &noText):
		e = fmt.Errorf("%w, nor a text that contains one: %w", pcap.ErrFormat, e)
	}
	return emitText(pasted, torn, e, sum, opts, emit)
}

// emitText emits the messages of a text.
func emitText(pasted *paste.Paste, torn string, err error, sum packet.Summary, opts Options, emit func(*transport.Frame)) (packet.Summary, *paste.Paste, error) {
	if err != nil {
		return sum, nil, err
	}
	if pasted.Packets {
		sum = paste.ReadPackets(pasted, opts.Options, emit)
	} else {
		paste.Read(pasted, paste.Options{WholeOptions: transport.WholeOptions{Dir: opts.Dir, Key: opts.Key, Limit: opts.Limit, Day: opts.Day}, Ports: opts.Ports, Proto: opts.Proto, New: opts.New}, func(f *transport.Frame) {
			sum.Frames++
			emit(f)
		})
	}
	if torn != "" {
		sum.Torn = &packet.Torn{Packets: sum.Packets, Why: torn}
	}
	return sum, pasted, nil
}

// ReadText reads a text with messages, which may be compressed. head is the start of the file, r the rest. torn is the reason if it cannot
// be unpacked to its end. The error is a *paste.Error, wraps scan.ErrPacked if nothing can be unpacked, or is one of r.
func ReadText(head []byte, r io.Reader, key func(schema.Dir, []byte) (schema.Key, bool)) (p *paste.Paste, torn string, err error) {
	return readText(head, io.MultiReader(bytes.NewReader(bytes.Clone(head)), r), func(text string) (*paste.Paste, error) { return paste.RecogniseFile(text, key) })
}

// readText reads a text that starts with head and may be compressed.
func readText(head []byte, r io.Reader, read func(text string) (*paste.Paste, error)) (p *paste.Paste, torn string, err error) {
	if packed := scan.Packed(head); packed != "" {
		z, err := scan.Unpack(packed, r)
		if err != nil {
			return nil, "", err
		}
		r = z
	}
	text, err := io.ReadAll(io.LimitReader(r, paste.MaxText+1))
	if err != nil {
		if !scan.IsDamage(err) || len(text) == 0 {
			return nil, "", err
		}
		torn = err.Error()
	}
	p, err = read(string(text))
	return p, torn, err
}

// readFramed reads a file whose messages are delimited by a framing: an archive, the connections of a capture, or raw bytes. Any of them may be
// compressed.
func readFramed(in *scan.Input, opts Options, emit func(*transport.Frame)) (sum packet.Summary, _ *paste.Paste, err error) {
	head := peekHead(in)
	if kind := SniffArchive(head); kind != "" {
		return readArchive(in, kind, opts, emit)
	}
	if pcap.SniffPacked(head) != "" {
		if held := 0; !opts.Framing.Own {
			opts.Recorded = nil
			opts.New = func(c transport.Conn) transport.Transport {
				return newFramed(*opts.Framing, c.Proto, maxFramed, opts.Key, &held)
			}
		}
		sum, err = pcap.Read(in, opts.Options, emit)
		return sum, nil, err
	}
	sum.Format = "raw"
	if inner, _ := scan.UnpackHead(head, 1, true); len(inner) > 0 {
		packed := scan.Packed(head)
		z, err := scan.Unpack(packed, in)
		if err != nil {
			return sum, nil, err
		}
		in, sum.Format = scan.NewInput(io.LimitReader(z, pcap.MaxUnpacked)), "raw."+packed
	}
	conn := &transport.Conn{Proto: opts.Proto}
	err = ReadRaw(in, opts, func(f *transport.Frame) {
		sum.Frames++
		f.Conn = conn
		emit(f)
	})
	sum.More = opts.Limit > 0 && int64(sum.Frames) >= int64(opts.Limit)
	switch e := in.Failure(); {
	case e != nil && !scan.IsDamage(e):
		return sum, nil, e
	case e != nil:
		sum.Torn = &packet.Torn{Pos: in.Offset(), Why: e.Error()}
	case in.Offset() == pcap.MaxUnpacked:
		sum.Torn = &packet.Torn{Pos: in.Offset(), Why: fmt.Sprintf("the file unpacks to more than %d GiB", pcap.MaxUnpacked>>30)}
	}
	return sum, nil, err
}

// limited stores the first bytes written to it.
type limited struct {
	to   *bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	if l.to.Len() > 0 && l.to.Available() < n {
		l.to.Grow(l.left) // all of it, as the file is no small one
	}
	l.to.Write(p[:n])
	l.left -= n
	return len(p), nil
}
