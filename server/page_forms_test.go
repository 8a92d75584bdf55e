package server

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wirebench/server/servertest"
	"wirebench/server/store"
)

// Without scripts each button is a form: the entered text comes back with the page, and saved text is on disk.
func TestPageForms(t *testing.T) {
	s, dir := testServerOf(t, servertest.Files())
	post := func(path string, pairs ...string) (int, http.Header, string) {
		t.Helper()
		v := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			v.Add(pairs[i], pairs[i+1])
		}
		r := httptest.NewRequest("POST", path, strings.NewReader(v.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code, w.Header(), w.Body.String()
	}
	do := func(what string, wants []string, pairs ...string) {
		t.Helper()
		status, _, body := post("/p/one/definitions", pairs...)
		if status != 200 {
			t.Errorf("%s: status %d", what, status)
		}
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s: no %s in\n%s", what, want, body)
			}
		}
	}
	file := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return string(text)
	}
	base := string(store.RevisionOf([]byte(servertest.JoinText)))
	do("save", []string{"Saved C_JOIN.1.def"}, "action", "save", "message", "C_JOIN.1", "base", base, "definition", "string name\r\nuint16 word\r\n")
	if got := file("C_JOIN.1.def"); got != "string name\nuint16 word\n" {
		t.Errorf("on disk: %q", got)
	}
	do("save over what has changed meanwhile", []string{"Not saved", "has changed on disk", "byte mine"}, "action", "save", "message", "C_JOIN.1", "base", base, "definition", "byte mine\n")
	do("take what is on disk", []string{"uint16 word"}, "action", "theirs", "message", "C_JOIN.1", "base", base, "definition", "byte mine\n")
	do("new version", []string{"Made C_JOIN.2.def"}, "action", "version", "message", "C_JOIN.1", "definition", "string name\nuint32 word\n")
	if got := file("C_JOIN.2.def"); got != "string name\nuint32 word\n" {
		t.Errorf("on disk: %q", got)
	}
	do("an older version that moves", []string{"Not saved", "older version"}, "action", "save", "message", "C_JOIN.1", "definition", "byte x\n")
	do("format", []string{"Formatted.", "\nuint16 word"}, "action", "format", "message", "C_JOIN.1", "definition", "string  name\nuint16   word\n")
	do("a new definition", []string{"Saved C_NEW.1.def"}, "action", "save", "name", "C_NEW.1", "definition", "byte x\n")
	do("delete", []string{"Deleted C_NEW.1.def", "byte x"}, "action", "delete", "message", "C_NEW.1")
	if file("C_NEW.1.def") != "" {
		t.Error("not deleted")
	}
	do("a sample", []string{"Kept as a sample"}, "action", "keep", "message", "C_JOIN.2", "input", "0c0001000800070000000000", "about", "seven")
	if got := file("C_JOIN.2.samples.jsonl"); !strings.Contains(got, `"about":"seven"`) {
		t.Errorf("beside the definition: %q", got)
	}
	do("the sample is taken", []string{"0000  0c 00 01 00", "seven"}, "action", "sample:0", "message", "C_JOIN.2")
	do("the sample is removed", []string{"Removed the sample"}, "action", "drop:0", "message", "C_JOIN.2")
	do("built from nothing", []string{`name="input"`, "0c 00 01 00"}, "action", "build", "message", "C_JOIN.2")
	do("bytes that were changed stay changed", []string{"1 byte changed", `name="edits" value="{`}, "action", "encode", "message", "C_JOIN.2", "input", "0c0001000a00070000000000", "value", `{"word":8}`)
	_, _, drawn := post("/p/one/definitions", "message", "C_JOIN.2", "input", "0c0001000a00070000000000")
	from := regexp.MustCompile(`name="from" value="(\w+)"`).FindStringSubmatch(drawn)
	if from == nil {
		t.Fatalf("the page does not say what its message was made from:\n%s", drawn)
	}
	do("and go back", []string{" 0a 00 07 00"}, "action", "original", "message", "C_JOIN.2", "input", "0c0001000a00070000000000", "from", from[1], "edits", `{"0":"0c0001000a00080000000000"}`)
	for action, kind := range map[string]string{"svg": "image/svg+xml", "text": "text/plain; charset=utf-8"} {
		if _, header, body := post("/p/one/definitions", "action", action, "message", "C_LIST.1"); header.Get("Content-Type") != kind || !strings.Contains(header.Get("Content-Disposition"), "C_LIST.1.") || !strings.Contains(body, "members") {
			t.Errorf("%s: %v %s", action, header, body)
		}
	}
	if status, header, _ := post("/p/one/settings", "map", "", "patch", "92.03"); status != http.StatusSeeOther || header.Get("Location") != "/p/one/definitions" || s.Projects.Find("one").UserSettings().Options["patch"] != "92.03" {
		t.Errorf("settings: %d %v", status, header)
	}
	if status, _, body := post("/p/one/settings", "map", "nowhere.map"); status != 422 || !strings.Contains(body, "nowhere.map") {
		t.Errorf("settings that are wrong: %d %s", status, body)
	}
}

// The address of a definition that was not saved opens it once it is.
func TestAddressOfWhatIsSavedNow(t *testing.T) {
	s, _ := testServerOf(t, servertest.Files())
	for name, want := range map[string]string{"C_JOIN.1": "password", "C_OTHER.1": "description of C_OTHER.1"} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", "/p/one/definitions?new="+name, nil))
		if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, name+".def") || !strings.Contains(body, want) {
			t.Errorf("%s: status %d, without %q:\n%s", name, w.Code, want, body)
		}
	}
}

// A page that begins a definition stays at it, although its room is still that of the definition before.
func TestBegunBesideARoom(t *testing.T) {
	p, _, _ := testPage(t, map[string]string{"C_JOIN.1.def": servertest.JoinText})
	p.do(`"set":{"message":"C_NEW.1","name":"C_NEW.1","definition":"byte x\n","base":"","shared":"C_JOIN.1.def","input":"","value":"","edits":{}}`)
	p.has("the new one", map[string]string{"definition-head": "C_NEW.1.def"})
	p.do(`"set":{"show":0}`)
	if to := p.last.Set.Message; to != nil && *to != "C_NEW.1" {
		t.Errorf("the page is at %s", *to)
	}
	p.has("still the new one", map[string]string{"definition-head": "C_NEW.1.def"})
}
