package api

import (
	"maps"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/access"
	"wirebench/server/settings"
	"wirebench/server/store"
)

// DescribeAll completes the document with the parts common to all operations: groups, authentication, and the errors of the middleware. base
// is the path of the server at its host, "" at the top.
func DescribeAll(api huma.API, base string) {
	doc := api.OpenAPI()
	doc.Info.License = &huma.License{Name: "MIT", Identifier: "MIT"}
	doc.Servers = []*huma.Server{{URL: base + "/", Description: "this server"}}
	for _, t := range tags {
		doc.Tags = append(doc.Tags, &huma.Tag{Name: t.name, Description: t.about})
	}
	doc.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token":  {Type: "http", Scheme: "bearer", Description: "An access token of the server. None is needed at a loopback address, unless --token or --viewer-token is given."},
		"cookie": {Type: "apiKey", In: "cookie", Name: access.CookieName(""), Description: "Set by the page /access, which asks for a password or a token. The name ends with _ and the port of the server."},
	}
	doc.Security = []map[string][]string{{"token": {}}, {"cookie": {}}, {}}

	if item := doc.Paths["/api/v1/projects/{project}/decode"]; item != nil {
		item.Post.Description = "With the content type application/x-ndjson the body is a stream of messages, one a line: in hex, as a JSON string of hex, or " +
			"as {\"hex\":…, \"dir\":…, \"group\":…}. Each is answered by a line while others still come; ?message=, ?dir=, ?group= and ?fields apply to all."
		streamed(item.Post)
	}
	refusal := map[string]*huma.MediaType{"application/problem+json": {Schema: SchemaOf[huma.ErrorModel](api, "ErrorModel")}}
	wait := map[string]*huma.Param{"Retry-After": {Description: "seconds after which to retry", Schema: &huma.Schema{Type: huma.TypeInteger}}}
	add := func(op *huma.Operation, status int, about string, headers map[string]*huma.Param) {
		code := strconv.Itoa(status)
		if op.Responses[code] == nil {
			op.Responses[code] = &huma.Response{Description: about, Content: refusal}
		}
		for name, h := range headers {
			if op.Responses[code].Headers == nil {
				op.Responses[code].Headers = map[string]*huma.Param{}
			}
			op.Responses[code].Headers[name] = h
		}
	}
	for path, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Put, item.Patch, item.Post, item.Delete} {
			if op == nil {
				continue
			}
			group(op, path)
			describeParameters(op)
			add(op, http.StatusUnauthorized, "the request has no valid token",
				map[string]*huma.Param{"WWW-Authenticate": {Description: "Bearer", Schema: &huma.Schema{Type: huma.TypeString}}})
			add(op, http.StatusUnprocessableEntity, "a parameter or a field is unknown, or its value is not valid", nil)
			add(op, http.StatusTooManyRequests, "too many requests, or too many wrong tokens from this address", wait)
			if op != item.Get {
				about := "the request comes from a page of another site"
				if need := access.Needs(op.Method + " " + path); need > access.Viewer {
					about += ", or the role is below " + need.String()
				}
				add(op, http.StatusForbidden, about, nil)
			}
			if op.RequestBody != nil {
				add(op, http.StatusBadRequest, "the body cannot be read", nil)
				add(op, http.StatusRequestEntityTooLarge, "the body is too large", nil)
				add(op, http.StatusUnsupportedMediaType, "the body is of another type", nil)
			}
			if working[op.OperationID] {
				add(op, http.StatusServiceUnavailable, "not enough memory at the moment", wait)
			}
		}
	}
}

// describeParameters describes the parameters that have no words of their own.
func describeParameters(op *huma.Operation) {
	for _, p := range op.Parameters {
		if words := map[string]string{"project": "name of the project", "limit": "number of results", "file": "name of the file"}[p.Name]; p.Description == "" {
			p.Description = words
		}
	}
}

// working lists the operations that take memory from the budget.
var working = map[string]bool{
	"decode-any": true, "encode-any": true, "upload-any": true, "decode": true, "encode": true, "layout": true, "paste": true, "filter": true, "emit": true, "upload": true,
}

