package server

import (
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"wirebench/server/relay"
	"wirebench/server/servertest"
)

// old is definitions for patches up to 113: S_BAD can be decoded at later ones, S_GONE cannot.
var old = map[string]string{
	"C_OLD.1.def": "int32 a\n", "S_GONE.1.def": "int32 a\n", "S_GONE.2.def": "int32 b\n", "protocol.1.map": "C_OLD 1\nS_GONE 2\n",
	"deprecated.json": `{"C_OLD": {"1": {"max": 113, "readable": true}}, "S_GONE": {"1": {"max": 113}, "2": {"max": 113}}}`,
}

// Definitions that are not valid for the version of the game are decoded only if they are readable, and never encode.
func TestDeprecatedDefinitions(t *testing.T) {
	s, dir := testServerOf(t, old)
	const encode, decode = "POST /api/one/encode", "POST /api/one/decode"
	const refused = `"code":"deprecated"`
	talk(t, s, []exchange{
		{"without a version of the game it warns", "GET /api/one/definitions/C_OLD.1.def", "", 200, []string{`"severity":"warning","code":"deprecated"`, "the patch is not known"}, nil},
		{"and encodes", encode, `{"message":"C_OLD","value":{"a":7}}`, 200, []string{`"hex":"0800010007000000"`}, nil},
		{"and decodes", decode, `{"hex":"0800020007000000"}`, 200, []string{`"message":"S_GONE","version":2`}, nil},
		{"an old version of the game", "PATCH /api/one", `{"patch":"113.05"}`, 200, nil, nil},
		{"has no warning", "GET /api/one/definitions/C_OLD.1.def", "", 200, []string{`"diagnostics":[]`}, nil},
		{"a new version of the game", "PATCH /api/one", `{"patch":"114"}`, 200, nil, nil},
		{"warns", "GET /api/one/definitions/C_OLD.1.def", "", 200, []string{`"severity":"warning","code":"deprecated"`, "at patch 114 it can be decoded, but not encoded"}, nil},
		{"refuses to encode", encode, `{"message":"C_OLD","value":{"a":7}}`, 422, []string{refused, "C_OLD.1 is for patches up to 113 (deprecated.json)"}, nil},
		{"decodes what is readable", decode, `{"hex":"0800010007000000"}`, 200, []string{`"status":"ok"`, `"value":{"a":7}`}, nil},
		{"does not decode what is not", decode, `{"hex":"0800020007000000"}`, 200, []string{`"status":"unknown"`, "S_GONE.1 is for patches up to 113"}, nil},
		{"nor by its name", decode, `{"hex":"0800020007000000","message":"S_GONE.2"}`, 200, []string{`"status":"error"`, refused}, nil},
		{"writes no code of it", "POST /api/one/emit", `{"target":"go"}`, 200, []string{"type COld struct"}, []string{"type SGone"}},
		{"a page refuses, too", "POST /p/one/definitions", "action=encode&message=C_OLD.1&value=%7B%7D", 200, nil, nil},
		{"the file is listed", "GET /api/one/definitions", "", 200, []string{`"beside":[{"file":"deprecated.json"`}, nil},
		{"the file is read", "GET /api/one/definitions/deprecated.json", "", 200, []string{`C_OLD`, `"diagnostics":[]`}, nil},
		{"it has no samples", "GET /api/one/definitions/deprecated.json/samples", "", 422, nil, nil},
		{"mistakes are reported", "PUT /api/one/definitions/deprecated.json?force=true", `{"text":"{\"C_OLD\": 1}"}`, 200, []string{`"code":"bad-deprecated"`}, nil},
		{"in the list, too", "GET /api/one/definitions", "", 200, []string{`"code":"bad-deprecated"`}, nil},
		{"and encoding works again", encode, `{"message":"C_OLD","value":{"a":7}}`, 200, nil, nil},
		{"it is deleted", "DELETE /api/one/definitions/deprecated.json?force=true", "", 204, nil, nil},
	})
	if servertest.OnDisk(t, dir, "deprecated.json") != "" {
		t.Error("it is still on the disk")
	}
	kind, body := formOf(t, servertest.File{"more.zip", servertest.Zip(t, servertest.File{"deprecated.json", old["deprecated.json"]}, servertest.File{"package.json", "{}"})})
	a := post(t, s, "/api/one/upload", kind, strings.NewReader(string(body)))
	if a.Status != 200 || a.Stored != 1 || servertest.OnDisk(t, dir, "deprecated.json") == "" || servertest.OnDisk(t, dir, "package.json") != "" {
		t.Errorf("%+v", a)
	}
	talk(t, s, []exchange{{"uploaded", encode, `{"message":"C_OLD","value":{"a":7}}`, 422, []string{refused}, nil}})
}

// The page says why a definition does not encode, and the workbench of a proxy does not inject its messages.
func TestDeprecatedIsNotSent(t *testing.T) {
	s := captureServer(t, "tera", old)
	talk(t, s, []exchange{{"the version of the game", "PATCH /api/one", `{"patch":"114"}`, 200, nil, nil}})
	r := httptest.NewRequest("POST", "/p/one/definitions", strings.NewReader("action=encode&message=C_OLD.1&input=0800010007000000&value=%7B%22a%22%3A8%7D"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, "at patch 114 it can be decoded, but not encoded") || strings.Contains(body, "08 00 00 00") {
		t.Errorf("%d\n%s", w.Code, body)
	}
	r = httptest.NewRequest("POST", "/p/one/definitions", strings.NewReader("message=S_GONE.1&input=0800020007000000"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w = httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, "it can be neither encoded nor decoded") {
		t.Errorf("%d\n%s", w.Code, body)
	}
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	var p relay.Info
	if code := servertest.Call(t, ctx, srv.URL, "POST", "/api/one/proxies", fmt.Sprintf(`{"listen":"127.0.0.1:0","upstream":%q,"operate":true}`, servertest.EchoGame(t)), &p); code != 201 {
		t.Fatalf("%d %+v", code, p)
	}
	var problem struct {
		Detail string
		Errors []struct{ Message string }
	}
	session := "/api/one/proxies/" + p.ID
	if code := servertest.Call(t, ctx, srv.URL, "POST", session+"/operate", `{"on":true}`, nil); code != 200 {
		t.Fatal(code)
	}
	c, err := net.Dial("tcp", p.Pairs[0].Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for p.Open == 0 && ctx.Err() == nil {
		servertest.Call(t, ctx, srv.URL, "GET", session, "", &p)
	}
	if code := servertest.Call(t, ctx, srv.URL, "POST", session+"/send", `{"dir":"c2s","message":"C_OLD","value":{"a":7}}`, &problem); code != 422 || !strings.Contains(fmt.Sprint(problem), "at patch 114 it can be decoded, but not encoded") {
		t.Errorf("%d %+v", code, problem)
	}
}
