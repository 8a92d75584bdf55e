package tera

import (
	"fmt"
	"math"
	"strings"
)

// maxMajor bounds the major number of a patch. Real clients ended below 120.
const maxMajor = 9999

// newest stands for the newest patch, which is later than every number.
const newest = math.MaxInt

// ParsePatch reads a game version as major × 100 + minor. A version is the decimal number major + minor/100, so its fraction
// is two digits of minor and a missing one is zero: "73" is 7300, "98.02" is 9802, and "98.2" is 98.20, which is 9820.
func ParsePatch(s string) (int, error) {
	major, fraction, dot := strings.Cut(s, ".")
	n, ok := number(major)
	if !ok || n > maxMajor || dot && (len(fraction) < 1 || len(fraction) > 2) {
		return 0, fmt.Errorf("%q is no game version: write the major number and at most two digits of minor, as in 98.02", s)
	}
	if !dot {
		return n * 100, nil
	}
	minor, ok := number(fraction)
	if !ok {
		return 0, fmt.Errorf("%q is no game version: after the point come digits, as in 98.02", s)
	}
	if len(fraction) == 1 {
		minor *= 10
	}
	return n*100 + minor, nil
}

// FormatPatch is the text of a patch: 9802 is "98.02", 7300 is "73".
func FormatPatch(patch int) string {
	if patch%100 == 0 {
		return fmt.Sprint(patch / 100)
	}
	return fmt.Sprintf("%d.%02d", patch/100, patch%100)
}
