package api

import (
	"maps"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/access"
	"wirebench/server/projects"
	"wirebench/server/relay"
	"wirebench/server/runs"
	"wirebench/server/settings"
	"wirebench/server/store"
)

// Config returns the configuration of the document of a version of the program.
func Config(version string) huma.Config {
	c := huma.DefaultConfig("Wirebench", version)
	c.OpenAPIPath, c.SchemasPath = "/api/openapi", "/api/schemas"
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", SchemaName)
	c.DocsPath = ""     // its page loads external scripts; ours is /api/docs
	c.CreateHooks = nil // no $schema in responses
	c.RejectUnknownQueryParameters = true
	c.Transformers = []huma.Transformer{Errors(c.Components.Schemas)}
	c.Info.Description = "Decode, encode and lay out the messages of binary protocols. Ranges are in bits; lines and columns are counted from 1."
	return c
}

// describeServer adds what is common to all operations to the document.
func describeServer(doc *huma.OpenAPI, base string) {
	doc.Info.License = &huma.License{Name: "MIT", Identifier: "MIT"}
	doc.Servers = []*huma.Server{{URL: base + "/", Description: "this server"}}
	doc.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token":  {Type: "http", Scheme: "bearer", Description: "An access token of the server. None is needed at a loopback address, unless --token or --viewer-token is given."},
		"cookie": {Type: "apiKey", In: "cookie", Name: access.CookieName(""), Description: "Set by the page /access, which asks for a password or a token. The name ends with _ and the port of the server."},
	}
	doc.Security = []map[string][]string{{"token": {}}, {"cookie": {}}, {}}
}

// describeParameters describes the parameters that have no words of their own.
func describeParameters(op *huma.Operation) {
	for _, p := range op.Parameters {
		if words := map[string]string{"project": "name of the project", "limit": "number of results", "file": "name of the file"}[p.Name]; p.Description == "" {
			p.Description = words
		}
	}
}

// SchemaOf returns the schema of a type. hint is its name if the type has none.
func SchemaOf[T any](api huma.API, hint string) *huma.Schema {
	return api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, hint)
}

// takes describes a request body by its media types.
func takes(op *huma.Operation, required bool, body map[string]*huma.Schema) {
	op.RequestBody = &huma.RequestBody{Required: required, Content: contentOf(body)}
}

// contentOf describes a body by its media types.
func contentOf(body map[string]*huma.Schema) map[string]*huma.MediaType {
	out := map[string]*huma.MediaType{}
	for kind, schema := range body {
		out[kind] = &huma.MediaType{Schema: schema}
	}
	return out
}

func textSchema() *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Description: "the text, in UTF-8"}
}

func fileSchema() *huma.Schema { return &huma.Schema{Type: huma.TypeString, Format: "binary"} }

// streams adds the second form of decode, a stream of messages.
func streams(o *Operation) {
	const kind = "application/x-ndjson"
	o.Streams = true
	as(func(_ huma.API, op *huma.Operation) {
		line := &huma.Schema{Type: huma.TypeString, Description: "lines, each a message: hex, a JSON string of hex, or {\"hex\":…, \"dir\":…, \"group\":…}"}
		op.RequestBody.Content[kind] = &huma.MediaType{Schema: line}
		op.Responses["200"].Content[kind] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Description: "a line for each message, as an element of results"}}
	})(o)
}

func takesFile(_ huma.API, op *huma.Operation) {
	takes(op, true, map[string]*huma.Schema{"application/octet-stream": fileSchema()})
}

func takesText(_ huma.API, op *huma.Operation) {
	textJSON := &huma.Schema{Type: huma.TypeObject, Required: []string{"text"}, Properties: map[string]*huma.Schema{"text": textSchema()}, AdditionalProperties: false}
	takes(op, false, map[string]*huma.Schema{"text/plain": textSchema(), "application/json": textJSON})
}

func takesSettings(api huma.API, op *huma.Operation) {
	chosen := SchemaOf[settings.Settings](api, "")
	takes(op, true, map[string]*huma.Schema{"application/json": chosen, "application/merge-patch+json": chosen})
}

func filesSchema() *huma.Schema {
	return &huma.Schema{Type: huma.TypeArray, Description: "the files, with folders in their names; the field name is ignored", Items: fileSchema()}
}

func takesForm(_ huma.API, op *huma.Operation) {
	takes(op, true, map[string]*huma.Schema{"multipart/form-data": {Type: huma.TypeObject, AdditionalProperties: true, Properties: map[string]*huma.Schema{
		"files":   filesSchema(),
		"replace": {Type: huma.TypeBoolean, Description: "replace stored files that have another text"},
	}}})
}

func takesProject(api huma.API, op *huma.Operation) {
	config := SchemaOf[ProjectConfig](api, "")
	form := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"files": filesSchema()}, AdditionalProperties: true}
	maps.Copy(form.Properties, api.OpenAPI().Components.Schemas.SchemaFromRef(config.Ref).Properties)
	takes(op, true, map[string]*huma.Schema{"application/json": config, "multipart/form-data": form})
}

func answersText(api huma.API, op *huma.Operation) {
	op.Responses["200"].Content = contentOf(map[string]*huma.Schema{"application/json": SchemaOf[DefinitionBody](api, "Definition"), "text/plain": textSchema()})
	op.Responses["304"] = &huma.Response{Description: http.StatusText(http.StatusNotModified)}
}

func answersCapture(api huma.API, op *huma.Operation) {
	op.Responses["200"].Content = contentOf(map[string]*huma.Schema{"application/octet-stream": fileSchema(), "application/json": SchemaOf[store.Capture](api, "")})
}

// renamed maps types to their names in the document, where these differ from the Go names.
var renamed = map[reflect.Type]string{
	reflect.TypeFor[access.Event]():  "AuditEvent",
	reflect.TypeFor[projects.Info](): "ProjectInfo", reflect.TypeFor[projects.State](): "ProjectState",
	reflect.TypeFor[relay.Config](): "ProxyConfig", reflect.TypeFor[relay.Info](): "ProxyInfo", reflect.TypeFor[relay.Rule](): "RuleBody",
	reflect.TypeFor[runs.Config](): "ReplayConfig", reflect.TypeFor[runs.Info](): "ReplayInfo", reflect.TypeFor[runs.Report](): "ReplayReport",
	reflect.TypeFor[runs.Result](): "ReplayResult", reflect.TypeFor[runs.Seen](): "ReplaySeen", reflect.TypeFor[runs.Conn](): "ReplayConn",
}

// SchemaName returns the name of a type in the document.
func SchemaName(t reflect.Type, hint string) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name := renamed[t]; name != "" {
		return name
	}
	return huma.DefaultSchemaNamer(t, hint)
}
