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
func (s *Server) docs(w http.ResponseWriter, r *http.Request) {
	var routes []templates.Route
	for _, path := range slices.Sorted(maps.Keys(s.document.Paths)) {
		item := s.document.Paths[path]
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Patch, item.Post, item.Delete} {
			if op != nil {
				routes = append(routes, s.route(path, op))
			}
		}
	}
	s.render(w, r, http.StatusOK, templates.Docs(s.frame(r, "Wirebench: HTTP API", ""), routes))
}

func (s *Server) route(path string, op *huma.Operation) templates.Route {
	route := templates.Route{Method: op.Method, Path: path, Summary: op.Summary, Example: s.example(path, op)}
	for _, p := range op.Parameters {
		name := map[string]string{"path": "{" + p.Name + "}", "query": "?" + p.Name + "=", "header": p.Name + ":"}[p.In]
		if p.Name != "ws" { // described above all routes
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

// bodyDoc says what bodies are that are no JSON.
var bodyDoc = map[string]string{
	"text/plain":          "the text as it is, instead of JSON",
	"multipart/form-data": "a form with files",
}

// bodyKind is the type of a body whose fields are listed.
func bodyKind(body *huma.RequestBody) string {
	if body.Content["application/json"] == nil {
		return "multipart/form-data"
	}
	return "application/json"
}

// example is a request to try.
func (s *Server) example(path string, op *huma.Operation) string {
	address := strings.NewReplacer("{ws}", s.Workspaces[0].Name, "{file}", "C_CHAT.1.def").Replace(path)
	if strings.HasPrefix(path, "/ws/") {
		return "ws://HOST" + address + "?since=0&filter=C_CHAT"
	}
	words := []string{"curl"}
	if op.Method != http.MethodGet && op.Method != http.MethodPost {
		words = append(words, "-X "+op.Method)
	}
	if options, ok := exampleOptions[op.OperationID]; ok {
		words = append(words, options)
	} else if body, ok := exampleBody[op.OperationID]; ok {
		words = append(words, "-H 'Content-Type: application/json' -d '"+body+"'")
	}
	return strings.Join(append(words, "http://HOST"+address), " ")
}

// exampleBody is the JSON of a request to try, by operation.
var exampleBody = map[string]string{
	"decode":      `{"hex": "0600 0100 0500"}`,
	"encode":      `{"message": "NAME", "value": {}}`,
	"layout":      `{"message": "NAME"}`,
	"framing":     `{"framing": "prefixed:2le+self+keep", "hex": "0600 0100 0500"}`,
	"paste":       `{"text": "0x06, 0x00, 0x01, 0x00"}`,
	"settings":    `{"patch": "92.03", "map": null}`,
	"version":     `{"text": "uint32 id"}`,
	"add-sample":  `{"hex": "0600 0100 0500", "about": "a short one"}`,
	"drop-sample": `{"hex": "0600 0100 0500"}`,
}

// exampleOptions are those of curl for requests whose body is no JSON.
var exampleOptions = map[string]string{
	"read":   `-H 'Accept: text/plain'`,
	"write":  `-H 'Content-Type: text/plain' -H 'If-Match: "REVISION"' --data-binary @C_CHAT.1.def`,
	"delete": `-H 'If-Match: "REVISION"'`,
	"upload": `-F files=@definitions.zip -F replace=true`,
}

// fields lists what an object holds, those of objects inside it with their path.
func (s *Server) fields(media *huma.MediaType, prefix string, depth int) []templates.RouteField {
	if media == nil || media.Schema == nil {
		return nil
	}
	return s.properties(media.Schema, prefix, depth)
}

// maxDocDepth bounds how deep objects are described.
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

// resolved follows a reference.
func (s *Server) resolved(schema *huma.Schema) *huma.Schema {
	if schema != nil && schema.Ref != "" {
		return s.document.Components.Schemas.SchemaFromRef(schema.Ref)
	}
	return schema
}
