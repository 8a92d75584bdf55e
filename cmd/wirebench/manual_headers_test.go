package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The page about headers, command by command: each block is a file, which the text before it names, or commands of a shell. Those that the page
// shows with an answer must give it. What was sent is checked by rules of this test, too.
func TestManualHeaders(t *testing.T) {
	page, err := filepath.Abs("../../web/docs/headers.md") // the reader works elsewhere
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	sh := newReader(t)
	defer sh.end()
	shown := strings.Split(string(text), "\n```")
	for i := 1; i < len(shown); i += 2 {
		kind, body, _ := strings.Cut(shown[i], "\n")
		switch body += "\n"; kind {
		case "sh":
			for line := range strings.Lines(body) {
				sh.run(strings.TrimSpace(line))
			}
		case "console":
			if got := sh.console(body); got != body {
				t.Errorf("the page shows\n%s\nbut the output is\n%s", body, got)
				shown[i] = kind + "\n" + strings.TrimSuffix(got, "\n")
			}
		default:
			names := regexp.MustCompile("`([a-z]+/[a-z.]+)`").FindAllStringSubmatch(shown[i-1], -1)
			if names == nil {
				t.Fatalf("no file for a block of %s", kind)
			}
			sh.store(names[len(names)-1][1], body)
		}
	}
	if *update && t.Failed() {
		if err := os.WriteFile(page, []byte(strings.Join(shown, "\n```")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	tavern, realm := sh.heardBy("tavern"), sh.heardBy("realm")
	if got, want := fmt.Sprint(sealedBy(t, tavern)), "[01/00 02/01 01/00 02/01 01/01]"; got != want {
		t.Errorf("the server of the tavern heard %s, want %s", got, want)
	}
	if got := fmt.Sprint(sealedBy(t, sh.answered("tavern"))); got != "[01/03]" {
		t.Errorf("the client of the tavern got %s", got)
	}
	var codes []byte
	for b := realm; len(b) > 0; {
		n := 0
		if len(b) >= 4 {
			n = int(binary.LittleEndian.Uint16(b[2:]))
		}
		if n < 4 || n > len(b) || b[0] != 0xff {
			t.Fatalf("no message starts at %x", b)
		}
		codes, b = append(codes, b[1]), b[n:]
	}
	if string(codes) != "\x25\x0c\x25\x0c\x25" || !bytes.HasSuffix(realm, []byte("\x08\x00\x00\x00bob the builder\x00\xff\x25\x08\x00\xd3\x04\x00\x00")) {
		t.Errorf("the server of the realm heard %x in %x", codes, realm)
	}
}

// sealedBy returns codes and flags of the messages of the tavern, after their lengths and checksums are checked.
func sealedBy(t *testing.T, b []byte) (all []string) {
	t.Helper()
	for len(b) > 0 {
		n := 0
		if len(b) >= 5 {
			n = int(b[2])<<16 | int(b[3])<<8 | int(b[4])
		}
		if n < 9 || n > len(b) {
			t.Fatalf("no message starts at %x", b)
		}
		if have, want := binary.LittleEndian.Uint32(b[n-4:]), crc32.ChecksumIEEE(b[:n-4]); have != want {
			t.Errorf("%x has the checksum %08x, want %08x", b[:n], have, want)
		}
		all, b = append(all, fmt.Sprintf("%02x/%02x", b[0], b[1])), b[n:]
	}
	return all
}

// reader is a person who does what a page says, in a folder of their own. Only the ports are others.
type reader struct {
	t         *testing.T
	variables map[string]string
	ports     map[string]string // addresses of the page, and those in their place
	server    string            // of the workbench
	proxy     func()            // ends the proxy that runs
	client    net.Conn
	project   string   // of the listener that the client is connected to
	loaded    []string // commands that store captures

	mu      sync.Mutex
	heard   map[string]*[]byte // by the server, for the project of the client
	answers map[string]*[]byte // to the last client of a project
	files   map[string]*[]byte // that grow
}

func newReader(t *testing.T) *reader {
	t.Helper()
	t.Chdir(t.TempDir())
	return &reader{t: t, variables: map[string]string{}, ports: map[string]string{}, heard: map[string]*[]byte{}, answers: map[string]*[]byte{}, files: map[string]*[]byte{}}
}

func (r *reader) end() {
	if r.client != nil {
		r.client.Close()
	}
	if r.proxy != nil {
		r.proxy()
	}
}

func (r *reader) store(name, text string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// grows returns a file that nc writes.
func (r *reader) grows(name string) *[]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := new([]byte)
	r.files[name] = f
	return f
}

// copies appends what comes on a connection to files.
func (r *reader) copies(c net.Conn, files ...*[]byte) {
	defer c.Close()
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		r.mu.Lock()
		for _, f := range files {
			*f = append(*f, buf[:n]...)
		}
		r.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (r *reader) heardBy(project string) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.heard[project]; f != nil {
		return bytes.Clone(*f)
	}
	return nil
}

func (r *reader) answered(project string) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(*r.answers[project])
}

// mine replaces the addresses and the variables of a command.
func (r *reader) mine(command string) string {
	command = regexp.MustCompile(`127\.0\.0\.1[: ]\d+`).ReplaceAllStringFunc(command, func(s string) string {
		port := s[len("127.0.0.1 "):]
		if r.ports[port] == "" {
			r.ports[port] = strconv.Itoa(freePorts(r.t, "tcp", 1))
		}
		return s[:len("127.0.0.1 ")] + r.ports[port]
	})
	command = strings.ReplaceAll(command, "localhost:8080", r.server)
	for name, value := range r.variables {
		command = strings.ReplaceAll(command, "$"+name, value)
	}
	return command
}

// run runs a line of a shell.
func (r *reader) run(line string) {
	r.t.Helper()
	command := r.mine(line)
	if m := regexp.MustCompile(`^([A-Z]+)=\$\((.*)\)$`).FindStringSubmatch(command); m != nil {
		r.variables[m[1]] = strings.TrimSpace(r.output(m[2]))
		return
	}
	words := strings.Fields(command)
	switch {
	case strings.HasPrefix(command, "nc -lk "):
		l, err := net.Listen("tcp", net.JoinHostPort(words[2], words[3]))
		if err != nil {
			r.t.Fatal(err)
		}
		r.t.Cleanup(func() { l.Close() })
		file := r.grows(words[5])
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				r.mu.Lock()
				if r.heard[r.project] == nil {
					r.heard[r.project] = new([]byte)
				}
				own := r.heard[r.project]
				r.mu.Unlock()
				go r.copies(c, file, own)
			}
		}()
	case strings.HasPrefix(command, "{ echo "):
		r.connect(command)
	case command == "wirebench":
		r.server, _ = started(r.t, "serve", "--listen", "127.0.0.1:0", "--data", "wirebench-data")
	case strings.HasPrefix(command, "wirebench proxy "):
		out, ctx, cancel, done := &log{}, r.t.Context(), context.CancelFunc(nil), make(chan int, 1)
		ctx, cancel = context.WithCancel(ctx)
		go func() { done <- run(ctx, words[1:], strings.NewReader(""), io.Discard, out) }()
		r.proxy = func() {
			cancel()
			if status := <-done; status != exitOK {
				r.t.Errorf("%s: status %d: %s", line, status, out)
			}
			r.proxy = nil
		}
		until(r.t, "the proxy listens", func() bool { return len(done) > 0 || strings.Contains(out.String(), "is relayed to") })
	default:
		r.output(command)
	}
}

