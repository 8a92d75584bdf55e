package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wirebench/codec/pcap"
	"wirebench/defs/schema"
	"wirebench/server/captures"
	"wirebench/server/servertest"
	"wirebench/server/store"
	"wirebench/server/workspace"
	"wirebench/server/workspace/workspacetest"
)

// proposals asks for the proposals of a capture.
func proposals(t *testing.T, s *Server, id string) (out struct {
	Proposals []captures.Proposal
	Dismissed []string
},
) {
	t.Helper()
	if code := servertest.Request(t, s, "GET", captureOf(id)+"/proposals", nil, &out); code != 200 {
		t.Fatal(code, out)
	}
	return out
}

// proposed returns the proposals as text.
func proposed(t *testing.T, s *Server, id string) string {
	t.Helper()
	var all []string
	for _, p := range proposals(t, s, id).Proposals {
		text, _ := json.Marshal(p.Settings)
		all = append(all, fmt.Sprintf("%s: %s, as %s %s%s", p.Kind, p.Text, p.Evidence, text, p.Project))
	}
	return strings.Join(all, "\n")
}

// The build that the client names leads to its code map and the version of the game.
func TestProposesMap(t *testing.T) {
	s := captureServer(t, "tera", map[string]string{"C_A.1.def": "uint16 a\n", "protocol.1.map": "C_A 2\n", "protocol.373824.map": "C_A 1\n", "protocol.5.map": "# patch 12\nC_A 3\n", "protocol.6.map": "C_A 4\n"})
	id := servertest.Keep(t, s, "a", servertest.Checked(t, 373824)).ID
	const evidence = "as the version check of the client, frame 1, names build 373824 "
	if got := proposed(t, s, id); got != `settings: use protocol.373824.map, patch 98.02, `+evidence+`{"map":"protocol.373824.map","patch":"98.02"}` {
		t.Error(got)
	}
	// Dismissed, it is not made again, until it is wanted.
	first := proposals(t, s, id).Proposals[0].ID
	if code, got := servertest.Patch(t, s, id, fmt.Sprintf(`{"dismiss":[%q]}`, first)); code != 200 {
		t.Fatal(got)
	}
	if p := proposals(t, s, id); len(p.Proposals) != 0 || fmt.Sprint(p.Dismissed) != "["+first+"]" {
		t.Errorf("%+v", p)
	}
	if code, got := servertest.Patch(t, s, id, fmt.Sprintf(`{"propose":[%q]}`, first)); code != 200 {
		t.Fatal(got)
	}
	// The map alone leaves the version of the game to propose.
	if code, got := servertest.Patch(t, s, id, `{"settings":{"map":"protocol.373824.map"}}`); code != 200 {
		t.Fatal(got)
	}
	if got := proposed(t, s, id); got != `settings: use patch 98.02, `+evidence+`{"patch":"98.02"}` {
		t.Error(got)
	}
	if code, got := servertest.Patch(t, s, id, `{"settings":{"patch":"98.02"}}`); code != 200 {
		t.Fatal(got)
	}
	if got := proposed(t, s, id); got != "" {
		t.Errorf("accepted, and proposed again: %s", got)
	}
	if got := proposed(t, s, servertest.Keep(t, s, "b", servertest.Checked(t, 5)).ID); !strings.HasPrefix(got, "settings: use protocol.5.map, patch 12, ") {
		t.Error(got)
	}
	if got := proposed(t, s, servertest.Keep(t, s, "e", servertest.Checked(t, 6)).ID); got != `settings: use protocol.6.map, as the version check of the client, frame 1, names build 6, of a game version that neither the map nor revisions.json tells {"map":"protocol.6.map"}` {
		t.Error(got)
	}
	if got := proposed(t, s, servertest.Keep(t, s, "c", servertest.Checked(t, 7)).ID); !strings.HasPrefix(got, "map: add protocol.7.map to the library, ") {
		t.Error(got)
	}
	if got := proposed(t, s, servertest.Keep(t, s, "d", servertest.Chat(t, 5)).ID); got != "" {
		t.Error(got)
	}
}

