package frames

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// A needle is a pattern for the bytes of frames: a text in UTF-8, UTF-16 or Latin-1, with or without case, or bytes with wildcards. It is
// immutable.
type needle struct {
	forms []needleForm
}

// needleForm is one encoding of a needle: a sequence of places with their alternatives.
type needleForm struct {
	places [][][]byte // a place without alternatives matches any byte
	first  [256]bool  // possible first bytes
}

// textNeedle returns a needle for a text in the encodings that messages use; fold ignores case.
func textNeedle(text string, fold bool) needle {
	write := func(encode func(rune) []byte) (form needleForm, ok bool) {
		var places [][][]byte
		for _, r := range text {
			first := encode(r)
			if first == nil {
				return form, false
			}
			place := [][]byte{first}
			for other := unicode.SimpleFold(r); fold && other != r; other = unicode.SimpleFold(other) {
				if b := encode(other); b != nil {
					place = append(place, b)
				}
			}
			places = append(places, place)
		}
		return newNeedleForm(places), true
	}
	var n needle
	for _, encode := range []func(rune) []byte{
		func(r rune) []byte { return utf8.AppendRune(nil, r) },
		func(r rune) (out []byte) {
			for _, unit := range utf16.AppendRune(nil, r) {
				out = append(out, byte(unit), byte(unit>>8))
			}
			return out
		},
		func(r rune) []byte {
			if r > 0xff {
				return nil
			}
			return []byte{byte(r)}
		},
	} {
		if form, ok := write(encode); ok {
			n.forms = append(n.forms, form)
		}
	}
	if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		n.forms = n.forms[:2] // the last one is the first
	}
	return n
}

// hexNeedle returns a needle for bytes in filter syntax: "e8 03 ?? 0?". An invalid text matches nothing; the filter reports the mistake.
func hexNeedle(text string) needle {
	digits := strings.NewReplacer(" ", "", "\t", "", ":", "", "-", "", ".", "?").Replace(text)
	var places [][][]byte
	for ; len(digits) >= 2; digits = digits[2:] {
		if digits[:2] == "??" {
			places = append(places, nil)
			continue
		}
		var place [][]byte
		for _, wild := range wildDigits(digits[:2]) {
			b, err := strconv.ParseUint(wild, 16, 8)
			if err != nil {
				return needle{}
			}
			place = append(place, []byte{byte(b)})
		}
		places = append(places, place)
	}
	if digits != "" || len(places) == 0 {
		return needle{}
	}
	return needle{[]needleForm{newNeedleForm(places)}}
}

// wildDigits returns the bytes that two digits stand for, of which one may be "?".
func wildDigits(two string) (all []string) {
	if !strings.Contains(two, "?") {
		return []string{two}
	}
	for _, digit := range "0123456789abcdef" {
		all = append(all, strings.Replace(two, "?", string(digit), 1))
	}
	return all
}

func newNeedleForm(places [][][]byte) needleForm {
	f := needleForm{places: places}
	if len(places) == 0 {
		return f
	}
	for _, b := range places[0] {
		f.first[b[0]] = true
	}
	for i := range f.first {
		f.first[i] = f.first[i] || len(places[0]) == 0
	}
	return f
}

// in returns the first match as start and end; start is -1 if there is none, or if the context is done.
func (n needle) in(ctx context.Context, data []byte) (start, end int) {
	start = -1
	for i := range n.forms {
		if from, to := n.forms[i].in(ctx, data); from >= 0 && (start < 0 || from < start) {
			start, end = from, to
		}
	}
	return start, end
}

// needleWork is the number of places compared between two checks of the context.
const needleWork = 1 << 14

func (f *needleForm) in(ctx context.Context, data []byte) (start, end int) {
	if len(f.places) == 0 {
		return -1, 0
	}
	work := 0
	for at, b := range data {
		if !f.first[b] {
			continue
		}
		end, compared := f.at(data, at)
		if end >= 0 {
			return at, end
		}
		if work += compared; work > needleWork {
			if work = 0; ctx.Err() != nil {
				break
			}
		}
	}
	return -1, 0
}

// at returns the end of a match that starts at a byte, -1 if there is none, and the number of places compared.
func (f *needleForm) at(data []byte, at int) (end, compared int) {
places:
	for i, place := range f.places {
		if len(place) == 0 && at < len(data) {
			at++
			continue
		}
		for _, b := range place {
			if bytes.HasPrefix(data[at:], b) {
				at += len(b)
				continue places
			}
		}
		return -1, i + 1
	}
	return at, len(f.places)
}

// needle returns the pattern that the bytes of matching frames contain, so that pages can select it.
func (a *FindQuery) needle() needle {
	switch a.As {
	case "text":
		return textNeedle(a.Text, a.Fold)
	case "hex":
		return hexNeedle(a.Text)
	}
	return needle{}
}
