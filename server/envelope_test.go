package server

import (
	"strconv"
	"strings"
	"testing"

	"wirebench/server/api"
	"wirebench/server/servertest"
	"wirebench/server/workspace"
)

const plainEnvelope = "frame length u24 be including itself\ncode varint\nstate login\n  login to-server -> play\nstate play\n"

// An envelope is found in a capture, tried, and used for the project.
func TestEnvelopes(t *testing.T) {
	s := captureServer(t, "protodef", map[string]string{"regatta.json": servertest.RegattaText(t, "json")})
	id := servertest.Keep(t, s, "plain.pcapng", servertest.Regatta(t, 30)).ID
	one := "/api/v1/one"
	run(t, s, []scenario{
		{"without a text", "POST", one + "/envelope/frames", `{}`, 200, []string{`"frames":[]`, `"name":"plain.pcapng"`}, nil},
		{
			"an unsaved one", "POST", one + "/envelope/frames", `{"text":` + strconv.Quote(plainEnvelope) + `,"limit":3}`, 200,
			[]string{`"state":"login","kind":"message","code":1,"message":"login"`, `"state":"play"`, `"message":"welcome"`, `"count":62,"exact":62,"unknown":0,"problems":0,"more":false`},
			nil,
		},
		{"that does not fit", "POST", one + "/envelope/frames", `{"text":"frame length u16 be\ncode varint\ngroup play\n"}`, 200, []string{`"kind":"problem"`, `"exact":0`}, nil},
		{"with a mistake", "POST", one + "/envelope/frames", `{"text":"frame length u25 be\ncode varint\n"}`, 200, []string{`"frames":[]`, `"severity":"error"`, `"line":1`}, nil},
		{"with an unknown message", "POST", one + "/envelope/frames", `{"text":"frame length u24 be including itself\ncode varint\nstate login\n  logn to-server -> play\nstate play\n"}`, 200, []string{`"severity":"warning"`, "logn"}, nil},
		{"no such capture", "POST", one + "/envelope/frames", `{"capture":"20260101-000000-aaaaaaaaaaaaaaaa"}`, 404, nil, nil},
		{"nothing to use yet", "POST", one + "/captures/" + id + "/envelope", `{}`, 422, []string{"no envelope of its own"}, nil},
	})
	var f servertest.Frames
	if code := servertest.Request(t, s, "GET", one+"/captures/"+id+"/frames", nil, &f); code != 200 || f.Total != 62 || f.Frames[61].Message != "heard" {
		t.Fatalf("%d, %d frames", code, f.Total)
	}
	if got := proposed(t, s, id); !strings.HasPrefix(got, "envelope: use for the project, as envelope found in this capture: ") || !strings.Contains(got, "in 62 frames") {
		t.Errorf("proposed %s", got)
	}
	var list api.CandidateList
	if code := servertest.Request(t, s, "GET", one+"/captures/"+id+"/envelopes", nil, &list); code != 200 || len(list.Candidates) < 2 || !list.Candidates[0].Used || !list.Candidates[0].Likely || list.Candidates[1].Used {
		t.Errorf("%d %+v", code, list)
	}
	run(t, s, []scenario{
		{"for the project", "POST", one + "/captures/" + id + "/envelope", `{}`, 200, []string{`"file":"protocol.envelope"`}, nil},
		{"once only", "POST", one + "/captures/" + id + "/envelope", `{"text":"x"}`, 409, []string{"protocol.envelope"}, nil},
		{"its text", "GET", one + "/definitions/protocol.envelope", "", 200, []string{`frame length u24 be including itself\ncode varint\n\nstate login\n  login to-server -> play`, `"messages":[]`, `"diagnostics":[]`}, nil},
		{"in the list", "GET", one + "/definitions", "", 200, []string{`"envelopes":[{"file":"protocol.envelope"`}, nil},
		{"no longer of the capture", "GET", one + "/captures/" + id + "/envelopes", "", 200, []string{`"project":"protocol.envelope"`, `"used":true`}, []string{`"own"`}},
		{"it has no samples", "GET", one + "/definitions/protocol.envelope/samples", "", 422, []string{"is an envelope"}, nil},
		{"its history", "GET", one + "/definitions/protocol.envelope/history", "", 200, nil, nil},
	})
	if got := proposed(t, s, id); got != "" {
		t.Errorf("proposed %s", got)
	}
	if code := servertest.Request(t, s, "GET", one+"/captures/"+id+"/frames", nil, &f); code != 200 || f.Total != 62 {
		t.Fatalf("%d, %d frames", code, f.Total)
	}
	other := captureServer(t, "muta", map[string]string{"game.def": servertest.PingText})
	run(t, other, []scenario{{"another protocol", "POST", one + "/envelope/frames", `{"text":"frame fixed 4\ncode u8\nX: cipher off\n"}`, 200, []string{`"frames":[]`, "there is no message"}, nil}})
}

// The initial text of an envelope is valid, and so is each of its lines that is a comment.
func TestNewEnvelope(t *testing.T) {
	s := captureServer(t, "protodef", map[string]string{"regatta.json": servertest.RegattaText(t, "json")})
	run(t, s, []scenario{
		{"an example", "GET", "/p/one/definitions/protocol.envelope", "", 200, []string{"# How the messages of the protocol travel", `data-envelope`, "First frames", "New envelope", "No mistakes"}, []string{"layout-rows"}},
		{"without one", "GET", "/p/one/live", "", 200, []string{"data-no-envelope"}, nil},
	})
	ws := s.Projects.Find("one")
	if _, err := ws.Save("other.envelope", []byte(plainEnvelope), nil); err != nil {
		t.Fatal(err)
	}
	if now := ws.Now(); now.Envelope == nil || now.EnvelopeFile.Name != "other.envelope" {
		t.Error("the envelope is not in use")
	}
	run(t, s, []scenario{
		{"a stored one", "GET", "/p/one/definitions/other.envelope", "", 200, []string{"frame length u24 be including itself", `data-name="other.envelope"`}, []string{"New envelope"}},
		{"it is needed no more", "GET", "/p/one/live", "", 200, nil, []string{"data-no-envelope"}},
	})
	if _, err := ws.Now().Open(workspace.EnvelopeName, "frame nothing\n"); err != nil {
		t.Error(err)
	}
}

// An envelope is uploaded with the definitions, as a file and in a zip file.
func TestUploadEnvelope(t *testing.T) {
	s := captureServer(t, "protodef", map[string]string{"regatta.json": servertest.RegattaText(t, "json")})
	if got := send(t, s, "", servertest.File{"protocol.envelope", plainEnvelope}); strings.Contains(strings.Join(got.lines(), "\n"), "(") {
		t.Error(got.lines())
	}
	if now := s.Projects.Find("one").Now(); now.Envelope == nil {
		t.Error("it is not in use")
	}
	other := captureServer(t, "protodef", nil)
	if got := send(t, other, "", servertest.File{"regatta.zip", servertest.Zip(t, servertest.File{"regatta.json", servertest.RegattaText(t, "json")}, servertest.File{"protocol.envelope", plainEnvelope})}); strings.Contains(strings.Join(got.lines(), "\n"), "(") {
		t.Error(got.lines())
	}
	if now := other.Projects.Find("one").Now(); now.Envelope == nil || now.Count() != 6 {
		t.Error("it is not in use")
	}
}
