package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf16"

	"wirebench/codec/transport"
	"wirebench/defs/schema"
	"wirebench/server/api"
	"wirebench/server/frames"
	"wirebench/server/workspace"
)

func TestFilter(t *testing.T) {
	s := testServer(t)
	run(t, s, []scenario{
		{"a filter", "POST", "/api/one/filter", `{"text":"C_JOIN && .password > 3"}`, 200, []string{`"ok":true`, `"mistakes":[]`, `"rewritten":""`, `"explain":""`, `"items":[]`}, nil},
		{"nothing", "POST", "/api/one/filter", `{"text":""}`, 200, []string{`"ok":true`}, nil},
		{"in short", "POST", "/api/one/filter", `{"text":"party"}`, 200, []string{`"ok":true`, `lower(name) contains \"party\"`, `"explain":"text alone searches names`}, nil},
		{"that surprises", "POST", "/api/one/filter", `{"text":".password != 3"}`, 200, []string{`"ok":true`, `if no value of it is equal`}, nil},
		{"that breaks off", "POST", "/api/one/filter", `{"text":"len >"}`, 200, []string{`"ok":false`, `"mistakes":[{"start":5,"end":5,`}, nil},
		{"an unknown field", "POST", "/api/one/filter", `{"text":"C_JOIN.pasword == 1"}`, 200, []string{`"ok":false`, `{"start":7,"end":14,`, `did you mean`}, nil},
		{"an unknown field behind letters of two units", "POST", "/api/one/filter", `{"text":"note == \"ä😀\" && C_JOIN.pasword == 1"}`, 200, []string{`{"start":24,"end":31,`}, nil},
		{"a name", "POST", "/api/one/filter", `{"text":"len > 3 && C_","caret":13}`, 200, []string{`"start":11,"end":13,"path":"","items":[{"text":"C_JOIN","label":"C_JOIN","kind":"message"`}, nil},
		{"a name behind letters of two units", "POST", "/api/one/filter", `{"text":"note == \"😀\" && C_J","caret":19}`, 200, []string{`"start":16,"end":19,"path":"","items":[{"text":"C_JOIN"`}, nil},
		{"a name in its middle", "POST", "/api/one/filter", `{"text":"C_JIN.password","caret":3}`, 200, []string{`"start":0,"end":5,"path":"","items":[{"text":"C_JOIN"`}, nil},
		{"a field", "POST", "/api/one/filter", `{"text":"C_JOIN.","caret":7}`, 200, []string{`{"text":"C_JOIN.channel_name","label":"channel_name","kind":"field","doc":"string: where"}`}, nil},
		{"a function", "POST", "/api/one/filter", `{"text":"lowe","caret":4}`, 200, []string{`{"text":"lower(","label":"lower(…)","kind":"function"`}, nil},
		{"a word", "POST", "/api/one/filter", `{"text":"dir == ","caret":7}`, 200, []string{`"path":"dir","items":[{"text":"c2s","label":"c2s","kind":"value"`}, nil},
		{"a text that is closed", "POST", "/api/one/filter", `{"text":"name == \"C_\"","caret":11}`, 200, []string{`"start":8,"end":12,"path":"name","items":[{"text":"\"C_JOIN\""`}, nil},
		{"a value that was seen", "POST", "/api/one/filter", `{"text":"C_JOIN.channel_name == \"La","caret":26}`, 200, []string{`"start":23,"end":26,"path":"C_JOIN.channel_name","items":[]`}, nil},
		{"a caret behind the end", "POST", "/api/one/filter", `{"text":"di","caret":99}`, 200, []string{`"start":0,"end":2`, `"text":"dir"`}, nil},
		{"a caret before the start", "POST", "/api/one/filter", `{"text":"di","caret":-1}`, 422, []string{"body.caret"}, nil},
		{"unsaved text", "POST", "/api/one/filter", `{"text":"C_JOIN.renamed == 1","caret":8,"draft":{"name":"C_JOIN","text":"uint16 renamed\n"}}`, 200, []string{`"ok":true`, `"text":"C_JOIN.renamed"`}, []string{"password"}},
		{"unsaved text of a new message", "POST", "/api/one/filter", `{"text":"C_NEW.b == 1","draft":{"name":"C_NEW","text":"byte b\n"}}`, 200, []string{`"ok":true`}, nil},
		{"unsaved text with mistakes", "POST", "/api/one/filter", `{"text":"C_LIST","draft":{"name":"C_JOIN","text":"in32 \n["}}`, 200, []string{`"ok":true`}, nil},
		{"a code by its message", "POST", "/api/one/filter", `{"text":"op == C_JOIN"}`, 200, []string{`"ok":true`}, nil},
		{"a message where a number should be", "POST", "/api/one/filter", `{"text":"len == C_JOIN"}`, 200, []string{`{"start":7,"end":13,`, `is a message`}, nil},
		{"the build", "POST", "/api/one/filter", `{"text":"build == 1"}`, 200, []string{`"ok":true`, `the build is 1 in every frame`}, nil},
		{"the selected frame", "POST", "/api/one/filter", `{"text":"$sel.password == .password"}`, 200, []string{`"ok":false`, `{"start":0,"end":13,"message":"no frame is selected here"`}, []string{"no message has"}},
		{"a value of the session", "POST", "/api/one/filter", `{"text":".password == $me"}`, 200, []string{`"ok":false`, `{"start":13,"end":16,"message":"no value is given for \"$me\""`, "write the value itself"}, nil},
		{"layers of another protocol", "POST", "/api/one/filter", `{"text":"core.type == 3"}`, 200, []string{`"ok":false`, "no core packets", "layers around a frame"}, nil},
		{"layers", "POST", "/api/one/filter", `{"text":"vi","caret":2}`, 200, []string{`"text":"via"`, "outermost first"}, nil},
		{"without a text", "POST", "/api/one/filter", `{}`, 422, []string{"text"}, nil},
		{"of a workspace that is not there", "POST", "/api/two/filter", `{"text":""}`, 404, []string{"project two not found"}, nil},
		{"too long", "POST", "/api/one/filter", `{"text":"` + strings.Repeat("x", 9000) + `","caret":9000}`, 200, []string{`"ok":false`, `"start":8192,"end":9000`, "more than 8192 bytes"}, nil},
	})
}

