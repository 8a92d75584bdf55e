package server

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"wirebench/server/page"
	"wirebench/server/servertest"
	"wirebench/server/store"
)

// settingsServer returns a server with two captures of the same packets, whose messages have another name and size in each of two versions.
func settingsServer(t *testing.T) (s *Server, ids [2]string) {
	t.Helper()
	data := string(servertest.Chat(t, 20))
	s = captureServer(t, "tera", map[string]string{
		"C_SAY.1.def": "string text\n", "C_OLD.1.def": "string text\nint32 more ^70\n", "protocol.1.map": "C_OLD 4097\n", "protocol.2.map": "C_SAY 4097\n",
	}, data, data)
	list, err := s.Projects.Find("one").Captures.List()
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	return s, [2]string{list[0].ID, list[1].ID}
}

func captureOf(id string) string { return "/api/v1/one/captures/" + id }

// Captures of two versions of a game are read side by side.
func TestSettingsOfCaptures(t *testing.T) {
	s, ids := settingsServer(t)
	a, b := captureOf(ids[0]), captureOf(ids[1])
	rows := "/rows?count=1&from=2&filter=" + url.QueryEscape("dir == c2s")
	talk(t, s, []exchange{
		{"without a map nothing is known", "GET " + a + rows, "", 200, []string{`"status":"unknown"`}, nil},
		{"the old version", "PATCH " + a, `{"settings":{"map":"protocol.1.map","patch":"27.07"}}`, 200, []string{`"settings":{"map":"protocol.1.map","patch":"27.07"}`}, nil},
		{"the new version", "PATCH " + b, `{"settings":{"map":"protocol.2.map","patch":"98.02"}}`, 200, nil, nil},
		{"rows of the old", "GET " + a + rows, "", 200, []string{`"name":"C_OLD"`, `"status":"ok"`}, nil},
		{"rows of the new", "GET " + b + rows, "", 200, []string{`"name":"C_SAY"`, `"status":"ok"`}, nil},
		{"frames", "GET " + a + "/frames?count=1&value=true", "", 200, []string{`"message":"C_OLD"`, `"value":{"text":"text 0"}`}, []string{`"more":`}},
		{"a filter while it is typed", "POST /api/v1/one/filter", `{"text":"C_OLD","capture":"` + ids[0] + `"}`, 200, []string{`"ok":true`}, nil},
		{"types", "GET " + a + "/types", "", 200, []string{"C_OLD"}, []string{"C_SAY"}},
		{"the field table", "GET " + a + "/fields?type=C_OLD", "", 200, []string{`"path":"text"`}, []string{`"path":"more"`}},
		{"an export", "GET " + a + "/export?format=jsonl&frames=1", "", 200, []string{`"message":"C_OLD"`}, nil},
		{"a comparison", "GET " + b + "/compare?a=1&b=2", "", 200, []string{"text 0", "text 1"}, nil},
		{"what is in force", "GET " + a + "/settings", "", 200, []string{
			`"settings":{"map":"protocol.1.map","patch":"27.07"}`, `"inherited":{}`, `"map":"protocol.1.map"`, `"maps":["protocol.1.map","protocol.2.map"]`, `"value":"27.07","inherited":""`,
		}, nil},
		{"another patch, and the map of the project", "PATCH " + a, `{"settings":{"patch":"98.02","map":null}}`, 200, []string{`"settings":{"patch":"98.02"}`}, nil},
		{"the project chooses a map", "PATCH /api/v1/one", `{"map":"protocol.1.map"}`, 200, nil, nil},
		{"which applies to the capture", "GET " + a + "/frames?count=1&value=true", "", 200, []string{`"message":"C_OLD"`, `"more":`}, nil},
		{"but not to the other", "GET " + b + "/frames?count=1", "", 200, []string{`"message":"C_SAY"`}, nil},
		{"all is reset", "PATCH " + b, `{"settings":null}`, 200, nil, []string{`"settings"`}},
		{"to that of the project", "GET " + b + "/frames?count=1", "", 200, []string{`"message":"C_OLD"`}, nil},
		{"a map that is not there", "PATCH " + a, `{"settings":{"map":"protocol.9.map"}}`, 422, []string{"no code map"}, nil},
		{"a patch that is none", "PATCH " + a, `{"settings":{"patch":"new"}}`, 422, []string{"not a game version"}, nil},
		{"a setting that is none", "PATCH " + a, `{"settings":{"patches":"1"}}`, 422, nil, nil},
		{"a port that is none", "PATCH " + a, `{"settings":{"ports":[0]}}`, 422, nil, nil},
		{"a group that is none", "PATCH " + a, `{"settings":{"groups":["clmsg"]}}`, 422, []string{"no groups"}, nil},
		{"no capture", "PATCH " + captureOf("x"), `{"settings":{"patch":"98"}}`, 404, nil, nil},
		{"what was refused has changed nothing", "GET " + a + "; Accept: application/json", "", 200, []string{`"settings":{"patch":"98.02"}`}, nil},
	})
}

