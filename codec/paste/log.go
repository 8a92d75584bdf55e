package paste

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"wirebench/codec/scan"
	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// The log of the TERA proxy's debug module (tera-mods/debug): for each packet a line with time of day, arrow and name, a line of hex whose
// first four bytes (length and opcode) are separated, a line of JSON if a definition is known, and a rule.
//
//	[23:59:50.380] -> C_CHECK_VERSION.1
//	1400bc4d 0100080008000000ca05d4f6ffffffff
//	{"version":[{"index":-153877046,"value":-1}]}
//	------------------------------
//
// "<" is from the server, ">" from the client. The other half of the arrow: "-" real, "*" fake, "X" silenced. A packet without a
// name in the map has its opcode instead. There is no date; the time of day wraps at midnight.

// isTeraLog recognises the log by its first lines. A part of a log may start inside a record.
func isTeraLog(t *pasted) bool {
	for l := range t.head(50) {
		if _, ok := readLogHeader(strings.TrimSpace(l.text)); ok {
			return true
		}
	}
	return false
}

// readTeraLog reads the form "tera-log". A damaged record is skipped with a note.
func readTeraLog(t *pasted) (*builder, *Error) {
	g := logReader{t: t, b: &builder{form: formTeraLog, why: "lines with a time of day in brackets, an arrow and a message name, each with hex below"}}
	e := t.each(g.take)
	if g.state == logHex {
		g.b.note(g.header.off, "the log ends before the hex of this record")
	}
	return g.b.whole(e, "the text has no complete record of a proxy log")
}

type logState uint8

const (
	logBetween logState = iota // before the first record, or after a damaged one
	logHex                     // after a header: hex is required
	logBody                    // after the hex: JSON, a rule or the next header
)

type logReader struct {
	t      *pasted
	b      *builder
	state  logState
	header logHeader
	clock  time.Duration // of the last record, within its day
	day    time.Duration // midnights passed, as a duration
	lost   bool          // a note about skipped lines was added since the last record
}

// logHeader is the first line of a record.
type logHeader struct {
	m    Message
	code int // opcode in place of a name, or -1
	off  int
}

// logHeaderForm is the form of "[HH:MM:SS.mmm] <- NAME.VERSION (bad def)".
var logHeaderForm = regexp.MustCompile(`^\[([^\]]{1,22})\]\s*(?:<([-*Xx])|([-*Xx])>)\s+(\S+?)(?:\.(\d+))?\s*(\(bad def\))?$`)

// readLogHeader reads the first line of a record.
func readLogHeader(s string) (h logHeader, ok bool) {
	if !strings.HasPrefix(s, "[") || len(s) > maxWords {
		return h, false
	}
	part := logHeaderForm.FindStringSubmatch(s)
	if part == nil {
		return h, false
	}
	clock, ok := scan.ParseClock(part[1])
	h.code = -1
	h.m = Message{Dir: schema.ToServer, Time: scan.Stamp{Kind: scan.OfDay, Since: clock}, Name: part[4]}
	if part[2] != "" {
		h.m.Dir = schema.ToClient
	}
	h.m.Marks = map[string]transport.Marks{"*": transport.Fake, "X": transport.Silenced, "x": transport.Silenced}[part[2]+part[3]]
	if part[6] != "" {
		h.m.Marks |= transport.BadDef
	}
	if code, err := strconv.Atoi(part[4]); err == nil && part[5] == "" {
		h.code, h.m.Name = code, ""
		ok = ok && code >= 0
	}
	h.m.Version, _ = strconv.Atoi(part[5])
	return h, ok
}

func (g *logReader) take(l line) *Error {
	s := strings.TrimSpace(l.text)
	h, ok := readLogHeader(s)
	switch {
	case s == "":
	case ok:
		if g.state == logHex {
			g.b.note(g.header.off, "this record has no hex and was skipped")
		}
		h.off = l.off
		g.header, g.state, g.lost = h, logHex, false
	case g.state == logHex:
		return g.hex(l)
	case strings.Trim(s, "-") == "":
		g.state = logBetween
	case g.state == logBetween && !g.lost:
		g.lost = true
		g.b.note(l.off, "this line belongs to no record and was skipped")
	}
	return nil
}

// hex reads the bytes of a record.
func (g *logReader) hex(l line) *Error {
	g.state = logBody
	start, odd := len(g.b.out), false
	var bad *Error
	if i := strings.IndexFunc(l.text, func(r rune) bool { return r >= 0x80 || !scan.IsHex(byte(r)) && !scan.IsSpace(byte(r)) }); i >= 0 {
		bad = errFound(g.t, l.off+i, "hex digits")
	} else if g.b.out, odd = appendDigits(g.b.out, l.text); odd {
		bad = errOdd(l.off+len(l.text)-1, hexAmong(l.text), "# hex digits")
	}
	if bad != nil {
		g.b.out = g.b.out[:start]
		g.state, g.lost = logBetween, true
		g.b.note(bad.off, "this record was skipped: %s", bad.Message)
		return nil
	}
	m := g.header.m
	m.Time.Since = g.pass(m.Time.Since)
	if data := g.b.out[start:]; g.header.code >= 0 && len(data) >= 4 {
		if code := int(data[2]) | int(data[3])<<8; code != g.header.code {
			g.b.note(l.off, "the header names opcode %d, the bytes have %d", g.header.code, code)
		}
	}
	return g.b.add(m, start, g.header.off)
}

// pass converts a time of day to a time since the first midnight of the log. Times may decrease slightly if records of both directions were
// written out of order; only a decrease of more than half a day is a midnight.
func (g *logReader) pass(clock time.Duration) time.Duration {
	const day = 24 * time.Hour
	if len(g.b.msgs) > 0 {
		switch step := clock - g.clock; {
		case step < -day/2:
			g.day += day
		case step > day/2 && g.day > 0: // a late record from before midnight
			return g.day - day + clock
		}
	}
	g.clock = clock
	return g.day + clock
}
