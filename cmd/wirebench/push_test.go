package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// remote is a workbench that takes captures.
type remote struct {
	mu    sync.Mutex
	name  string
	data  []byte
	token string
	fail  int // requests to be refused
}

func (r *remote) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, _ := io.ReadAll(req.Body)
	if r.fail > 0 {
		r.fail--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	r.token = req.Header.Get("Authorization")
	w.Header().Set("Content-Type", "application/json")
	switch {
	case req.Method == "POST" && req.URL.Path == "/api/mine/captures":
		r.name, r.data = req.URL.Query().Get("name"), body
		w.WriteHeader(http.StatusCreated)
	case req.Method == "GET":
		_ = json.NewEncoder(w).Encode(map[string]any{"captures": []any{}})
		return
	default:
		var at int
		if _, err := fmt.Sscan(req.URL.Query().Get("offset"), &at); err != nil || at != len(r.data) {
			w.WriteHeader(http.StatusConflict)
			return
		}
		r.data = append(r.data, body...)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"id": "one", "size": len(r.data)})
}

func (r *remote) has() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.data)
}

// What is read is at the workbench while more is read, also after an interruption, and the name says what it is.
func TestPush(t *testing.T) {
	r := &remote{fail: 1}
	srv := httptest.NewServer(r)
	defer srv.Close()
	t.Setenv("WIREBENCH_PUSH_TOKEN", "secret")
	in, out := io.Pipe()
	cmd := newRoot()
	cmd.SetArgs([]string{"push", srv.URL, "--project", "mine"})
	cmd.SetIn(in)
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	ended := make(chan error)
	go func() { ended <- cmd.ExecuteContext(t.Context()) }()
	var want []byte
	for i := range 20 {
		piece := bytes.Repeat([]byte{byte(i)}, 10_000)
		want = append(want, piece...)
		if _, err := out.Write(piece); err != nil {
			t.Fatal(err)
		}
		if i == 10 {
			for end := time.Now().Add(20 * time.Second); !bytes.Equal(r.has(), want); time.Sleep(5 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%d bytes are there of %d", len(r.has()), len(want))
				}
			}
			r.mu.Lock()
			r.fail = 2
			r.mu.Unlock()
		}
	}
	out.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(r.has(), want) {
		t.Errorf("%d bytes are there of %d", len(r.has()), len(want))
	}
	if r.token != "Bearer secret" || !strings.HasPrefix(r.name, "pushed ") || !strings.HasSuffix(r.name, ".pcapng") {
		t.Error(r.token, r.name)
	}
	if _, said, status := cli(t, `{"n":1}`+"\n", "push", srv.URL, "--project", "mine", "--name", "hook"); status != 0 || r.name != "hook-1.jsonl" {
		t.Error(said, status, r.name)
	}
	for _, args := range [][]string{{"push", srv.URL}, {"push", "ftp://x", "--project", "mine"}, {"push", srv.URL, "--project", "mine"}} {
		if _, said, status := cli(t, "", args...); status == 0 { // the last one has nothing to push
			t.Errorf("%v: %s", args, said)
		}
	}
}

// Ctrl+C ends the program in front too: what it writes at its end is pushed.
func TestPushInterrupted(t *testing.T) {
	r := &remote{}
	srv := httptest.NewServer(r)
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	cmd := newRoot()
	cmd.SetArgs([]string{"push", srv.URL, "--project", "mine"})
	cmd.SetIn(in)
	cmd.SetErr(io.Discard)
	ended := make(chan error)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	fmt.Fprint(out, "{\"n\":1}\n")
	cancel()
	fmt.Fprint(out, "{\"n\":2}\n")
	out.Close()
	if err := <-ended; err != nil || string(r.has()) != "{\"n\":1}\n{\"n\":2}\n" {
		t.Errorf("%q, %v", r.has(), err)
	}
}

