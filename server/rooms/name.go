package rooms

import (
	"strings"
	"unicode/utf8"

	"wirebench/server/history"
)

const maxChosen = 40 // bytes

// ChosenName is a name that a person has chosen, as others see it: on one line, not too long, and never empty.
func ChosenName(chosen string) string {
	name := strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, chosen))
	for len(name) > maxChosen {
		_, n := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-n]
	}
	if name == "" || name == history.Outside {
		return "somebody"
	}
	return name
}
