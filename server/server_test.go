package server

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"

	"wirebench/defs/benchtest"
	"wirebench/server/access"
	"wirebench/server/answer"
	"wirebench/server/api"
	"wirebench/server/logs"
	"wirebench/server/projects"
	"wirebench/server/servertest"
	"wirebench/server/workspace"
)

// testServer has one workspace with a few definitions.
func testServer(t testing.TB) *Server {
	t.Helper()
	s, _ := testServerOf(t, servertest.Files())
	return s
}

// testServerOf has one workspace of files in a directory.
func testServerOf(t testing.TB, files map[string]string) (s *Server, dir string) {
	t.Helper()
	dir = servertest.WriteFiles(t, files)
	return serverOf(t, servertest.OpenWorkspace(t, dir, nil)), dir
}

func serverOf(t testing.TB, w *workspace.Workspace) *Server {
	t.Helper()
	return newServer(t, Config{Projects: servertest.Fixed(t, w), GitRemote: "origin"})
}

// newServer starts a server, until the test ends.
func newServer(t testing.TB, c Config) *Server {
	t.Helper()
	c.Version = "test"
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// scenario is a request with the expected response.
type scenario struct {
	name, method, path, body string
	status                   int
	contains                 []string
	lacks                    []string
}

func run(t *testing.T, h http.Handler, list []scenario) {
	t.Helper()
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
			if c.body != "" {
				r.Header.Set("Content-Type", "application/json")
				if strings.HasPrefix(c.path, "/p/") {
					r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				}
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.status {
				t.Errorf("status %d, want %d", w.Code, c.status)
			}
			for _, s := range c.contains {
				if !strings.Contains(w.Body.String(), s) {
					t.Errorf("no %s in\n%s", s, w.Body)
				}
			}
			for _, s := range c.lacks {
				if strings.Contains(w.Body.String(), s) {
					t.Errorf("%s stands in\n%s", s, w.Body)
				}
			}
			if strings.HasPrefix(c.path, "/api") && !strings.HasSuffix(c.path, "docs") && !json.Valid(w.Body.Bytes()) {
				t.Errorf("not JSON: %s", w.Body)
			}
			if c.status >= 400 && strings.HasPrefix(c.path, "/api") && w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("an error of type %s", w.Header().Get("Content-Type"))
			}
			if w.Header().Get("Content-Security-Policy") == "" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Error("no safety headers")
			}
		})
	}
}

