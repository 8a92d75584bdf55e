package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"wirebench/codec/value"
	"wirebench/defs"
	"wirebench/server/access"
	"wirebench/server/projects"
	"wirebench/server/servertest"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// A definition in the request is decoded and encoded with as in a project that has it, in each language, named or recognized.
func TestDefinitionsInRequests(t *testing.T) {
	for _, d := range defs.Dialects {
		t.Run(d.Name, func(t *testing.T) {
			files, _ := workspacetest.Dir(t, map[string]string{d.Example.Name: d.Example.Text})
			kept := workspacetest.Open(t, workspace.Config{Dialect: d.Name, Files: files})
			s := serverOf(t, kept)
			m := kept.Now().Schema().Messages[0]
			message := kept.Now().NameOf(m)
			p, err := kept.Now().Program(m)
			if err != nil {
				t.Fatal(err)
			}
			var example json.RawMessage
			for _, x := range value.Examples(p, 4, 5, 5) {
				if x.Value != nil {
					example = x.Value
				}
			}
			post := func(path string, members map[string]any) string {
				t.Helper()
				body, err := json.Marshal(members)
				if err != nil {
					t.Fatal(err)
				}
				status, text := ask(s, "POST "+path, string(body))
				if _, text, _ = strings.Cut(text, "\n\n"); status != http.StatusOK && text == "" || status >= 500 {
					t.Fatalf("%s %s: %d %s", path, body, status, text)
				}
				return text
			}
			encoded := map[string]any{"message": message, "code": 5, "value": example}
			want := post("/api/v1/one/encode", encoded)
			var said struct{ Hex string }
			if json.Unmarshal([]byte(want), &said); said.Hex == "" {
				t.Fatalf("the project does not encode: %s", want)
			}
			decoded := map[string]any{"message": message, "hex": said.Hex}
			wantDecoded := post("/api/v1/one/decode", decoded)
			if !strings.Contains(wantDecoded, `"status":"ok"`) {
				t.Fatal(wantDecoded)
			}
			with := func(base map[string]any, name, value string) map[string]any {
				all := map[string]any{name: value}
				for k, v := range base {
					all[k] = v
				}
				return all
			}
			for what, c := range map[string]struct{ path, name, value string }{
				"project":       {"/api/", "project", "one"},
				"project in v1": {"/api/v1/", "project", "one"},
			} {
				if got := post(c.path+"encode", with(encoded, c.name, c.value)); got != want {
					t.Errorf("%s: %s, want %s", what, got, want)
				}
				if got := post(c.path+"decode", with(decoded, c.name, c.value)); got != wantDecoded {
					t.Errorf("%s: %s, want %s", what, got, wantDecoded)
				}
			}
			// A text in a request is answered with its diagnostics besides.
			encoded, decoded = with(encoded, "definition", d.Example.Text), with(decoded, "definition", d.Example.Text)
			wantDecoded = post("/api/v1/one/decode", decoded)
			for what, c := range map[string][2]map[string]any{
				"named":      {with(encoded, "language", d.Name), with(decoded, "language", d.Name)},
				"recognized": {encoded, decoded},
			} {
				if got := post("/api/encode", c[0]); got != want {
					t.Errorf("%s: %s, want %s", what, got, want)
				}
				if got := post("/api/decode", c[1]); got != wantDecoded {
					t.Errorf("%s: %s, want %s", what, got, wantDecoded)
				}
				delete(c[0], "message")
				if got := post("/api/encode", c[0]); got != want {
					t.Errorf("%s, without the name of its only message: %s, want %s", what, got, want)
				}
			}
		})
	}
}

