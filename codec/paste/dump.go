package paste

import (
	"fmt"
	"slices"
	"strings"

	"wirebench/codec/scan"
)

// dumpReader returns the reader of one form of dumps: the first of its shapes that reads the text without an error.
func dumpReader(form string) reader {
	return func(t *pasted) (*builder, *Error) {
		d, e := readDump(t, form)
		if d != nil {
			return d.b, nil
		}
		if e == nil {
			e = errWhole("no line of the text is a line of this form")
		}
		return nil, e
	}
}

// tryDump recognises and reads dumps.
func tryDump(t *pasted) (*builder, *Error) {
	d, e := readDump(t, "")
	if d == nil {
		return nil, e
	}
	d.b.form, d.b.why = d.formID(), d.reason()
	if d.boxed {
		d.b.title = "Dump in a box"
		d.b.why += ", in a drawn box"
	}
	return d.b, nil
}

// readDump reads the text in each of the shapes that its lines show, or those that can be of a form. Of those that read it, it takes the
// first one whose text column agrees best with the bytes. Without a form a shape must have some evidence, and a shape that fails in the
// middle is still chosen if no other explains as much.
func readDump(t *pasted, form string) (*dumper, *Error) {
	shapes := shapesOf(t)
	if form != "" {
		shapes = slices.DeleteFunc(shapes, func(s shape) bool { return !slices.Contains(s.forms(), form) })
		slices.SortStableFunc(shapes, func(a, b shape) int {
			return min(slices.Index(a.forms(), form), 1) - min(slices.Index(b.forms(), form), 1)
		})
	}
	var best *dumper
	var fail *Error
	failed := 0 // evidence for the shape of fail
	for i := range shapes {
		d := &dumper{t: t, shape: &shapes[i], b: &builder{}, chosen: form != ""}
		if e := d.read(); e != nil {
			if (d.sure() || d.chosen) && (fail == nil || e.off > fail.off) {
				fail, failed = e.as(max(e.strength, likely)), d.supports()
				if fail.Form = d.formID(); !d.sure() {
					failed = -1
				}
				if failed > 0 {
					fail.strength = certain
				}
			}
			continue
		}
		if d.lines == 0 || !d.chosen && !d.sure() {
			continue
		}
		if best == nil || d.better(best) {
			best = d
		}
		if best.misfits == 0 && best.others == 0 && best.sure() {
			break
		}
	}
	if best == nil || fail != nil && best.others+best.misfits > 0 && failed >= best.supports() {
		return nil, fail
	}
	if best.repeats || best.shape.cells {
		best = best.otherBase(shapes)
	}
	if best.misfits > 0 {
		best.b.note(best.misfitAt, "the text column does not agree with the hex; the hex counts")
	}
	return best, nil
}

// dumper reads a text in one shape.
type dumper struct {
	t      *pasted
	shape  *shape
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
	parted   bool   // a line that is not of the dump was read since the last data
	spare    int    // of the last line
	evidence
}

// evidence is what the lines show of a shape.
type evidence struct {
	lines      int // of data
	others     int // not blank and not part of the dump
	continued  int // lines and final offsets that continue the previous line
	jumps      int
	texts      int // lines with a text column, of which fits agree with the bytes, and dots show nothing
	fits, dots int
	misfits    int
	misfitAt   int
	lastMisfit bool
	lastText   string
	bars       int // texts between bars
	angles     int
	dashes     int
	letters    int  // cells of characters
	intros     int  // messages with an intro
	digits     int  // of the first offset, with its marks
	zeroBase   bool // all messages start at offset 0
	repeats    bool
	padded     bool // a line is shorter than the previous ones and padded with spaces
	unpadded   bool // such a line is not padded
	marked     bool // the first offset has 0x before it
	ticked     bool // WinDbg's mark is in it
	boxed      bool
}

// supports returns the number of lines that support the shape: by a consecutive offset, or by a text column that agrees.
func (d *dumper) supports() int { return d.continued + d.fits }

