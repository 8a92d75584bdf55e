package tera

import (
	"regexp"
	"slices"
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/source"
	"wirebench/defs/text"
)

// Lines as people write them by habit, from C, C#, Go, TypeScript and Kaitai Struct: int32 id; // x, int32 id[4], id int32, id: int32.

var (
	foreignComment = regexp.MustCompile(`^(.*?)\s*(?://+|/\*+)\s*(.*?)\s*(?:\*+/)?$`)
	foreignArray   = regexp.MustCompile(`^([A-Za-z_]\w*)((?:\[\w*\])+)$`)
	foreignGeneric = regexp.MustCompile(`^(?:std::)?(?:List|vector|Vec|Array|IList|IEnumerable)<\s*([\w:]+)\s*>$`)
	foreignDefault = regexp.MustCompile(`^(\S+\s+\w+)\s*=\s*(\S+)$`)
)

// modifiers stand before a type in other languages, without a meaning here.
var modifiers = []string{"public", "private", "protected", "internal", "readonly", "const", "static", "final", "let", "var", "required", "std::"}

// meantLine returns the line that was meant by one in the form of another language, after its dashes; "" if none is certain enough.
func meantLine(line string) string {
	code, comment := line, ""
	if m := foreignComment.FindStringSubmatch(code); m != nil {
		code = m[1]
		if comment = "#"; m[2] != "" {
			comment = "# " + m[2]
		}
		if code == "" {
			return comment
		}
	}
	code = strings.TrimRight(code, ";, \t")
	if m := foreignDefault.FindStringSubmatch(code); m != nil {
		code = m[1] + "=" + m[2]
	}
	words := strings.Fields(code)
	for len(words) > 2 && slices.Contains(modifiers, words[0]) {
		words = words[1:]
	}
	switch {
	case len(words) == 3 && words[0] == "unsigned" && otherNames["u"+words[1]] != "":
		words = []string{otherNames["u"+words[1]], words[2]}
	case len(words) == 3 && words[1] == ":":
		words = []string{words[0] + ":", words[2]}
	case len(words) == 1 && strings.Count(words[0], ":") == 1:
		name, typ, _ := strings.Cut(words[0], ":")
		words = []string{name + ":", typ}
	}
	if len(words) != 2 {
		return ""
	}
	typ, name := words[0], words[1]
	if of, ok := strings.CutSuffix(typ, ":"); ok {
		typ, name = name, of
	} else if knownType(typ) == "" && knownType(name) != "" && len(diag.Nearest(typ, typeNames)) == 0 {
		typ, name = name, typ
	}
	brackets := ""
	if m := foreignArray.FindStringSubmatch(name); m != nil {
		name, brackets = m[1], m[2]
	}
	typ = knownType(typ)
	plain, value, _ := strings.Cut(name, "=")
	if typ == "" || !isName(plain, false) || strings.HasSuffix(name, "=") && value == "" {
		return ""
	}
	switch {
	case brackets == "[]":
		typ = "array<" + typ + ">"
	case brackets != "":
		typ += brackets
	}
	if comment != "" {
		comment = " " + comment
	}
	return typ + " " + name + comment
}

// knownType returns a type as this language writes it, "" if it is unknown. Words that begin lines of their own are not types of a field.
func knownType(word string) string {
	if of, ok := strings.CutSuffix(word, "[]"); ok {
		if of = knownType(of); of != "" && of != "array" && of != "object" {
			return "array<" + of + ">"
		}
		return ""
	}
	if m := foreignGeneric.FindStringSubmatch(word); m != nil {
		if of := knownType(strings.TrimPrefix(m[1], "std::")); of != "" && of != "array" && of != "object" {
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
	p.bad(ln, foreignLine(at, meant))
	return true
}

// swapped reports whether a line has a name and then a type.
func (p *parser) swapped(line string) bool {
	words := strings.Fields(line)
	return len(words) >= 2 && knownType(words[0]) == "" && (knownType(words[1]) != "" || slices.Contains(modifiers, words[0]) || words[0] == "unsigned")
}

func foreignLine(at source.Span, meant string) diag.Diagnostic {
	d := text.Mistake(codeMalformedLine, at, "unexpected "+text.Quote(at.Text())+": a line has a type and a name", `did you mean "`+meant+`"?`)
	return text.Fixed(d, at, meant)
}