// A code map without a build in its name may be the right one.
func TestProposesNoMapInPlaceOfANamelessOne(t *testing.T) {
	s := captureServer(t, "tera", map[string]string{"mine.map": "C_A 1\n"})
	if got := proposed(t, s, servertest.Keep(t, s, "a", servertest.Checked(t, 7)).ID); got != "" {
		t.Error(got)
	}
}

// Another project may have the code map, or the protocol.
func TestProposesAnotherProject(t *testing.T) {
	var list []*workspace.Workspace
	for _, c := range []struct {
		name, dialect string
		files         map[string]string
	}{{"one", "tera", nil}, {"two", "tera", map[string]string{"protocol.7.map": "C_A 1\n"}}, {"three", "muta", map[string]string{"game.def": "group: clmsg\n\npacket: say\n   __group = clmsg\n   text = char {1, 300}\n\npacket: ping\n   __group = clmsg\n"}}} {
		d, _ := workspacetest.Dir(t, c.files)
		list = append(list, workspacetest.Open(t, workspace.Config{Name: c.name, FirstTitle: "Project " + c.name, Dialect: c.dialect, Files: d, Captures: workspacetest.Captures(t)}))
	}
	s, err := New(Config{Version: "test", Projects: servertest.Fixed(t, list...)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if got := proposed(t, s, servertest.Keep(t, s, "a", servertest.Checked(t, 7)).ID); !strings.HasPrefix(got, "open: open it in Project two, which has protocol.7.map, as ") || !strings.HasSuffix(got, "{}two") {
		t.Error(got)
	}
	var out bytes.Buffer
	conn, at := servertest.Conversation(t, &out)
	for i := range 5 {
		if err := conn.Data(schema.ToServer, at.Add(time.Duration(i)*time.Second), []byte("\x01\x02\x00hi"), ""); err != nil {
			t.Fatal(err)
		}
	}
	if got := proposed(t, s, servertest.Keep(t, s, "b", out.Bytes()).ID); !strings.Contains(got, "open: open it in Project three, as no messages here; the protocol of Project three finds 5 in its first part, 100 % of its bytes {}three") {
		t.Error(got)
	}
}

// Encrypted frames without a handshake need keys.
func TestProposesKeys(t *testing.T) {
	s := captureServer(t, "tera", nil)
	var out bytes.Buffer
	conn, at := servertest.Conversation(t, &out)
	noise := rand.New(rand.NewPCG(1, 2))
	for i := range 5 {
		data := make([]byte, 300)
		for k := range data {
			data[k] = byte(noise.Uint32())
		}
		if err := conn.Data([]schema.Dir{schema.ToServer, schema.ToClient}[i%2], at.Add(time.Duration(i)*time.Second), data, ""); err != nil {
			t.Fatal(err)
		}
	}
	x := servertest.Keep(t, s, "sealed", out.Bytes())
	got := proposed(t, s, x.ID)
	if !strings.HasPrefix(got, "keys: give the keys, as no handshake seen: ") || !strings.Contains(got, " are encrypted, in 1 connection ") {
		t.Error(got)
	}
	if code, got := servertest.Patch(t, s, x.ID, `{"keys":"* tera `+strings.Repeat("00", 512)+`"}`); code != 200 {
		t.Fatal(got)
	}
	if got := proposed(t, s, x.ID); strings.Contains(got, "no handshake") {
		t.Error(got)
	}
}

// twoGroups defines messages of two groups whose names do not tell the direction.
const twoGroups = "group: alpha\n\npacket: hello\n   __group = alpha\n   text = char {1, 300}\n\npacket: one\n   __group = alpha\n   a = uint8\n\n" +
	"group: beta\n\npacket: two\n   __group = beta\n   b = uint32\n   c = uint64\n\npacket: three\n   __group = beta\n   d = char {1, 20}\n"

// groupsCapture returns a capture of both groups.
func groupsCapture(t testing.TB, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	conn, at := servertest.Conversation(t, &out)
	send := func(s *pcap.Synthetic, i int, dir schema.Dir, data string) {
		if err := s.Data(dir, at.Add(time.Duration(i)*time.Millisecond), []byte(data), ""); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		send(conn, 2*i, schema.ToServer, "\x01\x03\x00you\x02\x07")
		send(conn, 2*i+1, schema.ToClient, "\x01\xff\xff\xff\xff\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe\x02\x04abcd")
	}
	return out.Bytes()
}

// The groups of messages are those that decode the frames.
func TestProposesGroups(t *testing.T) {
	s := captureServer(t, "muta", map[string]string{"game.def": twoGroups})
	x := servertest.Keep(t, s, "game", groupsCapture(t, 103))
	if got := proposed(t, s, x.ID); got != `settings: use the groups c2s=alpha, s2c=beta, as they decode 412 of 412 frames; the present ones 0 of 4 {"groups":["c2s=alpha","s2c=beta"]}` {
		t.Error(got)
	}
	if code, got := servertest.Patch(t, s, x.ID, `{"settings":{"groups":["c2s=alpha","s2c=beta"]}}`); code != 200 {
		t.Fatal(got)
	}
	if got := proposed(t, s, x.ID); got != "" {
		t.Error(got)
	}
	// Groups that decode the frames are not replaced, and nothing is proposed where none do.
	if code, got := servertest.Patch(t, s, x.ID, `{"settings":{"groups":["7801/s2c=beta","alpha"]}}`); code != 200 {
		t.Fatal(got)
	}
	if got := proposed(t, s, x.ID); got != "" {
		t.Error(got)
	}
	if got := proposed(t, s, servertest.Keep(t, s, "other", servertest.Chat(t, 20)).ID); got != "" {
		t.Error(got)
	}
}

// What is dismissed is bounded, and stays with the capture.
func TestDismissedIsBounded(t *testing.T) {
	s := captureServer(t, "tera", nil, "x")
	list, err := s.Projects.Find("one").Captures.List()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		var ids []string
		for k := range store.MaxDismissed {
			ids = append(ids, fmt.Sprint(i, ":", k))
		}
		body, _ := json.Marshal(map[string]any{"dismiss": ids})
		if code, got := servertest.Patch(t, s, list[0].ID, string(body)); code != 200 {
			t.Fatal(got)
		}
	}
	x, err := s.Projects.Find("one").Captures.Get(list[0].ID)
	if err != nil || len(x.Dismissed) != store.MaxDismissed || !strings.HasPrefix(x.Dismissed[0], "2:") {
		t.Errorf("%d %v", len(x.Dismissed), err)
	}
}

// A size that was learnt is proposed, and added to the envelope of the project.
func TestProposesSizes(t *testing.T) {
	s := captureServer(t, "muta", servertest.SizedFiles())
	id := servertest.Keep(t, s, "a", servertest.Sized(t)).ID
	var sizes []captures.Proposal
	for _, p := range proposals(t, s, id).Proposals {
		if p.Kind == "size" {
			sizes = append(sizes, p)
		}
	}
	if len(sizes) != 1 || sizes[0].Size == nil || *sizes[0].Size != (captures.CodeSize{Dir: "c2s", Code: 7, Size: 12}) || sizes[0].Text != "write 7 = 12 into protocol.envelope" ||
		!strings.HasSuffix(sizes[0].Evidence, "messages of code 7 had 12 bytes, and the envelope has no size of it") {
		t.Fatalf("%+v", proposals(t, s, id))
	}
	body, _ := json.Marshal(map[string]any{"size": sizes[0].Size})
	if code := requestJSON(t, s, "POST", captureOf(id)+"/envelope", string(body)); code != 200 {
		t.Fatal(code)
	}
	if got := s.Projects.Find("one").Now().EnvelopeFile.Text; got != "frame codes u8\n  1 = 4\n  2 = 9\n  7 = 12\ncode u8\n" {
		t.Errorf("the envelope is %q", got)
	}
	if got := proposed(t, s, id); strings.Contains(got, "size: ") {
		t.Errorf("it is proposed again: %s", got)
	}
	if code := requestJSON(t, s, "POST", captureOf(id)+"/envelope", string(body)); code != 409 {
		t.Errorf("a size twice: %d", code)
	}
}
