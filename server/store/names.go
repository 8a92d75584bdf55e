package store

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"wirebench/defs"
)

// Bounds of names. A name within them fits every common file system.
const (
	maxElementBytes = 200
	maxNameBytes    = 500
	maxElements     = 8
)

// NameError reports an invalid file name. Reason is for display.
type NameError struct{ Name, Reason string }

func (e *NameError) Error() string { return fmt.Sprintf("%q: %s", e.Name, e.Reason) }

// CheckName checks that a file may have a name: a slash path below the folder that is valid on every system. The error is a *NameError.
func CheckName(name string) error {
	if reason := nameReason(name); reason != "" {
		return &NameError{name, reason}
	}
	return nil
}

// nameReason returns the reason why a name is invalid, "" if it is valid.
func nameReason(name string) string {
	switch {
	case name == "":
		return "the name is empty"
	case !utf8.ValidString(name):
		return "the name is not UTF-8"
	case len(name) > maxNameBytes:
		return fmt.Sprintf("the name has %d bytes, at most %d are allowed", len(name), maxNameBytes)
	}
	elements := strings.Split(name, "/")
	for _, element := range elements {
		if reason := elementReason(element); reason != "" {
			return reason
		}
	}
	if len(elements) > maxElements {
		return fmt.Sprintf("at most %d folders deep", maxElements)
	}
	if !fs.ValidPath(name) {
		return "not a path below the folder"
	}
	return ""
}

// elementReason is nameReason for one element of a path.
func elementReason(element string) string {
	switch {
	case element == "" || element == "." || element == "..":
		return "not a path below the folder"
	case element[0] == '.':
		return "names that start with a dot are reserved for other programs"
	case element == leftOut:
		return "files in " + leftOut + " are not read"
	case len(element) > maxElementBytes:
		return fmt.Sprintf("%d bytes between slashes, at most %d are allowed", len(element), maxElementBytes)
	case strings.HasSuffix(element, ".") || strings.HasSuffix(element, " "):
		return "Windows does not allow a dot or a space at the end"
	case reserved(element):
		return "Windows reserves this name for a device"
	}
	for _, r := range element {
		if !unicode.IsPrint(r) {
			return fmt.Sprintf("the character %U is not printable", r)
		}
		if strings.ContainsRune(`\:*?"<>|`, r) {
			return fmt.Sprintf("the character %c is not allowed in names", r)
		}
	}
	return ""
}

// reserved reports whether Windows reserves a name for a device, with or without an ending: NUL.def is the device NUL.
func reserved(element string) bool {
	stem, _, _ := strings.Cut(element, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	for _, port := range []string{"COM", "LPT"} {
		if number, ok := strings.CutPrefix(stem, port); ok && utf8.RuneCountInString(number) == 1 {
			return strings.Contains("0123456789¹²³", number)
		}
	}
	return false
}

// leftOut is a directory that package managers fill with downloaded files.
const leftOut = "node_modules"

// SamplesEnding is the ending of sample files. List reads them beside definitions and maps.
const SamplesEnding = ".samples.jsonl"

// EnvelopeEnding is the ending of files that say how messages travel.
const EnvelopeEnding = ".envelope"

// ValidityName is the name of files with the versions of the game that definitions are valid for.
const ValidityName = "deprecated.json"

// counts reports whether a name has the ending of a definition, map or sample file, or is ValidityName.
func counts(name string) bool {
	if path.Base(name) == ValidityName {
		return true
	}
	return defs.MayDefine(name) || strings.EqualFold(path.Ext(name), ".map") || strings.EqualFold(path.Ext(name), EnvelopeEnding) || strings.HasSuffix(name, SamplesEnding)
}

// hidden reports whether walks skip a directory or file silently.
func hidden(element string) bool { return strings.HasPrefix(element, ".") || element == leftOut }

// fold returns the same text for names that differ only in case, as strings.EqualFold compares them.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, name)
}
