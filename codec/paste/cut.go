package paste

import "strings"

// Truncated texts: files that were not written or copied to the end. The complete part is read.

// Bounds of the search for the end of the complete part.
const (
	maxCutLines  = 8       // lines removed at the end, as many as precede the bytes in an entry of YAML
	maxCutSearch = 4 << 20 // bytes of a text for which more than one line is tried
)

// readOrCut reads a text. If it is invalid, it is read without its incomplete end, if it has one.
func readOrCut(text string, file bool, read func(text string) (*Paste, error)) (*Paste, error) {
	p, err := read(text)
	if err != nil {
		if cut := readCut(text, file, read); cut != nil {
			return cut, nil
		}
	}
	return p, err
}

// readCut reads an invalid text without its incomplete end. It returns nil if read finds the rest invalid too. A text from a clipboard is
// accepted only if it is a conversation, since otherwise a mistake in the last line should be an error; for a file several messages
// suffice.
func readCut(text string, file bool, read func(text string) (*Paste, error)) *Paste {
	t, e := newPasted(text)
	if e != nil || strings.HasSuffix(t.s, "\n") {
		return nil
	}
	tries := maxCutLines
	if len(t.s) > maxCutSearch {
		tries = 1
	}
	for end := strings.LastIndexByte(t.s, '\n'); end > 0 && tries > 0; end, tries = strings.LastIndexByte(t.s[:end], '\n'), tries-1 {
		rest := t.s[:end+1]
		p, err := read(rest)
		if err != nil {
			continue
		}
		n := len(p.Messages)
		if !p.Stream && !p.has(ownLines) && !strings.HasSuffix(strings.TrimRight(rest, " \t\r"), "\n\n") && !strings.HasSuffix(rest, "\n\r\n") {
			n-- // the removed line was a part of it
		}
		if p.Messages = p.Messages[:max(n, 0)]; n < 2 && !(p.Stream && n > 0) || !file && !p.Conversation() {
			continue
		}
		c := cursor{text: t.s}
		line, column := c.position(end + 1)
		p.Notes = append(p.Notes, Note{Line: line, Column: column, Message: "the text is truncated here: the incomplete rest was left out", off: end + 1})
		return p
	}
	return nil
}
