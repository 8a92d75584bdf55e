package filter

// Print parses a filter and writes it in its canonical form. It is false if it cannot be read.
func Print(text string) (string, bool) {
	root, _, mistakes := read(text)
	if len(mistakes) > 0 {
		return "", false
	}
	return root.String(), true
}
