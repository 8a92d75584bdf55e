package mavlink

import (
	"strings"

	"wirebench/defs/diag"
	"wirebench/defs/schema"
)

// scalar is the type of a number, or of the elements of an array.
type scalar struct {
	name string // as in checksums
	size int    // bytes
	kind schema.NumKind
}

var scalars = []scalar{
	{"char", 1, schema.Unsigned},
	{"uint8_t", 1, schema.Unsigned},
	{"int8_t", 1, schema.Signed},
	{"uint16_t", 2, schema.Unsigned},
	{"int16_t", 2, schema.Signed},
	{"uint32_t", 4, schema.Unsigned},
	{"int32_t", 4, schema.Signed},
	{"uint64_t", 8, schema.Unsigned},
	{"int64_t", 8, schema.Signed},
	{"float", 4, schema.Float},
	{"double", 8, schema.Float},
}

// versionType is the type of the version of the protocol. It is a uint8_t in checksums, too.
const versionType = "uint8_t_mavlink_version"

func scalarNamed(name string) (scalar, bool) {
	if name == versionType {
		name = "uint8_t"
	}
	for _, s := range scalars {
		if s.name == name {
			return s, true
		}
	}
	return scalar{}, false
}

// nearType returns the type that was probably meant, "" if there is none.
func nearType(typ string) string {
	name, rest, _ := strings.Cut(typ, "[")
	if _, ok := scalarNamed(name + "_t"); ok {
		name += "_t"
	} else {
		all := make([]string, len(scalars))
		for i := range scalars {
			all[i] = scalars[i].name
		}
		if name = diag.Nearest(name, all); name == "" {
			return ""
		}
	}
	if rest != "" {
		name += "[" + rest
	}
	return name
}
