package paste

import (
	"slices"

	"wirebench/defs/schema"
)

// minWrapped is the minimum number of digits in a line of wrapped hex.
const minWrapped = 32

// RecogniseFile is Recognise for a file that is read as a capture. There hex in several lines is one message per line, as exports write it,
// unless it looks wrapped. If it does, key can still show that each line is a complete message.
func RecogniseFile(text string, key func(schema.Dir, []byte) (schema.Key, bool)) (*Paste, error) {
	p, err := readOrCut(text, true, recognise)
	if err != nil || p.Form != formHex || len(p.Messages) != 1 {
		return p, err
	}
	t, _ := newPasted(text)
	h := hexReader{t: t}
	if h.read() != nil || h.lines.total < 2 || h.commas {
		return p, nil
	}
	lines, err := RecogniseAs(text, formHexLines)
	if err != nil || len(lines.Messages) != h.lines.total {
		return p, nil // it can be read as one message
	}
	lines.Why = "hex in lines that do not look wrapped, one message each"
	if h.lines.odd < 0 && h.lines.first >= minWrapped {
		part := func(m Message) bool { _, ok := key(schema.Both, m.Bytes); return !ok }
		if key == nil || !part(p.Messages[0]) || slices.ContainsFunc(lines.Messages, part) {
			return p, nil
		}
		lines.Why = "hex in lines, each a complete message of the protocol"
	}
	return lines, nil
}
