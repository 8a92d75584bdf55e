package protodef

import (
	"regexp"
	"strings"
)

// IsText reports whether the text of a file is a definition: it has types, and at least one of the language. It looks at the start of long
// texts only, and accepts texts with mistakes.
func IsText(s string) bool {
	s = strings.TrimPrefix(s[:min(len(s), maxDetect)], "\ufeff")
	return isJSON(s) || yamlStart.MatchString(s) || len(yamlType.FindAllString(s, 2)) == 2
}

// maxDetect is the number of bytes that IsText examines.
const maxDetect = 256 << 10

// isJSON reports whether a text in JSON has a namespace with types: an object that is in objects only, with a member that is a type with
// arguments, or with types of the language. Texts in strings and in comments do not count.
func isJSON(s string) bool {
	var open []byte // brackets
	arrays := 0     // among them
	for at := 0; at < len(s); at++ {
		switch c := s[at]; c {
		case '{', '[':
			if open = append(open, c); c == '[' {
				arrays++
			}
		case '}', ']':
			if n := len(open); n > 0 {
				if open[n-1] == '[' {
					arrays--
				}
				open = open[:n-1]
			}
		case '/':
			at += len(comment(s[at:]))
		case '"':
			name := quoted(s[at:])
			at += len(name)
			if len(open) == 0 || arrays > 0 {
				continue
			}
			switch value, member := strings.CutPrefix(strings.TrimLeft(s[min(at+1, len(s)):], jsonSpace), ":"); {
			case !member:
			case typeMember.MatchString(value):
				return true
			case name == `"types` && strings.HasPrefix(strings.TrimLeft(value, jsonSpace), "{"):
				return jsonType.MatchString(value)
			}
		}
	}
	return false
}

const jsonSpace = " \t\r\n"

// comment returns the comment at the start of a text without its last byte, "" if there is none.
func comment(s string) string {
	end, long := "\n", 0
	switch {
	case strings.HasPrefix(s, "/*"):
		end, long = "*/", 2
	case !strings.HasPrefix(s, "//"):
		return ""
	}
	if i := strings.Index(s[long:], end); i >= 0 {
		return s[:long+i+len(end)-1]
	}
	return s
}

// quoted returns the string at the start of a text without its last quote, or up to the end of the line.
func quoted(s string) string {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"', '\n':
			return s[:i]
		}
	}
	return s
}

const composites = `container|switch|mapper|array|option|pstring|buffer|bitfield|bitflags`

var (
	typeMember = regexp.MustCompile(`^\s*(?:\[\s*"(?:` + composites + `|count)"\s*,\s*[\[{]|\{\s*"type"\s*:\s*"(?:` + composites + `|count)"\s*,\s*"typeArgs")`)
	yamlStart  = regexp.MustCompile(`(?m)^(\^[\w.]+:|!import: )`)
	yamlType   = regexp.MustCompile(`(?m)^\s*\w+\??: (native|varint|l?[iu](8|16|32|64)|l?f(32|64)|\["(` + composites + `)",.*|\w*\[\]\w+|[\w./]+ (=>|\?))\s*(#.*)?$`)
	jsonType   = regexp.MustCompile(`:\s*"native"|\[\s*"(` + composites + `|count)"\s*,|:\s*"(varint|void|bool|l?[iu](8|16|32|64)|l?f(32|64))"`)
)