func TestAPI(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	const join = "12000100080039304c0061006e006e000000"
	run(t, testServer(t), []scenario{
		{"decode by code", "POST", "/api/one/decode", `{"hex":"` + join + `"}`, 200, []string{
			`{"results":[{"message":"C_JOIN","version":1,"code":1,"status":"ok","used":18,"value":{"channel_name":"Lann","password":12345},"problems":[],"fields":[{"path":"length","type":"uint16","role":"length","bit_offset":0,"bit_length":16,"value":18}`,
		}, nil},
		{"decode with bytes that no field explains", "POST", "/api/one/decode", `{"hex":"0c0001000a000800ffff000007"}`, 200, []string{`"used":12,"leftover":3,`}, nil},
		{"decode several lines", "POST", "/api/one/decode", `{"hex":"` + join + `\nzz\n\n"}`, 200, []string{`"status":"ok"`, `line 2, column 1`, `"status":"incomplete"`}, nil},
		{"decode a paste", "POST", "/api/one/decode", `{"paste":"0x12, 0x00, 0x01, 0x00, 0x08,0,57,48,76,0,97,0,110,0,110,0,0,0","message":"C_JOIN"}`, 200, []string{`"results":[{`, `"paste":{"form"`}, nil},
		{"decode what is no paste", "POST", "/api/one/decode", `{"paste":"hello"}`, 200, []string{`"status":"error"`, `not-recognised`}, nil},
		{"decode with unsaved text", "POST", "/api/one/decode", `{"hex":"0600 0100 0500","message":"C_JOIN","definition":"uint16 renamed\n"}`, 200, []string{`"value":{"renamed":5}`, `"line":1`}, nil},
		{"decode with broken text", "POST", "/api/one/decode", `{"hex":"050001000a","message":"C_JOIN","definition":"in32 a\nbyte b\n"}`, 200, []string{`"b":10`, `definition-has-errors`, `"help":"did you mean \"int32\"?"`}, nil},
		{"decode with a new name", "POST", "/api/one/decode", `{"hex":"0500090007","message":"C_NEW.3","definition":"byte b"}`, 200, []string{`"message":"C_NEW","version":3`}, nil},
		{"decode an unknown code", "POST", "/api/one/decode", `{"hex":"04002700"}`, 200, []string{`"status":"unknown"`, `"code":39`}, nil},
		{"decode by an unknown name", "POST", "/api/one/decode", `{"hex":"","message":"C_JION"}`, 404, []string{`did you mean \"C_JOIN\"?`}, nil},
		{"hex and paste", "POST", "/api/one/decode", `{"hex":"00","paste":"00"}`, 422, []string{"not both"}, nil},
		{"unknown workspace", "POST", "/api/two/decode", `{}`, 404, []string{"project two not found"}, nil},
		{"not JSON", "POST", "/api/one/decode", `{"hex":`, 400, nil, nil},
		{"unknown field", "POST", "/api/one/decode", `{"hexx":"00"}`, 422, []string{"hexx"}, nil},
		{"encode", "POST", "/api/one/encode", `{"message":"C_JOIN","value":{"channel_name":"Lann","password":12345}}`, 200, []string{`"hex":"` + join + `"`, `"path":"password"`}, nil},
		{"encode with a code", "POST", "/api/one/encode", `{"message":"C_PLAIN","version":1,"code":513,"value":{}}`, 200, []string{`"hex":"0500010200"`}, nil},
		{"encode without a code", "POST", "/api/one/encode", `{"message":"C_PLAIN","value":{}}`, 422, []string{"give a code"}, nil},
		{"encode what does not fit", "POST", "/api/one/encode", `{"message":"C_LIST","value":{"members":[{"id":-1,"nam":""}]}}`, 422, []string{
			`"problems":[{"severity":"error","code":`, `"path":"members[0].id"`, `"location":"members[0].id"`, `does not fit uint32`, `did you mean \"name\"?`,
		}, nil},
		{"as code", "POST", "/api/one/emit", `{"target":"go","messages":["C_JOIN"],"name":"mine"}`, 200, []string{`"name":"mine.go"`, "type CJoin struct", `"losses":[`}, nil},
		{"as code with a test", "POST", "/api/one/emit", `{"target":"c","messages":["C_JOIN"],"vectors":2}`, 200, []string{"messages_test.c"}, nil},
		{"unsaved text as documentation", "POST", "/api/one/emit", `{"target":"md","definition":"uint16 hello\n","file":"C_HELLO.1.def"}`, 200, []string{"hello"}, []string{"password"}},
		{"as code that nobody writes", "POST", "/api/one/emit", `{"target":"cobol"}`, 422, nil, nil},
		{"as code of what is not there", "POST", "/api/one/emit", `{"target":"go","messages":["C_JION"]}`, 404, []string{"did you mean"}, nil},
		{"encode in the other direction", "POST", "/api/one/encode", `{"message":"C_JOIN","dir":"s2c","value":{}}`, 404, []string{"in that group and direction"}, nil},
		{"encode by a version that is not there", "POST", "/api/one/encode", `{"message":"C_JOIN","version":7,"value":{}}`, 404, []string{"did you mean"}, nil},
		{"encode integers of 64 bits", "POST", "/api/one/encode", `{"message":"C_WIDE","code":1,"value":{"a":"18446744073709551615","b":-9223372036854775808}}`, 200, []string{`ffffffffffffffff0000000000000080`, `"value":"-9223372036854775808"`}, nil},
		{"encode lone surrogates", "POST", "/api/one/encode", `{"message":"C_JOIN","value":{"channel_name":"\ud800"}}`, 200, []string{`00d80000`}, nil},
		{"layout of a message", "POST", "/api/one/layout", `{"message":"C_LIST"}`, 200, []string{`"min_size":8`, `"max_size":null`, `"offset":"element + 10"`, `"diagnostics":[]`}, nil},
		{"layout of a stored message with mistakes", "POST", "/api/one/layout", `{"message":"S_BROKEN"}`, 200, []string{`"diagnostics":[{"file":"S_BROKEN.1.def","line":1,"column":1,"end_line":1,"end_column":5,"severity":"error","code":"unknown-type"`}, nil},
		{"layout by an unknown name", "POST", "/api/one/layout", `{"message":"C_LITS"}`, 404, []string{`did you mean \"C_LIST\"?`}, nil},
		{"layout of text with mistakes", "POST", "/api/one/layout", `{"text":"byte a\nfoo\n"}`, 200, []string{`"path":"a"`, `"severity":"error"`, `"line":2`}, nil},
		{"layout of nothing", "POST", "/api/one/layout", `{}`, 422, []string{"text or message"}, nil},
		{"paste", "POST", "/api/one/paste", `{"text":"12 00 34"}`, 200, []string{`"form":"hex"`, `"hex":"120034"`}, nil},
		{"paste as", "POST", "/api/one/paste", `{"text":"EgA0","form":"base64"}`, 200, []string{`"hex":"120034"`}, nil},
		{"paste of nothing", "POST", "/api/one/paste", `{"text":""}`, 422, nil, nil},
		{"paste that stops being one", "POST", "/api/one/paste", `{"text":"12 00 3","form":"hex"}`, 422, []string{`"location":"body.text"`, `"line":1`, `"column":`}, nil},
		{"a method that is not there", "GET", "/api/one/decode", "", 405, []string{"does not support GET"}, nil},
		{"a message of too many fields", "POST", "/api/one/decode", `{"message":"C_THOUSANDS","hex":"` + strings.Repeat("d4070000"+strings.Repeat("00", 2000)+`\n`, 400) + `"}`, 422, []string{"send fewer"}, nil},
		{"a message of too many bytes", "POST", "/api/one/decode", `{"message":"C_PLAIN","hex":"` + strings.Repeat("00", workspace.MaxDescribe+1) + `"}`, 200, []string{`"status":"error"`, `"code":"too-large"`}, nil},
		{"no such route", "GET", "/api/one/nothing", "", 404, []string{"/api/docs"}, nil},
		{"too large", "POST", "/api/one/layout", `{"text":"` + strings.Repeat("x", api.MaxSmallBody) + `"}`, 413, nil, nil},
	})
}

