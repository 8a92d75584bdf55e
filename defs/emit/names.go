package emit

import (
	"strconv"
	"strings"
	"unicode"
)

// names assigns the identifiers of one scope of a target. They are unique, and never reserved words of the target.
type names struct {
	taken map[string]bool
	last  map[string]int // the last number appended to an identifier
	fold  bool           // identifiers that differ only in case conflict
}

// newNames returns a scope with reserved words.
func newNames(fold bool, reserved ...string) *names {
	n := &names{taken: map[string]bool{}, last: map[string]int{}, fold: fold}
	for _, word := range reserved {
		n.taken[n.key(word)] = true
	}
	return n
}

func (n *names) key(name string) string {
	if n.fold {
		return strings.ToLower(name)
	}
	return name
}

// take returns the wanted identifier, made legal, with a number appended if it is in use.
func (n *names) take(want string) string {
	want = legal(want)
	name := want
	for i := n.last[n.key(want)] + 1; n.taken[n.key(name)]; i++ {
		name = want + "_" + strconv.Itoa(i+1)
		n.last[n.key(want)] = i
	}
	n.taken[n.key(name)] = true
	return name
}

// legal replaces characters that are invalid in identifiers. Only ASCII letters are valid: C99 compilers differ about others.
func legal(name string) string {
	var b strings.Builder
	for i, c := range name {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
			b.WriteRune(c)
		case c >= '0' && c <= '9':
			if i == 0 {
				b.WriteByte('_')
			}
			b.WriteRune(c)
		default:
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()[:min(b.Len(), maxName)]
}

// maxName is the maximum length of an identifier, without the appended number.
const maxName = 200

// camel joins the words of a name, each capitalized: C_EXAMPLE and c_example are CExample, playerId is PlayerId. The result starts with a
// letter.
func camel(name string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(legal(name), func(c rune) bool { return c == '_' }) {
		if strings.ToUpper(word) == word {
			word = strings.ToLower(word)
		}
		b.WriteString(strings.ToUpper(word[:1]))
		b.WriteString(word[1:])
	}
	if s := b.String(); s != "" && unicode.IsLetter(rune(s[0])) {
		return s
	}
	return "X" + b.String()
}

// keywords returns the words of a list.
func keywords(list string) []string { return strings.Fields(list) }
