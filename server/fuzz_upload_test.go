package server

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/api"
	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// FuzzUpload sends forms with any content: stored files have names that a folder can hold, and the report lists exactly the stored files.
// The files are kept in memory, as thousands of folders a second would wear out a disk.
func FuzzUpload(f *testing.F) {
	short := func(kind string, form []byte) []byte { // with the boundary that the fuzzer knows
		return bytes.ReplaceAll(form, []byte(kind[len("multipart/form-data; boundary="):]), []byte("b"))
	}
	f.Add(short(formOf(f, servertest.File{"C_A.1.def", "byte a"}, servertest.File{"x/protocol.1.map", "C_A 1"}, servertest.File{"", "1"})))
	f.Add(short(formOf(f, servertest.File{"../C_B.1.def", "byte b"}, servertest.File{"x.zip", servertest.Zip(f, servertest.File{"C_A.1.def", "byte a"}, servertest.File{"/B.1.def", ""})})))
	f.Fuzz(func(t *testing.T, form []byte) {
		files := memory{"C_OLD.1.def": "byte a\n"}
		w, err := workspace.Open(workspace.Config{Name: "one", Dialect: "tera", Files: files})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("POST", "/api/one/upload", bytes.NewReader(form))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		report, err := api.TakeUpload(t.Context(), w, httptest.NewRecorder(), r, true)
		if err != nil {
			var known huma.StatusError
			if !errors.As(err, &known) || known.GetStatus() >= 500 || len(files) != 1 || files["C_OLD.1.def"] != "byte a\n" {
				t.Fatalf("%v, stored: %q", err, files)
			}
			return
		}
		said := map[string]bool{"C_OLD.1.def": true}
		n := 0
		for _, file := range report.Files {
			if file.Result == "new" || file.Result == "replaced" {
				said[file.File] = true
				n++
			}
		}
		if n != report.Stored || !slices.Equal(slices.Sorted(maps.Keys(said)), slices.Sorted(maps.Keys(files))) {
			t.Errorf("%d of %v are said to be stored, %q are", report.Stored, said, files)
		}
		for name := range files {
			if err := store.CheckName(name); err != nil {
				t.Errorf("%q is stored: %v", name, err)
			}
		}
	})
}

// memory is a file store in memory.
type memory map[string]string

func (m memory) List() (files []store.File, _ []string, _ error) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		files = append(files, store.File{Name: name, Text: []byte(m[name]), Revision: store.RevisionOf([]byte(m[name]))})
	}
	return files, nil, nil
}

func (m memory) Read(name string) (store.File, error) {
	text, ok := m[name]
	if !ok {
		return store.File{}, fs.ErrNotExist
	}
	return store.File{Name: name, Text: []byte(text), Revision: store.RevisionOf([]byte(text))}, nil
}

func (m memory) Write(name string, text []byte, expect *store.Revision) (store.Revision, error) {
	have := store.Revision("")
	if old, ok := m[name]; ok {
		have = store.RevisionOf([]byte(old))
	}
	if expect != nil && *expect != have {
		return "", &store.ConflictError{Name: name, Have: have, Text: []byte(m[name])}
	}
	m[name] = string(text)
	return store.RevisionOf(text), nil
}

func (m memory) Append(string, []byte) error { return errors.ErrUnsupported }

func (m memory) Remove(string, *store.Revision) error { return errors.ErrUnsupported }

func (m memory) Watch(context.Context, func()) error { return errors.ErrUnsupported }
