package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/defs"
)

// log is a buffer for concurrent writes and reads.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var address = regexp.MustCompile(`Wirebench is at http://(\S+)`)

// started runs the server on a free port until the test ends, and returns its address and its output.
func started(t *testing.T, args ...string) (addr string, out *log) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out = &log{}
	if !slices.Contains(args, "--data") {
		args = append(args, "--data", t.TempDir())
	}
	done := make(chan int, 1)
	go func() { done <- run(ctx, args, strings.NewReader(""), io.Discard, out) }()
	t.Cleanup(func() {
		cancel()
		if status := <-done; status != exitOK {
			t.Errorf("the server ended with status %d: %s", status, out)
		}
	})
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		if m := address.FindStringSubmatch(out.String()); m != nil {
			return m[1], out
		}
		select {
		case status := <-done:
			done <- status
			t.Fatalf("the server ended with status %d: %s", status, out)
		case <-time.After(5 * time.Millisecond):
		}
	}
	t.Fatalf("the server does not start: %s", out)
	return "", nil
}

func get(t *testing.T, url string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// Without a command and flags the program serves on a loopback address, without a token.
func TestServe(t *testing.T) {
	addr, _ := started(t, "--listen", "127.0.0.1:0")
	if status, body := get(t, "http://"+addr+"/"); status != 200 || !strings.Contains(body, "C_EDIT_PRIVATE_CHANNEL") || !strings.Contains(body, "player_id") {
		t.Errorf("%d %s", status, body)
	}
	if _, stderr, status := cli(t, "", "health", "--listen", addr); status != 0 {
		t.Error(status, stderr)
	}
	if _, stderr, status := cli(t, "", "health", "--listen", "127.0.0.1:1"); status != 1 || stderr == "" {
		t.Error(status, stderr)
	}
}

// On other addresses it makes a random token and requires it.
func TestServeBeyondThisMachine(t *testing.T) {
	addr, out := started(t, "serve", "--listen", "0.0.0.0:0")
	m := regexp.MustCompile(`The access token is (\S{20,})`).FindStringSubmatch(out.String())
	if m == nil {
		t.Fatalf("no token: %s", out)
	}
	addr = "127.0.0.1" + addr[strings.LastIndexByte(addr, ':'):]
	if status, body := get(t, "http://"+addr+"/p/tera/definitions"); status != 401 || strings.Contains(body, "player_id") {
		t.Errorf("without token: %d %s", status, body)
	}
	if status, _ := get(t, "http://"+addr+"/p/tera/definitions", "Authorization", "Bearer "+m[1]); status != 200 {
		t.Errorf("with token: %d", status)
	}
	if status, _ := get(t, "http://"+addr+"/healthz"); status != 200 {
		t.Errorf("health: %d", status)
	}
}

// With a viewer's token there is an operator's token, also on a loopback address; the environment sets it like every flag.
func TestServeViewer(t *testing.T) {
	t.Setenv("WIREBENCH_SERVE_VIEWER_TOKEN", "just-looking-at-it")
	addr, out := started(t, "serve", "--listen", "127.0.0.1:0")
	m := regexp.MustCompile(`The access token is (\S{20,})`).FindStringSubmatch(out.String())
	if m == nil {
		t.Fatalf("no token of an operator: %s", out)
	}
	if status, _ := get(t, "http://"+addr+"/p/tera/definitions"); status != 401 {
		t.Errorf("without token: %d", status)
	}
	if status, body := get(t, "http://"+addr+"/p/tera/definitions", "Authorization", "Bearer just-looking-at-it"); status != 200 || !strings.Contains(body, "View only") {
		t.Errorf("with the viewer's token: %d %s", status, body)
	}
	if status, body := get(t, "http://"+addr+"/p/tera/definitions", "Authorization", "Bearer "+m[1]); status != 200 || strings.Contains(body, "View only") {
		t.Errorf("with the operator's token: %d %s", status, body)
	}
	if _, stderr, status := cli(t, "", "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--token", "just-looking-at-it"); status != 2 || !strings.Contains(stderr, "--viewer-token and --token must differ") {
		t.Errorf("both tokens are the same: %d %s", status, stderr)
	}
}

// --library replaces the built-in definitions; its directory is edited in place.
func TestServeLibrary(t *testing.T) {
	lib := write(t, joinLib)
	addr, _ := started(t, "serve", "--listen", "127.0.0.1:0", "--library", lib)
	status, body := get(t, "http://"+addr+"/p/tera/definitions/C_JOIN")
	if status != 200 || !strings.Contains(body, "S_BAD") || strings.Contains(body, "C_EDIT_PRIVATE_CHANNEL") {
		t.Errorf("%d %s", status, body)
	}
}

// The first start fills the data directory; the next one keeps it.
func TestServeKeepsDefinitions(t *testing.T) {
	data := t.TempDir()
	started := func(t *testing.T) string {
		addr, _ := started(t, "serve", "--listen", "127.0.0.1:0", "--data", data)
		_, body := get(t, "http://"+addr+"/p/tera/definitions/C_EDIT_PRIVATE_CHANNEL.1")
		return body
	}
	t.Run("first", func(t *testing.T) {
		if body := started(t); !strings.Contains(body, "player_id") || !strings.Contains(body, "C_CHAT") {
			t.Errorf("no definitions: %s", body)
		}
	})
	dir := filepath.Join(data, "tera", "definitions")
	if err := os.WriteFile(filepath.Join(dir, "C_EDIT_PRIVATE_CHANNEL.1.def"), []byte("byte written_here\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "C_CHAT.1.def")); err != nil {
		t.Fatal(err)
	}
	t.Run("second", func(t *testing.T) {
		if body := started(t); !strings.Contains(body, "written_here") || strings.Contains(body, "definitions/C_CHAT.1") {
			t.Errorf("not what was left there: %s", body)
		}
	})
}

func TestServeRefusesWhatItCannotKeep(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--data", file}, {"--library", filepath.Join(write(t, joinLib), "C_JOIN.1.def")}} {
		args = append([]string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir()}, args...)
		if _, stderr, status := cli(t, "", args...); status != 2 || stderr == "" {
			t.Errorf("%v: %d %s", args, status, stderr)
		}
	}
}

