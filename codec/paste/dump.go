package paste

import (
	"fmt"
	"slices"
	"strings"

	"wirebench/codec/scan"
)

// dumper reads a text in one style.
type dumper struct {
	t      *pasted
	style  *dumpStyle
	b      *builder
	chosen bool // the user chose the form

	line     dumpLine
	base     uint64 // the first offset of the message that is read
	offset   uint64 // of its last line
	last     int    // start of the last line's bytes in b.out
	lastLine line   // as in the text
	starAt   int    // position of a "*" before the next offset, or -1
	width    int    // bytes of a full line, 0 if not known
	intro    intro  // introduction of the next message
	said     intro  // introduction of the current one

	lines      int // of data
	others     int // not blank and not part of the dump
	continued  int // lines and final offsets that continue the previous line
	jumps      int
	fits       int // lines whose text column agrees with the bytes
	misfits    int
	misfitAt   int
	lastMisfit bool
	texts      int // lines with a text column
	dashes     int
	zeroBase   bool // all messages start at offset 0
	digits     int  // of the first offset
	intros     int  // messages with an intro
	repeats    bool
	padded     bool // a line is shorter than the previous ones and padded with spaces
	unpadded   bool // such a line is not padded
	lastText   string
	marked     bool // the first offset has 0x before it
	longGap    bool // WinDbg's mark in the offset

	parted  bool // a line that is not of the dump was read since the last data
	boxed   bool
	dots    int // lines with a text column of dots
	letters int // cells of characters
	spare   int // of the last line
}

func (d *dumper) read() *Error {
	d.starAt, d.zeroBase = -1, true
	off := 0
	for {
		l, after, ok := d.t.next(off)
		if !ok {
			break
		}
		if e := d.take(l); e != nil {
			return e
		}
		if !d.chosen && (d.others > 2*d.lines+100 || d.jumps > d.continued+20) {
			d.lines = 0
			return nil
		}
		off = after
	}
	d.b.leaveLabel(len(d.b.label))
	return d.close()
}

// take reads one line of the text.
func (d *dumper) take(l line) (fail *Error) {
	s := l.text
	if d.style.unit != unitChars {
		s = strings.TrimRight(s, " \t")
	}
	at := skipSpaces(s, 0)
	if at == len(s) {
		return nil
	}
	if s[at] == '*' && strings.TrimSpace(s) == "*" {
		return d.star(l.off + at)
	}
	if len(s) > maxDumpLine {
		d.other(l.off+at, s[at:])
		return nil
	}
	if isRule(s) || s[at] > '9' && isHeading(s) {
		d.parted = true
		return nil
	}
	if row, ok := unbox(s); ok {
		if isHeading(s) {
			return nil
		}
		s, at, d.boxed = row, 0, true
		defer func() {
			if fail != nil && fail.off > l.off+len(l.text) {
				fail.off = l.off
			}
		}()
	}
	d.line.parse(d.style, s, at, d.width)
	if d.line.kind == lineOther || d.line.kind == lineBad {
		if in, rest := readIntro(s, at); in.set {
			if rest == len(s) {
				d.intro = in
				return nil
			}
			kind := d.line.kind
			d.line.parse(d.style, s, rest, d.width)
			if d.line.kind == lineData {
				d.intro = in
			} else if d.line.kind = lineOther; kind == lineBad {
				d.line.parse(d.style, s, at, d.width)
			}
		}
	}
	switch d.line.kind {
	case lineData:
		return d.data(line{s, l.off})
	case lineOffset:
		return d.end(line{s, l.off})
	case lineBad:
		return errFound(d.t, l.off+d.line.bad, d.line.want)
	}
	if d.b.open && d.line.bad > 0 && d.starAt < 0 && d.line.offset == d.offset+uint64(d.lastLen()) && d.style.offset != offsetNone {
		return errFound(d.t, l.off+d.line.bad, d.line.want)
	}
	d.line.bad = 0
	d.other(l.off+at, s[at:])
	return nil
}

