package server

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"wirebench/codec/packettest"
	"wirebench/codec/paste"
	"wirebench/defs/schema"
	"wirebench/server/api"
	"wirebench/server/servertest"
	"wirebench/server/store"
)

// listed returns a summary of the frames of a capture.
func listed(t *testing.T, s *Server, id string) (out string) {
	t.Helper()
	var f servertest.Frames
	if code := servertest.Request(t, s, "GET", "/api/one/captures/"+id+"/frames?value=true", nil, &f); code != 200 || !f.Done {
		t.Fatalf("%d %+v", code, f)
	}
	for _, x := range f.Frames {
		out += fmt.Sprintf("%s %s %s|", x.Kind, x.Dir, x.Message)
	}
	return out
}

// A framing set at upload or later determines how the file is read from then on.
func TestFramingOfACapture(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	raw := []byte("\x06\x01\x02\x00hi\x00\x02\x02")
	var x store.Capture
	if code := servertest.Request(t, s, "POST", "/api/one/captures?name=raw.bin&framing=prefixed:1%2Bself%2Bc2s", raw, &x); code != 201 || x.Framing != "prefixed:1+self+c2s" {
		t.Fatalf("%d %+v", code, x)
	}
	if got := listed(t, s, x.ID); got != "message c2s say|problem c2s |" {
		t.Error(got)
	}
	if code, _ := servertest.Patch(t, s, x.ID, `{"framing":"fixed:9+c2s"}`); code != 200 {
		t.Fatal(code)
	}
	if got := listed(t, s, x.ID); got != "message c2s |" {
		t.Error(got)
	}
	if code := servertest.Request(t, s, "POST", "/api/one/captures?name=raw.bin&framing=lines", raw, nil); code != 422 {
		t.Error(code)
	}
	file, _ := exported(t, s, x.ID, "format=pcapng")
	if !strings.Contains(file, "\x06\x01\x02\x00hi") {
		t.Errorf("%q", file)
	}
}

// The framing "envelope" reads raw bytes by the envelope of the project: when it is tried, when the file is stored, and when it is set later.
// An envelope over datagrams cannot, and says so.
func TestEnvelopeAsFraming(t *testing.T) {
	const text = "frame length u8\ncode u8\n\nstate start\n  group clmsg\n  1 -> more: compress zlib on\n\nstate more\n  group clmsg\n"
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing, "protocol.envelope": text})
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write([]byte("\x02")); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	raw := append([]byte("\x05\x01\x02\x00hi"+string([]byte{byte(packed.Len())})), packed.Bytes()...)
	const want = "message c2s say|message c2s ping|"

	var tried api.FramingReport
	w := posted(s, "/api/one/framing", map[string]any{"framing": " Envelope+C2S", "hex": hex.EncodeToString(raw)})
	if err := json.Unmarshal(w.Body.Bytes(), &tried); err != nil || tried.Framing != "envelope+c2s" || len(tried.Frames) != 2 || tried.Frames[0].Message != "say" || tried.Frames[1].Message != "ping" || tried.Frames[1].Hex != "02" {
		t.Errorf("tried: %v %s", err, w.Body)
	}
	var x store.Capture
	if code := servertest.Request(t, s, "POST", "/api/one/captures?name=raw.bin&framing=envelope%2Bc2s", raw, &x); code != 201 || x.Framing != "envelope+c2s" {
		t.Fatalf("%d %+v", code, x)
	}
	if got := listed(t, s, x.ID); got != want {
		t.Error(got)
	}
	for _, step := range []struct{ framing, want string }{{"prefixed:varint+c2s", "message c2s say|message c2s |"}, {"envelope+c2s", want}} {
		if code, body := servertest.Patch(t, s, x.ID, `{"framing":"`+step.framing+`"}`); code != 200 {
			t.Fatal(code, body)
		}
		if got := listed(t, s, x.ID); got != step.want {
			t.Errorf("%s: %s", step.framing, got)
		}
	}

	s = captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing, "protocol.envelope": "carrier udp\nframe datagram\ncode u8\n"})
	if w := posted(s, "/api/one/framing", map[string]any{"framing": "envelope", "hex": "0102"}); w.Code != 422 || !strings.Contains(w.Body.String(), "that reads a stream") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	s = captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing, "protocol.envelope": "frame lenght u8\ncode u8\n"})
	if w := posted(s, "/api/one/framing", map[string]any{"framing": "envelope", "hex": "0102"}); w.Code != 422 || !strings.Contains(w.Body.String(), "protocol.envelope has mistakes") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A capture whose connections are split by a framing still has its packets; raw bytes have none.
