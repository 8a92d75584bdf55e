package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Datagrams without bytes are relayed and listed, while the traffic runs and in its recording, for each kind of envelope, and whether the listener
// is operated or not.
func TestBlankDatagrams(t *testing.T) {
	const muta = "group: clmsg\n\npacket: ping\n   __group = clmsg\n   n       = uint8\n"
	others := map[string]int{"subspace": 2, "datagram": 2, "lengths": 7, "bundles": 7, "cipher": 2} // frames of the two datagrams with bytes
	for name, files := range map[string]map[string]string{
		"subspace": nil,
		"datagram": {"game.def": muta, "protocol.envelope": "carrier udp\nframe datagram\ncode u8\n"},
		"lengths":  {"game.def": muta, "protocol.envelope": "carrier udp\nframe length u8\ncode u8\nfield session u16 le at 1\nchecksum sum sum8 at -1\n"},
		"bundles":  {"game.def": muta, "protocol.envelope": "carrier udp\nframe datagram\ncode u8\nbundle at 2 frame length u8\n"},
		"cipher":   {"game.def": muta, "protocol.envelope": "carrier udp\nframe datagram\ncode u8\ncipher rc4 key hex 0102\n"},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			if files != nil {
				folder := filepath.Join(data, "library")
				for file, text := range files {
					if err := os.MkdirAll(folder, 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if _, said, status := cli(t, "", "project", "new", name, "--name", name, "--library", folder, "--data", filepath.Join(data, "d")); status != exitOK {
					t.Fatal(said)
				}
			}
			addr, _ := started(t, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(data, "d"))
			for _, how := range []string{"observed", "operable", "operated"} {
				blankDatagrams(t, "http://"+addr+"/api/v1/"+name, how, others[name])
			}
		})
	}
}

// blankDatagrams relays datagrams, of which three to the server and five to the client have no bytes. The two with bytes make others frames.
func blankDatagrams(t *testing.T, project, how string, others int) {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	_ = server.SetDeadline(time.Now().Add(time.Minute))
	status, text := post(t, project+"/proxies", fmt.Sprintf(`{"listen":"127.0.0.1:0","upstream":%q,"ports":1,"operate":%t}`, server.LocalAddr(), how != "observed"))
	var one struct {
		ID    string
		Pairs []struct{ Listen string }
	}
	if err := json.Unmarshal([]byte(text), &one); err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s", status, text)
	}
	if how == "operated" {
		if status, text := post(t, project+"/proxies/"+one.ID+"/operate", `{"on":true}`); status != http.StatusOK {
			t.Fatal(text)
		}
	}
	c, err := net.Dial("udp", one.Pairs[0].Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	buf := make([]byte, 100)
	for _, data := range []string{"", "\x00\x01\x00\x00\x00\x00\x01\x00", "", "a", ""} {
		_, _ = c.Write([]byte(data))
		n, from, err := server.ReadFrom(buf)
		if err != nil || string(buf[:n]) != data {
			t.Fatalf("%s: %q arrives as %q, %v", how, data, buf[:n], err)
		}
		_, _ = server.WriteTo(nil, from)
		if n, err := c.Read(buf); err != nil || n != 0 {
			t.Fatalf("%s: nothing comes back as %q, %v", how, buf[:n], err)
		}
	}
	listed := func() (blank, n int) {
		_, text := get(t, project+"/captures/"+one.ID+"/frames?count=100")
		var all struct {
			Frames []struct{ Dir, Kind, Hex, Note string }
		}
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		for _, f := range all.Frames {
			if f.Note == "a datagram without bytes" && f.Kind == "control" && f.Hex == "" {
				blank++
			} else if n++; strings.Contains(f.Note, "without bytes") {
				t.Errorf("%s: %+v", how, f)
			}
		}
		return blank, n
	}
	all := func() bool { blank, n := listed(); return blank == 8 && n == others } // a transport may keep a datagram until it knows the kind of the connection
	until(t, how+": they are listed", all)
	req, err := http.NewRequestWithContext(t.Context(), "DELETE", project+"/proxies/"+one.ID, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	until(t, how+": the recording has them", all)
}
