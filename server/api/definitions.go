package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"wirebench/codec/view"
	"wirebench/defs"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

func (s *API) registerDefinitions(api huma.API) {
	add(api, "GET /api/{ws}/definitions", "definitions", "The definitions and code maps of a workspace", s.listDefinitions)
	add(api, "GET /api/{ws}/definitions/{file}", "read", "A definition or code map, as JSON or, with Accept: text/plain, its bare text", s.readDefinition, status(409))
	add(api, "PUT /api/{ws}/definitions/{file}", "write", "Store a definition or code map", s.writeDefinition, status(400, 403, 409, 412, 413, 415, 428, 507))
	add(api, "DELETE /api/{ws}/definitions/{file}", "delete", "Delete a definition or code map; its samples stay", s.deleteDefinition, status(400, 403, 409, 412, 428, 507))
	add(api, "POST /api/{ws}/definitions/{file}/versions", "version", "Store a text as the next version of a message", s.addVersion, status(400, 403, 409, 413, 507))
}

// FilePath is the workspace and file in the path of a request.
type FilePath struct {
	Workspace string `path:"ws" doc:"name of the workspace"`
	File      string `path:"file" maxLength:"500" doc:"name of a definition or code map; write the slashes of folders as %2F. The folders may be omitted if the name is unique"`
}

// RawRequest gives handlers the request itself, for bodies other than JSON.
type RawRequest struct {
	request *http.Request
	writer  http.ResponseWriter
}

// Resolve stores the request.
func (r *RawRequest) Resolve(ctx huma.Context) []error {
	r.request, r.writer = humachi.Unwrap(ctx)
	return nil
}

// body reads the whole body.
func (r *RawRequest) body(most int64) ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(r.writer, r.request.Body, most))
	return data, bodyError(err)
}

// bodyError converts an error of reading a body to an error with a status.
func bodyError(err error) error {
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &large):
		return huma.NewError(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", large.Limit))
	}
	return huma.Error400BadRequest("the body cannot be read: " + err.Error())
}

type definitionsInput struct {
	Workspace string `path:"ws" doc:"name of the workspace"`
	Query     string `query:"q" maxLength:"200" doc:"words that names must contain"`
}

type definitionsOutput struct {
	Body struct {
		Definitions []definitionItem `json:"definitions" doc:"sorted by file"`
		Maps        []mapItem        `json:"maps" doc:"code maps, sorted by file"`
		Skipped     []string         `json:"skipped" doc:"files of the folder that are not read, with reasons"`
		Undefined   int              `json:"undefined" doc:"names of the code map in use without a definition"`
		Diagnostics []diag.Info      `json:"diagnostics" doc:"mistakes in maps and conflicts between files; a definition has its own"`
	}
}

type definitionItem struct {
	File     string   `json:"file"`
	Revision string   `json:"revision" doc:"identifies the text; for If-Match"`
	Size     int      `json:"size" doc:"bytes"`
	Messages []string `json:"messages" doc:"NAME.VERSION"`
	Code     string   `json:"code,omitempty" doc:"of the message, in hex, if known and the file has one message"`
	State    string   `json:"state" enum:"ok,warning,error"`
	Errors   int      `json:"errors"`
	Warnings int      `json:"warnings"`
	Older    bool     `json:"older" doc:"all its messages have newer versions"`
	Samples  int      `json:"samples"`
}

type mapItem struct {
	File     string `json:"file"`
	Revision string `json:"revision"`
	Size     int    `json:"size" doc:"bytes"`
	Names    int    `json:"names"`
	Used     bool   `json:"used"`
}

