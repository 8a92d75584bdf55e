package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/codec/pcap"
	"wirebench/defs"
	"wirebench/server/admit"
	"wirebench/server/history"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Limits of an upload besides those of store.DefaultBounds.
const (
	MaxUpload   = 64 << 20         // bytes of the body
	maxField    = 4096             // bytes of a field
	MaxZips     = 20               // each may unpack to much more than its size
	receiveTime = 5 * time.Minute  // for the body
	storeTime   = 90 * time.Second // for writing the files
)

type uploadInput struct {
	Workspace string `path:"project" doc:"name of the project"`
	UploadQuery
	RawRequest
}

// UploadQuery holds the options of an upload.
type UploadQuery struct {
	Framing string `query:"framing" maxLength:"200" doc:"store files of raw bytes as captures with this framing: prefixed:2le+self, fixed:40, delimited:0d0a, envelope ..."`
	Replace bool   `query:"replace" doc:"replace stored files with a different text; also a form field"`
}

type uploadOutput struct{ Body UploadReport }

// UploadReport lists the results of an upload, file by file.
type UploadReport struct {
	Project string          `json:"project,omitempty" doc:"of the files, if the address does not name it"`
	Stored  int             `json:"stored" doc:"number of new or replaced files"`
	Files   []*UploadedFile `json:"files" doc:"in the order of the upload"`
	Undo    *history.Step   `json:"undo,omitempty" doc:"the change of the library, for undo"`
}

// UploadedFile is the result for one file.
type UploadedFile struct {
	File        string       `json:"file" doc:"name in the library, or in the upload if not stored"`
	From        string       `json:"from,omitempty" doc:"the zip that contained it"`
	Capture     string       `json:"capture,omitempty" doc:"id of the capture made of it"`
	Result      string       `json:"result" enum:"new,replaced,unchanged,exists,skipped,error" doc:"exists: a different text is stored and was kept; skipped: not a kind of file stored here; error: storing failed"`
	Reason      string       `json:"reason,omitempty" doc:"why it was not stored"`
	Differs     *Differences `json:"differs,omitempty" doc:"for result exists"`
	Message     string       `json:"message,omitempty" doc:"NAME.VERSION of the message defined in it"`
	Diagnostics int          `json:"diagnostics,omitempty" doc:"number of mistakes"`

	err error
}

// Differences counts the lines in which two texts differ.
type Differences struct {
	Stored   int `json:"stored" doc:"lines only in the stored text"`
	Uploaded int `json:"uploaded" doc:"lines only in the uploaded text"`
}

const (
	resultSkipped = "skipped"
	resultError   = "error"
	namelessPart  = "a part of the form"
)

// UploadProblem is the error body for an upload without usable files.
type UploadProblem struct {
	huma.ErrorModel
	Files []*UploadedFile `json:"files" doc:"why, file by file"`
}

// upload stores the files of a form.
func (s *API) upload(ctx context.Context, in *uploadInput) (*uploadOutput, error) {
	ws, err := s.workspaceNamed(in.Workspace)
	if err != nil {
		return nil, err
	}
	report, err := TakeUpload(ctx, ws.Workspace, in.writer, in.request, in.Replace)
	if err != nil {
		return nil, err
	}
	return &uploadOutput{*report}, nil
}

// TakeUpload reads a form and stores its files. The error has a status; if it is about the files, it is an UploadProblem.
func TakeUpload(ctx context.Context, to *workspace.Workspace, w http.ResponseWriter, r *http.Request, replace bool) (*UploadReport, error) {
	u := &upload{replace: replace, captures: to.Captures}
	if err := u.receive(ctx, w, r); err != nil {
		u.takeBack()
		return nil, err
	}
	return u.store(ctx, to)
}

// receive reads a form. The error has a status.
func (u *upload) receive(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength > MaxUpload {
		return bodyError(&http.MaxBytesError{Limit: MaxUpload})
	}
	size := r.ContentLength
	if size < 0 {
		size = MaxUpload
	}
	if err := admitted(ctx, admit.Open, int(size), admit.PerUploaded); err != nil {
		return err
	}
	// A large form takes longer than the server's time limit of requests. Writers without deadlines, as in tests, need none.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(receiveTime))
	_ = control.SetWriteDeadline(time.Now().Add(receiveTime + storeTime + time.Minute))
	r.Body = http.MaxBytesReader(w, r.Body, MaxUpload)
	form, err := r.MultipartReader()
	if err != nil {
		return huma.NewError(http.StatusUnsupportedMediaType, "send the files as multipart/form-data: "+err.Error())
	}
	u.Bounds = store.DefaultBounds()
	if text := r.URL.Query().Get("framing"); text != "" {
		if u.framing, err = parseFraming(text); err != nil {
			return err
		}
	}
	if err := u.read(form); err != nil {
		return err
	}
	u.dropTop()
	return nil
}

