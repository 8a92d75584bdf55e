package page

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// applied applies a change to a list, as web/src/morph.ts does.
func applied(have []string, c *ListChange) []string {
	if c == nil {
		return have
	}
	for i, html := range c.Change {
		have[i] = html
	}
	switch {
	case c.Remove < 0:
		return slices.Clone(c.New)
	case len(c.Change) == 0:
		return slices.Concat(have[:c.At], c.New, have[c.At+c.Remove:])
	}
	return have
}

// For any sequence of lists the page has the rendered list after each change, and nothing is sent without a change.
func TestListChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sent := sentLists{}
		var page []string
		lists := rapid.SliceOfN(rapid.SliceOfN(rapid.StringMatching("[abc]"), 0, 6), 1, 6).Draw(t, "lists")
		for i, list := range lists {
			items := make([]drawn, len(list))
			for k, text := range list {
				items[k] = drawn{uint64(text[0]), text}
			}
			c := sent.change("x", items)
			if i > 0 && slices.Equal(lists[i-1], list) && c != nil {
				t.Fatalf("sent for nothing: %+v", c)
			}
			if page = applied(page, c); !slices.Equal(page, list) {
				t.Fatalf("the page has %v, drawn was %v (%+v)", page, list, c)
			}
		}
	})
}
