package replay

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"wirebench/codec"
	"wirebench/codec/corpus"
)

// comparison holds the parameters for comparing two messages.
type comparison struct {
	expected []byte
	how      Tolerance
	ignore   []pattern
	lifted   []string          // paths that never differ
	renamed  map[string]string // lifted values: recorded to live
	room     int               // number of differences that may still be listed
}

// minRenamed is the minimum length of a lifted value, in characters as shown, for its replacement to be expected in other fields as well: a 1
// that became a 2 implies nothing about other fields.
const minRenamed = 5

// compare lists the differences that count; more is the number of differences not listed.
func (c *comparison) compare(want *codec.Record, got *arrived, rec *codec.Record) (diffs []Difference, more int) {
	add := func(path, a, b string) {
		if len(diffs) < c.room {
			diffs = append(diffs, Difference{path, cut(a), cut(b)})
		} else {
			more++
		}
	}
	whole := func() {
		switch {
		case bytes.Equal(c.expected, got.Bytes) || c.how == Shape && len(c.expected) == len(got.Bytes):
		case c.how == Shape:
			add("", fmt.Sprintf("%d bytes", len(c.expected)), fmt.Sprintf("%d bytes", len(got.Bytes)))
		default:
			at := 0
			for at < len(c.expected) && at < len(got.Bytes) && c.expected[at] == got.Bytes[at] {
				at++
			}
			add(fmt.Sprintf("byte %d", at), hexAt(c.expected, at), hexAt(got.Bytes, at))
		}
	}
	if got.def == nil || rec == nil {
		whole()
		return diffs, more
	}
	rec.Program.Decode(want, c.expected)
	rows, ok := corpus.Diff(want, rec)
	if !ok {
		whole()
		return diffs, more
	}
	explained := false // a difference was found, whether it counts or not
	for i := range rows {
		row := &rows[i]
		if row.Same {
			continue
		}
		explained = true
		if slices.Contains(c.lifted, row.Path) {
			if row.HasA && row.HasB && len(row.A) >= minRenamed && len(c.renamed) < MaxVars {
				c.renamed[row.A] = row.B
			}
			continue
		}
		if live, ok := c.renamed[row.A]; ok && row.HasA && row.HasB && live == row.B {
			continue
		}
		switch c.how {
		case Fields:
			if row.Role != codec.RoleValue.String() {
				continue
			}
		case Shape:
			if row.HasA == row.HasB || strings.Contains(row.Path, "[") || row.Role != codec.RoleValue.String() {
				continue
			}
		}
		if slices.ContainsFunc(c.ignore, func(p pattern) bool { return p.matchesField(got.def.Name, row.Path) }) {
			continue
		}
		a, b := row.A, row.B
		if !row.HasA {
			a = "nothing"
		}
		if !row.HasB {
			b = "nothing"
		}
		add(row.Path, a, b)
	}
	if c.how == Exact && !explained {
		whole() // bytes outside all fields
	}
	return diffs, more
}

func hexAt(data []byte, at int) string {
	if at >= len(data) {
		return "end of message"
	}
	return hex.EncodeToString(data[at:min(len(data), at+16)])
}

// cut truncates a value for display.
func cut(s string) string {
	if len(s) > maxShown {
		return strings.ToValidUTF8(s[:maxShown], "") + "…"
	}
	return s
}
