package tera

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"wirebench/defs/source"
)

// maxMajor limits the major number of a patch. The last clients had less than 120.
const maxMajor = 9999

// newest represents the newest patch, which is later than every number.
const newest = math.MaxInt

// ParsePatch parses a game version to major × 100 + minor. A version is the decimal number major + minor/100, so the minor number has two
// digits and a missing one is zero: "73" is 7300, "98.02" is 9802, and "98.2" is 98.20, which is 9820.
func ParsePatch(s string) (int, error) {
	major, fraction, dot := strings.Cut(s, ".")
	n, ok := number(major)
	if !ok || n > maxMajor || dot && (len(fraction) < 1 || len(fraction) > 2) {
		return 0, fmt.Errorf("%q is not a game version: write the major number and at most two digits of the minor number, as in 98.02", s)
	}
	if !dot {
		return n * 100, nil
	}
	minor, ok := number(fraction)
	if !ok {
		return 0, fmt.Errorf("%q is not a game version: digits are expected after the point, as in 98.02", s)
	}
	if len(fraction) == 1 {
		minor *= 10
	}
	return n*100 + minor, nil
}

// FormatPatch returns the text of a patch: 9802 is "98.02", 7300 is "73".
func FormatPatch(patch int) string {
	if patch%100 == 0 {
		return fmt.Sprint(patch / 100)
	}
	return fmt.Sprintf("%d.%02d", patch/100, patch%100)
}

// patchesOf returns one patch for each meaning of a definition: fields have ranges of patches, and a skillid grew at one.
func patchesOf(f *source.File) []string {
	bounds := []int{firstLongSkill}
	lines := parseTree(f).lines
	for i := range lines {
		for _, at := range []int{lines[i].from, lines[i].to} {
			if at > 0 && at != newest {
				bounds = append(bounds, at)
			}
		}
	}
	slices.Sort(bounds)
	patches := []string{FormatPatch(max(bounds[0]-100, 0))}
	for _, at := range slices.Compact(bounds) {
		patches = append(patches, FormatPatch(at))
	}
	return patches
}