// store stores the files of a form that has been read.
func (u *upload) store(ctx context.Context, to *workspace.Workspace) (*UploadReport, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	results, step, err := to.SaveAll(ctx, u.files, u.replace, authors(ctx)...)
	if results == nil && err != nil {
		u.takeBack()
		return nil, StoreProblem(err)
	}
	report := u.report(results)
	report.Undo = step
	(&space{to, to.Now()}).describeUpload(report)
	switch {
	case err != nil:
		return nil, &UploadProblem{errorModel(http.StatusInternalServerError, "the files were stored as follows, but the library cannot be read: "+err.Error()), report.Files}
	case !slices.ContainsFunc(report.Files, func(f *UploadedFile) bool { return f.Result != resultSkipped && f.Result != resultError }):
		return nil, uselessUpload(report)
	}
	return report, nil
}

// uselessUpload returns the error for an upload without stored files.
func uselessUpload(report *UploadReport) error {
	if len(report.Files) == 0 {
		return &UploadProblem{errorModel(http.StatusUnprocessableEntity, "the form has no files"), report.Files}
	}
	p := &UploadProblem{errorModel(http.StatusUnprocessableEntity, "none of the files was stored: see files"), report.Files}
	for _, f := range report.Files {
		switch {
		case errors.Is(f.err, store.ErrFull), errors.Is(f.err, workspace.ErrNoRoom):
			p.ErrorModel = errorModel(http.StatusInsufficientStorage, "nothing was stored: "+f.Reason)
		case errors.Is(f.err, store.ErrReadOnly) && p.Status == http.StatusUnprocessableEntity:
			p.ErrorModel = errorModel(http.StatusForbidden, "nothing was stored: "+f.Reason)
		}
	}
	return p
}

// upload collects the files of a form.
type upload struct {
	store.Bounds // remaining
	replace      bool
	all          []*UploadedFile
	files        []workspace.NewFile // those to store
	taken        []*UploadedFile     // the reports of files, by index
	zips         int
	bomb         bool // a zip unpacked to more than is allowed; no other is opened
	parts        int

	otherFields map[string]func(value string) error // the other fields of the form, by name

	captures *store.Captures // nil: captures are not stored
	framing  string          // of raw files; "": these are not stored
	kept     []string        // ids of stored captures
}

// read reads a form, part by part. The error has a status and means that no file of the form may be stored.
func (u *upload) read(form *multipart.Reader) error {
	for {
		part, err := form.NextPart()
		if err == io.EOF { // unwrapped only at the end of the form
			return nil
		}
		if err != nil {
			return formError(err)
		}
		if u.parts++; u.parts > store.MaxFiles {
			return huma.NewError(http.StatusRequestEntityTooLarge, fmt.Sprintf("more than %d files", store.MaxFiles))
		}
		if err := u.part(part); err != nil {
			return formError(err)
		}
	}
}

// formError converts an error of reading a form to an error with a status.
func formError(err error) error {
	if statusOf(err) != http.StatusInternalServerError {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return huma.Error400BadRequest("the form is incomplete; no file was stored")
	}
	return bodyError(err)
}

// part reads one part of a form.
func (u *upload) part(part *multipart.Part) error {
	name, isFile := partName(part)
	if !isFile {
		return u.field(part)
	}
	// Unusable files are discarded before the rest is read.
	head := make([]byte, 512)
	n, err := io.ReadFull(part, head)
	if head = head[:n]; err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if name == "" {
		if n > 0 { // browsers send an empty part if no file was chosen
			u.skip(cmp.Or(part.FormName(), namelessPart), "", "a file without a name")
		}
		return discard(part)
	}
	if hidden(name) && strings.Contains(name, "/") { // another program's hidden file in an uploaded folder
		return discard(part)
	}
	var rest io.Reader = part
	if defs.ByContents(name) { // definitions, or a capture in a text format
		text, err := io.ReadAll(io.LimitReader(part, store.MaxFileBytes+1-int64(n)))
		if err != nil {
			return err
		}
		if all := slices.Concat(head, text); defs.Recognizes(name, string(all)) || defs.IsBundle(name, all) {
			u.unpack(name, all)
			return discard(part)
		}
		rest = io.MultiReader(bytes.NewReader(text), part)
	}
	if taken, err := u.capture(name, head, rest); taken || err != nil {
		return err
	}
	if reason := otherKind(name, head); reason != "" {
		u.skip(name, "", reason)
		return discard(part)
	}
	most := int64(store.MaxFileBytes)
	if isZip(head) {
		most = MaxUpload
	}
	more, err := io.ReadAll(io.LimitReader(rest, most+1-int64(n)))
	if err != nil {
		return err
	}
	data := slices.Concat(head, more)
	if strings.EqualFold(path.Ext(name), ".txt") && isConversation(data) {
		return u.keep(name, "", bytes.NewReader(data), part)
	}
	u.unpack(name, data)
	return discard(part)
}

