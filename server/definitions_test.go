package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"wirebench/server/api"
	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/server/workspace"
)

// exchange is a request of a series with the expected response. contains and lacks apply to headers and body.
type exchange struct {
	name, request, body string // request is METHOD PATH; HEADER: VALUE; ...
	status              int
	contains, lacks     []string
}

// ask sends the request of an exchange.
func ask(h http.Handler, request, body string) (status int, answer string) {
	parts := strings.Split(request, "; ")
	method, path, _ := strings.Cut(parts[0], " ")
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if strings.HasPrefix(body, "{") {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, p := range parts[1:] {
		name, value, _ := strings.Cut(p, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var b strings.Builder
	_ = w.Header().Write(&b)
	return w.Code, b.String() + "\n" + w.Body.String()
}

// talk sends the requests in order; each sees the effects of the previous ones.
func talk(t *testing.T, h http.Handler, list []exchange) {
	t.Helper()
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			status, answer := ask(h, c.request, c.body)
			if status != c.status {
				t.Errorf("status %d, want %d", status, c.status)
			}
			for _, s := range c.contains {
				if !strings.Contains(answer, s) {
					t.Errorf("no %s in\n%s", s, answer)
				}
			}
			for _, s := range c.lacks {
				if strings.Contains(answer, s) {
					t.Errorf("%s stands in\n%s", s, answer)
				}
			}
			if status >= 400 && !strings.Contains(answer, "Content-Type: application/problem+json") {
				t.Errorf("an error of another type:\n%s", answer)
			}
		})
	}
}

func rev(text string) string { return string(store.RevisionOf([]byte(text))) }

var versions = map[string]string{
	"C_CHAT.1.def": "int32 channel\n", "C_CHAT.2.def": "int32 channel\nstring message\n", "sub/S_CHAT.1.def": "string text # what was said\n",
	"a/X_TWICE.1.def": "byte a\n", "b/X_TWICE.1.def": "byte b\n", "S_BROKEN.1.def": "in32 x\n",
	"protocol.1.map": "C_CHAT 10\nS_NONE 11\nS_NONE 12\n", "protocol.2.map": "C_CHAT 20\n", "other.txt": "words of no meaning\n", "sysmsg.9.map": "SMT 1\n",
	"C_CHAT.2.samples.jsonl": `{"message":"C_CHAT.2","hex":"00"}` + "\n",
}

func TestDefinitionsAreListed(t *testing.T) {
	s, _ := testServerOf(t, versions)
	talk(t, s, []exchange{
		{"all", "GET /api/one/definitions", "", 200, []string{
			`{"file":"C_CHAT.1.def","revision":"` + rev(versions["C_CHAT.1.def"]) + `","size":14,"messages":["C_CHAT.1"],"state":"ok","errors":0,"warnings":0,"older":true,"samples":0}`,
			`"messages":["C_CHAT.2"],"state":"ok","errors":0,"warnings":0,"older":false,"samples":1}`,
			`{"file":"S_BROKEN.1.def"`, `"state":"error","errors":1`,
			`{"file":"protocol.1.map","revision":"` + rev(versions["protocol.1.map"]) + `","size":30,"names":2,"used":false}`,
			`"other.txt: not a definition"`, `"sysmsg.9.map: not a code map"`, `"undefined":0`,
			`"same-definition"`,
		}, []string{`"unknown-type"`, `"code":"0x`}},
		{"the map in use", "PATCH /api/one", `{"map":"protocol.1.map"}`, 200, nil, nil},
		{"its codes and its mistakes", "GET /api/one/definitions", "", 200, []string{`"code":"0x000A"`, `"undefined":1`, `"map-name-twice"`, `"names":2,"used":true`}, nil},
		{"those with a word", "GET /api/one/definitions?q=s_+chat", "", 200, []string{"sub/S_CHAT.1.def", `"maps":[]`}, []string{"C_CHAT.2.def"}},
		{"none", "GET /api/one/definitions?q=zzz", "", 200, []string{`"definitions":[]`}, nil},
		{"of no workspace", "GET /api/two/definitions", "", 404, []string{"project two not found"}, nil},
	})
}

