package protodef

import (
	"regexp"
	"strings"
)

// IsText reports whether the text of a file is a definition: it has types, and at least one of the language. It looks at the start of long
// texts only, and accepts texts with mistakes.
func IsText(s string) bool {
	s = strings.TrimPrefix(s[:min(len(s), maxDetect)], "\ufeff")
	return jsonTypes.MatchString(s) && jsonType.MatchString(s) || yamlStart.MatchString(s) || len(yamlType.FindAllString(s, 2)) == 2
}

// maxDetect is the number of bytes that IsText examines.
const maxDetect = 256 << 10

var (
	jsonTypes = regexp.MustCompile(`"types"\s*:\s*\{`)
	yamlStart = regexp.MustCompile(`(?m)^(\^[\w.]*types:|!import: )`)
	yamlType  = regexp.MustCompile(`(?m)^\s*\w+\??: (native|varint|l?[iu](8|16|32|64)|l?f(32|64)|\["(container|switch|mapper|array|option|pstring|buffer|bitfield|bitflags)",.*|\w*\[\]\w+|[\w./]+ (=>|\?))\s*(#.*)?$`)
	jsonType  = regexp.MustCompile(`:\s*"native"|\[\s*"(container|switch|mapper|array|option|pstring|buffer|bitfield|bitflags|count)"\s*,|:\s*"(varint|void|bool|l?[iu](8|16|32|64)|l?f(32|64))"`)
)
