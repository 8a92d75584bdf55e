package schema

import (
	"errors"

	"wirebench/defs/source"
)

// Bundle is the contents of a file that has a whole library.
type Bundle struct {
	Files []*source.File // definitions and the files about them, in the order of the bundle
	Left  []Left         // what is not in Files
}

// Left is a part of a bundle that is left out, and why.
type Left struct{ Name, Reason string }

// ErrBundle reports a bundle with more files than are allowed.
var ErrBundle = errors.New("the bundle has too many files")