// A request is answered with its own settings.
func TestSettingsOfRequest(t *testing.T) {
	s, _ := settingsServer(t)
	const over = `"settings":{"map":"protocol.1.map","patch":"98"}`
	talk(t, s, []exchange{
		{"decode", "POST /api/v1/one/decode", `{"hex":"0e000110 0a000000 0500 6100 0000",` + over + `}`, 200, []string{`"message":"C_OLD"`, `"more":`}, nil},
		{"encode", "POST /api/v1/one/encode", `{"message":"C_OLD","value":{"more":5},` + over + `}`, 200, []string{`"hex":"0c0001100a00050000000000"`}, nil},
		{"layout", "POST /api/v1/one/layout", `{"message":"C_OLD",` + over + `}`, 200, []string{`"path":"more"`}, nil},
		{"layout without", "POST /api/v1/one/layout", `{"message":"C_OLD","settings":{"patch":"27.07"}}`, 200, nil, []string{`"path":"more"`}},
		{"not a patch", "POST /api/v1/one/layout", `{"message":"C_OLD","settings":{"patch":"x"}}`, 422, []string{"not a game version"}, nil},
		{"not a setting", "POST /api/v1/one/layout", `{"message":"C_OLD","settings":{"patches":"x"}}`, 422, []string{"patches"}, nil},
		{"not a map", "POST /api/v1/one/decode", `{"hex":"00","settings":{"map":"protocol.3.map"}}`, 422, []string{"no code map"}, nil},
	})
}

// The ports of servers tell the direction.
func TestPortsOfCapture(t *testing.T) {
	s, ids := settingsServer(t)
	a := captureOf(ids[0])
	talk(t, s, []exchange{
		{"the end that opened the connection", "GET " + a + "/frames?count=1", "", 200, []string{`"conn":"10.0.0.2:4000-10.0.0.1:7801"`, `"dir":"c2s"`}, nil},
		{"is said to be the server", "PATCH " + a, `{"settings":{"ports":[4000]}}`, 200, nil, nil},
		{"and it is", "GET " + a + "/frames?count=1", "", 200, []string{`"conn":"10.0.0.1:7801-10.0.0.2:4000"`, `"dir":"s2c"`}, nil},
	})
}

// The groups of MUTA messages are chosen by port and direction, for the project and for a capture.
func TestGroupsOfCapture(t *testing.T) {
	const game = "group: first\n\npacket: hello\n   __group = first\n   a = uint8\n\ngroup: second\n\npacket: bye\n   __group = second\n   b = uint8\n"
	s := captureServer(t, "muta", map[string]string{"game.def": game}, "01 05\n")
	list, err := s.Projects.Find("one").Captures.List()
	if err != nil {
		t.Fatal(err)
	}
	a := captureOf(list[0].ID)
	get := "GET " + a + "/frames?value=true"
	talk(t, s, []exchange{
		{"the first group with this code", get, "", 200, []string{`"message":"hello"`}, nil},
		{"of the project", "PATCH /api/v1/one", `{"groups":["s2c=second","c2s=first"],"direction":"s2c"}`, 200, []string{`"groups":["s2c=second","c2s=first"]`}, nil},
		{"the message of that direction", get, "", 200, []string{`"message":"bye"`, `"dir":"s2c"`}, nil},
		{"of the capture", "PATCH " + a, `{"settings":{"direction":"c2s"}}`, 200, nil, nil},
		{"the message of this direction", get, "", 200, []string{`"message":"hello"`, `"dir":"c2s"`}, nil},
		{"a group without definitions", "PATCH " + a, `{"settings":{"groups":["c2s=third"]}}`, 422, []string{"unknown group third; the groups are first, second"}, nil},
		{"of the project, too", "PATCH /api/v1/one", `{"groups":["third"]}`, 422, []string{"unknown group third"}, nil},
	})
}