// connect is a client that sends bytes and stays connected. Another one ends before.
func (r *reader) connect(command string) {
	r.t.Helper()
	m := regexp.MustCompile(`^\{ echo ([0-9a-f ]+) \| xxd -r -p; cat; \} \| nc (\S+) (\d+) > (\S+)$`).FindStringSubmatch(command)
	if m == nil {
		r.t.Fatalf("what does it do? %s", command)
	}
	data, err := hex.DecodeString(strings.ReplaceAll(m[1], " ", ""))
	if err != nil {
		r.t.Fatal(err)
	}
	if r.client != nil {
		r.client.Close()
	}
	r.mu.Lock()
	r.project = "tavern"
	if m[3] == r.ports["17912"] {
		r.project = "realm"
	}
	r.mu.Unlock()
	if r.client, err = net.Dial("tcp", net.JoinHostPort(m[2], m[3])); err != nil {
		r.t.Fatal(err)
	}
	r.answers[r.project] = r.grows(m[4])
	go r.copies(r.client, r.answers[r.project])
	if _, err := r.client.Write(data); err != nil {
		r.t.Fatal(err)
	}
}

// output returns the output of a command that ends.
func (r *reader) output(command string) string {
	r.t.Helper()
	whole := command
	command, path, filtered := strings.Cut(command, " | jq -r .")
	file, stored := "", false
	if m := regexp.MustCompile(`^(.*) > ([\w.]+)$`).FindStringSubmatch(command); m != nil {
		command, file, stored = m[1], m[2], true
	}
	words := manualWords(command)
	out := ""
	switch words[0] {
	case "wirebench":
		stdout, stderr, status := cli(r.t, "", words[1:]...)
		if out = stdout; status != exitOK {
			out += stderr
		}
	case "curl":
		if out = r.request(words); stored && !slices.Contains(r.loaded, whole) {
			r.loaded = append(r.loaded, whole)
		}
	default:
		r.t.Fatalf("what is this program? %s", command)
	}
	if filtered {
		var answer map[string]any
		if err := json.Unmarshal([]byte(out), &answer); err != nil {
			r.t.Fatal(err)
		}
		out = fmt.Sprint(answer[path])
	}
	if stored {
		r.store(file, out)
	}
	return out
}

