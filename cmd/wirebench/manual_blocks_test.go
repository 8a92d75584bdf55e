package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wirebench/defs"
	"wirebench/server/wsconn"
)

// manualBlock is a block of the manual.
type manualBlock struct {
	page, kind, text string
}

func (b manualBlock) String() string {
	first, _, _ := strings.Cut(b.text, "\n")
	return b.page + ": " + first
}

// manualBlocks returns all blocks of the manual and the README.
func manualBlocks(t *testing.T) (all []manualBlock) {
	for page, text := range manual(t) {
		in := false
		var b manualBlock
		for line := range strings.Lines(text) {
			rest, fence := strings.CutPrefix(line, "```")
			switch {
			case fence && !in:
				in, b = true, manualBlock{page: page, kind: strings.TrimSpace(rest)}
			case fence:
				in, all = false, append(all, b)
			case in:
				b.text += line
			}
		}
		if in {
			t.Fatalf("%s: a block has no end", page)
		}
	}
	return all
}

// notRun are the blocks that cannot be run, with the reason.
var notRun = map[string]string{
	"cli.md: C_CHAT.1 41 41 0 0 0 0": "scores of captures of a real game",
	"contributing.md: definition text ── defs/<dialect>: parse, lower ──► schema.Message: fields for display, items on the wire": "a drawing",
}

// fileOfKind returns the name of a file that a kind of block is the text of: a kind is the name of a language, or the extension of its files.
func fileOfKind(kind string) string {
	if kind == "envelope" {
		return "protocol.envelope"
	}
	for _, d := range defs.Dialects {
		if kind == d.Name || kind == d.Ext[1:] {
			return d.Example.Name
		}
	}
	return ""
}

// Every block of the manual is what it says: definitions parse without mistakes, commands exist and accept their arguments, configurations
// have the facts that matter. A block without a kind, or one that is not run and not in the list, fails.
func TestManualBlocks(t *testing.T) {
	counts, left := map[string]int{}, map[string]bool{}
	for _, b := range manualBlocks(t) {
		counts[b.kind]++
		if name := fileOfKind(b.kind); name != "" {
			args := []string{"check", write(t, map[string]string{name: b.text}) + "/" + name}
			if out, said, status := cli(t, "", args...); status != 0 || strings.Contains(out+said, "error") || strings.Contains(out+said, "warning") {
				t.Errorf("%s: %d %s%s", b, status, out, said)
			}
			continue
		}
		switch b.kind {
		case "yaml":
			if strings.HasPrefix(b.text, "# Traefik") {
				for _, want := range []string{"rule: Host(`wirebench.example`)", `tls: "true"`, `loadbalancer.server.port: "8080"`} {
					if !strings.Contains(b.text, want) {
						t.Errorf("%s: lacks %s", b, want)
					}
				}
				continue
			}
			if out, said, status := cli(t, "", "check", write(t, map[string]string{"proto.yml": b.text})+"/proto.yml"); status != 0 || strings.Contains(out+said, "error") {
				t.Errorf("%s: %d %s%s", b, status, out, said)
			}
		case "console": // TestTranscripts, TestManualHeaders
			if b.page != "README.md" && b.page != "cli.md" && b.page != "protos.md" && b.page != "headers.md" {
				t.Errorf("%s: TestTranscripts does not read this page", b)
			}
		case "sh":
			if b.page == "headers.md" { // TestManualHeaders
				continue
			}
			for line := range strings.Lines(b.text) {
				manualCommand(t, b, strings.TrimSpace(line))
			}
		case "filter":
			for line := range strings.Lines(b.text) {
				protocol := "tera"
				if strings.HasPrefix(line, "core.") {
					protocol = "subspace"
				}
				if _, said, status := cli(t, "", "frames", "--protocol", protocol, "--filter", strings.TrimSpace(line), samplePcap(t, protocol)); status != 0 {
					t.Errorf("%s: %s: %s", b, line, said)
				}
			}
		case "jsonl":
			if out, said, status := cli(t, b.text, "frames", "--protocol", "muta", "--json", "-"); status != 0 || strings.Count(out, "\n") != strings.Count(b.text, "\n") {
				t.Errorf("%s: %d %s%s", b, status, out, said)
			}
		case "steps":
			script := `{"version":1,"protocol":"muta","play":"client","steps":[` + strings.Join(lines(b.text), ",") + `]}`
			if out, said, status := cli(t, script, "replay", "-", "--make-script", "-"); status != 0 || !strings.Contains(out, "login_result") {
				t.Errorf("%s: %d %s", b, status, said)
			}
		case "keys":
			file := write(t, map[string]string{"keys": strings.Replace(b.text, "HEX", strings.Repeat("0a", 512), 1)}) + "/keys"
			if _, said, status := cli(t, "", "frames", "--protocol", "tera", "--keys", file, samplePcap(t, "tera")); status != 0 {
				t.Errorf("%s: %d %s", b, status, said)
			}
		case "settings":
			manualSettings(t, b)
		case "toml":
			file := write(t, map[string]string{"wirebench.toml": b.text}) + "/wirebench.toml"
			if out, said, status := cli(t, "", "config", "--config", file); status != 0 || !strings.Contains(out, `listen = "0.0.0.0:8080" # `+file) {
				t.Errorf("%s: %d %s", b, status, said)
			}
		case "caddy":
			if !strings.Contains(b.text, "wirebench.example {\n\treverse_proxy 127.0.0.1:8080\n}") {
				t.Errorf("%s: not as in the compose file", b)
			}
		case "nginx":
			manualNginx(t, b)
		case "nats":
			manualNATS(t, b)
		case "sql": // TestToolDuckDBManual
		case "js", "ts", "go": // TestToolManualClients, TestManualGoClient
			if b.page != "clients.md" {
				t.Errorf("%s: nothing runs it", b)
			}
		case "python": // not run: the columns that it names are fields of the sample
			for _, m := range regexp.MustCompile(`\["(\w+)"\]|groupby\("(\w+)"\)`).FindAllStringSubmatch(b.text, -1) {
				definition, err := os.ReadFile("../../defs/library/tera/S_SPAWN_NPC.1.def")
				if name := m[1] + m[2]; err != nil || len(name) > 1 && !regexp.MustCompile(`\b`+name+`\b`).Match(definition) && !strings.Contains(b.text, `["`+name+`"] =`) {
					t.Errorf("%s: %s is no field: %v", b, name, err)
				}
			}
		case "text":
			if notRun[b.String()] == "" {
				t.Errorf("%s: not run, and without a reason", b)
			}
			left[b.String()] = true
		default:
			t.Errorf("%s: a block of the kind %q", b, b.kind)
		}
	}
	for name := range notRun {
		if !left[name] {
			t.Errorf("%s is no block", name)
		}
	}
	for kind, least := range map[string]int{"tera": 2, "muta": 1, "subspace": 1, "json": 2, "yaml": 2, "envelope": 2, "sh": 20, "console": 6, "filter": 1, "jsonl": 1, "steps": 1, "keys": 1, "toml": 1, "caddy": 1, "nginx": 1, "settings": 1} {
		if counts[kind] < least {
			t.Errorf("%d blocks of the kind %s, not %d", counts[kind], kind, least)
		}
	}
	if counts["text"] != len(notRun) {
		t.Errorf("%d blocks are not run", counts["text"])
	}
}

