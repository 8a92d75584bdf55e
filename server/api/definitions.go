package api

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/view"
	"wirebench/defs"
	"wirebench/defs/diag"
	"wirebench/defs/schema"
	"wirebench/defs/source"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// FilePath is the workspace and file in the path of a request.
type FilePath struct {
	Workspace string `path:"project" doc:"name of the project"`
	File      string `path:"file" maxLength:"500" doc:"name of a definition or code map; write the slashes of folders as %2F. The folders may be omitted if the name is unique"`
}

type definitionsInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	Query     string `query:"q" maxLength:"200" doc:"words that names must contain"`
}

type definitionsOutput struct {
	Body struct {
		Definitions []definitionItem `json:"definitions" doc:"sorted by file"`
		Maps        []mapItem        `json:"maps" doc:"code maps, sorted by file"`
		Envelopes   []besideItem     `json:"envelopes,omitempty" doc:"texts that say how messages travel; the first one applies"`
		Beside      []besideItem     `json:"beside,omitempty" doc:"files about definitions: the versions of the game that they are valid for"`
		Skipped     []string         `json:"skipped" doc:"files of the folder that are not read, with reasons"`
		Outdated    string           `json:"outdated,omitempty" doc:"why the folder cannot be read now; the definitions are those of before"`
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

type besideItem struct {
	File     string `json:"file"`
	Revision string `json:"revision"`
	Size     int    `json:"size" doc:"bytes"`
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
	b.Skipped, b.Outdated = append([]string{}, ws.Library.Skipped...), ws.Library.Outdated
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
	for _, f := range ws.Library.Envelopes {
		b.Envelopes = append(b.Envelopes, besideItem{f.Name, string(workspace.Revision(f)), len(f.Text)})
	}
	for _, f := range ws.Library.Valid {
		b.Beside = append(b.Beside, besideItem{f.Name, string(workspace.Revision(f)), len(f.Text)})
	}
	for name := range ws.Options.Codes {
		if !x.defined[name] {
			b.Undefined++
		}
	}
	for _, d := range ws.Diagnostics() {
		if f := d.Span.File; f == nil || defs.IsCodeMap(f.Name) || workspace.IsEnvelope(f.Name) || defs.IsValidity(f.Name) || betweenFiles(d) {
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
	for _, f := range ws.Library.All() {
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
	switch {
	case defs.IsCodeMap(f.Name):
		_, list := ws.codeMap(f)
		return nil, infos(list), nil
	case workspace.IsEnvelope(f.Name):
		return nil, infos(ws.CheckEnvelope(f)), nil
	case defs.IsValidity(f.Name):
		return nil, infos(ws.DiagnosticsOf(f)), nil
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
	Download    bool   `query:"download" doc:"the bare text, exactly as on disk, as a file to save"`
	Accept      string `header:"Accept" hidden:"true"`
}

type definitionOutput struct {
	Status      int
	ETag        string `header:"ETag" doc:"the revision, in quotes"`
	ContentType string `header:"Content-Type"`
	Cache       string `header:"Cache-Control"`
	Vary        string `header:"Vary"`
	Disposition string `header:"Content-Disposition"`
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
	f, err := ws.fileOf(in.File)
	if err != nil {
		return nil, err
	}
	rev := string(workspace.Revision(f))
	out := &definitionOutput{Status: http.StatusOK, ETag: quoted(rev), Cache: "no-cache", Vary: "Accept"}
	if tags, err := entityTags(in.IfNoneMatch); err == nil && (slices.Contains(tags, rev) || slices.Contains(tags, "*")) {
		out.Status, out.Body = http.StatusNotModified, []byte(nil)
		return out, nil
	}
	if in.Download {
		out.Disposition = attachment(path.Base(f.Name))
	}
	if in.Download || wantsText(in.Accept) {
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
func (s *API) writeDefinition(ctx context.Context, in *writeInput) (*storedOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	f, err := ws.fileNamed(in.File)
	if err != nil && statusOf(err) != http.StatusNotFound {
		return nil, err
	}
	text, err := in.text(in.File)
	if err != nil {
		return nil, err
	}
	expect, err := ws.precondition(in.IfMatch, in.IfNoneMatch, in.Force, f)
	if err != nil {
		return nil, StoreProblem(err)
	}
	name := in.File
	if f != nil {
		name = f.Name
	}
	rev, err := ws.SaveBy(authors(ctx), name, text, expect)
	if err != nil {
		return nil, saveProblem(rev, err)
	}
	return s.saved(ws, name, rev, f == nil), nil
}

// saved describes a file just stored.
func (s *API) saved(ws *space, name string, rev store.Revision, isNew bool) *storedOutput {
	out := &storedOutput{Status: http.StatusOK, ETag: quoted(string(rev))}
	if isNew {
		out.Status, out.Location = http.StatusCreated, addressBelow(ws.Name, "definitions", name)
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
		_, err = ws.Delete(f.Name, expect)
	}
	if err != nil {
		return nil, StoreProblem(err)
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
	name, rev, err := ws.SaveVersion(messages[0], []byte(text))
	if err != nil {
		return nil, saveProblem(rev, err)
	}
	return s.saved(ws, name, rev, true), nil
}
