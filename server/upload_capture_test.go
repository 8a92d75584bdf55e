package server

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"wirebench/codec/pcap"
	"wirebench/server/api"
	"wirebench/server/servertest"
)

// Captures among the files of a form are stored as captures, other files are not.
func TestUploadOfCaptures(t *testing.T) {
	var file bytes.Buffer
	if _, err := pcap.NewWriter(&file, "test"); err != nil {
		t.Fatal(err)
	}
	var packed, letter bytes.Buffer
	for to, data := range map[*bytes.Buffer]string{&packed: file.String(), &letter: "a letter"} {
		z := gzip.NewWriter(to)
		z.Write([]byte(data))
		z.Close()
	}
	connectionLog := "\x01\x13\x00TeraConnectionLog\x05\x04\x00\x01\x00"
	raw := "\x04\x00ab\x05\x00abc"
	s := captureServer(t, "muta", nil)
	for _, c := range []struct {
		name, query, data string
		result, reason    string
		framing           string // framing of the stored capture
	}{
		{"dir/a.pcapng", "", file.String(), "new", "", ""},
		{"no name that says so", "", file.String(), "new", "", ""},
		{"a.gz", "", packed.String(), "new", "", ""},
		{"b.gz", "", letter.String(), "skipped", "its content is not one", ""},
		{"follow.txt", "", servertest.TwoWays, "new", "", ""},
		{"talk.log", "", servertest.TwoWays, "new", "", ""},
		{"game.def", "", servertest.SayAndPing, "new", "", ""},
		{"words.log", "", "words\n", "skipped", "its content is not one", ""},
		{"words.docx", "", "words\n", "skipped", "not a definition", ""},
		{"packets_1.log", "", "2024-05-01T12:00:00Z | S->C | 1 | UNKNOWN | RAW: 04000100\n", "new", "", ""},
		{"c.bin", "", connectionLog, "new", "", ""},
		{"c.bin.gz", "", gzippedText(connectionLog), "new", "", ""},
		{"long.bin", "", connectionLog + strings.Repeat("\x04\x04\x00\x01\x00", 30000), "new", "", ""},
		{"x.pkt", "", "TPPL\x01\x00\x00\x00" + strings.Repeat("\x00", 10), "new", "", ""},
		{"raw.pkt", "", "TPP" + raw, "skipped", "set a framing", ""},
		{"raw.bin", "", strings.Repeat(raw, 10000), "skipped", "set a framing", ""},
		{"raw.bin", "", raw, "skipped", "set a framing", ""},
		{"raw", "", raw, "skipped", "set a framing", ""},
		{"raw.bin", "?framing=prefixed:2LE%2Bself", raw, "new", "", "prefixed:2le+self"},
		{"x.pcapng", "?framing=fixed:4", file.String(), "new", "", ""},
		{"x.mcpr", "", string(servertest.Zip(t, servertest.File{"metaData.json", "{}"}, servertest.File{"recording.tmcpr", "\x00\x00\x00\x01\x00\x00\x00\x01a"})), "new", "", ""},
		{"raw.zip", "", string(servertest.Zip(t, servertest.File{"1.bin", raw}, servertest.File{"2.bin", raw})), "new", "", ""},
		{"raw.zip", "?framing=prefixed:2LE%2Bself", string(servertest.Zip(t, servertest.File{"1", raw}, servertest.File{"2", raw})), "new", "", "prefixed:2le+self"},
		{"raw.zip", "?framing=prefixed:2LE%2Bself", string(servertest.Zip(t, servertest.File{"1.x", raw}, servertest.File{"2.x", raw})), "new", "", "prefixed:2le+self"},
		{"dump.har", "", `{"log":{"creator":{},"entries":[]}}`, "new", "", ""},
		{"dump.json", "", `[{"_source":{"layers":{"frame_raw":["00",0,1,0,1]}}}]`, "new", "", ""},
		{"flows", "", "24:4:type;3:tcp;8:messages;0:]}", "new", "", ""},
	} {
		a := send(t, s, c.query, servertest.File{c.name, c.data})
		var report api.UploadReport
		if err := json.Unmarshal([]byte(a.text), &report); err != nil {
			t.Fatal(err)
		}
		if len(report.Files) != 1 {
			t.Errorf("%s: %s", c.name, a.text)
			continue
		}
		f := report.Files[0]
		kept := c.result == "new" && !strings.HasSuffix(c.name, ".def")
		if f.Result != c.result || !strings.Contains(f.Reason, c.reason) || kept != (f.Capture != "") || (c.result == "new") != (report.Stored == 1) {
			t.Errorf("%s%s: %s", c.name, c.query, a.text)
			continue
		}
		if kept {
			x, err := s.Projects.Find("one").Captures.Get(f.Capture)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest("GET", "/api/one/captures/"+f.Capture, nil))
			if err != nil || x.Framing != c.framing || strings.Contains(x.Name, "/") || w.Body.String() != c.data {
				t.Errorf("%s: %+v %v", c.name, x, err)
			}
		}
	}
	if a := send(t, s, "?framing=lines", servertest.File{"raw.bin", raw}); a.Status != 422 || !strings.Contains(a.text, "is not a framing") {
		t.Error(a.text)
	}
}

