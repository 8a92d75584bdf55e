package server

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestDefinitionsFiles(t *testing.T) {
	s, _ := testServerOf(t, map[string]string{"C_A.1.def": "\ufeffbyte a\r\n", "C_A.2.def": "byte a\nbyte b\n", "C_B.1.def": "byte c\n", "protocol.map": "C_A 1\nC_B 2\n"})
	const rename = "POST /api/v1/one/rename"
	talk(t, s, []exchange{
		{"renamed with its code", rename, `{"files":[{"from":"C_B.1.def","to":"C_NEW.1.def"}],"codes":true}`, 200, []string{`"messages":[{"from":"C_B.1","to":"C_NEW.1"}]`, `"maps":["protocol.map"]`}, nil},
		{"the map", "GET /api/v1/one/definitions/protocol.map", "", 200, []string{`"text":"C_A 1\nC_NEW 2\n"`}, nil},
		{"and back", rename, `{"files":[{"from":"C_NEW.1.def","to":"C_B.1.def"}],"codes":true}`, 200, nil, nil},
		{"taken", rename, `{"files":[{"from":"C_B.1.def","to":"C_A.1.def"}]}`, 409, []string{"C_A.1.def exists already"}, nil},
		{"not a name", rename, `{"files":[{"from":"C_B.1.def","to":"C B.1.def"}]}`, 422, []string{"letters, digits"}, nil},
		{"unknown", rename, `{"files":[{"from":"C_X.1.def","to":"C_Y.1.def"}]}`, 404, nil, nil},
		{"nothing", rename, `{"files":[]}`, 422, nil, nil},
		{"the next version", "POST /api/v1/one/definitions/C_A.1.def/copy", "", 201, []string{`"file":"C_A.3.def"`}, nil},
		{"under a name", "POST /api/v1/one/definitions/C_A.1.def/copy", `{"to":"C_C.1.def"}`, 201, []string{`"file":"C_C.1.def"`}, nil},
		{"which exists", "POST /api/v1/one/definitions/C_A.1.def/copy", `{"to":"C_C.1.def"}`, 409, []string{"C_C.1.def exists already"}, nil},
	})
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080"+path, nil))
		return w
	}
	one := get("/api/v1/one/definitions/C_A.1.def?download=true")
	if one.Body.String() != "\ufeffbyte a\r\n" || one.Header().Get("Content-Disposition") != "attachment; filename=C_A.1.def" {
		t.Errorf("%q %v", one.Body, one.Header())
	}
	all := get("/api/v1/one/definitions.zip")
	z, err := zip.NewReader(bytes.NewReader(all.Body.Bytes()), int64(all.Body.Len()))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r)
		found[f.Name] = string(text)
	}
	if len(found) != 6 || found["C_A.1.def"] != "\ufeffbyte a\r\n" || found["protocol.map"] != "C_A 1\nC_B 2\n" {
		t.Errorf("%q", found)
	}
}
