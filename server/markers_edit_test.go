package server

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wirebench/server/servertest"
	"wirebench/server/store"
)

// Markers are changed, removed and restored, individually even if several are at the same frame; all changes are on disk.
func TestEditMarkers(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	x := servertest.Keep(t, s, "chat.pcapng", servertest.Chat(t, 10))
	path := "/api/one/captures/" + x.ID + "/markers"
	var one, two store.Marker
	servertest.AskJSON(t, s, "POST", path, `{"text":"HP = 5","n":3}`, &one)
	servertest.AskJSON(t, s, "POST", path, `{"text":"open inventory","n":3}`, &two)
	if one.At.Equal(two.At) || one.Value != "5" {
		t.Fatalf("%+v %+v", one, two)
	}
	of := func(m store.Marker) string { return path + "/" + url.PathEscape(m.At.Format(time.RFC3339Nano)) }
	kept := func(want ...store.Marker) {
		t.Helper()
		kept, err := s.Projects.Find("one").Captures.Get(x.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, kept.Notes.Markers); diff != "" {
			t.Error(diff)
		}
	}
	kept(one, two)

	var got store.Marker
	for _, test := range []struct{ body, text, value string }{
		{`{"text":"max HP = 6 "}`, "max HP = 6", "6"},       // the value came from the text
		{`{"value":"7"}`, "max HP = 6", "7"},                // and is now set explicitly
		{`{"text":"full health"}`, "full health", "7"},      // and stays
		{`{"text":"HP = 5","value":"5"}`, "HP = 5", "5"},    // both, as from an undo
		{`{"text":"nothing to see"}`, "nothing to see", ""}, // the text has no value
		{`{}`, "nothing to see", ""},
	} {
		got = store.Marker{}
		if code := servertest.AskJSON(t, s, "PATCH", of(one), test.body, &got); code != 200 || got.Text != test.text || got.Value != test.value || !got.At.Equal(one.At) {
			t.Errorf("%s: %d %+v", test.body, code, got)
		}
		kept(got, two)
	}
	got = store.Marker{}
	if code := servertest.AskJSON(t, s, "PATCH", of(one), `{"n":9}`, &got); code != 200 || got.N != 9 {
		t.Errorf("moved: %d %+v", code, got)
	}
	kept(two, got) // in order of frames
	if code := servertest.Request(t, s, "DELETE", of(two), nil, nil); code != 204 {
		t.Errorf("delete: %d", code)
	}
	kept(got)
	for _, test := range []struct {
		method, path, body string
		want               int
	}{
		{"DELETE", of(two), "", 404},
		{"PATCH", of(two), `{"text":"x"}`, 404},
		{"PATCH", path + "/yesterday", `{"text":"x"}`, 422},
		{"PATCH", of(got), `{"n":0}`, 422},
		{"PATCH", of(got), `{"text":"` + strings.Repeat("ä", 300) + `"}`, 422},
		{"PATCH", strings.Replace(of(got), x.ID, "none", 1), `{"text":"x"}`, 404},
		{"POST", path, `{"text":"again","n":1,"at":"` + got.At.Format(time.RFC3339Nano) + `"}`, 409},
	} {
		if code := servertest.AskJSON(t, s, test.method, test.path, test.body, nil); code != test.want {
			t.Errorf("%s %s %s: %d, want %d", test.method, test.path, test.body, code, test.want)
		}
	}
	kept(got)
	// Undo: the same marker as before.
	var back store.Marker
	if code := servertest.AskJSON(t, s, "POST", path, `{"text":"open inventory","n":3,"value":"","at":"`+two.At.Format(time.RFC3339Nano)+`"}`, &back); code != 201 || back != two {
		t.Errorf("%d %+v, want %+v", code, back, two)
	}
	kept(two, got)
}

// Markers set at the same instant are distinguished.
func TestMarkersOfOneInstant(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	var x store.Capture
	servertest.Request(t, s, "POST", "/api/one/captures?name=chat.pcapng", servertest.Chat(t, 10), &x)
	soon := store.Marker{N: 1, At: time.Now().Add(200 * time.Millisecond).UTC(), Text: "soon"}
	_, err := s.Projects.Find("one").Captures.Note(x.ID, func(n *store.Notes) {
		for i := range 3 {
			m := soon
			m.At = m.At.Add(time.Duration(i))
			n.Markers = append(n.Markers, m)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if code := servertest.AskJSON(t, s, "POST", "/api/one/captures/"+x.ID+"/markers", `{"text":"x","n":1}`, nil); code != 201 {
			t.Fatal(code)
		}
	}
	kept, _ := s.Projects.Find("one").Captures.Get(x.ID)
	var at []time.Time
	for _, m := range kept.Notes.Markers {
		at = append(at, m.At)
	}
	slices.SortFunc(at, time.Time.Compare)
	if all := len(at); all != 53 || len(slices.CompactFunc(at, time.Time.Equal)) != all {
		t.Errorf("%d markers, of which some have one time", all)
	}
}
