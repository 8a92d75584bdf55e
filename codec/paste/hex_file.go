package paste

import "wirebench/defs/schema"

// minWrapped is the minimum number of digits in a line of wrapped hex.
const minWrapped = 32

// RecogniseFile is Recognise for a file that is read as a capture. There hex in several lines is one message per line, as exports write it,
// unless it looks wrapped. If it does, key can still show that each line is a complete message.
func RecogniseFile(text string, key func(schema.Dir, []byte) (schema.Key, bool)) (*Paste, error) {
	p, err := recognise(text)
	if err != nil {
		if cut := readCut(text, true, recognise); cut != nil {
			return cut, nil
		}
	}
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
		if key == nil {
			return p, nil
		}
		if _, whole := key(schema.Both, p.Messages[0].Bytes); whole {
			return p, nil
		}
		for i := range lines.Messages {
			if _, ok := key(schema.Both, lines.Messages[i].Bytes); !ok {
				return p, nil
			}
		}
		lines.Why = "hex in lines, each a complete message of the protocol"
	}
	return lines, nil
}
