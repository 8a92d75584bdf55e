package templates

import "fmt"

// Changes returns the changed ranges of a message, as start and end offsets in bytes: byte by byte if the length is unchanged, otherwise one
// range between the common start and the common end. An empty range is the position of removed bytes.
func Changes(was, data []byte) [][2]int {
	if len(was) != len(data) {
		first, last := 0, 0
		for first < min(len(was), len(data)) && was[first] == data[first] {
			first++
		}
		for last < min(len(was), len(data))-first && was[len(was)-1-last] == data[len(data)-1-last] {
			last++
		}
		return [][2]int{{first, len(data) - last}}
	}
	var out [][2]int
	for i := range data {
		switch {
		case was[i] == data[i]:
		case len(out) > 0 && out[len(out)-1][1] == i:
			out[len(out)-1][1]++
		default:
			out = append(out, [2]int{i, i + 1})
		}
	}
	return out
}

// changedText is the number of changed bytes of the shown message.
func changedText(m *Message) string {
	if m.Was == nil {
		return "built here"
	}
	n := 0
	for _, c := range Changes(m.Was, m.Data) {
		n += c[1] - c[0]
	}
	text := count(n, "byte") + " changed"
	if d := len(m.Data) - len(m.Was); d != 0 {
		text += fmt.Sprintf(", %+d", d)
	}
	return text
}

func changedTitle(m *Message) string {
	if m.Was == nil {
		return "These bytes were encoded from values"
	}
	return fmt.Sprintf("%s when pasted", count(len(m.Was), "byte"))
}
