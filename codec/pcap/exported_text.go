package pcap

import (
	"bytes"
	"slices"
	"strings"

	"wirebench/codec/packet"
	"wirebench/codec/scan"
)

// Packets as Wireshark prints them, with their bytes:
//
//	Frame 1: 46 bytes on wire (368 bits), 46 bytes captured (368 bits)
//	    Encapsulation type: Ethernet (1)
//	    Epoch Time: 1700000000.000005000 seconds
//	…
//	0000  00 00 00 00 00 00 00 00 00 00 00 00 08 00 45 00   ..............E.
//
// The details may be replaced or preceded by a line of the packet list: number, time, addresses. If a packet has more blocks than its own
// bytes, such as those of a reassembled message, each has a heading: "Frame (66 bytes):", "Reassembled TCP (1460 bytes):".

// maxShownLine bounds the part of a line that is read.
const maxShownLine = 4 << 10

// shown is the state before the dump of a packet.
type shown struct {
	exported
	head     bool   // a line that describes the packet was read
	captured uint64 // size that its dump must have; 0 if unknown
	other    bool   // the next block is not the packet itself
	relative string
}

// sniffShown looks for the dump of a packet after a line that describes it. After a line of the packet list only, the bytes must look like
// a packet.
func sniffShown(head []byte) bool {
	in := scan.NewInput(bytes.NewReader(head))
	var s shown
	frame, listed := false, false
	for lines := 0; ; lines++ {
		line, ok := shownLine(in)
		if !ok {
			return false
		}
		frame = frame || isFrameLine(line)
		if !frame && lines < 4 {
			s.about(line)
			listed = listed || s.head
		}
		if !frame && !listed && lines > 8 {
			return false
		}
		var data []byte
		if data, ok = shownBytes(line, data, 0); !ok || s.other {
			continue
		}
		if frame {
			return true
		}
		for {
			more, ok := shownLine(in)
			if !ok {
				break
			}
			if data, ok = shownBytes(more, data, len(data)); !ok {
				break
			}
		}
		_, right := packet.LinkOf(data)
		return right && listed
	}
}

// isFrameLine recognises the first line of the details.
func isFrameLine(line string) bool {
	rest, ok := strings.CutPrefix(line, "Frame ")
	if !ok || rest == "" || !scan.IsDigit(rest[0]) {
		return false
	}
	_, rest, ok = strings.Cut(rest, ": ")
	return ok && strings.Contains(rest, " on wire")
}

// nextShown reads the next packet of a text.
func (r *Reader) nextShown(to *exported) (bool, error) {
	s := &r.shown
	for {
		pos := r.in.Offset()
		line, ok := shownLine(r.in)
		if !ok {
			return false, nil
		}
		data, ok := shownBytes(line, to.data[:0], 0)
		if !ok {
			s.about(line)
			continue
		}
		for ok {
			to.data = data
			before := r.in.Offset()
			b := r.in.Peek(maxShownLine)
			end := bytes.IndexByte(b, '\n')
			if end < 0 {
				end = len(b)
			}
			data, ok = shownBytes(trimLine(b[:end]), to.data, len(to.data))
			if len(data) > MaxPacket {
				return false, r.torn("a packet size of %d bytes is invalid", len(data))
			}
			if ok {
				r.in.Skip(int64(min(end+1, len(b))))
			}
			if r.in.Offset() == before {
				break
			}
		}
		if s.other {
			s.other = false
			to.data = to.data[:0]
			continue
		}
		if uint64(len(to.data)) < s.captured && bytes.IndexByte(r.in.Peek(maxShownLine), '\n') < 0 {
			return false, r.torn("the file ends inside a packet: %d of %d bytes are present", len(to.data), s.captured)
		}
		s.took(s.relative)
		said := s.exported
		said.data, said.pos = to.data, pos
		*to, *s = said, shown{}
		return true, nil
	}
}

// about takes the properties of a packet from a line.
func (s *shown) about(line string) {
	if isFrameLine(line) {
		*s = shown{head: true, exported: exported{number: number(line[len("Frame "):strings.IndexByte(line, ':')])}}
		words := strings.Fields(line[strings.IndexByte(line, ':')+1:])
		s.orig = number(words[0])
		if i := slices.Index(words, "captured"); i >= 2 {
			s.captured = number(words[i-2])
		}
		return
	}
	text := strings.TrimSpace(line)
	switch key, value, _ := strings.Cut(text, ": "); key {
	case "Epoch Time", "Epoch Arrival Time":
		s.took(strings.TrimSuffix(value, " seconds"))
		return
	case "Encapsulation type":
		if i := strings.LastIndexByte(value, '('); i >= 0 {
			s.encapsulated(strings.TrimSuffix(value[i+1:], ")"))
		}
		return
	}
	if heading, ok := strings.CutSuffix(line, " bytes):"); ok && !strings.HasPrefix(line, " ") {
		name, size, ok := cutLast(heading, " (")
		if ok && number(size) > 0 {
			s.other = name != "Frame"
			return
		}
	}
	// A line of the packet list: a number, then a time, which is numeric too.
	if len(line) > 0 && (line[0] == ' ' || scan.IsDigit(line[0])) && !s.head {
		words := strings.Fields(text)
		if len(words) < 4 || number(words[0]) == 0 {
			return
		}
		if _, ok := scan.ParseUnix(words[1]); ok && strings.Contains(words[1], ".") {
			*s = shown{head: true, relative: words[1], exported: exported{number: number(words[0])}}
		}
	}
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// shownLine reads a line and returns at most its first maxShownLine bytes.
func shownLine(in *scan.Input) (string, bool) {
	b := in.Peek(maxShownLine)
	if len(b) == 0 {
		return "", false
	}
	end := bytes.IndexByte(b, '\n')
	if end >= 0 {
		line := trimLine(b[:end])
		in.SkipSeen(end + 1)
		return line, true
	}
	line := trimLine(b)
	in.Skip(int64(len(b)))
	for {
		b := in.Peek(maxShownLine)
		if len(b) == 0 {
			return line, true
		}
		if end = bytes.IndexByte(b, '\n'); end >= 0 {
			in.Skip(int64(end + 1))
			return line, true
		}
		in.Skip(int64(len(b)))
	}
}

func trimLine(b []byte) string { return string(bytes.TrimRight(b, "\r")) }

// shownBytes appends the bytes of a dump line that starts at an offset; ok is false if the line is not one.
func shownBytes(line string, data []byte, off int) (_ []byte, ok bool) {
	digits := 0
	value := 0
	for digits < len(line) && digits < 8 && scan.IsHex(line[digits]) {
		value = value<<4 | int(scan.HexValue[line[digits]])
		digits++
	}
	if digits < 4 || value != off || !strings.HasPrefix(line[digits:], "  ") {
		return data, false
	}
	rest := line[digits+2:]
	n := 0
	for n < 16 && len(rest) >= 2 && scan.IsHex(rest[0]) && scan.IsHex(rest[1]) && (len(rest) == 2 || rest[2] == ' ') {
		data = append(data, scan.HexValue[rest[0]]<<4|scan.HexValue[rest[1]])
		if n++; len(rest) == 2 {
			break
		}
		rest = rest[3:]
		if n == 8 && len(rest) > 1 && rest[0] == ' ' && rest[1] != ' ' { // old versions have a wider gap in the middle
			rest = rest[1:]
		}
	}
	return data, n > 0
}