// other skips a line that is not part of the dump.
func (d *dumper) other(off int, s string) {
	if s[0] == '#' || s[0] == '$' || strings.HasPrefix(s, "(gdb)") || strings.HasPrefix(s, "(lldb)") || strings.HasPrefix(s, "0:0") {
		return // comments and prompts
	}
	d.others++
	d.parted = true
	d.b.addLabel(line{s, off}, maxLabel)
}

// maxLabel is the number of lines before a message that can tell about it.
const maxLabel = 6

func (d *dumper) lastLen() int { return len(d.b.out) - d.last }

// data handles a parsed line with its bytes.
func (d *dumper) data(l line) *Error {
	at := l.off + d.line.at
	if d.style.offset == offsetNone {
		// Without offsets every line continues the previous one, until another line parts them.
		if d.b.open && d.parted {
			if e := d.close(); e != nil {
				return e
			}
		}
		d.line.offset = d.offset + uint64(d.lastLen())
		if !d.b.open {
			d.line.offset = 0
		}
	}
	if d.b.open {
		begins, e := d.follow(at)
		if e != nil {
			return e
		}
		if begins {
			if e := d.close(); e != nil {
				return e
			}
		}
	}
	if !d.b.open {
		d.begin(at)
	}
	d.b.leaveLabel(len(d.b.label))
	d.parted = false
	d.offset, d.last, d.lastLine = d.line.offset, len(d.b.out), l
	d.b.out = append(d.b.out, d.line.data...)
	d.lines++
	d.letters += d.line.letters
	d.spare = d.line.spare
	if d.line.dashed {
		d.dashes++
	}
	d.lastMisfit, d.lastText = false, d.line.text
	if end := l.off + len(l.text); len(d.line.data) < d.width && end < len(d.t.s) {
		d.padded = d.padded || scan.IsSpace(d.t.s[end])
		d.unpadded = d.unpadded || !scan.IsSpace(d.t.s[end])
	}
	switch {
	case !d.line.hasText, onlyDots(d.line.text) && len(d.line.text) == len(d.line.data):
		d.texts += min(1, len(d.line.text))
		d.dots += min(1, len(d.line.text))
	case textFits(d.line.data, d.line.text):
		d.texts++
		d.fits++
	default:
		d.texts++
		if d.misfits++; d.misfits == 1 {
			d.misfitAt = at
		}
		d.lastMisfit = true
	}
	return nil
}

func (d *dumper) begin(at int) {
	d.base, d.said, d.intro = d.line.offset, d.intro, intro{}
	_ = d.b.begin(Message{Dir: d.said.dir, Time: d.said.time}, at) // none is open
	if len(d.b.label) > 0 {
		readAround(d.b.takeLabel(), &d.b.m)
	}
	d.zeroBase = d.zeroBase && d.base == 0
	if d.lines == 0 {
		d.digits = d.line.digits
		offset := d.line.written
		d.marked = strings.HasPrefix(offset, "0x")
		d.longGap = strings.Contains(offset, "`")
	}
}

// follow compares the offset of a line with the previous line. It reports whether the line begins another message.
func (d *dumper) follow(at int) (begins bool, _ *Error) {
	passed, n := d.line.offset-d.offset, uint64(d.lastLen())
	switch {
	case d.starAt >= 0:
		extra := passed - n
		if d.line.offset < d.offset || passed < n || extra%n != 0 {
			if d.line.offset == 0 {
				return true, nil
			}
			return false, errAt(at, "the lines that \"*\" stands for do not lead to this offset")
		}
		d.continued++
		return false, d.repeat(extra, at)
	case passed == n, passed > n && d.pad(passed-n):
		d.continued++
		d.width = max(d.width, int(passed))
		return false, nil
	case d.line.offset == 0:
		return true, nil
	case passed < n && d.cutLast(int(passed)):
		d.continued++
		d.width = max(d.width, int(passed))
		return false, nil
	case d.base != 0:
		d.jumps++
		d.b.note(at, "the offset does not continue from the line before (%#x was expected): read as another message", d.offset+n)
		return true, nil
	}
	e := errAt(at, "the offset is %s, but the lines before lead to %s", d.offsetText(d.line.offset), d.offsetText(d.offset+n))
	e.Found, e.Want = d.offsetText(d.line.offset), d.offsetText(d.offset+n)
	return false, e
}

