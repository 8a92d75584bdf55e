package server

import (
	"encoding/json"
	"net/url"
	"testing"

	"wirebench/server/frames"
	"wirebench/server/servertest"
)

// Events of packets are rows of a capture for which they are wanted. They are filtered and marked like others, and count as frames nowhere.
func TestPacketRows(t *testing.T) {
	s := captureServer(t, "tera", servertest.ChatFiles)
	id := servertest.Keep(t, s, "lossy", servertest.Lossy(t)).ID
	answers := func() (all []string) {
		t.Helper()
		for _, path := range []string{"types", "problems", "connections?ends=port", "timeline?buckets=10", "replies", "follow?n=1"} {
			var got json.RawMessage
			if code := servertest.Request(t, s, "GET", "/api/v1/one/captures/"+id+"/"+path, nil, &got); code != 200 {
				t.Fatalf("%s: %d", path, code)
			}
			all = append(all, string(got))
		}
		return all
	}
	rows := func(filter string) (out struct {
		Rows  []frames.Row
		Total int
	},
	) {
		t.Helper()
		if code := servertest.Request(t, s, "GET", "/api/v1/one/captures/"+id+"/rows?filter="+url.QueryEscape(filter), nil, &out); code != 200 {
			t.Fatal(code)
		}
		return out
	}
	before, frames := answers(), rows("")
	marked := frames.Rows[15]
	if code, got := servertest.Patch(t, s, id, `{"mark":["`+marked.ID.String()+`"]}`); code != 200 {
		t.Fatal(got)
	}
	if none := rows("kind == packet"); len(none.Rows) != 0 {
		t.Fatalf("%+v", none)
	}
	if code, got := servertest.Patch(t, s, id, `{"packets":true}`); code != 200 {
		t.Fatal(got)
	}
	told := rows("kind == packet")
	if len(told.Rows) != 2 || told.Rows[0].Info != "lost: 24 bytes" || told.Rows[1].Info != "FIN" || told.Rows[0].Type != "kind == packet" || told.Total != frames.Total+2 {
		t.Fatalf("%+v", told)
	}
	if n := told.Rows[0].N; n < 10 || n > 13 {
		t.Errorf("the loss is row %d", n)
	}
	if same := rows("!(kind == packet)"); len(same.Rows) != len(frames.Rows) {
		t.Errorf("%d other rows of %d", len(same.Rows), len(frames.Rows))
	}
	if found := rows("mark"); len(found.Rows) != 1 || found.Rows[0].ID != marked.ID || found.Rows[0].N != marked.N+1 {
		t.Errorf("%+v is marked, not %+v", found.Rows, marked)
	}
	number := func(text string) string { // of the first frames, which later ones do not change
		var any map[string]json.RawMessage
		_ = json.Unmarshal([]byte(text), &any)
		delete(any, "after")
		b, _ := json.Marshal(any)
		return string(b)
	}
	for i, got := range answers()[:5] {
		if i != 1 && number(got) != number(before[i]) { // problems name the first frame by its number
			t.Errorf("with events:\n%s\nwithout:\n%s", got, before[i])
		}
	}
	if code, got := servertest.Patch(t, s, id, `{"packets":false}`); code != 200 {
		t.Fatal(got)
	}
	if again := rows("mark"); len(again.Rows) != 1 || again.Rows[0].N != marked.N || again.Total != frames.Total {
		t.Errorf("%+v", again)
	}
}
