// Package library holds the definitions and messages that ship inside the program, so that the first start shows a decoded
// message and every command works with nothing configured.
//
// Each dialect has a folder: definitions, a map of message codes where the dialect needs one, samples.jsonl, the messages, and
// demo.pcapng with demo.json, a recorded session and what is noted of it.
// All of it was written for this library. The SubSpace tables are the protocol as its documents give it. In the others the names are
// in the manner of the game, but what a message holds and the codes are made up; they decode nothing of a real one. Together the
// definitions of a dialect show every feature of its language once.
//
// A sample's bytes are never written by hand: samples.jsonl has the value of each, and the tests hold the bytes to what the
// codec makes of it. After a change of a definition or a value:
//
//	go test ./defs/library -update
//
// The recordings are played by a test, too, since that takes more than a library may know:
//
//	go test ./cmd/wirebench -run TestSampleCaptures -update
package library

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed */*.def */*.map */*.jsonl */*.pcapng */*.json
var files embed.FS

// Dialect returns the files of one dialect, and whether there are any.
func Dialect(name string) (fs.FS, bool) {
	if name == "." || strings.Contains(name, "/") {
		return nil, false
	}
	if info, err := fs.Stat(files, name); err != nil || !info.IsDir() {
		return nil, false
	}
	sub, err := fs.Sub(files, name)
	return sub, err == nil
}
