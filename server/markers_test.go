package server

import (
	"fmt"
	"testing"

	"wirebench/server/api"
	"wirebench/server/servertest"
	"wirebench/server/store"
)

// A marker finds the field with its value, and filters can test what came after it.
func TestMarkers(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	x := servertest.Keep(t, s, "chat.pcapng", servertest.Chat(t, 2000))
	path := "/api/one/captures/" + x.ID
	if code := servertest.AskJSON(t, s, "POST", path+"/markers", `{"text":"say = text 1000"}`, nil); code != 422 {
		t.Errorf("a marker at no moment: %d", code)
	}
	var m store.Marker
	if code := servertest.AskJSON(t, s, "POST", path+"/markers", `{"text":"say = text 1000","n":1001}`, &m); code != 201 || m.Value != "text 1000" || m.N != 1001 {
		t.Fatalf("%d %+v", code, m)
	}
	if code := servertest.AskJSON(t, s, "POST", path+"/markers", `{"text":"later","n":1900}`, nil); code != 201 {
		t.Fatal(code)
	}
	var f servertest.Frames
	if code := servertest.Request(t, s, "GET", path+`/frames?filter=marker+%3D%3D+"say+%3D+text+1000"`, nil, &f); code != 200 || f.Fit != 899 {
		t.Errorf("after the marker: %d, %d frames", code, f.Fit)
	}
	var r struct {
		Types  []api.RelatedType
		Fields []api.RelatedField
		Value  string
	}
	if code := servertest.Request(t, s, "GET", path+"/related?n=1001", nil, &r); code != 200 || r.Value != "text 1000" {
		t.Fatalf("%d %+v", code, r)
	}
	if want := (api.RelatedField{Type: "C_SAY", Name: "C_SAY", Path: "text", Here: 1, First: 1001, Filter: `C_SAY && *.text == "text 1000"`}); len(r.Fields) == 0 || r.Fields[0] != want {
		t.Errorf("fields: %+v, want %+v first", r.Fields, want)
	}
	for _, one := range r.Types {
		if one.Factor > 1.1 {
			t.Errorf("%+v: these messages are the same all the time", one)
		}
	}
	// A number in a message without a definition, as all of the server's are.
	if code := servertest.Request(t, s, "GET", path+fmt.Sprintf("/related?n=1001&value=%d", 't'|'e'<<16), nil, &r); code != 200 || len(r.Fields) == 0 || r.Fields[0].Path != "bytes[6:4] as u32" {
		t.Errorf("%d %+v", code, r.Fields)
	}
}
