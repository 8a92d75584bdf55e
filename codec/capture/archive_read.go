package capture

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"wirebench/defs/schema"
)

// An archive as one capture:
//
//   - With a framing each file is cut by it; else each file is a message, or, where all of them are texts that hold bytes (hex, dumps), the
//     messages of all texts.
//   - A direction is taken from the names if every name has one: a word of its own such as c2s, s2c, client, server, sent, received, in, out.
//   - One file that is a capture or a log is read as if it were not packed. Of several nothing is read: they are several captures.
//   - ReplayMod (.mcpr) is a zip with recording.tmcpr: [u32 ms since the start][u32 length][packet], big-endian; what the server has sent.

// replayRecording is the file of a ReplayMod recording that has the packets.
const replayRecording = "recording.tmcpr"

// readArchive reads an archive as one capture.
func readArchive(r io.Reader, kind string, opts Options, proto Proto, emit func(Frame)) (sum Summary, paste *Paste, err error) {
	files, torn, err := ReadArchive(r)
	if err != nil {
		return Summary{}, nil, err
	}
	sum.Format = kind
	defer func() {
		if torn != "" && sum.Torn == nil {
			sum.Torn = &Torn{Packets: sum.Packets, Why: torn}
		}
	}()
	if opts.Framing == nil {
		captures := slices.DeleteFunc(slices.Clone(files), func(f ArchiveFile) bool { return !IsCapture(f.Data) })
		switch {
		case len(captures) == 1:
			sum, paste, err := ReadAny(bytes.NewReader(captures[0].Data), opts, proto, emit)
			sum.Format += " in a " + kind
			if paste != nil {
				paste.Why += "; of " + quoteShort(path.Base(captures[0].Name)) + " in a " + kind
			}
			return sum, paste, err
		case len(captures) > 1:
			return sum, nil, fmt.Errorf("%w: it holds %d captures (%s, %s, ...): unpack it, each is one", ErrArchive, len(captures),
				quoteShort(path.Base(captures[0].Name)), quoteShort(path.Base(captures[1].Name)))
		}
	}
	switch i := slices.IndexFunc(files, func(f ArchiveFile) bool { return IsReplay(f.Name) }); {
	case i >= 0:
		paste, torn = replayPaste(files, files[i].Data)
	case opts.Framing != nil:
		paste, torn, err = framedPaste(files, *opts.Framing)
	default:
		if paste = textPaste(files); paste == nil {
			paste = filesPaste(files)
		}
	}
	if err != nil {
		return sum, nil, err
	}
	if len(paste.Messages) == 0 {
		return sum, nil, fmt.Errorf("%w: there are no bytes in the files of the %s", ErrFormat, kind)
	}
	if paste.Packets {
		return readPastedPackets(paste, opts, emit), paste, nil
	}
	sum.Packets = uint32(len(paste.Messages))
	ReadPaste(paste, PasteOptions{WholeOptions: WholeOptions{Key: opts.Key, Limit: opts.Limit, Day: opts.Day}, Ports: opts.Ports, Proto: proto, New: opts.New}, func(f Frame) {
		sum.Frames++
		emit(f)
	})
	sum.More = opts.Limit > 0 && int64(sum.Frames) >= int64(opts.Limit)
	return sum, paste, nil
}

// IsReplay tells by its name the file of a zip that ReplayMod keeps its recording in.
func IsReplay(name string) bool { return path.Base(name) == replayRecording }

// IsCapture reports whether a file is a capture, a text in which Wireshark exported packets, or one of the logs that Logs lists.
func IsCapture(data []byte) bool {
	head := data[:min(len(data), LogHead)]
	if form := SniffCapture(head); form != "" && form != "gzip" {
		return true
	}
	if SniffCapture(head) == "gzip" {
		inner, _ := unpackHead(head, len(data) <= LogHead)
		if form := SniffCapture(inner); form != "" && form != "gzip" || SniffExport(inner) != "" {
			return true
		}
	}
	return SniffExport(head) != "" || SniffLog(head, len(data) <= LogHead) != ""
}

// filesPaste takes each file for a message.
func filesPaste(files []ArchiveFile) *Paste {
	p := &Paste{Form: "files", Title: "Files of an archive", Why: fmt.Sprintf("%d files in the order of their names, each is a message", len(files))}
	dirs, all := fileDirs(files)
	for i, f := range files {
		if len(f.Data) > 0 {
			p.Messages = append(p.Messages, Message{Bytes: f.Data, Dir: dirs[i], Number: i + 1, Line: i + 1})
		}
	}
	if all {
		p.Why += "; the direction is told by their names"
	}
	p.lookForPackets()
	return p
}