// listDefinitions lists the files of a workspace.
func (s *API) listDefinitions(_ context.Context, in *definitionsInput) (*definitionsOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	out := &definitionsOutput{}
	b := &out.Body
	b.Definitions, b.Maps, b.Diagnostics = []definitionItem{}, []mapItem{}, []diag.Info{}
	b.Skipped = append([]string{}, ws.Library.Skipped...)
	wanted := strings.Fields(strings.ToLower(in.Query))
	x := ws.index()
	for _, f := range ws.Library.Files {
		if d, ok := defs.Detect(f); ok && d != ws.Snapshot.Dialect.Name {
			b.Skipped = append(b.Skipped, f.Name+": a definition of protocol "+d)
			continue
		}
		if it := x.item(f); workspace.HasWords(strings.ToLower(f.Name+" "+strings.Join(it.Messages, " ")), wanted) {
			b.Definitions = append(b.Definitions, it)
		}
	}
	for _, f := range ws.Library.Maps {
		if !workspace.HasWords(strings.ToLower(f.Name), wanted) {
			continue
		}
		codes, list := ws.codeMap(f)
		if f.Name != ws.CodeMap { // the snapshot has the diagnostics of the map in use
			b.Diagnostics = append(b.Diagnostics, infos(list)...)
		}
		b.Maps = append(b.Maps, mapItem{f.Name, string(workspace.Revision(f)), len(f.Text), len(codes), f.Name == ws.CodeMap})
	}
	for name := range ws.Options.Codes {
		if !x.defined[name] {
			b.Undefined++
		}
	}
	for _, d := range ws.Diagnostics() {
		if f := d.Span.File; f == nil || defs.IsCodeMap(f.Name) || betweenFiles(d) {
			b.Diagnostics = append(b.Diagnostics, d.Info())
		}
	}
	return out, nil
}

// codeMap reads a code map, whether or not it is in use.
func (ws *space) codeMap(f *source.File) (map[string]uint32, diag.List) {
	if f.Name == ws.CodeMap {
		return ws.Options.Codes, ws.DiagnosticsOf(f)
	}
	return defs.ParseCodeMap(f)
}

func infos(list diag.List) []diag.Info {
	out := make([]diag.Info, 0, len(list))
	for _, d := range list {
		out = append(out, d.Info())
	}
	return out
}

// betweenFiles reports whether a mistake involves two files, such as a duplicate name.
func betweenFiles(d diag.Diagnostic) bool {
	return slices.ContainsFunc(d.Related, func(r diag.Related) bool { return r.Span.File != nil && r.Span.File != d.Span.File })
}

// libraryIndex has the facts of a snapshot that the description of each file needs.
type libraryIndex struct {
	ws       *space
	messages map[*source.File][]*schema.Message
	mistakes map[*source.File][2]int // errors and warnings
	newest   map[[2]string]int       // version, by name and group
	defined  map[string]bool         // names of messages
	sampled  map[string]bool
}

func (ws *space) index() *libraryIndex {
	x := &libraryIndex{ws, map[*source.File][]*schema.Message{}, map[*source.File][2]int{}, map[[2]string]int{}, map[string]bool{}, map[string]bool{}}
	for m := range ws.Messages() {
		f, name := m.Span.File, [2]string{m.Name, m.Key.Group}
		x.messages[f] = append(x.messages[f], m)
		x.newest[name] = max(x.newest[name], m.Version)
		x.defined[m.Name] = true
	}
	for _, d := range ws.Diagnostics() {
		n := x.mistakes[d.Span.File]
		n[d.Severity]++
		x.mistakes[d.Span.File] = n
	}
	for _, name := range ws.SampledFiles() {
		x.sampled[name] = true
	}
	return x
}

