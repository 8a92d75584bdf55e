package capture

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"wirebench/codec/packet"
	"wirebench/codec/paste"
	"wirebench/codec/pcap"
	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// An archive as one capture:
//
//   - With a framing each file is split by it; read by the project's protocol, the files are parts of one connection. Else each file is a message,
//     or, if all of them are texts with messages (hex, dumps), the messages of all texts.
//   - Directions are taken from the file names if every name contains one as a separate word: c2s, s2c, client, server, sent, received, in, out.
//   - One file that is a capture or a log is read as if it were not in an archive. Several are an error.
//   - ReplayMod (.mcpr) is a zip with recording.tmcpr: [u32 ms since the start][u32 length][packet], big-endian; sent by the server.

// replayRecording is the file of a ReplayMod recording that holds the packets.
const replayRecording = "recording.tmcpr"

// readArchive reads an archive as one capture.
func readArchive(r io.Reader, kind string, opts Options, emit func(*transport.Frame)) (sum packet.Summary, pasted *paste.Paste, err error) {
	files, torn, err := ReadArchive(r)
	if err != nil {
		return packet.Summary{}, nil, err
	}
	sum.Format = kind
	defer func() {
		if torn != "" && sum.Torn == nil {
			sum.Torn = &packet.Torn{Packets: sum.Packets, Why: torn}
		}
	}()
	if opts.Framing == nil {
		captures := slices.DeleteFunc(slices.Clone(files), func(f ArchiveFile) bool { return !IsCapture(f.Data) })
		switch {
		case len(captures) == 1:
			sum, pasted, err := ReadAny(bytes.NewReader(captures[0].Data), opts, emit)
			sum.Format += " in a " + kind
			if pasted != nil {
				pasted.Why += "; of " + scan.Quote(path.Base(captures[0].Name)) + " in a " + kind
			}
			return sum, pasted, err
		case len(captures) > 1:
			return sum, nil, fmt.Errorf("%w: it contains %d captures (%s, %s, ...): unpack it and open them separately", ErrArchive, len(captures),
				scan.Quote(path.Base(captures[0].Name)), scan.Quote(path.Base(captures[1].Name)))
		}
	}
	switch i := slices.IndexFunc(files, func(f ArchiveFile) bool { return IsReplay(f.Name) }); {
	case i >= 0:
		pasted, torn = replayPaste(files, files[i].Data)
	case opts.Framing != nil && opts.Framing.Own:
		opts.Proto = transport.TCP
		pasted, err = streamPaste(files, &opts)
	case opts.Framing != nil:
		pasted, torn, err = framedPaste(files, opts)
	default:
		if pasted = textPaste(files); pasted == nil {
			pasted = filesPaste(files)
		}
	}
	if err != nil {
		return sum, nil, err
	}
	if len(pasted.Messages) == 0 {
		return sum, nil, fmt.Errorf("%w: all files of the %s are empty", pcap.ErrFormat, kind)
	}
	if pasted.Packets {
		return paste.ReadPackets(pasted, opts.Options, emit), pasted, nil
	}
	sum.Packets = uint32(len(pasted.Messages))
	paste.Read(pasted, paste.Options{WholeOptions: transport.WholeOptions{Dir: opts.Dir, Key: opts.Key, Limit: opts.Limit, Day: opts.Day}, Ports: opts.Ports, Proto: opts.Proto, New: opts.New}, func(f *transport.Frame) {
		sum.Frames++
		emit(f)
	})
	sum.More = opts.Limit > 0 && int64(sum.Frames) >= int64(opts.Limit)
	return sum, pasted, nil
}

// IsReplay reports whether a file of a zip, by its name, is a ReplayMod recording.
func IsReplay(name string) bool { return path.Base(name) == replayRecording }

// filesPaste makes each file a message.
func filesPaste(files []ArchiveFile) *paste.Paste {
	p := &paste.Paste{Form: "files", Title: "Files of an archive", Why: fmt.Sprintf("%d files in the order of their names, one message each", len(files))}
	dirs, all := fileDirs(files)
	for i, f := range files {
		if len(f.Data) > 0 {
			p.Messages = append(p.Messages, paste.Message{Bytes: f.Data, Dir: dirs[i], Number: i + 1, Line: i + 1})
		}
	}
	if all {
		p.Why += "; directions from their names"
	}
	p.LookForPackets()
	return p
}

// framedPaste splits each file by a framing.
func framedPaste(files []ArchiveFile, opts Options) (p *paste.Paste, torn string, err error) {
	p = &paste.Paste{Form: "files", Title: "Files of an archive", Why: fmt.Sprintf("%d files in the order of their names, each split by the framing", len(files))}
	dirs, all := fileDirs(files)
	opts.Limit, opts.Key = paste.MaxMessages+1, nil
	for i, f := range files {
		opts.Dir = dirs[i]
		err := ReadRaw(scan.NewInput(bytes.NewReader(f.Data)), opts, func(x *transport.Frame) {
			if x.Kind != transport.Message {
				torn = cmp.Or(torn, scan.Quote(f.Name)+": "+x.Note)
				return
			}
			if len(p.Messages) == paste.MaxMessages {
				torn = fmt.Sprintf("there are more than %d messages", paste.MaxMessages)
			} else {
				p.Messages = append(p.Messages, paste.Message{Bytes: bytes.Clone(x.Bytes), Dir: x.Dir, Number: i + 1, Line: i + 1})
			}
		})
		if err != nil {
			return nil, "", err
		}
	}
	if all && opts.Framing.Dir == schema.Both {
		p.Why += "; directions from their names"
	}
	return p, torn, nil
}