// noted is an output of several goroutines.
type noted struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *noted) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *noted) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// A growing log is pushed by a pattern as the lines of a hook, and lines without a message are said.
func TestPushPattern(t *testing.T) {
	r := &remote{}
	srv := httptest.NewServer(r)
	defer srv.Close()
	const pattern = `^(?<time>\S+) (?:(?<dir>tx|rx|xx) )?(?<name>\w+) (?<data>.*)$`
	log := "started\n\n2026-01-02T03:04:05Z tx C_PING 03 01\n12:00:00 rx S_PONG 0902\n12:00:01 xx S_LOST 00\n12:00:02 S_LOST 01\n12:00:03 tx C_BAD zz\n"
	before := time.Now()
	_, said, status := cli(t, log, "push", srv.URL, "--project", "mine", "--pattern", pattern)
	if status != 0 || !strings.HasSuffix(r.name, ".jsonl") || !strings.Contains(said, "direction in started") || !strings.Contains(said, "4 lines have no message") {
		t.Error(status, r.name, said)
	}
	var got []struct{ Dir, Time, Name, Hex string }
	for line := range bytes.Lines(r.has()) {
		if err := checkHookLine(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		got = append(got, struct{ Dir, Time, Name, Hex string }{})
		if err := json.Unmarshal(line, &got[len(got)-1]); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 2 || got[0].Time != "2026-01-02T03:04:05Z" || got[0].Dir+got[0].Name+got[0].Hex != "c2sC_PING0301" || got[1].Dir+got[1].Name+got[1].Hex != "s2cS_PONG0902" {
		t.Fatalf("%+v", got)
	}
	if at, err := time.Parse(time.RFC3339Nano, got[1].Time); err != nil || at.Before(before) {
		t.Error(got[1].Time, err)
	}
	for _, args := range [][]string{{"--pattern", "(?<data>.*)"}, {"--pattern", "("}, {"--pattern", pattern, "--listen", "unix:x"}} {
		if _, said, status := cli(t, log, append([]string{"push", srv.URL, "--project", "mine"}, args...)...); status != 2 {
			t.Error(args, status, said)
		}
	}
}

// Hooks connect to a socket of this user, several at once. What is not a message ends a connection, not the capture.
func TestPushListens(t *testing.T) {
	r := &remote{}
	srv := httptest.NewServer(r)
	defer srv.Close()
	dir := t.TempDir()
	path := filepath.Join(dir, "hook.sock")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var notes noted
	run := func(ctx context.Context, listen string) error {
		cmd := newRoot()
		cmd.SetArgs([]string{"push", srv.URL, "--project", "mine", "--listen", listen})
		cmd.SetOut(io.Discard)
		cmd.SetErr(&notes)
		return cmd.ExecuteContext(ctx)
	}
	ended := make(chan error)
	go func() { ended <- run(ctx, "unix:"+path) }()
	wait := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: %q, %s", what, r.has(), notes.String())
			}
		}
	}
	wait("it listens", func() bool { return strings.Contains(notes.String(), "hooks connect to") })
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("%v, %v", info, err)
	}
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	const one, two, three = `{"dir":"c2s","hex":"0301"}`, `{"dir":"s2c","hex":"0902"}`, `{"dir":"c2s","hex":"ff"}`
	a, b, bad := dial(), dial(), dial()
	fmt.Fprint(a, one[:10])
	fmt.Fprint(b, two+"\n\n")
	wait("a whole line", func() bool { return string(r.has()) == two+"\n" })
	fmt.Fprint(bad, three+"\n{\"dir\":\"up\",\"hex\":\"00\"}\n"+three+"\n")
	wait("the bad one is disconnected", func() bool { return strings.Contains(notes.String(), "disconnected: line 2") })
	fmt.Fprint(a, one[10:]+"\r\n")
	wait("all lines", func() bool { return string(r.has()) == two+"\n"+three+"\n"+one+"\n" })
	if err := run(ctx, "unix:"+path); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := a.Read(make([]byte, 1)); err == nil {
		t.Error("still connected")
	}
	for _, refused := range []string{"0.0.0.0:0", "[::]:0", "10.0.0.1:0", "localhost:0", dir} {
		if err := run(t.Context(), refused); err == nil || !strings.Contains(err.Error(), "hooks connect to unix:PATH") {
			t.Errorf("%s: %v", refused, err)
		}
	}
	if err := os.WriteFile(path, []byte("a file"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), "unix:"+path); err == nil {
		t.Error("a file was replaced")
	}
}

// A socket that a killed program has left is taken over.
func TestPushListensAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hook.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	again, err := listenLocal("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