func (x *libraryIndex) item(f *source.File) definitionItem {
	n := x.mistakes[f]
	it := definitionItem{
		File: f.Name, Revision: string(workspace.Revision(f)), Size: len(f.Text), Messages: []string{}, State: "ok",
		Errors: n[diag.Error], Warnings: n[diag.Warning], Older: len(x.messages[f]) > 0,
	}
	for _, m := range x.messages[f] {
		it.Messages = append(it.Messages, x.ws.NameOf(m))
		it.Older = it.Older && x.newest[[2]string{m.Name, m.Key.Group}] > m.Version
		if m.HasKey && len(x.messages[f]) == 1 {
			it.Code = fmt.Sprintf("0x%04X", m.Key.Code)
		}
	}
	switch {
	case it.Errors > 0:
		it.State = "error"
	case it.Warnings > 0:
		it.State = "warning"
	}
	if x.sampled[f.Name] {
		it.Samples = len(x.ws.Samples(f.Name))
	}
	return it
}

// fileNamed finds a definition or a code map: by its name, or by the last element of its path if that is unique.
func (ws *space) fileNamed(name string) (*source.File, error) {
	if f := ws.File(name); f != nil {
		return f, nil
	}
	var same, all []string
	for _, f := range slices.Concat(ws.Library.Files, ws.Library.Maps) {
		if all = append(all, path.Base(f.Name)); path.Base(f.Name) == name {
			same = append(same, f.Name)
		}
	}
	switch len(same) {
	case 0:
		return nil, asHTTP(workspace.NotFound(name, func() string { return diag.Nearest(path.Base(name), all) }))
	case 1:
		return ws.File(same[0]), nil
	}
	return nil, huma.Error409Conflict(fmt.Sprintf("several files have this name; include the folder: %s", strings.Join(same, ", ")))
}

func (ws *space) fullNames(list []*schema.Message) []string {
	out := make([]string, 0, len(list))
	for _, m := range list {
		out = append(out, ws.NameOf(m))
	}
	return out
}

// stored describes a file: its mistakes, and the layout of its message.
func (ws *space) stored(f *source.File) (messages []*schema.Message, diagnostics []diag.Info, layout *view.LayoutInfo) {
	if defs.IsCodeMap(f.Name) {
		_, list := ws.codeMap(f)
		return nil, infos(list), nil
	}
	messages, diagnostics = ws.MessagesOf(f), infos(ws.DiagnosticsOf(f))
	for i, m := range messages {
		p, err := ws.Program(m)
		switch {
		case err != nil:
			diagnostics = append(diagnostics, workspace.TooLarge(m, err).Info())
		case i == 0 && len(messages) == 1:
			info := view.Layout(p)
			layout = &info
		}
	}
	return messages, diagnostics, layout
}

type definitionInput struct {
	FilePath
	IfNoneMatch string `header:"If-None-Match" doc:"known revisions: 304 if the file still has one of them"`
	Accept      string `header:"Accept" hidden:"true"`
}

type definitionOutput struct {
	Status      int
	ETag        string `header:"ETag" doc:"the revision, in quotes"`
	ContentType string `header:"Content-Type"`
	Cache       string `header:"Cache-Control"`
	Vary        string `header:"Vary"`
	Body        any    // definitionBody, or the bare text
}

type DefinitionBody struct {
	File        string      `json:"file"`
	Revision    string      `json:"revision" doc:"identifies the text; for If-Match"`
	Text        string      `json:"text"`
	Messages    []string    `json:"messages" doc:"NAME.VERSION; empty for a code map"`
	Newest      int         `json:"newest,omitempty" doc:"highest version of the message, if this is an older one: its layout is frozen"`
	Diagnostics []diag.Info `json:"diagnostics"`
	ReadOnly    string      `json:"read_only,omitempty" doc:"why this text must not be written back"`
}