func TestDefinitionsAreRead(t *testing.T) {
	s, _ := testServerOf(t, versions)
	chat := rev(versions["C_CHAT.1.def"])
	talk(t, s, []exchange{
		{"as JSON", "GET /api/one/definitions/C_CHAT.1.def", "", 200, []string{`Etag: "` + chat + `"`, `"revision":"` + chat + `","text":"int32 channel\n","messages":["C_CHAT.1"],"newest":2,"diagnostics":[]}`}, nil},
		{"the newest", "GET /api/one/definitions/C_CHAT.2.def", "", 200, nil, []string{`"newest"`}},
		{"as text", "GET /api/one/definitions/C_CHAT.1.def; Accept: text/plain", "", 200, []string{"Content-Type: text/plain", "\n\nint32 channel\n", `Etag: "` + chat}, []string{"{"}},
		{"as what is liked better", "GET /api/one/definitions/C_CHAT.1.def; Accept: text/plain;q=0.5, application/json", "", 200, []string{`{"file"`}, nil},
		{"when it is known", "GET /api/one/definitions/C_CHAT.1.def; If-None-Match: \"x\", W/\"" + chat + "\"", "", 304, []string{"Etag"}, []string{"int32"}},
		{"when another is known", `GET /api/one/definitions/C_CHAT.1.def; If-None-Match: "0000"`, "", 200, []string{"int32"}, nil},
		{"with mistakes", "GET /api/one/definitions/S_BROKEN.1.def", "", 200, []string{`"code":"unknown-type"`}, nil},
		{"in a folder", "GET /api/one/definitions/sub%2FS_CHAT.1.def", "", 200, []string{`"file":"sub/S_CHAT.1.def"`}, nil},
		{"without the folder", "GET /api/one/definitions/S_CHAT.1.def", "", 200, []string{`"file":"sub/S_CHAT.1.def"`}, nil},
		{"one of two", "GET /api/one/definitions/X_TWICE.1.def", "", 409, []string{"a/X_TWICE.1.def, b/X_TWICE.1.def"}, nil},
		{"a map", "GET /api/one/definitions/protocol.2.map", "", 200, []string{`"messages":[]`}, nil},
		{"what is not there", "GET /api/one/definitions/C_CAHT.1.def", "", 404, []string{`did you mean \"C_CHAT.1.def\"?`}, nil},
		{"what is no definition", "GET /api/one/definitions/other.txt", "", 404, nil, nil},
		{"samples are no definition", "GET /api/one/definitions/C_CHAT.2.samples.jsonl", "", 404, nil, nil},
		{"out of the folder", "GET /api/one/definitions/..%2F..%2Fetc%2Fpasswd", "", 404, nil, nil},
	})
}

func TestTextThatIsNotUTF8IsNotForJSON(t *testing.T) {
	s, dir := testServerOf(t, map[string]string{"C_A.1.def": "byte a # caf\xe9\n"})
	talk(t, s, []exchange{
		{"JSON says so", "GET /api/one/definitions/C_A.1.def", "", 200, []string{`"read_only":"the file is not UTF-8`}, nil},
		{"text has it", "GET /api/one/definitions/C_A.1.def; Accept: text/plain", "", 200, []string{"caf\xe9"}, nil},
		{"text keeps it", `PUT /api/one/definitions/C_A.1.def; If-Match: *`, "byte b # caf\xe9\n", 200, nil, nil},
	})
	if got := servertest.OnDisk(t, dir, "C_A.1.def"); got != "byte b # caf\xe9\n" {
		t.Errorf("%q", got)
	}
}

