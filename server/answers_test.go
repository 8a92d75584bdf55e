package server

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"wirebench/defs/schema"
	"wirebench/server/servertest"
)

// bombs is a definition of messages whose contents are compressed: a long text, and many small values.
const bombs = `{"types": {"varint": "native", "u8": "native", "container": "native", "switch": "native", "mapper": "native", "array": "native", "pstring": "native", "compressed": "native"},
"game": {"toServer": {"types": {
	"packet_text": ["container", [{"name": "c", "type": ["compressed", {"method": "zlib", "lengthType": "varint", "type": ["container", [
		{"name": "text", "type": ["pstring", {"countType": "varint"}]}]]}]}]],
	"packet_many": ["container", [{"name": "c", "type": ["compressed", {"method": "zlib", "lengthType": "varint", "type": ["container", [
		{"name": "list", "type": ["array", {"countType": "varint", "type": ["container", [{"name": "id", "type": "u8"}, {"name": "of", "type": "u8"}]]}]}]]}]}]],
	"packet": ["container", [
		{"name": "name", "type": ["mapper", {"type": "varint", "mappings": {"1": "text", "2": "many"}}]},
		{"name": "params", "type": ["switch", {"compareTo": "name", "fields": {"text": "packet_text", "many": "packet_many"}}]}]]
}}}}`

// bombCapture is a capture of a few kilobytes whose messages are many megabytes.
func bombCapture(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	s, at := servertest.Conversation(t, &out)
	body := func(n int, contents []byte) []byte {
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		_, _ = w.Write(append(binary.AppendUvarint(nil, uint64(n)), contents...))
		_ = w.Close()
		return append(binary.AppendUvarint(nil, uint64(z.Len())), z.Bytes()...)
	}
	const long, many = 1_000_000, 10_000
	text, list := body(long, bytes.Repeat([]byte{'a'}, long)), body(many, make([]byte, 2*many))
	for i := range 8 {
		code, contents := byte(1), text
		if i%2 == 1 {
			code, contents = 2, list
		}
		at = at.Add(10 * time.Millisecond)
		frame := slices.Concat([]byte{0, 0, 0, code}, contents)
		frame[0], frame[1], frame[2] = byte(len(frame)>>16), byte(len(frame)>>8), byte(len(frame))
		if err := s.Data(schema.ToServer, at, frame, ""); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// An answer has a bound in bytes, whatever a capture decompresses to, and says what it leaves out.
func TestAnswersAreBounded(t *testing.T) {
	s := captureServer(t, "protodef", map[string]string{"game.json": bombs, "protocol.envelope": "frame length u24 be including itself\ncode varint\ngroup game\n"})
	id := servertest.Keep(t, s, "bombs.pcapng", bombCapture(t)).ID
	of := "/api/v1/one/captures/" + id
	columns := strings.Repeat("&columns=.c.text", 64)
	const most = 9 << 20
	for _, path := range []string{
		"/frames?count=1000", "/frames?count=1000&value=true", "/frames/1", "/frames/2", "/rows?count=500", "/rows?count=500" + columns,
		"/find?text=a&as=text", "/types", "/problems", "/connections", "/connections?ends=port", "/replies", "/graph?field=.c.list.id", "/follow?n=1", "/follow?n=2", "/timeline?buckets=100000", "/timeline?buckets=4000",
		"/map?buckets=4000", "/fields?type=text&count=500", "/fields?type=many&count=500", "/compare?a=1&b=3", "/compare?a=2&b=4", "/compare?a=1&b=2", "/related?n=1", "/packets", "/proposals",
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", of+path, nil))
		t.Logf("%3d %9d bytes %s", w.Code, w.Body.Len(), path[:min(len(path), 40)])
		if w.Body.Len() > most {
			t.Errorf("GET %s: %d bytes, at most %d", path, w.Body.Len(), most)
		}
	}
	var got struct {
		Frames []struct {
			Message string
			LeftOut string `json:"left_out"`
			Value   json.RawMessage
		}
		Note string
	}
	if code := servertest.Request(t, s, "GET", of+"/frames?count=1000&value=true", nil, &got); code != 200 || len(got.Frames) == 0 {
		t.Fatalf("%d, %d frames", code, len(got.Frames))
	}
	for i, f := range got.Frames {
		if large := i%2 == 0; large != (f.LeftOut != "") || large == (f.Value != nil) || large && !strings.Contains(f.LeftOut, "value") {
			t.Errorf("frame %d, %s: %q, %d bytes of values", i+1, f.Message, f.LeftOut, len(f.Value))
		}
	}
}
