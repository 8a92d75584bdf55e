package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wirebench/server/history"
	"wirebench/server/view"
	"wirebench/server/workspace"
)

// listFiles returns a library of n definitions with a code map.
func listFiles(n int) map[string]string {
	files, codes := map[string]string{}, ""
	for i := range n {
		name := fmt.Sprintf("%c_MESSAGE_%05d", "CS"[i%2], i)
		files[name+".1.def"] = "uint32 id\nstring name\n"
		codes += fmt.Sprintf("%s %d\n", name, 1000+i)
	}
	files["protocol.1.map"] = codes
	return files
}

// A change of the library is a small message to each page, and pages show few rows at first, however large the library is.
func TestPageListBudget(t *testing.T) {
	t.Parallel()
	for _, n := range []int{836, 20_000 - 3} { // a library has at most 20,000 files
		t.Run(fmt.Sprint(n, " definitions"), func(t *testing.T) {
			if n > 1000 && testing.Short() {
				t.Skip("20,000 files, with -short")
			}
			p, s, _ := testPage(t, listFiles(n))
			html := pageHTML(t, s, "/p/one/definitions/C_MESSAGE_00400.1")
			rows := rowsOf(t, s, "one")
			p.do(fmt.Sprintf(`"set":{"message":"C_MESSAGE_00400.1"},"have":%q`, rows.State))
			if p.last.List != nil || p.html["rail-list"] != "" {
				t.Error("the page is sent the list that it has")
			}
			ws := s.Projects.Find("one")
			save := func(name, text string) func() error {
				return func() error {
					_, err := ws.Save(name, []byte(text), nil)
					return err
				}
			}
			for _, c := range []struct {
				what   string
				change func() error
				want   string // in the changed rows
			}{
				{"a save", save("C_MESSAGE_00002.1.def", "uint32 other\n"), ""},
				{"an error", save("C_MESSAGE_00002.1.def", "uin32 other\n"), `"error"`},
				{"a new definition", save("C_MESSAGE_NEW.1.def", "uint32 other\n"), `"C_MESSAGE_NEW"`},
				{"a renaming", func() error {
					_, err := ws.Rename(workspace.Renames{Files: []history.Renaming{{From: "C_MESSAGE_00004.1.def", To: "C_ANOTHER_NAME.1.def"}}, Codes: true})
					return err
				}, `"C_ANOTHER_NAME"`},
				{"a deletion", func() error {
					_, err := ws.Delete("C_MESSAGE_00006.1.def", nil)
					return err
				}, `"gone":["C_MESSAGE_00006"]`},
			} {
				if err := c.change(); err != nil {
					t.Fatal(err)
				}
				p.receive()
				sent, err := json.Marshal(p.last.List)
				if err != nil {
					t.Fatal(err)
				}
				if p.wire > 2000 || p.last.List == nil || !strings.Contains(string(sent), c.want) {
					t.Errorf("%s: %d bytes, with the rows %.500s", c.what, p.wire, sent)
				}
				t.Logf("%s: %d bytes", c.what, p.wire)
			}
			if drawn := strings.Count(html, `<li class="item"`); drawn != 60 || len(html) > 52_000 {
				t.Errorf("the page has %d rows, and %d bytes", drawn, len(html))
			}
			if per := len(rows.text) / n; per > 70 {
				t.Errorf("%d bytes for each definition", per)
			}
		})
	}
}

func pageHTML(t *testing.T, s *Server, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", path, http.NoBody))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d", path, w.Code)
	}
	return w.Body.String()
}

// listRows is the list that a page gets beside its document.
type listRows struct {
	view.ListChange
	text string
}

func rowsOf(t *testing.T, s *Server, project string) (rows listRows) {
	t.Helper()
	rows.text = pageHTML(t, s, "/p/"+project+"/definitions.json")
	if err := json.Unmarshal([]byte(rows.text), &rows.ListChange); err != nil {
		t.Fatal(err)
	}
	return rows
}

