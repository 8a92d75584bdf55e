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
)

// maxTextBytes bounds a text with messages.
const maxTextBytes = 64 << 20

// maxRawBytes bounds a raw file, which is read into memory.
const maxRawBytes = 64 << 20

// Options control how a file of any kind is read.
type Options struct {
	packet.Options
	Proto   transport.Proto // transport protocol of the messages, for logs and texts, which do not have it
	Framing *Framing        // how messages are delimited, in a raw file or in the connections of a capture; nil: a transport knows
}

// ReadAny reads a capture, a log, or a text that holds messages, depending on the contents of the file. With Options.Framing it
// frames the connections of a capture with packets; any other file is raw bytes, whatever its contents, or an archive of raw files. An archive is one capture; each of its files is a message unless it has
// another known format. The paste is nil unless the file is a text with messages. The error wraps pcap.ErrFormat or ErrArchive, or is an
// error of r.
func ReadAny(r io.Reader, opts Options, emit func(*transport.Frame)) (packet.Summary, *paste.Paste, error) {
	if opts.Framing != nil {
		in := scan.NewInput(r)
		head := peekHead(in)
		if kind := SniffArchive(head); kind != "" {
			return readArchive(in, kind, opts, emit)
		}
		if pcap.SniffPacked(head) != "" {
			if err := opts.Framing.Check(); err != nil {
				return packet.Summary{}, nil, err
			}
			opts.Recorded = nil
			held := 0
			opts.New = func(c transport.Conn) transport.Transport { return newFramed(*opts.Framing, c, opts.Key, &held) }
			sum, err := pcap.Read(in, opts.Options, emit)
			return sum, nil, err
		}
		sum, err := readRaw(in, opts, emit)
		return sum, nil, err
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
	if packed := scan.Packed(head.Bytes()); packed != "" {
		if z, e := scan.Unpack(packed, io.MultiReader(bytes.NewReader(bytes.Clone(head.Bytes())), r)); e == nil {
			head.Reset()
			r = z
		}
	}
	if _, e := io.Copy(&head, io.LimitReader(r, maxTextBytes)); e != nil && (!scan.IsDamage(e) || head.Len() == 0) {
		if scan.IsDamage(e) {
			e = err // nothing can be unpacked
		}
		return sum, nil, e
	}
	pasted, e := paste.RecogniseFile(head.String(), opts.Key)
	if e != nil {
		return sum, nil, fmt.Errorf("%w, nor a text that contains one: %w", pcap.ErrFormat, e)
	}
	if pasted.Packets {
		return paste.ReadPackets(pasted, opts.Options, emit), pasted, nil
	}
	count := func(f *transport.Frame) {
		sum.Frames++
		emit(f)
	}
	paste.Read(pasted, paste.Options{WholeOptions: transport.WholeOptions{Dir: opts.Dir, Key: opts.Key, Limit: opts.Limit, Day: opts.Day}, Ports: opts.Ports, Proto: opts.Proto, New: opts.New}, count)
	return sum, pasted, nil
}

// readRaw reads a raw file.
func readRaw(r io.Reader, opts Options, emit func(*transport.Frame)) (packet.Summary, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxRawBytes+1))
	if err != nil {
		return packet.Summary{}, err
	}
	if len(data) > maxRawBytes {
		return packet.Summary{}, fmt.Errorf("%w, and as raw bytes it is more than %d MiB", pcap.ErrFormat, maxRawBytes>>20)
	}
	sum := packet.Summary{Format: "raw"}
	conn := &transport.Conn{Proto: opts.Proto}
	err = ReadRaw(data, *opts.Framing, transport.WholeOptions{Dir: opts.Dir, Key: opts.Key, Limit: opts.Limit}, func(f *transport.Frame) {
		sum.Frames++
		f.Conn = conn
		emit(f)
	})
	sum.More = opts.Limit > 0 && int64(sum.Frames) >= int64(opts.Limit)
	return sum, err
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
