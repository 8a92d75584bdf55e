package server

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirebench/server/history"
	"wirebench/server/rooms"
	"wirebench/server/servertest"
	"wirebench/server/workspace"
)

// filesWith returns the files below a folder that have a text: in their names, as they are, in archives, and in JSON.
func filesWith(t *testing.T, folder, text string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
			for in := tar.NewReader(z); ; {
				h, err := in.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					return err
				}
				more, err := io.ReadAll(in)
				if err != nil {
					return err
				}
				data = append(append(data, h.Name...), more...)
			}
		}
		if strings.Contains(at+string(data), text) {
			rel, _ := filepath.Rel(folder, at)
			out = append(out, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A text that was in a definition is in no file of the project after a purge, whatever way it came there; the answer says what went.
func TestPurge(t *testing.T) {
	s, dir := testServerOf(t, map[string]string{"C_OLD.1.def": "uint32 id\n", "C_B.1.def": "uint32 id\n"})
	home := s.Projects.Find("one").Home.(interface{ Path(string) string }).Path("")
	const api, marker = "/api/v1/one", "hunter2"
	do := func(method, path, body string) []byte {
		t.Helper()
		r := httptest.NewRequest(method, api+path, strings.NewReader(body))
		if r.Header.Set("Content-Type", "application/json"); !strings.HasPrefix(body, "{") {
			r.Header.Set("Content-Type", "text/plain")
		}
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code/100 != 2 {
			t.Fatalf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		return w.Body.Bytes()
	}
	const secret, clean = "# " + marker + "\nuint32 id\n", "uint32 id\nuint32 more\n"
	do("PUT", "/definitions/C_OLD.1.def?force=true", secret)
	do("POST", "/rename", `{"files":[{"from":"C_OLD.1.def","to":"C_A.1.def"}]}`) // a step with the text
	if got := send(t, s, "?replace=true", servertest.File{"C_A.1.def", "# " + marker + " again\nuint32 id\n"}, servertest.File{"C_B.1.def", "uint32 id\nuint32 other\n"}); got.Status != 200 {
		t.Fatal(got.text)
	}
	comment := `{"name":"ann","text":"why this?","file":"C_A.1.def","line":1}`
	do("POST", "/threads", comment)
	suggest, _ := json.Marshal(map[string]any{"name": "ann", "text": "longer", "file": "C_A.1.def", "suggest": map[string]string{"base": "# " + marker + " again\nuint32 id\n", "text": "# " + marker + " again\nuint32 id\nuint32 tail\n"}})
	do("POST", "/threads", string(suggest))
	var thread workspace.Thread
	if err := json.Unmarshal(do("POST", "/threads", string(suggest)), &thread); err != nil {
		t.Fatal(err)
	}
	do("PATCH", "/threads/"+thread.ID, `{"open":false}`)
	do("POST", "/capsules", `{"hex":"0600", "title":"one", "hex":"0800000001000000", "message":"C_A.1"}`)
	do("POST", "/capsules", `{"hex":"0600", "title":"other", "hex":"0800000001000000", "message":"C_B.1"}`)
	m, err := s.rooms.Join(t.Context(), s.Projects.Find("one"), "C_A.1.def", rooms.Person{Name: "ann", Writes: true}, rooms.Have{})
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"# typed " + marker + "\n" + clean, clean} {
		was := "# " + marker + " again\nuint32 id\n"
		if to == clean {
			was = "# typed " + marker + "\n" + clean
		}
		if err := m.Merge("ann, "+to, was, to); err != nil {
			t.Fatal(err)
		}
		m.Write()
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			if text, _ := os.ReadFile(filepath.Join(dir, "C_A.1.def")); string(text) == to {
				break
			}
			if time.Now().After(end) {
				t.Fatal("the file is not written")
			}
		}
	}
	do("GET", "/definitions/C_A.1.def/history", "")
	before := filesWith(t, home, marker)
	if len(before) < 6 { // history, log, two steps, threads, a capsule
		t.Fatalf("the test has the text in few places: %v", before)
	}
	var got workspace.Purged
	if err := json.Unmarshal(do("DELETE", "/definitions/C_A.1.def/history", ""), &got); err != nil {
		t.Fatal(err)
	}
	if after := filesWith(t, home, marker); len(after) > 0 {
		t.Errorf("the text is still in %v", after)
	}
	if got.Revisions < 3 || got.Steps != 2 || got.Suggestions != 2 || got.Quotes != 1 || len(got.Capsules) != 1 || got.Capsules[0].Title != "one" || len(got.Stays) < 3 {
		t.Errorf("%+v", got)
	}
	m.Leave()
	if after := filesWith(t, home, marker); len(after) > 0 {
		t.Errorf("after the room has ended the text is in %v", after)
	}
	// What others have stays: the other file of the step can be undone, the open suggestion is one for the present text.
	var steps struct {
		Changes []history.Step
	}
	if err := json.Unmarshal(do("GET", "/changes", ""), &steps); err != nil || len(steps.Changes) != 1 || steps.Changes[0].Files != 1 || steps.Changes[0].Names[0] != "C_B.1.def" {
		t.Fatalf("%+v %v", steps, err)
	}
	do("POST", "/changes/"+steps.Changes[0].ID+"/undo", "")
	if text, _ := os.ReadFile(filepath.Join(dir, "C_B.1.def")); string(text) != "uint32 id\n" {
		t.Errorf("%q", text)
	}
	var list struct{ Threads []workspace.Thread }
	if err := json.Unmarshal(do("GET", "/threads?closed=true", ""), &list); err != nil || len(list.Threads) != 3 {
		t.Fatalf("%+v %v", list, err)
	}
	open := 0
	for _, x := range list.Threads {
		if x.Suggestion != nil && x.Open {
			open++
			if x.Suggestion.Base != clean || !strings.Contains(x.Suggestion.Text, "uint32 tail\n") {
				t.Errorf("%+v", x.Suggestion)
			}
		}
	}
	if open != 1 {
		t.Errorf("%d suggestions are open", open)
	}
}
