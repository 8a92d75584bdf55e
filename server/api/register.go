package api

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/projects"
	"wirebench/server/relay"
	"wirebench/server/runs"
)

// Register registers and describes all operations. Those of a resource are in the file of its handlers.
func (s *API) Register(api huma.API) {
	describeSettings(api)
	s.registerStart(api)
	s.registerDecode(api)
	s.registerEncode(api)
	s.registerLayout(api)
	s.registerPaste(api)
	s.registerFilters(api)
	s.registerEmit(api)
	s.registerProjects(api)
	s.registerSettings(api)
	s.registerDefinitions(api)
	s.registerDefinitionsFiles(api)
	s.registerCompare(api)
	s.registerSearch(api)
	s.registerCodes(api)
	s.registerChanges(api)
	s.registerHistory(api)
	s.registerThreads(api)
	s.registerScores(api)
	s.registerPublish(api)
	s.registerCapsules(api)
	s.registerGit(api)
	s.registerPeople(api)
	s.registerSamples(api)
	s.registerUpload(api)
	s.registerCaptures(api)
	s.registerFraming(api)
	s.registerEnvelope(api)
	s.registerCapturesNotes(api)
	s.registerCapturesSettings(api)
	s.registerCapturesAppend(api)
	s.registerCapturesExport(api)
	s.registerCapturesPackets(api)
	s.registerCapturesElsewhere(api)
	s.registerCapturesProposals(api)
	s.registerFramesApi(api)
	s.registerProxies(api)
	s.registerMarkers(api)
	s.registerMarkersEdit(api)
	s.registerOperate(api)
	s.registerReplaysScript(api)
	s.registerReplays(api)
	describeFiles(api)
}

// add registers an operation, "POST /api/v1/projects/{project}/decode". JSON bodies are limited to MaxBody bytes.
func add[I, O any](api huma.API, operation, id, summary string, handler func(context.Context, *I) (*O, error), more ...func(*huma.Operation)) {
	method, path, _ := strings.Cut(operation, " ")
	op := huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, MaxBodyBytes: MaxBody, Errors: []int{http.StatusNotFound}}
	for _, change := range more {
		change(&op)
	}
	huma.Register(api, op, handler)
}

// status adds error statuses of an operation.
func status(errors ...int) func(*huma.Operation) {
	return func(op *huma.Operation) { op.Errors = append(errors, op.Errors...) }
}

// created makes 201 the status of an operation.
func created(op *huma.Operation) { op.DefaultStatus = http.StatusCreated }

// small lowers the limit of an operation's body.
func small(op *huma.Operation) { op.MaxBodyBytes = MaxSmallBody }

// renamed maps types to their names in the document, where these differ from the Go names.
var renamed = map[reflect.Type]string{
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
