package server

import (
	"bytes"
	"net/http"
	"net/url"
	"testing"

	"wirebench/server/frames"
	"wirebench/server/servertest"
)

// The frames of a type are compared with those of another capture, in their order.
func TestDifferingFrames(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	chat := servertest.Chat(t, 50)
	a := servertest.Keep(t, s, "a", chat).ID
	text := []byte("t\x00e\x00x\x00t\x00 \x007\x00") // frame 8
	if bytes.Count(chat, text) != 1 {
		t.Fatal("the text is not there once")
	}
	b := servertest.Keep(t, s, "b", bytes.Replace(chat, text, []byte("t\x00e\x00x\x00t\x00 \x00X\x00"), 1)).ID
	short := servertest.Keep(t, s, "short", servertest.Chat(t, 30)).ID
	ask := func(one, other, filter string) (out frames.DifferingFrames) {
		t.Helper()
		if code := servertest.Request(t, s, "GET", "/api/one/captures/"+one+"/differences?with="+other+"&type="+url.QueryEscape(filter), nil, &out); code != http.StatusOK {
			t.Fatal(code)
		}
		return out
	}
	if got := ask(a, b, "C_SAY"); got.A != 40 || got.B != 40 || got.Compared != 40 || got.Differ != 1 || len(got.Rows) != 1 || got.Rows[0] != (frames.Differing{A: 8, B: 8, Path: "text", Was: `"text 7"`, Is: `"text X"`}) {
		t.Errorf("%+v", got)
	}
	if got := ask(a, b, "op == 0x7777"); got.Differ != 0 || got.Compared != 10 || len(got.Rows) != 0 || got.Rows == nil {
		t.Errorf("%+v", got)
	}
	if got := ask(a, short, "C_SAY"); got.A != 40 || got.B != 24 || got.Compared != 24 || got.Differ != 0 {
		t.Errorf("%+v", got)
	}
	if got := ask(a, b, "dir == c2s"); got.Differ != 1 {
		t.Errorf("%+v", got)
	}

	// Bytes that the definition does not explain differ, too.
	s = captureServer(t, "tera", map[string]string{"C_SAY.1.def": "uint16 at\n", "protocol.1.map": "C_SAY 4097\n"})
	a, b = servertest.Keep(t, s, "a", chat).ID, servertest.Keep(t, s, "b", bytes.Replace(chat, text, []byte("t\x00e\x00x\x00t\x00 \x00X\x00"), 1)).ID
	if got := ask(a, b, "C_SAY"); got.Differ != 1 || len(got.Rows) != 1 || got.Rows[0].A != 8 || got.Rows[0].Path == "" || got.Rows[0].More != 0 || got.Rows[0].Was == got.Rows[0].Is {
		t.Errorf("behind the definition: %+v", got)
	}
	for _, wrong := range []string{"?with=" + b + "&type=len+>", "?with=" + b, "?with=none&type=C_SAY"} {
		if code := servertest.Request(t, s, "GET", "/api/one/captures/"+a+"/differences"+wrong, nil, nil); code != 404 && code != 422 {
			t.Errorf("%s: %d", wrong, code)
		}
	}
}
