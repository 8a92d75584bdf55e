package server

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wirebench/defs/benchtest"
	"wirebench/server/api"
	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// formOf returns a form of files, with unchanged names.
func formOf(t testing.TB, files ...servertest.File) (kind string, body []byte) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, f := range files {
		h := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="x"`}}
		if f[0] == "?" {
			h.Set("Content-Disposition", `form-data; name="x"; filename=""`)
		} else if f[0] != "" {
			h.Set("Content-Disposition", `form-data; name="x"; filename="`+strings.ReplaceAll(f[0], `\`, `\\`)+`"`)
		}
		p, err := w.CreatePart(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(p, f[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), b.Bytes()
}

// uploadAnswer is the response to an upload, accepted or refused.
type uploadAnswer struct {
	Status, Stored int
	Title, Detail  string
	Files          []api.UploadedFile
	text           string
}

func post(t testing.TB, h http.Handler, path, kind string, body io.Reader) uploadAnswer {
	t.Helper()
	r := httptest.NewRequest("POST", path, body)
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	a := uploadAnswer{text: w.Body.String()}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	a.Status = w.Code
	return a
}

func send(t testing.TB, h http.Handler, query string, files ...servertest.File) uploadAnswer {
	t.Helper()
	kind, body := formOf(t, files...)
	return post(t, h, "/api/one/upload"+query, kind, bytes.NewReader(body))
}

// lines returns the results of the files, one per line.
func (a uploadAnswer) lines() []string {
	var out []string
	for _, f := range a.Files {
		line := f.File
		if f.From != "" {
			line = f.From + ": " + line
		}
		line += " " + f.Result
		if f.Reason != "" {
			line += " (" + f.Reason + ")"
		}
		out = append(out, line)
	}
	return out
}

// tree returns all files in a folder.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		out[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestUpload(t *testing.T) {
	const sample = `{"message":"C_NEW.1","hex":"0500010007"}` + "\n"
	stored := map[string]string{"C_OLD.1.def": "byte a\nbyte b\n", "C_OLD.2.def": "byte a\n", "sub/C_DEEP.1.def": "byte deep\n", "two/protocol.1.map": "C_OLD 1\n"}
	with := func(more ...string) map[string]string { // the stored files, with changes
		out := maps.Clone(stored)
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	for _, c := range []struct {
		name   string
		query  string
		files  []servertest.File
		status int
		says   []string // files and results; the part in parentheses may be a substring
		after  map[string]string
	}{
		{
			"new files", "",
			[]servertest.File{{"C_NEW.1.def", "uint32 id\n"}, {"protocol.7.map", "C_NEW 1\n"}, {"C_NEW.1.samples.jsonl", sample}},
			200,
			[]string{"C_NEW.1.def new", "protocol.7.map new", "C_NEW.1.samples.jsonl new"},
			with("C_NEW.1.def", "uint32 id\n", "protocol.7.map", "C_NEW 1\n", "C_NEW.1.samples.jsonl", sample),
		},
		{
			"a folder", "",
			[]servertest.File{{"defs/C_NEW.1.def", "byte a\n"}, {"defs/more/C_NEW.2.def", "byte b\n"}, {"defs/.git/config", "x"}, {"defs/.DS_Store", "x"}},
			200,
			[]string{"C_NEW.1.def new", "more/C_NEW.2.def new"},
			with("C_NEW.1.def", "byte a\n", "more/C_NEW.2.def", "byte b\n"),
		},
		{
			"a zip", "",
			[]servertest.File{{"all.zip", servertest.Zip(t, servertest.File{"top/C_NEW.1.def", "byte a\n"}, servertest.File{"top/readme.md", "x"}, servertest.File{"top/maps/protocol.7.map", "C_NEW 1\n"})}},
			200,
			[]string{"all.zip: C_NEW.1.def new", "all.zip: readme.md skipped (not a definition", "all.zip: maps/protocol.7.map new"},
			with("C_NEW.1.def", "byte a\n", "maps/protocol.7.map", "C_NEW 1\n"),
		},
		{"a zip of another name", "", []servertest.File{{"download", servertest.Zip(t, servertest.File{"C_NEW.1.def", "byte a\n"})}}, 200, []string{"download: C_NEW.1.def new"}, with("C_NEW.1.def", "byte a\n")},
		{"another text", "", []servertest.File{{"C_OLD.2.def", "byte a\r\nbyte c\n"}}, 200, []string{"C_OLD.2.def exists (has 0 lines that this one lacks, and lacks 1"}, stored},
		{"another text, replaced", "?replace=true", []servertest.File{{"C_OLD.2.def", "byte c\n"}}, 200, []string{"C_OLD.2.def replaced"}, with("C_OLD.2.def", "byte c\n")},
		{"other line ends", "", []servertest.File{{"C_OLD.2.def", "byte a\r\n"}}, 200, []string{"C_OLD.2.def exists (differs in line ends"}, stored},
		{"the same text", "?replace=true", []servertest.File{{"C_OLD.2.def", "byte a\n"}}, 200, []string{"C_OLD.2.def unchanged"}, stored},
		{
			"an older version, its bytes", "?replace=true",
			[]servertest.File{{"C_OLD.1.def", "int64 a\n"}, {"C_NEW.1.def", ""}},
			200,
			[]string{"C_OLD.1.def error (the newest is 2: only names", "C_NEW.1.def new"},
			with("C_NEW.1.def", ""),
		},
		{"an older version, its names", "?replace=true", []servertest.File{{"C_OLD.1.def", "byte x\nbyte y # why\n"}}, 200, []string{"C_OLD.1.def replaced"}, with("C_OLD.1.def", "byte x\nbyte y # why\n")},
		{
			"a file that is in a folder of the library", "?replace=true",
			[]servertest.File{{"C_DEEP.1.def", "byte deeper\n"}, {"protocol.1.map", "C_OLD 2\n"}},
			200,
			[]string{"sub/C_DEEP.1.def replaced", "two/protocol.1.map replaced"},
			with("sub/C_DEEP.1.def", "byte deeper\n", "two/protocol.1.map", "C_OLD 2\n"),
		},
		{
			"a definition from another folder", "",
			[]servertest.File{{"a/x/C_DEEP.1.def", "byte deep\n"}, {"a/x/protocol.1.map", "C_OLD 7\n"}, {"a/C_NEW.1.def", ""}},
			200,
			[]string{"sub/C_DEEP.1.def unchanged", "x/protocol.1.map new", "C_NEW.1.def new"},
			with("x/protocol.1.map", "C_OLD 7\n", "C_NEW.1.def", ""),
		},
		{"samples of a definition in a folder", "", []servertest.File{{"C_DEEP.1.samples.jsonl", sample}}, 200, []string{"sub/C_DEEP.1.samples.jsonl new"}, with("sub/C_DEEP.1.samples.jsonl", sample)},
		{"samples that are none", "", []servertest.File{{"C_OLD.1.samples.jsonl", "what\n"}}, 422, []string{"C_OLD.1.samples.jsonl skipped (no line is a sample)"}, stored},
		{
			"captures and logs", "",
			[]servertest.File{{"a.pcap", "x"}, {"b.log", "x"}, {"strange", "\xd4\xc3\xb2\xa1rest"}, {"c.pcapng", strings.Repeat("x", 5<<20)}},
			422,
			[]string{"a.pcap skipped (named like a capture", "b.log skipped (named like a capture", "strange skipped (a capture, which is not stored here", "c.pcapng skipped (named like a capture"},
			stored,
		},
		{
			"files of other kinds", "",
			[]servertest.File{{"x.js", "x"}, {"notes.txt", "some words of a text\n"}, {"sysmsg.1.map", "X 1"}, {"muta.def", "packet: hello\n"}, {"C_NEW.1.def", ""}},
			200,
			[]string{"x.js skipped (not a definition", "notes.txt skipped (not a definition", "sysmsg.1.map skipped (not the name of a code map", "muta.def skipped (this is a definition of protocol muta", "C_NEW.1.def new"},
			with("C_NEW.1.def", ""),
		},
		{
			"paths out of the folder", "",
			[]servertest.File{{"../C_A.1.def", "byte a"}, {"a/../../C_B.1.def", "byte a"}, {"/etc/C_C.1.def", "byte a"}, {`..\C_D.1.def`, "byte a"}, {`C:\C_E.1.def`, "byte a"}, {"C:C_F.1.def", "byte a"}},
			422,
			[]string{"../C_A.1.def error (leads out", "a/../../C_B.1.def error (leads out", "/etc/C_C.1.def error (the path is absolute", `..\C_D.1.def error (backslash`, `C:\C_E.1.def error (backslash`, "C:C_F.1.def error (the path is absolute"},
			stored,
		},
		{
			"paths out of the folder, in a zip", "",
			[]servertest.File{{"x.zip", servertest.Zip(t, servertest.File{"../C_A.1.def", "byte a"}, servertest.File{"/C_B.1.def", "byte a"}, servertest.File{"C_\x00.1.def", "byte a"}, servertest.File{"C_C.1.def", "byte a"})}},
			200,
			[]string{"x.zip: ../C_A.1.def error (leads out", "x.zip: /C_B.1.def error (the path is absolute", "x.zip: C_\x00.1.def error (zero byte", "x.zip: C_C.1.def new"},
			with("C_C.1.def", "byte a"),
		},
		{
			"names that no system keeps", "",
			[]servertest.File{{"NUL.1.def", ""}, {".hidden.def", ""}, {"a?.1.def", ""}, {strings.Repeat("A", 300) + ".1.def", ""}},
			422,
			[]string{"NUL.1.def error (Windows reserves", ".hidden.def skipped (hidden)", "a?.1.def error (the character ?", strings.Repeat("A", 300) + ".1.def error (at most 200"},
			stored,
		},
		{
			"the same name twice", "",
			[]servertest.File{{"C_NEW.1.def", "byte a\n"}, {"C_NEW.1.def", "byte b\n"}, {"C_NEW.1.def", "byte a\n"}},
			200,
			[]string{"C_NEW.1.def new", "C_NEW.1.def skipped (duplicate file", "C_NEW.1.def unchanged"},
			with("C_NEW.1.def", "byte a\n"),
		},
		{
			"names that differ in case", "",
			[]servertest.File{{"C_NEW.1.def", "byte a\n"}, {"c_new.1.def", "byte b\n"}, {"c_old.2.def", "byte c\n"}},
			200,
			[]string{"C_NEW.1.def new", "c_new.1.def error (differs only in case", "c_old.2.def error (differs only in case"},
			with("C_NEW.1.def", "byte a\n"),
		},
		{
			"a zip in a zip", "",
			[]servertest.File{{"x.zip", servertest.Zip(t, servertest.File{"in.zip", servertest.Zip(t, servertest.File{"C_A.1.def", ""})}, servertest.File{"C_B.1.def", servertest.Zip(t, servertest.File{"C_A.1.def", ""})}, servertest.File{"C_C.1.def", ""})}},
			200,
			[]string{"x.zip: in.zip error (a zip file in a zip file", "x.zip: C_B.1.def error (a zip file in a zip file", "x.zip: C_C.1.def new"},
			with("C_C.1.def", ""),
		},
		{"a broken zip", "", []servertest.File{{"x.zip", "PK\x03\x04 and no more"}, {"C_NEW.1.def", ""}}, 200, []string{"x.zip error (not a readable zip file", "C_NEW.1.def new"}, with("C_NEW.1.def", "")},
		{"a text that is called a zip", "", []servertest.File{{"x.zip", "byte a\n"}}, 422, []string{"x.zip skipped (definitions end in .def)"}, stored},
		{"a file without a name", "", []servertest.File{{"?", "what"}, {"?", ""}}, 422, []string{"x skipped (a file without a name)"}, stored},
		{"a part without a file", "", []servertest.File{{"", "what"}, {"C_NEW.1.def", ""}}, 200, []string{"x skipped (no file name)", "C_NEW.1.def new"}, with("C_NEW.1.def", "")},
		{"a file that is too large", "", []servertest.File{{"C_BIG.1.def", strings.Repeat("#", store.MaxFileBytes+1)}, {"C_NEW.1.def", ""}}, 200, []string{"C_BIG.1.def error (larger than 4194304", "C_NEW.1.def new"}, with("C_NEW.1.def", "")},
		{"nothing", "", nil, 422, nil, stored},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := testServerOf(t, stored)
			a := send(t, s, c.query, c.files...)
			if a.Status != c.status {
				t.Errorf("status %d, want %d: %s", a.Status, c.status, a.text)
			}
			got := a.lines()
			if len(got) != len(c.says) {
				t.Errorf("%d files: %q\nwant %q", len(got), got, c.says)
			}
			for i := range min(len(got), len(c.says)) {
				what, why, _ := strings.Cut(strings.TrimSuffix(c.says[i], ")"), " (")
				if gotWhat, gotWhy, _ := strings.Cut(got[i], " ("); gotWhat != what || !strings.Contains(gotWhy, why) {
					t.Errorf("%q, want %q", got[i], c.says[i])
				}
			}
			if after := tree(t, dir); !maps.Equal(after, c.after) {
				t.Errorf("on disk is %q\nwant %q", slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(c.after)))
			}
			if out := servertest.OnDisk(t, filepath.Dir(dir), "C_A.1.def"); out != "" {
				t.Error("a file was written out of the folder")
			}
		})
	}
}

// A bundle of definitions is stored as its files, alone, in a folder or in a zip; what is left out is named.
func TestUploadOfABundle(t *testing.T) {
	const bundle = `{"maps": {"7": {"C_NEW": 1, "S_BAD": "x"}}, "protocol": {"C_NEW.1.def": "Ynl0ZSBhCg==", "c_new.1.def": "", "NUL.1.def": "", "../C_UP.1.def": "", "C_P.1.js": ""}, "deprecated": {"C_NEW": {"1": {"max": 9}}}}`
	const wrong = " (its code \"x\" is not a number from 0 to 65535)"
	left := []string{
		"S_BAD error", "../C_UP.1.def error (not the name of a definition", "C_P.1.js error (a program", "c_new.1.def error (differs only in case", "NUL.1.def error (Windows reserves",
	}
	for _, c := range []struct {
		about  string
		file   servertest.File
		folder string
	}{
		{"alone", servertest.File{"data.json", bundle}, ""},
		{"of another name, in a folder", servertest.File{"game/bundle.json", bundle}, ""},
		{"in a zip", servertest.File{"all.zip", servertest.Zip(t, servertest.File{"top/game/data.json", bundle}, servertest.File{"top/C_MORE.1.def", "byte a\n"})}, "game/"},
	} {
		s, dir := testServerOf(t, map[string]string{"C_OLD.1.def": "byte a\n"})
		a := send(t, s, "", c.file)
		got := strings.Join(a.lines(), "\n")
		for _, want := range append([]string{c.folder + "C_NEW.1.def new", c.folder + "protocol.7.map new", c.folder + "deprecated.json new", c.file[0] + ": "}, left...) {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is missing:\n%s", c.about, want, got)
			}
		}
		if !strings.Contains(got, wrong) {
			t.Errorf("%s: the reason of a code is missing:\n%s", c.about, got)
		}
		files := tree(t, dir)
		if files[c.folder+"C_NEW.1.def"] != "byte a\n" || files[c.folder+"protocol.7.map"] != "C_NEW 1\n" || files[c.folder+"deprecated.json"] == "" || len(files) > 5 || a.Status != 200 {
			t.Errorf("%s: %d %q", c.about, a.Status, files)
		}
	}
	for about, c := range map[string]struct{ text, want string }{
		"damaged":   {bundle[:len(bundle)-9], "data.json error (not a readable bundle"},
		"too large": {bundle[:len(bundle)-1] + `, "x": "` + strings.Repeat("x", store.MaxFileBytes) + `"}`, "data.json error (larger than"},
		"too many": {`{"maps": {"1": {}` + strings.Repeat(`, "2": {}`, 10) + func() string {
			var b strings.Builder
			for i := range store.MaxFiles {
				fmt.Fprintf(&b, `, "%d": {}`, i+10)
			}
			return b.String()
		}() + `}}`, "data.json error (unpack data.json: unpacks to more than is allowed: the bundle has too many files"},
		"of no bundles": {`{"maps": {"7": {}}}`, ""},
	} {
		s, dir := testServerOf(t, map[string]string{"C_OLD.1.def": "byte a\n"})
		a := send(t, s, "", servertest.File{"data.json", c.text})
		if got := strings.Join(a.lines(), "\n"); c.want == "" && len(tree(t, dir)) != 2 || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", about, got)
		}
	}
	// A bundle that another program puts into the folder stays as it is, and the list says so.
	s, _ := testServerOf(t, map[string]string{"C_OLD.1.def": "byte a\n", "data.json": bundle})
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "/api/one/definitions", nil))
	if !strings.Contains(w.Body.String(), "data.json: a bundle of definitions; upload it") {
		t.Error(w.Body)
	}
}

// A descriptor set is taken apart, alone and in a zip; a file of its name that is none is not a definition.
func TestUploadDescriptorSet(t *testing.T) {
	const set = "\n$\n\aa.proto\"\x11\n\x01A\x12\f\n\x01b\x18\x01 \x01(\tR\x01bb\x06proto3"
	for about, c := range map[string]struct {
		file servertest.File
		want string
	}{
		"alone":    {servertest.File{"all.pb", set}, "all.pb: a.proto new"},
		"in a zip": {servertest.File{"all.zip", servertest.Zip(t, servertest.File{"game/all.desc", set})}, "all.zip: a.proto new"},
		"damaged":  {servertest.File{"all.pb", set[1:]}, "all.pb skipped (not a definition"},
	} {
		d, dir := workspacetest.Dir(t, map[string]string{"old.proto": "message Old {}\n"})
		a := send(t, serverOf(t, workspacetest.Open(t, workspace.Config{Dialect: "protobuf", Files: d})), "", c.file)
		if got, text := strings.Join(a.lines(), "\n"), tree(t, dir)["a.proto"]; !strings.Contains(got, c.want) || strings.Contains(text, "string b = 1;") != strings.HasSuffix(c.want, "new") {
			t.Errorf("%s: %d %s\n%s", about, a.Status, got, text)
		}
	}
}

func TestUploadDescribesDefinitions(t *testing.T) {
	s, _ := testServerOf(t, map[string]string{"C_OLD.1.def": "in32 a\n"})
	a := send(t, s, "", servertest.File{"C_BAD.3.def", "in32 a\nfoo\n"}, servertest.File{"C_OLD.1.def", "in32 a\n"}, servertest.File{"protocol.1.map", "C_BAD 1\n"})
	want := []api.UploadedFile{
		{File: "C_BAD.3.def", Result: "new", Message: "C_BAD.3", Diagnostics: 2}, {File: "C_OLD.1.def", Result: "unchanged", Message: "C_OLD.1", Diagnostics: 1}, {File: "protocol.1.map", Result: "new"},
	}
	if !slices.Equal(a.Files, want) || a.Stored != 2 {
		t.Errorf("%+v", a)
	}
	if a := send(t, s, "", servertest.File{"C_OLD.1.def", "byte a\nbyte b\n"}); a.Files[0].Differs == nil || *a.Files[0].Differs != (api.Differences{Stored: 1, Uploaded: 2}) {
		t.Errorf("%+v", a)
	}
}

// A folder with a whole game is stored at once, and a second upload changes nothing.
func TestUploadOfAFolderTwice(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	const many = 800
	s, dir := testServerOf(t, nil)
	var files []servertest.File
	for i := range many {
		files = append(files, servertest.File{fmt.Sprintf("defs/C_M%d.1.def", i), fmt.Sprintf("uint32 id%d\narray list\n- string name\n", i)})
	}
	if a := send(t, s, "", files...); a.Status != 200 || a.Stored != many {
		t.Fatalf("%d, %d stored", a.Status, a.Stored)
	}
	before := tree(t, dir)
	for _, query := range []string{"", "?replace=true"} {
		a := send(t, s, query, servertest.File{"defs.zip", servertest.Zip(t, files...)})
		for _, f := range a.Files {
			if f.Result != "unchanged" || f.Message == "" {
				t.Fatalf("%+v", f)
			}
		}
		if a.Status != 200 || a.Stored != 0 || len(a.Files) != many {
			t.Errorf("%d, %d stored of %d", a.Status, a.Stored, len(a.Files))
		}
	}
	if !maps.Equal(before, tree(t, dir)) {
		t.Error("something has changed all the same")
	}
}

func TestUploadOfTooMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of megabytes, with -short")
	}
	bomb := func(name string) servertest.File { // 30 MB of zeros
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for i := range 10 {
			w, _ := z.Create(fmt.Sprintf("C_B%d.1.def", i))
			_, _ = w.Write(make([]byte, 3<<20))
		}
		_ = z.Close()
		return servertest.File{name, b.String()}
	}("bomb.zip")
	var empty []servertest.File
	for i := range 25_000 {
		empty = append(empty, servertest.File{fmt.Sprintf("C_E%d.1.def", i), ""})
	}
	s, dir := testServerOf(t, nil)
	t.Run("a zip bomb", func(t *testing.T) {
		a := send(t, s, "", bomb, servertest.File{"later.zip", servertest.Zip(t, servertest.File{"C_A.1.def", ""})})
		if got := a.lines(); a.Status != 422 || len(got) != 2 || !strings.Contains(got[0], "bomb.zip error (unpack bomb.zip: unpacks to more than is allowed") || !strings.Contains(got[1], "not opened") {
			t.Errorf("%d %q", a.Status, got)
		}
	})
	t.Run("many empty files", func(t *testing.T) {
		if a := send(t, s, "", empty...); a.Status != 413 || !strings.Contains(a.Detail, "more than 20000 files") {
			t.Errorf("%d %s", a.Status, a.Detail)
		}
	})
	t.Run("many empty files in a zip", func(t *testing.T) {
		if a := send(t, s, "", servertest.File{"x.zip", servertest.Zip(t, empty...)}); a.Status != 422 || !strings.Contains(a.text, "than is allowed") {
			t.Errorf("%d %s", a.Status, a.text)
		}
	})
	t.Run("many zips", func(t *testing.T) {
		var zips []servertest.File
		for i := range api.MaxZips + 1 {
			zips = append(zips, servertest.File{"x.zip", servertest.Zip(t, servertest.File{"notes.md", fmt.Sprint(i)})})
		}
		if got := send(t, s, "", zips...).lines(); !strings.Contains(got[api.MaxZips], "at most 20") {
			t.Errorf("%q", got[api.MaxZips])
		}
	})
	t.Run("a large body", func(t *testing.T) {
		kind, body := formOf(t, servertest.File{"x.pcap", strings.Repeat("x", api.MaxUpload)})
		if a := post(t, s, "/api/one/upload", kind, bytes.NewReader(body)); a.Status != 413 || !strings.Contains(a.Detail, "67108864") {
			t.Errorf("%d %s", a.Status, a.Detail)
		}
		if a := post(t, s, "/api/one/upload", kind, io.MultiReader(bytes.NewReader(body))); a.Status != 413 { // of unknown length
			t.Errorf("%d %s", a.Status, a.Detail)
		}
	})
	t.Run("a large body that is not too large", func(t *testing.T) {
		if a := send(t, s, "", servertest.File{"x.pcap", strings.Repeat("x", api.MaxBody+1)}); a.Status != 422 || len(a.Files) != 1 {
			t.Errorf("%d %s", a.Status, a.Detail)
		}
	})
	if left := tree(t, dir); len(left) > 0 {
		t.Errorf("stored all the same: %d files", len(left))
	}
}

func TestUploadThatIsNoForm(t *testing.T) {
	s, dir := testServerOf(t, nil)
	kind, whole := formOf(t, servertest.File{"C_A.1.def", "byte a\n"}, servertest.File{"C_B.1.def", "byte b\n"})
	for name, c := range map[string]struct {
		kind, body string
		status     int
	}{
		"JSON":                         {"application/json", `{"text":"byte a"}`, 415},
		"a form without files":         {"application/x-www-form-urlencoded", "a=b", 415},
		"no boundary":                  {"multipart/form-data", string(whole), 415},
		"an empty body":                {kind, "", 400},
		"another boundary":             {"multipart/form-data; boundary=other", string(whole), 400},
		"without its end":              {kind, string(whole[:len(whole)-10]), 400},
		"without an end of a file":     {kind, string(whole[:len(whole)/2]), 400},
		"a field that is no bool":      {kind, strings.Replace(strings.Replace(string(whole), `name="x"`, `name="replace"`, 1), `; filename="C_A.1.def"`, "", 1), 422},
		"a header that makes no sense": {kind, strings.Replace(string(whole), "Content-Disposition: ", "Content-Disposition", 1), 400},
		"a name with a zero byte":      {kind, strings.Replace(string(whole), "C_A", "C_\x00", 1), 400},
	} {
		if a := post(t, s, "/api/one/upload", c.kind, strings.NewReader(c.body)); a.Status != c.status || a.Detail == "" {
			t.Errorf("%s: %d, want %d: %s", name, a.Status, c.status, a.text)
		}
	}
	if left := tree(t, dir); len(left) > 0 {
		t.Errorf("stored all the same: %q", left)
	}
}

// The form field has the same effect as the query parameter, at any position in the form.
func TestUploadReplacesByAField(t *testing.T) {
	for _, value := range []string{"true", "1", "on"} {
		s, dir := testServerOf(t, map[string]string{"C_A.1.def": "byte a\n"})
		kind, body := formOf(t, servertest.File{"C_A.1.def", "byte b\n"}, servertest.File{"", value})
		body = bytes.Replace(body, []byte("name=\"x\"\r\n"), []byte("name=\"replace\"\r\n"), 1)
		if a := post(t, s, "/api/one/upload", kind, bytes.NewReader(body)); a.Status != 200 || len(a.Files) != 1 || servertest.OnDisk(t, dir, "C_A.1.def") != "byte b\n" {
			t.Errorf("%s: %s", value, a.text)
		}
	}
}

// On a full disk, the report lists exactly the stored files.
func TestUploadToAFullDisk(t *testing.T) {
	full := fmt.Errorf("write: %w", store.ErrFull)
	var files []servertest.File
	for i := range 5 {
		files = append(files, servertest.File{fmt.Sprintf("C_N%d.1.def", i), "byte a\n"})
	}
	a := send(t, failingServer(t, full, 2), "", append(files, servertest.File{"C_A.1.def", "byte a\n"})...)
	if a.Status != 200 || a.Stored != 2 {
		t.Errorf("%d, %d stored", a.Status, a.Stored)
	}
	for i, f := range a.Files {
		want := map[bool]string{true: "new", false: "error"}[i < 2]
		if i == 5 {
			want = "unchanged"
		}
		if f.Result != want || want == "error" && !strings.Contains(f.Reason, "the disk is full") {
			t.Errorf("%+v", f)
		}
	}
	if a := send(t, failingServer(t, full, 0), "", files...); a.Status != 507 || len(a.Files) != 5 {
		t.Errorf("%d %s", a.Status, a.text)
	}
	if a := send(t, failingServer(t, store.ErrReadOnly, 0), "", files...); a.Status != 403 {
		t.Errorf("%d %s", a.Status, a.text)
	}
}

// Files written by another program during an upload are not lost.
func TestUploadBesideAnotherProgram(t *testing.T) {
	dir := t.TempDir()
	servertest.WriteFile(t, filepath.Join(dir, "C_A.1.def"), "byte a\n")
	other := func(f workspace.Files) workspace.Files {
		return &between{f, func(name string) {
			if name != "C_A.1.def" {
				servertest.WriteFile(t, filepath.Join(dir, name), map[string]string{"C_B.1.def": "byte theirs\n", "C_C.1.def": "byte mine\n"}[name])
			}
		}}
	}
	s := serverOf(t, servertest.OpenWorkspace(t, dir, other))
	a := send(t, s, "", servertest.File{"C_B.1.def", "byte mine\n"}, servertest.File{"C_C.1.def", "byte mine\n"})
	if got := a.lines(); !strings.HasPrefix(got[0], "C_B.1.def exists") || got[1] != "C_C.1.def unchanged" || servertest.OnDisk(t, dir, "C_B.1.def") != "byte theirs\n" {
		t.Errorf("%q", got)
	}
	if a := send(t, s, "?replace=true", servertest.File{"C_B.1.def", "byte mine\n"}); a.Files[0].Result != "replaced" || servertest.OnDisk(t, dir, "C_B.1.def") != "byte mine\n" {
		t.Errorf("%+v", a.Files)
	}
}

// between runs a function before each write.
type between struct {
	workspace.Files
	before func(name string)
}

func (b *between) Write(name string, text []byte, expect *store.Revision) (store.Revision, error) {
	b.before(name)
	return b.Files.Write(name, text, expect)
}

// A client that disconnects during an upload leaves nothing behind.
func TestUploadThatBreaksOff(t *testing.T) {
	s, dir := testServerOf(t, nil)
	done := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		s.ServeHTTP(w, r)
	}))
	defer srv.Close()
	kind, body := formOf(t, servertest.File{"C_A.1.def", "byte a\n"}, servertest.File{"C_B.1.def", "byte b\n"})
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /api/one/upload HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", kind, len(body), body[:len(body)-20])
	conn.Close()
	<-done
	if left := tree(t, dir); len(left) > 0 {
		t.Errorf("stored all the same: %q", left)
	}
}
