package paste

import (
	"slices"
	"strings"
	"testing"

	"wirebench/codec/scan"
)

// TestAddForm adds a form as the package documentation describes: lines of a tool that prints "say" and the bytes.
func TestAddForm(t *testing.T) {
	before, had := forms, recognisers
	defer func() { forms, recognisers = before, had }()
	row := form{FormInfo{"say", "What say prints", groupTable}, readSay, sniff{1, trySay, false}, ownLines}
	forms = append(slices.Clone(forms), row)
	recognisers = append([]*form{&row}, recognisers...)

	const text = "say 01 02\nsay 03\n"
	p, err := Recognise(text)
	if err != nil || p.Form != "say" || p.Title != "What say prints" || len(p.Messages) != 2 || string(p.Messages[1].Bytes) != "\x03" || p.Messages[1].Line != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	if _, err := RecogniseAs("say 01 0x\n", "say"); err == nil || !strings.HasPrefix(err.Error(), "line 1, column 5: ") {
		t.Errorf("%v", err)
	}
	if infos := Forms(); infos[len(infos)-1].ID != "say" {
		t.Error("not in the menu")
	}
}

func trySay(t *pasted) (*builder, *Error) {
	if !strings.HasPrefix(t.s, "say ") {
		return nil, nil
	}
	return readSay(t)
}

func readSay(t *pasted) (*builder, *Error) {
	b := &builder{form: "say", why: `each line starts with "say"`}
	return b.whole(t.each(func(l line) *Error {
		digits, ok := strings.CutPrefix(l.text, "say ")
		data, err := scan.HexLine(digits)
		if !ok || err != nil {
			return errAt(l.off+len("say "), "not hex: %s", digits)
		}
		start := len(b.out)
		b.out = append(b.out, data...)
		return b.add(Message{}, start, l.off)
	}), noBytes)
}