// The find box uses the same language.
func TestFilterOfFindBox(t *testing.T) {
	s := testServer(t)
	ws := s.Projects.Find("one").Now()
	f := &transport.Frame{Dir: schema.ToServer, Key: schema.Key{Dir: schema.ToServer, Code: 1}, HasKey: true, Bytes: []byte("\x0a\x00\x01\x00\x53\xbc\x65\xd0\x0a\x01")}
	for _, c := range []struct {
		as, text string
		want     bool
	}{
		{"value", "48211", true},
		{"value", "48212", false},
		{"hex", "65 ?? 0a", true},
		{"filter", `bytes ~ r"\x65\xd0.\x01"`, true},
		{"filter", "= 48211", true},
		{"regex", "^C_J", true},
		{"text", "C_JOI", true},
	} {
		text := (&frames.FindQuery{Text: c.text, As: c.as}).AsFilter()
		filter, mistakes := ws.Filter(text)
		if len(mistakes) > 0 {
			t.Errorf("%s %s: %+v", c.as, c.text, mistakes)
		} else if got := filter.Fits(workspace.Where{}, f); got != c.want {
			t.Errorf("%s %s: %v, want %v", c.as, c.text, got, c.want)
		}
	}
}

// For any request the response is JSON, and its positions are within the text and ordered.
func FuzzFilter(f *testing.F) {
	for _, text := range []string{"", "party", "len > 3", `name == "C_`, "C_JOIN.", "dir in {c2s..", "= 48211", "~q && ~b x", "😀 || \"ä", ".a[0].b == x\"??"} {
		f.Add(text, 3)
		f.Add(text, len(text))
	}
	s := testServer(f)
	f.Fuzz(func(t *testing.T, text string, caret int) {
		if caret < 0 {
			return
		}
		body, err := json.Marshal(map[string]any{"text": text, "caret": caret})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("POST", "/api/one/filter", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if len(body) > api.MaxSmallBody {
			return
		}
		var got api.FilterInfo
		if w.Code != http.StatusOK || json.Unmarshal(w.Body.Bytes(), &got) != nil {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		units := len(utf16.Encode([]rune(text)))
		if got.OK != (len(got.Mistakes) == 0) {
			t.Errorf("ok %v with %d mistakes", got.OK, len(got.Mistakes))
		}
		for _, m := range got.Mistakes {
			if m.Start < 0 || m.End < m.Start || m.End > units || m.Message == "" {
				t.Errorf("%q: a mistake at %d..%d of %d", text, m.Start, m.End, units)
			}
		}
		if c := got.Completions; c.Start < 0 || c.End < c.Start || c.End > units {
			t.Errorf("%q: completions at %d..%d of %d", text, c.Start, c.End, units)
		}
	})
}