// An open list and the panes beside it follow the settings of their capture.
func TestPageFollowsSettings(t *testing.T) {
	s, ids := settingsServer(t)
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	c := dialList(t, t.Context(), srv.URL, ids[0])
	c.view(1, `,"filter":"name ~ \"OLD\""`)
	if fit := string(c.st["fit"]); fit != "0" {
		t.Errorf("%s rows without a map", fit)
	}
	conn := dialChannel(t, t.Context(), srv.URL, nil, "page", `{"capture":"`+ids[0]+`"}`)
	say := func(body string) {
		t.Helper()
		if status, answer := ask(s, "PATCH "+captureOf(ids[0]), body); status != 200 {
			t.Fatal(status, answer)
		}
	}
	if err := conn.Write(t.Context(), []byte(`{"n":1,"set":{"input":"10000110060074006500780074000000","form":"hex","bycode":true}}`)); err != nil {
		t.Fatal(err)
	}
	parts := pageParts{}
	shows := func(name string) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); ; {
			text, err := conn.Read(t.Context())
			if err != nil || time.Now().After(deadline) {
				t.Fatal(name, err)
			}
			var m page.Answer
			if err := json.Unmarshal(text, &m); err != nil {
				t.Fatal(err)
			}
			if parts.take(&m); strings.Contains(parts["fields-head"], name) {
				return
			}
		}
	}
	say(`{"settings":{"map":"protocol.1.map"}}`)
	for string(c.st["fit"]) != "16" {
		c.read()
	}
	shows("C_OLD")
	say(`{"settings":{"map":"protocol.2.map"}}`)
	for string(c.st["fit"]) != "0" {
		c.read()
	}
	shows("C_SAY")
}

// A listener and its recording share settings and keys.
func TestSettingsOfListener(t *testing.T) {
	x := newReplayTest(t)
	start := func(body string) (int, string) { return ask(x.s, "POST /api/v1/one/proxies", body) }
	if status, answer := start(fmt.Sprintf(`{"listen":"127.0.0.1:0","upstream":%q,"settings":{"groups":["c2s=none"]}}`, x.game)); status != 422 || !strings.Contains(answer, "unknown group none") {
		t.Error(status, answer)
	}
	if status, answer := start(fmt.Sprintf(`{"listen":"127.0.0.1:0","upstream":%q,"keys":"x"}`, x.game)); status != 422 || !strings.Contains(answer, "keys: line 1") {
		t.Error(status, answer)
	}
	status, answer := start(fmt.Sprintf(`{"listen":"127.0.0.1:0","upstream":%q,"settings":{"constants":{"A":"1"}},"keys":"* subspace 0x1234abcd"}`, x.game))
	if status != 201 {
		t.Fatal(status, answer)
	}
	all := x.s.relays.Of("one")
	about, err := x.s.Projects.Find("one").Captures.Get(all[0].ID)
	if err != nil || about.Settings.Constants["A"] != "1" || about.Keys == "" {
		t.Errorf("%+v %v", about, err)
	}
	if all[0].Now().Options.Constants["A"] != "1" {
		t.Error("the settings are not in force")
	}
	if status, answer := ask(x.s, "PATCH "+captureOf(about.ID), `{"settings":{"constants":{"A":"2"}}}`); status != 200 {
		t.Fatal(status, answer)
	}
	for deadline := time.Now().Add(10 * time.Second); all[0].Now().Options.Constants["A"] != "2"; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the new settings are not in force")
		}
	}
}

// Settings of a later version of the program, or edited by hand, do not keep a capture from being read.
func TestInvalidSettingsOfCapture(t *testing.T) {
	s, ids := settingsServer(t)
	if _, err := s.Projects.Find("one").Captures.Edit(ids[0], func(x *store.Capture) error { x.Settings.Set("patch", "future"); return nil }); err != nil {
		t.Fatal(err)
	}
	if status, answer := ask(s, "GET "+captureOf(ids[0])+"/frames?count=1", ""); status != 200 || !strings.Contains(answer, `"total":20`) {
		t.Error(status, answer)
	}
}
