package paste

import (
	"fmt"
	"strings"

	"wirebench/codec/scan"
)

// Error says why a pasted text cannot be read, and where.
type Error struct {
	Line    int    // 1-based; 0 if the error is about the text as a whole
	Column  int    // 1-based, in Unicode characters; 0 with Line 0
	Form    string // id of the form that was being read; "" if none was recognised
	Message string // what is wrong, without the place: lower case, no final stop
	Found   string // what stands there, at most a few characters; "" at the end of the text
	Want    string // what was expected; may be empty
	Digits  int    // number of hex digits, where their number is what is wrong; else 0

	off      int      // bytes from the start of the text, -1 for the text as a whole
	strength strength // how sure it is that the text was meant to be of this form
}

// strength says how much an error of one form counts against those of others.
type strength uint8

const (
	weak    strength = iota // the text hardly looks like the form
	likely                  // a good part of the text was read
	certain                 // no other form need be tried
)

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	as := ""
	if e.Form != "" {
		as = " (read as " + e.Form + ")"
	}
	return fmt.Sprintf("line %d, column %d: %s%s", e.Line, e.Column, e.Message, as)
}

// place fills in line and column.
func (e *Error) place(t *pasted) *Error {
	if e.off >= 0 {
		c := cursor{text: t.s}
		e.Line, e.Column = c.position(e.off)
	}
	return e
}

// as sets the strength.
func (e *Error) as(s strength) *Error {
	e.strength = s
	return e
}

func errWhole(format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...), off: -1}
}

// errAt is an error at a byte of the text.
func errAt(off int, format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...), off: off}
}

// errFound is the common error: something stands where something else must stand.
func errFound(t *pasted, off int, want string) *Error {
	found := t.excerpt(off)
	e := &Error{off: off, Found: found, Want: want}
	switch found {
	case "":
		e.Message = "the text ends where " + want + " was expected"
	case "\n":
		e.Message = "the line ends where " + want + " was expected"
	default:
		e.Message = fmt.Sprintf("found %s, expected %s", scan.Quote(found), want)
	}
	return e
}

func errOdd(off, digits int, what string) *Error {
	return &Error{
		off: off, Digits: digits, Want: "an even number of hex digits",
		Message: fmt.Sprintf("%s: one is missing or one too many, a byte has two", strings.Replace(what, "#", fmt.Sprint(digits), 1)),
	}
}

func errTooManyBytes(off int) *Error {
	return errAt(off, "the text stands for more than %d MiB of bytes", MaxBytes>>20).as(certain)
}

func errTooManyMessages(off int) *Error {
	return errAt(off, "the text holds more than %d messages", MaxMessages).as(certain)
}

// errNothing is the error when no form fits. It names where the nearest reading stopped.
func errNothing(nearest *Error) *Error {
	e := &Error{off: -1, Want: "hex, a dump, an array, base64, a Follow Stream text, a log or a table"}
	e.Message = "this is no form of bytes that can be recognised; known are " +
		"hex, base64, dumps (xxd, hexdump, od, Wireshark, text2pcap, WinDbg, gdb), arrays and strings of source code, " +
		"Wireshark's Follow Stream, the TERA proxy log, and JSON or CSV with a column of hex or base64"
	if nearest != nil && nearest.off >= 0 {
		e.off, e.Found = nearest.off, nearest.Found
		e.Message += "; reading stopped here: " + nearest.Message
	}
	return e
}