// samplePcap writes the sample capture of a protocol to a file.
func samplePcap(t *testing.T, protocol string) string {
	t.Helper()
	data, err := os.ReadFile("../../defs/library/" + protocol + "/demo.pcapng")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "session.pcapng")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// words splits a command line as a shell does: quotes, and a comment.
func manualWords(line string) (out []string) {
	for _, m := range regexp.MustCompile(`'([^']*)'|(\S+)`).FindAllStringSubmatch(line, -1) {
		if strings.HasPrefix(m[0], "#") {
			break
		}
		out = append(out, m[1]+m[2])
	}
	return out
}

// manualCommand checks a line of shell: each program of a pipe is one that the manual may name, and wirebench accepts its command, flags and
// arguments. Requests of curl go to routes that there are.
func manualCommand(t *testing.T, b manualBlock, line string) {
	t.Helper()
	for _, part := range strings.Split(line, " | ") {
		words := manualWords(part)
		for len(words) > 0 && regexp.MustCompile(`^[A-Z]+=`).MatchString(words[0]) {
			words = words[1:]
		}
		if i := slices.Index(words, ">"); i >= 0 {
			words = words[:i]
		}
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "wirebench", "./wirebench":
			root := newRoot()
			cmd, args, err := root.Find(words[1:])
			if err == nil {
				err = cmd.ParseFlags(args)
			}
			if err == nil && cmd.Args != nil {
				err = cmd.Args(cmd, cmd.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: %s: %v", b, part, err)
			}
			if cmd.Name() == "emit" {
				if _, said, status := cli(t, "", "emit", "--protocol", "muta", "--target", cmd.Flag("target").Value.String(), "--out", t.TempDir()); status != 0 {
					t.Errorf("%s: %s: %s", b, part, said)
				}
			}
		case "curl":
			manualRequest(t, b, words)
		case "go":
			if last := words[len(words)-1]; last != "./..." {
				if _, err := os.Stat("../../" + last); err != nil {
					t.Errorf("%s: %s: %v", b, part, err)
				}
			}
		case "docker":
			if i := slices.Index(words, "--profile"); i > 0 && len(compose(t, []string{"SITE=x.example"}, words[i+1]).Services) != 2 {
				t.Errorf("%s: %s: no such profile", b, part)
			}
		case "tcpdump", "tail", "iptables", "npx", "systemctl", "journalctl", "./game": // not ours
		default:
			t.Errorf("%s: %s: what is this program?", b, part)
		}
	}
}

