package templates

import "fmt"

// Changes are the runs of bytes of a message that are not those it had before: byte by byte where it has as many bytes as before,
// else all between the same start and the same end. A run of no bytes is a place where some were taken out.
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

// changedText says how many bytes of the shown message are changed.
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
		return "These bytes were made from values"
	}
	return fmt.Sprintf("It had %s when it was pasted", count(len(m.Was), "byte"))
}
