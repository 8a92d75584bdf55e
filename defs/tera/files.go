package tera

import (
	"path"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/text"
)

// maxVersion limits the numbers in file names: versions, client revisions and patches.
const maxVersion = 1<<31 - 1

// FileName is the parsed name of a definition file.
type FileName struct {
	Name     string // of the message, case-sensitive: "S_CHAT"
	Version  int    // from 1; 0 in private definitions of users
	Platform string // "" = all platforms
}

// ParseFileName parses NAME.VERSION.def or NAME.VERSION.PLATFORM.def, ignoring folders. A name and a platform consist of letters, digits
// and "_".
func ParseFileName(path string) (FileName, bool) {
	stem, ok := strings.CutSuffix(baseName(path), ".def")
	if !ok {
		return FileName{}, false
	}
	name, rest, ok := strings.Cut(stem, ".")
	if !ok || !text.IsWord(name) {
		return FileName{}, false
	}
	digits, platform, hasPlatform := strings.Cut(rest, ".")
	version, ok := number(digits)
	if !ok || hasPlatform && !text.IsWord(platform) {
		return FileName{}, false
	}
	return FileName{Name: name, Version: version, Platform: platform}, true
}

// String returns the file name without folders.
func (n FileName) String() string {
	s := n.Name + "." + strconv.Itoa(n.Version)
	if n.Platform != "" {
		s += "." + n.Platform
	}
	return s + ".def"
}

// Direction returns the direction of a message, determined from the prefix of its name: C_ and CU_ are client to server, S_, SU_ and
// TTB_S_ are server to client. All other names, including I_ for internal messages, are Both.
func Direction(name string) schema.Dir {
	switch {
	case strings.HasPrefix(name, "C_"), strings.HasPrefix(name, "CU_"):
		return schema.ToServer
	case strings.HasPrefix(name, "S_"), strings.HasPrefix(name, "SU_"), strings.HasPrefix(name, "TTB_S_"):
		return schema.ToClient
	}
	return schema.Both
}

// MapKind is the kind of the codes in a map file.
type MapKind uint8

// The kinds of maps.
const (
	OpcodeMap MapKind = iota // protocol.<client revision>.map
	SysmsgMap                // sysmsg.<major patch>.map: codes of system messages
)

// IsCodeMap reports whether a file of this name is a map from message names to codes: *.map, except for maps of other numbers.
func IsCodeMap(name string) bool {
	kind, _, ok := ParseMapName(name)
	return path.Ext(name) == ".map" && (!ok || kind == OpcodeMap)
}

// ParseMapName parses protocol.<revision>.map or sysmsg.<major patch>.map, ignoring folders.
func ParseMapName(path string) (kind MapKind, n int, ok bool) {
	stem, ok := strings.CutSuffix(baseName(path), ".map")
	if !ok {
		return 0, 0, false
	}
	prefix, digits, _ := strings.Cut(stem, ".")
	switch prefix {
	case "protocol":
		kind = OpcodeMap
	case "sysmsg":
		kind = SysmsgMap
	default:
		return 0, 0, false
	}
	n, ok = number(digits)
	return kind, n, ok
}

// baseName returns the part after the last slash.
func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// number parses decimal digits, up to maxVersion.
func number(s string) (int, bool) {
	if s == "" || len(s) > 10 {
		return 0, false
	}
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, n <= maxVersion
}
