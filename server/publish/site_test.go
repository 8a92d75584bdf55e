package publish

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"html"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"wirebench/codec/redact"
	"wirebench/server/workspace"
)

// siteOf returns the site of some files.
func siteOf(t *testing.T, dialect string, files map[string]string) *Site {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	lib, err := workspace.ReadNamed(dir)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := workspace.Build(lib, workspace.Settings{Dialect: dialect})
	if err != nil {
		t.Fatal(err)
	}
	return &Site{Title: "<b>Mine</b>", Snap: snap, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func filesOf(t *testing.T, s *Site) map[string]string {
	t.Helper()
	files := map[string]string{}
	if err := s.Write(func(name string, data []byte) error { files[name] = string(data); return nil }); err != nil {
		t.Fatal(err)
	}
	return files
}

var hostile = map[string]string{
	"C_CHAT.1.def":           "# says <script>alert(1)</script>\nstring text # <img src=x onerror=alert(1)>\n",
	"C_CHAT.2.def":           "# says <script>alert(2)</script>\nuint32 channel\nstring text # @secret\n",
	"S_EMPTY.1.def":          "",
	"protocol.1.map":         "C_CHAT 17\nS_EMPTY 18\n",
	"C_CHAT.2.samples.jsonl": `{"message":"C_CHAT.2","hex":"1a001100` + `0a0007000000` + `680065006c006c006f0020007700` + `0000","about":"a <b>greeting</b>"}` + "\n",
}

// All links lead to files of the site, what definitions and samples have is text, versions are compared, and secrets do not get out.
func TestSite(t *testing.T) {
	s := siteOf(t, "tera", hostile)
	files := filesOf(t, s)
	if len(files) != 5 {
		t.Errorf("%d files", len(files))
	}
	links := regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	for name, text := range files {
		for _, bad := range []string{"<script>alert", "<img", "<b>"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s has %s", name, bad)
			}
		}
		for _, m := range links.FindAllStringSubmatch(text, -1) {
			if to, _, _ := strings.Cut(m[1], "#"); to != "" && files[path.Join(path.Dir(name), to)] == "" {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
	}
	page := files["messages/C_CHAT.html"]
	for _, want := range []string{"code <span class=\"mono\">17 (0x0011)", "Version 2", "Changes since version 1: extended", "a &lt;b&gt;greeting&lt;/b&gt;", "says &lt;script&gt;alert(2)", "<svg "} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "hello w") || strings.Contains(page, "68 00 65 00 6c 00 6c 00") {
		t.Error("the secret is in the page")
	}
	s.Secrets = true
	if page := filesOf(t, s)["messages/C_CHAT.html"]; !strings.Contains(page, "hello w") {
		t.Error("the secret is not in the page")
	}
}

// Messages of one file have their own texts.
func TestSiteOfSeveral(t *testing.T) {
	s := siteOf(t, "muta", map[string]string{"a.def": "group: one\n\n# the first\npacket: hi\n   __group = one\n   a = uint8\n\n# the second\npacket: ho\n   __group = one\n   b = uint8\n"})
	files := filesOf(t, s)
	if page := files["messages/hi.html"]; !strings.Contains(page, "# the first\npacket: hi") || strings.Contains(page, "second") || strings.Contains(page, "ho\n") {
		t.Error(page)
	}
	if page := files["messages/ho.html"]; !strings.Contains(page, "<pre># the second\npacket: ho\n   __group = one\n   b = uint8\n</pre>") {
		t.Error(page)
	}
}

// Messages that would have one page are refused, and so are names that no file may have.
func TestSiteNames(t *testing.T) {
	for _, files := range []map[string]string{
		{"a.def": "group: one\n\npacket: Hi\n   __group = one\n   a = uint8\n\npacket: hi\n   __group = one\n   a = uint8\n"},
		{"a.def": "group: one\n\npacket: con\n   __group = one\n   a = uint8\n"},
		{"a.def": "group: one\n\npacket: " + strings.Repeat("a", 200) + "\n   __group = one\n   a = uint8\n"},
	} {
		s := siteOf(t, "muta", files)
		if err := s.Write(func(string, []byte) error { return nil }); err == nil {
			t.Errorf("%v is no mistake", files)
		}
	}
	for name, want := range map[string]string{"../../etc/x": "etc-x.html", ".hidden": "hidden.html", "a b": "a_b.html", "ä": "_.html", "..": "", "nul.x": "", "COM1": "", "c2s/chat": "c2s-chat.html"} {
		if got := pageName(name); got != want && !(name == "../../etc/x" && !strings.Contains(got, "/")) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// A folder with other files is refused; an earlier site is replaced, what it no longer has is removed, and nothing else is touched.
func TestSiteFolder(t *testing.T) {
	s := siteOf(t, "tera", hostile)
	dir := t.TempDir()
	own := filepath.Join(dir, "own.txt")
	if err := os.WriteFile(own, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ToFolder(dir); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Fatal(err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Error("something was written")
	}
	dir = filepath.Join(t.TempDir(), "new")
	if n, err := s.ToFolder(dir); err != nil || n != 5 {
		t.Fatal(n, err)
	}
	own = filepath.Join(dir, "messages", "own.txt")
	if err := os.WriteFile(own, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	fewer := siteOf(t, "tera", map[string]string{"C_CHAT.1.def": "string text\n"})
	if _, err := fewer.ToFolder(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "messages", "S_EMPTY.html")); err == nil {
		t.Error("a page of before is still there")
	}
	if text, _ := os.ReadFile(own); string(text) != "mine" {
		t.Error("a foreign file is gone")
	}
	// A link that leads out of the folder is not followed, nor a name in the list.
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("safe"), 0o666); err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(dir, "index.html")
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, index); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	list := filepath.Join(dir, mark)
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(list, bytes.Replace(text, []byte(`"files":[`), []byte(`"files":["../outside",`), 1), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := fewer.ToFolder(dir); err == nil {
		t.Error("a link out of the folder was followed")
	}
	if text, _ := os.ReadFile(outside); string(text) != "safe" {
		t.Error("a file outside was written")
	}
}

// A secret value of a sample is in no page: not in other samples, not in what they are called; a site whose definitions have it is refused.
func TestSiteHidesCopies(t *testing.T) {
	files := map[string]string{
		"C_LOGIN.1.def": "string name # @secret\n", "S_CHAT.1.def": "bytes extra\n", "protocol.1.map": "C_LOGIN 17\nS_CHAT 18\n",
		"C_LOGIN.1.samples.jsonl": `{"message":"C_LOGIN.1","hex":"240011000600` + hex.EncodeToString(utf16Bytes(secretText)) + `0000","about":"as ` + secretText + `"}` + "\n",
	}
	var lines strings.Builder
	ways := sayings(t)
	for _, form := range ways {
		size := len(form) + 8
		fmt.Fprintf(&lines, `{"message":"S_CHAT.1","hex":"%02x%02x1200%s%02x%02x%x"}`+"\n", byte(size), byte(size>>8), "0800", byte(len(form)), byte(len(form)>>8), form)
	}
	files["S_CHAT.1.samples.jsonl"] = lines.String()
	s := siteOf(t, "tera", files)
	pages := filesOf(t, s)
	page := pages["messages/S_CHAT.html"] + pages["messages/C_LOGIN.html"]
	if strings.Contains(page, secretText) || strings.Contains(page, html.EscapeString(secretText)) {
		t.Error("the secret is in the pages")
	}
	s.Secrets = true
	open := filesOf(t, s)["messages/S_CHAT.html"]
	s.Secrets = false
	if len(open) < 1000 || open == page {
		t.Error("with secrets the page is the same")
	}
	// The bytes of the samples, as the pages have them.
	entries, err := s.entries()
	if err != nil {
		t.Fatal(err)
	}
	hide := &hiding{redact.New(), &redact.Values{}}
	s.collect(entries, hide.values)
	for _, e := range entries {
		p, err := s.Snap.Program(e.versions[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range s.samples(e.versions[0], p, hide) {
			for way, form := range ways {
				if bytes.Contains(x.Data, form) {
					t.Errorf("%s: %s", e.name, way)
				}
			}
		}
	}
	files["S_CHAT.1.def"] = "bytes extra # such as " + secretText + "\n"
	s = siteOf(t, "tera", files)
	dir := filepath.Join(t.TempDir(), "site")
	if _, err := s.ToFolder(dir); err == nil || !strings.Contains(err.Error(), "S_CHAT.html would show a value") {
		t.Error(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("something was written")
	}
}
