package paste

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"wirebench/codec/scan"
)

// dumpReader returns the reader of one form of dumps: the first of its shapes that reads the text without an error.
func dumpReader(form string) reader {
	return func(t *pasted) (*builder, *Error) {
		d, e := readDump(t, form)
		if d == nil {
			return nil, cmp.Or(e, errWhole("no line of the text is a line of this form"))
		}
		return d.b, nil
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
			return cmp.Or(a.rank/100-b.rank/100, min(slices.Index(a.forms(), form), 1)-min(slices.Index(b.forms(), form), 1))
		})
	}
	var best *dumper
	var fail *Error
	failed := 0 // evidence for the shape of fail
	for i := range shapes {
		d := &dumper{t: t, shape: &shapes[i], b: &builder{}, chosen: form != ""}
		e := d.read()
		switch sure := d.sure(); {
		case !sure && !d.chosen || e == nil && d.lines == 0:
		case e == nil && (best == nil || d.better(best)):
			best = d
		case e != nil && (fail == nil || e.off > fail.off):
			fail, failed = e.as(max(e.strength, likely)), -1
			fail.Form = d.formID()
			if sure {
				failed = d.supports()
			}
			if failed > 0 {
				fail.strength = certain
			}
		}
		if best != nil && best.misfits == 0 && best.others == 0 && best.sure() {
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

	line, last dumpLine
	base       uint64 // the first offset of the message that is read
	start      int    // of the last line's bytes in b.out
	starAt     int    // position of a "*" before the next offset, or -1
	width      int    // bytes of a full line, 0 if not known
	intro      intro  // introduction of the next message
	parted     bool   // a line that is not of the dump was read since the last data
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
	bars       int    // texts between bars
	angles     int    // texts between angle brackets
	intros     int    // messages with an intro
	first      offset // of the dump
	zeroBase   bool   // all messages start at offset 0
	repeats    bool
	dashed     bool
	letters    bool // cells of characters
	padded     bool // a line is shorter than the previous ones and padded with spaces
	unpadded   bool // such a line is not padded
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
	x, digits := d.shape, d.first.end
	switch {
	case d.lines == 0 || d.others > d.lines && d.fits+d.dots < d.lines && d.continued < 2 || d.jumps > d.continued:
		return false
	case x.cells:
		return d.letters && d.zeroBase // od -tu1 has the same columns
	case x.offsets == none && x.unit == unitByte:
		return d.texts == d.lines && (d.bars+d.angles == d.lines || d.fits+d.dots == d.lines && d.misfits == 0)
	case x.offsets == none:
		return d.texts == d.lines && d.angles > 0 || x.digits == tickedDigits && len(d.b.out) > x.bytes
	case x.offsets == address && !d.first.ticked() && !d.dashed && x.digits < 8:
		return false
	case d.continued > 0 || d.fits > 0 || x.form == formGDB:
		return true
	case x.offsets == colon:
		return digits > 6 || d.zeroBase && digits > 4
	case x.offsets == address:
		return d.first.ticked() || d.dashed
	}
	return d.bars+d.angles > 0 || d.zeroBase && digits >= 4 && digits != x.digits && (x.digits == 2 || digits == 7 && x.digits > 0)
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
		if d.unpadded && d.shape.base == 16 && !d.shape.cells {
			d, o = o, d
		}
		note := fmt.Sprintf("the offsets also read as %s, which makes %d bytes instead of %d", o.shape.baseName(), len(o.b.out), len(d.b.out))
		if f := o.formID(); f != d.formID() {
			note += fmt.Sprintf("; if so, choose the form %q", f)
		}
		d.b.note(d.b.first, "%s", note)
		break
	}
	return d
}

// maxUnsure is the number of lines after which a shape whose evidence is on each line is given up without it.
const maxUnsure = 200

func (d *dumper) read() *Error {
	d.starAt, d.zeroBase = -1, true
	for l := range d.t.lines() {
		if e := d.take(l); e != nil {
			if e.off > l.off+len(l.text) { // of a row in a box
				e.off = l.off
			}
			d.commit()
			return e
		}
		if !d.chosen && (d.others > 2*d.lines+100 || d.jumps > d.continued+20 || d.lines == maxUnsure && d.shape.offsets&(address|none) != 0 && !d.sure()) {
			d.lines = 0
			return nil
		}
	}
	d.b.leaveLabel(len(d.b.label))
	return d.close()
}

