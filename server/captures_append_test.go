package server

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"wirebench/server/live"
	"wirebench/server/servertest"
	"wirebench/server/store"
)

// A capture sent in pieces is consistent at any time, and a client that missed a response learns where to continue.
func TestAppendCapture(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": servertest.SayAndPing})
	x := servertest.Keep(t, s, "raw.bin&framing=prefixed:1%2Bself%2Bc2s", []byte("\x06\x01\x02\x00hi"))
	if got := listed(t, s, x.ID); got != "message c2s say|" {
		t.Error(got)
	}
	path := "/api/one/captures/" + x.ID + "/append?offset="
	var grown store.Capture
	if code := servertest.Request(t, s, "POST", path+"6", []byte("\x06\x01\x02\x00"), &grown); code != 200 || grown.Size != 10 || grown.ID != x.ID {
		t.Errorf("%d %+v", code, grown)
	}
	var wrong struct {
		Offset int64
		Detail string
	}
	if code := servertest.Request(t, s, "POST", path+"6", []byte("\x06\x01\x02\x00"), &wrong); code != 409 || wrong.Offset != 10 || wrong.Detail == "" {
		t.Errorf("%d %+v", code, wrong)
	}
	if code := servertest.Request(t, s, "POST", path+"10", []byte("yo"), nil); code != 200 {
		t.Error(code)
	}
	if got := listed(t, s, x.ID); got != "message c2s say|message c2s say|" {
		t.Errorf("what was open is not read again: %s", got)
	}
	for _, test := range []struct {
		path string
		body int
		want int
	}{
		{"/api/one/captures/none/append?offset=0", 1, 404},
		{"/api/none/captures/" + x.ID + "/append?offset=12", 1, 404},
		{path + "-1", 1, 422},
		{path + "x", 1, 422},
		{"/api/one/captures/" + x.ID + "/append", 1, 422},
		{path + "12", store.MaxAppend + 1, http.StatusRequestEntityTooLarge},
	} {
		if code := servertest.Request(t, s, "POST", test.path, bytes.Repeat([]byte("x"), test.body), nil); code != test.want {
			t.Errorf("%s: %d, want %d", test.path, code, test.want)
		}
	}
	s.captures.Live("one", x.ID, live.New(0), make(chan struct{}))
	if code := servertest.Request(t, s, "POST", path+"12", []byte("x"), nil); code != 403 {
		t.Errorf("to one that is being recorded here: %d", code)
	}
	s.captures.Ended("one", x.ID)
	if code := servertest.Request(t, s, "POST", path+fmt.Sprint(12), bytes.Repeat([]byte("\x01"), store.MaxAppend), nil); code != 200 {
		t.Errorf("as much as may be: %d", code)
	}
}
