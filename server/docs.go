package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/access"
	"wirebench/templates"
)

// docs renders the routes of the API from the OpenAPI document.
func (s *Server) docs(w http.ResponseWriter, r *http.Request) {
	var routes []templates.Route
	for _, path := range slices.Sorted(maps.Keys(s.document.Paths)) {
		item := s.document.Paths[path]
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Patch, item.Post, item.Delete} {
			if op != nil {
				routes = append(routes, s.route(r, path, op))
			}
		}
	}
	s.workbench.Render(w, r, http.StatusOK, templates.Docs(s.workbench.Frame(r, "Wirebench: HTTP API", ""), routes))
}

func (s *Server) route(r *http.Request, path string, op *huma.Operation) templates.Route {
	route := templates.Route{Method: op.Method, Path: path, Summary: op.Summary, Example: s.example(access.Of(r), path, op)}
	for _, p := range op.Parameters {
		name := map[string]string{"path": "{" + p.Name + "}", "query": "?" + p.Name + "=", "header": p.Name + ":"}[p.In]
		if p.Name != "project" { // described once for all routes
			route.Request = append(route.Request, templates.RouteField{Name: name, Type: p.Schema.Type, Doc: p.Description, Required: p.Required})
		}
	}
	if body := op.RequestBody; body != nil {
		for _, kind := range slices.Sorted(maps.Keys(body.Content)) {
			if kind != "application/json" && (body.Content["application/json"] == nil || kind == "text/plain") {
				route.Request = append(route.Request, templates.RouteField{Name: kind, Type: body.Content[kind].Schema.Type, Doc: bodyDoc[kind]})
			}
		}
		route.Request = append(route.Request, s.fields(body.Content[bodyKind(body)], "", 0)...)
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		answer := op.Responses[status]
		if status < "300" && route.Answer == nil {
			route.Answer = s.fields(answer.Content["application/json"], "", 0)
		}
		if status >= "400" && status < "500" || status == "507" {
			route.Errors = append(route.Errors, status+" "+answer.Description)
		}
	}
	return route
}

// bodyDoc describes request bodies other than JSON.
var bodyDoc = map[string]string{
	"text/plain":          "the bare text, instead of JSON",
	"multipart/form-data": "a form with files",
}

// bodyKind returns the media type of a body whose fields are listed.
func bodyKind(body *huma.RequestBody) string {
	if body.Content["application/json"] == nil {
		return "multipart/form-data"
	}
	return "application/json"
}

// example returns a request to try, with the first definition and message that the person may see, and capitalized placeholders for values from other
// responses.
func (s *Server) example(who access.Principal, path string, op *huma.Operation) string {
	first := s.Projects.Seen(who.Sees).First()
	if first == nil {
		return "" // no project is open
	}
	ws := first.Now()
	names := []string{"{project}", first.Name, "PROTOCOL", first.Dialect, "{id}", "ID", "{at}", "AT", "{n}", "1"}
	if files := ws.Library.Files; len(files) > 0 {
		names = append(names, "{file}", files[0].Name)
	}
	for _, m := range ws.Schema().Messages[:min(len(ws.Schema().Messages), 50)] {
		code := uint32(1)
		if _, _, problems, err := ws.EncodeValue(m, &code, json.RawMessage("{}")); err == nil && len(problems) == 0 {
			names = append(names, "NAME", ws.NameOf(m))
			break
		}
	}
	names = append(names, "{file}", "FILE")
	x := s.api.Operation(op.OperationID).Example
	text := "ws://HOST" + path + x.Query
	if !strings.HasPrefix(path, "/ws/") {
		words := []string{"curl"}
		if op.Method != http.MethodGet && (op.Method != http.MethodPost || x.Body == "" && x.Options == "") {
			words = append(words, "-X "+op.Method)
		}
		if x.Options != "" {
			words = append(words, x.Options)
		}
		if x.Body != "" {
			words = append(words, "-H 'Content-Type: application/json' -d '"+x.Body+"'")
		}
		address := "http://HOST" + path + x.Query
		if x.Query != "" {
			address = "'" + address + "'"
		}
		text = strings.Join(append(words, address), " ")
	}
	return strings.NewReplacer(names...).Replace(text)
}

// fields lists the fields of an object, with paths for nested objects.
func (s *Server) fields(media *huma.MediaType, prefix string, depth int) []templates.RouteField {
	if media == nil || media.Schema == nil {
		return nil
	}
	return s.properties(media.Schema, prefix, depth)
}

// maxDocDepth bounds the nesting of described objects.
const maxDocDepth = 3

func (s *Server) properties(schema *huma.Schema, prefix string, depth int) []templates.RouteField {
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
			var words []string
			for _, w := range p.Enum {
				if text := fmt.Sprint(w); text != "" {
					words = append(words, text)
				}
			}
			kind = strings.Join(words, " or ")
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

// resolved follows a reference to a schema.
func (s *Server) resolved(schema *huma.Schema) *huma.Schema {
	if schema != nil && schema.Ref != "" {
		return s.document.Components.Schemas.SchemaFromRef(schema.Ref)
	}
	return schema
}
