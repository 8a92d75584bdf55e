package defs

import (
	"strings"

	"wirebench/defs/source"
	"wirebench/defs/subspace"
	"wirebench/defs/tera"
)

// The names of the dialects that Detect knows.
const (
	teraName     = "tera"
	mutaName     = "muta"
	subspaceName = "subspace"
)

// maxDetectLines is how many lines decide.
const maxDetectLines = 400

// Detect tells the language of a file. A *.def file that is named NAME.VERSION.def is TERA. Else its lines decide: "group:",
// "packet:", "struct:" or "constants:" at the start of a line is MUTA; "offset size comment", or a number, a size or "?", and
// words, is SubSpace; the name of a TERA type and a name is TERA. Maps, scripts and texts of other endings are nothing.
func Detect(f *source.File) (dialect string, ok bool) {
	if _, ok := tera.ParseFileName(f.Name); ok {
		return teraName, true
	}
	if base := f.Name[strings.LastIndexByte(f.Name, '/')+1:]; strings.Contains(base, ".") &&
		!strings.HasSuffix(base, ".def") && !strings.HasSuffix(base, ".txt") {
		return "", false
	}
	votes := map[string]int{}
	for n := 1; n <= min(f.NumLines(), maxDetectLines); n++ {
		if name := detectLine(f.Line(n).Text()); name != "" {
			votes[name]++
		}
	}
	best := ""
	for _, name := range []string{mutaName, subspaceName, teraName} {
		if votes[name] > votes[best] {
			best = name
		}
	}
	return best, best != ""
}

// detectLine is what a line looks like, or "".
func detectLine(line string) string {
	line = strings.TrimPrefix(line, "\ufeff")
	for _, kind := range []string{"group:", "packet:", "struct:", "constants:"} {
		if strings.HasPrefix(line, kind) {
			return mutaName
		}
	}
	if subspace.IsTableLine(line) {
		return subspaceName
	}
	if hash := strings.IndexByte(line, '#'); hash >= 0 {
		line = line[:hash]
	}
	words := strings.Fields(strings.TrimLeft(line, "- \t"))
	if len(words) < 2 {
		return ""
	}
	if len(words) <= 3 && tera.IsType(words[0]) {
		return teraName
	}
	return ""
}
