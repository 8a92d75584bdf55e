package defs

import (
	"errors"
	"path"
	"slices"
	"strings"

	"wirebench/defs/schema"
)

// BundleFile describes the files of a dialect that have a whole library: definitions and the files about them.
type BundleFile struct {
	Exts []string // of the names that bundles may have, with a dot
	Is   func(name string, data []byte) bool
	Read func(data []byte, most int) (*schema.Bundle, error)
}

// InBundle is between the name of a bundle and that of a part of it: "data.json!/S_CHAT.1.def".
const InBundle = "!/"

// IsBundle reports whether a file has a whole library.
func IsBundle(name string, data []byte) bool { return bundleOf(name, data) != nil }

func bundleOf(name string, data []byte) *BundleFile {
	for _, d := range Dialects {
		if d.Bundle != nil && d.Bundle.Is(name, data) {
			return d.Bundle
		}
	}
	return nil
}

// mayBundle reports whether a file of this name may have a whole library.
func mayBundle(name string) bool {
	return slices.ContainsFunc(Dialects, func(d Dialect) bool {
		return d.Bundle != nil && slices.Contains(d.Bundle.Exts, strings.ToLower(path.Ext(name)))
	})
}

// ReadBundle takes a bundle apart into at most that many files. The error wraps schema.ErrBundle if there are more, or says why the bundle cannot
// be read; then there are no files.
func ReadBundle(name string, data []byte, most int) (*schema.Bundle, error) {
	b := bundleOf(name, data)
	if b == nil {
		return nil, errors.New("not a bundle of definitions")
	}
	return b.Read(data, most)
}
