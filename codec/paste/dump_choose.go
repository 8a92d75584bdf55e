package paste

import (
	"bytes"
	"fmt"
	"strings"
)

// dumpReader returns the reader of one form of dumps: the first of its styles that reads the text without an error.
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

// tryDump recognises and reads dumps with offsets.
func tryDump(t *pasted) (*builder, *Error) {
	if !dumpLike(t) {
		return nil, nil
	}
	d, e := readDump(t, "")
	if d == nil {
		return nil, e
	}
	d.b.form, d.b.why = d.formID(), d.reason()
	if d.boxed {
		d.b.title = "Dump in a box"
		d.b.why += ", in a drawn box"
	}
	if d.b.form != d.style.form { // only if the text is evidence for that form, too
		if o, _ := readDump(t, d.b.form); o == nil || !bytes.Equal(o.b.out, d.b.out) || len(o.b.places) != len(d.b.places) {
			d.b.form = d.style.form
		}
	}
	return d.b, nil
}

// dumpLike reports whether any of the first lines can be of a dump: a first word of at least three characters with more after it, or a text
// column. It saves trying all styles on plain hex.
func dumpLike(t *pasted) bool {
	found, n := false, 0
	t.lines(func(l line) bool {
		s := strings.TrimSpace(l.text)
		if s == "" || len(s) > maxDumpLine {
			n++
			return n < 200
		}
		_, rest := readIntro(s, 0)
		word, rest := wordAt(s, rest)
		found = len(word) >= 3 && rest < len(s) && len(word) < 200 || len(word) < 3 && (strings.ContainsAny(s, "|>`") || textAfter(s)) || barAt(s) > 0
		n++
		return !found && n < 200
	})
	return found
}

// textAfter reports whether a line of bytes ends with a column of something else.
func textAfter(s string) bool {
	at := strings.LastIndex(s, "  ")
	return at > 0 && pairs(s[:2]) > 0 && pairs(s[at:]) == 0
}

// readDump tries the styles of a form, or all if form is "". Of those that read the text it takes the first whose text column agrees best
// with the bytes. Without a form a style must have some evidence, and a style that fails in the middle is still chosen if no other explains
// as much.
func readDump(t *pasted, form string) (*dumper, *Error) {
	var best *dumper
	var fail *Error
	failed := 0 // evidence for the style of fail
	for i := range dumpStyles {
		style := &dumpStyles[i]
		if form != "" && style.form != form {
			continue
		}
		d := &dumper{t: t, style: style, b: &builder{}, chosen: form != ""}
		e := d.read()
		if e != nil {
			if (d.sure() || d.chosen) && (fail == nil || e.off > fail.off) {
				fail, failed = e.as(max(e.strength, likely)), d.evidence()
				fail.Form = style.form
				if !d.sure() {
					failed = -1
				}
				if failed > 0 {
					fail.strength = certain
				}
			}
			continue
		}
		if d.lines == 0 || form == "" && !d.sure() {
			continue
		}
		if best == nil || d.better(best) {
			best = d
		}
		if best.misfits == 0 && best.others == 0 && best.sure() {
			break
		}
	}
	if best == nil || fail != nil && best.others+best.misfits > 0 && failed >= best.evidence() {
		return nil, fail
	}
	if best.repeats || best.style.unit == unitChars {
		best = best.otherBase(form)
	}
	best.noteMisfit()
	return best, nil
}

// evidence returns the number of lines that support the style: by a consecutive offset, or by a text column that agrees.
func (d *dumper) evidence() int { return d.continued + d.fits }

// better reports whether d explains more of the text than other.
func (d *dumper) better(other *dumper) bool {
	if d.chosen && d.sure() != other.sure() {
		return d.sure()
	}
	return d.others < other.others || d.others == other.others && d.misfits < other.misfits
}

// otherBase decides whether offsets are octal, decimal or hex if only "*" lines are between them, or spaces, so that several readings are
// consistent.
// hexdump pads a short line with spaces and od does not; that decides, and a note reports it.
func (d *dumper) otherBase(form string) *dumper {
	if d.padded && d.style.offset == offsetHex {
		return d
	}
	for i := range dumpStyles {
		style := &dumpStyles[i]
		if form != "" && style.form != form || style.unit != d.style.unit || style.offset == d.style.offset || style.offset > offsetDecimal {
			continue
		}
		if d.style.offset != offsetHex && style.offset == offsetHex && style.unit.digits == 2 {
			continue // od's hex offsets have six digits
		}
		o := &dumper{t: d.t, style: style, b: &builder{}, chosen: form != ""}
		if e := o.read(); e != nil || !o.sure() || d.better(o) || len(o.b.out) == len(d.b.out) {
			continue
		}
		chosen, left := d, o
		if d.style.text == textNone && d.unpadded {
			chosen, left = o, d
		}
		note := fmt.Sprintf("the offsets also read as %s, which makes %d bytes instead of %d", left.style.offset, len(left.b.out), len(chosen.b.out))
		if left.style.form != chosen.style.form {
			note += fmt.Sprintf("; if so, choose the form %q", left.style.form)
		}
		chosen.b.note(chosen.b.first, "%s", note)
		return chosen
	}
	return d
}

