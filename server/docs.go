package server

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/templates"
)

// docs describes the JSON routes from the same document that programs read.
func (s *server) docs(w http.ResponseWriter, r *http.Request) {
	var routes []templates.Route
	for _, path := range slices.Sorted(maps.Keys(s.document.Paths)) {
		if op := s.document.Paths[path].Post; op != nil {
			routes = append(routes, s.route(path, op))
		}
	}
	s.render(w, r, http.StatusOK, templates.Docs(s.frame("Wirebench: HTTP API", ""), routes))
}

func (s *server) route(path string, op *huma.Operation) templates.Route {
	route := templates.Route{Method: http.MethodPost, Path: path, Summary: op.Summary}
	example := strings.Replace(path, "{ws}", s.Workspaces[0].Name, 1)
	route.Example = "curl -H 'Content-Type: application/json' -d '" + exampleBody[op.OperationID] + "' http://HOST" + example
	if op.RequestBody != nil {
		route.Request = s.fields(op.RequestBody.Content["application/json"], "", 0)
	}
	if answer := op.Responses["200"]; answer != nil {
		route.Answer = s.fields(answer.Content["application/json"], "", 0)
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		if status >= "400" && status < "500" {
			route.Errors = append(route.Errors, status+" "+op.Responses[status].Description)
		}
	}
	return route
}

// exampleBody is a request to try, by operation.
var exampleBody = map[string]string{
	"decode": `{"hex": "0600 0100 0500"}`,
	"encode": `{"message": "NAME", "value": {}}`,
	"layout": `{"message": "NAME"}`,
	"paste":  `{"text": "0x06, 0x00, 0x01, 0x00"}`,
}

// fields lists what an object holds, those of objects inside it with their path.
func (s *server) fields(media *huma.MediaType, prefix string, depth int) []templates.RouteField {
	if media == nil || media.Schema == nil {
		return nil
	}
	return s.properties(media.Schema, prefix, depth)
}

// maxDocDepth bounds how deep objects are described.
const maxDocDepth = 3

func (s *server) properties(schema *huma.Schema, prefix string, depth int) []templates.RouteField {
	if schema = s.resolved(schema); schema == nil || depth > maxDocDepth {
		return nil
	}
	var out []templates.RouteField
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		p := schema.Properties[name]
		inner, path := s.resolved(p), prefix+name
		kind := inner.Type
		switch {
		case len(p.Enum) > 0:
			kind = strings.Trim(strings.ReplaceAll(fmt.Sprint(p.Enum), " ", " or "), "[]")
		case kind == "":
			kind = "any"
		case kind == "array":
			path += "[]"
			inner = s.resolved(p.Items)
			if kind = "array"; inner.Type != "object" {
				kind = "array of " + inner.Type
			}
		}
		out = append(out, templates.RouteField{Name: prefix + name, Type: kind, Doc: p.Description, Required: slices.Contains(schema.Required, name)})
		out = append(out, s.properties(inner, path+".", depth+1)...)
	}
	return out
}

// resolved follows a reference.
func (s *server) resolved(schema *huma.Schema) *huma.Schema {
	if schema != nil && schema.Ref != "" {
		return s.document.Components.Schemas.SchemaFromRef(schema.Ref)
	}
	return schema
}