func TestPages(t *testing.T) {
	form := func(pairs ...string) string {
		v := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			v.Set(pairs[i], pairs[i+1])
		}
		return v.Encode()
	}
	run(t, testServer(t), []scenario{
		{"home", "GET", "/", "", 302, nil, nil},
		{"the first visit shows a sample", "GET", "/p/one/definitions", "", 200, []string{"C_JOIN.1.def", "&#34;Lann&#34;", `"path":"password"`, "Hex, 18 bytes", "S_BROKEN"}, []string{`class="tag err"`}},
		{"a message by its address", "GET", "/p/one/definitions/C_LIST.1", "", 200, []string{"members", "element + 4", "8 bytes + members"}, nil},
		{"a message of which there is no sample", "GET", "/p/one/definitions/C_WIDE.1", "", 200, []string{`{&#34;a&#34;: &#34;0&#34;, &#34;b&#34;: &#34;0&#34;}`, "Paste bytes anywhere on this page"}, nil},
		{"a message of which there is a sample", "GET", "/p/one/definitions/C_JOIN.1", "", 200, []string{"&#34;Lann&#34;"}, []string{"<details open>"}},
		{"a sample", "GET", "/p/one/definitions/C_JOIN.1?sample=0", "", 200, []string{"&#34;Lann&#34;", `value="sample:0" aria-current="true"`}, nil},
		{"a sample that is not there", "GET", "/p/one/definitions/C_JOIN.1?sample=99", "", 200, []string{"C_JOIN.1.def"}, []string{"&#34;Lann&#34;"}},
		{"a message that is not there", "GET", "/p/one/definitions/C_LOST", "", 200, []string{"did you mean &#34;C_LIST&#34;?"}, nil},
		{"the list filtered", "GET", "/p/one/definitions?filter=brok", "", 200, []string{"S_BROKEN"}, []string{`data-name="C_LIST"`}},
		{"the list filtered to nothing", "GET", "/p/one/definitions?filter=zzz", "", 200, []string{"No message has “zzz”"}, nil},
		{"several messages, by their codes", "POST", "/p/one/definitions", form("action", "decode", "bycode", "1", "form", "hex-lines", "input", "0a000100080007000000\n0800020000000000\n04002700"), 200, []string{
			"3 messages", `value="show:1"`, "code 0x0027", `aria-current="true"><td class="num"><button class="btn row-btn" type="submit" name="action" value="show:0"`,
		}, nil},
		{"the second of several", "POST", "/p/one/definitions", form("action", "show:1", "bycode", "1", "form", "hex-lines", "input", "0a000100080007000000\n0800020000000000"), 200, []string{"C_LIST.1.def", `name="show" value="1"`}, nil},
		{"a message of another code", "POST", "/p/one/definitions", form("action", "decode", "message", "C_JOIN.1", "input", "0800020000000000"), 200, []string{"Decode as C_LIST.1", "wrong-code"}, nil},
		{"an unknown code", "POST", "/p/one/definitions", form("action", "decode", "bycode", "1", "input", "0600270009 09"), 200, []string{"Unknown code 0x0027", "unknown-message", "no definition explains these bytes"}, nil},
		{"no definition and no bytes", "POST", "/p/one/definitions", form("action", "decode"), 200, []string{"Name of the new message"}, []string{`value="encode"`}},
		{"a new definition", "POST", "/p/one/definitions", form("action", "layout", "message", "C_NEW.2", "definition", "uint32 x\r\n"), 200, []string{"C_NEW.2.def", "8 bytes", "not saved"}, []string{"Discard changes"}},
		{"changes discarded", "POST", "/p/one/definitions", form("action", "stored", "message", "C_JOIN.1", "definition", "byte b"), 200, []string{"channel_name"}, []string{"not saved", "\nbyte b"}},
		{"the text as it is stored is no change", "POST", "/p/one/definitions", form("action", "layout", "message", "C_JOIN.1", "definition", "string channel_name # where\r\nuint16 password\r\n"), 200, nil, []string{"not saved"}},
		{"a definition that is too large", "POST", "/p/one/definitions", "action=layout&message=C_JOIN.1&definition=" + strings.Repeat("x", workspace.MaxDefinition+1), 200, []string{"more than 4194304 bytes"}, nil},
		{"a form that is too large", "POST", "/p/one/definitions", form("input", strings.Repeat("0", api.MaxBody)), 413, []string{"more than 8388608 bytes"}, nil},
		{"the second page of a long message", "POST", "/p/one/definitions", form("action", "bytes:4096", "message", "C_THOUSANDS.1", "input", "d407"+strings.Repeat("00", 8998)), 200, []string{"1000  00", "0x1000 to 0x1fff of 0x2328"}, []string{"0000  d4 07"}},
		{"a long tree", "POST", "/p/one/definitions", form("action", "decode", "message", "C_THOUSANDS.1", "input", "d407"+strings.Repeat("00", 8998)), 200, []string{"fields more"}, nil},
		{"a page beyond the end", "POST", "/p/one/definitions", form("action", "bytes:99999999", "message", "C_JOIN.1", "input", "0a000100080007000000"), 200, []string{"[length]"}, nil},
		{"values that were changed stay", "POST", "/p/one/definitions", form("action", "decode", "message", "C_JOIN.1", "input", "0a000100080007000000", "value", `{"password":9}`, "made", "x"), 200, []string{`<span class="tag warn">edited</span>`, `{&#34;password&#34;:9}`}, nil},
		{"values of the message", "POST", "/p/one/definitions", form("action", "values", "message", "C_JOIN.1", "input", "0a000100080007000000", "value", `{"password":9}`, "made", "x"), 200, []string{`&#34;password&#34;: 7`}, []string{`<span class="tag warn">edited</span>`}},
		{"encode what is no JSON", "POST", "/p/one/definitions", form("action", "encode", "message", "C_JOIN.1", "value", "{\n  \"a\": x"), 200, []string{"line 2, column 8"}, nil},
		{"encode without a code", "POST", "/p/one/definitions", form("action", "encode", "message", "C_PLAIN.1", "value", "{}"), 200, []string{"enter it below"}, nil},
		{"encode with a code that is none", "POST", "/p/one/definitions", form("action", "encode", "message", "C_PLAIN.1", "value", "{}", "code", "x"), 200, []string{"decimal or 0x"}, nil},
		{"encode with a code", "POST", "/p/one/definitions", form("action", "encode", "message", "C_PLAIN.1", "value", "{}", "code", "0x0102"), 200, []string{"05 00 02 01 00"}, nil},
		{"encode says what changed", "POST", "/p/one/definitions", form("action", "encode", "message", "C_JOIN.1", "value", `{"password":8}`, "input", "0a000100080007000000"), 200, []string{"Encoded: 10 bytes, 1 of them changed, the first at 0x06."}, nil},
		{"encode by a broken definition", "POST", "/p/one/definitions", form("action", "encode", "message", "S_BROKEN.1", "value", "{}"), 200, []string{"the definition has errors"}, nil},
		{"decode", "POST", "/p/one/definitions", form("action", "decode", "message", "C_JOIN.1", "input", "0a 00 01 00 08 00 07 00 00 00"), 200, []string{"uint16        7\n", `class="tag ok"`}, nil},
		{"decode by code", "POST", "/p/one/definitions", form("action", "decode", "message", "C_JOIN.1", "bycode", "1", "input", "0800020000000000"), 200, []string{"C_LIST.1.def"}, nil},
		{"decode what is cut off", "POST", "/p/one/definitions", form("action", "decode", "message", "C_JOIN.1", "input", "0a000100"), 200, []string{"the message is truncated after 4 bytes", "incomplete"}, nil},
		{"wrong hex keeps what was typed", "POST", "/p/one/definitions", form("action", "decode", "message", "C_JOIN.1", "input", "0a0"), 200, []string{"\n0a0</textarea>", "hex digits"}, nil},
		{"a definition with a mistake", "POST", "/p/one/definitions", form("action", "layout", "message", "C_JOIN.1", "definition", "in32 a\r\nbyte b"), 200, []string{"did you mean &#34;int32&#34;?", "1 mistake", "not saved", `<li class="err"`, "without line 1"}, nil},
		{"encode", "POST", "/p/one/definitions", form("action", "encode", "message", "C_JOIN.1", "value", `{"channel_name":"ä"}`), 200, []string{"0c 00 01 00 08 00 00 00 e4 00 00 00", "Encoded"}, nil},
		{"encode what does not fit", "POST", "/p/one/definitions", form("action", "encode", "message", "C_JOIN.1", "value", `{"password":70000}`), 200, []string{"does not fit uint16", "\n{&#34;password&#34;:70000}</textarea>"}, nil},
		{"markup in a message stays text", "POST", "/p/one/definitions", form("action", "decode", "message", "C_JOIN.1", "input", "1e000100080000003c0073006300720069007000740020003e0061000000"), 200, []string{"&lt;script"}, []string{"<script &gt;", "<script >"}},
		{"a workspace that is not there", "GET", "/p/two/definitions", "", 404, []string{"Nothing here", "/p/one/definitions"}, nil},
		{"a page that is not there", "GET", "/nothing", "", 404, []string{"Nothing here", "/api/docs"}, nil},
		{"docs", "GET", "/api/docs", "", 200, []string{"/api/v1/projects/{project}/decode", "one message a line", "results[].fields[].bit_offset", "/api/v1/projects/one/encode", "422 Unprocessable Entity"}, nil},
		{"health", "GET", "/healthz", "", 200, []string{"ok"}, nil},
	})
}