// discard reads the rest of a part.
func discard(part *multipart.Part) error {
	_, err := io.Copy(io.Discard, part)
	return err
}

// partName returns the file name of a part with its folder, which part.FileName drops; isFile is false if it has none.
func partName(part *multipart.Part) (name string, isFile bool) {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return "", false
	}
	name, isFile = params["filename"]
	return name, isFile
}

// field reads a part that is not a file.
func (u *upload) field(part *multipart.Part) error {
	value, err := io.ReadAll(io.LimitReader(part, maxField))
	if err != nil {
		return err
	}
	if set := u.otherFields[part.FormName()]; set != nil {
		if err := set(string(value)); err != nil {
			return err
		}
		return discard(part)
	}
	if part.FormName() != "replace" {
		u.skip(cmp.Or(part.FormName(), namelessPart), "", "no file name")
		return discard(part)
	}
	yes, err := strconv.ParseBool(string(value))
	if err != nil && string(value) != "on" {
		return huma.Error422UnprocessableEntity("the field replace must be true or false")
	}
	u.replace = yes || string(value) == "on"
	return nil
}

// skip reports a file of a kind that is not stored.
func (u *upload) skip(name, from, reason string) {
	u.all = append(u.all, &UploadedFile{File: name, From: from, Result: resultSkipped, Reason: reason})
}

// fail reports a file that could not be stored.
func (u *upload) fail(name, from, reason string) {
	u.all = append(u.all, &UploadedFile{File: name, From: from, Result: resultError, Reason: reason})
}

// unpack adds a file, or the files of a zip or of a bundle of definitions.
func (u *upload) unpack(name string, data []byte) {
	from := ""
	if isZip(data) {
		from = name
		if u.zips++; u.zips > MaxZips || u.bomb {
			u.fail(name, "", fmt.Sprintf("not opened: at most %d zips are, and none after a zip that exceeds the limits", MaxZips))
			return
		}
	}
	if defs.IsBundle(name, data) {
		from = name
	}
	files, skipped, err := store.Unpack(name, data, u.Bounds)
	if err != nil {
		u.bomb = u.bomb || errors.Is(err, store.ErrBomb)
		u.fail(name, "", err.Error())
		return
	}
	for _, x := range skipped {
		u.unusable(x, from)
	}
	for _, f := range files {
		if reason := otherKind(f.Name, f.Text); reason != "" {
			u.skip(f.Name, from, reason)
			continue
		}
		u.Files--
		u.AllBytes -= int64(len(f.Text))
		said := &UploadedFile{File: f.Name, From: from}
		u.all, u.taken = append(u.all, said), append(u.taken, said)
		u.files = append(u.files, workspace.NewFile{Name: f.Name, Text: f.Text})
	}
}

// unusable reports a file that Unpack rejects: as an error if it could belong to a library, else as skipped.
func (u *upload) unusable(x store.Skipped, from string) {
	switch reason := otherKind(path.Base(x.Name), nil); {
	case strings.Contains(x.Name, defs.InBundle) || x.Name == from: // in a bundle, or one that cannot be read
		u.fail(strings.TrimPrefix(x.Name, from+defs.InBundle), from, x.Reason)
	case hidden(x.Name):
		u.skip(x.Name, from, x.Reason)
	case reason != "":
		u.skip(x.Name, from, reason)
	default:
		u.fail(x.Name, from, x.Reason)
	}
}

// hidden reports whether a file is a hidden or bookkeeping file of another program.
func hidden(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(e string) bool {
		return e == "__MACOSX" || e == "node_modules" || strings.HasPrefix(e, ".") && !strings.HasPrefix(e, "..") && e != "."
	})
}

// otherKind returns the reason why a file with this name and these first bytes is not stored, or "".
func otherKind(name string, head []byte) string {
	if pcap.SniffCapture(head) != "" {
		return "a capture inside a zip: upload it separately"
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".pcap", ".pcapng", ".cap", ".log", ".snoop", ".gz", ".zst", ".lz4", ".xz", ".bz2":
		return "named like a capture, but its content is not one"
	case ".def", ".map", store.EnvelopeEnding, ".txt", ".zip", "":
		return ""
	}
	if strings.HasSuffix(name, store.SamplesEnding) || path.Base(name) == store.ValidityName || isZip(head) || defs.Recognizes(name, string(head)) || defs.IsBundle(name, head) {
		return ""
	}
	return "not a definition, a code map or samples: it looks like " + looksLike(head)
}

