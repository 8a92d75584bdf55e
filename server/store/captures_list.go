package store

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
)

// capturedAt is how much of an id tells when its capture came, to the second.
const capturedAt = len("20060102-150405")

// ListSince are the captures that came in the second of the one of an id or later, that one among them, the newest first. It reads what is
// said of these alone, so that asking again and again costs little.
func (c *Captures) ListSince(id string) ([]Capture, error) {
	root, err := c.dir.root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, failure("list captures", c.dir.path, err)
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
	slices.SortFunc(out, func(a, b Capture) int { return cmp.Or(b.Added.Compare(a.Added), strings.Compare(b.ID, a.ID)) })
	return out, nil
}