// The document describes every JSON route.
func TestOpenAPIIsComplete(t *testing.T) {
	h := testServer(t)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/api/openapi.json", nil))
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil || !strings.HasPrefix(doc.OpenAPI, "3.1") {
		t.Fatal(err, doc.OpenAPI)
	}
	found := 0
	err := chi.Walk(h.router, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if !strings.HasPrefix(route, "/api/v1/projects/{project}/") {
			return nil
		}
		found++
		if doc.Paths[route][strings.ToLower(method)] == nil {
			t.Errorf("%s %s is not described", method, route)
		}
		return nil
	})
	if err != nil || found < 4 {
		t.Error(err, found)
	}
	if refusal := string(doc.Paths["/api/v1/projects/{project}/encode"]["post"]); !strings.Contains(refusal, `"#/components/schemas/ValueProblem"`) || !strings.Contains(w.Body.String(), `"ValueProblem":{`) {
		t.Errorf("what encode says about values is not described: %s", refusal)
	}
}

func TestForeignNamesAreRefused(t *testing.T) {
	h, err := New(Config{Projects: servertest.Fixed(t, servertest.OpenWorkspace(t, t.TempDir(), nil)), Hosts: []string{"localhost", "127.0.0.1", "::1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Close)
	for host, status := range map[string]int{"localhost:8080": 200, "127.0.0.1": 200, "[::1]:8080": 200, "evil.example": 421, "localhost.evil.example:8080": 421} {
		r := httptest.NewRequest("GET", "/p/one/definitions", nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != status {
			t.Errorf("asked as %s: %d, want %d", host, w.Code, status)
		}
	}
}

// Forms and scripts of other sites are refused, those of this one are not, whatever the browser sends about their origin.
func TestForeignOriginsAreRefused(t *testing.T) {
	h := testServer(t)
	for _, c := range []struct {
		name, header, value string
		status              int
	}{
		{"a program", "", "", 200},
		{"a page of this server", "Sec-Fetch-Site", "same-origin", 200},
		{"a page of this server over plain HTTP", "Origin", "http://example.com", 200},
		{"a page of another site", "Sec-Fetch-Site", "cross-site", 403},
		{"a page of another site over plain HTTP", "Origin", "http://evil.example", 403},
		{"a page that hides its origin", "Origin", "null", 403},
	} {
		for path, body := range map[string]string{"/api/one/paste": `{"text":"00"}`, "/p/one/definitions": "input=00"} {
			r := httptest.NewRequest("POST", "http://example.com"+path, strings.NewReader(body))
			r.Header.Set("Content-Type", map[bool]string{true: "application/json", false: "application/x-www-form-urlencoded"}[body[0] == '{'])
			if c.header != "" {
				r.Header.Set(c.header, c.value)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != c.status {
				t.Errorf("%s asks for %s: %d, want %d", c.name, path, w.Code, c.status)
			}
			if w.Header().Get("Referrer-Policy") == "no-referrer" {
				t.Error("browsers would send this server's own forms with the origin null")
			}
		}
	}
}

// The log has the request id of the response, and neither queries nor bodies.
func TestLog(t *testing.T) {
	var log strings.Builder
	s := &Server{Config: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	s.metrics = newMetrics(s)
	h := s.logged(s.recovered(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/panic" {
			panic("a bug")
		}
		w.WriteHeader(http.StatusTeapot)
	})))
	for _, path := range []string{"/p/one/definitions?hex=secret", "/panic", "/healthz", "/static/app.css"} {
		log.Reset()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		id := w.Header().Get(answer.RequestID)
		switch path {
		case "/healthz", "/static/app.css":
			if log.Len() > 0 {
				t.Errorf("%s is logged: %s", path, log.String())
			}
		case "/panic":
			if w.Code != 500 || !strings.Contains(w.Body.String(), id) || strings.Count(log.String(), "id="+id) != 2 || !strings.Contains(log.String(), "a bug") {
				t.Errorf("%d %s\n%s", w.Code, w.Body, log.String())
			}
		default:
			if id == "" || !strings.Contains(log.String(), "id="+id) || !strings.Contains(log.String(), "status=418") || strings.Contains(log.String(), "secret") {
				t.Errorf("%s: %s", path, log.String())
			}
		}
	}
}

// A line of a request has the address of its client and its user, also where nobody gets in. No secret is in the log, wherever a client puts it.
func TestLogOfPeople(t *testing.T) {
	var text strings.Builder
	log, err := logs.New(&text, "debug", "json")
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := access.OpenAccounts(&access.Memory{})
	if err != nil {
		t.Fatal(err)
	}
	const secret = "a-token-of-an-admin"
	door := access.NewDoor(access.Config{Tokens: access.Tokens{Admin: secret}, Accounts: accounts, Log: log})
	s := newServer(t, Config{Projects: servertest.Fixed(t, servertest.OpenWorkspace(t, servertest.WriteFiles(t, servertest.Files()), nil)), Log: log, Door: door})
	for _, c := range []struct {
		method, path, header, value string
		status                      int
		user                        string
	}{
		{"GET", "/api/v1/projects", "Authorization", "Bearer " + secret, 200, "admin’s token"},
		{"GET", "/api/v1/projects?token=" + secret, "Authorization", "Bearer wrong-" + secret, 401, ""},
		{"GET", "/api/v1/projects?q=" + secret, "Cookie", door.Cookie() + "=" + secret, 401, ""},
		{"GET", "/access/join/" + secret, "", "", 410, ""},
		{"GET", "/nothing/here", "Authorization", "Bearer " + secret, 404, "admin’s token"},
	} {
		text.Reset()
		r := httptest.NewRequest(c.method, c.path, nil)
		r.RemoteAddr = "[2001:db8::7]:4000"
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		var line struct {
			Msg, Path, Client, User string
			Status                  int
		}
		for one := range strings.Lines(text.String()) {
			if err := json.Unmarshal([]byte(one), &line); err != nil {
				t.Fatal(err)
			}
		}
		if line.Msg != "request" || line.Status != w.Code || line.Status != c.status || line.Client != "2001:db8::7" || line.User != c.user {
			t.Errorf("%s: %d, logged as %+v", c.path, w.Code, line)
		}
		if strings.Contains(text.String(), secret) {
			t.Errorf("%s: the log has the secret:\n%s", c.path, &text)
		}
	}
}

// A server that is ending is alive and not ready.
func TestProbes(t *testing.T) {
	s := testServer(t)
	probe := func() (out [3]int) {
		for i, path := range []string{"/livez", "/readyz", "/healthz"} {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
			out[i] = w.Code
		}
		return out
	}
	if got := probe(); got != [3]int{200, 200, 200} {
		t.Error(got)
	}
	s.Close()
	if got := probe(); got != [3]int{200, 503, 503} {
		t.Errorf("after the end: %v", got)
	}
}

// The server closes connections that take too long or send too much.
func TestTimeouts(t *testing.T) {
	s := NewHTTPServer(http.NotFoundHandler())
	if s.ReadHeaderTimeout <= 0 || s.ReadTimeout <= 0 || s.WriteTimeout <= 0 || s.IdleTimeout <= 0 || s.MaxHeaderBytes <= 0 || s.MaxHeaderBytes > 1<<20 {
		t.Errorf("%+v", s)
	}
}

func TestNewRefuses(t *testing.T) {
	one := servertest.OpenWorkspace(t, t.TempDir(), nil)
	named := func(name string) *workspace.Workspace {
		w := servertest.OpenWorkspace(t, t.TempDir(), nil)
		w.Name = name
		return w
	}
	for name, list := range map[string][]*workspace.Workspace{
		"none":                  nil,
		"a name twice":          {one, one},
		"no name":               {named("")},
		"a reserved name":       {named("docs")},
		"another reserved name": {named("openapi.json")},
		"no workspace":          {nil},
	} {
		if _, err := projects.Fixed(list...); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	run(t, serverOf(t, one), []scenario{{"an empty library", "GET", "/p/one/definitions", "", 200, []string{"This project is empty: begin in one of three ways"}, nil}})
}

func TestPanicIsAnAnswer(t *testing.T) {
	s := &Server{Config: Config{Log: slog.New(slog.DiscardHandler)}}
	h := s.recovered(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("x") }))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != 500 || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func FuzzDecodeBody(f *testing.F) {
	f.Add(`{"hex":"12000100080039304c0061006e006e000000"}`)
	f.Add(`{"paste":"00000000  05 00 01 00","definition":"array a\n- string b","message":"C_X.1"}`)
	h := testServer(f)
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest("POST", "/api/one/decode", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func FuzzPage(f *testing.F) {
	f.Add("decode", "C_LIST.1", "array a\n- string b", "0800020000000000", "{}", "")
	f.Add("encode", "C_PLAIN.1", "", "05000102", `{"x":1}`, "0x1")
	f.Add("show:1", "", "byte b", "05 00 01 02\n05 00", "", "")
	f.Add("rows:7", "C_JOIN", "", "{0x12,0,1}", `{"a"`, "x")
	f.Add("nonsense", "C_PLAIN.1", "", "05000102", "", "")
	h := testServer(f)
	f.Fuzz(func(t *testing.T, action, message, definition, input, value, code string) {
		form := url.Values{"action": {action}, "message": {message}, "definition": {definition}, "input": {input}, "value": {value}, "code": {code}, "show": {action}}
		if len(value)%2 == 1 {
			form.Set("bycode", "1")
		}
		r := httptest.NewRequest("POST", "/p/one/definitions", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 200 && w.Code != 403 || !strings.HasSuffix(w.Body.String(), "</html>") { // 403: for an unknown action
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
