package api

import (
	"bytes"
	"cmp"
	"context"
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
	"wirebench/server/admit"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

func (s *API) registerUpload(api huma.API) {
	add(api, "POST /api/{ws}/upload", "upload", "Store many definitions, code maps and samples, also from zips", s.upload, status(400, 403, 413, 415, 507))
}

// Bounds of an upload beside those of store.DefaultBounds.
const (
	MaxUpload   = 64 << 20         // bytes of the body
	MaxZips     = 20               // each may unpack to much more than it brings
	receiveTime = 5 * time.Minute  // for the body
	storeTime   = 90 * time.Second // for writing the files
)

type uploadInput struct {
	Workspace string `path:"ws" doc:"name of the workspace"`
	Framing   string `query:"framing" maxLength:"200" doc:"files of raw bytes are kept as captures, cut into messages so: prefixed:2le+self, fixed:40, delimited:0d0a ..."`
	Replace   bool   `query:"replace" doc:"replace stored files that have another text; also a field of the form"`
	RawRequest
}

type uploadOutput struct{ Body UploadReport }

// UploadReport says what was done with an upload, file by file.
type UploadReport struct {
	Stored int             `json:"stored" doc:"how many files are new or replaced"`
	Files  []*UploadedFile `json:"files" doc:"in the order of the upload"`
}

// UploadedFile says what was done with a file.
type UploadedFile struct {
	File        string       `json:"file" doc:"where it is in the library, or its name in the upload if it is not"`
	From        string       `json:"from,omitempty" doc:"the zip that it was in"`
	Capture     string       `json:"capture,omitempty" doc:"id of the capture that it has become"`
	Result      string       `json:"result" enum:"new,replaced,unchanged,exists,skipped,error" doc:"exists: another text is stored and was left; skipped: nothing that is kept here; error: it should have been stored and is not"`
	Reason      string       `json:"reason,omitempty" doc:"why it is not stored"`
	Differs     *Differences `json:"differs,omitempty" doc:"of a file that exists"`
	Message     string       `json:"message,omitempty" doc:"NAME.VERSION of the message that it defines"`
	Diagnostics int          `json:"diagnostics,omitempty" doc:"how many mistakes it has"`

	err error
}

// Differences counts the lines that two texts do not have in common.
type Differences struct {
	Stored   int `json:"stored" doc:"lines that only the stored text has"`
	Uploaded int `json:"uploaded" doc:"lines that only the uploaded text has"`
}

const (
	resultSkipped = "skipped"
	resultError   = "error"
	namelessPart  = "a part of the form"
)

// UploadProblem is the error body for an upload of which nothing was of use.
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

// TakeUpload reads a form and stores its files. The error has a status; if it is about the files, it is an uploadProblem.
func TakeUpload(ctx context.Context, to *workspace.Workspace, w http.ResponseWriter, r *http.Request, replace bool) (*UploadReport, error) {
	if r.ContentLength > MaxUpload {
		return nil, bodyError(&http.MaxBytesError{Limit: MaxUpload})
	}
	size := r.ContentLength
	if size < 0 {
		size = MaxUpload
	}
	if err := admitted(ctx, admit.Open, int(size), admit.PerUploaded); err != nil {
		return nil, err
	}
	// A large form takes longer than what the server gives a request. Writers that have no deadlines, as in tests, need none.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(receiveTime))
	_ = control.SetWriteDeadline(time.Now().Add(receiveTime + storeTime + time.Minute))
	r.Body = http.MaxBytesReader(w, r.Body, MaxUpload)
	form, err := r.MultipartReader()
	if err != nil {
		return nil, huma.NewError(http.StatusUnsupportedMediaType, "send the files as multipart/form-data: "+err.Error())
	}
	u := &upload{Bounds: store.DefaultBounds(), replace: replace, captures: to.Captures}
	if text := r.URL.Query().Get("framing"); text != "" {
		if u.framing, err = parseFraming(text); err != nil {
			return nil, err
		}
	}
	if err := u.read(form); err != nil {
		u.takeBack()
		return nil, err
	}
	u.dropTop()
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	results, err := to.SaveAll(ctx, u.files, u.replace)
	if results == nil && err != nil {
		u.takeBack()
		return nil, storeProblem(err)
	}
	report := u.report(results)
	(&space{to, to.Now()}).describeUpload(report)
	switch {
	case err != nil:
		return nil, &UploadProblem{errorModel(http.StatusInternalServerError, "the files were stored as follows, but the library cannot be read: "+err.Error()), report.Files}
	case !slices.ContainsFunc(report.Files, func(f *UploadedFile) bool { return f.Result != resultSkipped && f.Result != resultError }):
		return nil, uselessUpload(report)
	}
	return report, nil
}

// uselessUpload is the error for an upload of which nothing is in the library.
func uselessUpload(report *UploadReport) error {
	if len(report.Files) == 0 {
		return &UploadProblem{errorModel(http.StatusUnprocessableEntity, "there are no files in this form"), report.Files}
	}
	p := &UploadProblem{errorModel(http.StatusUnprocessableEntity, "nothing of this was stored: see files"), report.Files}
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

// upload is the files of a form.
type upload struct {
	store.Bounds // what may still come
	replace      bool
	all          []*UploadedFile
	files        []workspace.NewFile // those to store
	taken        []*UploadedFile     // what is to be said of each of files
	zips         int
	bomb         bool // a zip had more in it than is allowed; no other is opened
	parts        int

	captures *store.Captures // nil: none are kept
	framing  string          // of raw files; "": they are not kept
	kept     []string        // captures that were stored
}

// read reads a form, part by part. The error has a status, and nothing of the form is to be stored.
func (u *upload) read(form *multipart.Reader) error {
	for {
		part, err := form.NextPart()
		if err == io.EOF { // bare at the end of the form only
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

// formError gives an error of reading a form its status.
func formError(err error) error {
	if statusOf(err) != http.StatusInternalServerError {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return huma.Error400BadRequest("the form ends in the middle; nothing of it was stored")
	}
	return bodyError(err)
}

// part takes in one part of a form.
func (u *upload) part(part *multipart.Part) error {
	name, isFile := partName(part)
	if !isFile {
		return u.field(part)
	}
	// What is of no use is not kept while the rest comes.
	head := make([]byte, 512)
	n, err := io.ReadFull(part, head)
	if head = head[:n]; err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	if name == "" {
		if n > 0 { // browsers send an empty one where no file was chosen
			u.skip(cmp.Or(part.FormName(), namelessPart), "", "a file without a name")
		}
		return discard(part)
	}
	if hidden(name) && strings.Contains(name, "/") { // of another program, and not chosen by itself
		return discard(part)
	}
	if taken, err := u.capture(name, head, part); taken || err != nil {
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
	rest, err := io.ReadAll(io.LimitReader(part, most+1-int64(n)))
	if err != nil {
		return err
	}
	data := slices.Concat(head, rest)
	if strings.EqualFold(path.Ext(name), ".txt") && isConversation(data) {
		return u.keep(name, "", bytes.NewReader(data), part)
	}
	u.unpack(name, data)
	return discard(part)
}

// discard reads what is left of a part.
func discard(part *multipart.Part) error {
	_, err := io.Copy(io.Discard, part)
	return err
}

// partName is the name of the file in a part, with its folder, which part.FileName leaves away; isFile is false without any.
func partName(part *multipart.Part) (name string, isFile bool) {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil {
		return "", false
	}
	name, isFile = params["filename"]
	return name, isFile
}

// field takes in a part that is no file.
func (u *upload) field(part *multipart.Part) error {
	value, err := io.ReadAll(io.LimitReader(part, 100))
	if err != nil {
		return err
	}
	if part.FormName() != "replace" {
		u.skip(cmp.Or(part.FormName(), namelessPart), "", "no file name")
		return discard(part)
	}
	yes, err := strconv.ParseBool(string(value))
	if err != nil && string(value) != "on" {
		return huma.Error422UnprocessableEntity("the field replace is true or false")
	}
	u.replace = yes || string(value) == "on"
	return nil
}

// skip says that a file is none of those that are kept.
func (u *upload) skip(name, from, reason string) {
	u.all = append(u.all, &UploadedFile{File: name, From: from, Result: resultSkipped, Reason: reason})
}

// fail says that a file cannot be stored.
func (u *upload) fail(name, from, reason string) {
	u.all = append(u.all, &UploadedFile{File: name, From: from, Result: resultError, Reason: reason})
}

// unpack takes in a file, or those in a zip.
func (u *upload) unpack(name string, data []byte) {
	from := ""
	if isZip(data) {
		from = name
		if u.zips++; u.zips > MaxZips || u.bomb {
			u.fail(name, "", fmt.Sprintf("not opened: at most %d zips are, and none after one that has too much in it", MaxZips))
			return
		}
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

// unusable reports a file that Unpack does not take. It is an error if it could have been one of ours.
func (u *upload) unusable(x store.Skipped, from string) {
	switch reason := otherKind(path.Base(x.Name), nil); {
	case hidden(x.Name):
		u.skip(x.Name, from, x.Reason)
	case reason != "":
		u.skip(x.Name, from, reason)
	default:
		u.fail(x.Name, from, x.Reason)
	}
}

// hidden reports whether a file is one of those that programs keep for themselves.
func hidden(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(e string) bool {
		return e == "__MACOSX" || e == "node_modules" || strings.HasPrefix(e, ".") && !strings.HasPrefix(e, "..") && e != "."
	})
}

// otherKind says why a file is not one of those that are kept, by its name and the first bytes of it; "" = it may be.
func otherKind(name string, head []byte) string {
	if form := pcap.SniffCapture(head); form != "" && form != "gzip" {
		return "a capture inside a zip: send it by itself"
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".pcap", ".pcapng", ".cap", ".log", ".gz":
		return "it has the name of a capture, but what it holds is none"
	case ".def", ".map", ".txt", ".zip", "":
		return ""
	}
	if strings.HasSuffix(name, store.SamplesEnding) || isZip(head) {
		return ""
	}
	return "not a definition, a code map or samples"
}

// isZip tells a zip by its first bytes.
func isZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")) || bytes.HasPrefix(head, []byte("PK\x07\x08"))
}

// dropTop takes away the folder that all files are in that were sent one by one, as when a folder is uploaded. Unpack does so for zips.
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

// report puts together what was done.
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
				f.Reason = "stored, but it may be lost if the power fails now: " + x.Err.Error()
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

// lineDifferences compares two texts as heaps of lines: their order does not count.
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
	return fmt.Sprintf("the stored text has %d lines that this one has not, and this one %d that it has not; upload again with replace to store this one", d.Stored, d.Uploaded)
}

// describeUpload says which messages the files define, and how many mistakes they have.
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
		if n := x.mistakes[file]; f.Result != string(workspace.Exists) { // those of the stored text are not those of this one
			f.Diagnostics = n[0] + n[1]
		}
	}
}
