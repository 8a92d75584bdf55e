package filter

// Print parses a filter and returns its canonical form. ok is false if it is invalid.
func Print(text string) (string, bool) {
	root, _, _, mistakes := read(text)
	if len(mistakes) > 0 {
		return "", false
	}
	return root.String(), true
}
