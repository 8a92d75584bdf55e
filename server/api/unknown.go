package api

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"wirebench/defs/diag"
)

// maxListedNames is the number of known names that are listed where none of them is near.
const maxListedNames = 12

// didYouMean names what was probably meant by an unknown name, or lists what is known.
func didYouMean(name string, known []string) string {
	switch near := diag.Nearest(name, known); {
	case near != "":
		return "; did you mean \"" + near + "\"?"
	case len(known) == 0:
		return "; none is known here"
	case len(known) <= maxListedNames:
		return "; known are " + strings.Join(known, ", ")
	}
	return ""
}

// UnknownParameter says which parameter of a query is not known, "" if all are.
func UnknownParameter(q url.Values, known ...string) string {
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if !slices.Contains(known, name) {
			return fmt.Sprintf("unknown parameter %q", name) + didYouMean(name, known)
		}
	}
	return ""
}

// unknownName returns the unknown name of an error, and where it stands: "query", "body", "body.rules[0]".
func unknownName(d *huma.ErrorDetail) (where, name string, ok bool) {
	if d.Message != validation.MsgUnexpectedProperty && d.Message != "unknown query parameter" {
		return "", "", false
	}
	in, rest, _ := strings.Cut(d.Location, ".")
	if in == "query" {
		return in, rest, true
	}
	i := strings.LastIndexByte(d.Location, '.')
	return d.Location[:max(i, 0)], d.Location[i+1:], i >= 0
}

// knownNames returns the parameters of the query of an operation, or the members of an object in its body.
func knownNames(schemas huma.Registry, op *huma.Operation, where string) (out []string) {
	if where == "query" {
		for _, p := range op.Parameters {
			if p.In == "query" {
				out = append(out, p.Name)
			}
		}
		slices.Sort(out)
		return out
	}
	if op.RequestBody == nil || op.RequestBody.Content["application/json"] == nil {
		return nil
	}
	at := op.RequestBody.Content["application/json"].Schema
	for i, step := range strings.Split(where, ".") {
		member, index, _ := strings.Cut(step, "[")
		if at = resolved(schemas, at); i > 0 && at != nil {
			at = resolved(schemas, memberOf(at, member))
		}
		for range strings.Count(index, "]") {
			if at != nil {
				at = resolved(schemas, at.Items)
			}
		}
		if at == nil {
			return nil
		}
	}
	return slices.Sorted(maps.Keys(at.Properties))
}

// memberOf returns the schema of a member of an object, nil if it has none.
func memberOf(of *huma.Schema, name string) *huma.Schema {
	if p := of.Properties[name]; p != nil {
		return p
	}
	values, _ := of.AdditionalProperties.(*huma.Schema)
	return values
}

// resolved follows a reference.
func resolved(schemas huma.Registry, s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" {
		return schemas.SchemaFromRef(s.Ref)
	}
	return s
}

// namesOf returns the names of the members of a struct in JSON.
func namesOf(t reflect.Type) (out []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}