// readDefinition answers with a file, as JSON or as its bare text.
func (s *API) readDefinition(_ context.Context, in *definitionInput) (*definitionOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	f, err := ws.fileNamed(in.File)
	if err != nil {
		return nil, err
	}
	rev := string(workspace.Revision(f))
	out := &definitionOutput{Status: http.StatusOK, ETag: quoted(rev), Cache: "no-cache", Vary: "Accept"}
	if tags, err := entityTags(in.IfNoneMatch); err == nil && (slices.Contains(tags, rev) || slices.Contains(tags, "*")) {
		out.Status, out.Body = http.StatusNotModified, []byte(nil)
		return out, nil
	}
	if wantsText(in.Accept) {
		out.ContentType, out.Body = "text/plain; charset=utf-8", []byte(f.Text)
		return out, nil
	}
	messages, diagnostics, _ := ws.stored(f)
	b := DefinitionBody{File: f.Name, Revision: rev, Text: f.Text, Messages: ws.fullNames(messages), Diagnostics: diagnostics}
	if len(messages) == 1 && ws.Newest(messages[0]) > messages[0].Version {
		b.Newest = ws.Newest(messages[0])
	}
	if !utf8.ValidString(f.Text) {
		b.ReadOnly = "the file is not UTF-8 and JSON cannot represent it; request text/plain"
	}
	out.Body = b
	return out, nil
}

// wantsText reports whether an Accept header prefers plain text to JSON.
func wantsText(accept string) bool {
	text, other := 0.0, 0.0
	for part := range strings.SplitSeq(accept, ",") {
		kind, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		q := 1.0
		if n, err := strconv.ParseFloat(params["q"], 64); err == nil {
			q = n
		}
		switch kind {
		case "text/plain":
			text = max(text, q)
		case "application/json":
			other = max(other, q)
		}
	}
	return text > 0 && text >= other
}

type writeInput struct {
	FilePath
	IfMatch     string `header:"If-Match" doc:"the revision to replace, in quotes; 412 if the file has another one"`
	IfNoneMatch string `header:"If-None-Match" doc:"* if the file must not exist yet"`
	Force       bool   `query:"force" doc:"ignore the current revision"`
	RawRequest
}

type storedOutput struct {
	Status   int
	ETag     string `header:"ETag" doc:"the revision, in quotes"`
	Location string `header:"Location" doc:"of a new file"`
	Body     storedBody
}

type storedBody struct {
	File        string           `json:"file" doc:"name with its folder"`
	Revision    string           `json:"revision"`
	Messages    []string         `json:"messages" doc:"NAME.VERSION"`
	Diagnostics []diag.Info      `json:"diagnostics" doc:"mistakes; the text is stored regardless"`
	Layout      *view.LayoutInfo `json:"layout,omitempty" doc:"of the message, if there is one"`
}

// writeDefinition stores a file.
func (s *API) writeDefinition(_ context.Context, in *writeInput) (*storedOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	f, err := ws.fileNamed(in.File)
	if err != nil && statusOf(err) != http.StatusNotFound {
		return nil, err
	}
	text, err := in.text()
	if err != nil {
		return nil, err
	}
	expect, err := ws.precondition(in.IfMatch, in.IfNoneMatch, in.Force, f)
	if err != nil {
		return nil, storeProblem(err)
	}
	name := in.File
	if f != nil {
		name = f.Name
	}
	rev, err := ws.Save(name, text, expect)
	if err != nil {
		return nil, saveProblem(rev, err)
	}
	return s.saved(ws, name, rev, f == nil), nil
}

// text returns the text of a definition in a request: the body itself, or a JSON field.
func (r *RawRequest) text() ([]byte, error) {
	kind, params, err := mime.ParseMediaType(cmp.Or(r.request.Header.Get("Content-Type"), "text/plain"))
	charset := strings.ToLower(params["charset"])
	isJSON := kind == "application/json"
	if err != nil || !isJSON && kind != "text/plain" && kind != "application/octet-stream" || charset != "" && charset != "utf-8" && charset != "us-ascii" {
		return nil, huma.NewError(http.StatusUnsupportedMediaType, "send the text as Content-Type: text/plain in UTF-8, or as application/json {\"text\": ...}")
	}
	data, err := r.body(MaxBody)
	if err != nil {
		return nil, err
	}
	if isJSON {
		var body struct {
			Text *string `json:"text"`
		}
		if err := strictJSON(data, &body); err != nil {
			return nil, err
		}
		if body.Text == nil {
			return nil, huma.Error422UnprocessableEntity("text is required")
		}
		data = []byte(*body.Text)
	}
	if len(data) > store.MaxFileBytes {
		return nil, huma.NewError(http.StatusRequestEntityTooLarge, fmt.Sprintf("the text has %d bytes; a file has at most %d", len(data), store.MaxFileBytes))
	}
	return data, nil
}

