package server

import (
	"testing"

	"wirebench/server/api"
	"wirebench/server/servertest"
)

// The list of captures says what those have that were read, as long as they would be read so again.
func TestCaptureCounts(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	id := servertest.Keep(t, s, "lossy", servertest.Lossy(t)).ID
	servertest.Keep(t, s, "chat", servertest.Chat(t, 5))
	list := func(known string) (got api.CaptureList) {
		t.Helper()
		if code := servertest.Request(t, s, "GET", "/api/v1/one/captures?brief=true&known="+known, nil, &got); code != 200 {
			t.Fatal(code)
		}
		return got
	}
	before := list("")
	if len(before.Counts) != 0 || len(before.Captures) != 2 {
		t.Fatalf("%+v", before)
	}
	read := func() {
		t.Helper()
		if code := servertest.Request(t, s, "GET", "/api/v1/one/captures/"+id+"/rows?count=1", nil, nil); code != 200 {
			t.Fatal(code)
		}
	}
	read()
	after := list(before.Tag)
	if n := after.Counts[id]; after.Same || len(after.Counts) != 1 || n.Frames != 21 || n.Problems != 1 {
		t.Fatalf("%+v", after)
	}
	if !list(after.Tag).Same {
		t.Error("the list has not changed since")
	}
	if code, got := servertest.Patch(t, s, id, `{"packets":true}`); code != 200 { // then it would be read otherwise
		t.Fatal(got)
	}
	if now := list(""); len(now.Counts) != 0 {
		t.Errorf("%+v", now.Counts)
	}
	read()
	if n := list("").Counts[id]; n.Frames != 21 || n.Problems != 1 {
		t.Errorf("with events of packets: %+v", n)
	}
}
