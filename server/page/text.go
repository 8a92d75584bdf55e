package page

import (
	"unicode/utf16"
	"unicode/utf8"
)

// TextEdit is a change of a text that the page and the server both have. Numbers count UTF-16 code units, as in the browser.
type TextEdit struct {
	Control string `json:"control" enum:"definition,input,value,edits"`
	Number  int    `json:"number,omitempty"` // of the message, for edits: the text is its bytes in hex
	At      int    `json:"at"`
	Remove  int    `json:"remove,omitempty"`
	Insert  string `json:"insert,omitempty"`
	Sum     uint32 `json:"sum"` // sum32 of the new text: both must have the same
}

// apply returns the changed text; ok is false if it is not the text of the page, which then has to send it as a whole.
func (e *TextEdit) apply(text string) (now string, ok bool) {
	from, fits := unitOffset(text, 0, e.At)
	to, fitsToo := unitOffset(text, from, e.Remove)
	if e.At < 0 || e.Remove < 0 || !fits || !fitsToo || len(text)+len(e.Insert) > MaxMessage {
		return "", false
	}
	now = text[:from] + e.Insert + text[to:]
	return now, sum32(now) == e.Sum
}

// Splice is a change of a text of the page: Insert replaces Remove code units from At on.
type Splice struct {
	At     int    `json:"at"`
	Remove int    `json:"remove,omitempty"`
	Insert string `json:"insert,omitempty"`
}

// spliceOf returns the change between two texts: of what is between their common start and end.
func spliceOf(was, now string) Splice {
	start, end := 0, 0
	for start < min(len(was), len(now)) && was[start] == now[start] {
		start++
	}
	for start > 0 && (cutsRune(was, start) || cutsRune(now, start)) {
		start--
	}
	for end < min(len(was), len(now))-start && was[len(was)-1-end] == now[len(now)-1-end] {
		end++
	}
	for end > 0 && (cutsRune(was, len(was)-end) || cutsRune(now, len(now)-end)) {
		end--
	}
	return Splice{units(was[:start]), units(was[start : len(was)-end]), now[start : len(now)-end]}
}

// cutsRune reports whether an offset is inside a rune.
func cutsRune(text string, at int) bool { return at < len(text) && !utf8.RuneStart(text[at]) }

// units returns the number of code units of a text.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// unitOffset returns the offset in bytes that is n code units after an offset.
func unitOffset(text string, from, n int) (at int, ok bool) {
	for at = from; n > 0 && at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		n -= utf16.RuneLen(r)
		at += size
	}
	return at, n == 0
}

// sum32 is FNV-1a of the UTF-16 code units of a text.
func sum32(text string) uint32 {
	h := uint32(2166136261)
	add := func(unit rune) { h = (h ^ uint32(unit)) * 16777619 }
	for _, r := range text {
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			add(high)
			add(low)
		} else {
			add(r)
		}
	}
	return h
}
