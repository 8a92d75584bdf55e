package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"wirebench/server/access"
	"wirebench/server/store"
)

// withAccounts makes a data folder in which there is an account.
func withAccounts(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	data, err := store.OpenData(folder, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	accounts, err := openAccounts(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, invited, err := accounts.Invite(access.Principal{Name: ""}, "", access.Grants{access.Everywhere: access.Admin})
	if err == nil {
		_, err = accounts.Accept(invited, "ann", "", "a long password")
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// A server is open to everybody only if it is for this machine alone and never had accounts. Any other one that cannot read its accounts does
// not start, whatever has happened to the file, and names it and the way out.
func TestServeIsNeverOpenByMistake(t *testing.T) {
	configs := map[string][]string{
		"loopback":         {"--listen", "127.0.0.1:0"},
		"with a token":     {"--listen", "127.0.0.1:0", "--token", "a token of sixteen"},
		"base URL":         {"--listen", "127.0.0.1:0", "--base-url", "https://wirebench.example"},
		"trusted proxy":    {"--listen", "127.0.0.1:0", "--trusted-proxy", "127.0.0.1"},
		"behind a proxy":   {"--listen", "127.0.0.1:0", "--base-url", "https://wirebench.example", "--trusted-proxy", "127.0.0.1"},
		"for all machines": {"--listen", "0.0.0.0:0"},
		"with a provider":  {"--listen", "127.0.0.1:0", "--oidc-issuer", "http://127.0.0.1:1", "--oidc-client", "x"},
	}
	if testing.Short() { // the two that differ most
		configs = map[string][]string{"loopback": configs["loopback"], "behind a proxy": configs["behind a proxy"]}
	}
	made, library := withAccounts(t), write(t, joinLib)
	state := func(change func(path string) error) func(t *testing.T) string {
		return func(t *testing.T) string {
			folder := t.TempDir()
			if err := os.CopyFS(folder, os.DirFS(made)); err != nil {
				t.Fatal(err)
			}
			if err := change(filepath.Join(folder, "accounts.json")); err != nil {
				t.Fatal(err)
			}
			return folder
		}
	}
	written := func(text string) func(t *testing.T) string {
		return state(func(path string) error { return os.WriteFile(path, []byte(text), 0o600) })
	}
	for _, c := range []struct {
		name string
		of   func(t *testing.T) string
		open bool // where the server is for this machine alone
		bad  bool
	}{
		{"never had any", func(t *testing.T) string { return t.TempDir() }, true, false},
		{"whole", state(func(string) error { return nil }), false, false},
		{"all removed", written(`{"accounts":[]}`), false, false},
		{"an earlier version", state(func(path string) error { return os.Remove(filepath.Join(filepath.Dir(path), accountsMark)) }), false, false},
		{"missing", state(os.Remove), false, true},
		{"missing since before the mark", state(func(path string) error {
			dir := filepath.Dir(path)
			log := `{"at":"2026-01-01T00:00:00Z","who":"Ann","id":"x","what":"sign in"}` + "\n"
			return errorsOf(os.Remove(path), os.Remove(filepath.Join(dir, accountsMark)), os.WriteFile(filepath.Join(dir, "audit.jsonl"), []byte(log), 0o600))
		}), false, true},
		{"0 bytes", written(""), false, true},
		{"a line break", written("\n"), false, true},
		{"null", written("null"), false, true},
		{"an object", written("{}"), false, true},
		{"an array", written("[]"), false, true},
		{"a text", written(`"accounts"`), false, true},
		{"another member", written(`{"account":[]}`), false, true},
		{"no list", written(`{"accounts":null}`), false, true},
		{"another list", written(`{"accounts":{}}`), false, true},
		{"cut", state(func(path string) error {
			text, err := os.ReadFile(path)
			return errorsOf(err, os.WriteFile(path, text[:len(text)/2], 0o600))
		}), false, true},
		{"zeros", written(strings.Repeat("\x00", 512)), false, true},
		{"a role that is none", written(`{"accounts":[{"id":"x","grants":{"*":"owner"}}]}`), false, true},
		{"a folder", state(func(path string) error { return errorsOf(os.Remove(path), os.Mkdir(path, 0o700)) }), false, true},
		{"a link to nothing", state(func(path string) error { return errorsOf(os.Remove(path), os.Symlink("nowhere", path)) }), false, true},
	} {
		for name, config := range configs {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				args := append([]string{"serve", "--data", c.of(t), "--library", library}, config...) // a small one starts fast
				if c.bad {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					out := &log{}
					stop := stopWhenServing(cancel, out)
					status := run(ctx, args, strings.NewReader(""), io.Discard, stop)
					if text := out.String(); status == exitOK || !strings.Contains(text, "accounts.json") || !strings.Contains(text, "wirebench token --reset --data") {
						t.Errorf("status %d: %s", status, text)
					}
					return
				}
				addr, out := startedAnywhere(t, args...)
				status, _ := get(t, addr+"/api/v1/projects")
				if open := c.open && name == "loopback"; (status == http.StatusOK) != open || !open && status != http.StatusUnauthorized {
					t.Errorf("without a token: %d %s", status, out)
				}
			})
		}
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// stopWhenServing is a writer to a log that calls stop when the server has started.
func stopWhenServing(stop func(), l *log) io.Writer { return &stopper{stop, l} }

type stopper struct {
	stop func()
	*log
}

func (s *stopper) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "Wirebench is at") {
		s.stop()
	}
	return s.log.Write(p)
}

// What the error names works: the token admits, and the server stays closed to others.
func TestTokenReset(t *testing.T) {
	folder := withAccounts(t)
	path := filepath.Join(folder, "accounts.json")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, status := cli(t, "", "token", "--data", folder); status == exitOK || !strings.Contains(stderr, path) {
		t.Errorf("without --reset: %d %s", status, stderr)
	}
	token, stderr, status := cli(t, "", "token", "--reset", "--data", folder)
	if status != exitOK || !strings.Contains(stderr, "accounts.json.was-") {
		t.Fatalf("%d %s", status, stderr)
	}
	addr, _ := started(t, "serve", "--listen", "127.0.0.1:0", "--data", folder)
	if status, _ := get(t, "http://"+addr+"/api/v1/projects"); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d", status)
	}
	if status, body := get(t, "http://"+addr+"/api/v1/projects", "Authorization", "Bearer "+strings.TrimSpace(token)); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}

// A token of the command line takes the place of that of the first start, for good.
func TestServeTokenReplacesTheFirst(t *testing.T) {
	folder, first := t.TempDir(), ""
	ask := func(addr, token string) int {
		status, _ := get(t, "http://127.0.0.1"+addr[strings.LastIndexByte(addr, ':'):]+"/api/v1/projects", "Authorization", "Bearer "+token)
		return status
	}
	for _, c := range []struct {
		name  string
		args  []string
		valid bool
	}{{"first", nil, true}, {"another", []string{"--token", "a token of sixteen"}, false}, {"without it again", nil, false}} {
		t.Run(c.name, func(t *testing.T) {
			addr, out := started(t, append([]string{"serve", "--listen", "0.0.0.0:0", "--data", folder}, c.args...)...)
			if m := regexp.MustCompile(`The access token is (\S{20,})`).FindStringSubmatch(out.String()); m != nil && first == "" {
				first = m[1]
			}
			if status := ask(addr, first); (status == http.StatusOK) != c.valid {
				t.Errorf("the first token: %d", status)
			}
			if c.name == "another" && ask(addr, c.args[1]) != http.StatusOK {
				t.Error("the token of the command line is refused")
			}
		})
	}
}

// startedAnywhere is started for servers with an address of their own for clients, too.
func startedAnywhere(t *testing.T, args ...string) (url string, out *log) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out = &log{}
	done := make(chan int, 1)
	go func() { done <- run(ctx, args, strings.NewReader(""), io.Discard, out) }()
	t.Cleanup(func() {
		cancel()
		if status := <-done; status != exitOK {
			t.Errorf("the server ended with status %d: %s", status, out)
		}
	})
	for {
		if m := regexp.MustCompile(`Wirebench is at \S+.*:(\d+)\n`).FindStringSubmatch(out.String()); m != nil {
			return "http://127.0.0.1:" + m[1], out
		}
		select {
		case status := <-done:
			done <- status
			t.Fatalf("the server ended with status %d: %s", status, out)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