func TestServeRefusesBadAddresses(t *testing.T) {
	for _, listen := range []string{"nowhere", "127.0.0.1:99999"} {
		if _, stderr, status := cli(t, "", "serve", "--listen", listen, "--data", t.TempDir()); status != 2 || !strings.Contains(stderr, "listen") {
			t.Errorf("%s: %d %s", listen, status, stderr)
		}
	}
}

// Listeners are given on the command line or in a file; the server's own address is refused as an upstream.
func TestServeProxies(t *testing.T) {
	file := filepath.Join(t.TempDir(), "proxies.json")
	if err := os.WriteFile(file, []byte(`{"allow":["10.0.0.0/8:7801"],"proxies":[{"workspace":"muta","listen":"127.0.0.1:0","upstream":"127.0.0.1:9","name":"one"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	addr, _ := started(t, "--listen", "127.0.0.1:0", "--proxies", file, "--proxy", "tera=127.0.0.1:0>127.0.0.1:9", "--allow-upstream", "game.example:7000-7999")
	for ws, want := range map[string]string{"muta": `"name":"one"`, "tera": `"upstream":"127.0.0.1:9"`} {
		if _, body := get(t, "http://"+addr+"/api/"+ws+"/proxies"); !strings.Contains(body, want) || !strings.Contains(body, `"10.0.0.0/8:7801"`) || !strings.Contains(body, `"game.example:7000-7999"`) {
			t.Errorf("%s: %s", ws, body)
		}
	}
	res, err := http.Post("http://"+addr+"/api/tera/proxies", "application/json", strings.NewReader(fmt.Sprintf(`{"listen":"127.0.0.1:0","upstream":%q}`, addr)))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("the server is relayed to: %d %s", res.StatusCode, body)
	}
	for _, args := range [][]string{
		{"--proxy", "nothing"},
		{"--proxy", "tera=:1>nowhere"},
		{"--proxies", "missing.json"},
		{"--allow-upstream", "here"},
		{"--proxy", "chess=127.0.0.1:0>127.0.0.1:9"},
		{"--proxy", "tera=127.0.0.1:0>169.254.169.254:80"},
		{"--proxy", "tera=127.0.0.1:0>[::ffff:169.254.169.254]:80"},
	} {
		if _, stderr, status := cli(t, "", append([]string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir()}, args...)...); status == exitOK || stderr == "" {
			t.Errorf("%q: %d %s", args, status, stderr)
		}
	}
}

// An allowed upstream without effect prints a note.
func TestAllowedInVain(t *testing.T) {
	for entry, want := range map[string]bool{
		"169.254.0.0/16:*": true, "169.254.169.254:80": true, "[ff00::]:1": true, "ff00::/8:1": true, "[ff00::/8]:1": true, "224.0.0.0/4:1": true,
		"0.0.0.0/0:*": false, "[::/0]:*": false, "10.0.0.0/8:7801": false, "127.0.0.1:*": false, "game.example:1": false, "::": false, "169.0.0.0/8:1": false,
	} {
		if why := inVain(entry); (why != "") != want {
			t.Errorf("%s: %q", entry, why)
		}
	}
	_, out := started(t, "--listen", "127.0.0.1:0", "--allow-upstream", "169.254.0.0/16:*")
	if text := out.String(); !strings.Contains(text, "allowing 169.254.0.0/16:* has no effect") {
		t.Error(text)
	}
}

// One request starts the demo game of each protocol, and the built-in definitions decode its frames.
func TestServeDemo(t *testing.T) {
	addr, _ := started(t, "--listen", "127.0.0.1:0")
	for _, d := range defs.Dialects { // the page of no sample says that its messages cannot be read
		if _, page := get(t, "http://"+addr+"/p/"+d.Name+"/live"); !strings.Contains(page, "data-relays") || strings.Contains(page, "data-no-envelope") {
			t.Errorf("%s: the page says that there is no envelope", d.Name)
		}
	}
	for _, ws := range []string{"tera", "muta", "subspace"} {
		if _, page := get(t, "http://"+addr+"/p/"+ws+"/live"); !strings.Contains(page, "data-demo") {
			t.Errorf("%s: the page offers no game", ws)
		}
		id := ""
		for range 2 { // the second time it is the same
			res, err := http.Post("http://"+addr+"/api/"+ws+"/demo", "application/json", nil)
			if err != nil {
				t.Fatal(err)
			}
			var p struct{ ID string }
			body, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if err := json.Unmarshal(body, &p); err != nil || p.ID == "" || id != "" && p.ID != id {
				t.Fatalf("%s: %d %s", ws, res.StatusCode, body)
			}
			id = p.ID
		}
		for deadline := time.Now().Add(20 * time.Second); ; {
			var f struct{ Fit, Total int }
			_, body := get(t, "http://"+addr+"/api/"+ws+"/captures/"+id+"/frames?filter=state+%3D%3D+clean+%26%26+kind+%3D%3D+message")
			if err := json.Unmarshal([]byte(body), &f); err != nil {
				t.Fatal(body)
			}
			if f.Fit >= 10 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %d of %d frames are decoded", ws, f.Fit, f.Total)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// The shutdown of the server takes a few seconds at most and succeeds, whatever is open: a request whose body never arrives, a page that does
// not respond.
func TestServeEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &log{}
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir()}, strings.NewReader(""), io.Discard, out)
	}()
	var addr string
	for addr == "" {
		select {
		case status := <-done:
			t.Fatalf("the server ended with status %d: %s", status, out)
		case <-time.After(5 * time.Millisecond):
		}
		if m := address.FindStringSubmatch(out.String()); m != nil {
			addr = m[1]
		}
	}
	for _, request := range []string{
		"POST /api/tera/decode HTTP/1.1\r\nHost: " + addr + "\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
		"GET /ws/tera HTTP/1.1\r\nHost: " + addr + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(request, "GET") {
			if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 101"))); err != nil {
				t.Fatal(err)
			}
		}
	}
	begun := time.Now()
	cancel()
	select {
	case status := <-done:
		if took := time.Since(begun); status != exitOK || took > shutdownTime+2*time.Second {
			t.Errorf("status %d after %v: %s", status, took, out)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the server does not end")
	}
}
