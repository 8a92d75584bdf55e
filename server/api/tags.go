package api

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/access"
)

// tags are the groups of operations in the document, with the first steps of their paths, below the project if they are of one. The first
// that matches applies; the last has the rest.
var tags = []struct {
	name, about string
	paths       []string
}{
	{"start", "First requests: decode, encode and upload without knowing the projects of the server.", []string{"/api/v1/decode", "/api/v1/encode", "/api/v1/upload"}},
	{"messages", "Bytes to values and back, by the definitions of a project.", []string{"decode", "encode", "layout", "paste", "filter", "framing", "envelope"}},
	{"projects", "Projects, which separate libraries, and their settings.", []string{"/api/v1/projects", "", "settings", "people", "demo"}},
	{"captures", "Captures, their frames, notes and exports.", []string{"captures"}},
	{"live", "Listeners that pass on traffic, held messages, rules, replays.", []string{"proxies", "replays", "/ws/"}},
	{"comments", "Comments on definitions, suggestions, and findings that are shared as one page.", []string{"threads", "capsules"}},
	{"definitions", "The files of a project: definitions, code maps, samples, their history and the code made of them.", []string{""}},
}

// tagOf returns the group of a path.
func tagOf(path string) string {
	below, inProject := strings.CutPrefix(path, "/api/v1/projects/{project}")
	first, _, _ := strings.Cut(strings.TrimPrefix(below, "/"), "/")
	for _, t := range tags {
		for _, p := range t.paths {
			if inProject && p == first || !inProject && p != "" && strings.HasPrefix(path, p) {
				return t.name
			}
		}
	}
	return tags[len(tags)-1].name
}

// group gives an operation its group, and says in its description what role it needs.
func group(op *huma.Operation, path string) {
	op.Tags = []string{tagOf(path)}
	where := " in the project."
	if !strings.Contains(path, "{") {
		where = " in a project."
	}
	operation := op.Method + " " + path
	if access.InAll(operation) {
		where = " in all projects."
	}
	needs := "Needs the role " + access.Needs(operation).String() + where
	if more := about[op.OperationID]; more != "" {
		op.Description = strings.TrimSpace(op.Description + " " + more)
	}
	if op.Description == "" {
		op.Description = op.Summary + "."
	}
	op.Description += " " + needs
}

// about are descriptions of operations by their ids, beyond the summary.
var about = map[string]string{
	"decode-any": "Also at /api/decode. Send a definition with its language, or the name of a project. Everything else is as in POST /api/v1/projects/{project}/decode.",
	"encode-any": "Also at /api/encode. Send a definition with its language, or the name of a project. Everything else is as in POST /api/v1/projects/{project}/encode.",
	"upload-any": "Also at /api/upload. The field project, before the files, or the query names a project; without it the files become a new one, for which the role operator in " +
		"all projects is needed. The fields of a new project are those of POST /api/v1/projects. Everything else is as in POST /api/v1/projects/{project}/upload.",
	"decode":          "A message is decoded by the definition that its code selects, by a named one, or by a text in the request. Each has one result, in order; what is wrong with a message is in its result.",
	"encode":          "Missing values are zero or empty; lengths, counts and offsets are computed. What does not fit is an error with the path of the value.",
	"layout":          "A definition with mistakes is answered with status 200 and its diagnostics: it may be half typed.",
	"upload":          "The answer says file by file what was done with it. Stored files with another text are kept unless replace is true.",
	"make-project":    "JSON makes an empty project, one of a folder on the server, or a copy; a form makes one of its files.",
	"write":           "If-Match names the revision that is replaced, and * any; without it only a new file is written.",
	"add-capture":     "The body is the file, as it is: a capture in any known format, compressed or not, or the text of a conversation.",
	"delete-project":  "A deleted project can be restored with PATCH. Deleted again, with forever, its files are removed.",
	"copy-capture":    "The person needs the role author in the project of the copy.",
	"patch-capture":   "Missing members stay. Settings other than notes and marks need the role author.",
	"stop-proxy":      "Connections through it are closed, and its recording stays as a capture.",
	"forget-history":  "Removes what the definition was before, for good; the definition stays.",
	"drop-capture":    "Removes the file and all notes about it, for good.",
	"definitions-zip": "Definitions, code maps and samples in their folders, as they are stored.",
	"workspace":       "Its settings, and how many definitions and messages it has.",
}

// streamed describes the second form of decode, a stream of messages.
func streamed(op *huma.Operation) {
	const kind = "application/x-ndjson"
	line := &huma.Schema{Type: huma.TypeString, Description: "lines, each a message: hex, a JSON string of hex, or {\"hex\":…, \"dir\":…, \"group\":…}"}
	op.RequestBody.Content[kind] = &huma.MediaType{Schema: line}
	op.Responses["200"].Content[kind] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Description: "a line for each message, as an element of results"}}
}