// take reads one line of the text.
func (d *dumper) take(l line) *Error {
	s := l.text
	if !d.shape.cells {
		s = strings.TrimRight(s, " \t")
	}
	at := skipSpaces(s, 0)
	switch {
	case at == len(s):
		return nil
	case s[at] == '*' && strings.TrimSpace(s) == "*":
		return d.star(l.off + at)
	case len(s) > maxDumpLine:
		d.other(l.off+at, s[at:])
		return nil
	case isRule(s) || s[at] > '9' && isHeading(s):
		d.parted = true
		return nil
	}
	if row, ok := unbox(s); ok {
		if isHeading(s) {
			return nil
		}
		s, at, d.boxed = row, 0, true
	}
	d.line.parse(d.shape, s, at, d.width)
	if k := d.line.kind; k == lineOther || k == lineBad {
		if in, rest := readIntro(s, at); rest == len(s) {
			d.intro = in
			return nil
		} else if rest > at {
			if d.line.parse(d.shape, s, rest, d.width); d.line.kind == lineData {
				d.intro = in
			} else if d.line.kind = lineOther; k == lineBad {
				d.line.parse(d.shape, s, at, d.width)
			}
		}
	}
	switch k := d.line.kind; {
	case k == lineData:
		return d.data(l.off)
	case k == lineOffset:
		return d.end(l.off + d.line.at)
	case k == lineBad, d.b.open && d.line.bad > 0 && d.starAt < 0 && d.line.offset == d.next() && d.shape.offsets != none:
		return errFound(d.t, l.off+d.line.bad, d.line.want)
	}
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

// next returns the offset after the last line.
func (d *dumper) next() uint64 { return d.last.offset + uint64(len(d.last.data)) }

// data takes a line with its bytes, which starts at off. The next offset shows how many they are: then they are added.
func (d *dumper) data(off int) *Error {
	d.line.off = off
	if d.b.open {
		begins, e := d.follow(off + d.line.at)
		if begins {
			e = d.close()
		}
		if e != nil {
			return e
		}
	}
	if !d.b.open {
		d.begin(off + d.line.at)
	}
	d.b.leaveLabel(len(d.b.label))
	d.parted = false
	d.last, d.line = d.line, d.last
	return nil
}

func (d *dumper) begin(at int) {
	d.base = d.line.offset
	_ = d.b.begin(Message{Dir: d.intro.dir, Time: d.intro.time}, at) // none is open
	if d.intro != (intro{}) {
		d.intro = intro{}
		d.intros++
	}
	if len(d.b.label) > 0 {
		readAround(d.b.takeLabel(), &d.b.m)
	}
	d.zeroBase = d.zeroBase && d.base == 0
	if d.lines == 0 {
		d.first = d.line.start
	}
}

// commit adds the bytes of the last line, and what it shows.
func (d *dumper) commit() {
	l := &d.last
	if l.kind != lineData {
		return
	}
	l.kind = lineOther
	d.start = len(d.b.out)
	d.b.out = append(d.b.out, l.data...)
	d.lines++
	d.letters, d.dashed = d.letters || l.letters > 0, d.dashed || l.dashed
	if end := l.off + len(l.s); len(l.data) < d.width && end < len(d.t.s) {
		space := scan.IsSpace(d.t.s[end])
		d.padded, d.unpadded = d.padded || space, d.unpadded || !space
	}
	switch l.border {
	case '|':
		d.bars++
	case '>':
		d.angles++
	}
	d.shape.bordered = d.shape.bordered || l.border != 0
	if l.text == "" && l.border == 0 {
		return
	}
	switch d.texts++; {
	case onlyDots(l.text) && len(l.text) == len(l.data):
		d.dots++
	case l.fits:
		d.fits++
	default:
		if d.misfits++; d.misfits == 1 {
			d.misfitAt = l.off + l.at
		}
	}
}

// follow compares the offset of a line with the previous line. It reports whether the line begins another message. Without offsets every
// line continues the previous one, until another line parts them.
func (d *dumper) follow(at int) (begins bool, _ *Error) {
	if d.shape.offsets == none {
		if d.line.offset = 0; d.parted {
			return true, nil
		}
		d.line.offset = d.next()
		d.continued++
		d.commit()
		return false, nil
	}
	switch ok, e := d.reach(at); {
	case ok || e != nil:
		d.width = max(d.width, len(d.last.data))
		return false, e
	case d.line.offset == 0, d.line.offset == d.base && d.starAt < 0:
		return true, nil
	case d.starAt >= 0:
		return false, errAt(at, "the lines that \"*\" stands for do not lead to this offset")
	case d.base != 0:
		d.jumps++
		d.b.note(at, "the offset does not continue from the line before (%#x was expected): read as another message", d.next())
		return true, nil
	}
	return false, d.errOffset(at, "offset")
}

// reach reports whether the lines lead to the offset of this line: perhaps with repeated lines before it, without what was read of the text
// column, or with spaces at the end, which may be lost or be padding. Then it adds them.
func (d *dumper) reach(at int) (ok bool, _ *Error) {
	passed, n := d.line.offset-d.last.offset, uint64(len(d.last.data))
	switch {
	case d.starAt >= 0:
		if d.line.offset < d.last.offset || passed < n || (passed-n)%n != 0 {
			return false, nil
		}
		d.commit()
		if e := d.repeat(passed-n, at); e != nil {
			return false, e
		}
	case passed == n, d.line.offset > 0 && passed < n && d.last.cut(int(passed)):
	case d.shape.cells && passed > n && passed-n <= uint64(d.last.spare):
		d.last.data = append(d.last.data, strings.Repeat(" ", int(passed-n))...)
	default:
		return false, nil
	}
	d.commit()
	d.continued++
	return true, nil
}

func (d *dumper) errOffset(at int, what string) *Error {
	format := map[int]string{8: "%07o", 10: "%07d", 16: "%04x"}[d.shape.base] // as the dump does
	found, want := fmt.Sprintf(format, d.line.offset), fmt.Sprintf(format, d.next())
	e := errAt(at, "the %s is %s, but the lines before lead to %s", what, found, want)
	e.Found, e.Want = found, want
	return e
}

// repeat appends n bytes as copies of the last line.
func (d *dumper) repeat(n uint64, at int) *Error {
	d.starAt, d.repeats = -1, true
	if e := d.b.room(n, at); e != nil {
		return e
	}
	from := len(d.b.out)
	d.b.out = slices.Grow(d.b.out, int(n))[:from+int(n)]
	for from < len(d.b.out) { // double each time: the copied bytes have the same period
		from += copy(d.b.out[from:], d.b.out[d.start:from])
	}
	return nil
}

func (d *dumper) star(at int) *Error {
	switch {
	case !d.b.open, len(d.last.data) == 0:
		d.other(at, "*")
	case d.shape.offsets == none:
		return errAt(at, "without offsets the number of lines that \"*\" stands for is unknown")
	default:
		d.starAt = at
	}
	return nil
}

// end handles a line of an offset only: the length of the message, which hexdump and od write as the last line.
func (d *dumper) end(at int) *Error {
	if !d.b.open {
		if d.line.offset != 0 || d.lines == 0 {
			d.other(at, d.line.s[d.line.at:])
			return nil
		}
		return d.b.add(Message{}, len(d.b.out), at) // an empty input
	}
	ok, e := d.reach(at)
	if !ok && e == nil {
		n, more := len(d.last.data), d.next()-d.line.offset // of the last word, which is padded with zeros
		if more == 0 || more > uint64(n) || more >= uint64(d.shape.bytes) {
			return d.errOffset(at, "final offset")
		}
		d.last.data = d.last.data[:n-int(more)]
		d.last.fits = textFits(d.last.data, d.last.text)
		d.commit()
		d.continued++
	}
	if d.starAt = -1; e == nil {
		e = d.b.end()
	}
	return e
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
	if usual := cmp.Or(d.width, followWidth); d.last.kind == lineData && len(d.last.data) > usual {
		d.last.cut(usual)
	}
	d.commit()
	if d.shape.bytes > 1 && d.shape.offsets == plain {
		d.b.note(d.last.off, "no final offset tells the length: the last word may end with padding")
	}
	return d.b.end()
}
