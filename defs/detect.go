package defs

import (
	"strings"

	"wirebench/defs/source"
)

// maxDetectLines is the number of lines that Detect examines.
const maxDetectLines = 400

// Detect returns the dialect of a file, determined from its name if the name is specific to a dialect, otherwise by majority among its
// lines. ok is false for maps, scripts and other files with an extension other than .def, .txt and .json.
func Detect(f *source.File) (dialect string, ok bool) {
	for _, d := range Dialects {
		if d.IsFile != nil && d.IsFile(f.Name) {
			return d.Name, true
		}
	}
	if base := f.Name[strings.LastIndexByte(f.Name, '/')+1:]; strings.Contains(base, ".") &&
		!strings.HasSuffix(base, ".def") && !strings.HasSuffix(base, ".txt") && !strings.HasSuffix(base, ".json") {
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
