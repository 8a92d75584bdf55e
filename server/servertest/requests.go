package servertest

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"wirebench/server/store"
	"wirebench/server/workspace"
)

// Ask sends a body of a media type, and decodes the JSON response, unless into is nil.
func Ask(t testing.TB, s http.Handler, method, path, kind, body string, into any) int {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if into != nil && json.Unmarshal(w.Body.Bytes(), into) != nil {
		t.Fatalf("%s %s: %d %.300s", method, path, w.Code, w.Body)
	}
	return w.Code
}

// AskJSON sends JSON, and decodes the JSON response.
func AskJSON(t *testing.T, s http.Handler, method, path, body string, into any) int {
	t.Helper()
	return Ask(t, s, method, path, "application/json", body, into)
}

// Request sends bytes, and decodes the JSON response.
func Request(t *testing.T, s http.Handler, method, path string, body []byte, into any) int {
	t.Helper()
	return Ask(t, s, method, path, "application/octet-stream", string(body), into)
}

// Call sends a request and decodes its JSON response.
func Call(t *testing.T, ctx context.Context, base, method, path, body string, into any) int {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	if res.StatusCode >= 400 {
		t.Logf("%s %s: %d %s", method, path, res.StatusCode, text)
	}
	if into != nil && json.Unmarshal(text, into) != nil {
		t.Fatalf("%s %s: %d %s", method, path, res.StatusCode, text)
	}
	return res.StatusCode
}

// Define stores a definition.
func Define(t *testing.T, s http.Handler, name, text string) {
	t.Helper()
	r := httptest.NewRequest("PUT", "/api/one/definitions/"+name, strings.NewReader(text))
	r.Header.Set("If-Match", "*")
	r.Header.Set("Content-Type", "text/plain")
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, r); w.Code >= 300 {
		t.Fatalf("%s: %d %s", name, w.Code, w.Body)
	}
}

// Keep stores a capture.
func Keep(t *testing.T, s http.Handler, name string, data []byte) store.Capture {
	t.Helper()
	var x store.Capture
	if code := Request(t, s, "POST", "/api/one/captures?name="+name, data, &x); code != http.StatusCreated {
		t.Fatal(code)
	}
	return x
}

// Append appends to a capture.
func Append(t *testing.T, s http.Handler, id string, offset int, data []byte) {
	t.Helper()
	if code := Request(t, s, "POST", fmt.Sprintf("/api/one/captures/%s/append?offset=%d", id, offset), data, nil); code != 200 {
		t.Fatalf("append at %d: %d", offset, code)
	}
}

// Patch changes a capture and returns the response.
func Patch(t *testing.T, s http.Handler, id, body string) (int, string) {
	t.Helper()
	r := httptest.NewRequest("PATCH", "/api/one/captures/"+id, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// Frames is a page of the frames of a capture.
type Frames struct {
	Frames []workspace.FrameInfo
	Total  int
	Fit    int
	Done   bool
	Note   string
}

// ToldFrames returns the frames of a capture from the API.
func ToldFrames(t *testing.T, s http.Handler, id string) []string {
	t.Helper()
	var f Frames
	if code := Request(t, s, "GET", "/api/one/captures/"+id+"/frames?count=1000&value=true", nil, &f); code != 200 || !f.Done {
		t.Fatalf("%d %+v", code, f)
	}
	out := []string{""}
	for _, x := range f.Frames {
		out = append(out, fmt.Sprintf("%s %s %s", x.Kind, x.Message, x.Value))
	}
	return out
}

// File is the name and the text of a file to send.
type File [2]string

// FilesOf returns files to send.
func FilesOf(files map[string]string) (all []File) {
	for name, text := range files {
		all = append(all, File{name, text})
	}
	return all
}

// Zip returns a zip file of files.
func Zip(t testing.TB, files ...File) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		method := zip.Deflate
		if f[1] == "" {
			method = zip.Store
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: f[0], Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