// strictJSON reads one JSON value and rejects fields that v does not have.
func strictJSON(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil && d.Decode(new(json.RawMessage)) == io.EOF:
		return nil
	case err == nil:
		return huma.Error400BadRequest("more than one JSON value")
	case errors.As(err, &kind):
		return huma.Error422UnprocessableEntity(fmt.Sprintf("%s must be a JSON %s, not %s", cmp.Or(kind.Field, "the body"), jsonKind(kind.Type.Kind().String()), kind.Value))
	case strings.HasPrefix(err.Error(), "json: unknown field"):
		return huma.Error422UnprocessableEntity(strings.TrimPrefix(err.Error(), "json: "))
	}
	return huma.Error400BadRequest("not JSON: " + err.Error())
}

// jsonKind returns the JSON name of a Go kind.
func jsonKind(kind string) string {
	switch kind {
	case "struct", "map":
		return "object"
	case "slice":
		return "array"
	}
	return kind
}

// precondition returns the revision that a change replaces, nil for any. f is the file to change, nil for a new one.
func (ws *space) precondition(match, noneMatch string, force bool, f *source.File) (*store.Revision, error) {
	none := store.Revision("")
	if match == "" && noneMatch == "" {
		switch {
		case force:
			return nil, nil
		case f != nil:
			return nil, huma.NewError(http.StatusPreconditionRequired, fmt.Sprintf("%s exists: send If-Match with the revision to replace, or ?force=true to replace any", f.Name))
		}
		return &none, nil
	}
	if match != "" && noneMatch != "" {
		return nil, huma.Error400BadRequest("If-Match and If-None-Match exclude each other")
	}
	if noneMatch != "" {
		if strings.TrimSpace(noneMatch) != "*" {
			return nil, huma.Error400BadRequest("If-None-Match must be * here: the file must not exist")
		}
		if f != nil {
			return nil, conflict(f)
		}
		return &none, nil
	}
	tags, err := entityTags(match)
	if err != nil {
		return nil, huma.Error400BadRequest("If-Match: " + err.Error())
	}
	switch {
	case f == nil:
		return nil, &store.ConflictError{Name: "the file"}
	case slices.Contains(tags, "*"):
		return nil, nil
	case slices.Contains(tags, string(workspace.Revision(f))):
		rev := workspace.Revision(f)
		return &rev, nil
	}
	return nil, conflict(f)
}

func conflict(f *source.File) error {
	return &store.ConflictError{Name: f.Name, Have: workspace.Revision(f), Text: []byte(f.Text)}
}

// quoted returns a revision as an entity tag.
func quoted(revision string) string { return `"` + revision + `"` }

// entityTags reads a list of entity tags, without their quotes. Weak ones count as well: compressing proxies
// weaken our tags, and the text is the same.
func entityTags(header string) ([]string, error) {
	var out []string
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if inner, ok := strings.CutPrefix(tag, `"`); ok {
			if tag, ok = strings.CutSuffix(inner, `"`); !ok {
				return nil, errors.New("missing quote")
			}
		}
		if tag == "" || strings.ContainsAny(tag, "\" ") {
			return nil, errors.New("expected a revision in quotes")
		}
		out = append(out, tag)
	}
	return out, nil
}

