package templates

import (
	"fmt"

	"wirebench/codec/bytediff"
)

// changedText says how many bytes of the shown message were changed, inserted and removed.
func changedText(m *Message) string {
	if m.Was == nil {
		return "built here"
	}
	var changed, inserted, removed int
	for _, run := range bytediff.Of(m.Was, m.Data) {
		if run.Kind != bytediff.Equal {
			both := min(run.ASize, run.BSize)
			changed, inserted, removed = changed+both, inserted+run.BSize-both, removed+run.ASize-both
		}
	}
	said := ""
	for _, c := range []struct {
		n    int
		what string
	}{{changed, "changed"}, {inserted, "inserted"}, {removed, "removed"}} {
		switch {
		case c.n == 0:
		case said == "":
			said = count(c.n, "byte") + " " + c.what
		default:
			said += fmt.Sprintf(", %d %s", c.n, c.what)
		}
	}
	if said == "" {
		said = count(0, "byte") + " changed"
	}
	return said
}

func changedTitle(m *Message) string {
	if m.Was == nil {
		return "These bytes were encoded from values"
	}
	return fmt.Sprintf("%s when pasted", count(len(m.Was), "byte"))
}