// describeFiles adds to the document what the types do not express: raw request bodies, and error bodies.
func describeFiles(api huma.API) {
	doc := api.OpenAPI()
	file := doc.Paths["/api/v1/projects/{project}/definitions/{file}"]
	text := &huma.Schema{Type: huma.TypeString, Description: "the text, in UTF-8"}
	textJSON := &huma.Schema{Type: huma.TypeObject, Required: []string{"text"}, Properties: map[string]*huma.Schema{"text": text}, AdditionalProperties: false}
	takes(file.Put, false, map[string]*huma.Schema{"text/plain": text, "application/json": textJSON})
	file.Put.Responses["201"] = &huma.Response{Description: http.StatusText(http.StatusCreated), Content: file.Put.Responses["200"].Content, Headers: file.Put.Responses["200"].Headers}
	read := SchemaOf[DefinitionBody](api, "Definition")
	file.Get.Responses["200"].Content = map[string]*huma.MediaType{"application/json": {Schema: read}, "text/plain": {Schema: text}}
	file.Get.Responses["304"] = &huma.Response{Description: http.StatusText(http.StatusNotModified)}
	moved := SchemaOf[ConflictProblem](api, "ConflictProblem")
	refuses(file.Put, "412", moved)
	refuses(file.Delete, "412", moved)
	refuses(file.Put, "409", SchemaOf[olderProblem](api, "OlderProblem"))
	takes(doc.Paths["/api/v1/projects/{project}/captures"].Post, true, map[string]*huma.Schema{"application/octet-stream": {Type: huma.TypeString, Format: "binary"}})
	isNew(doc.Paths["/api/v1/projects/{project}/captures"].Post)
	isNew(doc.Paths["/api/v1/projects/{project}/definitions/{file}/versions"].Post)
	isNew(doc.Paths["/api/v1/projects/{project}/definitions/{file}/samples"].Post)

	chosen := SchemaOf[settings.Settings](api, "Settings")
	takes(doc.Paths["/api/v1/projects/{project}/settings"].Patch, true, map[string]*huma.Schema{"application/json": chosen, "application/merge-patch+json": chosen})

	form := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{
		"files":   {Type: huma.TypeArray, Description: "the files, with folders in their names; the field name is ignored", Items: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
		"replace": {Type: huma.TypeBoolean, Description: "replace stored files that have another text"},
	}, AdditionalProperties: true}
	config := SchemaOf[ProjectConfig](api, "ProjectConfig")
	made := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"files": form.Properties["files"]}, AdditionalProperties: true}
	maps.Copy(made.Properties, doc.Components.Schemas.SchemaFromRef(config.Ref).Properties)
	takes(doc.Paths["/api/v1/projects"].Post, true, map[string]*huma.Schema{"application/json": config, "multipart/form-data": made})
	capture := doc.Paths["/api/v1/projects/{project}/captures/{id}"].Get
	capture.Responses["200"].Content = map[string]*huma.MediaType{
		"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
		"application/json":         {Schema: SchemaOf[store.Capture](api, "Capture")},
	}
	started := doc.Paths["/api/v1/projects/{project}/demo"].Post // answers 200 if it is already running
	started.Responses["200"] = &huma.Response{Description: http.StatusText(http.StatusOK), Content: started.Responses["201"].Content}

	for _, path := range []string{"/api/v1/projects/{project}/upload", "/api/v1/upload"} {
		upload := doc.Paths[path].Post
		takes(upload, true, map[string]*huma.Schema{"multipart/form-data": form})
		for _, status := range []string{"403", "422", "507"} {
			refuses(upload, status, SchemaOf[UploadProblem](api, "UploadProblem"))
		}
	}
	begun := doc.Paths["/api/v1/upload"].Post // answers 201 if it has made a project
	begun.Responses["201"] = &huma.Response{Description: http.StatusText(http.StatusCreated), Content: begun.Responses["200"].Content, Headers: begun.Responses["200"].Headers}
}

func SchemaOf[T any](api huma.API, name string) *huma.Schema {
	return api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, name)
}

// takes describes a request body by its media types.
func takes(op *huma.Operation, required bool, body map[string]*huma.Schema) {
	op.RequestBody = &huma.RequestBody{Required: required, Content: map[string]*huma.MediaType{}}
	for kind, schema := range body {
		op.RequestBody.Content[kind] = &huma.MediaType{Schema: schema}
	}
}

// refuses describes an error body.
func refuses(op *huma.Operation, status string, body *huma.Schema) {
	op.Responses[status].Content = map[string]*huma.MediaType{"application/problem+json": {Schema: body}}
}

// isNew describes an operation that answers with 201 instead of 200.
func isNew(op *huma.Operation) {
	created := *op.Responses["200"]
	created.Description = http.StatusText(http.StatusCreated)
	op.Responses["201"] = &created
	delete(op.Responses, "200")
}