// request sends a request of curl. It waits for a message to be held, as a person would.
func (r *reader) request(words []string) (answer string) {
	r.t.Helper()
	method, body, address, header := "GET", "", "", http.Header{}
	for i := 1; i < len(words); i++ {
		switch w := words[i]; w {
		case "-s":
		case "-H":
			i++
			name, value, _ := strings.Cut(words[i], ": ")
			header.Set(name, value)
		case "-d":
			i++
			method, body = "POST", words[i]
		case "-T":
			i++
			text, err := os.ReadFile(words[i])
			if err != nil {
				r.t.Fatal(err)
			}
			method, body = "PUT", string(text)
		default:
			address = "http://" + w
		}
	}
	until(r.t, strings.Join(words, " "), func() bool {
		q, err := http.NewRequestWithContext(r.t.Context(), method, address, strings.NewReader(body))
		if err != nil {
			r.t.Fatal(err)
		}
		q.Header = header
		res, err := http.DefaultClient.Do(q)
		if err != nil {
			r.t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		if answer = string(text); res.StatusCode >= 300 && (res.StatusCode != 404 || !strings.HasSuffix(address, "/held")) {
			r.t.Fatalf("%s: %s %s", address, res.Status, text)
		}
		return res.StatusCode < 300
	})
	return answer
}

// console runs the commands of a block, and returns the block with what they print. It waits for what the block shows, for ten seconds at most,
// and until then loads captures again: people are slower.
func (r *reader) console(block string) string {
	r.t.Helper()
	if r.proxy != nil {
		until(r.t, "the server hears the client", func() bool { return len(r.heardBy(r.project)) > 0 })
		r.client.Close()
		r.proxy()
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var got strings.Builder
		for line := range strings.Lines(block) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				got.WriteString(line)
				got.WriteString(r.prints(strings.TrimSpace(command)))
			}
		}
		if got.String() == block || time.Now().After(end) {
			return got.String()
		}
		for _, command := range r.loaded { // as soon as it has more
			r.output(command)
		}
	}
}

// prints is output, of wirebench, or of a file that grows in hex.
func (r *reader) prints(command string) string {
	r.t.Helper()
	m := regexp.MustCompile(`^(?:tail -c (\d+) (\S+) \| )?xxd -p(?: -c (\d+))?(?: (\S+))?$`).FindStringSubmatch(command)
	if m == nil {
		return r.output(r.mine(command))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.files[m[2]+m[4]]
	if f == nil {
		r.t.Fatalf("no file: %s", command)
	}
	b := *f
	if n, err := strconv.Atoi(m[1]); err == nil {
		b = b[max(len(b)-n, 0):]
	}
	width := 30
	if n, err := strconv.Atoi(m[3]); err == nil {
		width = n
	}
	var out strings.Builder
	for len(b) > 0 {
		n := min(len(b), width)
		fmt.Fprintf(&out, "%x\n", b[:n])
		b = b[n:]
	}
	return out.String()
}
