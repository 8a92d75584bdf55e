package logs

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// The text log of TeraAtlas (packets_<ms>.log): one line per message, with " | " between time, direction, code, name and contents. The
// contents are RAW: and hex, or JSON if the program had a definition:
//
//	2024-05-01T12:00:00.123Z | S->C | 20012 | UNKNOWN | RAW: 08002c4e01000000
//	2024-05-01T12:00:00.140Z | [FAKE] C->S | 19900 | C_CHECK_VERSION | {"version":[]}
//
// A line with JSON, or with PARSED where that failed, has no bytes, and neither the definition nor its version is known. So it becomes a
// problem without bytes. The hex is a message with its header.
//
// Source: the module packet-logger for TeraAtlas, by merusira, file index.js in several versions.

const (
	maxAtlasLine = 2 << 20 // bytes
	atlasLooked  = 20      // lines that are read to detect the form
)

// atlasRow is a parsed line of the log.
type atlasRow struct {
	at      time.Time
	dir     schema.Dir
	fake    bool
	code    uint16
	name    string
	content string
}

// readAtlasRow parses a line.
func readAtlasRow(s string) (r atlasRow, ok bool) {
	parts := strings.SplitN(s, "|", 5)
	if len(parts) < 5 {
		return r, false
	}
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	stamp, ok := scan.ParseStamp(parts[0])
	if !ok || stamp.Kind != scan.Absolute {
		return r, false
	}
	way, fake := strings.CutPrefix(parts[1], "[FAKE]")
	switch strings.TrimSpace(way) {
	case "S->C":
		r.dir = schema.ToClient
	case "C->S":
		r.dir = schema.ToServer
	default:
		return r, false
	}
	code, err := strconv.ParseUint(parts[2], 10, 16)
	if err != nil || len(parts[3]) > transport.MaxName {
		return r, false
	}
	r.at, r.fake, r.code, r.name, r.content = stamp.At.UTC(), fake, uint16(code), parts[3], parts[4]
	if r.name == "UNKNOWN" {
		r.name = ""
	}
	return r, true
}

func sniffAtlas(head []byte, _ bool) bool {
	for n := 0; n < atlasLooked && len(head) > 0; n++ {
		text, rest, _ := bytes.Cut(head, []byte{'\n'})
		// A line can be longer than head: its start is enough.
		if _, ok := readAtlasRow(string(text)); ok {
			return true
		}
		head = rest
	}
	return false
}

// readAtlas reads the form "teraatlas".
func readAtlas(l *reading) {
	a := atlasReading{l: l}
	for number := 1; ; number++ {
		from := l.in.Offset()
		text, whole, more := a.line()
		if !more {
			break
		}
		s := strings.TrimSpace(text)
		if s == "" {
			continue
		}
		row, ok := readAtlasRow(s)
		if !ok || !whole {
			if a.strange++; a.strange == 1 {
				a.line1, a.from = number, from
			}
			continue
		}
		if !a.flush() || !a.row(row, from) {
			return
		}
	}
	if a.flush() {
		l.ended()
	}
}

type atlasReading struct {
	l       *reading
	strange int // consecutive invalid lines
	line1   int // number of the first of them
	from    int64
}

// line returns the next line; whole is false if it is too long.
func (a *atlasReading) line() (text string, whole, more bool) {
	in := a.l.in
	looked := 0
	for want := 4 << 10; ; want *= 2 {
		b := in.Peek(want)
		if end := bytes.IndexByte(b[looked:], '\n'); end >= 0 {
			text = string(b[:looked+end])
			in.Skip(int64(looked + end + 1))
			return text, true, true
		}
		if len(b) < want {
			text = string(b)
			in.Skip(int64(len(b)))
			return text, true, len(b) > 0
		}
		if looked = len(b); looked >= maxAtlasLine {
			break
		}
	}
	text = string(in.Peek(80))
	for {
		b := in.Peek(4 << 10)
		if end := bytes.IndexByte(b, '\n'); end >= 0 {
			in.Skip(int64(end + 1))
			return text, false, true
		}
		if in.Skip(int64(len(b))); len(b) == 0 {
			return text, false, true
		}
	}
}

// row emits the message of a line.
func (a *atlasReading) row(r atlasRow, from int64) bool {
	l := a.l
	l.record()
	note := ""
	if r.fake {
		note, l.out.Marks = sentByProxy, transport.Fake
	}
	who := fmt.Sprintf("message %d", r.code)
	if r.name != "" {
		who = scan.Quote(r.name)
	}
	text, raw := strings.CutPrefix(r.content, "RAW:")
	if !raw {
		return l.problem(r.dir, r.at, nil, from, "%s", transport.Join(note, "the log has only the values of "+who+", not its bytes"))
	}
	text = strings.TrimSpace(text)
	message, err := hex.DecodeString(text)
	switch {
	case err != nil:
		return l.problem(r.dir, r.at, nil, from, "%s", transport.Join(note, "the bytes of "+who+" are incomplete: "+err.Error()))
	case len(message) < 4 || int(binary.LittleEndian.Uint16(message)) != len(message) || binary.LittleEndian.Uint16(message[2:]) != r.code:
		return l.problem(r.dir, r.at, message, transport.Unknown, "%s", transport.Join(note, "the bytes of "+who+" do not start with their length and code"))
	}
	return l.give(transport.Frame{Dir: r.dir, At: r.at, Name: r.name, Bytes: message, Note: note}, transport.Unknown)
}

// flush reports the pending invalid lines.
func (a *atlasReading) flush() bool {
	n := a.strange
	if n == 0 {
		return true
	}
	a.strange = 0
	a.l.record()
	if n == 1 {
		return a.l.problem(schema.Both, time.Time{}, nil, a.from, "line %d is not a row of the log", a.line1)
	}
	return a.l.problem(schema.Both, time.Time{}, nil, a.from, "line %d and %d more are not rows of the log", a.line1, n-1)
}
