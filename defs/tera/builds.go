package tera

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"wirebench/defs/source"
)

// Revisions is the name of the file that gives the patches of builds: {"373824": "eu-98.02/98"}, a region, the patch, and the version of the
// system messages where it differs.
const Revisions = "revisions.json"

// maxRevisions bounds the text of Revisions in bytes.
const maxRevisions = 1 << 20

// patchesOfBuilds are the patches of builds that are public in any case.
var patchesOfBuilds = map[string]string{"373824": "98.02"}

// BuildOfMap returns the build that an opcode map is for, "" if its name does not tell it.
func BuildOfMap(name string) string {
	if kind, n, ok := ParseMapName(name); ok && kind == OpcodeMap {
		return strconv.Itoa(n)
	}
	return ""
}

// MapOfBuild returns the name of the opcode map of a build.
func MapOfBuild(build string) string { return "protocol." + build + ".map" }

// patchInComment finds a patch in the comments before the first name of a map: "# patch 98.02", "# version: eu-98.02".
var patchInComment = regexp.MustCompile(`(?i)\b(?:patch|version)\s*[:=]?\s*(?:[a-z]+-)?(\d{1,3}(?:\.\d{1,2})?)\b`)

// MapOptions returns the patch that an opcode map belongs to: as its comments, revisions or public knowledge of its build tell. It is empty if
// none does.
func MapOptions(f *source.File, revisions []byte) map[string]string {
	patch := patchOfMap(f)
	if patch == "" {
		patch = patchOfBuild(BuildOfMap(f.Name), revisions)
	}
	if n, err := ParsePatch(patch); err == nil && n > 0 {
		return map[string]string{"patch": FormatPatch(n)}
	}
	return nil
}

func patchOfMap(f *source.File) string {
	for n := 1; n <= min(f.NumLines(), 20); n++ {
		line := f.Line(n)
		if word, _, _ := mapLine(line); !word.IsZero() {
			break
		}
		if m := patchInComment.FindStringSubmatch(line.Text()); m != nil {
			return m[1]
		}
	}
	return ""
}

func patchOfBuild(build string, revisions []byte) string {
	var all map[string]string
	if build == "" || len(revisions) > maxRevisions || json.Unmarshal(revisions, &all) != nil || all[build] == "" {
		return patchesOfBuilds[build]
	}
	patch, _, _ := strings.Cut(all[build], "/")
	return patch[strings.LastIndexByte(patch, '-')+1:]
}