// The captures in an archive are stored individually, and the definitions of a zip file too.
func TestUploadOfCapturesInArchives(t *testing.T) {
	var file bytes.Buffer
	if _, err := pcap.NewWriter(&file, "test"); err != nil {
		t.Fatal(err)
	}
	a, b := servertest.File{"dir/a.pcapng", file.String()}, servertest.File{"b.pcap.gz", gzippedText(file.String())}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	for _, f := range []servertest.File{a, b} {
		if err := w.WriteHeader(&tar.Header{Name: f[0], Mode: 0o600, Size: int64(len(f[1]))}); err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(f[1]))
	}
	w.Close()
	z.Close()
	for _, c := range []struct {
		name, data string
		captures   int
		want       string // results, in order
	}{
		{"two.zip", string(servertest.Zip(t, a, b)), 2, "new new"},
		{"two.tar.gz", packed.String(), 2, "new new"},
		{"mixed.zip", string(servertest.Zip(t, a, servertest.File{"game.def", servertest.SayAndPing}, servertest.File{"letter.docx", "words"})), 1, "new new skipped"},
		{"cut.zip", string(servertest.Zip(t, a))[:40], 0, "error"},
		{"none.zip", string(servertest.Zip(t, servertest.File{"letter.docx", "words"})), 0, "skipped"},
	} {
		s := captureServer(t, "muta", nil)
		answer := send(t, s, "", servertest.File{c.name, c.data})
		var report api.UploadReport
		if err := json.Unmarshal([]byte(answer.text), &report); err != nil {
			t.Fatal(err)
		}
		var got []string
		kept := 0
		for _, f := range report.Files {
			got = append(got, f.Result)
			if f.Capture != "" {
				if kept++; f.From != c.name {
					t.Errorf("%s: %+v", c.name, f)
				}
			}
		}
		all, err := s.Projects.Find("one").Captures.List()
		if strings.Join(got, " ") != c.want || kept != c.captures || len(all) != c.captures || err != nil {
			t.Errorf("%s: %s", c.name, answer.text)
		}
	}
}

func gzippedText(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}

// An incomplete form stores no capture.
func TestUploadThatBreaksOffKeepsNoCapture(t *testing.T) {
	var file bytes.Buffer
	if _, err := pcap.NewWriter(&file, "test"); err != nil {
		t.Fatal(err)
	}
	s := captureServer(t, "muta", nil)
	kind, form := formOf(t, servertest.File{"a.pcapng", file.String()}, servertest.File{"b.pcapng", file.String()})
	for _, n := range []int{len(form) - 3, len(form) - 30, len(form) / 2} {
		r := httptest.NewRequest("POST", "/api/one/upload", bytes.NewReader(form[:n]))
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		all, err := s.Projects.Find("one").Captures.List()
		if w.Code != http.StatusBadRequest || err != nil || len(all) != 0 {
			t.Errorf("%d of %d bytes: %d, %d captures, %v", n, len(form), w.Code, len(all), err)
		}
	}
}