// better reports whether d explains more of the text than other.
func (d *dumper) better(other *dumper) bool {
	if d.chosen && d.sure() != other.sure() {
		return d.sure()
	}
	return d.others < other.others || d.others == other.others && d.misfits < other.misfits
}

// sure reports whether there is enough evidence that the text is a dump of this shape.
func (d *dumper) sure() bool {
	x := d.shape
	switch {
	case d.lines == 0 || d.others > d.lines && d.fits+d.dots < d.lines && d.continued < 2 || d.jumps > d.continued:
		return false
	case x.cells:
		return d.letters > 0 && d.zeroBase // od -tu1 has the same columns
	case x.offsets == none && x.unit == unitByte:
		return d.texts == d.lines && (d.bars+d.angles == d.lines || d.fits+d.dots == d.lines && d.misfits == 0)
	case x.offsets == none:
		return d.texts == d.lines && d.angles > 0 || x.digits == tickedDigits
	case x.offsets == address && !d.ticked && d.dashes == 0 && x.digits < 8:
		return false
	case d.continued > 0 || d.fits > 0:
		return true
	case x.form == formGDB:
		return true
	case x.offsets == colon:
		return d.digits > 6 || d.zeroBase && d.digits > 4
	case x.offsets == address:
		return d.ticked || d.dashes > 0
	}
	return d.bars+d.angles > 0 || d.zeroBase && d.digits >= 4 && d.digits != x.digits && (x.digits == 2 || d.digits == 7 && x.digits > 0)
}