// sure reports whether there is enough evidence that the text is a dump of this style.
func (d *dumper) sure() bool {
	if d.lines == 0 || d.others > d.lines && d.fits+d.dots < d.lines && d.continued < 2 || d.jumps > d.continued {
		return false
	}
	if d.style.unit == unitChars {
		return d.letters > 0 && d.zeroBase // od -tu1 has the same columns
	}
	if d.style.form == formTextRows {
		return d.fits+d.dots == d.lines && d.misfits == 0
	}
	if d.style.text == textBars && d.texts == 0 {
		return false
	}
	if d.style.offset == offsetWindbg && !d.longGap && d.dashes == 0 && d.style.unit.digits < 8 {
		return false
	}
	if d.continued > 0 || d.fits > 0 {
		return d.style.offset != offsetNone || d.texts == d.lines || d.style.unit.tick
	}
	switch d.style.offset {
	case offsetColon, offsetColon10:
		return d.digits > 6 || d.zeroBase && d.digits > 4
	case offsetGdb, offsetGdbTab:
		return true
	case offsetWindbg:
		return d.longGap || d.dashes > 0
	case offsetNone:
		return d.texts == d.lines || d.style.unit.tick
	}
	if d.texts > 0 && d.style.text != textFree {
		return true
	}
	return d.zeroBase && d.digits >= 4 && d.digits != d.style.unit.digits && (d.style.unit.digits == 2 || d.digits == 7 && d.style.unit.digits > 0)
}

func (d *dumper) noteMisfit() {
	if d.misfits > 0 {
		d.b.note(d.misfitAt, "the text column does not agree with the hex; the hex counts")
	}
}

// formID returns the form to report: styles with the same grammar are distinguished by habits of their tools.
func (d *dumper) formID() string {
	switch f := d.style.form; {
	case f == formXXD && d.marked:
		return formGDB // lldb memory read
	case d.style.unit.digits != 2 || d.style.unit.base != 16 || f == formWinDbg || f == formGDB || d.style.offset == offsetNone:
		return f
	case d.intros > 0 && d.texts == 0, d.intros > 0 && d.style.text == textFree:
		return formText2pcap
	case f == formODtx1 && d.texts == 0 && d.digits < 6 && d.style.offset == offsetHex:
		return formWiresharkDump
	}
	return d.style.form
}

// reason returns the Why of a dump.
func (d *dumper) reason() string {
	var why []string
	switch d.style.offset {
	case offsetColon, offsetColon10:
		why = append(why, d.style.offset.String()+" offsets with a colon")
	case offsetWindbg:
		why = append(why, "addresses as WinDbg writes them")
	case offsetGdb, offsetGdbTab:
		why = append(why, "addresses as gdb writes them")
	case offsetNone:
		why = append(why, "units without offsets")
	default:
		why = append(why, d.style.offset.String()+" offsets")
	}
	if d.continued > 0 && d.style.offset != offsetNone {
		why[0] += " that match the bytes of the lines"
	}
	switch u := d.style.unit; {
	case u.little && u.digits == 0:
		why = append(why, "groups that agree with the text column only if reversed")
	case u.bytes > 1:
		why = append(why, fmt.Sprintf("little-endian words of %d bytes", u.bytes))
	case u.base != 16:
		why = append(why, u.describe()+" a byte")
	}
	switch {
	case d.texts > 0 && d.style.text == textBars:
		why = append(why, "text between bars")
	case d.texts > 0 && d.style.text == textAngle:
		why = append(why, "text between angle brackets")
	case d.fits > 0:
		why = append(why, "a text column that agrees with the bytes")
	}
	text := strings.Join(why, ", ")
	if d.intros > 0 {
		text += "; a packet marked I is from the server, O from the client"
	}
	if d.continued == 0 && d.fits == 0 && d.texts == 0 && d.style.text != textNone && d.style.offset == offsetHex {
		text += "; also reads as plain hex, an offset of zero decides"
	}
	return text
}
