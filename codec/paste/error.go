package paste

import (
	"fmt"
	"strings"

	"wirebench/codec/scan"
)

// Error describes why a pasted text cannot be read, and its position.
type Error struct {
	Line    int    // 1-based; 0 if the error concerns the entire text
	Column  int    // 1-based, in Unicode characters; 0 with Line 0
	Form    string // id of the form that was tried; "" if none was recognised
	Message string // the mistake, without its position: lower case, no final period
	Found   string // text at the position, at most a few characters; "" at the end of the text
	Want    string // the expected text; may be empty
	Digits  int    // number of hex digits, if that is the mistake; else 0

	off      int      // bytes from the start of the text, -1 for the entire text
	strength strength // likelihood that the text was meant to be of this form
}

// strength ranks an error of one form against those of others.
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

// place sets line and column.
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

// errAt returns an error at a byte of the text.
func errAt(off int, format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...), off: off}
}

// errFound returns the most common error: unexpected text at a position.
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
	return errAt(off, "the text has more than %d MiB of bytes", MaxBytes>>20).as(certain)
}

func errTooManyMessages(off int) *Error {
	return errAt(off, "the text has more than %d messages", MaxMessages).as(certain)
}

// errNothing returns the error for a text of no known form. It includes the error of the reading that came furthest.
func errNothing(nearest *Error) *Error {
	e := &Error{off: -1, Want: "hex, a dump, an array, base64, a Follow Stream text, a log or a table"}
	e.Message = "unrecognised form of bytes; known are " +
		"hex, base64, dumps (xxd, hexdump, od, Wireshark, text2pcap, WinDbg, gdb), arrays and strings of source code, " +
		"Wireshark's Follow Stream, the TERA proxy log, and JSON or CSV with a column of hex or base64"
	if nearest != nil && nearest.off >= 0 {
		e.off, e.Found = nearest.off, nearest.Found
		e.Message += "; reading stopped here: " + nearest.Message
	}
	return e
}