// saved describes a file just stored.
func (s *API) saved(ws *space, name string, rev store.Revision, isNew bool) *storedOutput {
	out := &storedOutput{Status: http.StatusOK, ETag: quoted(string(rev))}
	if isNew {
		out.Status, out.Location = http.StatusCreated, "/api/"+url.PathEscape(ws.Name)+"/definitions/"+url.PathEscape(name)
	}
	b := &out.Body
	b.File, b.Revision, b.Messages, b.Diagnostics = name, string(rev), []string{}, []diag.Info{}
	now := &space{ws.Workspace, ws.Now()}
	if f := now.File(name); f != nil && workspace.Revision(f) == rev { // it may have been changed again
		var messages []*schema.Message
		messages, b.Diagnostics, b.Layout = now.stored(f)
		b.Messages = now.fullNames(messages)
	}
	return out
}

type deleteInput struct {
	FilePath
	IfMatch string `header:"If-Match" doc:"the revision to delete, in quotes; 412 if the file has another one"`
	Force   bool   `query:"force" doc:"ignore the current revision"`
}

// deleteDefinition deletes a file. Its samples stay, in case it is restored.
func (s *API) deleteDefinition(_ context.Context, in *deleteInput) (*struct{}, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	f, err := ws.fileNamed(in.File)
	if err != nil {
		return nil, err
	}
	expect, err := ws.precondition(in.IfMatch, "", in.Force, f)
	if err == nil {
		err = ws.Delete(f.Name, expect)
	}
	if err != nil {
		return nil, storeProblem(err)
	}
	return nil, nil
}

type versionInput struct {
	FilePath
	Body *struct {
		Text *string `json:"text,omitempty" doc:"of the new version; default: the text of the file"`
	}
}

// addVersion stores a text as the next version of a message, in the folder of its file.
func (s *API) addVersion(_ context.Context, in *versionInput) (*storedOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	f, err := ws.fileNamed(in.File)
	if err != nil {
		return nil, err
	}
	text := f.Text
	if in.Body != nil && in.Body.Text != nil {
		text = *in.Body.Text
	}
	if len(text) > store.MaxFileBytes {
		return nil, huma.NewError(http.StatusRequestEntityTooLarge, fmt.Sprintf("the text has %d bytes; a file has at most %d", len(text), store.MaxFileBytes))
	}
	messages := ws.MessagesOf(f)
	if len(messages) != 1 || !ws.Snapshot.Versioned(messages[0]) {
		return nil, huma.Error422UnprocessableEntity("this file has no version: only files named NAME.VERSION.def do")
	}
	m, none := messages[0], store.Revision("")
	for next := ws.Newest(m) + 1; ; next++ {
		name := workspace.FileOfVersion(m, next)
		rev, err := ws.Save(name, []byte(text), &none)
		var there *store.ConflictError
		if errors.As(err, &there) && next < ws.Newest(m)+1000 { // another request was faster
			continue
		}
		if err != nil {
			return nil, saveProblem(rev, err)
		}
		return s.saved(ws, name, rev, true), nil
	}
}

// ConflictProblem is the error body for a file that has changed since the client read it.
type ConflictProblem struct {
	huma.ErrorModel
	Revision string `json:"revision" doc:"current revision; empty if the file is gone"`
	Text     string `json:"text" doc:"current text of the file"`
}

// olderProblem is the error body for a change that would move bytes of an older version.
type olderProblem struct {
	huma.ErrorModel
	Newest int `json:"newest" doc:"highest version of the message"`
}

func errorModel(status int, detail string) huma.ErrorModel {
	return huma.ErrorModel{Title: http.StatusText(status), Status: status, Detail: detail}
}

// statusOf returns the status of a handler's error.
func statusOf(err error) int {
	var known huma.StatusError
	if errors.As(err, &known) {
		return known.GetStatus()
	}
	return http.StatusInternalServerError
}

