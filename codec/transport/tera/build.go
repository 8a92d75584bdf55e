package tera

import (
	"encoding/binary"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
)

// The client's version check, C_CHECK_VERSION, has the same code and form in every build: an array of index and value, in which index 0 has
// the build.
const (
	checkVersion  = 19900
	maxVersions   = 16 // elements of the array
	versionFields = 12 // bytes of an element: its place, the next one's, index, value
)

// Build returns the build of the client that a message names.
func Build(f *transport.Frame) (build uint32, ok bool) {
	data := f.Bytes
	if f.Kind != transport.Message || f.Dir == schema.ToClient || f.Key.Code != checkVersion || len(data) < 8 {
		return 0, false
	}
	at := int(binary.LittleEndian.Uint16(data[6:]))
	for range min(binary.LittleEndian.Uint16(data[4:]), maxVersions) {
		if at < 8 || at+versionFields > len(data) || int(binary.LittleEndian.Uint16(data[at:])) != at {
			return 0, false
		}
		if binary.LittleEndian.Uint32(data[at+4:]) == 0 {
			build = binary.LittleEndian.Uint32(data[at+8:])
			return build, build > 0 && build < 1<<31
		}
		at = int(binary.LittleEndian.Uint16(data[at+2:]))
	}
	return 0, false
}
