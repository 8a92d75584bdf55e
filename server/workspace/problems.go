package workspace

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"wirebench/codec/transport"
	"wirebench/codec/view"
)

// ProblemCount counts the frames of a type with the same problem.
type ProblemCount struct {
	Name    string `json:"name" doc:"of the message; problem for the transport"`
	Code    string `json:"code" doc:"of the problem: transport, unknown-message, or as in decode"`
	Path    string `json:"path,omitempty" doc:"of the field; elements of lists are []"`
	Message string `json:"message" doc:"of the first frame"`
	Frames  uint64 `json:"frames"`
	First   uint64 `json:"first" doc:"number of the first frame, from 1"`

	Warning bool `json:"-"`
}

type problemKey struct{ name, code, path string }

// maxProblems bounds the problems that are counted apart: a capture can have any number of names.
const maxProblems = 1 << 16

// OtherNames is the name of the problems beyond the bound.
const OtherNames = "(others)"

// Problems counts the problems of frames.
type Problems struct {
	of map[problemKey]*ProblemCount
}

// Add counts the problems of the frame of a reading, each once, and reports whether there are any.
func (s *Problems) Add(r *Reading) bool {
	x := r.frame
	if x.Kind == transport.Problem {
		s.count(problemKey{"problem", "transport", x.Note}, x, x.Note, false) // the kinds of notes are few, but their numbers differ
		return true
	}
	rec := r.Record()
	if rec == nil {
		unknown := x.Kind == transport.Message && r.Message() == nil
		if unknown {
			s.count(problemKey{r.Name(), "unknown-message", ""}, x, "no definition", true)
		}
		return unknown
	}
	list := view.Problems(rec)
	if len(list) == 0 {
		return false
	}
	name := r.Name()
	for i, p := range list {
		key := keyOf(name, p)
		if !slices.ContainsFunc(list[:i], func(q view.ProblemInfo) bool { return keyOf(name, q) == key }) {
			s.count(key, x, p.Message, p.Severity != "error")
		}
	}
	return true
}

var elementIndex = regexp.MustCompile(`\[\d+\]`)

// keyOf returns the key of a problem, the same for all elements of a list.
func keyOf(name string, p view.ProblemInfo) problemKey {
	return problemKey{name, p.Code, elementIndex.ReplaceAllString(p.Path, "[]")}
}

func (s *Problems) count(key problemKey, x *transport.Frame, message string, warning bool) {
	c := s.of[key]
	if c == nil && len(s.of) >= maxProblems {
		key = problemKey{OtherNames, "", ""}
		c = s.of[key]
	}
	if c == nil {
		c = &ProblemCount{Name: key.name, Code: key.code, Message: message, First: uint64(x.N), Warning: warning}
		if key.code != "transport" {
			c.Path = key.path
		}
		if s.of == nil {
			s.of = map[problemKey]*ProblemCount{}
		}
		s.of[key] = c
	}
	c.Frames++
}

// Sorted returns the counts, the most frequent problems first.
func (s *Problems) Sorted() []*ProblemCount {
	return slices.SortedFunc(maps.Values(s.of), func(a, b *ProblemCount) int {
		return cmp.Or(cmp.Compare(b.Frames, a.Frames), cmp.Compare(a.First, b.First), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Path, b.Path))
	})
}

// Name returns the name of the frame's type: of its message, its code or its kind.
func (r *Reading) Name() string {
	switch m := r.Message(); {
	case m != nil && r.Record() != nil:
		return m.Name
	case m == nil && r.frame.Name != "":
		return r.frame.Name
	case r.frame.HasKey && r.def.code != "":
		return r.def.code
	case r.frame.HasKey:
		return codeName(r.frame.Key.Code)
	}
	return r.frame.Kind.String()
}

// codeName returns the text for a code without a definition.
func codeName(code uint32) string { return fmt.Sprintf("? 0x%02X", code) }
