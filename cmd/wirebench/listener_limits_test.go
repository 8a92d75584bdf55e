package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"wirebench/cmd/wirebench/demo"
)

// Each limit of a listener reaches it from a request, a flag of the server and a flag of wirebench proxy, is in force again when the listener is
// started again after a restart, and is refused outside its range.
func TestListenerLimits(t *testing.T) {
	upstream := echo(t)
	full := func(why string) func(t *testing.T, listen string, told func() string) {
		return func(t *testing.T, listen string, told func() string) {
			t.Helper()
			one := dialed(t, listen)
			defer one.Close()
			answers(t, one)
			if two, err := net.Dial("tcp", listen); err == nil { // it may be refused before Dial returns
				defer two.Close()
				_ = two.SetDeadline(time.Now().Add(time.Minute))
				ends(t, two)
			}
			answers(t, one)
			until(t, why, func() bool { return strings.Contains(told(), why) })
		}
	}
	for _, c := range []struct {
		name, flag string
		good       string // JSON, as a flag without quotes
		bad        []string
		holds      func(t *testing.T, listen string, told func() string)
	}{
		{"connections", "connections", "1", []string{"-1", "65537"}, full("the limit of 1 connections is reached")},
		{"per_address", "per-address", "1", []string{"-1", "65537"}, full("the limit of 1 connections from 127.0.0.1")},
		{"idle", "idle", `"1s"`, []string{`"999ms"`, `"169h"`, `"-1s"`, `"soon"`}, func(t *testing.T, listen string, _ func() string) {
			t.Helper()
			one := dialed(t, listen)
			defer one.Close()
			answers(t, one)
			ends(t, one)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, id := t.TempDir(), ""
			listens := func(t *testing.T, addr, body string) (listen string, told func() string) {
				t.Helper()
				status, text := post(t, "http://"+addr+"/api/v1/muta/proxies", body)
				var one struct {
					ID    string
					Pairs []struct{ Listen string }
				}
				if err := json.Unmarshal([]byte(text), &one); status != http.StatusCreated || err != nil {
					t.Fatalf("%s: %d %s", body, status, text)
				}
				id = one.ID
				return one.Pairs[0].Listen, func() string {
					_, text := get(t, "http://"+addr+"/api/v1/muta/proxies/"+one.ID)
					return text
				}
			}
			plain := fmt.Sprintf(`"listen":"127.0.0.1:0","upstream":%q`, upstream)
			t.Run("request", func(t *testing.T) {
				addr, _ := started(t, "serve", "--listen", "127.0.0.1:0", "--data", data)
				for _, bad := range c.bad {
					if status, text := post(t, "http://"+addr+"/api/v1/muta/proxies", fmt.Sprintf(`{%s,%q:%s}`, plain, c.name, bad)); status != http.StatusUnprocessableEntity || !strings.Contains(text, c.name) {
						t.Errorf("%s: %d %s", bad, status, text)
					}
				}
				listen, told := listens(t, addr, fmt.Sprintf(`{%s,%q:%s}`, plain, c.name, c.good))
				c.holds(t, listen, told)
			})
			t.Run("after a restart", func(t *testing.T) {
				addr, _ := started(t, "serve", "--listen", "127.0.0.1:0", "--data", data)
				if _, text := get(t, "http://"+addr+"/api/v1/muta/captures"); !strings.Contains(text, fmt.Sprintf("%q:%s", c.name, c.good)) {
					t.Errorf("not stored: %s", text)
				}
				listen, told := listens(t, addr, fmt.Sprintf(`{"again":%q}`, id))
				c.holds(t, listen, told)
			})
			t.Run("flag of the server", func(t *testing.T) {
				addr, _ := started(t, "serve", "--listen", "127.0.0.1:0", "--listener-"+c.flag, strings.Trim(c.good, `"`))
				listen, told := listens(t, addr, "{"+plain+"}")
				c.holds(t, listen, told)
			})
			t.Run("flag of the proxy", func(t *testing.T) {
				r := startRelay(t, &demo.Game{Protocol: "muta", Network: "tcp", Addr: upstream, Ports: 1}, "--"+c.flag, strings.Trim(c.good, `"`))
				c.holds(t, r.addr, r.err.String)
			})
			for _, bad := range c.bad {
				bad = strings.Trim(bad, `"`)
				for _, args := range [][]string{
					{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--listener-" + c.flag + "=" + bad},
					{"proxy", "--protocol", "muta", "--listen", "127.0.0.1:0", "--upstream", upstream, "--" + c.flag + "=" + bad},
				} {
					if _, said, status := cli(t, "", args...); status != exitUsage || !strings.Contains(said, c.flag) {
						t.Errorf("%q: status %d, %s", args, status, said)
					}
				}
			}
		})
	}
}

// echo is a server that sends back what it gets.
func echo(t *testing.T) (addr string) {
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
				buf := make([]byte, 100)
				for {
					n, err := c.Read(buf)
					if err != nil {
						return
					}
					_, _ = c.Write(buf[:n])
				}
			}()
		}
	}()
	return l.Addr().String()
}

func dialed(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c
}

// answers checks that a connection is relayed.
func answers(t *testing.T, c net.Conn) {
	t.Helper()
	buf := make([]byte, 2)
	_, _ = c.Write([]byte{3, 1})
	if n, err := c.Read(buf); err != nil || n == 0 {
		t.Fatalf("no answer: %v", err)
	}
}

// ends waits for the end of a connection on which nothing comes.
func ends(t *testing.T, c net.Conn) {
	t.Helper()
	n, err := c.Read(make([]byte, 1))
	if timeout, is := err.(net.Error); n > 0 || err == nil || is && timeout.Timeout() {
		t.Fatalf("the connection goes on: %d bytes, %v", n, err)
	}
}

// post sends JSON.
func post(t *testing.T, url, body string) (status int, answer string) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var b strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := res.Body.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			return res.StatusCode, b.String()
		}
	}
}
