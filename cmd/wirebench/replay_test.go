package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"wirebench/codec/packet"
	"wirebench/codec/pcap"
	"wirebench/codec/transport"
	"wirebench/defs/benchtest"
	"wirebench/defs/corpora"
	"wirebench/defs/schema"
)

// heard collects the output of a command and waits for its listening address.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
	at   chan string
	told bool
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(p)
	if _, rest, ok := strings.Cut(h.text.String(), "listening on "); ok && !h.told && strings.Contains(rest, "\n") {
		h.told = true
		h.at <- strings.Fields(rest)[0]
	}
	return len(p), nil
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// bothSides replays the server of a recording to its client.
func bothSides(t *testing.T, file string, flags ...string) {
	t.Helper()
	errs := &heard{at: make(chan string, 1)}
	var out bytes.Buffer
	done := make(chan int, 1)
	go func() {
		args := append([]string{"replay", file, "--listen", "127.0.0.1:0", "--speed", "1000", "--json"}, flags...)
		done <- run(t.Context(), args, strings.NewReader(""), &out, errs)
	}()
	var address string
	select {
	case address = <-errs.at:
	case status := <-done:
		t.Fatalf("the server: status %d\n%s", status, errs)
	}
	text, e, status := cli(t, "", append([]string{"replay", file, "--to", address, "--speed", "1000", "--json"}, flags...)...)
	serverStatus := <-done
	var client, server struct {
		OK                                             bool
		Sent, Matched, Received, Different, Unexpected int
		Stopped                                        string
	}
	if err := json.Unmarshal([]byte(text), &client); err != nil {
		t.Fatalf("the client: %v\n%s%s", err, text, e)
	}
	if err := json.Unmarshal(out.Bytes(), &server); err != nil {
		t.Fatalf("the server: %v\n%s%s", err, &out, errs)
	}
	if status != 0 || serverStatus != 0 || !client.OK || !server.OK {
		t.Errorf("client %d %+v\nserver %d %+v", status, client, serverStatus, server)
	}
	if client.Matched == 0 || server.Matched == 0 || client.Unexpected+server.Unexpected > 0 {
		t.Errorf("client %+v, server %+v", client, server)
	}
}

// talk writes a capture of a client of the built-in demo game.
func talk(t *testing.T) string {
	t.Helper()
	message := func(group, name, value string) []byte {
		out, errs, status := cli(t, value, "encode", "--protocol", "muta", "--group", group, "--message", name)
		data, err := hex.DecodeString(strings.TrimSpace(out))
		if status != 0 || err != nil {
			t.Fatal(out, errs, err)
		}
		return data
	}
	var b bytes.Buffer
	w, err := pcap.NewWriter(&b, "test")
	if err != nil {
		t.Fatal(err)
	}
	iface, err := w.Interface(pcap.Interface{Link: packet.LinkEthernet})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1_700_000_000, 0)
	s := pcap.NewSynthetic(w, iface, transport.Conn{
		Proto: transport.TCP, Client: netip.MustParseAddrPort("10.0.0.2:4000"), Server: netip.MustParseAddrPort("10.0.0.1:5000"),
	})
	for _, err := range []error{
		s.Open(at),
		s.Data(schema.ToServer, at.Add(time.Second), message("clmsg", "login", `{"account":"lann","build":70000,"password":[`+strings.Repeat("7,", 31)+`7]}`), ""),
		s.Data(schema.ToClient, at.Add(2*time.Second), message("svmsg", "login_result", `{"ok":1,"account":"123456789012"}`), ""),
		s.Data(schema.ToServer, at.Add(3*time.Second), message("clmsg", "say", `{"text":"hello"}`), ""),
		s.Close(schema.ToServer, at.Add(4*time.Second)),
		s.Close(schema.ToClient, at.Add(4*time.Second)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "talk.pcapng")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A recording replayed by both commands against each other has no differences.
func TestReplayBothSides(t *testing.T) {
	t.Run("muta", func(t *testing.T) { bothSides(t, talk(t), "--protocol", "muta") })
}

func TestCorporaReplayBothSides(t *testing.T) {
	if benchtest.Raced {
		t.Skip("one goroutine at a time: tested without the race detector")
	}
	corpora.Run(t, testReplayBothSidesOfCorpora)
}

func testReplayBothSidesOfCorpora(t *testing.T, c *corpora.Corpus) {
	dir := c.Dir(t)
	tera := []string{"--library", filepath.Join(dir, "tera/toolbox/definitions"), "--map", filepath.Join(dir, "tera/toolbox/protocol.387396.map")}
	for _, c := range []struct {
		name  string
		flags []string
	}{
		{"captures/muta-session.pcapng", []string{"--library", filepath.Join(dir, "captures/muta-session.def")}},
		{"captures/tera-session.pcapng", tera},
		{"subspace/plain-session.pcap", []string{"--protocol", "subspace", "--conn", "127.0.0.1:40001-127.0.0.1:5000"}},
		{"subspace/vie-session.pcap", []string{"--protocol", "subspace", "--conn", "127.0.0.1:40001-127.0.0.1:5010"}},
	} {
		t.Run(c.name, func(t *testing.T) { bothSides(t, filepath.Join(dir, c.name), c.flags...) })
	}
}

func TestReplayMakesScripts(t *testing.T) {
	file := talk(t)
	out, errs, status := cli(t, "", "replay", file, "--protocol", "muta", "--make-script", "-")
	if status != 0 || !strings.Contains(out, `"message": "clmsg/say"`) || !strings.Contains(out, `"play": "client"`) {
		t.Fatalf("%d %s\n%s", status, errs, out)
	}
	path := filepath.Join(t.TempDir(), "server.json")
	if _, errs, status = cli(t, "", "replay", file, "--protocol", "muta", "--play", "server", "--make-script", path); status != 0 {
		t.Fatal(errs)
	}
	for _, test := range []struct{ args, want string }{
		{path + " --to 127.0.0.1:1", "the other side"},
		{path, "is required"},
		{path + " --to 127.0.0.1:1 --listen 127.0.0.1:1", "exclude each other"},
		{file + " --protocol muta --to 169.254.169.254:80", "link-local"},
		{file + " --protocol muta --to 127.0.0.1", "HOST:PORT"},
		{file + " --protocol muta --to [::ffff:169.254.169.254]:80", ": 169.254.169.254 is refused"},
		{file + " --protocol muta --to 127.0.0.1:1 --speed -1", "--speed"},
		{file + " --protocol muta --to 127.0.0.1:1 --speed 0", "above 0"},
		{file + " --protocol muta --to 127.0.0.1:1 --speed NaN", "above 0"},
		{file + " --protocol muta --to 127.0.0.1:1 --conn other", "has no messages"},
		{file + " --protocol tera --to 127.0.0.1:1 --play x", "--play"},
		{file + " --protocol muta --listen 127.0.0.1:0 --group x/y", "--group"},
	} {
		_, errs, status := cli(t, "", append([]string{"replay"}, strings.Fields(test.args)...)...)
		if status != 2 || !strings.Contains(errs, test.want) {
			t.Errorf("%s: status %d, %s; want %q", test.args, status, errs, test.want)
		}
	}
}
