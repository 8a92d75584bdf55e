package defs

import (
	"path"
	"slices"
	"strings"

	"wirebench/defs/source"
)

// maxDetectLines is the number of lines that Detect examines.
const maxDetectLines = 400

// Detect returns the dialect of a file, determined from its name if the name is specific to a dialect, otherwise by majority among its
// lines. Files with the extensions of one dialect are recognized by their contents. ok is false for maps, scripts and other files.
func Detect(f *source.File) (dialect string, ok bool) {
	for _, d := range Dialects {
		if d.IsFile != nil && d.IsFile(f.Name) {
			return d.Name, true
		}
	}
	switch d, byText := textDialect(f.Name); {
	case byText:
		if !d.IsText(f.Text) {
			return "", false
		}
		return d.Name, true
	case !commonName(f.Name) || path.Ext(f.Name) != strings.ToLower(path.Ext(f.Name)):
		return "", false
	}
	votes := make([]int, len(Dialects))
	for n := 1; n <= min(f.NumLines(), maxDetectLines); n++ {
		line := strings.TrimPrefix(f.Line(n).Text(), "\ufeff")
		for i := len(Dialects) - 1; i >= 0; i-- {
			if Dialects[i].IsLine(line) {
				votes[i]++
				break
			}
		}
	}
	best := -1
	for i := len(votes) - 1; i >= 0; i-- {
		if votes[i] > 0 && (best < 0 || votes[i] > votes[best]) {
			best = i
		}
	}
	if best < 0 {
		return "", false
	}
	return Dialects[best].Name, true
}

// commonExts are the extensions of definitions of several dialects. Files with .def hold definitions whatever their contents.
var commonExts = []string{".def", ".txt", ""}

// commonName reports whether a file of this name may hold definitions of several dialects.
func commonName(name string) bool {
	return slices.Contains(commonExts, strings.ToLower(path.Ext(name)))
}

// textDialect returns the dialect that recognizes the contents of files of this name.
func textDialect(name string) (d Dialect, ok bool) {
	for _, d := range Dialects {
		if d.IsText != nil && d.Rules.Reads(name) {
			return d, true
		}
	}
	return Dialect{}, false
}

// MayDefine reports whether a file of this name may hold definitions, or a bundle of them. Unless IsDefinition is true, its contents decide,
// by Detect and IsBundle.
func MayDefine(name string) bool { return ByContents(name) || commonName(name) }

// ByContents reports whether the contents of a file of this name decide whether it holds definitions: it has an extension of one dialect
// or of its bundles, that other programs use, too.
func ByContents(name string) bool {
	_, byText := textDialect(name)
	return byText || mayBundle(name)
}

// Endings returns the extensions of files that may hold definitions of the dialect, or bundles of them.
func (d *Dialect) Endings() []string {
	all := []string{".txt"}
	for _, ext := range []string{d.Ext, ".yml", ".yaml", ".hpp", ".hh", ".hxx", ".inc"} {
		if ext == d.Ext || d.Rules.Reads("a"+ext) && d.IsText != nil {
			all = append(all, ext)
		}
	}
	if d.Bundle != nil {
		all = append(all, d.Bundle.Exts...)
	}
	return all
}

// Recognizes reports whether a file holds definitions of the dialect whose extension it has.
func Recognizes(name, text string) bool {
	d, byText := textDialect(name)
	return byText && d.IsText(text)
}

// IsDefinition reports whether a file of this name holds definitions whatever its contents.
func IsDefinition(name string) bool { return strings.EqualFold(path.Ext(name), ".def") }
