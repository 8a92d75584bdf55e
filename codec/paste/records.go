package paste

import (
	"strings"

	"wirebench/codec/scan"
)

// Records with checksums: Intel HEX and Motorola S-records. Records whose addresses follow each other are one message; a gap starts another,
// with a note.

// record is one line of such a file.
type record struct {
	data    []byte
	address uint64
	bytes   bool   // it holds data; else it ends the file, or is of addresses
	base    uint64 // what an Intel record adds to the addresses after it
	sets    bool   // base
}

// parseRecord parses a line. wrong is the sum of the bytes if it is not right; ok is false if the line is not a record.
func parseRecord(s string) (r record, wrong bool, ok bool) {
	intel := strings.HasPrefix(s, ":")
	digits := strings.TrimPrefix(s, ":")
	if !intel && len(s) >= 2 && s[0] == 'S' && scan.IsDigit(s[1]) {
		digits = s[2:]
	}
	last, sum := len(digits)/2-1, byte(0)
	if len(digits) == len(s) || len(s) > maxRecord || hexRun(digits, 0) != len(digits) || len(digits)%2 != 0 || last < 3 {
		return r, false, false
	}
	b := appendPairs(nil, digits)
	for _, c := range b {
		sum += c
	}
	if intel { // length, address, type, data, checksum
		if int(b[0]) != last-4 || b[3] > 5 {
			return r, false, false
		}
		r.address, r.data, r.bytes = uint64(b[1])<<8|uint64(b[2]), b[4:last], b[3] == 0
		if r.sets = (b[3] == 2 || b[3] == 4) && len(r.data) == 2; r.sets {
			r.base = (uint64(b[4])<<8 | uint64(b[5])) << (6*b[3] - 8) // paragraphs, or the upper half
		}
		return r, sum != 0, true
	}
	size := map[byte]int{'1': 2, '2': 3, '3': 4}[s[1]] // of the address
	if int(b[0]) != last || last < 1+size {
		return r, false, false
	}
	for _, c := range b[1 : 1+size] {
		r.address = r.address<<8 | uint64(c)
	}
	r.data, r.bytes = b[1+size:last], size > 0
	return r, sum != 0xff, true
}

// maxRecord is the length of the longest line of records.
const maxRecord = 600

// isRecords recognises records by the first line, whose checksum is right.
func isRecords(t *pasted) bool {
	s, _, _ := strings.Cut(strings.TrimSpace(t.s), "\n")
	_, wrong, ok := parseRecord(strings.TrimSpace(s))
	return ok && !wrong
}

// readRecords reads the form "records".
func readRecords(t *pasted) (*builder, *Error) {
	b := &builder{form: formRecords, why: "records with addresses and checksums, which are right"}
	base, next := uint64(0), uint64(0)
	return b.whole(t.each(func(l line) (e *Error) {
		at := l.off + skipSpaces(l.text, 0)
		s := strings.TrimSpace(l.text)
		if s == "" {
			return nil
		}
		r, wrong, ok := parseRecord(s)
		switch {
		case !ok:
			return errAt(at, "this line is no record: one of Intel HEX or Motorola S was expected")
		case wrong:
			return errAt(at, "the checksum of this record is wrong")
		case r.sets:
			base = r.base
		case r.bytes && len(r.data) > 0:
			address := base + r.address
			if b.open && address != next {
				b.note(at, "the address does not continue from the record before (%#x was expected): read as another message", next)
			}
			if !b.open || address != next {
				e = b.begin(Message{}, at)
			}
			b.out = append(b.out, r.data...)
			next = address + uint64(len(r.data))
		}
		return e
	}), "no record of the text has data")
}
