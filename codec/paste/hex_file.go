package paste

import (
	"strings"

	"wirebench/codec/scan"
	"wirebench/defs/schema"
)

// minWrapped is the minimum number of bytes in a line of wrapped hex.
const minWrapped = 16

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
	widths := hexWidths(text)
	if len(widths) < 2 {
		return p, nil
	}
	lines, err := RecogniseAs(text, formHexLines)
	if err != nil || len(lines.Messages) != len(widths) {
		return p, nil // it can be read as one message
	}
	lines.Why = "hex in lines that do not look wrapped, one message each"
	if looksWrapped(widths) {
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

// hexWidths returns the numbers of hex digits in lines that are not blank; nil if one is odd, as then a line ends inside a byte.
func hexWidths(text string) (widths []int) {
	for line := range strings.Lines(text) {
		n := 0
		for i := range len(line) {
			if scan.IsHex(line[i]) {
				n++
			}
		}
		if n%2 != 0 {
			return nil
		}
		if n > 0 {
			widths = append(widths, n)
		}
	}
	return widths
}

// looksWrapped reports whether all lines but the last have the same width, and the last is not longer.
func looksWrapped(widths []int) bool {
	last := len(widths) - 1
	for _, n := range widths[:last] {
		if n != widths[0] {
			return false
		}
	}
	return widths[0] >= 2*minWrapped && widths[last] <= widths[0]
}