// offsetText formats an offset in this style.
func (d *dumper) offsetText(v uint64) string {
	switch d.style.offset.String() {
	case "octal":
		return fmt.Sprintf("%07o", v)
	case "decimal":
		return fmt.Sprintf("%07d", v)
	}
	return fmt.Sprintf("%04x", v)
}

// cutLast truncates the last line to n bytes if the rest can be its text column.
func (d *dumper) cutLast(n int) bool {
	again := dumpLine{}
	again.parse(d.style, d.lastLine.text, skipSpaces(d.lastLine.text, 0), d.width)
	if again.kind != lineData || again.cut(d.lastLine.text, n) == 0 {
		return false
	}
	if d.lastMisfit {
		d.misfits--
	}
	d.fits++
	d.lastMisfit = false
	d.b.out = d.b.out[:d.last+n]
	return true
}

// repeat appends n bytes as copies of the last line.
func (d *dumper) repeat(n uint64, at int) *Error {
	d.starAt = -1
	d.repeats = true
	if e := d.b.room(n, at); e != nil {
		return e
	}
	d.width = max(d.width, d.lastLen())
	from := len(d.b.out)
	d.b.out = slices.Grow(d.b.out, int(n))[:from+int(n)]
	for from < len(d.b.out) { // double each time: the copied bytes have the same period
		from += copy(d.b.out[from:], d.b.out[d.last:from])
	}
	return nil
}

func (d *dumper) star(at int) *Error {
	switch {
	case !d.b.open, d.lastLen() == 0:
		d.other(at, "*")
	case d.style.offset == offsetNone:
		return errAt(at, "without offsets the number of lines that \"*\" stands for is unknown")
	default:
		d.starAt = at
	}
	return nil
}

// end handles a line of an offset only: the length of the message, which hexdump and od write as the last line.
func (d *dumper) end(l line) *Error {
	at := l.off + d.line.at
	if !d.b.open {
		if d.line.offset != 0 || d.style.offset == offsetNone || d.lines == 0 {
			d.other(at, l.text[d.line.at:])
			return nil
		}
		return d.b.add(Message{}, len(d.b.out), at) // an empty input
	}
	passed, n := d.line.offset-d.offset, uint64(d.lastLen())
	switch {
	case d.style.offset == offsetNone:
		d.other(at, l.text)
		return nil
	case d.starAt >= 0 && d.line.offset >= d.offset && passed >= n && (passed-n)%n == 0: // no program omits a part of a line
		if e := d.repeat(passed-n, at); e != nil {
			return e
		}
	case passed == n, passed > n && d.pad(passed-n):
	case passed < n && n-passed < uint64(d.style.unit.bytes):
		d.b.out = d.b.out[:len(d.b.out)-int(n-passed)] // the last word is padded with zeros
		if d.lastMisfit && textFits(d.b.out[d.last:], d.lastText) {
			d.misfits--
		}
	case passed < n && d.cutLast(int(passed)):
	default:
		e := errAt(at, "the final offset is %s, but the lines before lead to %s", d.offsetText(d.line.offset), d.offsetText(d.offset+n))
		e.Found, e.Want = d.offsetText(d.line.offset), d.offsetText(d.offset+n)
		return e
	}
	d.continued++
	d.starAt = -1
	return d.add()
}

// close ends the message at the end of the dump.
func (d *dumper) close() *Error {
	if !d.b.open {
		return nil
	}
	if d.starAt >= 0 {
		d.b.note(d.starAt, "no offset follows \"*\", so the number of lines that it stands for is unknown; none were added")
		d.starAt = -1
	}
	// No offset gives the end of the last line: units beyond the usual width are text that looks like hex.
	usual := d.width
	if usual == 0 {
		usual = 16
	}
	if d.lastLen() > usual {
		d.cutLast(usual)
	}
	if d.style.unit.bytes > 1 && d.style.offset != offsetWindbg && d.style.offset != offsetGdb && d.style.offset != offsetNone {
		d.b.note(d.lastLine.off, "no final offset tells the length: the last word may end with padding")
	}
	return d.add()
}

// add adds the open message.
func (d *dumper) add() *Error {
	if d.said.set {
		d.intros++
	}
	return d.b.end()
}
