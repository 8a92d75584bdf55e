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
	x := examples[op.OperationID]
	text := "ws://HOST" + path + x.query
	if !strings.HasPrefix(path, "/ws/") {
		words := []string{"curl"}
		if op.Method != http.MethodGet && (op.Method != http.MethodPost || x.body == "" && x.options == "") {
			words = append(words, "-X "+op.Method)
		}
		if x.options != "" {
			words = append(words, x.options)
		}
		if x.body != "" {
			words = append(words, "-H 'Content-Type: application/json' -d '"+x.body+"'")
		}
		address := "http://HOST" + path + x.query
		if x.query != "" {
			address = "'" + address + "'"
		}
		text = strings.Join(append(words, address), " ")
	}
	return strings.NewReplacer(names...).Replace(text)
}

// example holds the parts of a request to try besides its address: a query, options of curl, a JSON body.
type example struct{ query, options, body string }

// examples by operation id.
var examples = map[string]example{
	"decode-any":      {body: `{"definition": "uint32 id\nuint16 level", "hex": "0a00 0100 07000000 0500"}`},
	"encode-any":      {body: `{"definition": "uint32 id\nuint16 level", "code": 1, "value": {"id": 7, "level": 5}}`},
	"upload-any":      {options: `-F project={project} -F files=@{file}`},
	"decode":          {body: `{"hex": "0600 0100 0500"}`},
	"encode":          {body: `{"message": "NAME", "value": {}, "code": 1}`},
	"layout":          {body: `{"message": "NAME"}`},
	"paste":           {body: `{"text": "0x06, 0x00, 0x01, 0x00"}`},
	"filter":          {body: `{"text": "len > 100 && dir == c2s"}`},
	"framing":         {body: `{"framing": "prefixed:2le+self+keep", "hex": "0600 0100 0500"}`},
	"envelope-frames": {body: `{"text": "frame length u16 be\ncode u8"}`},
	"use-envelope":    {body: `{}`},
	"give-code":       {body: `{"message": "NAME", "code": 4660}`},
	"give-codes":      {body: `{"codes": [{"message": "NAME", "code": 4660}]}`},
	"emit":            {body: `{"target": "c", "messages": ["NAME"]}`},

	"settings":          {body: `{"constants": {"MAX": "5"}, "map": null}`},
	"read":              {options: `-H 'Accept: text/plain'`},
	"write":             {options: `-H 'Content-Type: text/plain' -H 'If-Match: "REVISION"' --data-binary @{file}`},
	"delete":            {options: `-H 'If-Match: "REVISION"'`},
	"version":           {body: `{"text": "uint32 id"}`},
	"add-sample":        {body: `{"hex": "0600 0100 0500", "message": "NAME", "about": "a short one"}`},
	"drop-sample":       {body: `{"hex": "0600 0100 0500", "message": "NAME"}`},
	"name-revision":     {body: `{"name": "as in patch 98"}`},
	"score":             {body: `{"message": "NAME"}`},
	"make-capsule":      {body: `{"hex": "0600 0100 0500", "message": "NAME", "title": "A find", "preview": true}`},
	"git-text":          {query: "?file={file}"},
	"git-commit":        {body: `{"files": ["{file}"], "message": "Add the level"}`},
	"git-pull":          {body: `{}`},
	"begin-thread":      {body: `{"file": "{file}", "line": 1, "text": "seconds, or milliseconds?"}`},
	"answer-thread":     {body: `{"text": "seconds"}`},
	"resolve-thread":    {body: `{"open": false}`},
	"accept-suggestion": {body: `{}`},
	"upload":            {options: `-F files=@{file} -F replace=true`},

	"make-project":        {body: `{"title": "My game", "protocol": "PROTOCOL"}`},
	"change-project":      {body: `{"title": "The game"}`},
	"add-capture":         {query: "?name=session.pcap", options: `--data-binary @session.pcap`},
	"capture":             {options: `-H 'Accept: application/json'`},
	"patch-capture":       {body: `{"text": "the first try", "mark": [1]}`},
	"append-capture":      {query: "?offset=SIZE", options: `-H 'Content-Type: application/octet-stream' --data-binary @more`},
	"export":              {query: "?format=jsonl&frames=1-5"},
	"packets":             {query: "?n=1&n=2"},
	"compare-definitions": {body: `{"old": {"message": "NAME"}, "new": {"message": "NAME"}}`},
	"rename":              {body: `{"files": [{"from": "game_2.def", "to": "other.def"}], "codes": true}`},
	"copy-capture":        {query: "?to=OTHER"},
	"frames":              {query: "?filter=len+%3E+2&count=10"},
	"rows":                {query: "?filter=len+%3E+2&count=10"},
	"find":                {query: "?text=len+%3E+2"},
	"fields":              {query: "?type=len+%3E+2"},
	"graph":               {query: "?field=.level"},
	"follow":              {query: "?n=1"},
	"compare":             {query: "?a=1&b=2"},
	"add-marker":          {body: `{"text": "max HP = 48211", "n": 1}`},
	"patch-marker":        {body: `{"text": "max HP", "value": "48211"}`},
	"related":             {query: "?n=1"},
	"make-script":         {body: `{"play": "client"}`},
	"start-replay":        {body: `{"listen": "127.0.0.1:0"}`},

	"start-proxy":  {body: `{"listen": "127.0.0.1:0", "upstream": "UPSTREAM", "operate": true}`},
	"stop-proxies": {query: "?id=ID"},
	"operate":      {body: `{"on": true, "intercept": "len > 10000"}`},
	"decide":       {body: `{"action": "forward", "all": true}`},
	"send":         {body: `{"dir": "c2s", "message": "NAME", "value": {}}`},
	"set-rules":    {body: `{"rules": [{"id": "1", "on": true, "filter": "len > 10000", "action": "note", "note": "large"}]}`},
	"live":         {query: "?since=0&filter=len+%3E+2"},
}

// describeExamples adds the bodies of the examples to the document, with placeholders in capitals.
func describeExamples(doc *huma.OpenAPI) {
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Put, item.Patch, item.Post, item.Delete} {
			if op == nil || op.RequestBody == nil || examples[op.OperationID].body == "" {
				continue
			}
			var body any
			if media := op.RequestBody.Content["application/json"]; media != nil && json.Unmarshal([]byte(strings.ReplaceAll(examples[op.OperationID].body, "{file}", "FILE")), &body) == nil {
				media.Example = body
			}
		}
	}
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
