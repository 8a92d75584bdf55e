package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// With --audit-to each change and each refusal is a line in the descriptor, as it happens.
func TestAuditTo(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	own, err := syscall.Dup(int(w.Fd())) // as whoever starts the program passes it; the server keeps it
	if err != nil {
		t.Fatal(err)
	}
	const token = "a-token-of-an-admin"
	addr, _ := started(t, "serve", "--listen", "127.0.0.1:0", "--token", token, "--audit-to", fmt.Sprintf("fd:%d", own))
	if out, text, status := cli(t, "", "call", "change-project", "project=tera", "title=Another", "--server", "http://"+addr, "--token", token); status != 0 {
		t.Fatal(out, text)
	}
	lines := bufio.NewReader(r)
	for _, want := range []string{"PATCH /api/v1/projects/{project}"} {
		line, err := lines.ReadString('\n')
		var e struct{ At, Who, From, What, On string }
		if err != nil || json.Unmarshal([]byte(line), &e) != nil || e.What != want || e.From != "127.0.0.1" || e.At == "" || !strings.HasSuffix(e.On, "/tera") {
			t.Errorf("%s %v", line, err)
		}
	}
	_, body := get(t, "http://"+addr+"/metrics", "Authorization", "Bearer "+token)
	if !strings.Contains(body, "\nwirebench_audit_sent_total 1\n") || !strings.Contains(body, "\nwirebench_audit_lost_total 0\n") {
		t.Error("it is not counted")
	}
	if _, text, status := cli(t, "", "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--audit-to", "fd:999"); status != exitUsage || !strings.Contains(text, "--audit-to: fd:999: bad file descriptor") {
		t.Errorf("%d %s", status, text)
	}
}
