package store

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
)

// capturedAt is the length of the prefix of an id that holds the time of the upload, to the second.
const capturedAt = len("20060102-150405")

// ListSince returns the captures added in the same second as the capture with the id or later, including that one, newest first. It reads
// only their descriptions, so that frequent calls are cheap.
func (c *Captures) ListSince(id string) ([]Capture, error) {
	root, err := c.dir.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, c.dir.unreadable("list captures", err)
	}
	since := id[:min(len(id), capturedAt)]
	var out []Capture
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), captureEnding); ok && e.Type().IsRegular() && id >= since {
			if x, err := c.about(root, id); err == nil {
				out = append(out, x)
			}
		}
	}
	for _, id := range awayIn(entries) {
		if id >= since {
			if x, err := c.about(root, id); err == nil {
				out = append(out, x)
			}
		}
	}
	slices.SortFunc(out, func(a, b Capture) int { return cmp.Or(b.Added.Compare(a.Added), strings.Compare(b.ID, a.ID)) })
	return out, nil
}