// storeProblem converts an error of reading or changing files to an error with a status.
func storeProblem(err error) error {
	var known huma.StatusError
	var moved *store.ConflictError
	var older *workspace.OlderError
	var name *store.NameError
	var kind *workspace.NameError
	var sample *workspace.SampleError
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &moved):
		return &ConflictProblem{errorModel(http.StatusPreconditionFailed, moved.Error()), string(moved.Have), string(moved.Text)}
	case errors.As(err, &older):
		return &olderProblem{errorModel(http.StatusConflict, older.Error()+": POST it to …/versions"), older.Newest}
	case errors.As(err, &sample) && sample.Gone:
		return huma.Error404NotFound(err.Error())
	case errors.As(err, &sample) && sample.There:
		return huma.Error409Conflict(err.Error())
	case errors.As(err, &name), errors.As(err, &kind), errors.As(err, &sample):
		return huma.Error422UnprocessableEntity(err.Error())
	case errors.Is(err, store.ErrTooLarge):
		return huma.NewError(http.StatusRequestEntityTooLarge, err.Error())
	case errors.Is(err, store.ErrFull), errors.Is(err, workspace.ErrNoRoom):
		return huma.NewError(http.StatusInsufficientStorage, err.Error()+"; nothing was changed")
	case errors.Is(err, store.ErrReadOnly):
		return huma.Error403Forbidden(err.Error() + "; nothing was changed. The server has no write permission there: ask its operator")
	case errors.Is(err, fs.ErrNotExist):
		return huma.Error404NotFound(err.Error())
	}
	return huma.Error500InternalServerError(err.Error())
}

// saveProblem is storeProblem for a text that may have been stored despite the error, under revision rev.
func saveProblem(rev store.Revision, err error) error {
	if rev == "" {
		return storeProblem(err)
	}
	return huma.Error500InternalServerError(fmt.Sprintf("the text is stored as revision %s, but a later step failed: %s", rev, err))
}

// describeFiles adds to the document what the types do not express: raw request bodies, and error bodies.
func describeFiles(api huma.API) {
	doc := api.OpenAPI()
	file := doc.Paths["/api/{ws}/definitions/{file}"]
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
	takes(doc.Paths["/api/{ws}/captures"].Post, true, map[string]*huma.Schema{"application/octet-stream": {Type: huma.TypeString, Format: "binary"}})
	isNew(doc.Paths["/api/{ws}/captures"].Post)
	isNew(doc.Paths["/api/{ws}/definitions/{file}/versions"].Post)
	isNew(doc.Paths["/api/{ws}/definitions/{file}/samples"].Post)

	settings := SchemaOf[workspace.UserSettings](api, "UserSettings")
	members := api.OpenAPI().Components.Schemas.Map()["UserSettings"].Properties
	for _, o := range defs.Options() {
		members[o.Name] = &huma.Schema{Type: huma.TypeString, Description: o.Doc}
	}
	takes(doc.Paths["/api/{ws}"].Patch, true, map[string]*huma.Schema{"application/json": settings, "application/merge-patch+json": settings})

	form := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{
		"files":   {Type: huma.TypeArray, Description: "the files, with folders in their names; the field name is ignored", Items: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
		"replace": {Type: huma.TypeBoolean, Description: "replace stored files that have another text"},
	}, AdditionalProperties: true}
	capture := doc.Paths["/api/{ws}/captures/{id}"].Get
	capture.Responses["200"].Content = map[string]*huma.MediaType{
		"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
		"application/json":         {Schema: SchemaOf[store.Capture](api, "Capture")},
	}
	started := doc.Paths["/api/{ws}/demo"].Post // answers 200 if it is already running
	started.Responses["200"] = &huma.Response{Description: http.StatusText(http.StatusOK), Content: started.Responses["201"].Content}

	upload := doc.Paths["/api/{ws}/upload"].Post
	takes(upload, true, map[string]*huma.Schema{"multipart/form-data": form})
	for _, status := range []string{"403", "422", "507"} {
		refuses(upload, status, SchemaOf[UploadProblem](api, "UploadProblem"))
	}
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
