package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"wirebench/defs"
	"wirebench/server/store"
)

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

// receiving reads the body of a large file: it may take any time, but not pause for receiveStall. The answer then has a minute.
type receiving struct {
	io.Reader
	control *http.ResponseController
}

// receiveStall is the time for the next bytes of a large file.
const receiveStall = time.Minute

func (r receiving) Read(p []byte) (int, error) {
	_ = r.control.SetReadDeadline(time.Now().Add(receiveStall)) // writers without deadlines, as in tests, need none
	n, err := r.Reader.Read(p)
	_ = r.control.SetWriteDeadline(time.Now().Add(receiveStall + time.Minute))
	return n, err
}

// large returns a reader of a body of at most that many bytes.
func (r *RawRequest) large(most int64) io.Reader {
	return receiving{http.MaxBytesReader(r.writer, r.request.Body, most), http.NewResponseController(r.writer)}
}

// text returns the text of a file in a request: the body itself, or a JSON field. The body of a definition in JSON may be sent as JSON.
func (r *RawRequest) text(name string) ([]byte, error) {
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
		err := strictJSON(data, &body)
		switch {
		case (err != nil || body.Text == nil) && defs.Recognizes(name, string(data)):
		case err != nil:
			return nil, err
		case body.Text == nil:
			return nil, huma.Error422UnprocessableEntity("text is required")
		default:
			data = []byte(*body.Text)
		}
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
		return huma.Error422UnprocessableEntity(kindMessage(kind))
	case strings.HasPrefix(err.Error(), "json: unknown field"):
		unknown := strings.TrimPrefix(err.Error(), "json: ")
		_, name, _ := strings.Cut(unknown, `"`)
		return huma.Error422UnprocessableEntity(unknown + didYouMean(strings.TrimSuffix(name, `"`), namesOf(reflect.TypeOf(v).Elem())))
	}
	return huma.Error400BadRequest("not JSON: " + err.Error())
}

// kindMessage words a value of the wrong kind.
func kindMessage(wrong *json.UnmarshalTypeError) string {
	return fmt.Sprintf("%s must be a JSON %s, not %s", cmp.Or(wrong.Field, "the body"), jsonKind(wrong.Type.Kind().String()), wrong.Value)
}

// jsonKind returns the JSON name of a Go kind.
func jsonKind(kind string) string {
	switch kind {
	case "struct", "map":
		return "object"
	case "slice":
		return "array"
	case "int":
		return "number"
	}
	return kind
}