func TestDefinitionsAreWritten(t *testing.T) {
	s, dir := testServerOf(t, versions)
	const path = "/api/one/definitions/"
	old, next := rev(versions["C_CHAT.2.def"]), rev("byte now\r\n")
	talk(t, s, []exchange{
		{"a new one", "PUT " + path + "C_NEW.1.def", "uint32 id\n", 201, []string{
			"Location: /api/v1/projects/one/definitions/C_NEW.1.def", `Etag: "` + rev("uint32 id\n") + `"`, `"messages":["C_NEW.1"],"diagnostics":[],"layout":{`, `"min_size":8`,
		}, nil},
		{"in JSON", "PUT " + path + "sub%2FC_DEEP.1.def", `{"text":"byte a"}`, 201, []string{"Location: /api/v1/projects/one/definitions/sub%2FC_DEEP.1.def"}, nil},
		{"an empty one", "PUT " + path + "C_EMPTY.1.def", "", 201, []string{`"diagnostics":[]`}, nil},
		{"with mistakes", "PUT " + path + "C_WRONG.1.def", "in32 a\n", 201, []string{`did you mean \"int32\"?`}, nil},
		{"one that is there, without a condition", "PUT " + path + "C_CHAT.2.def", "byte lost\n", 428, []string{"If-Match", "force=true"}, nil},
		{"one that must not be there", "PUT " + path + "C_CHAT.2.def; If-None-Match: *", "byte lost\n", 412, []string{`"revision":"` + old + `","text":"int32 channel\nstring message\n"`}, nil},
		{"one that must not be there, without its folder", "PUT " + path + "S_CHAT.1.def; If-None-Match: *", "byte lost\n", 412, []string{`"text":"string text`}, nil},
		{"one that is not what was seen", "PUT " + path + `C_CHAT.2.def; If-Match: "0123456789abcdef"`, "byte lost\n", 412, []string{`"revision":"` + old + `"`, "has been changed meanwhile"}, nil},
		{"a condition that is none", "PUT " + path + `C_CHAT.2.def; If-Match: "`, "byte lost\n", 400, nil, nil},
		{"two conditions", "PUT " + path + `C_CHAT.2.def; If-Match: "a"; If-None-Match: *`, "byte lost\n", 400, nil, nil},
		{"the one that was seen", "PUT " + path + `C_CHAT.2.def; If-Match: "` + old + `"`, "byte now\r\n", 200, []string{`Etag: "` + next + `"`, `"revision":"` + next + `"`}, []string{"Location"}},
		{"the same again", "PUT " + path + `C_CHAT.2.def; If-Match: "` + old + `"`, "byte lost\n", 412, nil, nil},
		{"whatever is there", "PUT " + path + "C_CHAT.2.def?force=true", "byte forced\n", 200, nil, nil},
		{"any that is there", "PUT " + path + "C_CHAT.2.def; If-Match: *", "byte any\n", 200, nil, nil},
		{"any of a file that is not there", "PUT " + path + "C_NONE.1.def; If-Match: *", "byte lost\n", 412, []string{`"revision":""`}, nil},
		{"without its folder", "PUT " + path + `S_CHAT.1.def; If-Match: "` + rev(versions["sub/S_CHAT.1.def"]) + `"`, "string text # better\n", 200, []string{`"file":"sub/S_CHAT.1.def"`}, nil},
		{"one of two", "PUT " + path + "X_TWICE.1.def", "byte lost\n", 409, nil, nil},
		{"a map", "PUT " + path + "protocol.3.map", "C_CHAT 10\nwhat\n", 201, []string{`"code":"map-line"`}, []string{"layout"}},
		{"an older version, its bytes", "PUT " + path + "C_CHAT.1.def?force=true", "int64 channel\n", 409, []string{`"newest":2`, "versions"}, nil},
		{"an older version, its names", "PUT " + path + "C_CHAT.1.def?force=true", "int32 number # renamed\n", 200, []string{"number"}, nil},
		{"a name of no definition", "PUT " + path + "picture.png", "x", 422, []string{"end in .def"}, nil},
		{"a name out of the folder", "PUT " + path + "..%2FC_OUT.1.def", "byte a", 422, []string{"not a path below the folder"}, nil},
		{"a hidden name", "PUT " + path + ".C_OUT.1.def", "byte a", 422, nil, nil},
		{"a name that differs in case", "PUT " + path + "c_chat.2.def", "byte a", 422, []string{"differs only in case"}, nil},
		{"a definition of another protocol", "PUT " + path + "game.def", "packet: hello\n", 422, []string{"muta"}, nil},
		{"JSON without text", "PUT " + path + "C_X.1.def", `{}`, 422, []string{"text is required"}, nil},
		{"JSON with something else", "PUT " + path + "C_X.1.def", `{"txt":""}`, 422, []string{"txt"}, nil},
		{"JSON of another kind", "PUT " + path + "C_X.1.def", `{"text":1}`, 422, []string{"text must be a JSON string"}, nil},
		{"not JSON", "PUT " + path + "C_X.1.def", `{`, 400, nil, nil},
		{"a form", "PUT " + path + "C_X.1.def; Content-Type: application/x-www-form-urlencoded", "byte a", 415, []string{"text/plain"}, nil},
		{"too large", "PUT " + path + "C_BIG.1.def", strings.Repeat("#", store.MaxFileBytes+1), 413, []string{"4194304"}, nil},
		{"much too large", "PUT " + path + "C_BIG.1.def", strings.Repeat("#", api.MaxBody+10), 413, nil, nil},
	})
	for name, want := range map[string]string{
		"C_NEW.1.def": "uint32 id\n", "sub/C_DEEP.1.def": "byte a", "C_CHAT.2.def": "byte any\n", "sub/S_CHAT.1.def": "string text # better\n",
		"C_CHAT.1.def": "int32 number # renamed\n", "C_NONE.1.def": "", "S_CHAT.1.def": "", "C_BIG.1.def": "", "../C_OUT.1.def": "", "c_chat.2.def": "",
	} {
		if got := servertest.OnDisk(t, dir, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestTextOfAnotherCharsetIsRefused(t *testing.T) {
	s, _ := testServerOf(t, nil)
	r := httptest.NewRequest("PUT", "/api/one/definitions/C_A.1.def", strings.NewReader("b\x00y\x00"))
	r.Header.Set("Content-Type", "text/plain; charset=utf-16")
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, r); w.Code != 415 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestDefinitionsAreDeleted(t *testing.T) {
	s, dir := testServerOf(t, versions)
	const path = "DELETE /api/one/definitions/"
	talk(t, s, []exchange{
		{"without a condition", path + "C_CHAT.2.def", "", 428, []string{"If-Match"}, nil},
		{"another revision", path + `C_CHAT.2.def; If-Match: "0000000000000000"`, "", 412, []string{`"text":"int32`}, nil},
		{"the revision that was seen", path + `C_CHAT.2.def; If-Match: "` + rev(versions["C_CHAT.2.def"]) + `"`, "", 204, nil, []string{"{"}},
		{"again", path + `C_CHAT.2.def; If-Match: "` + rev(versions["C_CHAT.2.def"]) + `"`, "", 404, nil, nil},
		{"whatever is there", path + "sub%2FS_CHAT.1.def?force=true", "", 204, nil, nil},
		{"it is gone", "GET /api/one/definitions?q=S_CHAT", "", 200, []string{`"definitions":[]`}, nil},
		{"what is no definition", path + "other.txt?force=true", "", 404, nil, nil},
		{"brought back", "PUT /api/one/definitions/C_CHAT.2.def", versions["C_CHAT.2.def"], 201, nil, nil},
		{"with its samples", "GET /api/one/definitions/C_CHAT.2.def/samples", "", 200, []string{`"hex":"00"`}, nil},
	})
	if servertest.OnDisk(t, dir, "sub/S_CHAT.1.def") != "" || servertest.OnDisk(t, dir, "other.txt") == "" {
		t.Error("not what was asked for was deleted")
	}
}

func TestVersionsAreAdded(t *testing.T) {
	s, dir := testServerOf(t, map[string]string{
		"sub/C_CHAT.1.def": "byte a\n", "C_CHAT.4.def": "byte b\n", "C_PAD.1.console.def": "byte c\n", "protocol.1.map": "C_CHAT 1\n", "C_X.1.def": "byte a\n",
	})
	const path = "POST /api/one/definitions/"
	talk(t, s, []exchange{
		{"of an older one, with its text", path + "C_CHAT.1.def/versions", "", 201, []string{`"file":"sub/C_CHAT.5.def"`, "Location: /api/v1/projects/one/definitions/sub%2FC_CHAT.5.def", `"messages":["C_CHAT.5"]`}, nil},
		{"with another text", path + "C_CHAT.4.def/versions", `{"text":"int64 x\n"}`, 201, []string{`"file":"C_CHAT.6.def"`}, nil},
		{"with an empty text", path + "C_X.1.def/versions", `{"text":""}`, 201, []string{`"file":"C_X.2.def"`}, nil},
		{"of a map", path + "protocol.1.map/versions", "", 422, []string{"NAME.VERSION.def"}, nil},
		{"of nothing", path + "C_NONE.1.def/versions", "", 404, nil, nil},
		{"too large", path + "C_X.1.def/versions", `{"text":"` + strings.Repeat("#", store.MaxFileBytes+1) + `"}`, 413, nil, nil},
	})
	for name, want := range map[string]string{"sub/C_CHAT.5.def": "byte a\n", "C_CHAT.6.def": "int64 x\n", "C_CHAT.4.def": "byte b\n"} {
		if got := servertest.OnDisk(t, dir, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// Of several writers with the same revision one succeeds each round, and the others get the current text.
func TestOneOfManyWritersWins(t *testing.T) {
	const writers, rounds = 8, 20
	s, dir := testServerOf(t, map[string]string{"C_A.1.def": "byte start\n"})
	now := "byte start\n"
	for round := range rounds {
		var wg sync.WaitGroup
		status, answer := make([]int, writers), make([]string, writers)
		text := func(i int) string { return fmt.Sprintf("byte round%d_%d\n", round, i) }
		for i := range writers {
			wg.Go(func() {
				status[i], answer[i] = ask(s, `PUT /api/one/definitions/C_A.1.def; If-Match: "`+rev(now)+`"`, text(i))
			})
		}
		wg.Wait()
		winner := -1
		for i, code := range status {
			switch {
			case code == 200 && winner < 0:
				winner = i
			case code != 412:
				t.Fatalf("round %d: %v\n%s", round, status, answer[i])
			}
		}
		if winner < 0 {
			t.Fatalf("round %d: nobody wins: %v", round, status)
		}
		if now = text(winner); servertest.OnDisk(t, dir, "C_A.1.def") != now {
			t.Fatalf("round %d: the file is not that of the winner", round)
		}
		for i := range writers {
			if _, body, _ := strings.Cut(answer[i], "\n\n"); i != winner {
				var p api.ConflictProblem
				if err := json.Unmarshal([]byte(body[strings.Index(body, "{"):]), &p); err != nil || p.Text != now || p.Revision != rev(now) {
					t.Fatalf("a loser is told %s, %v", body, err)
				}
			}
		}
	}
}

// Concurrent requests for a new version get different versions.
func TestVersionsAtTheSameTime(t *testing.T) {
	const many = 12
	s, dir := testServerOf(t, map[string]string{"C_A.1.def": "byte a\n"})
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			if status, answer := ask(s, "POST /api/one/definitions/C_A.1.def/versions", fmt.Sprintf(`{"text":"byte v%d"}`, i)); status != 201 {
				t.Errorf("%d %s", status, answer)
			}
		})
	}
	wg.Wait()
	texts := map[string]bool{}
	for n := 2; n <= many+1; n++ {
		texts[servertest.OnDisk(t, dir, fmt.Sprintf("C_A.%d.def", n))] = true
	}
	if len(texts) != many || texts[""] {
		t.Errorf("%v", texts)
	}
}

// failing is a file store whose changes fail.
type failing struct {
	workspace.Files
	err   error
	after int // number of writes that succeed
	mu    sync.Mutex
}

func (f *failing) fails() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.after--; f.after >= 0 {
		return nil
	}
	return f.err
}

func (f *failing) Write(name string, text []byte, expect *store.Revision) (store.Revision, error) {
	if err := f.fails(); err != nil {
		return "", err
	}
	return f.Files.Write(name, text, expect)
}

func (f *failing) Append(name string, line []byte) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.Files.Append(name, line)
}

func (f *failing) Remove(name string, expect *store.Revision) error {
	if err := f.fails(); err != nil {
		return err
	}
	return f.Files.Remove(name, expect)
}

// failingServer has one definition, C_A.1.def, and a disk whose changes fail after some writes.
func failingServer(t *testing.T, err error, after int) *Server {
	t.Helper()
	dir := t.TempDir()
	servertest.WriteFile(t, filepath.Join(dir, "C_A.1.def"), "byte a\n")
	return serverOf(t, servertest.OpenWorkspace(t, dir, func(f workspace.Files) workspace.Files { return &failing{Files: f, err: err, after: after} }))
}

func TestTheDiskRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		err    error
		status int
		says   string
	}{
		{"full", fmt.Errorf("write C_A.1.def: %w", store.ErrFull), 507, "the disk is full; nothing was changed"},
		{"read-only", fmt.Errorf("write C_A.1.def: %w", store.ErrReadOnly), 403, "ask its operator"},
		{"broken", errors.New("input/output error"), 500, "input/output error"},
	} {
		says := []string{c.says}
		t.Run(c.name, func(t *testing.T) {
			talk(t, failingServer(t, c.err, 0), []exchange{
				{"write", "PUT /api/one/definitions/C_A.1.def?force=true", "byte b\n", c.status, says, nil},
				{"write a new one", "PUT /api/one/definitions/C_B.1.def", "byte b\n", c.status, says, nil},
				{"delete", "DELETE /api/one/definitions/C_A.1.def?force=true", "", c.status, says, nil},
				{"version", "POST /api/one/definitions/C_A.1.def/versions", "", c.status, says, nil},
				{"sample", "POST /api/one/definitions/C_A.1.def/samples", `{"hex":"00"}`, c.status, says, nil},
				{"all is as it was", "GET /api/one/definitions/C_A.1.def", "", 200, []string{`"text":"byte a\n"`}, nil},
			})
		})
	}
}

// Every file of List can be requested by the address formed from its name.
func TestNamesInAddresses(t *testing.T) {
	names := []string{"C_A.1.def", "with blank/C_B.1.def", "a&b;c=d/C_C.1.def", "50%/C_D.1.def", "ümlaut/C_E.1.def", "a+b/C_F.1.def", "%2F/C_G.1.def"}
	files := map[string]string{}
	for _, n := range names {
		files[n] = "byte a # " + n + "\n"
	}
	s, _ := testServerOf(t, files)
	for _, n := range names {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "/api/one/definitions/"+url.PathEscape(n), nil))
		var b api.DefinitionBody
		if err := json.Unmarshal(w.Body.Bytes(), &b); err != nil || b.File != n || b.Text != files[n] {
			t.Errorf("%s: %d %s", n, w.Code, w.Body)
		}
	}
}