// framedPaste cuts each file by a framing.
func framedPaste(files []ArchiveFile, framing Framing) (p *Paste, torn string, err error) {
	p = &Paste{Form: "files", Title: "Files of an archive", Why: fmt.Sprintf("%d files in the order of their names, each is cut by the framing", len(files))}
	dirs, all := fileDirs(files)
	for i, f := range files {
		dir := dirs[i]
		if framing.Dir != schema.Both {
			dir = framing.Dir
		}
		err := ReadRaw(f.Data, framing, WholeOptions{Dir: dir, Limit: MaxPasteMessages}, func(x Frame) {
			if x.Note != "" && torn == "" {
				torn = quoteShort(f.Name) + ": " + x.Note
			}
			if x.Note == "" && len(p.Messages) < MaxPasteMessages {
				p.Messages = append(p.Messages, Message{Bytes: x.Bytes, Dir: x.Dir, Number: i + 1, Line: i + 1})
			}
		})
		if err != nil {
			return nil, "", err
		}
	}
	if all && framing.Dir == schema.Both {
		p.Why += "; the direction is told by their names"
	}
	return p, torn, nil
}

// textPaste reads files that are all texts with bytes; nil if one is not.
func textPaste(files []ArchiveFile) *Paste {
	out := &Paste{Form: "files", Title: "Texts of an archive"}
	dirs, all := fileDirs(files)
	for i, f := range files {
		if len(f.Data) > MaxPasteText || utf16Order(f.Data) == nil && (!utf8.Valid(f.Data) || bytes.IndexByte(f.Data[:min(len(f.Data), 512)], 0) >= 0) {
			return nil
		}
		p, err := Recognise(string(f.Data))
		if err != nil || len(out.Messages)+len(p.Messages) > MaxPasteMessages {
			return nil
		}
		if i == 0 {
			out.Why = fmt.Sprintf("%d texts in the order of their names, the first one is %s: %s", len(files), p.Title, p.Why)
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
		out.Why += "; where they do not tell the direction, their names do"
	}
	return out
}

// fileDirs reads directions from names. all is false, and every direction unknown, if a name has none.
func fileDirs(files []ArchiveFile) (dirs []schema.Dir, all bool) {
	dirs = make([]schema.Dir, len(files))
	for i, f := range files {
		words := strings.FieldsFunc(path.Base(f.Name), func(r rune) bool { return !isWord(byte(min(r, 0x7f))) || r == '_' })
		for _, w := range words {
			if d := dirOf("", w); d != schema.Both && len(w) > 1 {
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
func replayPaste(files []ArchiveFile, b []byte) (p *Paste, torn string) {
	p = &Paste{Form: "replaymod", Title: "ReplayMod recording (.mcpr)", Why: "a zip with " + replayRecording + "; all of it is what the server has sent"}
	start := replayStart(files)
	for at := 0; at < len(b); {
		if len(b)-at < 8 {
			return p, fmt.Sprintf("a packet needs 8 bytes, and %d are left", len(b)-at)
		}
		ms, size := binary.BigEndian.Uint32(b[at:]), binary.BigEndian.Uint32(b[at+4:])
		if at += 8; uint64(size) > uint64(len(b)-at) {
			return p, fmt.Sprintf("a packet has %d bytes, and %d are left", size, len(b)-at)
		}
		if len(p.Messages) == MaxPasteMessages {
			return p, fmt.Sprintf("there are more than %d packets", MaxPasteMessages)
		}
		m := Message{Bytes: b[at : at+int(size) : at+int(size)], Dir: schema.ToClient, Number: len(p.Messages) + 1, Line: 1}
		m.Time = Stamp{Kind: Elapsed, Since: time.Duration(ms) * time.Millisecond}
		if !start.IsZero() {
			m.Time = Stamp{Kind: Absolute, At: start.Add(m.Time.Since)}
		}
		p.Messages = append(p.Messages, m)
		at += int(size)
	}
	return p, ""
}

// replayStart is the date (milliseconds since 1970) in metaData.json.
func replayStart(files []ArchiveFile) time.Time {
	for _, f := range files {
		var meta struct{ Date int64 }
		if path.Base(f.Name) == "metaData.json" && len(f.Data) < 1<<20 && json.Unmarshal(f.Data, &meta) == nil {
			return unixMilli(meta.Date)
		}
	}
	return time.Time{}
}