func TestPacketsOfAFramedCapture(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	var file bytes.Buffer
	c, at := servertest.Conversation(t, &file)
	if err := c.Data(schema.ToServer, at, []byte("\x06\x01\x02\x00hi"), ""); err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]byte{file.Bytes(), []byte("\x06\x01\x02\x00hi")} {
		x := servertest.Keep(t, s, "x&framing=prefixed:1%2Bself", data)
		if got := listed(t, s, x.ID); !strings.HasSuffix(got, " say|") {
			t.Error(got)
		}
		var out struct {
			Packets []api.PacketInfo
			Note    string
		}
		code := servertest.Request(t, s, "GET", "/api/one/captures/"+x.ID+"/packets?n=4", nil, &out)
		if raw := len(data) < 10; code != 200 || raw != (len(out.Packets) == 0) || raw != (out.Note == "the file is raw bytes, without packets") {
			t.Errorf("%d %+v", code, out)
		}
	}
}

// Raw bytes have the same messages in every form, and by every way in.
func TestRawBytesInEveryForm(t *testing.T) {
	raw := []byte("\x06\x01\x02\x00hi\x00\x02\x02")
	forms := map[string][]byte{"raw.bin": raw, "raw.bin.gz": packettest.Gzipped(raw)}
	for name, data := range forms {
		s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
		var x store.Capture
		if code := servertest.Request(t, s, "POST", "/api/one/captures?name="+name+"&framing=prefixed:1%2Bself%2Bc2s", data, &x); code != 201 {
			t.Fatalf("%s: %d", name, code)
		}
		if got := listed(t, s, x.ID); got != "message c2s say|problem c2s |" {
			t.Errorf("%s over HTTP: %s", name, got)
		}
		var tried api.FramingReport
		w := posted(s, "/api/one/framing", map[string]any{"framing": "prefixed:1+self+c2s", "hex": hex.EncodeToString(data)})
		if err := json.Unmarshal(w.Body.Bytes(), &tried); err != nil || len(tried.Frames) != 2 || tried.Frames[0].Message != "say" {
			t.Errorf("%s tried: %v %s", name, err, w.Body)
		}
		send(t, s, "?framing=prefixed:1%2Bself%2Bc2s", servertest.File{name, string(data)})
		all, err := s.Projects.Find("one").Captures.List()
		if err != nil || len(all) != 2 {
			t.Fatalf("%s: %d captures, %v", name, len(all), err)
		}
		for _, x := range all {
			if got := listed(t, s, x.ID); got != "message c2s say|problem c2s |" {
				t.Errorf("%s uploaded: %s", name, got)
			}
		}
	}
	// A compressed text is read by the command line, so it is taken too; one that is too large to be read is not.
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	text := packettest.Gzipped([]byte("06 01 02 00 68 69\n"))
	if code := servertest.Request(t, s, "POST", "/api/one/captures?name=text.gz", text, nil); code != 201 {
		t.Errorf("a compressed text: %d", code)
	}
	large := packettest.Gzipped(bytes.Repeat([]byte("zz "), paste.MaxText/3+1))
	r := httptest.NewRequest("POST", "/api/one/captures?name=large.gz", bytes.NewReader(large))
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != 413 || !strings.Contains(w.Body.String(), "larger than 64 MiB") {
		t.Errorf("a text that is too large: %d %s", w.Code, w.Body)
	}
}

// A capture may take any time to arrive, as long as it arrives: each part of it has the time of its own.
func TestSlowCapture(t *testing.T) {
	s := captureServer(t, "muta", nil)
	body := io.MultiReader(strings.NewReader("ab"), strings.NewReader("cd"), strings.NewReader("ef"))
	w := &limits{ResponseRecorder: httptest.NewRecorder()}
	s.ServeHTTP(w, httptest.NewRequest("POST", "/api/one/captures?name=slow&framing=fixed:2", body))
	if w.Code != 201 || len(w.read) < 3 || len(w.write) < 3 {
		t.Errorf("%d, times to read %v, to write %v", w.Code, w.read, w.write)
	}
}

// Captures may be larger than other bodies.
func TestLargeCapture(t *testing.T) {
	s := captureServer(t, "muta", nil)
	var x store.Capture
	if code := servertest.Request(t, s, "POST", "/api/one/captures?name=large&framing=whole", bytes.Repeat([]byte("."), api.MaxBody+10), &x); code != 201 || x.Size != api.MaxBody+10 {
		t.Errorf("%d %+v", code, x)
	}
}

// The result page of an upload links to the captures in it.
func TestUploadPageOfCaptures(t *testing.T) {
	s := captureServer(t, "muta", nil)
	kind, form := formOf(t, servertest.File{"talk.log", servertest.TwoWays})
	r := httptest.NewRequest("POST", "/p/one/upload", bytes.NewReader(form))
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	all, err := s.Projects.Find("one").Captures.List()
	if err != nil || len(all) != 1 || w.Code != 200 || !strings.Contains(w.Body.String(), `<a href="/p/one/captures/`+all[0].ID) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
