package main

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"wirebench/server/wsconn"
)

// TestBaseServer is the server of TestBasePath, in a process of its own: its path is that of the process.
func TestBaseServer(t *testing.T) {
	args := os.Getenv("WIREBENCH_BASE_ARGS")
	if args == "" {
		t.Skip("for TestBasePath")
	}
	os.Exit(run(context.Background(), strings.Fields(args), os.Stdin, os.Stdout, os.Stderr))
}

// A server at a path of its host name has that path in all addresses, whether the reverse proxy takes it off or not: pages, scripts, styles,
// redirects and cookies.
func TestBasePath(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const token = "a token of the test"
	cmd := exec.CommandContext(t.Context(), self, "-test.run", "TestBaseServer$")
	cmd.Env = append(os.Environ(), "WIREBENCH_SERVE_TOKEN="+token, "WIREBENCH_BASE_ARGS=serve --listen 127.0.0.1:18437 --base-url http://127.0.0.1:18437/tools/wb/ --data "+t.TempDir())
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	const at = "http://127.0.0.1:18437"
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar}
	get := func(path string) (*http.Response, string) {
		t.Helper()
		resp, err := client.Get(at + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp, string(text)
	}
	for tries := 0; ; tries++ {
		if resp, err := http.Get(at + "/tools/wb/healthz"); err == nil {
			resp.Body.Close()
			break
		} else if tries > 2400 {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	resp, err := client.PostForm(at+"/tools/wb/access", url.Values{"token": {token}, "to": {"/"}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 || resp.Request.URL.Path != "/tools/wb/p/tera/definitions" {
		t.Errorf("signing in leads to %s: %s", resp.Request.URL, resp.Status)
	}
	if u, _ := url.Parse(at + "/other"); len(jar.Cookies(u)) > 0 {
		t.Error("the cookie is sent to other paths")
	}
	paths := regexp.MustCompile(`(?:href|src|action)="(/[^"]*)"`)
	for _, page := range []string{"/p/tera/definitions", "/p/tera/captures", "/p/tera/live", "/projects", "/docs", "/docs/filters", "/access/me", "/access/people", "/api/docs", "/nothing/here"} {
		_, text := get("/tools/wb" + page)
		all := paths.FindAllStringSubmatch(text, -1)
		if len(all) < 5 {
			t.Errorf("%s has %d addresses", page, len(all))
		}
		for _, m := range all {
			if !strings.HasPrefix(m[1], "/tools/wb/") {
				t.Errorf("%s: %s", page, m[0])
			}
		}
		if strings.Contains(text, "<html") && !strings.HasPrefix(page, "/access") && !strings.Contains(text, `data-base="/tools/wb"`) {
			t.Errorf("%s does not tell its scripts the path", page)
		}
	}
	conn, err := wsconn.Dial(t.Context(), "ws"+strings.TrimPrefix(at, "http")+"/tools/wb/ws/tera/page", http.Header{"Authorization": {"Bearer " + token}}, 1<<20)
	if err != nil {
		t.Errorf("the socket of a page: %v", err)
	} else {
		conn.Drop()
	}
	// A proxy in front may send the host without its port, or its own name for this machine: pages at the base URL are no other site.
	for _, c := range []struct {
		host, origin   string
		upgrade, write int
	}{
		{"127.0.0.1:18437", at, 101, 200},
		{"127.0.0.1", at, 101, 200},
		{"localhost:8080", at, 101, 200},
		{"127.0.0.1", "http://127.0.0.1:1", 403, 403},
		{"127.0.0.1", "http://elsewhere.example", 403, 403},
		{"elsewhere.example", at, 421, 421},
	} {
		ask := func(method, path, body string, header http.Header) int {
			r, err := http.NewRequestWithContext(t.Context(), method, at+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Host, r.Header = c.host, header
			r.Header.Set("Origin", c.origin)
			r.Header.Set("Authorization", "Bearer "+token)
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			return resp.StatusCode
		}
		upgrade := ask("GET", "/tools/wb/ws/tera/page", "", http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}})
		write := ask("POST", "/tools/wb/api/v1/tera/paste", `{"text":"00"}`, http.Header{"Content-Type": {"application/json"}})
		if upgrade != c.upgrade || write != c.write {
			t.Errorf("host %s, origin %s: %d and %d, want %d and %d", c.host, c.origin, upgrade, write, c.upgrade, c.write)
		}
	}
	for _, path := range []string{"/tools/wb/static/app.js", "/static/app.js", "/tools/wb/api/v1/projects", "/tools/wb/api/tera/proxies", "/tools/wb"} {
		if resp, _ := get(path); resp.StatusCode != 200 {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
}
