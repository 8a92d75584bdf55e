package tera

import (
	"slices"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/text"
)

// meantLine returns the line that was meant by one in the form of another language, after its dashes; "" if none is certain enough.
func meantLine(line string) string {
	h, ok := text.ReadHabit(line, knownType, func(word string) bool { return diag.Nearest(word, typeNames) != "" })
	comment := ""
	if h.Remark {
		comment = strings.TrimSpace("# " + h.Comment)
	}
	name, given, hasValue := strings.Cut(h.Name, "=")
	switch {
	case !ok:
		return ""
	case h.Type == "":
		return comment
	case !isName(name, false) || hasValue && given == "":
		return ""
	case h.Array == "[]":
		h.Type = "array<" + h.Type + ">"
	default:
		h.Type += h.Array
	}
	if h.Value != "" {
		h.Name += "=" + h.Value
	}
	return strings.TrimSpace(h.Type + " " + h.Name + " " + comment)
}

// knownType returns a type as this language writes it, "" if it is unknown. Words that begin lines of their own are not types of a field.
func knownType(word string) string {
	if of, ok := text.ElementType(word); ok {
		if of = knownType(of); of != "" && of != "array" && of != "object" {
			return "array<" + of + ">"
		}
		return ""
	}
	name, rest := word, ""
	if i := strings.IndexAny(word, "<["); i > 0 {
		name, rest = word[:i], word[i:]
	}
	name = strings.TrimPrefix(name, "std::")
	switch {
	case slices.Contains([]string{"count", "offset", "ref"}, name):
		return ""
	case slices.Contains(typeNames, name):
		return name + rest
	case otherNames[strings.ToLower(name)] != "":
		return otherNames[strings.ToLower(name)] + rest
	}
	return ""
}

// foreign reports a line in the form of another language with the line that was meant. It returns false for other lines.
func (p *parser) foreign(ln *line, i int) bool {
	rest := p.text[i:]
	if !strings.ContainsAny(rest, ";/:,[") && !p.swapped(rest) {
		return false
	}
	meant := meantLine(rest)
	if meant == "" || meant == rest || strings.Join(strings.Fields(rest), " ") == meant {
		return false
	}
	at := p.code.Sub(i, len(p.text))
	p.bad(ln, text.Foreign(codeMalformedLine, at, meant, "a line has a type and a name"))
	return true
}

// swapped reports whether a line has a name and then a type.
func (p *parser) swapped(line string) bool {
	words := strings.Fields(line)
	return len(words) >= 2 && knownType(words[0]) == "" && (knownType(words[1]) != "" || text.IsModifier(words[0]))
}