// manualRequest sends a request of curl to a server.
func manualRequest(t *testing.T, b manualBlock, words []string) {
	t.Helper()
	addr, _ := started(t, "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	method, body, address, header := "GET", "", "", http.Header{}
	for i := 1; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-H":
			i++
			name, value, _ := strings.Cut(words[i], ": ")
			header.Set(name, value)
		case w == "-d":
			i++
			method, body = "POST", words[i]
		case w == "-X":
			i++
			method = words[i]
		case w == "-T":
			i++
			body = "12002b4e080039304c0061006e006e000000\n"
		case !strings.HasPrefix(w, "-"):
			address = regexp.MustCompile(`^(https?://)?[^/]+`).ReplaceAllString(w, "http://"+addr)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer bytes.Buffer
	_, _ = answer.ReadFrom(res.Body)
	if res.StatusCode != 200 || strings.Contains(address, "/decode") && !strings.Contains(answer.String(), `"status":"ok"`) {
		t.Errorf("%s: %s: %s %s", b, address, res.Status, &answer)
	}
}

// manualSettings sends the settings of a capture.
func manualSettings(t *testing.T, b manualBlock) {
	t.Helper()
	addr, _ := started(t, "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	_, list := get(t, "http://"+addr+"/api/v1/muta/captures")
	var all struct{ Captures []struct{ ID string } }
	if err := json.Unmarshal([]byte(list), &all); err != nil || len(all.Captures) == 0 {
		t.Fatalf("%v %s", err, list)
	}
	r, _ := http.NewRequestWithContext(t.Context(), "PATCH", "http://"+addr+"/api/v1/muta/captures/"+all.Captures[0].ID, strings.NewReader(b.text))
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer bytes.Buffer
	_, _ = answer.ReadFrom(res.Body)
	if res.StatusCode >= 300 && !strings.Contains(answer.String(), "protocol.1.map") { // there is no such map in the samples
		t.Errorf("%s: %s %s", b, res.Status, &answer)
	}
}

// manualNginx reads the configuration of nginx, and sends the requests of a browser at another port than 443 through a proxy that sets the
// headers as it says.
func manualNginx(t *testing.T, b manualBlock) {
	t.Helper()
	if strings.Count(b.text, "{") != strings.Count(b.text, "}") {
		t.Errorf("%s: the braces do not match", b)
	}
	headers := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\s*proxy_set_header (\S+) ([^;\s]+);$`).FindAllStringSubmatch(b.text, -1) {
		headers[m[1]] = m[2]
	}
	want := map[string]string{"Host": "$http_host", "Upgrade": "$http_upgrade", "Connection": "$connection_upgrade", "X-Forwarded-For": "$proxy_add_x_forwarded_for", "X-Forwarded-Proto": "$scheme"}
	if fmt.Sprint(headers) != fmt.Sprint(want) {
		t.Errorf("%s: sets %v", b, headers)
	}
	for _, line := range []string{"map $http_upgrade $connection_upgrade {\n\tdefault upgrade;\n\t'' close;\n}", "proxy_http_version 1.1;", "proxy_buffering off;", "client_max_body_size 2g;", "proxy_pass http://127.0.0.1:8080;"} {
		if !strings.Contains(b.text, line) {
			t.Errorf("%s: lacks %s", b, line)
		}
	}
	addr, _ := started(t, "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	to, err := url.Parse("http://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		switch host, _, _ := net.SplitHostPort(r.In.Host); headers["Host"] {
		case "$http_host":
			r.Out.Host = r.In.Host
		case "$host":
			r.Out.Host = host
		}
		r.SetXForwarded()
	}})
	t.Cleanup(front.Close)
	conn, err := wsconn.Dial(t.Context(), "ws"+strings.TrimPrefix(front.URL, "http")+"/ws/tera/page", http.Header{"Origin": {front.URL}}, 1<<20)
	if err != nil {
		t.Errorf("%s: a page behind it has no websocket: %v", b, err)
		return
	}
	conn.Drop()
}
