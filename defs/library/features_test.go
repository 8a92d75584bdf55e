package library_test

import (
	"slices"
	"strings"
	"testing"

	"wirebench/defs/schema"
)

// teraFeatures are the features of the language that the definitions must have an example of: the types as written, and the features that
// features.message finds.
var teraFeatures = []string{
	"bool", "byte", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float", "double",
	"angle", "vec3", "vec3fa", "skillid", "skillid32", "customize",
	"string", "bytes", "object", "array", "array<int32>", "array<uint32>", "array<string>",
	"array[interleaved]", "array<vec3>[interleaved]",

	"doc of a message", "doc of a message of two lines", "doc of a field", "doc of a field of two lines",
	"list in a list in a list", "object in an element", "text in an object", "several booleans",
	"contents in another order than their pointers", "interleaved lists",
	"versions with different fields", "message to the server", "message to the client", "message in both directions", "message without fields",
	"field of another file", "fields that depend on the patch",
}

// TestFeatures checks that the definitions have an example of every feature of the language.
func TestFeatures(t *testing.T) {
	s := load(t, "tera", 0)
	found := features{}
	for _, m := range s.Messages {
		found.message(m)
		if other := s.Find(m.Name, m.Version+1); other != nil && !slices.Equal(shape(m), shape(other)) {
			found.add("versions with different fields", m)
		}
	}
	for _, patch := range []int{7300, 8500, 9000} {
		for _, old := range load(t, "tera", patch).Messages {
			if m := s.Find(old.Name, old.Version); !slices.Equal(shape(old), shape(m)) {
				found.add("fields that depend on the patch", m)
			}
		}
	}

	for _, f := range teraFeatures {
		if len(found[f]) == 0 {
			t.Errorf("no definition has an example of: %s", f)
		}
	}
	for f := range found {
		if !slices.Contains(teraFeatures, f) {
			t.Errorf("%s, as in %v, is not in the list", f, found[f])
		}
	}
}

// features maps features to the messages that have them.
type features map[string][]string

func (f features) add(what string, m *schema.Message) {
	if !slices.Contains(f[what], m.Name) {
		f[what] = append(f[what], m.Name)
	}
}

// message adds the features of a message.
func (f features) message(m *schema.Message) {
	f.add(map[schema.Dir]string{
		schema.ToServer: "message to the server", schema.ToClient: "message to the client", schema.Both: "message in both directions",
	}[m.Key.Dir], m)
	if len(m.Body.Fields) == 0 {
		f.add("message without fields", m)
	}
	f.doc("doc of a message", m.Doc, m)
	f.group(m, m.Body, place{})
	f.wire(m, m.Body)
}

func (f features) doc(what, doc string, m *schema.Message) {
	switch {
	case strings.Contains(doc, "\n"):
		f.add(what+" of two lines", m)
	case doc != "":
		f.add(what, m)
	}
}

// place is the context of a struct.
type place struct {
	lists    int // number of enclosing lists
	inObject bool
}

// group adds the features of the fields of a struct.
func (f features) group(m *schema.Message, s *schema.Struct, at place) {
	truths := 0
	for _, field := range s.Fields {
		f.add(field.TypeText, m)
		f.doc("doc of a field", field.Doc, m)
		if field.Span.File != m.Span.File {
			f.add("field of another file", m)
		}
		switch typ := field.Type.(type) {
		case *schema.Number:
			if typ.Kind == schema.Bool {
				truths++
			}
		case *schema.Text:
			if at.inObject {
				f.add("text in an object", m)
			}
		case *schema.Group:
			if field.TypeText != "object" {
				continue // a vector: its parts are not in the definition
			}
			if at.lists > 0 {
				f.add("object in an element", m)
			}
			f.group(m, typ.Struct, place{at.lists, true})
		case *schema.List:
			inside := place{lists: at.lists + 1}
			if inside.lists == 3 && !typ.Bare {
				f.add("list in a list in a list", m)
			}
			if !typ.Bare {
				f.group(m, typ.Elem, inside)
			}
			f.wire(m, typ.Elem)
		}
	}
	if truths > 1 {
		f.add("several booleans", m)
	}
}

// wire adds the features of the wire order of a body or an element.
func (f features) wire(m *schema.Message, s *schema.Struct) {
	var pointers, contents []*schema.Field
	for _, item := range s.Wire {
		switch item.Kind {
		case schema.Offset:
			pointers = append(pointers, item.Field)
		case schema.Value:
			if slices.Contains(pointers, item.Field) {
				contents = append(contents, item.Field)
			}
		case schema.Weave:
			f.add("interleaved lists", m)
			contents = append(contents, item.Weave...)
		}
	}
	if !slices.Equal(pointers, contents) {
		f.add("contents in another order than their pointers", m)
	}
}

// shape returns the types and names of the top-level fields of a message.
func shape(m *schema.Message) []string {
	var out []string
	for _, field := range m.Body.Fields {
		out = append(out, field.TypeText+" "+field.Name)
	}
	return out
}
