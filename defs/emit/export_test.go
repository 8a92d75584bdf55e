package emit

// Omitted returns a line for each message that a target omits.
func Omitted(list []Loss) []string {
	lines, _ := reasons(list, false)
	return lines
}
