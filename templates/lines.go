package templates

import (
	"strings"

	"wirebench/defs/diag"
)

// line is one line of a definition, cut into what is coloured differently.
type line struct {
	Number                int
	Dash, Type, Name, Doc string
	Mistakes              []diag.Info
	Class                 string // of the worst mistake
}

// maxLines is how many lines are numbered and coloured; longer texts are edited plainly.
const maxLines = 4000

// lines cuts a definition for display. What a line means is the dialect's business; here the last word before a comment is the name
// and what stands before it the type, apart from dashes at the start. web/src/editor.ts does the same while a person types.
func lines(text string, mistakes []diag.Info) []line {
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(all) > maxLines {
		return nil
	}
	out := make([]line, len(all))
	for i, l := range all {
		out[i] = cutLine(strings.TrimSuffix(l, "\r"))
		out[i].Number = i + 1
	}
	for _, d := range mistakes {
		if d.Line < 1 || d.Line > len(out) {
			continue
		}
		l := &out[d.Line-1]
		l.Mistakes = append(l.Mistakes, d)
		if l.Class != "err" {
			l.Class = severityClass(d.Severity)
		}
	}
	return out
}

func cutLine(text string) (l line) {
	code := text
	if at := strings.IndexByte(code, '#'); at >= 0 {
		code, l.Doc = code[:at], code[at:]
	}
	rest := strings.TrimLeft(code, "- \t")
	l.Dash = code[:len(code)-len(rest)]
	words := strings.TrimRight(rest, " \t")
	if at := strings.LastIndexAny(words, " \t"); at >= 0 {
		l.Type, l.Name = rest[:at+1], rest[at+1:]
	} else {
		l.Name = rest
	}
	return l
}
