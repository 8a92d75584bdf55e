package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"wirebench/server/bus/bustest"
)

// With --audit-to each change is a message of a stream; without one it is counted as lost.
func TestAuditToNATS(t *testing.T) {
	s := bustest.Start(t)
	const token = "a-token-of-an-admin"
	addr, _ := started(t, "serve", "--listen", "127.0.0.1:0", "--token", token, "--nats", s.URL, "--audit-to", "nats:wirebench.audit")
	title := func(text string) {
		t.Helper()
		if out, errs, status := cli(t, "", "call", "change-project", "project=tera", "title="+text, "--server", "http://"+addr, "--token", token); status != 0 {
			t.Fatal(out, errs)
		}
	}
	counts := func(sent, lost string) bool {
		_, body := get(t, "http://"+addr+"/metrics", "Authorization", "Bearer "+token)
		return strings.Contains(body, "\nwirebench_audit_sent_total "+sent+"\n") && strings.Contains(body, "\nwirebench_audit_lost_total "+lost+"\n")
	}
	until := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("not " + what)
			}
		}
	}
	title("lost")
	until("lost", func() bool { return counts("0", "1") })
	conn, err := nats.Connect(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "AUDIT", Subjects: []string{"wirebench.audit"}})
	if err != nil {
		t.Fatal(err)
	}
	title("Another")
	var whats []string
	until("there", func() bool {
		whats = nil
		info, err := stream.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for n := uint64(1); n <= info.State.LastSeq; n++ {
			m, err := stream.GetMsg(t.Context(), n)
			var e struct{ What, Result string }
			if err != nil || json.Unmarshal(m.Data, &e) != nil || strings.Contains(string(m.Data), "\n") {
				t.Fatal(string(m.Data), err)
			}
			whats = append(whats, e.What)
		}
		return strings.Contains(strings.Join(whats, " "), "PATCH /api/v1/projects/{project}")
	})
	if len(whats) > 2 {
		t.Errorf("%q", whats)
	}
	for _, wrong := range [][]string{{"--audit-to", "nats:wirebench.audit"}, {"--audit-to", "nats:", "--nats", s.URL}, {"--audit-to", "nats:a.>", "--nats", s.URL}} {
		if _, text, status := cli(t, "", append([]string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir()}, wrong...)...); status != exitUsage || !strings.Contains(text, "--audit-to") {
			t.Errorf("%q: %d %s", wrong, status, text)
		}
	}
}