// Requests say what to send, where there is nothing to do.
func TestStart(t *testing.T) {
	s := testServer(t)
	const file = "POST /api/upload; Content-Type: multipart/form-data;boundary=x"
	talk(t, s, []exchange{
		{"nothing", "POST /api/decode", `{}`, 422, []string{`send \"definition\"`, "tera, muta, subspace, protodef, mavlink", `\"project\"`, "/api/v1/projects"}, nil},
		{"nothing to encode by", "POST /api/encode", `{"value": {}}`, 422, []string{`send \"definition\"`}, nil},
		{"no message", "POST /api/encode", `{"project": "one", "value": {}}`, 422, []string{"message is required"}, nil},
		{"a project that is not there", "POST /api/decode", `{"project": "none", "hex": ""}`, 404, []string{"project none not found"}, nil},
		{"a project and a language", "POST /api/decode", `{"project": "one", "language": "tera", "hex": ""}`, 422, []string{"the language of a project is fixed"}, nil},
		{"another language", "POST /api/decode", `{"definition": "uint32 id", "language": "cobol", "hex": ""}`, 422, []string{"tera, muta, subspace, protodef, mavlink"}, nil},
		{"no language", "POST /api/decode", `{"definition": "words of no meaning", "hex": ""}`, 422, []string{"is not recognized: send language, one of tera"}, nil},
		{"unknown field", "POST /api/decode", `{"definitions": "uint32 id", "hex": ""}`, 422, []string{"body.definitions"}, nil},
		{"mistakes are diagnostics", "POST /api/decode", `{"definition": "in32 id", "language": "tera", "hex": "0400 0100"}`, 200, []string{`did you mean \"int32\"?`}, nil},
		{"a definition with mistakes does not encode", "POST /api/encode", `{"definition": "in32 id", "language": "tera", "code": 1, "value": {}}`, 422, []string{"the definition has errors"}, nil},
		{"a message of another name", "POST /api/encode", `{"definition": "group: a\n\npacket: say\n   __group = a\n   x = uint8\n", "language": "muta", "message": "sai", "value": {}}`, 404, []string{"say"}, nil},
		{"the settings apply", "POST /api/encode", `{"definition": "uint32 id", "code": 1, "value": {}, "settings": {"patch": "moon"}}`, 422, []string{"patch"}, nil},
		{"no form", "POST /api/upload", `{}`, 415, []string{"multipart/form-data"}, nil},
		{"project of the form", file, formText("project=one", "C_NEW.1.def=uint32 id\n"), 200, []string{`"project":"one"`, `"stored":1`}, []string{"Location"}},
		{"project after the files", file, formText("C_NEW.2.def=uint32 id\n", "project=one"), 422, []string{"before the files"}, nil},
		{"project that is not there", file, formText("project=none", "C_NEW.2.def=uint32 id\n"), 404, []string{"project none not found"}, nil},
		{"title of a project that is there", file, formText("project=one", "title=a", "C_NEW.2.def=uint32 id\n"), 422, []string{"new project"}, nil},
		{"no files", file, formText("title=a"), 422, []string{"the form has no files"}, nil},
	})
	if s.Projects.Find("one").Now().File("C_NEW.2.def") != nil {
		t.Error("a refused form has stored a file")
	}
}

// formText returns a form with the boundary x: "field=value", or "NAME.EXT=text" for a file.
func formText(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		name, value, _ := strings.Cut(p, "=")
		of := `name="` + name + `"`
		if strings.Contains(name, ".") {
			of = `name="files"; filename="` + name + `"`
		}
		b.WriteString("--x\r\nContent-Disposition: form-data; " + of + "\r\n\r\n" + value + "\r\n")
	}
	return b.String() + "--x--\r\n"
}

// Files without a project become one.
func TestUploadMakesAProject(t *testing.T) {
	s := projectServer(t, t.TempDir(), projects.Options{})
	const file = "POST /api/upload; Content-Type: multipart/form-data;boundary=x"
	talk(t, s, []exchange{
		{"new", file, formText("title=My game", "C_NEW.1.def=uint32 id\n"), 201, []string{`"project":"my-game"`, "Location: /api/v1/projects/my-game", `"stored":1`}, nil},
		{"there", "POST /api/decode", `{"project": "my-game", "message": "C_NEW", "hex": "0800010007000000"}`, 200, []string{`"status":"ok"`}, nil},
		{"nothing to use", file, formText("words.txt=words of no meaning"), 422, []string{"words.txt looks like a text", "TERA .def", "zip files"}, nil},
		{"an image", file, formText("cat.png=\x89PNG\r\n\x1a\n..."), 422, []string{"cat.png is not a definition or a capture: it looks like image/png", "TERA .def", `"result":"skipped"`}, nil},
		{"a program", file, formText("game.exe=MZ\x90\x00\x03\x00\x00\x00\x04"), 422, []string{"it looks like binary data"}, nil},
		{"an empty file", file, formText("empty.bin="), 422, []string{"it looks like an empty file"}, nil},
	})
	for _, p := range s.Projects.List() {
		if p.Name == "words" {
			t.Error("a project is left of a form without definitions")
		}
	}
}