// The rows of a list are sent again only after a change.
func TestPageListIsKept(t *testing.T) {
	_, s, _ := testPage(t, listFiles(10))
	ask := func(tag string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/p/one/definitions.json", http.NoBody)
		r.Header.Set("If-None-Match", tag)
		s.ServeHTTP(w, r)
		return w
	}
	tag := ask("").Header().Get("ETag")
	if w := ask(tag); w.Code != http.StatusNotModified || w.Body.Len() > 0 || w.Header().Get("Cache-Control") != "private, no-cache" {
		t.Errorf("the same list: %d, %d bytes, %v", w.Code, w.Body.Len(), w.Header())
	}
	if _, err := s.Projects.Find("one").Save("C_NEW.1.def", []byte("byte a\n"), nil); err != nil {
		t.Fatal(err)
	}
	if w := ask(tag); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"C_NEW"`) || w.Header().Get("ETag") == tag {
		t.Errorf("after a change: %d %s", w.Code, w.Body)
	}
}

// A page that connects again is sent what has changed since, or all if the server does not know its list.
func TestPageListAfterConnecting(t *testing.T) {
	p, s, _ := testPage(t, listFiles(10))
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	state := rowsOf(t, s, "one").State
	if _, err := s.Projects.Find("one").Save("C_NEW.1.def", []byte("byte a\n"), nil); err != nil {
		t.Fatal(err)
	}
	p.do(fmt.Sprintf(`"set":{},"have":%q`, state))
	if l := p.last.List; l == nil || l.Whole || len(l.Sections) != 1 || len(l.Sections[0].Rows) != 1 {
		t.Errorf("a known list: %+v", l)
	}
	p = dialPage(t, srv)
	p.do(`"set":{},"have":"of another server"`)
	if l := p.last.List; l == nil || !l.Whole || len(l.Sections) != 2 || len(l.Sections[0].Rows) != 6 {
		t.Errorf("an unknown list: %+v", l)
	}
}

var listLinks = regexp.MustCompile(`<a href="([^"]*)" title="([^",:]*)[^"]*"|<p class="rail-page"><a href="([^"]*)">([^<]*)`)

// Without scripts every definition can be reached: by links to further rows, and by the filter.
func TestPageListWithoutScripts(t *testing.T) {
	_, s, _ := testPage(t, listFiles(200))
	names, next := map[string]bool{}, "/p/one/definitions"
	for pages := 0; next != ""; pages++ {
		if pages > 4 {
			t.Fatal("too many pages")
		}
		html := pageHTML(t, s, next)
		next = ""
		for _, link := range listLinks.FindAllStringSubmatch(html, -1) {
			if link[4] == "More messages" {
				next = strings.ReplaceAll(link[3], "&amp;", "&")
			} else if strings.Contains(link[2], "_MESSAGE_") {
				names[link[2]] = true
			}
		}
	}
	if len(names) != 200 {
		t.Errorf("%d definitions can be reached", len(names))
	}
	for path, want := range map[string][]string{
		"/p/one/definitions?filter=message_0007":                {"C_MESSAGE_00070", "C_MESSAGE_00072", "C_MESSAGE_00074", "C_MESSAGE_00076", "C_MESSAGE_00078", "S_MESSAGE_00071", "S_MESSAGE_00073", "S_MESSAGE_00075", "S_MESSAGE_00077", "S_MESSAGE_00079"},
		"/p/one/definitions?filter=s_+9+message&list=27":        {"S_MESSAGE_00199"},
		"/p/one/definitions/S_MESSAGE_00001.1?filter=none+such": nil,
		"/p/one/definitions?list=9223372036854775807":           nil,
		"/p/one/definitions?list=-5&filter=00100":               {"C_MESSAGE_00100"},
	} {
		var got []string
		for _, link := range listLinks.FindAllStringSubmatch(pageHTML(t, s, path), -1) {
			if strings.Contains(link[2], "_MESSAGE_") {
				got = append(got, link[2])
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	html := pageHTML(t, s, "/p/one/definitions/S_MESSAGE_00101.1")
	before, after, found := strings.Cut(html, `aria-current="true">`)
	if first := strings.Count(before, `<li class="item"`); !found || first != 11 || strings.Count(after, `<li class="item"`) != 49 {
		t.Errorf("the open message is row %d", first)
	}
}
