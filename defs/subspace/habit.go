package subspace

import (
	"cmp"
	"strconv"
	"strings"

	"wirebench/defs/text"
)

// meantRow returns the row or the comment that was meant by a line in the form of another language: int32 id; // x. It is "" if the line may be
// text.
func meantRow(line string) string {
	h, ok := text.ReadHabit(line, knownType, func(word string) bool { return knownType(word) != "" })
	comment := ""
	if h.Remark {
		comment = strings.TrimSpace("# " + h.Comment)
	}
	if !ok || h.Type == "" {
		return comment
	}
	t, _, _ := readType(h.Type)
	size := max(t.bits, 8) / 8 // bool has a byte
	if h.Array != "" {
		n, err := strconv.Atoi(strings.Trim(h.Array, "[]"))
		if err != nil || n < 1 || n > 1<<16 {
			return ""
		}
		h.Type, size = h.Type+h.Array, size*n
	}
	if h.Value != "" || !text.IsName(h.Name) {
		return ""
	}
	return strings.TrimSpace("? " + strconv.Itoa(size) + " " + h.Type + " " + h.Name + " " + comment)
}

// knownType returns a type of number of whole bytes as this language writes it.
func knownType(word string) string {
	if plain := text.PlainNumber(word); plain != "" {
		return plain
	}
	t, wrong, ok := readType(word)
	if !ok || wrong != "" || t.isArray || t.bits == 0 || t.bits%8 != 0 {
		return ""
	}
	return cmp.Or(t.meant, word)
}
