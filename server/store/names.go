package store

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of names. Below them, a name fits every file system that people copy a folder to.
const (
	maxElementBytes = 200
	maxNameBytes    = 500
	maxElements     = 8
)

// NameError reports an invalid file name. Reason is for display.
type NameError struct{ Name, Reason string }

func (e *NameError) Error() string { return fmt.Sprintf("%q: %s", e.Name, e.Reason) }

// CheckName reports whether a file may have that name: a slash path below the folder that every system can hold. The error is a
// *NameError.
func CheckName(name string) error {
	if reason := nameReason(name); reason != "" {
		return &NameError{name, reason}
	}
	return nil
}

// nameReason says what is wrong with a name; "" = nothing.
func nameReason(name string) string {
	switch {
	case name == "":
		return "a file has a name"
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
		return fmt.Sprintf("at most %d names deep", maxElements)
	}
	if !fs.ValidPath(name) {
		return "not a path below the folder"
	}
	return ""
}

// elementReason is nameReason for what stands between two slashes.
func elementReason(element string) string {
	switch {
	case element == "" || element == "." || element == "..":
		return "not a path below the folder"
	case element[0] == '.':
		return "names that start with a dot are for other programs"
	case element == leftOut:
		return "what is below " + leftOut + " is not read"
	case len(element) > maxElementBytes:
		return fmt.Sprintf("%d bytes between slashes, at most %d are allowed", len(element), maxElementBytes)
	case strings.HasSuffix(element, ".") || strings.HasSuffix(element, " "):
		return "Windows cannot keep a dot or a space at the end"
	case reserved(element):
		return "Windows keeps this name for a device"
	}
	for _, r := range element {
		if !unicode.IsPrint(r) {
			return fmt.Sprintf("the character %U does not show", r)
		}
		if strings.ContainsRune(`\:*?"<>|`, r) {
			return fmt.Sprintf("a name cannot hold %c everywhere", r)
		}
	}
	return ""
}

// reserved tells names of devices, which Windows does not take with an ending either: NUL.def is the device NUL.
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

// leftOut is a directory that package managers fill with other people's files.
const leftOut = "node_modules"

// SamplesEnding is the ending of files of samples, the one kind beside definitions and maps that List reads.
const SamplesEnding = ".samples.jsonl"

// counts reports whether the ending of a name is one of definitions, maps or samples.
func counts(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".def", ".map", ".txt", "":
		return true
	}
	return strings.HasSuffix(name, SamplesEnding)
}

// hidden reports whether a directory or file is left out without a word.
func hidden(element string) bool { return strings.HasPrefix(element, ".") || element == leftOut }

// fold makes names equal that differ only in case, as strings.EqualFold does.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, name)
}
