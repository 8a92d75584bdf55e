package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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
	t.Setenv("WIREBENCH_TOKEN", "secret")
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
