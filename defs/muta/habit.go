package muta

import (
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/text"
)

// meantLine returns what was meant by a line in the form of another language: int32 id; or id = int32; // x. A comment is on a line of its own
// above. It is "" if the line is in the form of this language, or not certain enough.
func meantLine(line string) string {
	code, comment, remark := text.CutHabit(line)
	if comment = strings.TrimSpace("# " + comment); !remark {
		comment = ""
	}
	name, value, isField := strings.Cut(code, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch {
	case strings.Contains(line, "#"):
		return ""
	case code == "":
		return comment
	case !isField || !text.IsName(name):
		h, ok := text.ReadHabit(code, knownType, func(word string) bool { return diag.Nearest(word, typeNames()) != "" })
		if ok && h.Array != "" {
			n := strings.Trim(h.Array, "[]")
			ok = n != "" && !strings.Contains(n, "[")
			h.Type += " {" + n + ", " + n + "}"
		}
		if !ok || h.Value != "" || !text.IsName(h.Name) || kindOf(h.Name) != otherRecord {
			return ""
		}
		name, value = h.Name, h.Type
	case code == line || value == "":
		return ""
	}
	if comment != "" {
		comment += "\n"
	}
	return comment + name + " = " + value
}

// knownType returns a type of number as this language writes it.
func knownType(word string) string {
	if findPrimitive(word) != nil {
		return word
	}
	return otherNames[strings.ToLower(word)]
}

func typeNames() (names []string) {
	for _, p := range primitives {
		names = append(names, p.name)
	}
	return names
}

// foreign reports a line in the form of another language. It returns false for other lines.
func (p *parser) foreign(ln *line, before string) bool {
	words := ln.span.Text()
	remark := strings.HasPrefix(words, "//") || strings.HasPrefix(words, "/*")
	if p.record == nil || p.record.kind == includeRecord || p.record.kind == otherRecord || !ln.indented && !remark && p.record.kind != packetRecord && p.record.kind != structRecord {
		return false
	}
	meant := meantLine(words)
	if meant == "" {
		return false
	}
	d := text.Foreign(codeMalformedLine, ln.span, strings.ReplaceAll(meant, "\n", " / "), "a line has a name, \"=\" and a value")
	d.Fix.Text = strings.ReplaceAll(meant, "\n", "\n"+before)
	if !ln.indented && !remark {
		d.Fix.Text = indent + strings.ReplaceAll(meant, "\n", "\n"+indent)
	}
	p.bad(ln, d)
	return true
}
