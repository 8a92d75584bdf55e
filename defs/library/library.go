// Package library holds the definitions and messages that ship with the program, so that the first start shows something and
// every command works with nothing configured. All of it was written for this purpose.
package library

import (
	"embed"
	"encoding/json"
	"io/fs"
)

//go:embed tera
var files embed.FS

// Dialect returns the definitions of one dialect.
func Dialect(name string) (fs.FS, bool) {
	if _, err := fs.Stat(files, name); err != nil {
		return nil, false
	}
	sub, err := fs.Sub(files, name)
	return sub, err == nil
}

// Sample is a message to look at.
type Sample struct {
	Message string `json:"message"` // NAME.VERSION of its definition
	About   string `json:"about"`   // one sentence for people
	Hex     string `json:"hex"`
	Status  string `json:"status"` // what decoding says; empty = ok
}

// Samples are the messages of one dialect, in the order of a menu. The first is what the first start shows.
func Samples(name string) []Sample {
	text, err := files.ReadFile(name + "/samples.json")
	if err != nil {
		return nil
	}
	var out []Sample
	if json.Unmarshal(text, &out) != nil {
		return nil
	}
	return out
}
