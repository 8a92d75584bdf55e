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
// A line with JSON has no bytes, and neither the definition nor its version is known. So it becomes a problem without bytes.
//
// Assumptions, as the format is not documented: a code is decimal, or hex with 0x; the hex starts with the message header if length and
// code match, else the header is added and the frame's note says so.

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
	base, digits := 10, parts[2]
	if rest, is := strings.CutPrefix(strings.ToLower(digits), "0x"); is {
		base, digits = 16, rest
	}
	code, err := strconv.ParseUint(digits, base, 16)
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
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
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
	if bytes.HasPrefix(l.in.Peek(3), []byte("\xef\xbb\xbf")) {
		l.in.Skip(3)
	}
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
	buf     []byte
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
	payload, err := hex.DecodeString(text)
	if err != nil && strings.ContainsAny(text, " \t") {
		payload, err = hex.DecodeString(strings.NewReplacer(" ", "", "\t", "").Replace(text))
	}
	if err != nil {
		return l.problem(r.dir, r.at, nil, from, "%s", transport.Join(note, "the bytes of "+who+" are incomplete: "+hexWrong(text)))
	}
	message := payload
	if !hasHeader(payload, r.code) {
		var ok bool
		if message, ok = teraMessage(a.buf, r.code, payload); !ok {
			return l.problem(r.dir, r.at, payload, from, "%s", transport.Join(note, fmt.Sprintf("%s has %d bytes, too many for a message with its header", who, len(payload))))
		}
		a.buf = message
		note = transport.Join(note, "header added: the log has none")
	}
	return l.give(transport.Frame{Dir: r.dir, At: r.at, Name: r.name, Bytes: message, Note: note}, transport.Unknown)
}

// hexWrong describes the mistake in hex digits.
func hexWrong(text string) string {
	digits := 0
	for i := range len(text) {
		switch {
		case scan.HexValue[text[i]] != scan.NotHex:
			digits++
		case !scan.IsSpace(text[i]):
			return fmt.Sprintf("%q is not a hex digit", text[i])
		}
	}
	return fmt.Sprintf("%d hex digits", digits)
}

func hasHeader(b []byte, code uint16) bool {
	return len(b) >= 4 && int(binary.LittleEndian.Uint16(b)) == len(b) && binary.LittleEndian.Uint16(b[2:]) == code
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
