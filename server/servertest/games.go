package servertest

import (
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"wirebench/server/relay"
)

// EchoGame answers each message of seven bytes with its last one, until its listener is closed.
func EchoGame(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				var one [7]byte
				for {
					if _, err := io.ReadFull(c, one[:]); err != nil {
						return
					}
					_, _ = c.Write([]byte{1, one[6], 0, 0, 0})
				}
			}()
		}
	}()
	return l.Addr().String()
}

// Record returns the id of a capture of a client's messages to an echo game, of four bytes each.
func Record(t *testing.T, server, game string, texts ...string) string {
	t.Helper()
	ask := func(method, path, body string, into any) int {
		return Call(t, t.Context(), server, method, path, body, into)
	}
	var p relay.Info
	if code := ask("POST", "/api/one/proxies", fmt.Sprintf(`{"listen":"127.0.0.1:0","upstream":%q}`, game), &p); code != 201 {
		t.Fatal(code)
	}
	Say(t, p.Pairs[0].Listen, texts...)
	for {
		var f Frames
		if ask("GET", "/api/one/captures/"+p.ID+"/frames?filter=kind==message", "", &f); f.Fit == 2*len(texts) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if code := ask("DELETE", "/api/one/proxies?id="+p.ID, "", nil); code != 204 {
		t.Fatal(code)
	}
	return p.ID
}

// Say runs a client that sends texts, and waits for the answer to each.
func Say(t *testing.T, addr string, texts ...string) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	for _, text := range texts {
		if _, err := c.Write(append([]byte{1, 4, 0}, text...)); err != nil {
			t.Fatal(err)
		}
		var got [5]byte
		if _, err := io.ReadFull(c, got[:]); err != nil || got[1] != text[3] {
			t.Fatalf("the answer is %x (%v)", got, err)
		}
	}
}
