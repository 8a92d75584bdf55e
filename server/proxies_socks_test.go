package server

import (
	"io"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"wirebench/server/relay"
	"wirebench/server/servertest"
)

// A project whose protocol runs over UDP has SOCKS5 listeners for UDP; the state tells their associations and the dropped datagrams.
func TestProxySocksOfUDP(t *testing.T) {
	s := captureServer(t, "subspace", map[string]string{"game.def": servertest.SubspaceText})
	srv := httptest.NewServer(s)
	t.Cleanup(func() { s.Close(); srv.Close() })
	ask := func(method, path, body string, into any) int {
		t.Helper()
		return servertest.Call(t, t.Context(), srv.URL, method, path, body, into)
	}
	for _, bad := range []string{`{"listen":"127.0.0.1:0","upstream":"redirect"}`, `{"listen":"0.0.0.0:0","upstream":"socks5"}`} {
		if code := ask("POST", "/api/one/proxies", bad, nil); code != 422 {
			t.Errorf("%s: %d", bad, code)
		}
	}
	var p relay.Info
	if code := ask("POST", "/api/one/proxies", `{"listen":"127.0.0.1:0","upstream":"socks5","operate":true}`, &p); code != 201 || p.Network != "udp" || len(p.Pairs) != 1 {
		t.Fatalf("%d %+v", code, p)
	}
	control, err := net.Dial("tcp", p.Pairs[0].Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	_ = control.SetDeadline(time.Now().Add(time.Minute))
	_, _ = io.WriteString(control, "\x05\x01\x00\x05\x03\x00\x01\x00\x00\x00\x00\x00\x00")
	var answer [2 + 10]byte
	if _, err := io.ReadFull(control, answer[:]); err != nil || answer[3] != 0 {
		t.Fatalf("% x %v", answer, err)
	}
	out, err := net.DialUDP("udp", nil, &net.UDPAddr{IP: net.IP(answer[6:10]), Port: int(answer[10])<<8 | int(answer[11])})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	server, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	port := server.LocalAddr().(*net.UDPAddr).Port
	_, _ = out.Write(append([]byte{0, 0, 0, 1, 127, 0, 0, 1, byte(port >> 8), byte(port)}, 0, 1, 0, 0, 0, 0, 1, 0))
	_ = server.SetReadDeadline(time.Now().Add(time.Minute))
	var hello [100]byte
	if n, err := server.Read(hello[:]); err != nil || n != 8 {
		t.Fatalf("% x %v", hello[:n], err)
	}
	_, _ = out.Write([]byte{0, 0, 1, 1, 127, 0, 0, 1, byte(port >> 8), byte(port), 'x'})
	var x relay.Info
	for range 1000 {
		if ask("GET", "/api/one/proxies/"+p.ID, "", &x); x.Strays == 1 && x.Frames > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if x.Associations != 1 || x.Strays != 1 || x.Open != 1 || x.Frames != 1 || len(x.Conns) != 1 || x.Conns[0].Name != out.LocalAddr().String()+"-"+server.LocalAddr().String() {
		t.Errorf("%+v", x)
	}
	if code := ask("DELETE", "/api/one/proxies/"+p.ID, "", nil); code != 204 {
		t.Errorf("stop: %d", code)
	}
}
