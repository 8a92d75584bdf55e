package tera

import (
	"path"
	"strconv"
	"strings"

	"wirebench/defs/schema"
	"wirebench/defs/text"
)

// maxVersion bounds the numbers in file names: of a version, a client revision or a patch.
const maxVersion = 1<<31 - 1

// FileName is what the name of a definition says.
type FileName struct {
	Name     string // of the message, case-sensitive: "S_CHAT"
	Version  int    // 1 and up; 0 in definitions that users keep for themselves
	Platform string // "" = every platform
}

// ParseFileName reads NAME.VERSION.def or NAME.VERSION.PLATFORM.def; folders before it are left out. A name and a platform
// are made of letters, digits and "_".
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

// String is the file name without folders.
func (n FileName) String() string {
	s := n.Name + "." + strconv.Itoa(n.Version)
	if n.Platform != "" {
		s += "." + n.Platform
	}
	return s + ".def"
}

// Direction is told by the prefix of a message's name: C_ and CU_ come from the client, S_, SU_ and TTB_S_ from the server.
// I_ messages are internal and, like every other name, may go both ways.
func Direction(name string) schema.Dir {
	switch {
	case strings.HasPrefix(name, "C_"), strings.HasPrefix(name, "CU_"):
		return schema.ToServer
	case strings.HasPrefix(name, "S_"), strings.HasPrefix(name, "SU_"), strings.HasPrefix(name, "TTB_S_"):
		return schema.ToClient
	}
	return schema.Both
}

// MapKind says what the codes of a map file are.
type MapKind uint8

// The kinds of maps.
const (
	OpcodeMap MapKind = iota // protocol.<client revision>.map
	SysmsgMap                // sysmsg.<major patch>.map: the numbers of system messages
)

// IsCodeMap reports whether a file is a map from message names to codes, by its name: *.map, apart from maps of other numbers.
func IsCodeMap(name string) bool {
	kind, _, ok := ParseMapName(name)
	return path.Ext(name) == ".map" && (!ok || kind == OpcodeMap)
}

// ParseMapName reads protocol.<revision>.map or sysmsg.<major patch>.map; folders before it are left out.
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

// baseName is what stands after the last slash.
func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// number reads decimal digits, nothing else, up to maxVersion.
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