// streamPaste makes the files the parts of one connection, in the order of their names.
func streamPaste(files []ArchiveFile, opts *Options) (*paste.Paste, error) {
	if opts.stream() == nil {
		return nil, errNoStream
	}
	p := filesPaste(files)
	p.Stream, p.Packets = true, false
	p.Why = strings.Replace(p.Why, ", one message each", ", parts of one connection", 1)
	for i := range p.Messages {
		if m := &p.Messages[i]; opts.Framing.Dir != schema.Both {
			m.Dir = opts.Framing.Dir
		}
	}
	return p, nil
}

// textPaste reads files that are all texts with messages; nil if one is not.
func textPaste(files []ArchiveFile) *paste.Paste {
	out := &paste.Paste{Form: "files", Title: "Texts of an archive"}
	dirs, all := fileDirs(files)
	for i, f := range files {
		if len(f.Data) > paste.MaxText || scan.UTF16Order(f.Data) == nil && (!utf8.Valid(f.Data) || bytes.IndexByte(f.Data[:min(len(f.Data), 512)], 0) >= 0) {
			return nil
		}
		p, err := paste.Recognise(string(f.Data))
		if err != nil || len(out.Messages)+len(p.Messages) > paste.MaxMessages {
			return nil
		}
		if i == 0 {
			out.Why = fmt.Sprintf("%d texts in the order of their names, the first is %s: %s", len(files), p.Title, p.Why)
			out.Packets, out.Link = p.Packets, p.Link
		}
		out.Packets = out.Packets && p.Packets && p.Link == out.Link
		for _, m := range p.Messages {
			if m.Dir == schema.Both {
				m.Dir = dirs[i]
			}
			out.Messages = append(out.Messages, m)
		}
	}
	if all {
		out.Why += "; missing directions from their names"
	}
	return out
}

// fileDirs reads directions from names. all is false, and every direction unknown, if a name has none.
func fileDirs(files []ArchiveFile) (dirs []schema.Dir, all bool) {
	dirs = make([]schema.Dir, len(files))
	for i, f := range files {
		words := strings.FieldsFunc(path.Base(f.Name), func(r rune) bool { return !scan.IsWord(byte(min(r, 0x7f))) || r == '_' })
		for _, w := range words {
			if d := paste.DirOf("", w); d != schema.Both && len(w) > 1 {
				dirs[i] = d
			}
		}
		if dirs[i] == schema.Both {
			return make([]schema.Dir, len(files)), false
		}
	}
	return dirs, len(files) > 0
}

// replayPaste reads the recording of ReplayMod.
func replayPaste(files []ArchiveFile, b []byte) (p *paste.Paste, torn string) {
	p = &paste.Paste{Form: "replaymod", Title: "ReplayMod recording (.mcpr)", Why: "a zip with " + replayRecording + "; all packets are from the server"}
	start := replayStart(files)
	for at := 0; at < len(b); {
		if len(b)-at < 8 {
			return p, fmt.Sprintf("the header of a packet has 8 bytes, but only %d are left", len(b)-at)
		}
		ms, size := binary.BigEndian.Uint32(b[at:]), binary.BigEndian.Uint32(b[at+4:])
		if at += 8; uint64(size) > uint64(len(b)-at) {
			return p, fmt.Sprintf("a packet has %d bytes, but only %d are left", size, len(b)-at)
		}
		if len(p.Messages) == paste.MaxMessages {
			return p, fmt.Sprintf("there are more than %d packets", paste.MaxMessages)
		}
		m := paste.Message{Bytes: b[at : at+int(size) : at+int(size)], Dir: schema.ToClient, Number: len(p.Messages) + 1, Line: 1}
		m.Time = scan.Stamp{Kind: scan.Elapsed, Since: time.Duration(ms) * time.Millisecond}
		if !start.IsZero() {
			m.Time = scan.Stamp{Kind: scan.Absolute, At: start.Add(m.Time.Since)}
		}
		p.Messages = append(p.Messages, m)
		at += int(size)
	}
	return p, ""
}

// replayStart returns the date (milliseconds since 1970) in metaData.json.
func replayStart(files []ArchiveFile) time.Time {
	for _, f := range files {
		var meta struct{ Date int64 }
		if path.Base(f.Name) == "metaData.json" && len(f.Data) < 1<<20 && json.Unmarshal(f.Data, &meta) == nil {
			return scan.UnixMilli(meta.Date)
		}
	}
	return time.Time{}
}
