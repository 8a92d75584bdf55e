package paste

import "strings"

// Texts that break off: a file that was not written or copied to its end. What stands before the break is read.

// Bounds of the search for the last whole part of a text.
const (
	maxCutLines  = 8       // lines left out at the end, as many as an entry of a YAML needs before its bytes
	maxCutSearch = 4 << 20 // bytes of a text for which more than one line is tried
)

// recogniseCut reads a text that cannot be read and does not end with its last line without what it breaks off in. It is nil if that does not
// help. A text from a clipboard is taken only if it shows a conversation, since elsewhere what is wrong in the last line is worth an error;
// of a file several messages are enough.
func recogniseCut(text string, file bool) *Paste {
	t, e := newPasted(text)
	if e != nil || strings.HasSuffix(t.s, "\n") {
		return nil
	}
	tries := maxCutLines
	if len(t.s) > maxCutSearch {
		tries = 1
	}
	for end := len(t.s); tries > 0; tries-- {
		if end = strings.LastIndexByte(t.s[:end], '\n'); end <= 0 {
			return nil
		}
		rest := t.s[:end+1]
		p, err := recognise(rest)
		if err != nil {
			continue
		}
		n := len(p.Messages)
		if !p.Stream && !p.has(ownLines) && !strings.HasSuffix(strings.TrimRight(rest, " \t\r"), "\n\n") && !strings.HasSuffix(rest, "\n\r\n") {
			n-- // the line that is left out was a part of it
		}
		if p.Messages = p.Messages[:max(n, 0)]; n < 2 && !(p.Stream && n > 0) || !file && !p.Conversation() {
			continue
		}
		c := cursor{text: t.s}
		line, column := c.position(end + 1)
		p.Notes = append(p.Notes, Note{Line: line, Column: column, Message: "the text breaks off here: what follows was left out", off: end + 1})
		return p
	}
	return nil
}
