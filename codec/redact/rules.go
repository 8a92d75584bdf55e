package redact

import (
	"fmt"
	"strings"

	"wirebench/codec"
)

// Rule makes fields secret, beside those that their definitions mark.
type Rule struct {
	of   ruleKind
	glob string
}

type ruleKind uint8

const (
	byName ruleKind = iota // of the field
	byPath                 // MESSAGE.list.name, without indexes
	byType                 // as in the definition
)

// Bounds of rules.
const (
	maxRules = 200
	maxRule  = 200 // bytes
)

// ParseRules reads rules, one per line: "name" is the name of fields, "C_LOGIN.name" or "*.members.name" a path with its message, and
// "type:string" a type. An asterisk stands for anything; upper and lower case are the same. "#" begins a comment.
func ParseRules(text string) ([]Rule, error) {
	var out []Rule
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if len(line) > maxRule || len(out) == maxRules {
			return nil, fmt.Errorf("line %d: at most %d rules of %d bytes", n, maxRules, maxRule)
		}
		if strings.ContainsAny(line, " \t") {
			return nil, fmt.Errorf("line %d: a rule is a name, a path or type:TYPE, without spaces: %q", n, line)
		}
		r := Rule{byName, strings.ToLower(line)}
		if t, ok := strings.CutPrefix(r.glob, "type:"); ok {
			r = Rule{byType, t}
		} else if strings.Contains(line, ".") {
			r.of = byPath
		}
		if r.glob == "" {
			return nil, fmt.Errorf("line %d: the type is missing", n)
		}
		out = append(out, r)
	}
	return out, nil
}

// fits reports whether a rule is about a field.
func (r Rule) fits(p *codec.Program, field int) bool {
	f := &p.Fields[field]
	switch r.of {
	case byType:
		return matches(r.glob, strings.ToLower(f.Type))
	case byPath:
		path := strings.ReplaceAll(string(p.AppendFieldPath(nil, uint16(field))), "[]", "")
		return matches(r.glob, strings.ToLower(p.Message.Name+"."+path))
	}
	name, _, _ := strings.Cut(f.Name, "#")
	return matches(r.glob, strings.ToLower(name))
}

// matches reports whether a text is as a glob says: an asterisk stands for any text.
func matches(glob, text string) bool {
	parts := strings.Split(glob, "*")
	if len(parts) == 1 {
		return glob == text
	}
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}