// The new addresses are no names of new projects. A project that has one already keeps its addresses.
func TestNamesOfTheStart(t *testing.T) {
	s := projectServer(t, t.TempDir(), projects.Options{})
	for _, name := range []string{"decode", "encode", "upload"} {
		if status, text := ask(s, "POST /api/v1/projects", `{"name": "`+name+`", "protocol": "tera"}`); status != 422 || !strings.Contains(text, "is used for other addresses") {
			t.Errorf("a project called %s: %d %s", name, status, text)
		}
	}
	files, _ := workspacetest.Dir(t, map[string]string{"C_JOIN.1.def": "int32 id\n"})
	old := serverOf(t, workspacetest.Open(t, workspace.Config{Name: "decode", Dialect: "tera", Files: files}))
	for _, path := range []string{"/api/decode/", "/api/v1/decode/"} {
		if status, text := ask(old, "POST "+path+"decode", `{"message": "C_JOIN", "hex": "08000100"}`); status != 200 || !strings.Contains(text, "incomplete") {
			t.Errorf("%sdecode: %d %s", path, status, text)
		}
		bare := strings.TrimSuffix(path, "/")
		if status, text := ask(old, "GET "+bare, ""); status != 200 || !strings.Contains(text, `"name":"decode"`) {
			t.Errorf("GET %s: %d %s", bare, status, text)
		}
		if status, text := ask(old, "PATCH "+bare, `{}`); status != 200 {
			t.Errorf("PATCH %s: %d %s", bare, status, text)
		}
	}
}

// A project in the body needs the role that its own address needs, and is unknown to people who may not see it.
func TestStartNeedsTheRoleOfItsProject(t *testing.T) {
	m := doorOf(t, serverOf(t, servertest.OpenWorkspace(t, t.TempDir(), nil)))
	viewer, author := access.Grants{"one": access.Viewer}, access.Grants{"one": access.Author}
	elsewhere := access.Grants{"another": access.Admin - 1}
	post := func(g access.Grants, request, body string) int {
		r := httptest.NewRequest("POST", request, strings.NewReader(body))
		r.Header = m.session(m.person("p"+strings.ToLower(r.URL.Path[len("/api/"):])+string(rune('a'+m.asked)), g))
		m.asked++
		r.Header.Set("Content-Type", "application/json")
		if strings.Contains(request, "upload") {
			r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		}
		w := httptest.NewRecorder()
		m.h.ServeHTTP(w, r)
		return w.Code
	}
	form := formText("C_NEW.1.def=uint32 id\n")
	for _, c := range []struct {
		what, request, body string
		grants              access.Grants
		status              int
	}{
		{"a viewer decodes in the project", "/api/decode", `{"project": "one", "hex": ""}`, viewer, 200},
		{"a viewer of another does not", "/api/decode", `{"project": "one", "hex": ""}`, elsewhere, 404},
		{"but by a definition", "/api/decode", `{"definition": "uint32 id", "hex": ""}`, elsewhere, 200},
		{"nobody does", "/api/decode", `{"definition": "uint32 id", "hex": ""}`, nil, 403},
		{"nor encodes in the project", "/api/encode", `{"project": "one", "message": "C_JOIN", "value": {}}`, elsewhere, 404},
		{"a viewer does not upload", "/api/upload?project=one", form, viewer, 403},
		{"an author of another does not", "/api/upload?project=one", form, elsewhere, 404},
		{"nor by the field", "/api/upload", formText("project=one", "C_NEW.1.def=uint32 id\n"), elsewhere, 404},
		{"nor makes a project", "/api/upload", form, author, 403},
		{"an author uploads", "/api/upload?project=one", form, author, 200},
	} {
		if got := post(c.grants, c.request, c.body); got != c.status {
			t.Errorf("%s: %d, want %d", c.what, got, c.status)
		}
	}
}