// looksLike says what a file is by its first bytes.
func looksLike(head []byte) string {
	switch kind, _, _ := strings.Cut(http.DetectContentType(head), ";"); {
	case len(head) == 0:
		return "an empty file"
	case json.Valid(head), kind == "text/plain" && bytes.IndexByte([]byte("{["), bytes.TrimSpace(head)[0]) >= 0:
		return "JSON of something else"
	case kind == "text/plain":
		return "a text"
	case kind == "application/octet-stream":
		return "binary data"
	default:
		return kind
	}
}

// noDefinitions returns the error for a project of files among which are no definitions.
func noDefinitions(why string, files []*UploadedFile) error {
	var of []string
	for _, d := range defs.Dialects {
		of = append(of, d.Title)
	}
	why += ". Accepted are definitions (" + strings.Join(of, ", ") + ") with their code maps and samples, and zip files of them; an empty project needs its protocol"
	return &UploadProblem{errorModel(http.StatusUnprocessableEntity, why), files}
}

// isZip reports whether data starts like a zip file.
func isZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")) || bytes.HasPrefix(head, []byte("PK\x07\x08"))
}

// dropTop removes the common top folder of individually sent files, as when a folder is uploaded. Unpack does so for zips.
func (u *upload) dropTop() {
	top := ""
	for i, f := range u.files {
		if u.taken[i].From != "" {
			continue
		}
		first, _, below := strings.Cut(f.Name, "/")
		if !below || top != "" && first != top {
			return
		}
		top = first
	}
	for i := range u.files {
		if u.taken[i].From == "" {
			u.files[i].Name = strings.TrimPrefix(u.files[i].Name, top+"/")
		}
	}
}

// report assembles the report.
func (u *upload) report(results []workspace.SaveResult) *UploadReport {
	r := &UploadReport{Files: u.all, Stored: len(u.kept)}
	if r.Files == nil {
		r.Files = []*UploadedFile{}
	}
	for i, x := range results {
		f := u.taken[i]
		f.File, f.Result, f.err = x.Name, string(x.Outcome), x.Err
		switch x.Outcome {
		case workspace.Created, workspace.Replaced:
			r.Stored++
			if x.Err != nil {
				f.Reason = "stored, but may be lost on a power failure: " + x.Err.Error()
			}
		case workspace.Exists:
			f.Differs = lineDifferences(x.Stored, u.files[i].Text)
			f.Reason = f.Differs.words()
		case workspace.Refused:
			f.Result, f.Reason = resultError, x.Err.Error()
			var kind *workspace.NameError
			if errors.As(x.Err, &kind) {
				f.Result, f.Reason = resultSkipped, kind.Reason
			}
		}
	}
	return r
}

// lineDifferences compares two texts as multisets of lines, ignoring their order.
func lineDifferences(stored, uploaded []byte) *Differences {
	count := map[string]int{}
	for line := range bytes.Lines(stored) {
		count[string(bytes.TrimRight(line, "\r\n"))]++
	}
	for line := range bytes.Lines(uploaded) {
		count[string(bytes.TrimRight(line, "\r\n"))]--
	}
	d := &Differences{}
	for _, n := range count {
		if d.Stored += max(n, 0); n < 0 {
			d.Uploaded -= n
		}
	}
	return d
}

func (d *Differences) words() string {
	if d.Stored == 0 && d.Uploaded == 0 {
		return "the stored text differs in line ends or in the order of its lines; upload again with replace to store this one"
	}
	return fmt.Sprintf("the stored text has %d lines that this one lacks, and lacks %d of its lines; upload again with replace to store this one", d.Stored, d.Uploaded)
}

// describeUpload adds the defined messages and the number of mistakes to the reports.
func (ws *space) describeUpload(r *UploadReport) {
	x := ws.index()
	for _, f := range r.Files {
		if f.Result == resultSkipped || f.Result == resultError || f.Capture != "" {
			continue
		}
		file := ws.File(f.File)
		if file == nil {
			continue // samples
		}
		if list := x.messages[file]; len(list) > 0 {
			f.Message = ws.NameOf(list[0])
		}
		if n := x.mistakes[file]; f.Result != string(workspace.Exists) { // else the index has the mistakes of the stored text
			f.Diagnostics = n[0] + n[1]
		}
	}
}