// otherBase decides whether offsets are octal, decimal or hex if only "*" lines are between them, or spaces, so that several readings are
// consistent. hexdump pads a short line with spaces and od does not; that decides, and a note reports it.
func (d *dumper) otherBase(shapes []shape) *dumper {
	if (d.padded || d.bars > 0) && d.shape.base == 16 {
		return d
	}
	for i := range shapes {
		x := &shapes[i]
		if x.unit != d.shape.unit || x.offsets != d.shape.offsets || x.base == d.shape.base || x.base == 16 && x.digits == 2 || x.base != 16 && !x.padded {
			continue // od's offsets have seven digits, and six if they are hex
		}
		o := &dumper{t: d.t, shape: x, b: &builder{}, chosen: d.chosen}
		if e := o.read(); e != nil || !o.sure() || d.better(o) || len(o.b.out) == len(d.b.out) {
			continue
		}
		chosen, left := d, o
		if d.unpadded && d.shape.base == 16 && !d.shape.cells {
			chosen, left = o, d
		}
		note := fmt.Sprintf("the offsets also read as %s, which makes %d bytes instead of %d", left.shape.baseName(), len(left.b.out), len(chosen.b.out))
		if f := left.formID(); f != chosen.formID() {
			note += fmt.Sprintf("; if so, choose the form %q", f)
		}
		chosen.b.note(chosen.b.first, "%s", note)
		return chosen
	}
	return d
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
	if !d.shape.cells {
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
	d.line.parse(d.shape, s, at, d.width)
	if d.line.kind == lineOther || d.line.kind == lineBad {
		if in, rest := readIntro(s, at); in.set {
			if rest == len(s) {
				d.intro = in
				return nil
			}
			kind := d.line.kind
			d.line.parse(d.shape, s, rest, d.width)
			if d.line.kind == lineData {
				d.intro = in
			} else if d.line.kind = lineOther; kind == lineBad {
				d.line.parse(d.shape, s, at, d.width)
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
	if d.b.open && d.line.bad > 0 && d.starAt < 0 && d.line.offset == d.offset+uint64(d.lastLen()) && d.shape.offsets != none {
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
	if d.shape.offsets == none {
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
	switch d.line.border {
	case '|':
		d.bars++
	case '>':
		d.angles++
	}
	switch text := d.line.text; {
	case text == "" && d.line.border == 0:
	case onlyDots(text) && len(text) == len(d.line.data):
		d.texts++
		d.dots++
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
		o := &d.line.start
		d.digits, d.marked, d.ticked = o.end, o.hex, strings.Contains(o.digits, "`")
	}
}

// follow compares the offset of a line with the previous line. It reports whether the line begins another message.
func (d *dumper) follow(at int) (begins bool, _ *Error) {
	switch ok, e := d.reach(at); {
	case ok || e != nil:
		d.width = max(d.width, d.lastLen())
		return false, e
	case d.line.offset == 0:
		return true, nil
	case d.starAt >= 0:
		return false, errAt(at, "the lines that \"*\" stands for do not lead to this offset")
	case d.base != 0:
		d.jumps++
		d.b.note(at, "the offset does not continue from the line before (%#x was expected): read as another message", d.offset+uint64(d.lastLen()))
		return true, nil
	}
	return false, d.errOffset(at, "offset")
}

// reach reports whether the lines lead to the offset of this line, perhaps with repeated lines before it, or without what was read of the
// text column.
func (d *dumper) reach(at int) (ok bool, _ *Error) {
	passed, n := d.line.offset-d.offset, uint64(d.lastLen())
	switch {
	case d.starAt >= 0:
		if d.line.offset < d.offset || passed < n || (passed-n)%n != 0 {
			return false, nil
		}
		if e := d.repeat(passed-n, at); e != nil {
			return false, e
		}
	case passed == n, passed > n && d.pad(passed-n), d.line.offset > 0 && passed < n && d.cutLast(int(passed)):
	default:
		return false, nil
	}
	d.continued++
	return true, nil
}

func (d *dumper) errOffset(at int, what string) *Error {
	found, want := d.offsetText(d.line.offset), d.offsetText(d.offset+uint64(d.lastLen()))
	e := errAt(at, "the %s is %s, but the lines before lead to %s", what, found, want)
	e.Found, e.Want = found, want
	return e
}

// offsetText formats an offset as the dump does.
func (d *dumper) offsetText(v uint64) string {
	switch d.shape.base {
	case 8:
		return fmt.Sprintf("%07o", v)
	case 10:
		return fmt.Sprintf("%07d", v)
	}
	return fmt.Sprintf("%04x", v)
}

// pad appends the spaces at the end of the last line that the next offset shows to be bytes; they may be lost, or be padding. ok is false
// if they do not explain n bytes.
func (d *dumper) pad(n uint64) bool {
	if !d.shape.cells || d.starAt >= 0 || n > uint64(d.spare) {
		return false
	}
	d.b.out = append(d.b.out, strings.Repeat(" ", int(n))...)
	return true
}

// cutLast truncates the last line to n bytes if the rest can be its text column.
func (d *dumper) cutLast(n int) bool {
	again := dumpLine{}
	again.parse(d.shape, d.lastLine.text, skipSpaces(d.lastLine.text, 0), d.width)
	if again.kind != lineData || !again.cut(d.lastLine.text, n) {
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
	case d.shape.offsets == none:
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
		if d.line.offset != 0 || d.lines == 0 {
			d.other(at, l.text[d.line.at:])
			return nil
		}
		return d.b.add(Message{}, len(d.b.out), at) // an empty input
	}
	ok, e := d.reach(at)
	if e != nil {
		return e
	}
	if n := uint64(d.lastLen()); !ok {
		more := d.offset + n - d.line.offset // of the last word, which is padded with zeros
		if more == 0 || more > n || more >= uint64(d.shape.bytes) {
			return d.errOffset(at, "final offset")
		}
		d.b.out = d.b.out[:len(d.b.out)-int(more)]
		if d.lastMisfit && textFits(d.b.out[d.last:], d.lastText) {
			d.misfits--
		}
		d.continued++
	}
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
	if d.shape.bytes > 1 && d.shape.offsets == plain {
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
